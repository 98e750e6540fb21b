shellcheck --color=always scripts/*.sh
