bash check.sh
