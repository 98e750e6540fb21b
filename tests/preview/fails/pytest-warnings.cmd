python3 -m pytest --color=yes -p no:cacheprovider -rA
