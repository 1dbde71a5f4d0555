#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: source_test.sh BUILD_DIRECTORY INCLUDE_DIRECTORY COMPILER
#
# The C that is printed for programs compiles without a warning. On the cpu device it finds no difference; on the mutant
# whose products are overtaken it shows the wrong number.
build=$1
include=$2
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shown ID OPTION...: what the program of this id prints on that device.
shown() {
  id=$1
  shift
  "$build/bin/keyway" conform "$@" --case "$id" --source >"$work/program.c" || return 2
  "$cc" -std=c11 -Wall -Wextra -Werror "-I$include" "$work/program.c" -o "$work/program" "-L$build/lib" -lkeyway -lm \
    "-Wl,-rpath,$build/lib" || return 2
  "$work/program"
}

for number in 0 1 2 3 4 5; do
  text=$(shown programs/$number --device cpu:0)
  [ "$text" = "no difference" ] || { echo "programs/$number on cpu:0: $text" && exit 1; }
done

mutant=$build/tests/mutants/keyway_mutant_product_overtaken.so
smallest=$("$build/bin/keyway" conform --plugin "$mutant" --device mutant:0 --suite programs --budget 30 --verbose |
  sed -n 's/^    smallest failing: \(programs[^,]*\), on \([1-4]\) calls.*/\1/p' | head -n 1)
[ -n "$smallest" ] || { echo "no program of at most 4 calls was found that fails on the mutant" && exit 1; }
text=$(shown "$smallest" --plugin "$mutant" --device mutant:0) && { echo "$smallest shows nothing: $text" && exit 1; }
case $text in
  "tensor "*) echo "$smallest: $text" ;;
  *) echo "$smallest: $text" && exit 1 ;;
esac
