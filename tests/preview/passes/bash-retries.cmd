bash sync.sh
