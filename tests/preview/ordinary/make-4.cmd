make -j2
