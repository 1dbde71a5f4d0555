#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: source_test.sh BUILD_DIRECTORY INCLUDE_DIRECTORY COMPILER
#
# The C that is printed for programs compiles without a warning. On the cpu device it finds no difference; on two mutants,
# one whose products are overtaken and one whose events forget writes through strides, it shows the wrong number.
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

# smallest MUTANT: the id of a program of at most 4 calls that fails on it. Every program that was cut down has to be so
# short.
smallest() {
  "$build/bin/keyway" conform --plugin "$build/tests/mutants/keyway_mutant_$1.so" --device mutant:0 --suite programs \
    --budget 60 --verbose | sed -n 's/^    smallest failing: \(programs[^,]*\), on \([0-9]*\) calls.*/\1 \2/p' >"$work/smallest"
  awk '$2 > 4 { print "of", $2, "calls:", $1 >"/dev/stderr"; exit 1 }' "$work/smallest" && head -n 1 "$work/smallest" | cut -d ' ' -f 1
}

for name in product_overtaken view_event_forgotten; do
  id=$(smallest $name)
  [ -n "$id" ] || { echo "no program of at most 4 calls was found that fails on $name" && exit 1; }
  text=$(shown "$id" --plugin "$build/tests/mutants/keyway_mutant_$name.so" --device mutant:0) &&
    { echo "$id shows nothing of $name: $text" && exit 1; }
  case $text in
    "tensor "*) echo "$name, $id: $text" ;;
    *) echo "$name, $id: $text" && exit 1 ;;
  esac
done
