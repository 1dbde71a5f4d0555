#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/demo.sh
#
# From a fresh clone to three unlike devices with proven numbers: installs missing packages, builds Keyway, builds the
# example vendor's plugin out of tree from the installed package, lists the devices, runs select_device on each by
# name, and runs the conformance suite on each. Ends with one table. Exit status 0: every device conformant.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

devices=(cpu:0 opencl:0 npu:0)

step "packages"
scripts/setup.sh --minimal

step "building Keyway (build/release)"
build_preset release

step "installing it (build/installed); building the example vendor and select_device from there"
install_with_examples release

step "devices"
plugin_arguments npu:0
"$keyway" list "${plugin[@]}"

step "y = x + x on each device, by name"
for device in "${devices[@]}"; do
  run_select_device "$device"
done

step "the conformance suite on each device: the contract, and what it claims (of opencl, a JIT: the level Core)"
for device in "${devices[@]}"; do
  case $device in
    opencl:*) conform "$device" --level core ;;
    *) conform "$device" ;;
  esac
done

say
conform_table
require_conformant
say
say "${bold}All ${#devices[@]} devices are conformant. $SECONDS s.$plain"
