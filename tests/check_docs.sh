#!/bin/sh
# The manual pages, the README and src/doc agree with the program: lists are the program's, transcripts are its output.
# Prints TAP.
# usage: tests/check_docs.sh [--update]      --update: writes transcripts and lists of the README and src/doc again
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/docs
pages=$BUILD/man
rm -rf "$work"
mkdir -p "$work/bin" "$work/lists"
ln -s "$PWD/$BUILD/onnxcost" "$work/bin/onnxcost"
ln -s "$PWD/$BUILD/onnxzoo" "$work/bin/onnxzoo"
tests/make_zoo.sh "$work/zoo"
unset NO_COLOR MANPATH MANOPT
export PATH="$work/bin:$PATH" COLUMNS=80 TERM=dumb LC_ALL=C ONNXCOST_HWDB="$PWD/hwdb"

# ---- transcripts and lists
documents=$(ls README.md src/doc/*.md)

# Names of the operators by domain.
operators() {
    onnxcost ops -w 0 | awk 'NR > 1 && !seen[$1 " " $2]++ { names[$1] = names[$1] " " $2; if (!(($1) in known)) { known[$1] = 1; order[++k] = $1 } }
        END { for (i = 1; i <= k; i++) print order[i] ":" names[order[i]] }' | sort | while IFS=: read -r domain names; do
        echo
        # shellcheck disable=SC2086 # names are meant to be split
        echo "**$domain**:$(printf '%s\n' $names | sort | tr '\n' ' ' | sed 's/^/ /; s/ $//')" | fold -s -w 118 | sed 's/ *$//'
    done
    echo
}

# Ids of the devices by vendor.
devices() {
    onnxcost hw list --format csv | awk -F, 'NR > 1 { if (!($3 in ids)) order[++k] = $3; ids[$3] = ids[$3] " " $1 }
        END { for (i = 1; i <= k; i++) print "**" order[i] "**:" ids[order[i]] }' | while read -r line; do
        echo
        echo "$line" | fold -s -w 118 | sed 's/ *$//'
    done
    echo
}

# Names that graph transformers of ONNX Runtime generate, with what the join does and the test of each.
names() {
    printf '\n| name | matched to | transformer | versions | test |\n|---|---|---|---|---|\n'
    sed -n '/^} generated\[\] = {/,/^};/p' src/join/match_name.c | tr -d '\n' | sed 's/},/&\n/g' |
        awk -F'"' 'BEGIN {
            split("NODE NODE_NODE OUTPUT PRODUCT BRANCH BODY INSERTED_NODE INSERTED_TENSOR INSERTED_TYPE", kind, " ")
            split("NODE NODE TENSOR TENSOR TYPE NAME NODE TENSOR TYPE", of_kind, " ")
            for (i in kind) stem[kind[i]] = of_kind[i]
            to["NODE"] = to["NODE_NODE"] = "the node"; to["OUTPUT"] = to["PRODUCT"] = "the node with that output"
            to["NOTHING"] = "the next node without a record, by type and shape"
            to["BRANCH"] = "the next node of the branch, by type and shape"; to["BODY"] = "the node in the body" }
        NF > 8 { of = $5; sub(/^, /, "", of); sub(/,.*/, "", of)
            name = of == "NODE_NODE" ? "NODE_NODE" : $2 stem[of] $4
            text = of == "INSERTED_TYPE" ? "\"Transpose[|]Transpose" : of == "NODE_NODE" ? "\"conv_1_relu\"" : \
                $4 != "" ? $4 "/?[|\"]" : of in stem || $2 ~ /_$/ || of == "NODE" ? "\"" $2 : "\"" $2 "[|]"
            print name ";" (of in to ? to[of] : "none: inserted") ";" $(NF - 3) ";" $(NF - 1) ";" text }' |
        while IFS=';' read -r name to source rest; do
            versions=${rest%;*} text=${rest##*;}
            test=$(grep -lE -- "$text" tests/unit/join/test_ort_*.c | xargs -n 1 basename 2>/dev/null | tr '\n' ' ')
            echo "| \`$name\` | $to | $source | $versions | ${test% } |"
        done
    echo
}

operators >"$work/lists/operators"
names >"$work/lists/names"
devices >"$work/lists/devices"
{ echo; onnxcost help man profile-table; echo; } >"$work/lists/profiles"
src/doc/make_gallery.sh --index >"$work/lists/gallery"
for document in $documents; do
    name=$(basename "$document" .md)
    mkdir "$work/$name"
    ln -s "$work/zoo" "$PWD/models" "$PWD/hwdb" "$work/$name"
    tests/transcripts.sh "$document" "$work/$name" "$work/lists" >"$work/$name.md"
    [ "${1:-}" != --update ] || cp "$work/$name.md" "$document"
