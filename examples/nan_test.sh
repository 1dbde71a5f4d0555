#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: nan_test.sh KEYWAY NAN TRAIN DEVICE
#
# The example nan under the capture layer: `keyway replay --nan` names the call that made NaN first, and cuts it out; the
# cut has it again, alone. A program without NaN (the example train) is run to its end.
set -eu
keyway=$1 nan=$2 train=$3 device=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "nan_test: $1: $2" >&2
  exit 1
}
# Step 8 is the first whose shares have a 0: behind 2 calls and 8 a step the sixth of its own multiplies it by -inf.
call='call 72: mul.Tensor(f32[64], f32[64]): result 0 has NaN: 1 of 64 elements, the first is element 0; no argument has'

KEYWAY_LAYERS=capture KEYWAY_CAPTURE=$work/run "$nan" "$device" >"$work/said"
grep -q 'is NaN' "$work/said" || fail "the example" "$(cat "$work/said")"
said=$("$keyway" replay "$work/run" --device "$device" --nan --cut "$work/cut") && fail "NaN was not found" "$said"
case $said in *"$call"*) ;; *) fail "not '$call'" "$said" ;; esac
said=$("$keyway" replay "$work/cut" --device "$device" --nan) && fail "the cut has no NaN" "$said"
case $said in *'call 1: mul.Tensor'*) ;; *) fail "the cut" "$said" ;; esac

KEYWAY_LAYERS=capture KEYWAY_CAPTURE=$work/train "$train" "$device" >"$work/said"
said=$("$keyway" replay "$work/train" --device "$device" --nan) || fail "NaN where none is" "$said"
case $said in *'no result has NaN'*) ;; *) fail "the end of a run" "$said" ;; esac
