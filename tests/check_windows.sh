#!/bin/sh
# The program for Windows (make windows) under wine: unit programs, and the same bytes as the native program for models of the
# zoo, profiles, tables, messages and written files. Prints TAP. ALL=1: every model, every profile and every unit test.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
case "$BUILD" in *release*) ;; *) echo '1..0 # SKIP only in release mode'; exit 77 ;; esac
exe=$PWD/build/mingw/onnxcost.exe native=$PWD/$BUILD/onnxcost work=$PWD/$BUILD/windows
[ -s "$exe" ] || {
    echo '1..0 # SKIP build/mingw/onnxcost.exe is missing (make windows builds it with mingw)'
    exit 77
}
[ -z "$(find src -newer "$exe" -name '*.[ch]')" ] || {
    echo '1..0 # SKIP build/mingw/onnxcost.exe is older than the sources (make windows)'
    exit 77
}
command -v wine >/dev/null || {
    echo '1..0 # SKIP wine is missing'
    exit 77
}
rm -rf "$work"
mkdir -p "$work/zoo"
ONNXCOST_HWDB=$PWD/hwdb WINEPREFIX=$work/wine WINEDEBUG=-all LC_ALL=C
export ONNXCOST_HWDB WINEPREFIX WINEDEBUG LC_ALL
trap 'wineserver -k 2>/dev/null || /usr/lib/wine/wineserver64 -k 2>/dev/null' EXIT
wine "$exe" --version >/dev/null 2>"$work/start" </dev/null || {
    echo '1..0 # SKIP wine does not run here'
    exit 77
}
windows() { LC_ALL=C.UTF-8 wine "$exe" "$@"; }
take() { if [ -n "${ALL:-}" ]; then cat; else head -n "$1"; fi; }

# ---- unit programs
for folder in base shape model ops analyze; do
    program=build/mingw/unit/$folder/tests.exe problems='' count=0
    [ -s "$program" ] || { skip "unit tests of $folder" "$program is missing"; continue; }
    for test in $(find tests/unit/$folder -name 'test_*.c' | sort | sed 's|.*/||; s|\.c$||' | take 8); do
        wine "$program" "$test" >"$work/unit" 2>&1 </dev/null || problems="$problems
$test: $(grep -aE 'ERROR|FAILED|error:' "$work/unit" | head -n 3 | cut -c 1-160)"
        count=$((count + 1))
    done
    result "unit tests of $folder ($count programs)" "${problems#
}"
done

# ---- the same bytes: standard output, standard error, exit code
count=0 problems=
same() {
    "$native" "$@" >"$work/native" 2>"$work/native.err" </dev/null
    a=$?
    windows "$@" >"$work/windows" 2>"$work/windows.err" </dev/null
    b=$?
    count=$((count + 1))
    { [ $a = $b ] && cmp -s "$work/native" "$work/windows" && cmp -s "$work/native.err" "$work/windows.err"; } || problems="$problems
$a $b: onnxcost $*: $(diff -a "$work/native" "$work/windows" | head -n 2 | cut -c 1-200) $(diff -a "$work/native.err" "$work/windows.err" | head -n 2 | cut -c 1-200)"
}
same_done() { # minimum, title
    [ $count -ge "$1" ] || problems="$problems
only $count comparisons"
    result "$2 ($count comparisons)" "${problems#
}"
    count=0 problems=
}

zoo=$work/zoo machine=models/profiles/machine.t2.xml
tests/make_zoo.sh "$zoo" || exit 1
for m in $(find "$zoo" -name '*.onnx' | sort | awk 'NR % 5 == 0 || ENVIRON["ALL"]' | take 8); do
    same "$m" -f json
    same memory "$m" -f json
done
same "$zoo/resnet50.onnx" --hw a100-sxm4-40gb -f json
same "$zoo/resnet50.onnx" --hw a100-sxm4-40gb -f html
same "$zoo/resnet50.onnx" -f csv
same "$zoo/resnet50.onnx" -a
same_done 14 'models: JSON, CSV, HTML and tables are those of the native program'

find models/profiles tests/data -type f -name '*.t1.json.gz' | sort | take 3 >"$work/profiles"
find tests/data -type f \( -name '*.csv' -o -name '*.sqlite*' -o -name '*.txt' -o -name '*.json' \) | sort |
    awk 'NR % 8 == 0 || ENVIRON["ALL"]' | while read -r f; do
        "$native" summary "$f" >/dev/null 2>&1 </dev/null && echo "$f"
    done | take 6 >>"$work/profiles"
