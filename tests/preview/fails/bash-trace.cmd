bash -x deploy.sh
