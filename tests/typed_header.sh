#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: typed_header.sh KEYWAY SOURCE_DIRECTORY LIBRARY_DIRECTORY
#
# keyway/ops.h is what the program writes; typed_program.c compiles without a warning as C11 and as C++17, by each
# compiler that is here, and its numbers are right.
keyway=$1 source=$2 library=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$keyway" ops --header >"$work/ops.h" || exit 1
diff "$source/abi/include/keyway/ops.h" "$work/ops.h" || {
  echo "keyway/ops.h is out of date. Run: keyway ops --header >abi/include/keyway/ops.h" >&2
  exit 1
}
for compiler in "gcc -x c -std=c11" "clang -x c -std=c11" "g++ -x c++ -std=c++17" "clang++ -x c++ -std=c++17"; do
  command -v "${compiler%% *}" >/dev/null || { echo "skipped: ${compiler%% *} is not installed"; continue; }
  # shellcheck disable=SC2086 # words
  $compiler -Wall -Wextra -Wconversion -Wpedantic -Werror -I"$source/abi/include" -o "$work/program" \
    "$source/tests/typed_program.c" -L"$library" -lkeyway -Wl,-rpath,"$library" || { echo "with $compiler" >&2; exit 1; }
  "$work/program" || { echo "with $compiler" >&2; exit 1; }
done
