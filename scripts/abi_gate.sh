#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/abi_gate.sh
#
# May this tree's ABI be shipped? Holds it against the frozen snapshots (abi/frozen): layout, floors, slots and MUSTs
# by scripts/abi_rules.py, the symbols of build/release, types by libabigail where it is installed; then every public
# header alone in a file. One sentence for each rule that is broken, exit status 1.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

failed=0
library=build/release/lib/libkeyway.so
if [ -e "$library" ]; then
  symbols=(--symbols "$library")
else
  symbols=()
  say "skipped: symbols, $library is not built"
fi
step "layout, floors, slots, MUSTs"
python3 scripts/abi_rules.py "${symbols[@]}" || failed=1

step "types by libabigail"
if command -v abidiff >/dev/null; then
  mkdir -p build/logs
  abi_types build/logs/types.abi
  version=$(abi_version)
  for frozen in abi/frozen/"$version"*/types.abi; do # of a later version the rules above say what may be new
    [ -e "$frozen" ] || continue
    abidiff --non-reachable-types "$frozen" build/logs/types.abi >build/logs/abidiff.log 2>&1 && continue
    cat build/logs/abidiff.log
    say "FAILED: libabigail finds other types than in $frozen, and the version is the same"
    failed=1
  done
else
  say "skipped: abidiff is not installed"
fi

step "headers alone"
python3 tests/headers_check.py . || failed=1
[ "$failed" -eq 0 ] || die "the ABI is not what was promised: see the sentences above" "docs/abi.md has the rules."
say "scripts/abi_gate.sh: passed. $SECONDS s."
