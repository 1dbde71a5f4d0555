#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/aarch64.sh
#
# The other host: builds for aarch64 with a cross compiler (build/aarch64) and runs what it made under qemu-user: the
# tests, but the mutants, those that read the tree, and those of the engine in which the emulated compiler's start fails
# now and then; the contract suites and the level Core on cpu:0 and on the example
# vendor's device. proot gives the emulator every program that one of them starts. Memory order is this machine's.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "packages"
scripts/setup.sh --aarch64

step "building for aarch64 (build/aarch64)"
build_preset aarch64

emulator=(proot -q qemu-aarch64)

step "the layout of the ABI, against this machine's"
scripts/abi_layout.py --against aarch64-linux-gnu-gcc | sed 's/^/    /'

step "tests"
quiet tests-aarch64 "${emulator[@]}" ctest --preset aarch64 -j "$jobs" --timeout 1200 --label-exclude 'mutants|scripts' \
  --exclude-regex '^(engine_conform|cuda_ops|hip_ops)$'
sed -n -E 's/^([0-9]*% tests passed.*)$/    \1/p' build/logs/tests-aarch64.log

step "the conformance suite"
cat >build/aarch64/keyway <<SCRIPT
#!/bin/sh
exec ${emulator[*]} "$PWD/build/aarch64/bin/keyway" "\$@"
SCRIPT
chmod +x build/aarch64/keyway
keyway=build/aarch64/keyway
vendor_npu=build/aarch64/examples/vendor_npu/vendor_npu.so
for device in cpu:0 npu:0; do
  conform "$device" --timeout-scale 10 --level core
done
conform_table
require_conformant
