#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/aarch64.sh
#
# The other host: builds for aarch64 with a cross compiler (build/aarch64) and runs what it made under qemu-user: the
# tests, but the mutants, those that read the tree, address_test and validation_address_test (terabytes of reserved
# addresses cost the emulator memory), loader_test and run_test: of a plugin that crashes the emulator speaks itself,
# and a stopped worker is another process to it; process_clock_test and soak_arenas_test, which would count the
# emulator's threads and the memory that it keeps for each; parallel_fork_test, since the emulator ends forked children
# that start threads; isolate_test and leaves_test, since it has neither ptrace nor processes that take in what others
# leave; and soak of the devices whose kernels are compiled as they go, since it keeps what it has translated. Then the
# level Core on cpu:0, and all that the example vendor's device claims. Memory order is this machine's. Tests start
# programs, so that the kernel has to know the emulator: it is told in a user namespace of the script's own, which takes
# Linux 6.7 and changes nothing outside; users other than root are not in it, and tests of files of theirs skip.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "packages"
scripts/setup.sh --aarch64

step "building for aarch64 (build/aarch64)"
build_preset aarch64

# The magic is that of ELF programs and libraries for aarch64, 64-bit and little-endian.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
rule=":aarch64:M::$magic:$mask:$(command -v qemu-aarch64):"
register='mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
  printf %s "$0" >/proc/sys/fs/binfmt_misc/register && exec "$@"'
emulator=(unshare --user --map-root-user --mount sh -c "$register" "$rule")
"${emulator[@]}" build/aarch64/bin/keyway --help >/dev/null ||
  die "programs for aarch64 do not run" "This takes qemu-user and Linux 6.7 with user namespaces and binfmt_misc."

step "the layout of the ABI, against this machine's"
scripts/abi_layout.py --against aarch64-linux-gnu-gcc | sed 's/^/    /'

step "tests"
left_out='loader|run|address|process_clock|soak_arenas|parallel_fork|parallel_fork_two_threads|isolate|leaves|validation_address'
quiet tests-aarch64 "${emulator[@]}" ctest --preset aarch64 -j "$jobs" --timeout 1200 --label-exclude 'mutants|scripts' \
  --exclude-regex "^((${left_out})_test|(cuda|hip|levelzero)_soak)\$"
sed -n -E 's/^([0-9]*% tests passed.*)$/    \1/p' build/logs/tests-aarch64.log

step "the conformance suite"
{
  echo '#!/usr/bin/env bash'
  echo "exec $(printf '%q ' "${emulator[@]}" "$PWD/build/aarch64/bin/keyway")" '"$@"'
} >build/aarch64/keyway
chmod +x build/aarch64/keyway
keyway=build/aarch64/keyway
vendor_npu=build/aarch64/examples/vendor_npu/vendor_npu.so
conform cpu:0 --timeout-scale 10 --level core
conform npu:0 --timeout-scale 10
conform_table
require_conformant
