clang-tidy --use-color -checks='bugprone-*,readability-*,-readability-identifier-length' src/*.c -- -Isrc -std=c17
