#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: seeds_test.sh KEYWAY PLUGIN DEVICE SEED...
#
# A vendor's device of ten ops is tried with what it has, whatever the seed draws: no test of launches and threads is left
# out, and none fails. Those for long lists of tensors and for many dimensions need ops that take them, which the device
# does not have.
keyway=$1 plugin=$2 device=$3
shift 3
for seed; do
  report=$("$keyway" conform --plugin "$plugin" --device "$device" --suite launch,thread --seed $seed -v 2>&1) ||
    { echo "$report" && exit 1; }
  echo "$report" | grep -E '^(not applicable|not tried) ' | grep -v -e 'launch/long_lists: the device has no cat$' \
    -e 'launch/parts_in_lists: the device has no cat$' \
    -e 'launch/many_dimensions: the device has no sum, mean, amax or amin over a list of dimensions in f32$' &&
    echo "with seed $seed" && exit 1
done
echo "all launch and thread tests made with $# seeds"
