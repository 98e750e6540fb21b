python3 -m unittest -v
