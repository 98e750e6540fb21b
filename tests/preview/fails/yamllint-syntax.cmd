yamllint -f colored deploy
