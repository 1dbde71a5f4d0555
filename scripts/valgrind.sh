#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/valgrind.sh
#
# select_device under valgrind, on the reference and on the example vendor's device, from the installed package: no
# error, and no leak.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "building (build/release), installing, building the examples from the package"
build_preset release
install_with_examples release

# An OpenCL driver's own leaks are not ours to report: the library looks for plugins in a copy without that backend.
step "select_device under valgrind"
rm -rf build/valgrind
cp -r build/installed build/valgrind
find build/valgrind -name 'keyway_opencl.so' -delete
library=$(find "$PWD/build/valgrind" -name 'libkeyway.so.1')
for device in cpu:0 npu:0; do
  plugin_arguments "$device"
  quiet "valgrind-${device%:*}" env LD_LIBRARY_PATH="$(dirname "$library")" \
    valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect \
    "$select_device" "${plugin[@]}" "$device"
  say "    select_device $device: no error, no leak"
done
