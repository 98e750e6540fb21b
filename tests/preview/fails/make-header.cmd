make -k -j2
