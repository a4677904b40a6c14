#!/bin/bash
# What shells complete, asked of the shells themselves: bash always, zsh and fish where they are. Prints TAP.
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
        passed $? "the script is $shell" "$text"
    else
        skip "the script is $shell" "no $shell"
    fi
done
cd "$work/place" || exit 1
: >'model one.onnx'
: >model.onnx
: >profile.json
onnxcost hw list --format csv | sed '1d; s/,.*//' | sort >"$work/devices"
onnxcost --help | sed -n 's/^  *\(-[a-zA-Z0-9], \)\{0,1\}--\([a-z-]*\).*/--\2/p' | sort -u >"$work/long"

# ---- bash: words of the line as bash would part them, the last one is being typed
in_bash() {
    bash --norc --noprofile -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _onnxcost "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$work/script.bash" "$@" 2>&1 | sort
}
bash_gives() { # title 'words expected' words of the line...
    want=$(echo "$2" | tr -s ' ' '\n' | sort)
    title=$1 words=$2
    shift 2
    text=$(in_bash onnxcost "$@")
    [ "$text" = "$want" ]; passed $? "bash: $title" "got $(echo "$text" | head -n 12 | tr '\n' ' '), not $words"
}
bash_gives 'a command' 'summary' 'summ'
bash_gives 'commands that begin alike' 'calibrate' 'cal'
bash_gives 'options of a command' '--align --alias --allocator' memory '--al'
bash_gives 'no options of other commands' '' ops '--prof'
bash_gives 'options behind a file' '--aggregate --aggregate-by' model.onnx '--agg'
bash_gives 'choices' 'max mean median min' model.onnx --stat 'm'
bash_gives 'choices behind =' 'max mean median min' model.onnx --stat = 'm'
bash_gives 'all choices behind =' 'off on' model.onnx --cache =
bash_gives 'choices behind = in one word' '--cache=off --cache=on' model.onnx --cache=o
bash_gives 'a device' 'rtx-4090' model.onnx --hw 'rtx-409'
bash_gives 'a second device' 'a100,rtx-4090' llm model.onnx --hw 'a100,rtx-409'
bash_gives 'words of a command' 'diff lint list measure show' hw ''
bash_gives 'a shell' 'bash zsh fish' completion ''
bash_gives 'a file behind an option' 'profile.json' model.onnx -p 'prof'
bash_gives 'words or a file: a word' 'mac' model.onnx --weights 'ma'
bash_gives 'words or a file: a file' 'profile.json' model.onnx --weights 'p'
bash_gives 'a pattern is no word' '' model.onnx --weights 'm?c'
bash_gives 'folders too' 'folder' summary 'fol'
bash_gives 'formats of profiles' 'nsys_csv nsys_sqlite' model.onnx --profile-format 'nsys'
bash_gives 'conventions' 'mge mge-stats' explain model.onnx --convention 'mg'
bash_gives 'operators' 'ConvTranspose ConvTransposeWithDynamicPads' model.onnx --type 'ConvT'
[ "$(in_bash onnxcost model.onnx model)" = "$(printf '%s\n' 'model one.onnx' model.onnx)" ]
passed $? 'bash: names with blanks' "$(in_bash onnxcost model.onnx model)"
[ "$(in_bash onnxcost hw show '' | grep -vE '^(folder|model.*onnx|profile.json)$')" = "$(cat "$work/devices")" ]
passed $? 'bash: every device' "$(in_bash onnxcost hw show '' | head -n 3)"
for command in $(onnxcost --help | sed -n 's/^\(usage:\)\{0,1\} *onnxcost \([a-z]*\)\( .*\)\{0,1\}$/\2/p' | sort -u); do
    in_bash onnxcost "$command" -- >"$work/offered"
    wrong=$(comm -23 "$work/offered" "$work/long"; while read -r option; do
        # an option that the command does not take is refused before anything else
        onnxcost "$command" "$option" 2>&1 </dev/null | grep "has no option"
    done <"$work/offered" | head -n 3)
    [ -s "$work/offered" ] && [ -z "$wrong" ]; passed $? "bash: every option of $command is one" "$wrong"