while read -r f; do same summary "$f" -f json; done <"$work/profiles"
for p in $(find models/profiles -name 'resnet50.*.json.gz' | sort | take 2); do
    same "$zoo/resnet50.onnx" -p "$p" --hw $machine -f json
    same "$zoo/resnet50.onnx" -p "$p" --advise
done
same_done 8 'profiles: summaries and joins are those of the native program'

same diff "$zoo/resnet18.onnx" "$zoo/resnet50.onnx" -f json
same estimate "$zoo/resnet50.onnx" --hw t4,a100 -f json
same estimate "$zoo/resnet50.onnx" --hw a100-sxm4-40gb -f json
same llm "$zoo/llama_1b_q4.onnx" --hw a100-sxm4-40gb -f json
same "$zoo/resnet50.onnx" --opr-name '/layer1.*conv\d'
same hw list
same hw lint hwdb/nvidia-ampere.xml
head -c 40000 "$zoo/resnet50.onnx" >"$work/cut.onnx"
same "$work/cut.onnx"
same "$work/absent.onnx"
same "$work"
same "$zoo/resnet50.onnx" -o "$work/no/folder.json"
same "$zoo/resnet50.onnx" --dimm batch=8
same_done 12 'other commands, and messages, are those of the native program'

# ---- what differs between the systems
mkdir -p "$work/modèle 模型"
cp "$zoo/resnet18.onnx" "$work/modèle 模型/résnet.onnx"
same "$work/modèle 模型/résnet.onnx" -f json
(cd "$work" && "$native" "modèle 模型/résnet.onnx" -f csv -o native.csv && cd "modèle 模型" &&
    windows 'résnet.onnx' -f csv -o 'Ausgabe ü.csv' && windows 'résnet.onnx' -f csv -o 'Ausgabe ü.csv')
cmp -s "$work/native.csv" "$work/modèle 模型/Ausgabe ü.csv" || problems="$problems
the written file differs"
[ "$(find "$work/modèle 模型" -type f | wc -l)" = 2 ] || problems="$problems
temporary files are left: $(ls "$work/modèle 模型")"
same_done 1 'names of files are UTF-8; a written file replaces the old one and leaves no other'

(cd "$work" && windows 'zoo\resnet50.onnx' -f csv) >"$work/windows" 2>&1
(cd "$work" && "$native" zoo/resnet50.onnx -f csv) >"$work/native" 2>&1
cmp "$work/native" "$work/windows"
passed $? 'a path with backslashes is that with slashes'

"$native" - -f json <"$zoo/resnet18.onnx" >"$work/native"
# shellcheck disable=SC2002 # a pipe is what is tested
cat "$zoo/resnet18.onnx" | windows - -f json >"$work/windows"
cmp "$work/native" "$work/windows"
passed $? 'standard input from a pipe'

if /usr/bin/python3 tests/support/large_models.py "$work" 2>/dev/null; then
    for m in outside inside; do same "$work/$m.onnx" -f json; done
    same_done 2 'models and external data above 1 and 3 GB'
    rm -f "$work"/inside.onnx "$work"/outside*
else
    skip 'models and external data above 1 and 3 GB' 'python3-onnx is missing'
fi

for m in resnet18 resnet50 bert_base; do echo "$zoo/$m.onnx"; done >"$work/list"
rows() { sed 's/"seconds":[^,]*,//; s/"mtime_ns":[^,]*,//'; }
"$native" scan --files-from "$work/list" -f ndjson | rows >"$work/native"
windows scan --files-from "$work/list" -f ndjson 2>&1 | rows >"$work/windows"
cmp "$work/native" "$work/windows"
passed $? 'scan in one process: the rows are those of the native program' "$(head -c 300 "$work/windows")"

text=$(windows hw measure 2>&1 </dev/null)
[ $? = 4 ] && [ "$text" = 'onnxcost: hw measure is not available on Windows: run it under Linux (WSL)' ]
passed $? 'a command that Windows does not have says so' "$text"
echo "# bytes of onnxcost.exe: $(wc -c <"$exe")"
finish
