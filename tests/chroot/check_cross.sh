#!/bin/sh
# Unit tests on another architecture: cross-compiled in a chroot with Debian's compiler, run under qemu-user.
# usage: tests/chroot/check_cross.sh arm64|s390x|ppc64el|riscv64...   Root and a mirror are needed (SUITE, MIRROR). Prints TAP.
# Tests that start the program itself are skipped: that needs a kernel with binfmt_misc.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${SUITE:=bookworm}" "${MIRROR:=http://deb.debian.org/debian}" "${JOBS:=$(nproc)}"
arch=${1:?usage: tests/chroot/check_cross.sh ARCH}
case $arch in
arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 ;;
s390x) triplet=s390x-linux-gnu qemu=qemu-s390x ;;
ppc64el) triplet=powerpc64le-linux-gnu qemu=qemu-ppc64le ;;
i386 | armhf | armel | mipsel)
    echo "Bail out! $arch has 32 bits: onnxcost needs a 64-bit platform"
    exit 1
    ;;
*) triplet=$arch-linux-gnu qemu=qemu-$arch ;;
esac
root=$PWD/build/cross-$arch
log=build/cross-$arch.txt
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP a chroot needs root'
    exit 77
fi
in_chroot() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C "$@"
}
rm -rf "$root"
mkdir -p build
trap 'umount "$root/proc" 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=git,make,ca-certificates,protobuf-c-compiler,libjs-chart.js,qemu-user,"gcc-$(echo "$triplet" | tr _ -)" \
    "$SUITE" "$root" "$MIRROR" >"$log" 2>&1 || {
    tail -n 3 "$log"
    echo 'Bail out! debootstrap failed'
    exit 1
}
mount -t proc proc "$root/proc"
packages=
for p in libc6-dev zlib1g-dev libpcre2-dev libxml2-dev libsqlite3-dev libcmocka-dev libprotobuf-c-dev; do packages="$packages $p:$arch"; done
# shellcheck disable=SC2086 # a list
{ in_chroot dpkg --add-architecture "$arch" && in_chroot apt-get -qq update && in_chroot apt-get -qq install --no-install-recommends $packages; } >>"$log" 2>&1 || {
    tail -n 3 "$log"
    echo "Bail out! no packages for $arch"
    exit 1
}
git clone -q --no-hardlinks "$PWD" "$root/onnxcost" || exit 1
build=build/$arch
in_chroot sh -c "cd /onnxcost && make -s -k -j$JOBS CC=$triplet-gcc AR=$triplet-ar BUILD=$build unit" >"$log" 2>&1 || {
    grep -E 'error|warning' "$log" | head -n 10
    echo "Bail out! the build for $arch failed"
    exit 1
}
n=0
passed=0
failed=0
skipped=0
for t in tests/unit/*/test_*.c; do
    name=${t#tests/unit/}
    name=${name%.c}
    n=$((n + 1))
    if grep -qE 'getenv\("BUILD"\)|fake_ort' "$t"; then
        skipped=$((skipped + 1))
        echo "ok $n - $name # SKIP it starts the program"
        continue
    fi
    if in_chroot sh -c "cd /onnxcost && ONNXCOST_HWDB=/onnxcost/hwdb timeout 600 $qemu $build/unit/$name" >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        echo "ok $n - $name"
    else
        failed=$((failed + 1))
        echo "not ok $n - $name: $(grep -E '^\[ +ERROR|^\[  FAILED|Segmentation|qemu' "$log" | head -n 3 | tr '\n' ' ')"
    fi
done
echo "# $arch: $passed unit programs passed, $failed failed, $skipped skipped"
echo "1..$n"
[ "$failed" -eq 0 ]
