#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/first_use.sh [DRIVER]...
#
# What the first call of each op costs on opencl:0 where nothing is compiled yet, by driver (scripts/opencl.sh; pocl and
# intel unless said): each op in a process of its own, with empty caches of Keyway's and the driver's. Writes
# bench/results/DATE-first-use.md. Some ten minutes a driver.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ "${1-}" != --help ] || no_arguments --help
[ $# -gt 0 ] || set -- pocl intel

step "building (build/release)"
build_preset release
keyway=$PWD/build/release/bin/keyway reports=$PWD/build/reports/first-use cache=$PWD/build/cache/first-use
mapfile -t ops < <("$keyway" warm --device cpu:0 --json | sed -n 's/^.*"op":[[:space:]]*"\(.*\)",$/\1/p' | sort -u)

for driver in "$@"; do
  step "$driver: ${#ops[@]} ops"
  rm -rf "${reports:?}/$driver"
  mkdir -p "$reports/$driver"
  for op in "${ops[@]}"; do
    rm -rf "$cache"
    mkdir -p "$cache"
    POCL_CACHE_DIR=$cache scripts/opencl.sh "$driver" "$keyway" warm --device opencl:0 --op "$op" --alone --json \
      >"$reports/$driver/$op.json" 2>"$cache/log" || die "the first call of $op failed on $driver" "$(tail -n 5 "$cache/log")"
    [ ! -t 1 ] || printf '\r    %-60s' "$op"
  done
  [ ! -t 1 ] || printf '\r%-64s\r' ''
done

page=bench/results/$(date +%F)-first-use.md
python3 scripts/first_use_page.py "$(git rev-parse --short HEAD)" "$reports" "$@" >"$page"
say "${bold}$page$plain"
