bandit -r shop
