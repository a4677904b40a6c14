#!/bin/sh
# Unit tests on another architecture: cross-compiled in a chroot with Debian's compiler, run under qemu-user; or with another
# C library: musl. Compares the output of commands with that of the native program. Prints TAP.
# usage: tests/chroot/check_cross.sh arm64|s390x|ppc64el...|musl     BUILD: the native program; ONLY=REGEX: these unit programs
# Root and a mirror are needed (SUITE, MIRROR). KEEP=1 keeps the chroot and uses a kept one. LIMIT_S: per unit program.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${SUITE:=bookworm}" "${MIRROR:=$(.ci/mirror)}" "${JOBS:=$(nproc)}" "${BUILD:=build/release}"
: "${KEEP:=}" "${ONLY:=}" "${LIMIT_S:=900}"
arch=${1:?usage: tests/chroot/check_cross.sh ARCH}
case $arch in
arm64) triplet=aarch64-linux-gnu cpu=aarch64 ;;
s390x) triplet=s390x-linux-gnu cpu=s390x ;;
ppc64el) triplet=powerpc64le-linux-gnu cpu=ppc64le ;;
i386 | armhf | armel | mipsel)
    echo "Bail out! $arch has 32 bits: onnxcost needs a 64-bit platform"
    exit 1
    ;;
musl) triplet='' cpu='' ;;
*) triplet=$arch-linux-gnu cpu=$arch ;;
esac
compiler=$triplet-gcc archiver=$triplet-ar emulator=qemu-$cpu
packages=qemu-user,gcc-$(echo "$triplet" | tr _ -)
flags='' arguments=''
if [ "$arch" = musl ]; then
    compiler=musl-gcc archiver=ar emulator=''
    packages=gcc,libc6-dev,musl-tools,dpkg-dev,tcl
    flags='CPPFLAGS=-I/opt/musl/include'
    arguments='LDFLAGS="-L/opt/musl/lib -Wl,-rpath,/opt/musl/lib" XML2_CPPFLAGS=-I/opt/musl/include/libxml2'
fi
root=$PWD/build/cross-$arch
log=build/cross-$arch.txt
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP a chroot needs root'
    exit 77
fi
in_chroot() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 "$@"
}
in_tree() { # shell command, hardware folder
    in_chroot "ONNXCOST_HWDB=${2:-/onnxcost/hwdb}" BUILD=build/run SOURCE_DATE_EPOCH=0 sh -c "cd /onnxcost && $1"
}
give_up() { # message, lines of the log that explain it
    printf '%s\nBail out! %s\n' "${2:-$(tail -n 3 "$log")}" "$1"
    exit 1
}
add_libraries() {
    if [ "$arch" = musl ]; then
        in_chroot sh -s <tests/chroot/musl_libraries.sh
        return
    fi
    libraries=
    for p in libc6-dev zlib1g-dev libpcre2-dev libxml2-dev libsqlite3-dev libcurl4-openssl-dev libcmocka-dev libprotobuf-c-dev; do
        libraries="$libraries $p:$arch"
    done
    # shellcheck disable=SC2086 # a list
    in_chroot dpkg --add-architecture "$arch" && in_chroot apt-get -qq update &&
        in_chroot apt-get -qq install --no-install-recommends $libraries
}
make_chroot() {
    rm -rf "$root"
    debootstrap --variant=minbase --include="git,make,ca-certificates,protobuf-c-compiler,$packages" \
        "$SUITE" "$root" "$MIRROR" >"$log" 2>&1 || give_up 'debootstrap failed'
    mount -t proc proc "$root/proc"
    add_libraries >>"$log" 2>&1 || give_up "no libraries for $arch"
    # files of packages with many dependencies, which debootstrap cannot configure
    for file in /usr/share/javascript/chart.js/chart.min.js /usr/share/doc/libjs-chart.js/copyright \
        /usr/share/nodejs/dagre/dist/dagre.min.js /usr/share/doc/node-dagre-layout/copyright; do
        mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file" || give_up "$file is missing: .ci/setup build" ' '
    done
    git clone -q --no-hardlinks "$PWD" "$root/onnxcost" || exit 1
}
mkdir -p build
trap 'umount "$root/proc" 2>/dev/null; [ -n "$KEEP" ] || rm -rf "$root"' EXIT
if [ -n "$KEEP" ] && [ -d "$root/onnxcost" ]; then
    mount -t proc proc "$root/proc"
    git -C "$root/onnxcost" fetch -q "$PWD" HEAD && git -C "$root/onnxcost" reset -q --hard FETCH_HEAD || exit 1
else
    make_chroot
fi
in_tree "$flags make -s -k -j$JOBS CC=$compiler AR=$archiver $arguments BUILD=build/$arch \
    unit zoo build/$arch/onnxcost build/$arch/fake_ort.so" >"$log" 2>&1 || give_up "the build for $arch failed" "$(grep -E 'error|warning' "$log" | head -n 10)"

# the programs that tests start: scripts that run qemu, because the kernel runs only programs of its own architecture
in_tree "rm -rf build/run && mkdir -p build/run/log && ln -s ../$arch/fake_ort.so build/run"
for program in onnxcost onnxzoo; do
    printf '#!/bin/sh\nexec %s /onnxcost/build/%s/%s "$@"\n' "$emulator" "$arch" $program >"$root/onnxcost/build/run/$program"
    chmod +x "$root/onnxcost/build/run/$program"
done

