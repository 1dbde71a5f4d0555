#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/attack.sh [--list] [--seconds N | --runs N | --whole] [ATTACK...]
#
# The attacks of tests/attack, all or those named, each for its part of the time. The README there says what each tries.
# Fails when one finds something; what is found replays by the line that tells of it.
#
#   --list        the names
#   --seconds N   about so long for all together, without building; 180 when nothing is given
#   --runs N      so many inputs for each fuzz target, and calls for each fuzzer of calls; sweeps as with --whole
#   --whole       whole sweeps instead of a share that the commit chooses; fuzzers for an hour together: hours in all
#
# What fuzz targets learn lies in build/attack/NAME, where the next run goes on from; what they find, beside it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

targets=(schema option device_name plugin_file facts isolate_manifest trust dlpack ring npy value trace capture protocol report known_failures
  package_manifest store)
sweeps=(sweep-cpu sweep-npu sweep-opencl sweep-levelzero sweep-cuda sweep-hip)
attacks=("${sweeps[@]}" commands calls-cpu calls-npu suite threads "${targets[@]/#/fuzz-}")

seconds=180 runs='' whole=''
while [ $# -gt 0 ]; do
  case $1 in
    --list) printf '%s\n' "${attacks[@]}"; exit ;;
    --seconds | --runs)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "$1 wants a number" "Run: $script --help"
      if [ "$1" = --runs ]; then runs=$2 whole=yes; else seconds=$2; fi
      shift
      ;;
    --whole) whole=yes seconds=3600 ;;
    -*) no_arguments "$1" ;;
    *) break ;;
  esac
  shift
done
for name in "$@"; do
  [[ " ${attacks[*]} " == *" $name "* ]] || die "knows no attack '$name'" "Run: $script --list"
done
[ $# -eq 0 ] || attacks=("$@")

wants() { [[ " ${attacks[*]} " == *" $1"* ]]; }

build=build/release
step "building"
build_preset release
if wants fuzz-; then build_preset fuzz; fi
if wants threads; then
  quiet configure-tsan cmake --preset tsan -DCMAKE_DISABLE_FIND_PACKAGE_OpenCL=ON
  quiet build-tsan cmake --build build/tsan -j "$jobs" --target attack_threads keyway_fixture_plain
fi

plugins=$build/lib/keyway/plugins npu=$build/examples/vendor_npu/vendor_npu.so
export KEYWAY_MODULE_CACHE=$PWD/build/attack/modules
mkdir -p "$KEYWAY_MODULE_CACHE"
fair=$((seconds / ${#attacks[@]})) # seconds for each
[ "$fair" -gt 0 ] || fair=1
failures=0

# attack NAME COMMAND...: runs it, shows the last line of what it says, and all of it when it fails.
attack() {
  local name=$1 log=build/logs/attack-$1.log began=$SECONDS
  shift
  mkdir -p build/logs
  if "$@" >"$log" 2>&1; then
    printf '    %-24s %s (%d s)\n' "$name" "$(grep -v '^emulated:' "$log" | tail -n 1)" $((SECONDS - began))
  else
    failures=$((failures + 1))
    printf '    %-24s FAILED\n' "$name"
    tail -n 40 "$log" >&2
  fi
}

# sweep KEY: as many calls as the time allows; a process takes some 50 ms, five times that with a test driver.
sweep() {
  local key=$1 parts=(--share "$(share $((1000 / fair + 1)))")
  local -a driver=() device=(--device "$key:0" --plugin "$plugins/keyway_$key.so" --host "$plugins/keyway_cpu.so" --other "$npu")
  case $key in
    cpu) device=(--device cpu:0 --plugin "$plugins/keyway_cpu.so" --other "$npu") ;;
    npu) device=(--device npu:0 --plugin "$npu" --host "$plugins/keyway_cpu.so"
      --other "$build/tests/plugins/keyway_fixture_texts.so") ;;
    opencl) parts=(--share "$(share $((10000 / fair + 1)))") ;;
    *)
      driver=(scripts/emulated.sh "$key")
      parts=(--share "$(share $((5000 / fair + 1)))")
      ;;
  esac
  [ -z "$whole" ] || parts=()
  attack "sweep-$key memory" "${driver[@]}" "$build/tests/attack/bin/attack_sweep" "${device[@]}" --memory "${parts[@]}"
  attack "sweep-$key calls" "${driver[@]}" "$build/tests/attack/bin/attack_sweep" "${device[@]}" --calls "${parts[@]}"
}

# What keyway's commands do, as many calls as the time allows: two commands for each, half a second.
commands() {
  local parts=(--share "$(share $((6000 / fair + 1)))")
  [ -z "$whole" ] || parts=()
  attack commands tests/attack/commands.py "$build" "${parts[@]}"
}

# fuzz TARGET
fuzz() {
  local -a limit=(-max_total_time="$fair")
  [ -z "$runs" ] || limit=(-runs="$runs")
  mkdir -p "build/attack/$1"
  attack "fuzz-$1" "build/fuzz/tests/fuzz/fuzz_$1" "${limit[@]}" -max_len=4096 -timeout=20 -rss_limit_mb=2048 \
    -artifact_prefix="build/attack/$1-" "build/attack/$1" "tests/attack/fuzz/corpus/$1"
}

# The suite's own calls, changed before each: its verdict is on those that are not. Some calls take long.
suite() {
  local parts seed=$((0x$(git rev-parse --short=7 HEAD)))
  parts=$(share $((4096 / (fair + 1) + 1)))
  [ -z "$whole" ] || parts=1/1
  rm -f build/attack/suite.log
  attack suite env LD_PRELOAD="$PWD/$build/tests/attack/libkeyway_mutate.so" KEYWAY_MUTATE="$seed" \
    KEYWAY_MUTATE_LOG="$PWD/build/attack/suite.log" "$build/bin/keyway" conform --device cpu:0 --suite ops \
    --shard "$parts" --timeout-scale 10
  ! grep ': status' build/attack/suite.log || failures=$((failures + 1))
  awk '/^the worker made/ { made += $4; taken += $10 } END { printf "    %-24s %d changed calls, %d accepted\n", "", made, taken }' \
    build/attack/suite.log
}

step "attacking: about ${fair} s each"
for name in "${attacks[@]}"; do
  case $name in
    sweep-*)
      if [ -e "$plugins/keyway_${name#*-}.so" ] || [ "$name" = sweep-npu ]; then sweep "${name#*-}"; fi
      ;;
    commands) commands ;;
    calls-*)
      limit=(--calls 1000000000 --seconds "$fair")
      [ -z "$runs" ] || limit=(--calls "$runs")
      attack "$name" "$build/tests/attack/attack_calls" --plugin "$npu" --device "${name#*-}:0" \
        --seed $((0x$(git rev-parse --short=7 HEAD))) "${limit[@]}"
      ;;
    suite) suite ;;
    threads)
      attack threads build/tsan/tests/attack/attack_threads $((fair * 10)) \
        --plugin build/tsan/examples/vendor_npu/vendor_npu.so \
        --plugin build/tsan/tests/plugins/keyway_fixture_plain.so cpu:0 npu:0 plain:0 plain:1
      ;;
    fuzz-*) fuzz "${name#*-}" ;;
  esac
done
[ "$failures" -eq 0 ] || die "$failures attacks found something (above)" "Their output is in build/logs/attack-*.log."
say "    nothing found"
