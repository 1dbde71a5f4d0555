#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/opencl.sh pocl|intel|rusticl|all COMMAND [ARGUMENT...]
#
# Runs a command with one OpenCL driver, whatever others the system has, or with all three. Each runs kernels on the CPU.
# `keyway` is build/release's. A driver that is not there yet is brought first, into build/drivers, where no other
# program finds it.
#
#   pocl      the system's, Debian's package pocl-opencl-icd
#   intel     Intel's CPU runtime, from PyPI (intel-opencl-rt, 830 MB unpacked)
#   rusticl   Mesa's, on llvmpipe; Debian's package mesa-opencl-icd, unpacked. It is told to be offered, which it is not
#             by default (backends/opencl/quirk.c)
#   all       these three, each with a device
#
# Example: scripts/opencl.sh intel keyway conform --device opencl:0 --level core
set -euo pipefail
caller=$PWD
. "$(dirname "$0")/lib.sh"

intel_packages=(intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0)
drivers=$PWD/build/drivers

name=${1-}
[ "$name" != --help ] || no_arguments --help
[ $# -ge 2 ] || die "wants a driver and a command" "Run: $script --help"
shift

# offer NAME LIBRARY: the file that tells the loader of a driver's library, in a folder of its own. Written last: where
# it is, the driver is there.
offer() {
  mkdir -p "$drivers/$1.icd"
  printf '%s\n' "$2" >"$drivers/$1.icd/$1.icd"
}

bring_pocl() {
  local library
  library=$(cat /etc/OpenCL/vendors/pocl.icd 2>/dev/null) || die "there is no PoCL" "Run: scripts/setup.sh"
  offer pocl "$library"
}

bring_intel() {
  quiet opencl-intel-venv python3 -m venv "$drivers/intel"
  quiet opencl-intel-pip "$drivers/intel/bin/python" -m pip install --disable-pip-version-check --no-compile \
    --progress-bar off "${intel_packages[@]}"
  offer intel "$drivers/intel/lib/libintelocl.so"
}

# Its compiler's library of built-ins has to lie where the package libclc-15 puts it.
bring_rusticl() {
  local library=usr/lib/x86_64-linux-gnu/libRusticlOpenCL.so.1
  scripts/setup.sh --rusticl
  rm -rf "$drivers/rusticl"
  mkdir -p "$drivers/rusticl"
  (cd "$drivers/rusticl" && apt-get download -q mesa-opencl-icd && dpkg -x mesa-opencl-icd_*.deb .) \
    >build/logs/opencl-rusticl.log 2>&1 || die "mesa-opencl-icd could not be fetched" "See build/logs/opencl-rusticl.log"
  offer rusticl "$drivers/rusticl/$library"
}

case $name in
  pocl | intel | rusticl) wanted=("$name") ;;
  all) wanted=(pocl intel rusticl) ;;
  *) die "has no OpenCL driver '$name'" "Run: $script --help" ;;
esac
mkdir -p build/logs
for driver in "${wanted[@]}"; do
  [ -e "$drivers/$driver.icd/$driver.icd" ] || "bring_$driver"
  if [ "$driver" = rusticl ]; then
    export RUSTICL_ENABLE=llvmpipe GALLIUM_PIPE_SEARCH_DIR=$drivers/rusticl/usr/lib/x86_64-linux-gnu/gallium-pipe
    export KEYWAY_OPTIONS="${KEYWAY_OPTIONS:+$KEYWAY_OPTIONS;}keyway.opencl.offer=rusticl"
  fi
done
export OCL_ICD_VENDORS=$drivers/$name.icd
if [ "$name" = all ]; then
  mkdir -p "$OCL_ICD_VENDORS"
  for driver in "${wanted[@]}"; do cp "$drivers/$driver.icd/$driver.icd" "$OCL_ICD_VENDORS"; done
fi
bin=$PWD/build/release/bin
cd "$caller"
PATH=$bin:$PATH exec "$@"
