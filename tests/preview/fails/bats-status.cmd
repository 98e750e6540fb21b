bats --tap test
