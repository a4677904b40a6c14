#!/bin/sh
# Colours, widths, borders, pagers and locales: what depends on the terminal and what does not. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/terminal
rm -rf "$work"
mkdir -p "$work/locale"
onnxcost=$PWD/$BUILD/onnxcost
export ONNXCOST_HWDB="$PWD/hwdb" TERM=xterm LC_ALL=C.UTF-8
unset NO_COLOR COLUMNS LANG LC_CTYPE
esc=$(printf '\033')
"$BUILD/onnxzoo" resnet18 -o "$work/resnet18.onnx"
"$BUILD/onnxzoo" bert_base -o "$work/bert.onnx"
profile=$PWD/models/profiles/resnet18.all.t1.json.gz
# a non-ASCII name
sed 's/"name" :"/&\xe5\xb1\x82\xc3\xa9/' "$(find "$PWD/tests/data/onnxruntime" -name '*json' | sort | head -n 1)" >"$work/names.json"
top=$PWD
cd "$work" || exit 1

# ---- colours, on a pseudo-terminal
on_terminal() { # columns command...: prints its output
    columns=$1
    shift
    timeout 120 script -qec "stty cols $columns rows 50; $*" /dev/null </dev/null 2>&1 | tr -d '\r'
}
expect_colour() { # yes|no title environment and command...
    want=$1 title=$2
    shift 2
    case $(on_terminal 120 "$*") in *"${esc}["*) got=yes ;; *) got=no ;; esac
    [ $got = "$want" ]; passed $? "colour: $title" "$got"
}
# a bare chroot has no /dev/pts
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    expect_colour yes 'on a terminal' "$onnxcost" resnet18.onnx
    expect_colour no 'not with NO_COLOR' NO_COLOR=1 "$onnxcost" resnet18.onnx
    expect_colour yes 'empty NO_COLOR is ignored' NO_COLOR= "$onnxcost" resnet18.onnx
    expect_colour no 'not on a dumb terminal' TERM=dumb "$onnxcost" resnet18.onnx
    expect_colour no '--color never' "$onnxcost" resnet18.onnx --color never
    expect_colour yes '--color always overrides NO_COLOR' NO_COLOR=1 "$onnxcost" resnet18.onnx --color always
    expect_colour no 'not into a pipe' "$onnxcost" resnet18.onnx '|' cat
    for width in 60 200; do # a table that is fitted, and one that is whole
        on_terminal $width "$onnxcost diff resnet18.onnx bert.onnx -t 20" >out
        grep -q "${esc}\[31m+[0-9.,]* *[A-Za-z]*${esc}\[39m" out; passed $? "colour: diff shows growth in red at $width columns" "$(head -n 20 out)"
        grep -q "${esc}\[32m-[0-9]" out; passed $? "colour: diff shows decrease in green at $width columns" "$(head -n 20 out)"
        on_terminal $width "$onnxcost diff resnet18.onnx resnet18.onnx -A batch=1 -B batch=1" >out
        grep -q "${esc}\[3[12]m" out; [ $? -eq 1 ]; passed $? "colour: diff of equal models has none at $width columns" "$(head -n 20 out)"
    done
    expect_colour no 'diff with NO_COLOR' NO_COLOR=1 "$onnxcost" diff resnet18.onnx bert.onnx
    expect_colour no 'diff into a pipe' "$onnxcost" diff resnet18.onnx bert.onnx '|' cat
    for width in 40 60 80 200; do
        text=$(on_terminal $width "$onnxcost resnet18.onnx -p $profile --hw a100 --color never" | sed -n '/^The [0-9]* largest of/,$p' | wc -L)
        [ "$text" -le $width ] && [ "$text" -gt 20 ]; passed $? "table fits a terminal of $width columns" "the table has $text"
    done
    text=$(on_terminal 120 "$onnxcost resnet18.onnx --megengine style=grid -t 2")
    case $text in *╒*│*╛*) true ;; *) false ;; esac
    passed $? 'grid has UTF-8 borders' "$text"
    for locale in C POSIX de_DE.ISO-8859-1 ''; do
        on_terminal 70 "env LC_ALL=$locale $onnxcost resnet18.onnx --megengine style=grid -t 2; env LC_ALL=$locale $onnxcost names.json" >out
        LC_ALL=C grep -q '[^ -~]' out
        [ $? -eq 1 ] || LC_ALL=C grep '[^ -~]' out | grep -qv "$esc\["
        LC_ALL=C tr -d '\033' <out | LC_ALL=C grep -q '[^ -~]'
        [ $? -eq 1 ] && grep -q '^|.*|$' out && grep -q '^+=*+' out; passed $? "output is ASCII on a terminal of locale '$locale'" "$(LC_ALL=C grep -m 2 '[^ -~]' out)"
    done
    on_terminal 120 "LC_ALL=C $onnxcost resnet18.onnx --megengine style=grid -t 2 -o /dev/stderr" | grep -q '╒'
    passed $? 'output file is UTF-8 in every locale' ''
    if command -v less >/dev/null; then
        # more rows than the screen; q ends the pager and the program
        rm -f code
        { until [ -s code ]; do printf q; sleep 0.2; done; } | timeout 600 script -qec "stty cols 80 rows 20; { $onnxcost resnet18.onnx --top 0 \
            --color always; echo code \$? >code; } | less -R" /dev/null >out 2>&1
        grep -qE 'code [04]' code && ! grep -q 'cannot write' out; passed $? 'pager closed early gives no error' "$(cat code)"
    else
        skip 'pager closed early gives no error' 'not installed'
    fi
