#!/bin/sh
# Colours, widths, borders, pagers and locales: what a terminal changes, and what nothing changes. Prints TAP.
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
# a name that is not ASCII
sed 's/"name" :"/&\xe5\xb1\x82\xc3\xa9/' "$(find "$PWD/tests/data/onnxruntime" -name '*json' | sort | head -n 1)" >"$work/names.json"
top=$PWD
cd "$work" || exit 1

# ---- colours, on a terminal of its own
on_terminal() { # columns command...: what it prints there
    columns=$1
    shift
    timeout 120 script -qec "stty cols $columns rows 50; $*" /dev/null </dev/null 2>&1 | tr -d '\r'
}
colour() { # yes|no title environment and command...
    want=$1 title=$2
    shift 2
    case $(on_terminal 120 "$*") in *"${esc}["*) got=yes ;; *) got=no ;; esac
    [ $got = "$want" ]; passed $? "colour: $title" "$got"
}
if command -v script >/dev/null; then
    colour yes 'on a terminal' "$onnxcost" resnet18.onnx
    colour no 'NO_COLOR' NO_COLOR=1 "$onnxcost" resnet18.onnx
    colour yes 'an empty NO_COLOR says nothing' NO_COLOR= "$onnxcost" resnet18.onnx
    colour no 'a dumb terminal' TERM=dumb "$onnxcost" resnet18.onnx
    colour no 'never' "$onnxcost" resnet18.onnx --color never
    colour yes 'always, whatever NO_COLOR says' NO_COLOR=1 "$onnxcost" resnet18.onnx --color always
    colour no 'a pipe' "$onnxcost" resnet18.onnx '|' cat
    for width in 40 60 80 200; do
        text=$(on_terminal $width "$onnxcost resnet18.onnx -p $profile --hw a100 --color never" | sed -n '/^ *#  /,$p' | wc -L)
        [ "$text" -le $width ] && [ "$text" -gt 20 ]; passed $? "a terminal of $width columns" "the table has $text"
    done
    text=$(on_terminal 120 "$onnxcost resnet18.onnx --style grid -t 2")
    case $text in *╒*│*╛*) true ;; *) false ;; esac
    passed $? 'borders of UTF-8' "$text"
    for locale in C POSIX de_DE.ISO-8859-1 ''; do
        on_terminal 70 "env LC_ALL=$locale $onnxcost resnet18.onnx --style grid -t 2; env LC_ALL=$locale $onnxcost names.json" >out
        LC_ALL=C grep -q '[^ -~]' out
        [ $? -eq 1 ] || LC_ALL=C grep '[^ -~]' out | grep -qv "$esc\["
        LC_ALL=C tr -d '\033' <out | LC_ALL=C grep -q '[^ -~]'
        [ $? -eq 1 ] && grep -q '^|.*|$' out && grep -q '^+=*+' out; passed $? "ASCII on a terminal of locale '$locale'" "$(LC_ALL=C grep -m 2 '[^ -~]' out)"
    done
    on_terminal 120 "LC_ALL=C $onnxcost resnet18.onnx --style grid -t 2 -o /dev/stderr" | grep -q '╒'
    passed $? 'a file is UTF-8 in every locale' ''
    if command -v less >/dev/null; then
        # more rows than the screen has; q leaves it, and the program with it
        { sleep 1; printf q; sleep 1; } | timeout 120 script -qec "stty cols 80 rows 20; { $onnxcost resnet18.onnx --top 0 \
            --color always; echo code \$? >code; } | less -R" /dev/null >out 2>&1
        grep -qE 'code [04]' code && ! grep -q 'cannot write' out; passed $? 'less' "$(cat code)"
    else
        skip 'less' 'not installed'
    fi
else
    skip 'terminals' 'no script'
fi
for width in 40 60 80 200; do
    text=$(COLUMNS=$width "$onnxcost" resnet18.onnx -p "$profile" --hw a100 | sed -n '/^ *#  /,$p' | wc -L)
    [ "$text" -le $width ]; passed $? "COLUMNS=$width" "the table has $text"
    for command in compare summary; do
        case $command in
        compare) set -- resnet18.onnx --hw t4,a100,l4 ;;
        summary) set -- "$profile" ;;
        esac
        COLUMNS=$width "$onnxcost" $command "$@" >out 2>err && [ -s out ]; passed $? "$command with COLUMNS=$width" "$(head -n 1 err)"
    done
done
for width in 0 -5 1 x 99999999999999999999 ''; do
    COLUMNS=$width "$onnxcost" resnet18.onnx >out 2>err && [ "$(grep -c '^ *[0-9]' out)" -ge 20 ]; passed $? "COLUMNS='$width'" "$(head -n 1 err)"
done
COLUMNS=80 "$onnxcost" resnet18.onnx -p "$profile" --style ascii -t 3 >out
LC_ALL=C grep -q '[^ -~]' out
[ $? -eq 1 ] && grep -q '^+====' out; passed $? '--style ascii' "$(LC_ALL=C grep -m 1 '[^ -~]' out)"
COLUMNS=80 "$onnxcost" resnet18.onnx -p "$profile" --style grid -t 3 >lines; LC_ALL=C.UTF-8 sed 's/[╒╤╕╞╪╡├┼┤╘╧╛]/+/g; s/│/|/g; s/─/-/g; /^+/s/═/=/g' lines | sed '/^+/s/=/-/g' >plain
sed '/^+/s/=/-/g' out | cmp -s - plain; passed $? 'the same table but for its borders' "$(diff out plain | head -n 3)"

# ---- locales
reports() { # file: everything that could depend on one
    {
        for format in table csv json markdown html; do "$onnxcost" resnet18.onnx -p "$profile" --hw a100 -f $format; done
        "$onnxcost" resnet18.onnx -p "$profile" --style grid --input-dtype FLOAT32
        "$onnxcost" bert.onnx --formula
        "$onnxcost" bert.onnx -d BATCH=2 2>&1
        "$onnxcost" compare resnet18.onnx --hw T4,A100 -f csv
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
[ "$(wc -c <want.program)" -gt 100000 ] && [ "$(wc -c <want.library)" -gt 100000 ]; passed $? 'there are reports' "$(wc -c want.*)"
made() { # name source charset: makes the locale
    command -v localedef >/dev/null && localedef -c -i "$2" -f "$3" "$work/locale/$1" >/dev/null 2>&1
    [ -d "$work/locale/$1" ]
}
while read -r name source charset; do
    if made "$name" "$source" "$charset"; then
        LOCPATH=$work/locale LC_ALL=$name reports got
        cmp want.program got.program >log 2>&1; passed $? "the program in $name" "$(diff want.program got.program | head -n 3)"
        cmp want.library got.library >log 2>&1; passed $? "the library in $name" "$(diff want.library got.library | head -n 3)"
    else
        skip "$name" 'no localedef, or no sources of locales (package locales)'
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
    passed $code 'numbers where the locale has a decimal comma' "$(echo "$text" | grep -E 'SKIPPED|ERROR' | head -n 2)"
else
    skip 'numbers where the locale has a decimal comma' 'no locale'
fi
finish
