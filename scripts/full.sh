#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/full.sh
#
# Everything, however long: all tests in every preset (the mutants in release), select_device under valgrind, the
# conformance suite with two seeds on every device, races of the portable kernels, the PyTorch bridge, coverage and
# mutation of the reference, benchmarks. Writes what came out to bench/results/DATE-full.md, and the numbers of cases to
# docs/cases.md.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

results=bench/results/$(date +%F)-full.md
seeds=(1 20260)

step "packages"
scripts/setup.sh

step "formatting"
check_format

test_rows='preset|tests|time'$'\n'
for preset in release debug asan tsan; do
  step "building and testing $preset"
  case $preset in
    asan | tsan) build_sanitized "$preset" ;;
    *) build_preset "$preset" ;;
  esac
  began=$SECONDS
  # Mutants are plugins of their own: once is enough.
  if [ "$preset" = debug ]; then run_tests debug --label-exclude mutants; else run_tests "$preset"; fi
  passed=$(sed -n 's/^\([0-9]*% tests passed.*\)$/\1/p' "build/logs/tests-$preset.log")
  test_rows+="$preset|$passed|$((SECONDS - began)) s"$'\n'
done

step "building with clang (build/clang)"
quiet configure-clang cmake -G Ninja -B build/clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang
quiet build-clang cmake --build build/clang -j "$jobs"

step "installing; building the examples from the package"
install_with_examples release

# An OpenCL driver's own leaks are not ours to report: the library looks for plugins in a copy without that backend.
step "select_device under valgrind"
rm -rf build/valgrind
cp -r build/installed build/valgrind
find build/valgrind -name 'keyway_opencl.so' -delete
library=$(find "$PWD/build/valgrind" -name 'libkeyway.so.0')
valgrind_rows='program|valgrind'$'\n'
for device in cpu:0 npu:0; do
  plugin_arguments "$device"
  quiet "valgrind-${device%:*}" env LD_LIBRARY_PATH="$(dirname "$library")" \
    valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect \
    "$select_device" "${plugin[@]}" "$device"
  valgrind_rows+="select_device $device|no error, no leak"$'\n'
done

step "the conformance suite, ${#seeds[@]} seeds"
for device in cpu:0 opencl:0 npu:0; do
  for seed in "${seeds[@]}"; do
    conform "$device" --seed "$seed"
  done
done
# Cold, with the driver's cache and ours empty, then warm.
export POCL_CACHE_DIR=$PWD/build/cache/pocl KEYWAY_MODULE_CACHE=$PWD/build/cache/modules
rm -rf build/cache
mkdir -p "$POCL_CACHE_DIR" "$KEYWAY_MODULE_CACHE"
for device in opencl:0 opencl:0 agpu:0 "${emulated_devices[@]}"; do
  conform "$device" --level "$whole_level"
done
for seed in "${seeds[@]}"; do
  conform cpu:0 --level "$whole_level" --seed "$seed"
done

step "races and bounds of the portable kernels"
scripts/races.sh

step "the PyTorch bridge"
integrations/pytorch/test.sh | tee build/logs/pytorch.log

step "the suite's own test: coverage and mutants of the reference"
mutation=0
scripts/mutation.sh >build/logs/mutation.log 2>&1 || mutation=$?
mutation_rows='what|result'$'\n'
mutation_rows+="lines of the reference reached|$(sed -n 's/^reached //p' build/logs/mutation.log)"$'\n'
mutation_rows+="mutants of the reference|$(sed -n 's/^killed /killed /p' build/logs/mutation.log)"$'\n'
mutation_rows+="mutants of the plugin|$(sed -n 's/^mutants: //p' build/logs/tests-release.log)"$'\n'

step "benchmarks"
quiet bench-dispatch build/release/bin/bench-dispatch
quiet bench-opencl "$keyway" bench --device opencl:0 --against raw --rounds 5

mkdir -p bench/results
{
  echo "# scripts/full.sh, $(date +%F)"
  echo
  echo "Commit $(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo ', with local changes'); $(nproc) CPUs:" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); $(gcc --version | head -n 1);" \
    "$(clang --version | head -n 1)."
  for table in "$(printf '%s' "$test_rows" | column_table)" "$(printf '%s' "$valgrind_rows" | column_table)" \
    "$(conform_table)" "$(cat build/logs/pytorch.log)" "$(printf '%s' "$mutation_rows" | column_table)" \
    "$(cat build/logs/bench-dispatch.log)" "$(cat build/logs/bench-opencl.log)"; do
    printf '\n```\n%s\n```\n' "$table"
  done
} >"$results"

say
cat "$results"
require_conformant
[ "$mutation" -eq 0 ] || die "scripts/mutation.sh failed" "All of its output is in build/logs/mutation.log."
"$keyway" report show build/reports/cpu-0-1.json --markdown >docs/cases.md
say
say "${bold}scripts/full.sh: all passed. $SECONDS s. Written to $results.$plain"
