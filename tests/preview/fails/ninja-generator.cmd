ninja -k 0 -j2
