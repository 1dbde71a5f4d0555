#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/pytorch/wheels.sh [--draw] [VERSION...]
#
# Builds wheels of torch_keyway into build/wheels: for the minors of PyTorch in integrations/pytorch/versions, or for those named.
# Each is built, installed and tried in an environment of its own, build/pytorch-VERSION: four lines, and of the tests
# those of tensors, memory, training, graphs, compiled functions and what PyTorch builds on a device.
#
#   --draw   one of the minors but the newest, another one for each commit: what continuous integration does beside test.sh
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

mapfile -t versions <integrations/pytorch/versions
wanted=() draw=false
while [ $# -gt 0 ]; do
  case $1 in
    --draw) draw=true ;;
    [0-9]*.[0-9]*) wanted+=("$1") ;;
    *) no_arguments "$@" ;;
  esac
  shift
done
if $draw; then
  older=("${versions[@]:1}")
  part=$(share "${#older[@]}")
  wanted+=("${older[${part%/*} - 1]}")
fi
[ ${#wanted[@]} -gt 0 ] || wanted=("${versions[@]}")
unset KEYWAY_FALLBACK

step "packages"
scripts/setup.sh

step "building and installing Keyway"
build_preset release
install_with_examples release
export PKG_CONFIG_PATH=$PWD/build/installed/lib/pkgconfig MAX_JOBS=$jobs
mkdir -p build/wheels

for version in "${wanted[@]}"; do
  step "torch_keyway for PyTorch $version (build/pytorch-$version)"
  python_environment "pytorch-$version" "torch==$version.*" numpy 'setuptools>=77' wheel ninja pytest expecttest
  # setuptools builds beside what it is given, and would take another version's objects for its own.
  source=build/wheels/source-$version
  rm -rf "$source"
  cp -r integrations/pytorch "$source"
  rm -rf "$source/build"
  PATH=$environment/bin:$PATH quiet "pytorch-$version-wheel" "$python" -m pip wheel --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir build/wheels "$source"
  rm -rf "$source"
  wheel=$(ls build/wheels/torch_keyway-*+torch"$version"-*.whl)
  quiet "pytorch-$version-install" "$python" -m pip install --disable-pip-version-check --no-deps --force-reinstall "$wheel"
  say "    $wheel"
  for device in cpu opencl; do
    quiet "pytorch-$version-four-lines-$device" "$python" integrations/pytorch/tests/four_lines.py "$device"
  done
  quiet "pytorch-$version-tests" "$python" -m pytest -q -m 'not long' \
    integrations/pytorch/tests/test_{accelerator,compile,fallback,framework,graphs,sparse,tensors,training}.py
  sed -n '/^=* totals =*$/,$ { /^=/!s/^/    /p }' "build/logs/pytorch-$version-tests.log"
done
say "${bold}integrations/pytorch/wheels.sh: all passed. $SECONDS s.$plain"
