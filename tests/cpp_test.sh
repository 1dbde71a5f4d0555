#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: cpp_test.sh SOURCE_DIRECTORY LIBRARY_DIRECTORY
#
# cpp_program.cpp and the example perceptron compile without a warning as C++17 and C++20, by each compiler that is
# here, and do on cpu:0 what they should.
source=$1 library=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
build() { # COMPILER STANDARD FILE
  "$1" "-std=$2" -Wall -Wextra -Wconversion -Wpedantic -Werror -I"$source/abi/include" -o "$work/program" "$source/$3" \
    -L"$library" -lkeyway -Wl,-rpath,"$library" || { echo "$3, with $1 as $2" >&2; exit 1; }
}
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed"; continue; }
  for standard in c++17 c++20; do
    build "$compiler" "$standard" tests/cpp_program.cpp
    "$work/program" || { echo "with $compiler as $standard" >&2; exit 1; }
  done
  said=$("$compiler" -std=c++14 -fsyntax-only -I"$source/abi/include" "$source/tests/cpp_program.cpp" 2>&1) &&
    { echo "$compiler took keyway.hpp as C++14" >&2; exit 1; }
  case $said in
  *"keyway.hpp needs C++17"*) ;;
  *) echo "$compiler does not say what keyway.hpp needs: $said" >&2; exit 1 ;;
  esac
  build "$compiler" c++17 examples/perceptron/perceptron.cpp
  said=$("$work/program" cpu:0) || exit 1
  [ "$said" = "0 xor 0: 0, 0 xor 1: 1, 1 xor 0: 1, 1 xor 1: 0, on cpu:0" ] || { echo "perceptron: $said" >&2; exit 1; }
  said=$("$work/program" nope 2>&1) && { echo "perceptron took a device that is not there" >&2; exit 1; }
  case $said in
  *"there is no device 'nope'"*) ;;
  *) echo "perceptron: $said" >&2; exit 1 ;;
  esac
done
