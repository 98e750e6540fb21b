setpriv --reuid=65534 --clear-groups rsync -av src/ to/
