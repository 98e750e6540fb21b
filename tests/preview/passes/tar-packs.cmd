tar -cvzf ../a.tgz .
