#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/mutation.sh [--count N] [--seed S] [--minutes M]
#
# Mechanical mutation of the reference kernels: changes them in one place at a time and runs the suite on a cpu plugin
# built from that, until the first failure. Prints the survivors and "killed N/M". Fails for a survivor that
# conformance/mutation/survivors.txt does not explain as equivalent, and when less than 95 % of the others are killed.
# Runs scripts/coverage.sh first, which tells which part of the suite reaches which line.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ "${1-}" != --help ] || no_arguments --help

scripts/coverage.sh

step "mutants"
python3 conformance/mutation/mutation.py build/release --jobs "$jobs" "$@"
