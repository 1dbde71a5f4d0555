#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: source_test.sh BUILD_DIRECTORY INCLUDE_DIRECTORY COMPILER
#
# The C that is printed for programs compiles without a warning, and calls are made by plans where they are in the
# program. On the cpu device it finds no difference; on two mutants, one whose products are overtaken and one whose
# events forget writes through strides, it shows the wrong number. Options of programs that mean nothing are refused.
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

# ends STATUS TEXT OPTION...: keyway conform on cpu:0 ends so, and says so.
ends() {
  status=$1
  said=$2
  shift 2
  "$build/bin/keyway" conform --device cpu:0 "$@" >"$work/said" 2>&1
  code=$?
  [ $code = "$status" ] && grep -q -e "$said" "$work/said" || { echo "$*: exit code $code" && cat "$work/said" && exit 1; }
}

ends 0 "3 of 3 cases pass" --suite programs --budget 3
ends 0 "programs/11$" --suite programs --quick --list
for wrong in 0 3x s 100001 -1; do ends 2 "--budget takes" --suite programs --budget "$wrong"; done
ends 0 "^#include <keyway/keyway.h>" --case programs/3@0-4s1 --source
ends 2 "--source takes one program" --case neg/f32/one/0 --source
ends 0 "programs/resnet/3$" --suite programs --list
ends 2 "there is no case 'programs/3@5-4'" --case programs/3@5-4

for part in 0 1 2 3 4 5 minilm/0 block/0 decoder/0 resnet/0 each/3; do
  text=$(shown programs/$part --device cpu:0)
  [ "$text" = "no difference" ] || { echo "programs/$part on cpu:0: $text" && exit 1; }
  [ "$(grep -c " by a plan" "$work/program.c")" = "$(grep -c "kw_plan_run(" "$work/program.c")" ] ||
    { echo "programs/$part: the C makes other calls by plans than the program" && exit 1; }
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
