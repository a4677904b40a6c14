#!/bin/sh
# Every command of the README and of the tutorials as a new user types it: a clone, in a chroot with git and make and
# nothing else; transcripts have to print what the documents show. Root and a mirror are needed (SUITE, MIRROR). Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${SUITE:=bookworm}" "${MIRROR:=$(.ci/mirror)}"
root=$PWD/build/readme-chroot
log=build/readme-chroot.txt
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
skip() { # title reason
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}
in_chroot() {
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 COLUMNS=80 "$@"
}
clean() { # /proc is not removed with the folder
    ! mountpoint -q "$root/proc" || umount -l "$root/proc"
    rm -rf --one-file-system "$root"
}
clean
trap clean EXIT
debootstrap --variant=minbase --include=git,make,ca-certificates "$SUITE" "$root" "$MIRROR" >"$log" 2>&1 || {
    tail -n 3 "$log"
    echo 'Bail out! debootstrap failed'
    exit 1
}
git clone -q --no-hardlinks "$PWD" "$root/onnxcost" || exit 1
mount -t proc proc "$root/proc" || exit 1 # LeakSanitizer reads it

# ---- the commands of the README
ort='npm has no onnxruntime-node'
try() { # command
    seconds=$(date +%s)
    in_chroot sh -c "cd /onnxcost && $1" >"$log" 2>&1 </dev/null
    result $? "$1 ($(($(date +%s) - seconds)) s)" "$(tail -n 3 "$log" | tr '\n' ' ')"
}
tests/transcripts.sh --commands README.md >build/readme-lines.txt
while read -r line; do
    case $line in
    npm\ *) # with the npm of this machine: that of Debian takes longer than all the rest
        there=$(printf '%s' "$line" | sed "s|~|$root/root|")
        if (cd "$root/onnxcost" && $there --no-audit --no-fund --loglevel=error) >"$log" 2>&1 </dev/null; then
            ort=
            result 0 "$line" ''
        else
            skip "$line" "$(tail -n 1 "$log")"
        fi
        ;;
    'onnxcost record '*)
        if [ -z "$ort" ]; then try "$line"; else skip "$line" "$ort"; fi
        ;;
    onnxcost\ *\|\ sed*) ;; # transcripts: below
    *) try "$line" ;;
    esac
    case $line in
    'make demo') demo=$(grep -c 'Conv' "$log") ;;
    esac
done <build/readme-lines.txt
[ "${demo:-0}" -gt 5 ]; result $? 'make demo prints a report' "${demo:-nothing}"
text=$(in_chroot onnxcost --version --verbose | grep -E '^(commit|data|libxml2)' | tr '\n' ' ')
case $text in *"$(git rev-parse --short=12 HEAD)"*2.*) true ;; *) false ;; esac
result $? 'the installed program prints its commit and finds its data' "$text"
text=$(in_chroot onnxcost help metrics | sed -n 4p)
case $text in *onnxcost-metrics*) true ;; *) false ;; esac
result $? 'a topic is printed without man' "$text"

# ---- the transcripts of README and tutorials
for document in README.md src/doc/tutorial-*.md; do
    tests/transcripts.sh --commands "$document" | grep -c '^onnxcost' >build/readme-count.txt
    seconds=$(date +%s)
    in_chroot sh -c "cd /onnxcost && LC_ALL=C tests/transcripts.sh $document ." >build/readme-got.txt 2>"$log"
    cmp -s "$document" build/readme-got.txt
    result $? "$document: $(cat build/readme-count.txt) commands print what it shows ($(($(date +%s) - seconds)) s)" \
        "$(diff "$document" build/readme-got.txt | head -n 4 | tr '\n' ' ')"
done
text=$(in_chroot sh -c 'cd /onnxcost && git status --porcelain | grep -vE " (model\..*|baseline.xml|node_modules/|package.*json)$"')
[ -z "$text" ]; result $? 'the clone has no changed files' "$text"
in_chroot sh -c 'cd /onnxcost && make uninstall' >"$log" 2>&1
left=$(find "$root/usr/local" -type f; find "$root/usr/local" -iname "*onnxcost*")
[ -z "$left" ]; result $? 'make uninstall leaves nothing' "$left"
echo "1..$n"
exit $bad
