#!/bin/sh
# A fleet on existing engines: 5,000 models, 2,000 recordings and 1,024 ranks, scanned by one process, by GNU parallel, by Slurm and
# by Dask with the scripts of src/doc/fleet.md. In Slurm the disk is full at first, a process is killed, and a node fails while its
# task goes on as a second writer; in Dask a worker is killed, and its task goes on as well. The rows must equal those of the one
# process. The questions of the document are queries of DuckDB, and tests/fleet/recompute.py computes the answers again. Prints TAP.
# usage: DUCKDB=node_modules tests/fleet/check.sh [MODELS [TRACES [RANKS]]]
# shellcheck disable=SC2317 # functions that timed and wait_for call
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${DUCKDB:=$PWD/build/duckdb/node_modules}"
models=${1:-5000} traces=${2:-2000} ranks=${3:-1024} parts=200
top=$PWD
work=$PWD/$BUILD/fleet
document=$top/src/doc/fleet.md
days='2026-03-02 2026-03-03'
export ONNXCOST_HWDB="$PWD/hwdb" NODE_PATH="$DUCKDB" PATH="$PWD/$BUILD:$PATH" PARALLEL=--will-cite FLEET_CHECK="$work"
. tests/fleet/slurm.sh
dask='' caught='' writers=''
stop_all() {
    slurm_stop
    # shellcheck disable=SC2046 # a list
    [ -z "$dask" ] || kill -KILL $(pgrep -P "$dask") "$dask" "$caught" 2>/dev/null
    ! mountpoint -q "$work/slurm.rows" || umount -l "$work/slurm.rows"
    ! mountpoint -q "$work/disk" || umount -l "$work/disk"
}
stop_all
trap stop_all EXIT
trap 'exit 1' INT TERM HUP
rm -rf "$work"
mkdir -p "$work/models/${days% *}" "$work/zoo" "$work/list" "$work/log" "$work/answers" "$work/reports"
cd "$work" || exit 1

