#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/labels.sh LABEL...
#
# The tests of build/release that have one of these labels (ctest --print-labels), which scripts/test.sh may leave out.
#
# Example: scripts/labels.sh cuda hip levelzero
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ "${1-}" != --help ] || no_arguments --help
[ $# -gt 0 ] || die "wants a label" "Run: $script --help"
labels=$(IFS='|' && printf '%s' "$*")

step "building (build/release)"
build_preset release

step "tests with the label ${*}"
run_tests release --label-regex "^($labels)\$" --no-tests=error
