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
packages=$SECONDS

step "building what a user needs of Keyway (build/user)"
build_preset user

step "installing it (build/installed); building the example vendor and select_device from there"
install_with_examples user

step "devices"
plugin_arguments npu:0
"$keyway" list "${plugin[@]}"

step "y = x + x on each device, by name"
for device in "${devices[@]}"; do
  run_select_device "$device"
done

step "the conformance suite on each device: the contract and the level Core; of the vendor's, what it claims"
for device in "${devices[@]}"; do
  case $device in
    npu:*) conform "$device" ;;
    *) conform "$device" --level core ;;
  esac
done

say
conform_table
require_conformant
say
say "${bold}All ${#devices[@]} devices are conformant. $((SECONDS - packages)) s, and $packages s for packages.$plain"
