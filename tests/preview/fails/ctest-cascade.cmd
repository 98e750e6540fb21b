ctest --test-dir build --output-on-failure
