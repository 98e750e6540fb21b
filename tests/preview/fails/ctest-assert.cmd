ctest --test-dir build --output-on-failure -V -j1
