rubocop --color --cache false app
