#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutants_summary.sh DIRECTORY: prints "killed N/M" over the results that mutants_test.sh left there, and those that
# survived. ctest runs it after its tests; without results it prints nothing.
cd "$1" || exit
set -- *
[ -f "$1" ] || exit 0
echo "mutants: killed $(grep -l killed "$@" | wc -l)/$#"
grep -L killed "$@" | sed 's/^/survived: /'
rm -f "$@"
