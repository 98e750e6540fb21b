python3 -m pytest -v --color=yes -p no:cacheprovider
