#!/bin/sh
# Printed profiles of every tool after the prefixes of logs and with changed totals, the questions of src/doc/profiles.md
# with their answers, and the tables of Paddle from a trace and from print (tests/support/profile_rules.py). Prints TAP.
# modes: release
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
command -v python3 >/dev/null || { echo '1..0 # SKIP python3 is not there'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 tests/support/profile_rules.py "$PWD/$BUILD/onnxcost" "$work"
