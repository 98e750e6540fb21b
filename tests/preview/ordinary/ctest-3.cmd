ctest --test-dir build
