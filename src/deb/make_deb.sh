#!/bin/sh
# Builds the Debian packages from a copy of the tree, in which this folder becomes debian/.
# usage: src/deb/make_deb.sh FOLDER [ARCHITECTURE]      DEB_BUILD_OPTIONS=nocheck skips the tests
# ARCHITECTURE: cross-compiled, only what differs between architectures, for `apt-get build-dep -Pcross,nocheck` of it
set -eu
cd "$(dirname "$0")/../.."
out=$1
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' src/deb/changelog)
tree=$out/onnxcost-$version
rm -rf "$out"
mkdir -p "$tree"
if git rev-parse --show-cdup >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard >"$out/files"
else
    find . -path ./build -prune -o -type f -print0 >"$out/files"
fi
# skip files that are deleted but still in the git index
xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh <"$out/files" |
    tar -c --null -T - | tar -x -C "$tree"
rm "$out/files"
mv "$tree/src/deb" "$tree/debian"
rm "$tree/debian/make_deb.sh"
(cd "$tree" && dpkg-buildpackage -us -uc ${2:+"-a$2" -B -Pcross,nocheck}) >"$out/build.txt" 2>&1 || {
    tail -n 20 "$out/build.txt" >&2
    echo "onnxcost: dpkg-buildpackage failed; the complete log is $out/build.txt" >&2
    exit 1
}
rm -rf "$tree"
ls -l "$out"/*.deb
