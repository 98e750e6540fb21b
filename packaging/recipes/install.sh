#!/bin/sh
# shellcheck disable=SC2034
# Installs terse @VERSION@ below /usr/local, or below PREFIX:
#   curl -fsSL @RELEASES@/install.sh | PREFIX=~/.local sh
case $(uname -sm) in
'Linux x86_64') SHA256=@SHA256_x86_64@ ;;
'Linux aarch64') SHA256=@SHA256_aarch64@ ;;
*) echo "terse: there is no package for $(uname -sm)" >&2 && exit 1 ;;
esac
URL=@RELEASES@/terse-@VERSION@-linux-ARCH.tar.gz
