#!/bin/sh
# Output that cannot be written: a full disk, a file size limit, closed pipes, streams that were never open. Every command
# and every format (tests/faults/output_jobs.txt). Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
# the disk is mounted in a separate namespace, which ends with this script
if [ -z "${IN_NAMESPACE:-}" ]; then
    export IN_NAMESPACE=no
    for how in '-m' '-rm'; do
        if unshare $how sh -c 'mount -t tmpfs -o size=64k none /mnt' 2>/dev/null; then
            export IN_NAMESPACE=yes
            exec unshare $how "$PWD/tests/check_full_disk.sh"
        fi
    done
fi
top=$PWD build=$PWD/$BUILD work=$PWD/$BUILD/full_disk zoo=$PWD/$BUILD/onnxzoo
export ONNXCOST_HWDB="$top/hwdb" LC_ALL=C
unset COLUMNS
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
. "$top/tests/faults/inputs.sh"
gzip -dc "$top/models/profiles/vgg16.all.t1.json.gz" >recordings/vgg16.profile.json
"$zoo" vgg16 -o recordings/vgg16.onnx
program=$build/onnxcost
case $BUILD in */asan) every=3 ;; *) every=1 ;; esac # slow: only every third job
jobs_matching() { # pattern
    grep -v '^#' "$top/tests/faults/output_jobs.txt" | grep -e "$1" | awk "NR % $every == 0"
}
# problems of the last run: expected code, pattern of the last line on standard error ('': empty)
check_run() {
    if [ "$rc" -ne "$1" ]; then
        echo "'$job': exit code $rc, not $1: $(tail -n 1 err)"
    elif [ -z "$2" ]; then
        grep -v ': warning: ' err | sed "s~^~'$job': prints: ~" | head -n 1
    else
        tail -n 1 err | grep -qE -- "$2" || echo "'$job': prints: $(tail -n 1 err)"
    fi
}
# runs $job with another file for @
run() {
    # shellcheck disable=SC2046,SC2086 # words
    timeout 600 "$program" $(echo "$job" | sed "s|@|$1|") >out 2>err </dev/null
    rc=$?
}

