#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: trace_test.sh KEYWAY SLACK COMMAND...
#
# Runs a command with KEYWAY_TRACE, and KEYWAY, the program, judges the trace: the device's time has to be accounted for.
# SLACK is how many microseconds two clocks may be apart.
keyway=$1 slack=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
KEYWAY_TRACE=$work/trace.json "$@" >"$work/output" 2>&1 || { cat "$work/output" && exit 1; }
"$keyway" trace "$work/trace.json" --slack "$slack" --json >"$work/verdict"
status=$?
"$keyway" trace "$work/trace.json"
grep -q '"launches":[[:space:]]*[1-9]' "$work/verdict" || { echo "the trace has no launches" && exit 1; }
exit $status
