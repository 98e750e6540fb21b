cmake -S . -B build
