apt-get install -y tree jq
