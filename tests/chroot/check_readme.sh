#!/bin/sh
# The quick start of the README as somebody new types it: a clone, in a chroot with git and make and nothing else.
# Root and a mirror are needed (SUITE, MIRROR). Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${SUITE:=bookworm}" "${MIRROR:=http://deb.debian.org/debian}"
root=$PWD/build/readme-chroot
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP a chroot needs root'
    exit 77
fi
n=0
bad=0
result() { # passed? title details
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2: $3"
    fi
}
in_chroot() {
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 "$@"
}
rm -rf "$root"
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=git,make,ca-certificates "$SUITE" "$root" "$MIRROR" >build/readme-chroot.txt 2>&1 || {
    tail -n 3 build/readme-chroot.txt
    echo 'Bail out! debootstrap failed'
    exit 1
}
git clone -q --no-hardlinks "$PWD" "$root/onnxcost" || exit 1
awk '/^## Quick start/ { p = 1; next } /^## / { p = 0 } p && sub(/^    /, "")' README.md | sed 's/  *# .*//' >build/readme-lines.txt
while read -r line; do
    why=
    case $line in
    'make check' | 'make oracle' | 'make corpus') why='minutes; .ci/run does it' ;;
    'onnxcost record'*) why='it needs ONNX Runtime: tests/check_record.sh' ;;
    esac
    if [ -n "$why" ]; then
        n=$((n + 1))
        echo "ok $n - $line # SKIP $why"
        continue
    fi
    in_chroot sh -c "cd /onnxcost && $line" >build/readme-chroot.txt 2>&1 </dev/null
    result $? "$line" "$(tail -n 3 build/readme-chroot.txt | tr '\n' ' ')"
    case $line in
    'make demo') demo=$(grep -c ' Conv ' build/readme-chroot.txt) ;;
    esac
done <build/readme-lines.txt
[ "${demo:-0}" -gt 5 ]; result $? 'the demo shows a report' "${demo:-nothing}"
text=$(in_chroot sh -c 'cd /onnxcost && git status --porcelain | grep -vE " (model|decoder).onnx$| profile.json$"')
[ -z "$text" ]; result $? 'the clone is as it was' "$text"
text=$(in_chroot onnxcost --version --verbose | grep -E '^(commit|data|libxml2)' | tr '\n' ' ')
case $text in *"$(git rev-parse --short=12 HEAD)"*2.*/usr/local/share/onnxcost/hwdb*) true ;; *) false ;; esac
result $? 'the installed program knows its commit and finds its data' "$text"
# every command of the README with its output, in the clone, with the models that were written
in_chroot sh -c 'cd /onnxcost && BUILD=build/release tests/check_docs.sh' >build/readme-chroot.txt 2>/dev/null
result $? 'the output that the README shows' "$(grep -A 3 '^not ok' build/readme-chroot.txt | tr '\n' ' ')"
in_chroot sh -c 'cd /onnxcost && make uninstall' >build/readme-chroot.txt 2>&1
left=$(find "$root/usr/local" -type f; find "$root/usr/local" -iname "*onnxcost*")
[ -z "$left" ]; result $? 'make uninstall leaves nothing' "$left"
echo "1..$n"
exit $bad
