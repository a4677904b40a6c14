#!/bin/sh
# The ten questions of src/doc/questions.md: each has one command with the options of a command of the README or of the help,
# answers in the first line, and fits 80 columns. Prints TAP; tests/check_docs.sh compares the transcripts.
# usage: tests/check_questions.sh        BUILD=build/<mode>
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/questions
document=src/doc/questions.md
rm -rf "$work"
mkdir -p "$work/bin" "$work/zoo"
ln -s "$PWD/$BUILD/onnxcost" "$work/bin/onnxcost"
ln -s "$PWD/models" "$work/models"
for model in resnet50 bert_base; do "$BUILD/onnxzoo" $model -o "$work/zoo/$model.onnx" || exit 1; done
"$BUILD/onnxzoo" llama --size 7b -o "$work/zoo/llama_7b_f16.onnx" || exit 1
export PATH="$work/bin:$PATH" COLUMNS=80 TERM=dumb LC_ALL=C ONNXCOST_HWDB="$PWD/hwdb"

# The command and its options without values: "memory --fit --hw".
form_of() {
    # shellcheck disable=SC2086 # words are meant to be split
    set -- $1
    case ${2-} in [a-z]*.*) name=cost ;; [a-z]*) name=$2 ;; *) name=cost ;; esac
    echo "$name" "$(printf '%s\n' "$@" | grep '^-[a-z-]' | sed 's/^-p$/--profile/; s/^-d$/--dim/' | sort | tr '\n' ' ')"
}

{
    tests/transcripts.sh --commands README.md
    for command in cost llm memory providers estimate diff check; do onnxcost help "$command" | sed -n 's/^  \(onnxcost .*\)/\1/p'; done
} | sed 's/|.*//' | grep '^onnxcost ' | while read -r line; do form_of "$line"; done | sort -u >"$work/known"

# The question, what its first line has to say, and the command.
awk '/^## / { question = substr($0, 4) }
    /^\$ / { command = substr($0, 3); while (sub(/\\$/, "", command)) { getline; command = command $0 } sub(/\|.*/, "", command); print question "\t" command }' \
    "$document" >"$work/commands"
result 'there are ten questions with one command each' "$([ "$(cut -f 1 "$work/commands" | sort -u | wc -l)" -eq 10 ] && [ "$(wc -l <"$work/commands")" -eq 10 ] || cut -f 1 "$work/commands")"
tab=$(printf '\t')
while IFS=$tab read -r question answer; do
    command=$(awk -F"$tab" -v q="$question" '$1 == q { print $2 }' "$work/commands")
    (cd "$work" && sh -c "$command") >"$work/out" 2>"$work/messages" </dev/null
    code=$?
    result "$question" "$(
        [ $code -eq 0 ] || echo "exit code $code: $command"
        head -n 1 "$work/out" | grep -qE "^(verdict|latency) +.*$answer" || { echo "no '$answer' in:"; head -n 1 "$work/out"; }
        grep -qxF "$(form_of "$command")" "$work/known" || echo "in no README and no help: $(form_of "$command")"
        sed 's/…/./g' "$work/out" | awk 'length($0) > 80 { print "over 80 columns: " $0 }'
    )"
done <<'END'
Why is my model slow?	51\.2 ms per run, 76 % of what
Does it fit the memory of my device?	fits: needs 422\.52 MiB, NVIDIA T4 has 16\.00 GiB
Did the update make it slower?	inconclusive: -44\.0 %
Which layers do not run on the NPU?	qnn takes 246 to 605 of 763 nodes
How many FLOPs has it?	8\.22 GFLOP per run
Why does fvcore say half?	onnxcost counts 8,217,767,080, fvcore 4,111,512,576
How many tokens per second can I expect?	decode at most 76\.71 tokens/s
How fast would it be on another device?	2\.89 ms per run on t4
Which device should I buy?	a10 with batch = 1 is the fastest: 1\.08 ms
Did the pull request make the model larger?	2 of 2 limits passed
END
finish
