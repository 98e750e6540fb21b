cmake --build build -- -k
