#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/test.sh
#
# What has to pass before a change goes in: formatting, build with gcc, the tests, and the conformance suite: on the
# example vendor's device in full, the level Core on the reference and on OpenCL. What takes longer is in blocks of its
# own (scripts/blocks.list): the build with clang, tests on emulated runtimes, long ones, all of the suite.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "packages"
scripts/setup.sh

step "formatting"
check_format

step "building with gcc (build/release)"
build_preset release

step "tests, but those that the next steps and the blocks emulated-tests and long-tests do"
run_tests release --label-exclude '^(abi|mutants|cuda|hip|levelzero|long)$'

mutants=$(share 32)
step "mutants, share $mutants by the commit; scripts/mutants.sh tries all"
quiet mutants scripts/mutants.sh --share "$mutants"
tail -n 2 build/logs/mutants.log

step "the ABI against what is frozen"
scripts/abi_gate.sh

step "installing; building the examples from the package"
install_with_examples release

step "an application and a plugin from the package, by CMake, pkg-config, make and Meson"
quiet consumers tests/consumers/check.sh "$keyway" examples build/consumers "$PWD/build/installed"

step "models"
for device in cpu:0 npu:0; do
  run_models "$device"
done

step "the conformance suite"
for device in cpu:0 opencl:0 npu:0; do
  run_select_device "$device"
done
conform npu:0
for device in cpu:0 opencl:0; do
  conform "$device" --level core
done

step "the suite from the package alone, in a root of its own"
scripts/installed.sh

say
conform_table
require_conformant
say
say "${bold}scripts/test.sh: all passed. $SECONDS s.$plain"
