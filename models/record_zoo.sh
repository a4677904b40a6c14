#!/bin/sh
# Records the networks of models/recordings.tsv on this machine, for `onnxcost calibrate`.
# usage: models/record_zoo.sh [-t THREADS] [-o FOLDER] [ID-PATTERN...]     BUILD=build/<mode>, ONNXRUNTIME_LIB
# Default: as many threads as processors, build/recordings. Writes FOLDER/ID.profile.json, FOLDER/ID.optimized.onnx,
# FOLDER/models/*.onnx and the list FOLDER/recordings.tsv. Existing files are not recorded again. Use an idle machine: a
# recording whose runs differ by more than a tenth is repeated twice and the fastest one is kept.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
threads=$(nproc) folder=build/recordings
while getopts t:o: option; do
    case $option in
    t) threads=$OPTARG ;;
    o) folder=$OPTARG ;;
    *) sed -n '3s/^# //p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
npm=build/corpus
tab=$(printf '\t')
mkdir -p "$folder/models"
list=$folder/recordings.tsv
log=$folder/record.log
printf 'name\tid\tfamily\tmodel\tprofile\toptimized\twarmup\tplain_ms\n' >"$list"

selected() { # ID PATTERN...: every ID if there are no patterns
    id=$1
    shift
    [ $# = 0 ] && return 0
    for pattern in "$@"; do
        # shellcheck disable=SC2254 # a pattern is meant
        case $id in $pattern) return 0 ;; esac
    done
    return 1
}

# MODEL of the table: sets $model to its file, which is written if it is a zoo model. Fails if it does not exist.
find_model() {
    case $1 in
    npm:*)
        model=$npm/${1#npm:}
        [ -e "$model" ] || model=$npm/node_modules/${1#npm:}
        ;;
    *)
        model=$folder/models/$(echo "$1" | tr -d ' ' | tr -s '-' '_').onnx
        # shellcheck disable=SC2086 # a name and options
        [ -s "$model" ] || "$BUILD/onnxzoo" $1 --weights random -o "$model"
        ;;
    esac
    [ -s "$model" ]
}

# "time  3.4 ms  (median of 15 runs ...; min 3.1 ms, ...)" in the log, or "time  3.1 ms  (min of 15 runs; NOISY: median
# 3.4 ms, ...)": median and minimum in us
run_times() {
    awk '/^time/ { u["us"] = 1; u["ms"] = 1e3; u["s"] = 1e6; median = min = $2 * u[$3]
                   for (i = 4; i < NF; i++) { unit = $(i + 2); sub(/[,)]/, "", unit)
                       if ($i == "median" && unit in u) median = $(i + 1) * u[unit]
                       if ($i == "min" && unit in u) min = $(i + 1) * u[unit] }
                   printf "%d %d\n", median, min }' "$log"
}

record() { # ID RUNS OPTION...: the fastest of up to three recordings
    id=$1 runs=$2
    shift 2
    best=
    for try in 1 2 3; do
        "$BUILD/onnxcost" record "$model" --threads "$threads" --runs "$runs" --warmup 3 "$@" -o "$folder/$id.try" \
            >"$log" || { rm -f "$folder/$id.try".*; return 1; }
        # shellcheck disable=SC2046 # two numbers
        set -- $(run_times) "$@"
        median=$1 least=$2
        shift 2
        if [ -z "$best" ] || [ "$median" -lt "$best" ]; then
            best=$median
            echo "$best" >"$folder/$id.us"
            mv "$folder/$id.try.profile.json" "$folder/$id.profile.json"
            mv "$folder/$id.try.optimized.onnx" "$folder/$id.optimized.onnx"
        fi
        [ $((median * 10)) -le $((least * 11)) ] && break
    done
    rm -f "$folder/$id.try".*
    printf '%-24s %10d us  (try %d)\n' "$id" "$best" "$try"
}

failed=0 skipped=0 recorded=0
while IFS=$tab read -r id family source runs options; do
    case $id in '' | '#'*) continue ;; esac
    selected "$id" "$@" || continue
    find_model "$source" || { echo "$id: SKIPPED, ${source#npm:} is missing (make corpus installs it)"; skipped=$((skipped + 1)); continue; }
    # shellcheck disable=SC2086 # options
    if [ ! -s "$folder/$id.profile.json" ] && ! record "$id" "$runs" $options </dev/null; then
        failed=$((failed + 1))
        continue
    fi
    recorded=$((recorded + 1))
    case $model in "$folder"/*) model=${model#"$folder"/} ;; *) model=$PWD/$model ;; esac
    printf '%s\t%s\t%s\t%s\t%s\t%s\t3\t%s\n' "$id" "${id%%@*}" "$family" "$model" "$id.profile.json" \
        "$id.optimized.onnx" "$(awk '{ print $1 / 1000 }' "$folder/$id.us")" >>"$list"
done <models/recordings.tsv
[ $((recorded + skipped + failed)) -gt 0 ] || { echo "no ID of models/recordings.tsv matches: $*" >&2; exit 2; }
echo "$recorded recorded, $skipped skipped, $failed failed: $list"
[ $failed = 0 ]
