#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/weights.sh [MIB]
#
# Mapped weights beside weights that are read: writes a safetensors file of MIB MiB (default: 1024) under build/, runs
# layers from it on cpu:0 and opencl:0 with examples/weights, each figure a process of its own, the median of three, and
# prints a table of times without what building kernels took, and of peaks of resident memory.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

mib=${1:-1024}
[[ $mib =~ ^[0-9]+$ ]] || no_arguments "$mib"
no_arguments "${@:2}"

step "building (build/release)"
build_preset release
weights=build/release/bin/weights
file=build/weights.safetensors
trap 'rm -f "$file"' EXIT
step "writing $file, $mib MiB"
"$weights" --make "$mib" "$file" >/dev/null

# The middle one of three runs: milliseconds without building kernels, and MiB of peak resident memory.
measure() {
  local run
  for run in 1 2 3; do "$weights" "$@" "$file"; done |
    sed -n -E 's/.* in ([0-9.]+) ms, ([0-9.]+) ms .*peak resident ([0-9.]+) MiB.*/\1 \2 \3/p' |
    awk '{ print $1 - $2, $3 }' | sort -g | sed -n 2p
}

step "measuring"
printf '%-9s  %-10s  %-5s  %10s  %10s  %6s  %12s  %10s\n' device layers cache 'mapped, ms' 'read, ms' ratio \
  'mapped, MiB' 'read, MiB'
for device in cpu:0 opencl:0; do
  for layers in 1 0; do
    for cache in cold warm; do
      how=(--device "$device" --layers "$layers")
      [ "$cache" = warm ] || how+=(--cold)
      read -r mapped mapped_peak <<<"$(measure "${how[@]}")"
      read -r copied copied_peak <<<"$(measure "${how[@]}" --read)"
      printf '%-9s  %-10s  %-5s  %10.1f  %10.1f  %6.1f  %12.1f  %10.1f\n' "$device" "${layers/#0/all}" "$cache" "$mapped" \
        "$copied" "$(awk "BEGIN { print $copied / $mapped }")" "$mapped_peak" "$copied_peak"
    done
  done
  "$weights" --device "$device" --layers 0 --check "$file" | sed 's/^/    /'
done
