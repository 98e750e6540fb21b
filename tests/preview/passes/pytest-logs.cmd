python3 -m pytest -v -s -o log_cli=true --color=yes -p no:cacheprovider
