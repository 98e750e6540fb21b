bash build.sh
