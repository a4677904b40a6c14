#!/bin/sh
# Files that are truncated or replaced while they are read, short reads and writes, signals during an import without and
# with --partial. Prints TAP. The moment is exact: io_faults.so changes a file, or sends a signal, when a chosen byte is
# accessed or a chosen page is read.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD build=$PWD/$BUILD work=$PWD/$BUILD/io_faults zoo=$PWD/$BUILD/onnxzoo
export ONNXCOST_HWDB="$top/hwdb" LC_ALL=C COLUMNS=150
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
. "$top/tests/faults/inputs.sh"
program=$build/onnxcost
preload=$build/io_faults.so
case $BUILD in */asan) preload="$(gcc -print-file-name=libasan.so):$preload" ;; esac
# OFFSET:FILE or N, action, arguments: exit code in rc
run_with_fault() {
    case $1 in *:*) touch=$1 reads='' ;; *) touch='' reads=$1 ;; esac
    action=$2
    shift 2
    rm -f o/* acted
    env LD_PRELOAD="$preload" IO_TOUCH="$touch" IO_READ="$reads" IO_DO=": >acted; $action" timeout 600 "$program" "$@" >out 2>err </dev/null
    rc=$?
    [ -e acted ] || echo "$*: the fault was not triggered: exit code $rc: $(cat err)"
}

# ---- large files: events of 7 us
awk 'BEGIN { print "["
    for (i = 0; i < 30000; i++)
        printf "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":7,\"ts\":%d,\"ph\":\"X\",\"name\":\"n%d_kernel_time\",\"args\":{\"op_name\":\"Relu\",\"node_index\":\"%d\"}},\n", 10 * i, i % 9, i % 9
    print "{}]" }' >big.json
awk 'BEGIN { print "{\"traceEvents\":["
    for (i = 0; i < 40000; i++) printf "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"dur\":7,\"ts\":%d,\"name\":\"event number %d\"},\n", 10 * i, i % 9
    print "{}]}" }' >chrome_big.json
awk 'BEGIN { print "Function\tCPU Time\tModule"; for (i = 0; i < 5000; i++) printf "function %d\t0.000007s\tlib%0500d.so\n", i % 9, i }' >big.csv
gzip -1 -c big.json >big.json.gz
big='big.json chrome_big.json big.csv big.json.gz'
half() { echo $(($(wc -c <"$1") / 2)); }

# ---- truncated and replaced files
problems=$(
    for f in $big $tables m.onnx here.xml cal.xml budget.xml rules.xml names.xml; do
        case $f in
        here.xml) job='m.onnx --hw here.xml' ;;
        cal.xml) job='estimate m.onnx --hw here.xml --calibration cal.xml' ;;
        budget.xml) job='check m.onnx --budget budget.xml' ;;
        rules.xml) job='m.onnx --op-rules rules.xml' ;;
        names.xml) job='kineto.json --kernel-names names.xml' ;;
        *) job=$f ;;
        esac
        where=$(half "$f")
        [ "$where" -gt 8192 ] || where=0
        cp "$f" kept
        # shellcheck disable=SC2086 # words
        run_with_fault "$where:/$f" "truncate -s 0 $f" $job -o o/out
        [ "$rc" -eq 3 ] || echo "$f: exit code $rc"
        [ "$(cat err)" = "onnxcost: cannot read '$f': it was cut, or its disk failed, while it was read" ] || echo "$f: $(cat err)"
        [ -z "$(ls o)" ] || echo "$f: leaves $(ls o)"
        cp kept "$f"
        # shellcheck disable=SC2086
        "$program" $job -f json >whole 2>/dev/null
        case $where:$f in 0:* | *:m.onnx) continue ;; esac # these files are opened several times before they are read
        # shellcheck disable=SC2086
        run_with_fault "$where:/$f" "echo something else >new && mv new $f" $job -f json
        cmp -s out whole || echo "$f: the result differs when it is replaced (exit code $rc): $(cat err)"
        cp kept "$f"
    done
)
result 'truncated files are named, replaced files are read as they were' "$problems"

cp nsys.sqlite kept
problems=$(
    for k in 1 2 3; do
        run_with_fault "$k" 'truncate -s 4096 nsys.sqlite' nsys.sqlite -o o/out
        [ "$rc" -eq 3 ] && grep -q "^onnxcost: cannot read 'nsys.sqlite': " err || echo "page $k: exit code $rc: $(cat err)"
        [ -z "$(ls o)" ] || echo "leaves $(ls o)"
        cp kept nsys.sqlite
    done
    "$program" nsys.sqlite -f json >whole
    run_with_fault 2 'echo x >new && mv new nsys.sqlite' nsys.sqlite -f json
    cmp -s out whole || echo "the result differs when it is replaced: $(cat err)"
)
cp kept nsys.sqlite
result 'truncated SQLite files are named, replaced ones are read as they were' "$problems"

# ---- short reads and writes
problems=$(grep -v '^#' "$top/tests/faults/output_jobs.txt" | grep -v -e measure -e 'scan .*-f' -e 'here.xml --check' -e plan |
    awk "NR % $(case $BUILD in */asan) echo 8 ;; *) echo 1 ;; esac) == 0" | while read -r job; do
    for how in whole few; do
        rm -f o/*
        [ $how = few ] && export IO_SHORT=1
        # shellcheck disable=SC2046,SC2086
        LD_PRELOAD=$preload timeout 600 "$program" $(echo "$job" | sed 's|@|o/out|') >$how.out 2>$how.err </dev/null
        echo "exit code $?" >>$how.err
        cp o/out $how.file
    done
    for what in out err file; do cmp whole.$what few.$what || echo "$job"; done
done)
result 'short and interrupted reads and writes give the same output' "$problems"
for f in nsys.sqlite ort.json.gz paddle.txt; do
    "$program" "$f" -f json >whole 2>&1
    IO_SHORT=1 LD_PRELOAD=$preload "$program" "$f" -f json >few 2>&1
    result "$f read in pieces gives the same report" "$(cmp whole few)"
done
"$program" scan m.onnx gru.onnx >whole
(printf 'm.on'; sleep 0.1; printf 'nx\ngru'; sleep 0.1; printf '.onnx\n') | "$program" scan --files-from - >few
result 'slow list from a pipe is read completely' "$(cmp whole few)"

# ---- a failing fsync: 5 EIO, 28 ENOSPC; 22 EINVAL, 30 EROFS, 95 ENOTSUP: not supported; 4 EINTR
problems=$(for job in 'm.onnx -f json -o @' 'weights.onnx --annotate @' 'scan m.onnx -o @'; do
    for e in 5 28 22 30 95 4; do
        # shellcheck disable=SC2046 # words
        set -- $(echo "$job" | sed 's|@|o/out|')
        rm -f o/*
        "$program" "$@" >/dev/null 2>&1 && mv o/out whole && echo before >o/out
        IO_SYNC=$e LD_PRELOAD=$preload "$program" "$@" >out 2>err
        code=$?
        case $e in
        5 | 28)
            [ "$code" -eq 4 ] && grep -q "^onnxcost: cannot write 'o/out': \(Input/output error\|No space left on device\)$" err ||
                echo "$job, $e: exit code $code: $(cat err)"
            echo before | cmp - o/out || echo "$job, $e: the existing file has changed"
            ;;
        *) [ "$code" -eq 0 ] && cmp whole o/out || echo "$job, $e: exit code $code: $(cat err)" ;;
        esac
        [ "$(ls o)" = out ] || echo "$job, $e: leaves $(ls o)"
    done
done)
result 'output file is renamed after a successful or unsupported fsync only' "$problems"
rm -rf o && mkdir o
problems=$(for e in 5 22; do
    IO_SYNC=$e LD_PRELOAD=$preload "$program" record weights.onnx --ort-lib "$build/fake_ort.so" -o o/r >out 2>err
    code=$?
    case $e:$code in
    5:4) grep -q "^onnxcost: cannot write 'o/r.[a-z.]*': Input/output error$" err && [ -z "$(ls -A o)" ] || echo "$(cat err); leaves $(ls -A o)" ;;
    22:0) [ -s o/r.profile.json ] && [ -s o/r.optimized.onnx ] || echo "wrote $(ls -A o)" ;;
    *) echo "$e: exit code $code: $(cat err)" ;;
    esac
done)
result 'record: output files are renamed after a successful or unsupported fsync only' "$problems"
rm -rf o && mkdir o

# ---- signals during an import
problems=$(
    for f in $big nsys.sqlite; do
        where=$(half "$f"):/$f
        [ "$f" = nsys.sqlite ] && where=5
        for s in INT:130 TERM:143 HUP:129; do
            run_with_fault "$where" "kill -${s%:*} \$PPID" "$f" -o o/out
            [ "$rc" -eq "${s#*:}" ] && [ ! -s out ] && ! grep -vqx 'Terminated\|Hangup' err && [ -z "$(ls o)" ] ||
                echo "$f ${s%:*}: exit code $rc, leaves '$(ls o)', prints: $(cat err)"
        done
    done
)
result 'SIGINT, SIGTERM and SIGHUP end an import immediately and leave no file' "$problems"

problems=$(
    for f in $big; do
        run_with_fault "$(half "$f"):/$f" 'kill -INT $PPID' "$f" --partial -f json -o o/out
        [ "$rc" -eq 0 ] || echo "$f: exit code $rc: $(cat err)"
        grep -q '"W-partial"' o/out || echo "$f: JSON does not mark the report as partial"
        printed=$(grep -o 'reading was stopped after [0-9]* of [0-9]* bytes' o/out)
        all=$(wc -c <"$f")
        # shellcheck disable=SC2086
        set -- $printed
        [ "${5:-0}" -gt 0 ] && [ "${5:-0}" -lt "$all" ] && [ "${7:-0}" -eq "$all" ] || echo "$f: printed '$printed' of $all"
        for form in table markdown html; do
            run_with_fault "$(half "$f"):/$f" 'kill -INT $PPID' "$f" --partial -f "$form"
            [ "$rc" -eq 0 ] && grep -q 'reading was stopped after' out || echo "$f -f $form: exit code $rc: $(cat err)"
        done
        for form in csv trace; do
            case $form:$f in trace:*csv) continue ;; esac
            run_with_fault "$(half "$f"):/$f" 'kill -INT $PPID' "$f" --partial -f "$form"
            [ "$rc" -eq 0 ] && grep -q '^onnxcost: warning: reading was stopped after' err || echo "$f -f $form: exit code $rc: $(cat err)"
        done
        run_with_fault "$(half "$f"):/$f" 'kill -INT $PPID' "$f" --partial --strict
        [ "$rc" -eq 1 ] || echo "$f --strict: exit code $rc"
        run_with_fault "$(half "$f"):/$f" 'kill -INT $PPID; while grep -q "^S[a-z]*Pnd:.*[1-9a-f]" /proc/$PPID/status; do :; done; kill -INT $PPID' "$f" --partial -o o/out
        [ "$rc" -eq 130 ] && [ -z "$(ls o)" ] || echo "$f, twice: exit code $rc, leaves '$(ls o)'"
        "$program" "$f" -f csv >whole 2>/dev/null
        "$program" "$f" --partial -f csv >part 2>/dev/null
        cmp whole part
    done
)
result 'with --partial SIGINT gives a report of the part read, marked in every format; a second SIGINT ends the program' "$problems"

# The report contains all time of the part read: one event of 7 us per line before the position.
run_with_fault "$(half big.json):/big.json" 'kill -INT $PPID' summary big.json --partial --view operator -f csv
problems=$(read_bytes=$(sed -n 's/.*stopped after \([0-9]*\) of.*/\1/p' err)
    events=$(head -c "${read_bytes:-0}" big.json | grep -c '}},$')
    calls=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if (tolower($i) ~ /calls|count/) c = i } NR > 1 && c { s += $c } END { print s + 0 }' out)
    [ "$events" -gt 1000 ] && [ "$calls" -eq "$events" ] || echo "$events events before byte $read_bytes, $calls in the report")
result 'summary --partial contains all events of the part read' "$problems"

run_with_fault 6 'kill -INT $PPID' nsys.sqlite --partial
result 'stopped SQLite import gives a partial report with its row count, or an error' "$(
    if [ "$rc" -eq 0 ]; then grep -q 'reading was stopped after [0-9]* rows' out || cat err
    else [ "$rc" -eq 3 ] && grep -q 'reading was stopped after [0-9]* rows' err || echo "exit code $rc: $(cat err)"; fi)"
result 'no temporary file remains' "$(find . -name '*.??????' -newer big.json ! -name '*.*.*' ! -name '*.json' ! -name '*.sqlite' -type f)"
finish
