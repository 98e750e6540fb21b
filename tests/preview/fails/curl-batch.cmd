bash fetch.sh
