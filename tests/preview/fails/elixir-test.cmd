mix test --color --trace --seed 0
