#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: integrations/python/upstream.sh FOLDER [--date DATE] [--examples N]
#
# Runs array-api-tests, the standard's own test suite, on keyway.array_api with cpu:0, opencl:0 and the example vendor's
# device as the default one, and writes what became of them to bench/results/DATE-array-api-tests.md. FOLDER is a checkout
# of the suite with its submodule array-api, outside this tree: no registry has it. integrations/python/test.sh has made
# the environment before.
#
#   --date DATE    of the page's name (today)
#   --examples N   of Hypothesis, for each test (20)
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

folder="" date=$(date +%F) examples=20
while [ $# -gt 0 ]; do
  case $1 in
    --date | --examples)
      [ -n "${2-}" ] || die "$1 takes a value." "See the top of this script."
      case $1 in
        --date) date=$2 ;;
        --examples) examples=$2 ;;
      esac
      shift
      ;;
    -*) no_arguments "$@" ;;
    *) folder=$(cd "$1" && pwd) ;;
  esac
  shift
done
[ -d "$folder/array_api_tests" ] || die "FOLDER has no array_api_tests in it" "See the top of this script."
unset KEYWAY_LIBRARY PYTHONPATH
python=$PWD/build/python/bin/python
[ -x "$python" ] || die "there is no $python" "Run integrations/python/test.sh first."
install_with_examples release
mkdir -p build/reports

step "what the suite needs"
quiet upstream-pip "$python" -m pip install --disable-pip-version-check --progress-bar off pytest hypothesis ndindex \
  pytest-json-report

# suite DEVICE [STATEMENTS]: runs it with that default device. What fails is on the page, and does not end this script.
reports=()
suite() {
  local report=$PWD/build/reports/array-api-${1%:*}.xml
  step "the suite on $1"
  rm -f "$report"
  (
    cd "$folder"
    export ARRAY_API_TESTS_MODULE="exec('import keyway; ${2-} keyway.settings.default_device = \"$1\"; xp = keyway.array_api')"
    "$python" -m pytest -q -p no:cacheprovider --disable-deadline --max-examples "$examples" \
      --junitxml="$report" array_api_tests/
  ) >"build/logs/array-api-${1%:*}.log" 2>&1 || [ -s "$report" ] || die "pytest wrote no $report" "See build/logs."
  tail -n 1 "build/logs/array-api-${1%:*}.log" | sed 's/^/    /'
  reports+=("$1" "$report")
}
suite cpu:0
suite opencl:0
suite npu:0 "keyway.load_plugin(\"$PWD/$vendor_npu\"); keyway.settings.fallback = \"allow\";"
"$python" integrations/python/tests/upstream_page.py "$date" "$examples" "$folder" "${reports[@]}" \
  >"bench/results/$date-array-api-tests.md"
say "${bold}integrations/python/upstream.sh: the page is bench/results/$date-array-api-tests.md. $SECONDS s.$plain"
