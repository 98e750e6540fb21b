meson test -C build
