cmake --build build --verbose
