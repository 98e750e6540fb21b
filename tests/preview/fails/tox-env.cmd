python3 -m tox
