#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/bench.sh [--page]
#
# Benchmarks: what a call and a parallel loop cost, and the kernels on OpenCL against the same kernels enqueued by plain
# OpenCL calls.
#
#   --page    instead: cpu:0 against PyTorch, NumPy, oneDNN, OpenBLAS and plain loops, which scripts/peers.sh brings:
#             op families, programs and models. Writes bench/results/DATE-cpu.md, which shows where Keyway is behind,
#             and a picture beside it. Some ten minutes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

page=false
[ "${1-}" != --page ] || { page=true; shift; }
no_arguments "$@"

step "building (build/release)"
build_preset release

# measure NAME OPTION...: a report for the page.
measure() {
  local name=$1
  shift
  step "$name"
  say "    keyway bench $*"
  build/release/bin/keyway bench --json "$@" >"build/reports/$name.json" 2>"build/logs/bench-$name.log" ||
    say "    some of it failed: build/logs/bench-$name.log"
  reports+=("build/reports/$name.json")
}

if "$page"; then
  scripts/peers.sh
  mkdir -p build/reports build/logs
  results=bench/results/$(date +%F)-cpu reports=()
  measure families --against torch --rounds 5 --svg "$results.svg"
  measure footprint --against raw --op copy_ --op add.Tensor --op mul.Tensor --op relu --op _to_copy --op sum --op cat \
    --rounds 5 --size 65536 --size 262144 --size 16777216 --dtype f32 --dtype f64 --dtype f16 --dtype bf16
  measure products --against onednn --against openblas --op convolution --op mm --op bmm --op addmm
  measure decoding --against torch --rounds 3 --op keyway::attention_decode --size 256 --size 1024 --size 4096 \
    --size 16384 --size 65536 --dtype f32 --dtype f16
  measure programs --against torch --against numpy --rounds 5 --op kmeans
  measure models --against torch --rounds 5 --family models
  python3 scripts/bench_page.py "$(git rev-parse --short HEAD)" "${reports[@]}" >"$results.md"
  say "${bold}$results.md$plain"
  exit
fi

step "what a call costs"
quiet bench-dispatch build/release/bin/bench-dispatch
cat build/logs/bench-dispatch.log

step "what a parallel loop costs"
quiet bench-parallel build/release/bin/bench-parallel
cat build/logs/bench-parallel.log

step "kernels on OpenCL"
quiet bench-opencl build/release/bin/keyway bench --device opencl:0 --against raw --rounds 5
cat build/logs/bench-opencl.log
