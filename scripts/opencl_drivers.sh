#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/opencl_drivers.sh
#
# What there is to check of OpenCL drivers beyond what `scripts/conform.sh opencl:0 --driver NAME` does: that the defects
# of Intel's and rusticl are there, Intel's vectoriser in its other modes on sums of many elements into one place, all
# drivers in one process, and as much of the suite as rusticl compiles in time. Brings the drivers (scripts/opencl.sh).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "building (build/release)"
build_preset release
keyway=$PWD/build/release/bin/keyway

step "the drivers' defects"
for name in intel rusticl; do
  quiet "opencl-defects-$name" scripts/opencl.sh "$name" build/release/tests/opencl_driver_test
  shown=$(grep -c '^\[       OK \]' "build/logs/opencl-defects-$name.log") || die "no test of $name's defects ran" \
    "Run: scripts/opencl.sh $name build/release/tests/opencl_driver_test"
  say "    $name: $shown shown"
done

step "Intel's vectoriser in other modes"
sums='index_put*,scatter_add*,scatter_reduce*,index_add*,embedding_dense_backward,_embedding_bag*,grid_sampler_2d_backward'
opencl_driver=intel
export CL_CONFIG_CPU_TARGET_ARCH=core-avx2 # the same code on every processor
for mode in 1 4 8 16; do
  say "    CL_CONFIG_CPU_VECTORIZER_MODE=$mode"
  CL_CONFIG_CPU_VECTORIZER_MODE=$mode KEYWAY_MODULE_CACHE=$PWD/build/cache/intel-$mode conform opencl:0 \
    --suite ops --op "$sums"
done

unset CL_CONFIG_CPU_TARGET_ARCH

step "all in one process"
opencl_driver=all
devices=$(scripts/opencl.sh all "$keyway" list | grep -c '^opencl:') || true
[ "$devices" -ge 3 ] || die "$devices devices with all drivers, not three" "Run: scripts/opencl.sh all keyway list"
conform opencl:0 --quick --suite environment,lifecycle,copy,exit
conform opencl:1 --quick --suite environment,lifecycle,copy,exit

step "rusticl"
opencl_driver=rusticl
unasked=$(scripts/opencl.sh rusticl env -u KEYWAY_OPTIONS "$keyway" list 2>&1) || true
[[ $unasked == *"rusticl are not offered"* ]] ||
  die "its devices are offered to who has not asked, or nothing is said" "Run: scripts/opencl.sh rusticl env -u KEYWAY_OPTIONS keyway list"
# Not the suites that start the plugin anew: they give it no options, and then it has no device of rusticl.
conform opencl:0 --suite memory,event,interop,exit
for op in add.Tensor sub.Tensor mul.Tensor mul.Scalar div.Tensor maximum eq.Tensor lt.Scalar; do
  conform opencl:0 --suite ops --case "$op/f32/*"
done

conform_table
require_conformant
