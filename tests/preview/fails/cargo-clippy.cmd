cargo clippy --color always --all-targets
