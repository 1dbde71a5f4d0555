#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/phone.sh
#
# Opens the pages that `keyway conform --html` and `keyway bench --html` write in Chromium with the screen of a phone
# (tests/phone_check.py): of a device that conforms, of one with a defect, and of one that has few ops. Screenshots are in
# build/phone.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

scripts/setup.sh --browser
step "building (build/release)"
build_preset release

step "pages"
keyway=$PWD/build/release/bin/keyway pages=build/phone
rm -rf "$pages"
mkdir -p "$pages"
page() { # NAME STATUS COMMAND...: which ends with that status
  local name=$1 wanted=$2 status=0
  shift 2
  "$@" --html "$pages/$name.html" >"$pages/$name.txt" 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || die "'$*' ended with status $status, not $wanted" "What it said is in $pages/$name.txt."
}
page good 0 "$keyway" conform --device cpu:0 --op 'add.*,sum,native_layer_norm' --jobs "$jobs"
page defect 1 "$keyway" conform --plugin build/release/tests/mutants/keyway_mutant_unbiased_variance.so \
  --device mutant:0 --op 'add.*,native_layer_norm,var.correction' --jobs "$jobs"
page few 1 "$keyway" conform --plugin build/release/examples/vendor_npu/vendor_npu.so --device npu:0 --level core \
  --op 'a*,scaled*,_softmax*' --jobs "$jobs"
page bench 0 "$keyway" bench --rounds 1 --size 1024 --family moves --family pointwise --family reductions --against raw
printf '<title>wide</title><p style="width:2000px">wide</p><p style="font-size:6px">small</p>' >"$pages/wrong.html"

step "in $(chromium --version 2>/dev/null)"
if said=$(timeout 300 python3 tests/phone_check.py "$(command -v chromium)" "$pages/wrong.html"); then
  die "nothing was found wrong with a page that is too wide" "It said: $said"
fi
[[ $said == *'the page is 2008 pixels wide'*'text of 6px'* ]] || die "of a page that is too wide and too small was said: $said"
rm "$pages/wrong.html"
timeout 600 python3 tests/phone_check.py --screenshots "$pages" "$(command -v chromium)" "$pages"/*.html |
  sed 's/^/    /'
