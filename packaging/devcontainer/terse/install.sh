#!/bin/sh
# Installs terse below /usr/local from the tarball of `make dist`: of the dev container feature, the
# GitHub Action and the Dockerfile. The options are variables:
#   URL      the tarball; ARCH in it becomes x86_64 or aarch64. A path serves as well
#   SHA256   its checksum; empty: not compared
#   PREFIX   default /usr/local
set -eu
[ -n "${URL-}" ] || { echo 'terse: the option url is missing: it names the tarball of make dist' >&2; exit 1; }
url=$(printf '%s\n' "$URL" | sed "s/ARCH/$(uname -m)/g")
prefix=${PREFIX:-/usr/local}
file=$(mktemp)
trap 'rm -f "$file"' EXIT
case $url in
/*) cat "$url" >"$file" ;;
*) if command -v curl >/dev/null; then curl -fsSL "$url" >"$file"; else wget -qO "$file" "$url"; fi ;;
esac
[ -z "${SHA256-}" ] || echo "$SHA256  $file" | sha256sum -c - >/dev/null || {
	echo "terse: $url: its checksum is not $SHA256" >&2
	exit 1
}
mkdir -p "$prefix"
gzip -dc "$file" | tar -x --strip-components=1 -C "$prefix" -f -
"$prefix/bin/terse" version
