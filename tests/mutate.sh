#!/bin/bash
# Mutation test: changes one place of src (an operator, a constant, a condition, a call) and runs the tests that should notice:
# the unit programs of the folder, the expected output, the scripts of the subject, all others, the folder under ASan. A mutant that
# no test notices survives: a test is missing, the code is not needed, or the mutant is equivalent. Prints TAP: `ok` killed,
# `not ok` survived; the exit code is 1 below RATE percent killed (90).
# usage: N=60 SEED=1 FOLDERS="analyze ops" JOBS=1 tests/mutate.sh [FILE.c...]      (make mutate builds what it needs)
# The sources and the builds stay as they are: a mutant is compiled alone (-O0, undefined behaviour traps) in build/mutate/ID
# and linked before the library.
# shellcheck disable=SC2010,SC2013 # names of files have no blanks
set -u
cd "$(dirname "$0")/.." || exit 2
: "${BUILD:=build/release}" "${N:=60}" "${SEED:=1}" "${FOLDERS:=$(ls src)}" "${JOBS:=1}" "${RATE:=90}"
top=build/mutate release=$BUILD asan=build/asan
export LC_ALL=C ONNXCOST_HWDB=$PWD/hwdb MALLOC_PERTURB_=165 STOP=1 BUILD N SEED FOLDERS
libs="-Wl,--as-needed -lcmocka -lsqlite3 -lprotobuf-c -lz -lm -ldl -pthread"
gold=$(command -v ld.gold >/dev/null && echo -fuse-ld=gold)
flags=$(sed 's/ -D_FORTIFY_SOURCE=2//; s/ -fstack-clash-protection//' "$release/flags")
trapping="-O0 -g0 -fsanitize=undefined -fsanitize-undefined-trap-on-error"

