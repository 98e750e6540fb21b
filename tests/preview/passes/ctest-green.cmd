ctest --test-dir build -V
