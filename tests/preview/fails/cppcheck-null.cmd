cppcheck --enable=all --error-exitcode=1 --inconclusive --template=gcc src