# other folders with unit programs of the code; scripts, those with a word of the file's name among them
folders_of() { # file
    case $1 in
    src/advice/* | src/annotate/*) echo report api ;;
    src/analyze/*) echo api memory report ops llm models ;;
    src/base/* | src/lang/*) echo api ops analyze profile hw write cli ;;
    src/estimate/*) echo api memory advice llm report ;;
    src/hw/*) echo estimate api report ;;
    src/join/*) echo api report advice provider ;;
    src/memory/* | src/model/*) echo api analyze llm ;;
    src/ops/*) echo analyze shape join models ;;
    src/profile/*) echo api join report fleet ;;
    src/report/*) echo advice api write gate ;;
    src/shape/*) echo analyze ops ;;
    src/write/*) echo api report gate llm fleet ;;
    esac
}
scripts_of() { # file
    local word
    for word in $(basename "$1" .c | tr _ ' '); do
        case $word in layers | library | python) continue ;; esac # of the builds, not of the linked mutant
        [ ! -f "tests/check_$word.sh" ] || echo "$word"
    done
    case $1 in
    src/advice/*) echo advice questions ;;
    src/analyze/*) echo control_flow sizes ;;
    src/annotate/*) echo annotate extract apply ;;
    src/base/*) echo messages output injection ;;
    src/cli/*) echo messages output questions scan record ;;
    src/estimate/*) echo calibration roofline ;;
    src/fleet/*) echo scan conservation ;;
    src/gate/*) echo gate ;;
    src/hw/*) echo hwdb roofline messages ;;
    src/join/*) echo paddle sizes wild ;;
    src/lang/*) echo op_rules messages ;;
    src/llm/*) echo decoders llm_published questions ;;
    src/mcp/*) echo mcp hardening ;;
    src/measure/*) echo measure roofline ;;
    src/memory/*) echo plans questions ;;
    src/model/*) echo decoders messages remote ;;
    src/ops/*) echo op_rules oracle ;;
    src/profile/*) echo profiles samples conservation wild names ;;
    src/provider/*) echo providers ;;
    src/report/*) echo columns figures conservation ;;
    src/run/* | src/trial/*) echo record trials measure ;;
    src/shape/*) echo random_shapes ;;
    src/write/*mge* | src/write/*grid*) echo megengine ;;
    src/write/*check* | src/write/*baseline* | src/write/*sarif* | src/write/*diff*) echo gate ;;
    src/write/*html* | src/write/*page*) echo pages formats browser ;;
    src/write/*) echo csv output formats ;;
    esac
}

# $file, $work: the mutated source file, the folder of the mutant
compile() { # source object flags
    # shellcheck disable=SC2086 # words
    $3 -std=c11 -iquote "$(dirname "$file")" -I/usr/include/libxml2 -DOC_DATADIR='""' -DNDEBUG -Wall -Wextra -Werror -Wno-cpp \
        -c -o "$2" "$1" 2>"$work/log"
}
link() { # program build objects...
    local to=$1 from=$2
    shift 2
    # shellcheck disable=SC2086
    cc $gold $sanitize -Wl,-S -o "$to" "$work/mutant.o" "$@" "$from/libonnxcost.a" $libs 2>"$work/log"
}

# a mutant may allocate without end; ASan needs address space
limited() { # seconds command...
    [ -n "${sanitize:-}" ] || ulimit -v 8000000
    ASAN_OPTIONS=hard_rss_limit_mb=6000 exec timeout "$@" >"$work/log" 2>&1 </dev/null
}

# prints the first test of a folder of unit programs that fails
run_units() { # folder build
    local folder=$1 from=$2 t rc place=$work/unit/$1
    # unit programs have the library, not the program
    [ -d "tests/unit/$folder" ] && [[ $file != src/cli/* ]] || return
    mkdir -p "$place"
    # shellcheck disable=SC2046
    link "$place/tests" "$from" "$from/obj/unit/$folder.o" \
        $(printf "$from/obj/%s.o\n" tests/unit/"$folder"/test_*.c tests/support/*.c | sed 's/\.c\.o$/.o/') \
        "$from/libonnxzoo.a" "$from/obj/onnx.pb-c.o" ||
        { echo "link $folder: $(head -n 1 "$work/log")"; return; }
    t=$(basename "$file" .c)
    # first the programs with the name of the file
    for t in $( (cd "tests/unit/$folder" && ls | grep "^test_.*${t%%_*}"; ls | grep '^test_') | awk '!seen[$0]++'); do
        t=${t%.c}
        ln -sf tests "$place/$t"
        (CMOCKA_MESSAGE_OUTPUT=TAP limited 60 "$place/$t")
        rc=$?
        [ $rc = 0 ] && continue
        echo "unit $folder/$t: $(awk '/^not ok/ { sub(/^not ok [0-9]+ - /, ""); print; n = 1; exit }
            END { if (!n) print "exit code '$rc'" }' "$work/log")${sanitize:+ (ASan)}"
        return
    done
}

run_script() { # name
    local script=tests/check_$1.sh rc
    [ "$1" = oracle ] && script=tests/oracle/run.sh
    (BUILD=$work limited 300 "$script")
    rc=$?
    [ $rc = 0 ] || [ $rc = 77 ] || echo "$1: $(grep -m 1 '^not ok' "$work/log" || echo "exit code $rc")"
}

# prints the tests that fail, at least the first one: of $source in place of $file
failures() { # scripts
    local t folder rc sanitize=
    folder=$(cut -d / -f 2 <<<"$file")
    run_units "$folder" "$release" | grep . && return
    # shellcheck disable=SC2046
    link "$work/onnxcost" "$release" $(for t in src/cli/*.c; do [ "$t" = "$file" ] || ls "$release/obj/${t%.c}.o" 2>/dev/null; done) || { echo "link: $(head -n 1 "$work/log")"; return; }
    if [ -z "$output_is_right" ]; then
        (BUILD=$work limited 120 tests/golden/run.sh)
        rc=$?
        sed -n 's/^not ok [0-9]* - /golden /p' "$work/log" | grep . && return
        [ $rc = 0 ] || { echo "golden: exit code $rc"; return; }
        run_script outputs | grep . && return
    fi
    for t in $1; do run_script "$t" | grep . && return; done
    for t in $(folders_of "$file"); do run_units "$t" "$release" | grep . && return; done
    [ "$source" != "$file" ] || return # the builds themselves
    for t in tests/unit/*; do
        t=${t##*/}
        [ "$t" = "$folder" ] || [[ " $(folders_of "$file") " = *" $t "* ]] || run_units "$t" "$release" | grep . && return
    done
    for t in $(cat "$top/scripts"); do
        [[ " $1 " = *" $t "* ]] || run_script "$t" | grep . && return
    done
    sanitize='-fsanitize=address,undefined'
    compile "$source" "$work/mutant.o" "$(cat "$asan/flags") -O0 -g0" && run_units "$folder" "$asan" | grep . && return
}

