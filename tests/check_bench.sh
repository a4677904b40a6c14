#!/bin/sh
# The harness of `make bench`: ratios and verdicts of commands that take a known time. Prints TAP. Says nothing of the
# program's speed.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/check_bench
rm -rf "$work"
mkdir -p "$work"
harness=$BUILD/bench/harness
has() { # title pattern    a line of the table
    result "$1" "$(grep -qE "$2" "$work/table" || { echo "no line has '$2'"; cat "$work/table"; })"
}
run() { # the tables in $work, to $work/table; its exit code
    "$harness" "$work/c.tsv" "$work/t.tsv" "$work/r.json" "$work/targets.md" "$work/log" >"$work/table" 2>"$work/err"
}

printf 'one\ntwo\n' >"$work/list"
export LIST_each="$work/list" NOBODY='' WHY_NOBODY='nobody is there' SECONDS_OF_TWO=0.5
printf '%s\n' "g	short	3	1	10	-	short	sleep 0.05" \
    "g	long	2	1	100	-	long	sleep \$SECONDS_OF_TWO" \
    "g	fails	2	1	-	-	fails	false" \
    "g	nobody	2	1	-	-	nobody	\$NOBODY x" >"$work/c.tsv"
printf '%s\n' "above	long	above	>= 100	short	times more	< 2" \
    "grows	long	exponent	-	short	exponent	<= 1.5" \
    "fails	short	-	-	fails	times faster	>= 1" \
    "alone	fails	ms	< 1000	-	-	-" \
    "absent	short	-	-	nobody	times faster	>= 1" \
    "memory	long	RSS	<= 100	-	-	-" >"$work/t.tsv"
result 'it ends well whatever it finds' "$(run || cat "$work/err")"
has 'a difference of times, met on this machine; a ratio that is missed' '^above +[0-9.]+ ms +>= 100 met +short .*< 2 missed'
has 'an exponent: ten times the size in ten times the time' '^grows .*short .* [01]\.[0-9]+ exponent +<= 1\.5 met'
has 'a peer that fails is no success' '^fails .*>= 1 missed'
has 'a command that fails neither' '^alone +- +< 1000 missed'
has 'a peer that is not there is skipped, with the reason' '^absent .*nobody is there .*>= 1 skipped'
has 'an amount of memory' '^memory +[0-9.]+ MB +<= 100 met'
has 'the count of those that do not depend on the machine' ': 2 of 5 missed, 1 skipped; on this machine: 1 of 3 missed'
has 'every measurement is told' '^short +3 +[0-9]+\.[0-9]{3}'
result 'the results are JSON with every sample' "$(python3 - "$work/r.json" 2>&1 <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert r['schema'] == 'onnxcost.bench' and [t['verdict'] for t in r['targets']] == [
    'missed', 'met', 'missed', None, 'skipped', 'met'], r['targets']
m = {x['id']: x for x in r['measurements']}
assert len(m['short']['on'][0]['samples_ms']) == 3 and m['nobody']['on'] == []
assert m['short']['on'][0]['least_ms'] == min(m['short']['on'][0]['samples_ms'])
PY
)"

cat >"$work/slow" <<'S'
#!/bin/sh
[ "$1" = two ] || sleep 0.1
S
chmod +x "$work/slow"
printf '%s\n' "each	a	3	1	-	-	a	true \$each" "each	b	3	1	-	-	b	$work/slow \$each" >"$work/c.tsv"
printf '%s\n' "median	a	-	-	b	median faster	>= 1" "least	a	-	-	b	least faster	>= 1000" >"$work/t.tsv"
run
has 'over a list: the median of the ratios' '^median .*>= 1 met'
has 'and the least, with the one it is of' '^ +two$'

for row in 'g	a	1	1	-	-	a' 'g	a	1	1	-	-	a	true	more'; do
    echo "$row" >"$work/c.tsv"
    run
    result 'a row with another number of fields is refused' "$([ $? -eq 1 ] && grep -q "c.tsv': line 1 is no row" "$work/err" || cat "$work/err")"
done
finish