else
    skip 'terminals' 'no script, or no pseudo-terminal can be opened'
fi
for width in 40 60 80 200; do
    text=$(COLUMNS=$width "$onnxcost" resnet18.onnx -p "$profile" --hw a100 | wc -L)
    [ "$text" -le $width ]; passed $? "table fits COLUMNS=$width" "the table has $text"
    for command in estimate summary; do
        case $command in
        estimate) set -- resnet18.onnx --hw t4,a100,l4 ;;
        summary) set -- "$profile" ;;
        esac
        COLUMNS=$width "$onnxcost" $command "$@" >out 2>err && [ -s out ]; passed $? "$command works with COLUMNS=$width" "$(head -n 1 err)"
    done
done
for width in 0 -5 1 x 99999999999999999999 ''; do
    COLUMNS=$width "$onnxcost" resnet18.onnx >out 2>err && [ "$(wc -l <out)" -ge 15 ] && ! grep -q '^(not shown' out; passed $? "invalid COLUMNS='$width' is ignored" "$(head -n 1 err)"
done

# ---- locales
reports() { # file: writes every report that could depend on the locale
    {
        for format in table csv json markdown html; do "$onnxcost" resnet18.onnx -p "$profile" --hw a100 -f $format; done
        "$onnxcost" resnet18.onnx -p "$profile" --megengine style=grid --input-dtype FLOAT32
        "$onnxcost" bert.onnx --formula
        "$onnxcost" bert.onnx -d BATCH=2 2>&1
        "$onnxcost" estimate resnet18.onnx --hw T4,A100 -f csv
        "$onnxcost" memory bert.onnx -f json
        "$onnxcost" summary "$profile" -f csv
        "$onnxcost" hw show INTEL_XEON-PLATINUM-8480-PLUS -f csv
        "$onnxcost" names.json --min-time 0.000001 -f csv
        "$onnxcost" ops -f csv
        "$onnxcost" --help
    } >"$1.program" 2>&1
    ONNXCOST_REPORTS=$1.library "$top/$BUILD/oracle/many_threads" resnet18.onnx "$profile" bert.onnx \
        "$top/models/profiles/bert_base.disabled.t1.json.gz" -- "$profile" >"$1.log" 2>&1 || echo failed >>"$1.library"
}
LC_ALL=C reports want
[ "$(wc -c <want.program)" -gt 100000 ] && [ "$(wc -c <want.library)" -gt 100000 ]; passed $? 'reports are written' "$(wc -c want.*)"
make_locale() { # name source charset
    command -v localedef >/dev/null && localedef -c -i "$2" -f "$3" "$work/locale/$1" >/dev/null 2>&1
    [ -d "$work/locale/$1" ]
}
while read -r name source charset; do
    if make_locale "$name" "$source" "$charset"; then
        LOCPATH=$work/locale LC_ALL=$name reports got
        cmp want.program got.program >log 2>&1; passed $? "program output is the same in $name" "$(diff want.program got.program | head -n 3)"
        cmp want.library got.library >log 2>&1; passed $? "library output is the same in $name" "$(diff want.library got.library | head -n 3)"
    else
        skip "$name" 'no localedef, or no locale sources (package locales)'
    fi
done <<'E2'
de_DE.UTF-8 de_DE UTF-8
tr_TR.UTF-8 tr_TR UTF-8
tr_TR.ISO-8859-9 tr_TR ISO-8859-9
ja_JP.eucJP ja_JP EUC-JP
fa_IR.UTF-8 fa_IR UTF-8
E2
if [ -d locale/de_DE.UTF-8 ]; then
    text=$(LOCPATH=$work/locale "$top/$BUILD/unit/report/test_pyfmt" 2>&1)
    code=$?
    case $text in *SKIPPED*) code=1 ;; esac
    passed $code 'numbers are independent of a decimal comma' "$(echo "$text" | grep -E 'SKIPPED|ERROR' | head -n 2)"
else
    skip 'numbers are independent of a decimal comma' 'no locale'
fi
finish
