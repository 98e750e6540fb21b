clang-tidy --use-color -checks='bugprone-*,readability-magic-numbers,readability-braces-around-statements' -warnings-as-errors='bugprone-sizeof*' src/*.c -- -Isrc -std=c17
