apt-get install -y bats shellcheck
