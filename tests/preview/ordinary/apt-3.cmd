apt-get install -y liblua5.4-dev libgmp-dev libevent-dev
