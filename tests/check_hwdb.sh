#!/bin/sh
# Every hardware file is valid against the schema and uses each source that it lists; the schema refuses files
# that lack what every number needs. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

validate() { # file: prints what is wrong
    xmllint --nonet --noout --relaxng hwdb/hwdb.rng "$1" 2>&1 || echo "exit code $?"
}

if ! command -v xmllint >/dev/null 2>&1; then
    result 'schema' 'xmllint is missing (package libxml2-utils)'
    echo "1..$n"
    exit 1
fi

for file in hwdb/*.xml; do
    result "$file is valid" "$(validate "$file" | grep -v ' validates$')"
    result "$file uses its sources" "$(awk '
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

# The schema must not be one that accepts anything.
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
while IFS='|' read -r what edit; do
    sed "$edit" hwdb/nvidia.xml >"$scratch"
    cmp -s hwdb/nvidia.xml "$scratch" && result "schema: $what" 'the edit changes nothing'
    case $(validate "$scratch") in
    *'fails to validate'*) result "schema: $what" '' ;;
    *) result "schema: $what" 'accepted' ;;
    esac
done <<'EOF'
a peak needs a unit|s/ unit="TFLOP\/s"//
units are a closed list|s/TFLOP\/s/TFLOPS/
a vendor's figure needs a source|s/ basis="vendor" source="[^"]*"/ basis="vendor"/
a basis is needed|s/ basis="vendor"//
an assumption needs its reason|s/ note="Order[^"]*"//
a peak says whether it is dense|s/ dense="yes"//
a peak says at which clock|s/ clock="boost"//
values are plain numbers|s/value="19.5"/value="1.95e1"/
unknown attributes are refused|s/ vendor="NVIDIA"/ vendor="NVIDIA" price="1"/
unknown elements are refused|s/<alias name="v100"\/>/<nick name="v100"\/>/
the version is known|s/version="1"/version="9"/
a device without base has a vendor|s/ vendor="NVIDIA"//
power is in watts|s/ unit="W"/ unit="kW"/
kinds of clocks are a closed list|s/ clock="boost"/ clock="fast"/
EOF
# Heirs need no vendor, kind or unit.
sed 's|</hwdb>|<device id="heir" name="Heir" base="t4" sku="x"/></hwdb>|' hwdb/nvidia.xml >"$scratch"
result 'schema: an heir may have nothing of its own' "$(validate "$scratch" | grep -v ' validates$')"
finish
