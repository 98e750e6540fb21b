ninja -C build -v
