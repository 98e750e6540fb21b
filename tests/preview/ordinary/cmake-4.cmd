cmake --build build
