#!/bin/sh
# Compiles the files of a release from the unpacked source archive in which it lies; runs as root in the chroot of make_dist.sh, where it
# installs what is missing. The same archive gives the same bytes in every folder. The log goes to the standard output.
# usage: src/dist/build.sh OUT      OUT: has the source archive. Environment: SOURCE_DATE_EPOCH, JOBS, RELEASE_URL
set -eu
umask 022
cd "$(dirname "$0")/../.."
out=$1 work=$PWD/build/dist
version=$(sed -n 's/^#define ONNXCOST_VERSION "\(.*\)"/\1/p' src/onnxcost.h)
static=onnxcost-$version-linux-x86_64
export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$JOBS" DEB_BUILD_PROFILES=nocheck
mkdir -p "$work/deb/debian"
step() { # title
    echo "==== $1"
    echo "onnxcost: $1" >&2
}
pack() { # archive, folder, name in it
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$2" -c "$3" | gzip -9n >"$1"
}
fill() { # file: with the values of this release
    sed -e "s|@version@|$version|g" -e "s|@plain@|$(echo "$version" | sed 's/-rc$/rc0/; s/-//')|g" -e "s|@url@|$RELEASE_URL/$static.tar.gz|g" \
        -e "s|@sha256@|$(sha256sum "$out/$static.tar.gz" | cut -d ' ' -f 1)|g" "$1"
}

step 'install compilers and libraries'
.ci/setup dist 2>&1
cp src/deb/control src/deb/changelog "$work/deb/debian"
cd "$work/deb"
apt-get -q -y --no-install-recommends -P nocheck build-dep ./ 2>&1
apt-get -q -y --no-install-recommends -a arm64 -P cross,nocheck build-dep ./ 2>&1
cd "$OLDPWD"

step 'Debian packages for amd64'
src/deb/make_deb.sh build/deb
step 'Debian packages for arm64'
src/deb/make_deb.sh build/deb-arm64 arm64
cp build/deb/*.deb build/deb-arm64/*.deb "$out"

# the static library of the packages, with protobuf-c: compiled once
step 'Python wheel'
dpkg-deb -x "$(find build/deb -name 'libonnxcost-dev_*.deb')" "$work/dev"
library=$work/dev/usr/lib/x86_64-linux-gnu/libonnxcost.a
make PYTHON=python3 WHEEL_DIR="$out" LIB="$library" -o "$library" LDFLAGS=-Wl,--trace wheel >"$work/wheel.trace"

step 'static program'
make JOBS="$JOBS" musl
rm build/musl/onnxcost
make MODE=musl LDFLAGS=-Wl,--trace build/musl/onnxcost >"$work/static.trace"
make MODE=musl DESTDIR="$work/static" prefix=/usr/local install-program
mv "$work/static/usr/local" "$work/$static"
strip "$work/$static/bin/onnxcost"
{
    cat build/musl/lib/copyright
    for package in musl-dev libjs-chart.js node-dagre-layout; do
        echo "==== $package"
        cat "/usr/share/doc/$package/copyright"
    done
} >"$work/$static/share/doc/onnxcost/LICENSES-OF-LIBRARIES"
pack "$out/$static.tar.gz" "$work" "$static"

step 'container image'
mkdir "$work/image"
cp -r "$work/$static" "$work/image/onnxcost"
in_store() { # command of buildah
    buildah --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"
}
in_store build --isolation chroot --timestamp "$SOURCE_DATE_EPOCH" --format oci --build-arg VERSION="$version" -t "onnxcost:$version" \
    -f src/dist/Containerfile "$work/image"
in_store push "onnxcost:$version" "oci:$work/oci:onnxcost:$version" # by this name podman has it
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work/oci" -cf "$out/onnxcost-$version-oci.tar" \
    oci-layout index.json blobs

step 'WebAssembly: page and npm package'
make build/wasm/lib/copyright
make "-j$JOBS" MODE=wasm lib
EMCC_CFLAGS=-Wl,--trace make "-j$JOBS" MODE=wasm web-files >"$work/web.trace" 2>&1
cp build/web/onnxcost.html "$out"
cp -r build/web/npm "$work/package"
pack "$out/onnxcost-$version.tgz" "$work" package

step 'recipes, changelog, components'
fill src/dist/onnxcost.rb.in >"$out/onnxcost.rb"
fill src/dist/meta.yaml.in >"$out/meta.yaml"
# Debian's form: the version, lines, "-- maintainer  date"
awk '/^[a-z]/ { gsub(/[()]/, "", $2); sub(/~/, "-", $2); head = "## " $2; text = ""; next }
    /^ -- / { sub(/.*>  /, ""); print head " (" $2 " " $3 " " $4 ")\n" text; next }
    { sub(/^  \* /, "- "); sub(/^    /, "  "); text = text $0 "\n" }' src/deb/changelog | cat -s >"$out/CHANGELOG.md"
python3 src/dist/make_sbom.py "$version" "$out" "$work" >"$work/sbom.json"
mv "$work/sbom.json" "$out/onnxcost-$version.spdx.json"
