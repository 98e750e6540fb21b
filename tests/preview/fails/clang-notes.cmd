make -k -j2 CC=clang
