#!/bin/sh
# Rows + remainder = total = headline, and shares add up to 100 %, in every output: see tests/check_figures.sh, whose
# profiles and option --all it has. Prints TAP.
# modes: release
RULES=conservation exec "$(dirname "$0")/check_figures.sh" "$@"
