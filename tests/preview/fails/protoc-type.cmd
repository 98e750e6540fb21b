bash gen.sh
