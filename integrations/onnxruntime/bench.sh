#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/onnxruntime/bench.sh [OPTION of tests/bench.py]... [MODEL]...
#
# What a run of each model that test.sh has exported costs: by ONNX Runtime on a Keyway device, on ONNX Runtime's CPU, and by
# torch_keyway on the same device, a table of ratios. In the environments that test.sh has made, torch_keyway installed into the
# exporter's.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"
[ "${1-}" != --help ] || { script_usage; exit 0; }

onnxruntime=build/onnxruntime/bin/python exporter=build/onnxruntime-exporter
for each in "$onnxruntime" $exporter/models; do
  [ -e "$each" ] || die "there is no $each" "Run: integrations/onnxruntime/test.sh"
done
python_environment onnxruntime-exporter 'setuptools>=77' wheel ninja
PATH=$environment/bin:$PATH MAX_JOBS=$jobs PKG_CONFIG_PATH=$PWD/build/installed/lib/pkgconfig \
  quiet onnxruntime-bench-bridge "$python" -m pip install --disable-pip-version-check --no-build-isolation integrations/pytorch
"$onnxruntime" -W ignore integrations/onnxruntime/tests/bench.py $exporter/models --torch "$python" "$@"
