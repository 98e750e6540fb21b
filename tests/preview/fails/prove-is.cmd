prove -v -r t