done
[ "${1:-}" != --update ] || exit 0
for document in $documents; do
    result "$document has what the program prints" "$(diff "$document" "$work/$(basename "$document")")"
    problems=$(grep -n '](' "$document" | grep -oE '^[0-9]+|\]\([^)#]+' | sed 's/^](//' | while read -r link; do
        case $link in
        [0-9]*) at=$link ;;
        http*) ;;
        *) [ -e "$(dirname "$document")/$link" ] || echo "line $at: $link does not exist" ;;
        esac
    done)
    result "$document has links that exist" "$problems"
done

# ---- gallery
pictures=src/doc/gallery/pictures.tsv
listed_of() { awk -F '\t' -v kinds="$1" '$1 ~ "^(" kinds ")$" { print $'"$2"' }' "$pictures" | sort -u; }
onnxcost help man commands | sed -n 's/^\\fBonnxcost \([a-z][a-z]*\).*/\1/p' | sort -u >"$work/commands"
problems=$( (echo cost && cat "$work/commands") | sort -u | while read -r command; do
    listed_of 'terminal|runtime' 3 | grep -qx "$command" || echo "$command: no picture of the command"
    name=$([ "$command" = cost ] || echo "$command ")
    # shellcheck disable=SC2086 # nothing, or a name
    [ "$command" = record ] || onnxcost $name -f html 2>&1 </dev/null | grep -q 'not of this command' || # its page is that of cost
        awk -F '\t' '$1 == "page" { print $6 }' "$pictures" | grep -q "^onnxcost ${name:-[a-z0-9_]*\.onnx}" || echo "$command: no picture of its page"
done
listed_of '[a-z]*' 2 | while read -r name; do [ -s "src/doc/gallery/$name.png" ] || echo "$name.png is missing: make gallery"; done
for file in src/doc/gallery/*.png; do
    # shellcheck disable=SC2086 # a list
    grep -qF "gallery/$(basename "$file")" $documents || echo "$file is in no document"
done)
result 'the gallery has every command and every page' "$problems"
result 'the pictures have at most 2 MB' "$([ "$(cat src/doc/gallery/*.png | wc -c)" -le 2000000 ] || du -sh src/doc/gallery)"

# ---- commands of the README outside of transcripts
tests/transcripts.sh --commands README.md | grep '^onnxcost ' | grep -vE '^onnxcost (record|bisect|tune)' >"$work/commands"
problems=$(while read -r line; do
    (cd "$work/README" && sh -c "$line") >"$work/out" 2>&1 </dev/null || echo "exit code $?: $line"
done <"$work/commands")
result 'the commands of the README work' "$problems"

# ---- options
onnxcost help man commands | sed -n 's/^\\fBonnxcost \([a-z][a-z]*\).*/\1/p' | sort -u >"$work/commands"
echo cost >>"$work/commands"
sort -u -o "$work/commands" "$work/commands"
while read -r command; do
    onnxcost help man options "$command" | sed -n 's/\\-/-/g; s/^\(\\fB-.\\fR, \)\{0,1\}\\fB--\([a-z0-9-]*\)\\fR.*/--\2/p'
done <"$work/commands" | sort -u >"$work/options"
# Options that `onnxcost help` lists, one a line.
listed() { onnxcost help "$@" | grep -oE '^ +(-., )?--[a-z][a-z0-9-]*' | sed 's/.*--/--/' | sort -u; }
problems=$(while read -r command; do
    [ "$(listed "$command" | wc -l)" -le 15 ] || echo "$command: help lists more than 15 options"
    listed "$command" --all >"$work/listed"
    onnxcost help man options "$command" | sed -n 's/\\-/-/g; s/^\(\\fB-.\\fR, \)\{0,1\}\\fB--\([a-z0-9-]*\)\\fR.*/--\2/p' | sort -u | comm -23 - "$work/listed" | sed "s/^/$command: not in help --all: /"
    listed "$command" | comm -23 - "$work/listed" | sed "s/^/$command: usual, but not in help --all: /"
done <"$work/commands"
for option in dim shape value; do listed record --all | grep -qx -e "--$option" || echo "record: no --$option"; done)
result 'help has the usual options of a command, with --all every option' "$problems"
problems=$(for document in src/doc/tutorial-*.md; do
    [ "$(tests/transcripts.sh --commands "$document" | grep -c '^onnxcost')" -le 3 ] || echo "$document: more than 3 commands"
    [ "$(grep -c '^\*\*Answer' "$document")" -eq 1 ] || echo "$document: no answer"
    sed -n '/^```console/,/^```$/p' "$document" | tr -s ' ' >"$work/shown"
    sed -n '/^\*\*Answer/,/^$/p' "$document" | tr '\n' ' ' | sed 's/([^)]*)//g' |
        grep -oE '[0-9][0-9.,]* (ms|us|s|%|GB/s|GFLOP/s)( |[.,:;])' | sed 's/[ .,:;]$//' | while read -r figure; do
        grep -qF -e "$figure" "$work/shown" || echo "$document: $figure of the answer is in no transcript"
    done
done)
result 'tutorials answer in at most 3 commands, with figures of their transcripts' "$problems"
# shellcheck disable=SC2016 # Markdown
problems=$(python3 -c '
import sys
for name in sys.argv[1:]:
    shown = False
    for line in open(name, encoding="utf-8"):
        if line.startswith("```"): shown = line.startswith("```console")
        elif shown and len(line.rstrip("\n")) > 80: print("%s: %s" % (name, line.rstrip("\n")))
' README.md src/doc/tutorial-*.md)
result 'transcripts of README and tutorials fit 80 columns' "$problems"
result 'the README has at most 200 lines' "$([ "$(wc -l <README.md)" -le 200 ] || wc -l README.md)"
result 'there are options' "$([ "$(wc -l <"$work/options")" -gt 40 ] || wc -l <"$work/options")"
# options of other programs, which the documents name
others='--enable --profiling --print-gpu-trace --print-summary --csv --stats --dumpProfile --exportLayerInfo --exportProfile --exportTimes --fill --nvtx --ignore-scripts --prefix --page --perf --profilingVerbosity
    --cflags --libs --static --symbolic-hw --weights --no-install-recommends --bits --size --layout --type --recurse
    --kernel-trace --marker-trace --hip-trace --output-format --array --ntasks --open-mode --requeue --retries'
problems=$(for document in $documents "$pages"/*.txt; do
    grep -oE -- '(^|[ (|`"[])--[a-z][a-zA-Z0-9-]+' "$document" | sed 's/^[^-]//' | sort -u | while read -r option; do
        grep -qxe "$option" "$work/options" || case " $others " in *[[:space:]]"$option"[[:space:]]*) ;; *) echo "$document: $option" ;; esac
    done
done)
result 'no document names an option that does not exist' "$problems"

# ---- manual pages
problems=$(while read -r command; do
    [ -s "src/man/onnxcost-$command.1" ] || echo "onnxcost-$command.1 is missing"
    grep -q "^\.\\\\\" list: options $command\$" "src/man/onnxcost-$command.1" || echo "onnxcost-$command.1 does not list the options"
    grep -q '^\.SH EXAMPLES' "src/man/onnxcost-$command.1" || echo "onnxcost-$command.1 has no examples"
done <"$work/commands")
result 'every command has a page with its options and examples' "$problems"
result 'onnxcost.1 has at most 250 lines' "$([ "$(wc -l <src/man/onnxcost.1)" -le 250 ] || wc -l src/man/onnxcost.1)"
result 'the pages pass mandoc -T lint' "$(for page in "$pages"/*.[157]; do mandoc -T lint -W warning "$page"; done 2>&1)"
if man --version 2>/dev/null | grep -q '^man [0-9]'; then
    # shellcheck disable=SC2069 # warnings, not the page
    problems=$(for page in "$pages"/*.[157]; do LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null; done |
        grep -v 'cannot adjust line') # a long word
    result 'groff formats the pages without warnings' "$problems"
else
    skip 'groff formats the pages without warnings' 'man-db is not installed'
fi
problems=$(sed -n 's/^\.BR \(onnxcost[a-z-]*\) (\([157]\)).*/\1.\2/p' src/man/*.[157] | sort -u | while read -r page; do
    [ -e "src/man/$page" ] || echo "$page does not exist"
done)
result 'cross references name pages that exist' "$problems"
problems=$(onnxcost help man limits | grep -c '^\.TP')
result 'there are limits' "$([ "$problems" -gt 25 ] || echo "$problems")"

# ---- topics
problems=$(for topic in metrics profiles hwdb rules budget limits json; do
    onnxcost help $topic >"$work/topic" 2>&1 && grep -q "^NAME" "$work/topic" && grep -q "onnxcost-$topic - " "$work/topic" || echo "$topic: $(head -n 1 "$work/topic")"
    [ "$(awk 'length > 80' "$work/topic" | wc -l)" -eq 0 ] || echo "$topic is wider than 80 columns"
done)
result 'help TOPIC prints the page' "$problems"
text=$(onnxcost help onnxcost-record | sed -n 4p)
result 'help PAGE prints the page of a command' "$(echo "$text" | grep -q 'onnxcost-record - ' || echo "$text")"
text=$(onnxcost help metrix 2>&1)
result 'help of an unknown word is refused' "$([ $? -eq 2 ] || echo "$text")"
cat >"$work/bin/man" <<'EOF'
#!/bin/sh
[ -n "${NO_PAGE:-}" ] && exit 16
echo "man opens $*"
EOF
chmod +x "$work/bin/man"
on_terminal() { # environment
    env "$@" python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(["onnxcost", "help", "metrics"])))' </dev/null 2>&1
}
if python3 -c 'import os; os.openpty()' 2>/dev/null; then
    text=$(on_terminal A=1)
    result 'help TOPIC on a terminal opens man' "$(echo "$text" | grep -q "man opens .*/onnxcost-metrics.7" || echo "$text" | head -n 3)"
    text=$(on_terminal NO_PAGE=1)
    result 'help TOPIC prints the text where man fails' "$(echo "$text" | grep -q 'onnxcost-metrics - definitions' || echo "$text" | head -n 3)"
