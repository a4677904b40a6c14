#!/bin/sh
# Tests the harness of `make bench`: ratios and verdicts of commands that take a known time. Prints TAP. Does not test
# the speed of the program.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/check_bench
rm -rf "$work"
mkdir -p "$work"
harness=$BUILD/bench/harness
expect_line() { # title pattern    a line of the table
    result "$1" "$(grep -qE "$2" "$work/table" || { echo "no line matches '$2'"; cat "$work/table"; })"
}
run() { # the tables in $work, to $work/table; its exit code
    "$harness" "$work/c.tsv" "$work/t.tsv" "$work/r.json" "$work/targets.md" "$work/log" >"$work/table" 2>"$work/err"
}

printf 'one\ntwo\n' >"$work/list"
export LIST_each="$work/list" MISSING_PEER='' WHY_MISSING_PEER='peer is not installed' SECONDS_OF_TWO=0.5
printf '%s\n' "g	short	3	1	10	-	short	sleep 0.01" \
    "g	long	2	1	100	-	long	sleep \$SECONDS_OF_TWO" \
    "g	fails	2	1	-	-	fails	false" \
    "g	missing_peer	2	1	-	-	missing_peer	\$MISSING_PEER x" >"$work/c.tsv"
printf '%s\n' "above	long	above	>= 100	short	relative overhead	< 2" \
    "grows	long	exponent	-	short	exponent	<= 9" \
    "fails	short	-	-	fails	speedup	>= 1" \
    "alone	fails	ms	< 1000	-	-	-" \
    "absent	short	-	-	missing_peer	speedup	>= 1" \
    "memory	long	RSS	<= 100	-	-	-" >"$work/t.tsv"
result 'harness exits with 0 when targets are missed' "$(run || cat "$work/err")"
expect_line 'difference of times is met, ratio is missed' '^above +[0-9.]+ ms +>= 100 met +short .*< 2 missed'
expect_line 'exponent of the time over the size' '^grows .*short .* [0-9]\.[0-9]+ exponent +<= 9 met'
expect_line 'failing peer is a missed target' '^fails .*>= 1 missed'
expect_line 'failing command is a missed target' '^alone +- +< 1000 missed'
expect_line 'missing peer is skipped with the reason' '^absent .*peer is not installed .*>= 1 skipped'
expect_line 'memory limit is compared with RSS' '^memory +[0-9.]+ MB +<= 100 met'
expect_line 'machine-independent targets are counted separately' '^independent of the machine: 2 of 5 missed, 1 skipped; on this machine: 1 of 3 missed'
expect_line 'every measurement is printed' '^short +3 +[0-9]+\.[0-9]{3}'
result 'results are JSON with every sample' "$(python3 - "$work/r.json" 2>&1 <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert r['schema'] == 'onnxcost.bench' and [t['verdict'] for t in r['targets']] == [
    'missed', 'met', 'missed', None, 'skipped', 'met'], r['targets']
m = {x['id']: x for x in r['measurements']}
assert len(m['short']['on'][0]['samples_ms']) == 3 and m['missing_peer']['on'] == []
assert m['short']['on'][0]['least_ms'] == min(m['short']['on'][0]['samples_ms'])
PY
)"

cat >"$work/slow" <<'S'
#!/bin/sh
[ "$1" = two ] || sleep 0.5
S
chmod +x "$work/slow"
printf '%s\n' "each	a	3	1	-	-	a	true \$each" "each	b	3	1	-	-	b	$work/slow \$each" >"$work/c.tsv"
printf '%s\n' "median	a	-	-	b	median speedup	>= 1" "minimum	a	-	-	b	min speedup	>= 1000" >"$work/t.tsv"
run
expect_line 'median speedup over a list' '^median .*>= 1 met'
expect_line 'minimum speedup over a list names the item' '^ +two$'

for row in 'g	a	1	1	-	-	a' 'g	a	1	1	-	-	a	true	more'; do
    echo "$row" >"$work/c.tsv"
    run
    result 'row with a wrong number of fields is rejected' "$([ $? -eq 1 ] && grep -q "c.tsv': line 1 is not a row" "$work/err" || cat "$work/err")"
done
finish