# ---- unit programs, several at once --------------------------------------------------------------------------------------
units() {
    for t in "$root"/onnxcost/tests/unit/*/test_*.c; do
        name=${t#"$root"/onnxcost/tests/unit/}
        name=${name%.c}
        echo "$name"
    done | grep -E "$ONLY"
}
units >"$root/onnxcost/build/run/units"
cat >"$root/onnxcost/build/run/unit" <<END
#!/bin/sh
mkdir -p build/run/log/\${1%/*}
timeout -k 5 $LIMIT_S $emulator build/$arch/unit/\$1 >build/run/log/\$1.log 2>&1 </dev/null
echo \$? >build/run/log/\$1.rc
END
in_tree "xargs -P $JOBS -n 1 sh build/run/unit <build/run/units"

n=0 passed=0 failed=0 emulator=0
# tests that fail because of the emulator, with the reason; the others of the program must pass
emulator_fails() { # unit program, log
    awk -F '\t' -v arch="$arch" -v name="$1" '
        FNR == NR { if (($1 == arch || $1 == "*") && $2 == name) reason[$3] = $4; next }
        /^\[  FAILED  \] [a-z]/ { sub(/^\[  FAILED  \] /, ""); if (seen[$0]++) next; if (!($0 in reason)) other = 1; else why = why "; " $0 ": " reason[$0] }
        /^\[==========\] [0-9]+ test/ { finished = 1 }
        END { if (why && finished && !other) print substr(why, 3) }' tests/chroot/emulated.tsv "$2"
}
problem() { # unit program: empty if it passed
    rc=$(cat "$root/onnxcost/build/run/log/$1.rc" 2>/dev/null)
    [ "$rc" = 0 ] && return
    [ "$rc" = 124 ] && echo "longer than $LIMIT_S s"
    echo "exit code ${rc:-none}"
    grep -E '^\[ +ERROR|^\[  FAILED|Segmentation|qemu|: error:' "$root/onnxcost/build/run/log/$1.log" | head -n 5
}
report() { # title, problems
    n=$((n + 1))
    if [ -z "$2" ]; then
        passed=$((passed + 1))
        echo "ok $n - $1"
    else
        failed=$((failed + 1))
        echo "not ok $n - $1"
        printf '%s\n' "$2" | head -n 8 | sed 's/^/# /'
    fi
}
for name in $(units); do
    why=$(emulator_fails "$name" "$root/onnxcost/build/run/log/$name.log")
    [ -z "$why" ] || { emulator=$((emulator + 1)) && echo "# $name: $why"; }
    report "$name" "$([ -n "$why" ] || problem "$name")"
done
echo "# $arch: $passed unit programs passed, $failed failed; in $emulator that passed, tests failed because of the emulator"

# ---- output of commands, byte by byte ------------------------------------------------------------------------------------
zoo=build/zoo-$arch native=build/native-$arch
rm -rf "$zoo" "$native"
BUILD=$BUILD tests/make_zoo.sh "$zoo"
in_tree "rm -rf $zoo && tests/make_zoo.sh $zoo"
report 'models of the zoo are the same' "$(diff -rq "$zoo" "$root/onnxcost/$zoo" | sed "s|$root/||")"
cp "$zoo"/* "$root/onnxcost/$zoo/"
commands() { # one per line
    for model in $(find "$zoo" -name '*.onnx' -size -2000k | sort); do
        echo "$model -f json"
        echo "$model --hw t4 -f csv"
        echo "memory $model -f json"
    done
    for profile in models/profiles/*.json.gz; do
        model=${profile##*/}
        model=$zoo/${model%%.*}.onnx
        echo "summary $profile -f json"
        [ -f "$model" ] && echo "$model -p $profile --hw models/profiles/machine.t1.xml -f json"
    done
    find tests/data -type f -size -300k | sort | while read -r file; do
        case $file in *.tsv | *.md | *.onnx) ;; *) echo "summary $file -f json" ;; esac
    done
    sed "s|ZOO|$zoo|g" tests/chroot/compared.txt
}
commands >"$root/onnxcost/build/run/commands"
# the exit code and the first line of the messages belong to the output
cat >"$root/onnxcost/build/run/compare" <<'END'
#!/bin/sh
out=$1
number=$2
shift 2
timeout 300 "$BUILD/onnxcost" "$@" >"$out/$number" 2>"$out/$number.err" </dev/null
echo "exit code $?" >>"$out/$number"
END
each_command() { awk '{ print FNR, $0 }' "$root/onnxcost/build/run/commands"; }
mkdir -p "$native" "$root/onnxcost/$native"
each_command | ONNXCOST_HWDB=hwdb SOURCE_DATE_EPOCH=0 LC_ALL=C.UTF-8 TERM=dumb BUILD=$BUILD \
    xargs -P "$JOBS" -L 1 sh "$root/onnxcost/build/run/compare" "$native"
each_command >"$root/onnxcost/build/run/numbered"
in_tree "xargs -P $JOBS -L 1 sh build/run/compare $native <build/run/numbered" hwdb
unit_failed=$failed
while read -r number command; do
    report "onnxcost $command" "$(for part in "" .err; do diff "$native/$number$part" "$root/onnxcost/$native/$number$part"; done | cut -c 1-300)"
done <"$root/onnxcost/build/run/numbered"
number=$(wc -l <"$root/onnxcost/build/run/numbered")
echo "# $arch: output of $number commands compared, $((failed - unit_failed)) differ"
echo "1..$n"
[ "$failed" -eq 0 ]
