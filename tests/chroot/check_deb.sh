#!/bin/sh
# Tests the packages of `make deb` in a minimal system: a debootstrap chroot (needs root and a mirror; SUITE and
# MIRROR select another one). Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/release}" "${SUITE:=bookworm}" "${MIRROR:=$(.ci/mirror)}"
root=$PWD/build/deb-chroot
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP a chroot needs root'
    exit 77
fi
n=0
bad=0
result() { # exit code, title, details
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2: $3"
    fi
}
in_chroot() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root DEBIAN_FRONTEND=noninteractive TERM=dumb "$@"
}
install() { # packages, or patterns of files in /try
    in_chroot sh -c "cd /try && apt-get -q install -y --no-install-recommends $*" >build/deb-chroot.txt 2>&1
}
rm -rf "$root"
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase "$SUITE" "$root" "$MIRROR" >build/deb-chroot.txt 2>&1 || {
    tail -n 3 build/deb-chroot.txt
    echo 'Bail out! debootstrap failed'
    exit 1
}
mkdir "$root/try"
cp build/deb/*.deb "$root/try"
rm -f "$root"/try/*dbgsym*
cp models/profiles/resnet50.disabled.t1.json.gz "$root/try/profile.json.gz"
awk '/^```c$/ { p = 1; next } p && /^```/ { exit } p' src/doc/library.md >"$root/try/heaviest.c"
"$BUILD/onnxzoo" resnet50 -o "$root/try/resnet50.onnx"

# ---- the program
install './onnxcost_*.deb' './onnxcost-data_*.deb'
result $? 'program installs with its dependencies' "$(tail -n 3 build/deb-chroot.txt)"
text=$(in_chroot onnxcost --version)
[ "$text" = "$("$BUILD/onnxcost" --version)" ]; result $? 'installed program starts' "$text"
(cd "$root/try" && COLUMNS=120 "$OLDPWD/$BUILD/onnxcost" resnet50.onnx --profile profile.json.gz --hw a100 --top 5) >build/deb-want.txt 2>&1
in_chroot sh -c 'cd /try && COLUMNS=120 onnxcost resnet50.onnx --profile profile.json.gz --hw a100 --top 5' >build/deb-got.txt 2>&1
cmp -s build/deb-want.txt build/deb-got.txt && grep -q 'A100' build/deb-got.txt
result $? 'report of a model with profile and device equals that of the tree' "$(diff build/deb-want.txt build/deb-got.txt | head -n 3)"
text=$(in_chroot sh -c 'cd / && onnxcost hw lint; onnxcost hw list | wc -l')
[ "$text" = "$(cd / && "$OLDPWD/$BUILD/onnxcost" hw lint; "$OLDPWD/$BUILD/onnxcost" hw list | wc -l)" ]
result $? 'all devices are installed' "$text"
text=$(in_chroot sh -c 'onnxcost /usr/share/doc/onnxcost/copyright' 2>&1)
case $text in *"cannot read '/usr/share/doc/onnxcost/copyright'"*) true ;; *) false ;; esac
result $? 'file that is not a model is rejected' "$text"
install man-db bash-completion bash
text=$(in_chroot man -w onnxcost)
[ "$text" = /usr/share/man/man1/onnxcost.1.gz ]; result $? 'man finds the page' "$text"
text=$(in_chroot sh -c 'onnxcost help metrics | sed -n 4p; man -w onnxcost-record onnxcost-metrics onnxcost-json onnxcost-limits | wc -l')
case $text in *onnxcost-metrics*4) true ;; *) false ;; esac
result $? 'pages of commands and topics are installed' "$text"
in_chroot sh -c 'MANWIDTH=78 man --warnings onnxcost 2>/try/warnings' >build/deb-man.txt
grep -q 'where the time and memory of a neural network go' build/deb-man.txt && [ ! -s "$root/try/warnings" ]
result $? 'man prints the page without warnings' "$(head -n 3 "$root/try/warnings" build/deb-man.txt)"
in_chroot man -k onnxcost | grep -q '^onnxcost (1)'; result $? 'apropos finds the page' ''
text=$(in_chroot bash --norc -c '. /usr/share/bash-completion/bash_completion; _completion_loader onnxcost
    COMP_WORDS=(onnxcost model.onnx --hw rtx-409) COMP_CWORD=3; _onnxcost onnxcost rtx-409 --hw; echo "${COMPREPLY[@]}"')
[ "$text" = rtx-4090 ]; result $? 'bash completes' "$text"
install zsh fish
text=$(in_chroot fish -c 'complete -C "onnxcost hw show rtx-409"' 2>&1 | cut -f 1)
[ "$text" = rtx-4090 ]; result $? 'fish completes' "$text"
text=$(in_chroot zsh -f -c 'autoload -Uz compinit; compinit -u -D; echo $_comps[onnxcost]' 2>&1)
[ "$text" = _onnxcost ]; result $? 'zsh completes' "$text"

# ---- the library
install './libonnxcost1_*.deb' './libonnxcost-dev_*.deb' gcc libc6-dev pkg-config
result $? 'library installs with its dependencies' "$(tail -n 3 build/deb-chroot.txt)"
sed -n '/^    \$ \.\/heaviest /,/^$/s/^    //p' src/doc/library.md | sed 1d | grep . >build/deb-want.txt
in_chroot sh -c 'cd /try && cc -Wall -Wextra -Werror -o heaviest heaviest.c $(pkg-config --cflags --libs onnxcost) &&
    ./heaviest resnet50.onnx profile.json.gz' >build/deb-got.txt 2>&1
cmp -s build/deb-want.txt build/deb-got.txt; result $? 'example links with pkg-config and runs' "$(head -n 3 build/deb-got.txt)"
in_chroot sh -c 'ldd /try/heaviest' | grep -q 'libonnxcost.so.1 => /'; result $? 'example is linked with the shared library' "$(in_chroot ldd /try/heaviest)"
in_chroot sh -c 'cd /try && cc -o alone heaviest.c $(pkg-config --cflags onnxcost) -Wl,-Bstatic -lonnxcost -Wl,-Bdynamic \
    $(pkg-config --static --libs onnxcost | sed s/-lonnxcost//) && ./alone resnet50.onnx profile.json.gz' >build/deb-got.txt 2>&1
cmp -s build/deb-want.txt build/deb-got.txt; result $? 'example links with the static library and runs' "$(head -n 3 build/deb-got.txt)"

# ---- the Python package
install './python3-onnxcost_*.deb' './libonnxcost1_*.deb' './onnxcost-data_*.deb' libxml2
result $? 'Python package installs with its dependencies' "$(tail -n 3 build/deb-chroot.txt)"
text=$(in_chroot sh -c 'cd /try && python3 -c "
import onnxcost as oc
r = oc.analyze(\"resnet50.onnx\", profile=\"profile.json.gz\", hw=\"a100\")
print(r.macs, r.time_ns, len(oc.devices()))"' 2>/dev/null)
[ "$text" = "4089184256 73717000.0 $(($("$BUILD/onnxcost" hw list --format csv | wc -l) - 1))" ]
result $? 'Python package analyses a model with profile and device' "$text"

# ---- removal
in_chroot apt-get -q purge -y onnxcost onnxcost-data libonnxcost1 libonnxcost-dev python3-onnxcost >build/deb-chroot.txt 2>&1
left=$(find "$root" -xdev -path "$root/try" -prune -o -path "$root/var/lib/dpkg/info" -prune -o -iname '*onnxcost*' -print)
[ -z "$left" ]; result $? 'purge leaves no files' "$left"
echo "1..$n"
exit $bad