else # a bare chroot has no /dev/pts
    skip 'help TOPIC on a terminal' 'no pseudo-terminal can be opened'
fi
rm "$work/bin/man"

# ---- columns and JSON members
printf 'layer,energy\n/conv1/Conv,1\n' >"$work/energy.csv"
for options in '-p models/profiles/resnet18.all.t1.json.gz --hw models/profiles/machine.t1.xml' '--group-by type' \
    "-p $work/energy.csv --map name=layer,time=energy:ms,energy=energy:mJ,type=layer"; do
    # shellcheck disable=SC2086 # several options
    onnxcost "$work/zoo/resnet18.onnx" $options -f csv 2>/dev/null | head -n 1 | tr -d '\r' | tr ',' '\n'
done | grep -vxE '(vector|matrix|special|dram|l[0-9])_ns' | sort -u >"$work/columns"
sed -n '/^\.SH COLUMNS/,/^\.SH [^C]/s/^\.B \([a-z_, ]*\)$/\1/p' src/man/onnxcost-metrics.7 | tr -d ' ' | tr ',' '\n' | sort >"$work/documented"
result 'onnxcost-metrics(7) has every column of the CSV' "$(diff "$work/columns" "$work/documented")"
result 'there are columns' "$([ "$(wc -l <"$work/columns")" -gt 25 ] || wc -l <"$work/columns")"
problems=$(python3 - src/write/report.schema.json src/man/onnxcost-json.5 <<'EOF'
import json, re, sys
schema = json.load(open(sys.argv[1]))
words = set(re.findall(r'\w+', open(sys.argv[2]).read()))
for name in ('', 'model', 'totals', 'node', 'profile', 'join', 'row', 'hardware', 'conserved'):
    members = (schema['$defs'][name] if name else schema)['properties']
    for member in members:
        if member not in words:
            print('%s.%s' % (name or 'report', member))
EOF
)
result 'onnxcost-json(5) has the members of a report' "$problems"
problems=$(sed -n '/value>/s/<value>/\n/gp' hwdb/budget/budget.rng | sed -n 's/^\([a-z-]*\)<.*/\1/p' | sort -u | while read -r metric; do
    sed 's/[,.]/ /g' src/man/onnxcost-budget.5 | grep -qE "^ *B? *(.* )?$metric( |\$)" || echo "$metric"
done)
result 'onnxcost-budget(5) has every metric' "$problems"

