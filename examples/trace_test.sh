#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: trace_test.sh KEYWAY COMMAND...
#
# Runs a command with KEYWAY_TRACE, and KEYWAY, the program, judges the trace: the device's time has to be accounted for.
keyway=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
KEYWAY_TRACE=$work/trace.json "$@" >"$work/output" 2>&1 || { cat "$work/output" && exit 1; }
"$keyway" trace "$work/trace.json" --json >"$work/verdict"
status=$?
"$keyway" trace "$work/trace.json"
grep -q '"launches":[[:space:]]*[1-9]' "$work/verdict" || { echo "the trace has no launches" && exit 1; }
exit $status
