#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/gpu_check.sh OUT [CONFORM OPTION...]
#        scripts/gpu_check.sh --pack
#
# On a machine with an NVIDIA GPU: builds what it needs (build/gpu), runs the conformance suite on cuda:0 at the level
# training, or as the options say, and the benchmark; about five minutes with 16 cores. Downloads nothing. Writes the
# whole results to the directory OUT and prints a short table last. Exit status 0: conformant, and the benchmark ran.
#
# The machine has the NVIDIA driver, NVRTC (of the CUDA toolkit), gcc, cmake and ninja. The packages pkg-config,
# libcjson-dev, libmd-dev and libcmocka-dev are taken from the system, or from build/packages, where --pack puts them on a
# machine that can download them: carry that directory over with the checkout.
#
# OUT/machine.txt    GPU, driver, processor
# OUT/doctor.txt     what Keyway found
# OUT/conform.json   the report; conform.txt is what it printed
# OUT/bench.json     the benchmark; bench.txt is its table
#
# Example: scripts/gpu_check.sh build/gpu-check
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
quiet build-gpu cmake --build build/gpu -j "$jobs" --target keyway_cli keyway-worker keyway_cpu keyway_cuda
keyway=$PWD/build/gpu/bin/keyway

step "devices"
"$keyway" doctor >"$out/doctor.txt" 2>&1 || true
"$keyway" list | tee "$out/list.txt" | sed 's/^/    /'
grep -q '^cuda:0 ' "$out/list.txt" || die "there is no cuda:0" \
  "$(grep -A 1 keyway_cuda.so "$out/doctor.txt" | tail -n 1 | sed 's/^ */keyway doctor says: /')"

# A process for each job has a context of its own on the GPU.
workers=$((jobs < 8 ? jobs : 8))
step "keyway conform --device cuda:0 ${options[*]}"
conformed=0
export KEYWAY_MODULE_CACHE=$PWD/build/gpu/modules
mkdir -p "$KEYWAY_MODULE_CACHE"
began=$SECONDS
timeout 420 "$keyway" conform --device cuda:0 --jobs "$workers" --json "$out/conform.json" "${options[@]}" \
  >"$out/conform.txt" 2>&1 || conformed=$?
conform_seconds=$((SECONDS - began))
[ "$conformed" -eq 0 ] || grep -E '^(fail|crash|timeout) ' "$out/conform.txt" | head -n 20 | sed 's/^/    /' || true

step "keyway bench --device cuda:0"
benched=0
timeout 120 "$keyway" bench --device cuda:0 >"$out/bench.txt" 2>&1 || benched=$?
timeout 60 "$keyway" bench --device cuda:0 --rounds 5 --json >"$out/bench.json" 2>>"$out/bench.txt" || benched=$?

say
cat "$out/bench.txt"
say
{
  echo 'device|verdict|runs on|pass|fail|crash|timeout|unimpl.|launches|time'
  row="cuda:0"
  if [ -s "$out/conform.json" ]; then
    row+="|$(json_member "$out/conform.json" verdict)"
    case $(json_member "$out/conform.json" emulated) in
      true) row+='|emulated' ;;
      *) row+='|hardware' ;;
    esac
    for count in pass fail crash timeout unimplemented launches; do row+="|$(json_member "$out/conform.json" "$count")"; done
  else
    row+="|no verdict (exit $conformed)|||||||"
  fi
  echo "$row|$conform_seconds s"
} | column_table
say
say "Results are in $out. $SECONDS s."
[ "$conformed" -eq 0 ] || die "cuda:0 is not conformant" "See $out/conform.txt; each failure there has the command that replays it."
[ "$benched" -eq 0 ] || die "the benchmark failed" "See $out/bench.txt."
