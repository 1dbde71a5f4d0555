#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/gpu_check.sh OUT [CONFORM OPTION...]
#        scripts/gpu_check.sh --pack
#
# On a machine with an NVIDIA GPU: builds what it needs (build/gpu), runs the conformance suite at the level training, or
# as the options say, and the benchmark on cuda:0, then on hip:0, where a library for tests serves the HIP runtime's calls
# from the CUDA driver. Takes ten minutes at most, about five with 16 cores; what is not through by then has no verdict.
# Downloads nothing. Writes the whole results to the directory OUT and prints a short table last. Exit status 0: both
# are conformant, and the benchmarks ran.
#
# The machine has the NVIDIA driver, NVRTC (of the CUDA toolkit), gcc, cmake and ninja. The packages pkg-config,
# libcjson-dev, libmd-dev and libcmocka-dev are taken from the system, or from build/packages, where --pack puts them on a
# machine that can download them: carry that directory over with the checkout.
#
# OUT/machine.txt         GPU, driver, processor
# OUT/doctor.txt          what Keyway found; list.txt: its devices
# OUT/DEVICE/conform.json   the report; conform.txt is what it printed. DEVICE: cuda, hip
# OUT/DEVICE/ops.json       its kernels, those that are off among them
# OUT/DEVICE/bench.json     the benchmark; bench.txt is its table
#
# scripts/hardware_pending.py --submit OUT takes what was found of kernels that waited for hardware into the tree.
#
# Example: scripts/gpu_check.sh build/gpu-check
# Example: scripts/emulated.sh cuda scripts/gpu_check.sh build/gpu-check --case 'mul.*/f32/prime/1'
#          goes through all of it without a GPU, except for the benchmarks
set -euo pipefail
caller=$PWD
. "$(dirname "$0")/lib.sh"

packages=build/packages

