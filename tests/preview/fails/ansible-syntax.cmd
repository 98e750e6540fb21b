bash deploy.sh
