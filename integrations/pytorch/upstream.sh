#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/pytorch/upstream.sh [--date DATE] [--files FOLDER [--release NAME] [--most N]]
#
# Runs PyTorch's own tests on devices of Keyway and writes what became of them to bench/results, with denominators.
#
# DATE-pytorch-level-one.md: of what the wheel ships. Every sample of the databases of operators, modules and optimizers in f32,
# i64, bool and bf16 on cpu, one in four on opencl; the classes of tests for torch.distributed. Half an hour.
#
# DATE-pytorch-upstream.md, with --files: of the test files, which no wheel has. FOLDER is the `test` folder of PyTorch's sources,
# outside this tree, of the release that is installed or the nearest one. Hours with all of the tests.
#
#   --date DATE      of the pages' names (today)
#   --release NAME   of the sources that FOLDER is from, for the page
#   --most N         no more than N tests of each file, drawn by chance (all of them)
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

date=$(date +%F) folder="" release="an unnamed release" most=0
while [ $# -gt 0 ]; do
  case $1 in
    --date | --files | --release | --most)
      [ -n "${2-}" ] || die "$1 takes a value." "See the top of this script."
      case $1 in
        --date) date=$2 ;;
        --files) folder=$(cd "$2" && pwd) ;;
        --release) release=$2 ;;
        --most) most=$2 ;;
      esac
      shift
      ;;
    *) no_arguments "$@" ;;
  esac
  shift
done
unset KEYWAY_FALLBACK

integrations/pytorch/test.sh --four-lines
python=$PWD/build/pytorch/bin/python
out=$PWD/build/upstream
mkdir -p "$out"

step "what the tests need beside PyTorch"
quiet upstream-pip "$python" -m pip install --disable-pip-version-check --no-compile --progress-bar off \
  pytest expecttest hypothesis scipy

# counted LOG FILE PYTEST ARGUMENT...: pytest, which writes FILE. What fails is on the page, and does not end this script.
counted() {
  local log=build/logs/$1.log file=$2
  shift 2
  rm -f "$file"
  "$python" -m pytest -q "$@" >"$log" 2>&1 || [ -s "$file" ] || die "pytest wrote no $file" "All of its output is in $log."
}

# samples DEVICE N: one in N of the databases.
samples() {
  step "samples on $1, one in $2"
  counted "upstream-$1" "$out/$1.json" integrations/pytorch/tests/opinfo/test_{opinfo,module_db,optim_db}.py \
    --device "$1" --every "$2" --dtypes f32,i64,bool,bf16 --counts "$out/$1.json"
}
samples cpu 1
samples opencl 4

step "classes of torch.distributed"
counted upstream-classes "$out/classes.xml" --noconftest -p no:cacheprovider --junitxml="$out/classes.xml" \
  integrations/pytorch/tests/upstream
"$python" integrations/pytorch/tests/upstream/pages.py level-one "$date" "$out/cpu.json" "$out/opencl.json" "$out/classes.xml" \
  >"bench/results/$date-pytorch-level-one.md"

if [ -n "$folder" ]; then
  step "test files of $release"
  "$python" integrations/pytorch/tests/upstream/files.py "$folder" "$out/files.json" --most "$most"
  installed=$("$python" -c 'import torch; print(torch.__version__)')
  "$python" integrations/pytorch/tests/upstream/pages.py upstream "$date" "$out/files.json" \
    "The files of $release with the wheel of PyTorch $installed." >"bench/results/$date-pytorch-upstream.md"
fi
say "${bold}integrations/pytorch/upstream.sh: the pages are bench/results/$date-pytorch-*.md. $SECONDS s.$plain"
