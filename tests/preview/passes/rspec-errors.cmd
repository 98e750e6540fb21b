rspec --color --tty -fd
