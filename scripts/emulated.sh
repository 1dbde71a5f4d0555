#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/emulated.sh [--build DIRECTORY] cuda|hip|levelzero COMMAND [ARGUMENT...]
#
# Runs a command with a test driver in place: a shared library that stands where the vendor's driver would and runs
# compiled kernels on the CPU. The backend's device is then there, and says `emulated` wherever it shows. `keyway` is the
# build's own. Says at the end, on stderr, how many launches of kernels there were.
#
#   cuda        libcuda and libnvrtc
#   hip         libamdhip64 and libhiprtc
#   levelzero   behind the real loader (package libze1), as an alternative driver
#   --build     where Keyway was built; build/release when it is not given
#
# KEYWAY_ENGINE_DEVICES=N       N devices
# KEYWAY_ENGINE_FAULT=LIST      faults, separated by commas: alloc:N, the N-th allocation fails; launch:N, the N-th launch
#                               is refused; late:N, it fails while it runs; lost:N, the device is lost at it. A program
#                               may also order them while it runs: keyway/test.h
#
# Example: scripts/emulated.sh levelzero keyway conform --device levelzero:0 --level core
set -euo pipefail
caller=$PWD
. "$(dirname "$0")/lib.sh"

build=build/release
if [ "${1-}" = --build ]; then
  build=${2-}
  [ -d "$build" ] || build=$caller/$build
  [ -d "$build" ] || die "--build names no directory: '${2-}'" "Run: $script --help"
  shift 2
fi
driver=${1-}
[ "$driver" != --help ] || no_arguments --help
[ $# -ge 2 ] || die "wants a driver and a command" "Run: $script --help"
shift
build=$(realpath "$build")

# in_place FILE: the test driver, which the build has made.
in_place() {
  [ -e "$build/tests/$1" ] || die "there is no $build/tests/$1: the test driver was not built" \
    "Run: scripts/setup.sh, and build again; the feature table at the end of cmake's output names what is missing."
}

case $driver in
  cuda | hip)
    in_place emulated/$driver
    export LD_LIBRARY_PATH=$build/tests/emulated/$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    ;;
  levelzero)
    in_place keyway_ze_emulated.so
    export ZE_ENABLE_ALT_DRIVERS=$build/tests/keyway_ze_emulated.so
    ;;
  *) die "has no test driver '$driver'" "Run: $script --help" ;;
esac

KEYWAY_ENGINE_COUNT=$(mktemp)
export KEYWAY_ENGINE_COUNT
trap 'rm -f "$KEYWAY_ENGINE_COUNT"' EXIT
cd "$caller"
status=0
PATH=$build/bin:$PATH "$@" || status=$?
awk '{ count += $1 } END { printf "emulated: the test driver ran %.0f launches\n", count }' "$KEYWAY_ENGINE_COUNT" >&2
exit "$status"
