bash nightly.sh
