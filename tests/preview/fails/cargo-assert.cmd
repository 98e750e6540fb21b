cargo test --color always --no-fail-fast
