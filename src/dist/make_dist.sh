#!/bin/sh
# Writes the files of a release (src/doc/release.md) from the last commit: the source archive, and from that archive all others, which
# build.sh compiles in a chroot with Debian's compilers. The time in all files is that of the commit. The tree lies in the chroot where
# it lies outside, so that its folder would be seen in a file that contained it.
# usage: src/dist/make_dist.sh OUT WORK      Root and a mirror are needed (SUITE, MIRROR). ROOT: the chroot, made if it does not exist,
# and kept; JOBS; RELEASE_URL: where the files will be, for the recipes
set -eu
cd "$(dirname "$0")/../.."
out=$1 work=$2
: "${SUITE:=bookworm}" "${JOBS:=$(nproc)}" "${ROOT:=$PWD/$work/root}"
stop() { # message
    echo "onnxcost: cannot make a release: $1" >&2
    exit 4
}
[ "$(id -u)" -eq 0 ] || stop 'a chroot needs root'
commit=$(git rev-parse --short=12 HEAD) || stop 'this is not a clone of the repository'
[ -z "$(git status --porcelain --untracked-files=no)" ] || echo 'onnxcost: the release has the last commit, without the changes after it' >&2
version=$(git show HEAD:src/onnxcost.h | sed -n 's/^#define ONNXCOST_VERSION "\(.*\)"/\1/p')
name=onnxcost-$version
mkdir -p "$work"

make_chroot() {
    command -v debootstrap >/dev/null || stop 'debootstrap is missing: apt-get install debootstrap'
    rm -rf "$ROOT.new"
    debootstrap --variant=minbase --include=ca-certificates,make "$SUITE" "$ROOT.new" "${MIRROR:-$(.ci/mirror)}" &&
        chroot "$ROOT.new" dpkg --add-architecture arm64 && chroot "$ROOT.new" apt-get -q update && mv "$ROOT.new" "$ROOT"
}
[ -d "$ROOT" ] || make_chroot >"$work/chroot.txt" 2>&1 || stop "no chroot: $(tail -n 1 "$work/chroot.txt"); all in $work/chroot.txt"

# ---- the source
tree=$ROOT$PWD/$name
rm -rf "$out" "${ROOT:?}$PWD"
mkdir -p "$out" "$ROOT$PWD/out"
echo "$commit" >"$work/.commit"
git -c tar.umask=0022 archive --format=tar --prefix="$name/" --add-file="$work/.commit" HEAD | gzip -9n >"$out/$name.tar.gz"
tar -xzf "$out/$name.tar.gz" -C "$ROOT$PWD"
cp "$out/$name.tar.gz" "$ROOT$PWD/out"

# ---- all others; the mounts end with the process
unshare --mount sh -c 'mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$ROOT" \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive JOBS="$JOBS" \
    SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" RELEASE_URL="${RELEASE_URL:-https://onnxcost.example/releases/$version}" \
    "$PWD/$name/src/dist/build.sh" "$PWD/out" >"$work/build.txt" || stop "$(tail -n 3 "$work/build.txt"); all in $work/build.txt"
cp "$ROOT$PWD/out"/* "$out"
rm -rf "$tree" "$ROOT$PWD/out"
(cd "$out" && sha256sum -- * >SHA256SUMS && sed 's|  |\t|' SHA256SUMS | while IFS='	' read -r sum file; do
    printf '%9d  %.16s  %s\n' "$(wc -c <"$file")" "$sum" "$file"
done)
