meson test -C build --verbose --num-processes 1
