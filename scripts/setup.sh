#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/setup.sh [--minimal] [--aarch64] [--rusticl] [--browser] [--packages] [--peers] [--print]
#
# Installs the Debian packages that Keyway's build and tests need and this machine lacks, with apt-get (through sudo
# when not root). Says which. Does nothing, fast, when all are there.
#
#   --minimal   only what building and the demo need: no second compiler, no other backend's, no valgrind
#   --aarch64   also what the preset aarch64 and its tests need: a cross compiler, libraries for arm64 (which apt-get is
#               told to offer) and an emulator
#   --rusticl   also what scripts/opencl.sh rusticl needs where it lies: a compiler's library
#   --browser   also what scripts/phone.sh looks at pages with
#   --packages  also what Debian packages, the site and what tries them need (scripts/packages.sh, docs)
#   --peers     also what `keyway bench --against` compares with of Debian's
#   --print     print the packages, one a line, and install nothing
set -euo pipefail
. "$(dirname "$0")/lib.sh"

minimal=(
  gcc libc6-dev binutils make cmake ninja-build pkg-config libcjson-dev libmd-dev libcmocka-dev libseccomp-dev
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd libsleef-dev
)
rest=(
  libclblast-dev libze-dev clang-15 llvm-spirv-15 lld-15 spirv-tools
  g++ clang clang-format valgrind oclgrind libdlpack-dev libxml2-utils minisign libsodium23 perl lcov abigail-tools
  git python3 python3-dev python3-numpy python3-venv
  libamdhip64-5 libhiprtc-builtins5 libdnnl2 meson
)
aarch64=(
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libcjson-dev:arm64 libmd-dev:arm64 libcmocka-dev:arm64 libsleef-dev:arm64
  libsodium23:arm64 qemu-user
)

packaging=(debhelper dpkg-dev fakeroot lintian debootstrap python3-sphinx python3-myst-parser furo)

packages=("${minimal[@]}" "${rest[@]}") more=() print=false
for argument; do
  case $argument in
    --minimal) packages=("${minimal[@]}") ;;
    --aarch64) more+=("${aarch64[@]}") ;;
    --rusticl) more+=(libclc-15) ;;
    --browser) more+=(chromium) ;;
    --packages) more+=("${packaging[@]}") ;;
    --peers) more+=(libopenblas0-pthread) ;;
    --print) print=true ;;
    *) no_arguments "$argument" ;;
  esac
done
packages+=("${more[@]}")

if $print; then
  printf '%s\n' "${packages[@]}"
  exit
fi
command -v apt-get >/dev/null ||
  die "this is not a Debian system: there is no apt-get" "Install what corresponds to: ${packages[*]}"

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}:${Architecture}\n' | sed -n 's/^installed //p')
native=$(dpkg --print-architecture)
# is_installed PACKAGE[:ARCHITECTURE]: of this machine's architecture where it names none.
is_installed() {
  case $1 in
    *:*) grep -qxF "$1" <<<"$installed" ;;
    *) grep -qxF -e "$1:$native" -e "$1:all" <<<"$installed" ;;
  esac
}
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    die "packages are missing, and this is neither root nor is there sudo" "As root: apt-get install ${missing[*]}"
  as_root=(sudo)
fi
say "installing: ${missing[*]}"
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >build/logs/apt.log 2>&1
}
mkdir -p build/logs
if [[ " ${more[*]} " == *:arm64\ * ]] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
  "${as_root[@]}" dpkg --add-architecture arm64
fi
install || {
  say "apt-get knows too little; updating its lists"
  quiet apt-update "${as_root[@]}" apt-get update -qq
  install || {
    tail -n 20 build/logs/apt.log >&2
    die "apt-get install failed; its last lines are above" "All of its output is in build/logs/apt.log."
  }
}