done
while read -r option; do
    grep -q -- "${option}[ ']" "$work/script.bash" || echo "$option"
done <"$work/long" >"$work/missing"
[ ! -s "$work/missing" ]; passed $? 'bash: every option is offered somewhere' "$(tr '\n' ' ' <"$work/missing")"

# ---- fish
fish_gives() { # title 'words expected' line
    want=$(echo "$2" | tr -s ' ' '\n' | sort)
    text=$(HOME=$work fish --no-config -c "source $work/script.fish; complete -C '$3'" 2>&1 | cut -f 1 | sort)
    [ "$text" = "$want" ]; passed $? "fish: $1" "got $(echo "$text" | tr '\n' ' ' | head -c 300), not $2"
}
if command -v fish >/dev/null; then
    fish_gives 'a command' 'summary' 'onnxcost summ'
    fish_gives 'options of a command' '--align --alias --allocator' 'onnxcost memory model.onnx --al'
    fish_gives 'choices' 'max mean median min' 'onnxcost model.onnx --stat m'
    fish_gives 'a device' 'rtx-4090' 'onnxcost model.onnx --hw rtx-409'
    fish_gives 'a second device' 'a100,rtx-4090' 'onnxcost llm model.onnx --hw a100,rtx-409'
    fish_gives 'words of a command' 'diff' 'onnxcost hw di'
    fish_gives 'a device of a command' 'rtx-4090' 'onnxcost hw show rtx-409'
    fish_gives 'a file' 'profile.json' 'onnxcost model.onnx -p prof'
else
    skip 'fish completes' 'no fish'
fi

# ---- zsh, on a terminal of its own: what the line is after a tab
zsh_gives() { # title 'line expected' 'line'
    text=$(zsh -f -c '
        zmodload zsh/zpty
        zpty z "TERM=dumb zsh -f -i"
        zpty -w z "unsetopt zle_bracketed_paste; PS1=; PROMPT=; autoload -Uz compinit; compinit -u -d '"$work"'/dump
            source '"$work"'/script.zsh; bindkey \"^I\" complete-word; bindkey \"^X\" show-line
            show-line() { print -r -- \"[\$BUFFER]\" >'"$work"'/line; zle send-break }; zle -N show-line; print -r ready >'"$work"'/ready"
        for ((i = 0; i < 100; i++)); do [[ -e '"$work"'/ready ]] && break; sleep 0.05; done
        zpty -n -w z "$1"
        zpty -n -w z $'"'\\t'"'
        sleep 0.3
        zpty -n -w z $'"'\\x18'"'
        for ((i = 0; i < 100; i++)); do [[ -s '"$work"'/line ]] && break; sleep 0.05; done
        zpty -d z' zsh "$3" 2>&1; cat "$work/line" 2>&1)
    rm -f "$work/line" "$work/ready"
    [ "$text" = "[$2]" ]; passed $? "zsh: $1" "got '$text', not '[$2]'"
}
if command -v zsh >/dev/null; then
    zsh_gives 'a command' 'onnxcost summary ' 'onnxcost summ'
    zsh_gives 'an option of a command' 'onnxcost memory --allocator=' 'onnxcost memory --all'
    zsh_gives 'a choice' 'onnxcost model.onnx --stat median ' 'onnxcost model.onnx --stat med'
    zsh_gives 'a choice behind =' 'onnxcost model.onnx --format=csv ' 'onnxcost model.onnx --format=cs'
    zsh_gives 'a device' 'onnxcost model.onnx --hw rtx-4090 ' 'onnxcost model.onnx --hw rtx-409'
    zsh_gives 'a second device' 'onnxcost llm model.onnx --hw a100,rtx-4090 ' 'onnxcost llm model.onnx --hw a100,rtx-409'
    zsh_gives 'words of a command' 'onnxcost hw diff ' 'onnxcost hw di'
    zsh_gives 'an operator' 'onnxcost model.onnx --type MaxUnpool ' 'onnxcost model.onnx --type MaxUn'
    zsh_gives 'a file' 'onnxcost model.onnx -p profile.json ' 'onnxcost model.onnx -p prof'
else
    skip 'zsh completes' 'no zsh'
fi
finish