# pack: the packages that the build needs, unpacked into build/packages.
pack() {
  local archives
  command -v apt-get >/dev/null || die "this is not a Debian system: there is no apt-get"
  archives=$(mktemp -d)
  (cd "$archives" && download pkgconf pkgconf-bin libpkgconf3 libcjson1 libcjson-dev libmd0 libmd-dev libcmocka0 libcmocka-dev)
  rm -rf "$packages"
  mkdir -p "$packages"
  for archive in "$archives"/*.deb; do dpkg-deb --extract "$archive" "$packages"; done
  rm -r "$archives"
  say "$(du -sh "$packages" | cut -f1) in $packages"
}
download() {
  apt-get download "$@" >download.log 2>&1 || {
    cat download.log >&2
    die "apt-get download failed (above)"
  }
}

# use_packages: makes the build find what lies in build/packages, where the system lacks it.
use_packages() {
  ! pkg-config --exists libcjson libmd cmocka 2>/dev/null || return 0
  [ -d "$packages" ] || die "the packages libcjson-dev, libmd-dev, libcmocka-dev or pkg-config are missing" \
    "Install them, or run scripts/gpu_check.sh --pack where packages can be downloaded and carry build/packages over."
  local root=$PWD/$packages libraries
  libraries=$(find "$root/usr/lib" -name 'libcjson.so.1' -printf '%h' | head -n 1)
  export PATH=$root/usr/bin:$PATH LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$root/usr/share/pkgconfig
  export PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 # of the sysroot, which is none of the machine's
}

case ${1-} in
  --help) no_arguments --help ;;
  --pack)
    pack
    exit
    ;;
  '' | -*) die "wants a directory for the results" "Run: $script --help" ;;
esac
out=$(cd "$caller" && mkdir -p "$1" && cd "$1" && pwd)
shift
options=("$@")
[ ${#options[@]} -gt 0 ] || options=(--level training)

step "the machine"
{
  nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap,clocks.max.sm,power.limit --format=csv 2>&1 ||
    echo "nvidia-smi does not run"
  grep -m 1 '^model name' /proc/cpuinfo || true
  echo "$jobs processors; commit $(git describe --always --dirty 2>/dev/null || echo unknown)"
} >"$out/machine.txt"
sed 's/^/    /' "$out/machine.txt"

step "building (build/gpu)"
use_packages
quiet configure-gpu cmake -G Ninja -B build/gpu -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
quiet build-gpu cmake --build build/gpu -j "$jobs" \
  --target keyway_cli keyway-worker keyway_cpu keyway_cuda keyway_hip keyway_hip_shim
keyway=$PWD/build/gpu/bin/keyway
export LD_LIBRARY_PATH=$PWD/build/gpu/tests/hip_through_cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export KEYWAY_MODULE_CACHE=$PWD/build/gpu/modules
mkdir -p "$KEYWAY_MODULE_CACHE"

step "devices"
"$keyway" doctor >"$out/doctor.txt" 2>&1 || true
"$keyway" list | tee "$out/list.txt" | sed 's/^/    /'
for device in cuda hip; do
  grep -q "^$device:0 " "$out/list.txt" || die "there is no $device:0" \
    "$(grep -m 1 -A 1 "keyway_$device.so" "$out/doctor.txt" | tail -n 1 | sed 's/^ */keyway doctor says: /')"
done

# within SECONDS COMMAND...: ends the command when so few are left of the ten minutes.
within() {
  local left=$((590 - SECONDS - $1))
  shift
  timeout "$((left > 1 ? left : 1))" "$@"
}

# A process for each job has a context of its own on the GPU.
workers=$((jobs < 8 ? jobs : 8))
rows='device|verdict|runs on|pass|fail|crash|timeout|unimpl.|launches|time'$'\n'
failed=()

# check DEVICE SECONDS: the suite and the benchmark, with so much time left for what follows.
check() {
  local device=$1 reserve=$2 into=$out/${1%:*} began=$SECONDS status=0 count
  mkdir -p "$into"
  rm -f "$into"/*
  "$keyway" ops --json --device "$device" >"$into/ops.json"
  step "keyway conform --device $device ${options[*]}"
  within "$((reserve + 60))" "$keyway" conform --device "$device" --jobs "$workers" --json "$into/conform.json" \
    "${options[@]}" >"$into/conform.txt" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    failed+=("$device is not conformant: $into/conform.txt has of each failure the command that replays it")
    grep -E '^(fail|crash|timeout) ' "$into/conform.txt" | head -n 20 | sed 's/^/    /' || true
  fi
  if [ -s "$into/conform.json" ]; then
    rows+="$device|$(json_member "$into/conform.json" verdict)"
    case $(json_member "$into/conform.json" emulated) in
      true) rows+='|emulated' ;;
      *) rows+='|hardware' ;;
    esac
    for count in pass fail crash timeout unimplemented launches; do
      rows+="|$(json_member "$into/conform.json" "$count")"
    done
  else
    tail -n 5 "$into/conform.txt" | sed 's/^/    /'
    rows+="$device|no verdict (exit $status)|||||||"
  fi
  rows+="|$((SECONDS - began)) s"$'\n'
  if grep -q "^$device .*\[emulated\]" "$out/list.txt"; then
    say "    no benchmark: $device is emulated, and its times would say nothing"
    return
  fi

  step "keyway bench --device $device"
  if within "$reserve" "$keyway" bench --device "$device" >"$into/bench.txt" 2>&1 &&
    within "$reserve" "$keyway" bench --device "$device" --rounds 5 --json >"$into/bench.json" 2>>"$into/bench.txt"; then
    sed 's/^/    /' "$into/bench.txt"
  else
    failed+=("the benchmark on $device failed: $into/bench.txt")
  fi
}
check cuda:0 200
check hip:0 0

say
printf '%s' "$rows" | column_table
say
say "Results are in $out. $SECONDS s."
[ ${#failed[@]} -eq 0 ] || die "$(printf '%s\n' "${failed[@]}")"