prepare() { # folder
    work=$top/$1
    mkdir -p "$work"
    for t in onnxzoo fake_ort.so oracle; do ln -sfn "$PWD/$release/$t" "$work/$t"; done
}
run_mutant() { # id file line kind before after
    local result output_is_right=
    prepare "$1"
    file=$2 source=$work/$(basename "$2")
    if ! compile "$source" "$work/mutant.o" "$flags $trapping"; then
        echo "ok $1 - $2:$3 $4 # SKIP does not compile"
    elif result=$(failures "$(scripts_of "$file")" | head -n 1) && [ -n "$result" ]; then
        echo "ok $1 - $2:$3 $4: $result"
    elif compile "$source" "$work/a.o" "$flags -g0" && compile "$file" "$work/b.o" "$flags -g0" && cmp -s "$work/a.o" "$work/b.o"; then
        echo "ok $1 - $2:$3 $4 # SKIP equivalent: the same code at -O2"
    else
        printf 'not ok %s - %s:%s %s survived\n# - %s\n# + %s\n' "$@"
    fi
    rm -rf "$work"
}
if [ "${1:-}" = --script ]; then # prints its name if it passes
    prepare "$2-$3"
    cp "$top/$2/onnxcost" "$work/onnxcost"
    [ -n "$(run_script "$3")" ] || echo "$3"
    rm -rf "$work"
    exit 0
fi
if [ "${1:-}" = --one ]; then
    IFS='	' read -r -a m <<<"$2"
    run_mutant "${m[@]}"
    exit 0
fi

rm -rf "$top"
mkdir -p "$top"
# shellcheck disable=SC2046,SC2086
[ $# -gt 0 ] || set -- $(for f in $FOLDERS; do find "src/$f" -name '*.c' ! -name 'os_w*' | sort; done)
perl tests/mutate.pl "$N" "$SEED" "$top" "$@" >"$top/list" || exit 2
# without a mutation every test must pass
prepare 0
output_is_right=
scripts=$(cut -f 2 "$top/list" | while read -r f; do scripts_of "$f"; done | tr ' ' '\n' | sort -u)
for file in $(cut -f 2 "$top/list" | sort -t / -k 2,2 -u); do
    source=$file
    compile "$file" "$work/mutant.o" "$flags $trapping" || { cat "$work/log"; exit 2; }
    result=$(failures "$scripts")
    scripts='' output_is_right=yes
    [ -z "$result" ] || { echo "Bail out! $file without a mutation: $result"; exit 2; }
done
# the scripts that a program linked in this way can pass
printf '%s\n' tests/check_*.sh | sed 's/.*check_//; s/\.sh$//' | grep -vxE 'layers|library|python|words' |
    xargs -n 1 -P "$JOBS" "$0" --script "$(basename "$work")" >"$top/scripts"
xargs -d '\n' -n 1 -P "$JOBS" "$0" --one <"$top/list" | tee "$top/all"
awk -v rate="$RATE" '
    /^not ok/ { survived++; next }
    /# SKIP does not compile/ { broken++; next }
    /# SKIP equivalent/ { same++; next }
    /^ok/ { killed++; how[$6 == "golden" || $6 == "unit" ? $6 : "script"]++ }
    END {
        n = killed + survived
        printf "1..%d\n# %d mutants: %d killed (%d by unit programs, %d by expected output, %d by scripts), %d survived; not counted: %d equivalent, %d did not compile\n",
            n + same + broken, n, killed, how["unit"], how["golden"], how["script"], survived, same, broken
        if (n) printf "# killed: %.1f %%\n", 100 * killed / n
        exit n == 0 || 100 * killed / n < rate
    }' "$top/all"
