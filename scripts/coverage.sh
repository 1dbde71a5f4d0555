#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/coverage.sh
#
# Line coverage of backends/cpu/reference/ by the conformance suite: builds, runs every op on a cpu plugin with gcov's
# counters, prints lcov's summary and writes docs/reference-coverage.md, the list of what is not reached and why. Fails
# below 95 % of the lines, and for a line without a reason in conformance/mutation/unreached.txt.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "packages"
scripts/setup.sh

step "building (build/release)"
build_preset release

step "the suite, op by op, with counters"
python3 conformance/mutation/coverage.py build/release --jobs "$jobs" --page docs/reference-coverage.md
lcov --summary build/release/mutation/reference.info --rc lcov_branch_coverage=1
