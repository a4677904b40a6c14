#!/bin/bash
# Completion scripts, tested in the shells: bash always, zsh and fish if installed. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/completion
rm -rf "$work"
mkdir -p "$work/bin" "$work/place/folder"
ln -s "$PWD/$BUILD/onnxcost" "$work/bin/onnxcost"
export PATH="$work/bin:$PATH" ONNXCOST_HWDB="$PWD/hwdb" LC_ALL=C
for shell in bash zsh fish; do
    onnxcost completion $shell >"$work/script.$shell"
    if command -v $shell >/dev/null; then
        text=$($shell -n "$work/script.$shell" 2>&1)
        passed $? "completion script is valid $shell" "$text"
    else
        skip "completion script is valid $shell" "no $shell"
    fi
done
cd "$work/place" || exit 1
: >'model one.onnx'
: >model.onnx
: >profile.json
onnxcost hw list --format csv | sed '1d; s/,.*//' | sort >"$work/devices"
onnxcost help options | sed -n 's/^  *\(-[a-zA-Z0-9], \)\{0,1\}--\([a-z0-9-]*\).*/--\2/p' | sort -u >"$work/long"

# ---- bash: words of the line as bash splits them, the last one is incomplete
in_bash() {
    bash --norc --noprofile -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _onnxcost "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$work/script.bash" "$@" 2>&1 | sort
}
expect_bash() { # title 'words expected' words of the line...
    want=$(echo "$2" | tr -s ' ' '\n' | sort)
    title=$1 words=$2
    shift 2
    text=$(in_bash onnxcost "$@")
    [ "$text" = "$want" ]; passed $? "bash: $title" "got $(echo "$text" | head -n 12 | tr '\n' ' '), not $words"
}
expect_bash 'a command' 'summary' 'summ'
expect_bash 'commands with a common prefix' 'calibrate' 'cal'
expect_bash 'options of a command' '--format --fit --force' memory '--f'
expect_bash 'no options of other commands' '' ops '--prof'
expect_bash 'options after a file' '--training --trip' model.onnx '--tr'
expect_bash 'choices' 'max mean median min' model.onnx --stat 'm'
expect_bash 'choices after =' 'max mean median min' model.onnx --stat = 'm'
expect_bash 'all choices after =' 'always auto never' model.onnx --color =
expect_bash 'choices after = in one word' '--color=always --color=auto' model.onnx --color=a
expect_bash 'a device' 'rtx-4090' model.onnx --hw 'rtx-409'
expect_bash 'a second device' 'a100,rtx-4090' llm model.onnx --hw 'a100,rtx-409'
expect_bash 'words of a command' 'diff lint list measure show' hw ''
expect_bash 'a shell' 'bash zsh fish' completion ''
expect_bash 'a file after an option' 'profile.json' model.onnx -p 'prof'
expect_bash 'words or a file: a word' 'auto' model.onnx --hw 'aut'
expect_bash 'words or a file: a file' 'profile.json' model.onnx --hw 'profile.j'
expect_bash 'a pattern completes to nothing' '' model.onnx --hw 'm?c'
expect_bash 'keys with their values' 'taps=all taps=valid' model.onnx --count 'tap'
expect_bash 'folders too' 'folder' summary 'fol'
expect_bash 'formats of profiles' 'nsys_csv nsys_sqlite' model.onnx --profile-format 'nsys'
expect_bash 'conventions' 'mge mge-stats' explain model.onnx --convention 'mg'
expect_bash 'operators' 'ConvTranspose ConvTransposeWithDynamicPads' model.onnx --type 'ConvT'
[ "$(in_bash onnxcost model.onnx model)" = "$(printf '%s\n' 'model one.onnx' model.onnx)" ]
passed $? 'bash: names with blanks' "$(in_bash onnxcost model.onnx model)"
[ "$(in_bash onnxcost hw show '' | grep -vE '^(folder|model.*onnx|profile.json)$')" = "$(cat "$work/devices")" ]
passed $? 'bash: every device' "$(in_bash onnxcost hw show '' | head -n 3)"
for command in $(onnxcost help options | sed -n 's/^\(usage:\)\{0,1\} *onnxcost \([a-z]*\)\( .*\)\{0,1\}$/\2/p' | sort -u); do
    in_bash onnxcost "$command" -- >"$work/offered"
    wrong=$(comm -23 "$work/offered" "$work/long"; while read -r option; do
        # an option that the command does not take is refused before anything else
        onnxcost "$command" "$option" 2>&1 </dev/null | grep "is an option of"
    done <"$work/offered" | head -n 3)
    [ -s "$work/offered" ] && [ -z "$wrong" ]; passed $? "bash: every completed option of $command is accepted" "$wrong"
