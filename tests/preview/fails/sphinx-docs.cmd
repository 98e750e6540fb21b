sphinx-build --color -E -b html --keep-going -W docs out
