#!/bin/sh
# Every hardware file is valid against the schema and uses each source that it lists; figures of GPUs are units x rate x
# clock; the schema rejects files without the required attributes of a number. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

validate() { # file: prints the problems
    xmllint --nonet --noout --relaxng hwdb/hwdb.rng "$1" 2>&1 || echo "exit code $?"
}

if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi

for file in hwdb/*.xml; do
    result "$file is valid" "$(validate "$file" | grep -v ' validates$')"
    result "$file uses every source it lists" "$(awk '
        { text = text " " $0 }
        END {
            while (match(text, /<[a-z]+ [^>]*>/)) {
                tag = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                if (tag ~ /^<source /) { sub(/.* id="/, "", tag); sub(/".*/, "", tag); listed[tag] = 1 }
                else if (match(tag, / source="[^"]*"/)) {
                    k = split(substr(tag, RSTART + 9, RLENGTH - 10), id, " ")
                    for (i = 1; i <= k; i++) used[id[i]] = 1
                }
            }
            for (i in listed) if (!(i in used)) print "source " i " is not used"
        }' "$file")"
done

# Peaks, DRAM bandwidths and L2 sizes of GPUs against a table of units, rates per cycle and clocks (tests/support).
result 'figures of GPUs are units x rate x clock' "$(python3 tests/support/peak_rules.py hwdb 2>&1)"
result 'every GPU figure that is wrong by a tenth is found' "$(python3 tests/support/peak_rules.py hwdb --typos 2>&1)"

# The schema rejects invalid files.
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
while IFS='|' read -r rule edit; do
    sed "$edit" hwdb/nvidia-ampere.xml >"$scratch"
    cmp -s hwdb/nvidia-ampere.xml "$scratch" && result "schema: $rule" 'the edit has no effect'
    case $(validate "$scratch") in
    *'fails to validate'*) result "schema: $rule" '' ;;
    *) result "schema: $rule" 'accepted' ;;
    esac
done <<'EOF'
a peak must have a unit|s/ unit="TFLOP\/s"//
unknown units are rejected|s/TFLOP\/s/TFLOPS/
a vendor value must have a source|s/ basis="vendor" source="[^"]*"/ basis="vendor"/
a basis is required|s/ basis="vendor"//
an assumption must have a reason|s/ note="Order[^"]*"//
a peak must be marked dense or sparse|s/ dense="yes"//
a peak must have a clock|s/ clock="boost"//
values must be plain numbers|s/value="19.5"/value="1.95e1"/
unknown attributes are rejected|s/ vendor="NVIDIA"/ vendor="NVIDIA" price="1"/
unknown elements are rejected|s/<alias name="a100"\/>/<nick name="v100"\/>/
version must be known|s/version="1"/version="9"/
a device without a base must have a vendor|s/ vendor="NVIDIA"//
power must be in watts|s/ unit="W"/ unit="kW"/
unknown clocks are rejected|s/ clock="boost"/ clock="fast"/
EOF
# Derived devices need no vendor, kind or unit.
sed 's|</hwdb>|<device id="heir" name="Heir" base="a10" sku="x"/></hwdb>|' hwdb/nvidia-ampere.xml >"$scratch"
result 'schema: a derived device may inherit everything' "$(validate "$scratch" | grep -v ' validates$')"
finish
