cargo test --color always -- --nocapture --test-threads=1
