#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/full.sh [--again] [NAME...]
#
# Everything, however long: every block of scripts/blocks.list, or those named. A block that passed with the inputs that
# it has now is not run again: its dated result is taken, from this checkout (build/blocks) or from a page under
# bench/results. An interrupted run therefore goes on where it was when it is started again. Writes the results to
# bench/results/DATE-full.md; blocks write the numbers of cases to docs/cases.md and the coverage to
# docs/reference-coverage.md. Exit status 0: all passed.
#
#   --again   run them whatever results there are
set -euo pipefail
. "$(dirname "$0")/lib.sh"

for argument; do
  case $argument in
    --again) ;;
    -*) no_arguments "$argument" ;;
  esac
done
scripts/setup.sh
exec scripts/blocks.py full "$@"
