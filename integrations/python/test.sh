#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/python/test.sh [--count N]
#
# Builds and installs Keyway, makes a Python environment with NumPy and array-api-strict from PyPI in build/python, makes
# the wheel there by the commands of the README and runs that page; then the tests, from the wheel alone: of the
# package, and keyway.array_api beside array-api-strict on cpu:0, the example vendor's device (where cpu:0 may stand in)
# and opencl:0.
#
#   --count N   calls of each function (200 on cpu:0, a quarter of that elsewhere)
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

count=200
while [ $# -gt 0 ]; do
  case $1 in
    --count)
      [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die "--count takes a whole number from 1 on, not '${2-}'" "The default is $count."
      count=$2
      shift
      ;;
    *) no_arguments "$@" ;;
  esac
  shift
done
unset KEYWAY_FALLBACK KEYWAY_LIBRARY PYTHONPATH

step "packages"
scripts/setup.sh

step "NumPy and array-api-strict, in an environment of its own (build/python)"
python_environment python numpy array-api-strict

step "building and installing Keyway, the example vendor's plugin from the package"
build_preset release
install_with_examples release

step "the wheel, by the commands of its README, and the page"
export PATH=$environment/bin:$PATH
quiet python-readme python tests/pages_check.py . build/release integrations/python/README.md
sed 's/^/    /' build/logs/python-readme.log
"$python" -c 'import keyway, os; print("    installed:", os.path.relpath(keyway.__file__))'

step "tests"
KEYWAY_TEST_PLUGIN=$vendor_npu quiet python-tests "$python" integrations/python/tests/test_keyway.py
tail -n 3 build/logs/python-tests.log | sed 's/^/    /'

# differential DEVICE N [OPTION...]
differential() {
  local device=$1
  quiet "python-differential-${device%:*}" "$python" integrations/python/tests/differential.py --device "$device" \
    --count "$2" --seed "$(git rev-parse --short HEAD)" "${@:3}"
  tail -n 1 "build/logs/python-differential-${device%:*}.log" | sed 's/^/    /'
}

step "beside array-api-strict"
differential cpu:0 "$count"
differential npu:0 $(((count + 3) / 4)) --plugin "$vendor_npu"
if "$python" -c 'import keyway; keyway.device("opencl:0")' 2>"$PWD/build/logs/python-opencl.log"; then
  differential opencl:0 $(((count + 3) / 4))
else
  say "    opencl:0 is not here: $(tail -n 1 build/logs/python-opencl.log)"
fi
say "${bold}integrations/python/test.sh: all passed. $SECONDS s.$plain"
