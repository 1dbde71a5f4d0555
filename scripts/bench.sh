#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/bench.sh
#
# Benchmarks: what a call and a parallel loop cost, and the kernels on OpenCL against the same kernels enqueued by plain
# OpenCL calls.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "building (build/release)"
build_preset release

step "what a call costs"
quiet bench-dispatch build/release/bin/bench-dispatch
cat build/logs/bench-dispatch.log

step "what a parallel loop costs"
quiet bench-parallel build/release/bin/bench-parallel
cat build/logs/bench-parallel.log

step "kernels on OpenCL"
quiet bench-opencl build/release/bin/keyway bench --device opencl:0 --against raw --rounds 5
cat build/logs/bench-opencl.log