version=$(onnxcost --version | sed 's/onnxcost //')
result 'versions agree' "$(grep -q "\"onnxcost $version\"" "$pages/onnxcost.1" || echo "the manual page is not of $version")"
problems=$(onnxcost help man profiles | sed -n 's/^\\fB\(.*\)\\fR/\1/p' | while read -r format; do
    grep -qF "| \`$format\` |" src/doc/profiles.md || echo "$format"
done)
result 'src/doc/profiles.md has every profile format' "$problems"
result 'every profile format has its versions and what is lost' \
    "$(onnxcost help man profile-table | awk -F'|' 'NR > 2 && ($4 !~ /[a-z0-9]/ || $5 !~ /[a-z]/) { print $2 }')"

folders=$(sed -n '/^| folder /,/^$/p' src/README.md | cut -d '|' -f 2 | grep -oE '`[a-z/]+/`' | tr -d '`')
problems=$(for folder in $folders; do
    [ -d "src/$folder" ] || [ -d "src/write/$folder" ] || echo "src/$folder is not there"
done; for folder in src/*/; do
    echo "$folders" | grep -qx "$(basename "$folder")/" || echo "$folder is not in src/README.md"
done)
result 'every generated name has a transformer, versions and a test' "$(awk -F'|' 'NR > 3 && NF && (NF != 7 || $3 !~ /[a-z]/ || $4 !~ /[a-z]/ || $5 !~ /[0-9]/ || $6 !~ /test_/)' "$work/lists/names")"
result 'the map of the sources is complete' "$problems"
result 'the map of the sources has at most 150 lines' "$([ "$(wc -l <src/README.md)" -le 150 ] || wc -l src/README.md)"
finish