block() { # title, language: the first block of code below that title
    awk -v title="$1" -v fence="\`\`\`$2" '
        /^##/ { below = $0 ~ "^##+ " title "$" }
        inside && /^```$/ { exit }
        inside { print }
        below && $0 == fence { inside = 1 }' "$document"
}
query() { # statement: CSV
    node "$top/tests/support/duckdb_query.js" "$1"
}
now() { date +%s.%N; }
timed() { # name, command: its time goes to seconds.txt
    timed_name=$1
    shift
    start=$(now)
    "$@"
    rc=$?
    echo "$start $(now)" | awk -v name="$timed_name" '{ printf "%-34s %7.1f s\n", name, $2 - $1 }' >>seconds.txt
    return $rc
}
new_rows() { # folder: rows/ is this one
    mkdir -p "$1"
    rm -f rows
    ln -s "$1" rows
}

# ---- a fleet -------------------------------------------------------------------------------------------------------
make_models() {
    first=models/${days% *}
    for name in resnet18 mobilenetv2 resnet50 vgg16; do onnxzoo "$name" -o "zoo/$name.onnx"; done
    cp zoo/*.onnx "$first"
    # shellcheck disable=SC2016 # the shell of xargs expands it
    seq $((models / 2 - 4)) | FIRST=$first xargs -P 2 -n 50 sh -c 'for i; do
        set -- conv depthwise product attention elementwise reduce move mixed integer
        shift $((i % 9))
        if [ $((i % 50)) = 0 ]; then onnxzoo randwire --seed $i -o $FIRST/randwire$i.onnx
        else onnxzoo micro --kind $1 --seed $i -o $FIRST/$1$i.onnx; fi
    done' sh
    python3 "$top/tests/fleet/make_fleet.py" days models
}
make_recordings() {
    recorded=$top/models/profiles
    python3 "$top/tests/fleet/make_fleet.py" traces traces "$traces" "$recorded"/resnet18.all.t1.json.gz \
        "$recorded"/mobilenetv2.disabled.t1.json.gz "$recorded"/resnet50.all.t1.json.gz "$recorded"/vgg16.all.t1.json.gz &&
        python3 "$top/tests/fleet/make_fleet.py" ranks ranks "$ranks"
}
make_lists() {
    cp "$top/models/profiles/machine.t1.xml" machine.xml
    find models -name '*.onnx' | sort >list/models
    find traces -name '*.json.gz' | sort >list/traces
    for a in traces/"${days% *}"/*/*; do
        echo "zoo/${a##*/}.onnx $a traces/${days#* }/${a#traces/*/}"
    done >list/pairs
    echo 'no profile' >traces/broken.json
    echo traces/broken.json >>list/traces
    block 'One task' sh >task
    # in a session of its own: a stopped process whose parent ends gets SIGHUP and SIGCONT if both are in one session
    block Slurm sh | sed 's|^exec |&setsid --wait |' >slurm.job
    block Dask python >dask_run.py
    chmod +x task
}
timed 'making the fleet' make_models >made 2>&1 && make_recordings >>made 2>&1 && make_lists
passed $? 'the fleet is made' "$(tail -n 3 made)"
result "there are $models models, $traces recordings and $ranks ranks" "$(
    wc -l <list/models | grep -qx "$models" || wc -l list/models
    grep -c gz list/traces | grep -qx "$traces" || wc -l list/traces
    find ranks -type f | wc -l | grep -qx "$ranks" || find ranks -type f | wc -l)"

# ---- rows equal those of one process -------------------------------------------------------------------------------
# the columns that say when or with which others a file was scanned differ
compare() { # engine, folder of rows
    for table in models profiles operators summary; do
        columns='*'
        case $table in models | profiles) columns='* exclude (seconds, duplicate_of)' ;; esac
        answer=$(query "select (select count(*) from (select $columns from 'serial.rows/$table.*.parquet' except all
                select $columns from '$2/$table.*.parquet')) as missing,
            (select count(*) from (select $columns from '$2/$table.*.parquet' except all
                select $columns from 'serial.rows/$table.*.parquet')) as more,
            (select count(*) > 0 from '$2/$table.*.parquet') as there" 2>&1 | tail -n 1)
        expect_eq "$1: rows of $table equal those of one process" 0,0,true "$answer"
    done
    result "$1: comparisons equal those of one process" "$(for f in serial.rows/diff.*.json; do cmp "$f" "$2/${f##*/}" 2>&1; done
        find "$2/" -name 'diff.*.json' | wc -l | grep -qx "$(wc -l <list/pairs)" || find "$2/" -name 'diff.*.json')"
    expect_eq "$1: every part is there once" "$parts" "$(find "$2/" -name 'models.*.parquet' | wc -l)"
}
expect_eq() { # title expected actual
    result "$1" "$([ "$2" = "$3" ] || echo "expected '$2', got '$3'")"
}

new_rows serial.rows
timed 'one process' ./task 0 1
passed $? 'one process' "$(tail -n 3 log/0.err)"
expect_eq 'every model has a row' "$models,$models" \
    "$(query "select count(*), count(distinct path) from 'rows/models.*.parquet'" | tail -n 1)"
expect_eq 'every recording has a row, and one is an error' "$((traces + 1)),1" \
    "$(query "select count(distinct path), count(error) from 'rows/profiles.*.parquet'" | tail -n 1)"

if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    new_rows parallel.rows
    block 'GNU parallel' sh >parallel.sh
    timed 'GNU parallel, 2 processes' sh -e parallel.sh
    passed $? 'GNU parallel: all parts' "$(cat log/*.err | grep -v warning | tail -n 3)"
    compare 'GNU parallel' parallel.rows
else
    skip_named 'GNU parallel' 'package parallel is missing'
fi

# ---- Slurm ---------------------------------------------------------------------------------------------------------
wait_for() { # seconds, command: until it succeeds
    limit=$(($1 * 5))
    shift
    while [ "$limit" -gt 0 ]; do
        "$@" && return 0
        limit=$((limit - 1))
        sleep 0.2
    done
    return 1
}
ended() { # pattern of a line in the log of ended tasks
    grep -q "$1" "$slurm/jobs.log" 2>/dev/null
}
catch_writer() { # NAME=VALUE: sets `caught`, an onnxcost that has begun to write and is stopped now
    caught=$(python3 "$top/tests/fleet/catch_writer.py" 120 "$1" FLEET_CHECK="$work")
}
is_gone() { # process
    [ ! -e "/proc/$1" ] || grep -q '^State:[^A-Z]*Z' "/proc/$1/status" 2>/dev/null
}
parent_of() { # process
    sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"
}
kill_process() {
    catch_writer SLURMD_NODENAME=n2 && kill -KILL "$caught"
}
# the node is gone, but its task goes on later: the second writer of its part
fail_node() {
    catch_writer SLURMD_NODENAME=n1 || return 1
    twice=$(tr '\0' '\n' <"/proc/$caught/environ" | sed -n 's/^SLURM_ARRAY_TASK_ID=//p')
    writers=$(node_processes n1) daemons="$(cat "$slurm/slurmd.n1.pid") $(step_daemons n1)"
    # shellcheck disable=SC2086 # a list
    kill -KILL $daemons
    for process in $daemons; do
        until is_gone "$process"; do :; done
    done
    grep -q '^State:[^A-Z]*T' "/proc/$caught/status" || echo 'the task ended with its node' >&2
}
queue_is_empty() {
    queue=$(squeue -h -o %i 2>/dev/null) && [ -z "$queue" ]
}
run_slurm() {
    sbatch slurm.job >log/sbatch || return 1
    wait_for 120 ended 'JobState=FAILED .* ExitCode=4:0 ' || echo 'no task was requeued because the disk was full' >&2
    mount -o remount,size=1g slurm.rows
    kill_process || echo 'no process was killed' >&2
    fail_node || echo 'no node failed' >&2
    wait_for 120 ended JobState=NODE_FAIL || echo 'no task was requeued because its node failed' >&2
    kill -CONT "$caught"
    for process in $writers; do wait_for 30 is_gone "$process"; done
    slurmd -N n1 # which would end what goes on from before
    wait_for 900 queue_is_empty || echo 'the queue is not empty' >&2
}
why=$(slurm_missing)
if [ -z "$why" ]; then
    new_rows slurm.rows
    mount -t tmpfs -o size=2m none slurm.rows
    slurm_start
    passed $? 'Slurm: a controller and two nodes' "$(tail -n 5 "$slurm"/*.log)"
    timed "Slurm, $parts tasks on 2 nodes" run_slurm 2>slurm.err
    result 'Slurm: full disk, killed process, failed node, second writer' "$(cat slurm.err)"
    echo "# Slurm: task ${twice:-?} had two writers; ends of tasks, with exit codes:"
    sed 's/.* JobState=\([A-Z_]*\) .* ExitCode=\([0-9]*\):.*/# \1 \2/' "$slurm/jobs.log" | sort | uniq -c | sed 's/^ *\([0-9]*\) # /#   \1 /'
    slurm_stop
    compare Slurm slurm.rows
    umount slurm.rows
else
    skip_named Slurm "$why"
fi

# ---- Dask ----------------------------------------------------------------------------------------------------------
run_dask() {
    FLEET_ENGINE=dask /usr/bin/python3 dask_run.py >log/dask 2>&1 &
    dask=$!
    if catch_writer FLEET_ENGINE=dask; then
        worker=$caught
        while writer=$worker && worker=$(parent_of "$writer") && ! grep -q python "/proc/$worker/comm"; do :; done
        kill -KILL "$worker"
    else
        echo 'no worker was found' >&2
    fi
    wait "$dask"
    rc=$?
    kill -CONT "$caught" # the second writer of its part
    wait_for 60 is_gone "$writer"
    return "$rc"
}
if /usr/bin/python3 -c 'import distributed' 2>/dev/null; then
    new_rows dask.rows
    timed 'Dask, 2 workers' run_dask 2>dask.err
    passed $? 'Dask: all parts, although a worker was killed' "$(cat dask.err; tail -n 5 log/dask)"
    result 'Dask: a worker was killed' "$(grep -v Killed dask.err
        grep -qi 'restarting\|died\|signal 9\|unexpected' log/dask || tail -n 5 log/dask)"
    dask=
    compare Dask dask.rows
else
    skip_named Dask 'package python3-distributed is missing'
fi

# ---- questions -----------------------------------------------------------------------------------------------------
rm rows
ln -s "$([ -d dask.rows ] && echo dask.rows || echo serial.rows)" rows
onnxcost scan --profiles ranks --rows nodes -f parquet -o rows/ranks.parquet
passed $? 'ranks: all are read'
for name in resnet18 mobilenetv2 resnet50 vgg16; do
    onnxcost zoo/$name.onnx -p "$(find traces -name "$name.000.json.gz" | head -n 1)" --hw machine.xml -f csv \
        -o reports/$name.csv 2>>log/reports.err
done
rm traces/broken.json
ask() { # title, number of the block, name, arguments of recompute.py
    title=$1 name=$3
    awk -v title="$1" -v which="$2" '/^##/ { below = $0 ~ "^##+ " title "$" } inside && /^```$/ { inside = 0 } inside { print }
        below && $0 == "```sql" && ++n == which { inside = 1 }' "$document" >"answers/$name.sql"
    query "$(cat "answers/$name.sql")" >"answers/$name.csv" 2>"answers/$name.err"
    shift 3
    text=$(python3 "$top/tests/fleet/recompute.py" "$name" "answers/$name.csv" "$@" 2>&1)
    rc=$?
    echo "# $(printf '%s' "$text" | tail -n 1)"
    result "question: $title ($name): equal to the independent computation" "$(
        [ $rc -eq 0 ] || { cat "answers/$name.err"; printf '%s\n' "$text" | tail -n 4; })"
}
ask 'Operator types by gap' 1 gap traces reports
ask 'Regressions between two days' 1 regressions traces
ask 'Regressions between two days' 2 types traces reports
ask 'Ranks that are slower for the same work' 1 ranks ranks ranks.expected
ask 'Memory by model' 1 memory models
ask 'Models that stop being supported' 1 unsupported models
query "$(block Duplicates sql)" >answers/duplicates.csv
query "select duplicate_of as first, count(*) + 1 as copies from 'serial.rows/models.*.parquet' where duplicate_of is not null
    group by duplicate_of order by first" >answers/duplicates.want
result 'question: duplicates of all parts are those of one process' "$(cmp answers/duplicates.csv answers/duplicates.want)"
head -n 7 answers/*.csv | cut -c 1-150 | sed 's/^/# /'
sed 's/^/# /' seconds.txt
finish
