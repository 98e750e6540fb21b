bash ci.sh
