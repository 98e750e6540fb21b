bash setup.sh
