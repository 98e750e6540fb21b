bash load.sh
