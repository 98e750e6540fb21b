python3 -m mypy --no-pretty --verbose shop
