flake8 --color=always --max-line-length=60 shop