done
while read -r option; do
    grep -q -- "${option}[ ']" "$work/script.bash" || echo "$option"
done <"$work/long" >"$work/missing"
[ ! -s "$work/missing" ]; passed $? 'bash: every option is completed for some command' "$(tr '\n' ' ' <"$work/missing")"

# ---- fish
expect_fish() { # title 'words expected' line
    want=$(echo "$2" | tr -s ' ' '\n' | sort)
    text=$(HOME=$work fish --no-config -c "source $work/script.fish; complete -C '$3'" 2>&1 | cut -f 1 | sort)
    [ "$text" = "$want" ]; passed $? "fish: $1" "got $(echo "$text" | tr '\n' ' ' | head -c 300), not $2"
}
if command -v fish >/dev/null; then
    expect_fish 'a command' 'summary' 'onnxcost summ'
    expect_fish 'options of a command' '--format --fit --force' 'onnxcost memory model.onnx --f'
    expect_fish 'choices' 'max mean median min' 'onnxcost model.onnx --stat m'
    expect_fish 'a device' 'rtx-4090' 'onnxcost model.onnx --hw rtx-409'
    expect_fish 'a second device' 'a100,rtx-4090' 'onnxcost llm model.onnx --hw a100,rtx-409'
    expect_fish 'words of a command' 'diff' 'onnxcost hw di'
    expect_fish 'a device of a command' 'rtx-4090' 'onnxcost hw show rtx-409'
    expect_fish 'a file' 'profile.json' 'onnxcost model.onnx -p prof'
else
    skip 'fish completes' 'no fish'
fi

# ---- zsh, on a pseudo-terminal: the line after a tab
expect_zsh() { # title 'line expected' 'line'
    text=$(zsh -f -c '
        zmodload zsh/zpty
        zpty z "TERM=dumb zsh -f -i"
        zpty -w z "unsetopt zle_bracketed_paste; PS1=; PROMPT=; autoload -Uz compinit; compinit -u -d '"$work"'/dump
            source '"$work"'/script.zsh; bindkey \"^I\" complete-word; bindkey \"^X\" show-line
            show-line() { print -r -- \"[\$BUFFER]\" >'"$work"'/line; zle send-break }; zle -N show-line; print -r ready >'"$work"'/ready"
        for ((i = 0; i < 6000; i++)); do [[ -e '"$work"'/ready ]] && break; sleep 0.05; done
        zpty -n -w z "$1"
        zpty -n -w z $'"'\\t'"'
        zpty -n -w z $'"'\\x18'"'
        for ((i = 0; i < 6000; i++)); do [[ -s '"$work"'/line ]] && break; sleep 0.05; done
        zpty -d z' zsh "$3" 2>&1; cat "$work/line" 2>&1)
    rm -f "$work/line" "$work/ready"
    [ "$text" = "[$2]" ]; passed $? "zsh: $1" "got '$text', not '[$2]'"
}
if command -v zsh >/dev/null; then
    expect_zsh 'a command' 'onnxcost summary ' 'onnxcost summ'
    expect_zsh 'an option of a command' 'onnxcost memory --kernel-names=' 'onnxcost memory --kern'
    expect_zsh 'a choice' 'onnxcost model.onnx --stat median ' 'onnxcost model.onnx --stat med'
    expect_zsh 'a choice after =' 'onnxcost model.onnx --format=csv ' 'onnxcost model.onnx --format=cs'
    expect_zsh 'a device' 'onnxcost model.onnx --hw rtx-4090 ' 'onnxcost model.onnx --hw rtx-409'
    expect_zsh 'a second device' 'onnxcost llm model.onnx --hw a100,rtx-4090 ' 'onnxcost llm model.onnx --hw a100,rtx-409'
    expect_zsh 'words of a command' 'onnxcost hw diff ' 'onnxcost hw di'
    expect_zsh 'an operator' 'onnxcost model.onnx --type MaxUnpool ' 'onnxcost model.onnx --type MaxUn'
    expect_zsh 'a file' 'onnxcost model.onnx -p profile.json ' 'onnxcost model.onnx -p prof'
else
    skip 'zsh completes' 'no zsh'
fi
finish
