ninja -k 0 -v -j2
