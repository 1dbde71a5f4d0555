#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/instructions.sh [--only PATTERN] [--accept]
#
# What the kernel pack compiles to for GPUs that this machine need not have may not get worse: compiles every program
# and holds each kernel against bench/results/instructions.tsv. Fails where one has fewer matrix instructions, vector
# loads or asynchronous loads than there, spills more, or leaves room for less than three quarters of the items.
#
#   nvrtc-11.8-sm_80, nvrtc-13.5-sm_90   by an old NVRTC and a new one, each from PyPI in build/nvrtc
#   hiprtc-5.2-gfx90a                    by the installed hipRTC (Debian: libamdhip64-5), read by llvm-objdump
#   spirv-1.0                            by clang and llvm-spirv, whole programs, validated: what levelzero brings
#
#   --only PATTERN   of the programs with such names: --only 'matmul*'
#   --accept         takes what there is now into the table
#
# The table's columns, of each kernel: registers of an item (AMD's: vector registers), bytes spilt, bytes of local
# memory, items of a group; occupancy, computed of these: the part of all items that may be under way; how many
# instructions load vectors from global memory (ld.global.v2, .v4; global_load_dwordx2 and up, which are 64-bit
# integers, too), load to local memory while others run (cp.async; global_load_lds), and multiply matrices (mma, wgmma,
# wmma; v_mfma, v_wmma), by dtype. "-" stands for what is not known or not there.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

only='*' accept=()
while [ $# -gt 0 ]; do
  case $1 in
    --only)
      only=${2-}
      [ -n "$only" ] || die "--only wants a pattern" "Run: $script --help"
      shift
      ;;
    --accept) accept=(--accept) ;;
    *) no_arguments "$1" ;;
  esac
  shift
done

folder=build/instructions
rm -rf "$folder"
mkdir -p "$folder" build/logs

step "NVRTC from PyPI (build/nvrtc)"
targets=()
nvrtc_from_pypi "$nvrtc_new"
targets+=("nvrtc-$nvrtc_version-sm_90 cuda $nvrtc")
nvrtc_from_pypi "$nvrtc_old"
targets+=("nvrtc-$nvrtc_version-sm_80 cuda $nvrtc")

step "building (build/release)"
quiet configure-release cmake --preset release
quiet build-instructions cmake --build --preset release -j "$jobs" --target keyway-gpu-compile
spirv=() binaries=build/release/backends/levelzero/spirv
if [ -d "$binaries" ]; then
  quiet build-spirv cmake --build --preset release -j "$jobs" --target keyway_levelzero
  spirv=(--spirv "$binaries")
else
  say "    spirv-1.0: skipped: Debian's clang-15, llvm-spirv-15 and libze-dev are not all installed"
fi

# compile TARGET RUNTIME LIBRARIES: into $folder/TARGET, whose last part is the architecture.
compile() {
  local into=$folder/$1 status=0
  mkdir -p "$into"
  LD_LIBRARY_PATH=$3${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} build/release/bin/keyway-gpu-compile "$2" "${1##*-}" "$into" \
    "$only" >"$into/kernels" 2>"build/logs/instructions-$1.log" || status=$?
  say "    $1: $(wc -l <"$into/kernels") kernels, $SECONDS s"
  return "$status"
}

# The path of hipRTC has its version: libamdhip64.so.5.2.21153.
hiprtc=$(ldconfig -p | sed -n -E 's/.* => (.*(libhiprtc|libamdhip64)\.so\.[0-9]+)$/\1/p' | head -n 1)
if [ -z "$hiprtc" ]; then
  say "    hipRTC: skipped: not installed (Debian: libamdhip64-5)"
elif ! command -v llvm-objdump-14 llvm-objdump-15 llvm-objdump >/dev/null; then
  say "    hipRTC: skipped: no llvm-objdump, which reads its code (Debian: llvm-15)"
else
  version=$(readlink -f "$hiprtc" | sed -E 's/.*\.so\.([0-9]+\.[0-9]+).*/\1/')
  targets+=("hiprtc-$version-gfx90a hip $(dirname "$hiprtc")")
fi

step "compiling (${#targets[@]} targets)"
export -f compile say
export folder only
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -L 1 bash -c 'compile "$@"' _ ||
  die "not every program compiles" "The compilers' messages are in build/logs/instructions-*.log."

step "holding it against bench/results/instructions.tsv"
status=0
scripts/instructions.py bench/results/instructions.tsv "$folder" "${spirv[@]}" --only "$only" "${accept[@]}" \
  >build/instructions/summary || status=$?
column_table <build/instructions/summary
[ ${#accept[@]} -eq 0 ] || say "docs/hardware-pending.md shows some of it: scripts/hardware_pending.py writes it anew."
exit "$status"