# ---- a full disk
problems=$(jobs_matching @ | while read -r job; do
    run o/out
    [ $rc -le 1 ] && [ -s o/out ] || echo "'$job': exit code $rc: $(tail -n 1 err)"
    [ "$(ls o)" = out ] || echo "'$job' leaves: $(ls o)"
    rm -rf o/*
done)
result "$(jobs_matching @ | wc -l) commands write their file if there is space" "$problems"

"$program" check m.onnx --save-baseline baseline.xml >out 2>&1
full_disk() { # title, existing content, '' for none (the start of --resume)
    problems=$(jobs_matching @ | { [ -z "$2" ] && cat || grep -v -e --resume; } | while read -r job; do
        existing=$2
        # a baseline is updated in place, another file is rejected before anything is written
        case $job in *--save-baseline*) [ -z "$2" ] || existing=$(cat baseline.xml) ;; esac
        [ -n "$existing" ] && echo "$existing" >disk/out
        cat /dev/zero >disk/filler 2>/dev/null
        run disk/out
        check_run 4 "^onnxcost: cannot write '(disk/out|the model|standard output)'.*No space left on device"
        there=$(cd disk && echo *)
        [ "$there" = "filler${2:+ out}" ] || echo "'$job' leaves: $there"
        [ -z "$2" ] || [ "$(cat disk/out)" = "$existing" ] || echo "'$job' changed the existing file"
        rm -f disk/*
    done)
    result "$1" "$problems"
}
if [ "$IN_NAMESPACE" = yes ] && mkdir -p disk && mount -t tmpfs -o size=64k none disk; then
    full_disk 'full disk: exit code 4, the reason, and no file' ''
    full_disk 'full disk: existing file is unchanged' 'existing content'
    result 'disk that fills up while writing: exit code 4, the reason, and no file' "$(
        for job in 'm.onnx -f html -o @' 'weights.onnx --annotate @' 'scan models -f csv -o @'; do
            rm -f disk/* && cat /dev/zero >disk/filler 2>/dev/null
            case $job in scan*) ;; *) truncate -s -16k disk/filler ;; esac
            run disk/out
            check_run 4 "No space left on device"
            [ "$(ls disk)" = filler ] || echo "'$job' leaves: $(ls disk)"
        done)"
    FAKE_ORT='' "$program" record weights.onnx --ort-lib "$build/fake_ort.so" -o disk/r >out 2>err </dev/null
    rc=$?
    result 'record on a full disk: exit code 4, the reason, and no file' "$(job=record check_run 4 '^onnxcost: '; [ "$(ls -A disk)" = filler ] || ls -lA disk)"
    umount disk
else
    for title in 'full disk' 'full disk: existing file' 'disk that fills up while writing' 'record on a full disk'; do
        skip "$title" 'no small file system: mounting needs root, or user namespaces'
    done
fi

# ---- a file size limit, which also sends a signal
result 'file size limit: exit code 4, the reason, and no file' "$(jobs_matching 'html -o @\|trace -o @\|annotate @' | while read -r job; do
    rc=$( (ulimit -f 8; run o/out; echo $rc) )
    check_run 4 "^onnxcost: cannot write '(o/out)'.*File too large"
    [ -z "$(ls o)" ] || echo "'$job' leaves: $(ls o)"
    rm -f o/*
done)"

# ---- standard output
to_stdout() { # the job without its output file
    echo "$1" | sed 's/ -o @//'
}
result 'standard output on a full disk: exit code 4 and the reason' "$(jobs_matching '-o @$' | grep -v -e --resume -e measure | while read -r job; do
    # shellcheck disable=SC2046
    timeout 600 "$program" $(to_stdout "$job") >/dev/full 2>err </dev/null
    rc=$?
    check_run 4 "^onnxcost: cannot write 'standard output': No space left on device"
done)"
mkfifo pipe
# shellcheck disable=SC2094 # opened for reading and writing so that it does not wait for a reader
exec 8<>pipe 9>pipe 8<&- # only the write end remains
result 'closed pipe: exit code 4 and no message' "$(jobs_matching '-o @$' | grep -v -e --resume -e measure | while read -r job; do
    # shellcheck disable=SC2046
    timeout 600 "$program" $(to_stdout "$job") >&9 2>err </dev/null
    rc=$?
    check_run 4 ''
done)"
result 'closed standard output: exit code 4 and the reason' "$(jobs_matching '-o @$' | grep -v -e --resume -e measure | while read -r job; do
    # shellcheck disable=SC2046
    timeout 600 "$program" $(to_stdout "$job") >&- 2>err </dev/null
    rc=$?
    check_run 4 "^onnxcost: cannot write 'standard output': Bad file descriptor"
done)"

# The first opened file gets the number of a closed stream: messages must not be written into it.
cp ort.json ort.before.json
result 'closed standard streams: input files are unchanged' "$(
    for job in 'm.onnx -p ort.json -o @' 'm.onnx -f json -o @' 'summary kineto.json -o @' 'weights.onnx --annotate @' 'scan models -o @' \
        'nowhere.onnx -o @' 'nsys.sqlite -o @' 'hw show a100-sxm4-80gb -o @'; do
        for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-' '<&- >&-'; do
            for where in o/out -; do
                line=$(echo "$job" | sed "s|@|$where|")
                case $line in *'annotate -'*) continue ;; esac
                cp m.onnx m.before.onnx && cp weights.onnx weights.before.onnx
                timeout 600 "$program" "$top/nowhere" >/dev/null 2>&1
                eval "timeout 600 \"\$program\" $line $closed" >out 2>err
                rc=$?
                cmp -s m.onnx m.before.onnx && cmp -s weights.onnx weights.before.onnx && cmp -s ort.json ort.before.json ||
                    echo "$line $closed: an input file was changed"
                [ $rc -lt 5 ] || echo "$line $closed: exit code $rc"
                case $closed:$where:$job in
                *:nowhere*) [ ! -e o/out ] || echo "$line $closed: a file exists" ;;
                *:o/out:*) grep -q 'onnxcost: ' o/out && echo "$line $closed: a message was written into the file" ;;
                esac
                rm -f o/*
            done
        done
    done)"
finish
