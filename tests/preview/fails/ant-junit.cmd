ant -keep-going
