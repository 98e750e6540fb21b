setpriv --reuid=65534 --clear-groups tar -cvzf to/a.tgz --sort=name backup
