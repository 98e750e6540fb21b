make check
