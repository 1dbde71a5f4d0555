#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/conform.sh DEVICE [--whole | --level NAME] [--isolated] [--validated] [--cold] [--capabilities LIST]
#                           [--seeds LIST] [--cases FILE]
#
# The conformance suite on one device, with build/release: the contract, and what the device claims. The devices are
# cpu:0, opencl:0, npu:0, agpu:0 and aqpu:0, the plugins of three examples, and on test drivers levelzero:0, cuda:0 and hip:0.
#
#   --whole        instead of what it claims, the whole op set: the last level with every extension
#   --driver NAME  of opencl:0: with this driver alone, pocl, intel or rusticl (scripts/opencl.sh)
#   --suite LIST, --op GLOBS   only these, as `keyway conform` has them
#   --cold         with caches of its own for compiled kernels, empty at first; and once more, when they are filled
#   --capabilities LIST  of cpu:0: a run with each of these as KEYWAY_CPU_CAPABILITY, separated by commas; without those
#                  that this processor lacks
#   --level NAME   instead of what it claims, this level
#   --isolated     each run again with the plugin in a process of its own: verdict, scope and cases have to be the same
#   --validated    under the layer validation, whose reports end the process: none but those that conformance/validated.json
#                  expects. Without soak, which would count what the layer keeps of objects that have ended
#   --but-soak     all suites but soak
#   --seeds LIST   a run for each seed, separated by commas
#   --cases FILE   writes the numbers of cases, of the first run, to FILE
set -euo pipefail
. "$(dirname "$0")/lib.sh"

suites_but_soak=ops,programs,abi,environment,lifecycle,memory,stream,launch,event,slots,copy,constant,thread,error,determinism
suites_but_soak+=,rng,graph,energy,profile,interop,activity,exit,fault,scale,models

device=${1-} options=() seeds=1 cold=false isolated=false cases= capabilities=default
case $device in
  --help) no_arguments --help ;;
  *:*) shift ;;
  *) die "wants a device, such as cpu:0" "Run: $script --help" ;;
esac
while [ $# -gt 0 ]; do
  case $1 in
    --whole) options+=(--level "$whole_level") ;;
    --cold) cold=true ;;
    --isolated) isolated=true ;;
    --validated)
      export KEYWAY_LAYERS=validation KEYWAY_VALIDATION=abort
      options+=(--suite "$suites_but_soak" --expect conformance/validated.json)
      ;;
    --but-soak) options+=(--suite "$suites_but_soak") ;;
    --seeds | --cases | --capabilities)
      [ -n "${2-}" ] || die "$1 wants a value" "Run: $script --help"
      declare "${1#--}=$2"
      shift
      ;;
    --driver | --suite | --op | --level)
      [ -n "${2-}" ] || die "$1 wants a value" "Run: $script --help"
      if [ "$1" = --driver ]; then opencl_driver=$2; else options+=("$1" "$2"); fi
      shift
      ;;
    *) no_arguments "$1" ;;
  esac
  shift
done

# conform_isolated DEVICE [CONFORM OPTION...]: the last run once more, in a process of the plugin's own.
conform_isolated() {
  local direct=$last_report member
  KEYWAY_ISOLATE='*' conform "$@"
  for member in verdict scope cases_sha256; do
    [ "$(json_member "$direct" "$member")" = "$(json_member "$last_report" "$member")" ] ||
      die "direct and isolated differ in $member" "See $direct and $last_report"
  done
  say "    isolated as direct: $(json_member "$direct" verdict), cases $(json_member "$direct" cases_sha256 | cut -c 1-8)"
}

step "building (build/release)"
build_preset release
case $device in
  npu:* | agpu:* | aqpu:*) install_with_examples release ;;
  *) keyway=$PWD/build/release/bin/keyway ;;
esac

step "the conformance suite on $device"
runs=1
if $cold; then
  export POCL_CACHE_DIR=$PWD/build/cache/pocl KEYWAY_MODULE_CACHE=$PWD/build/cache/modules
  rm -rf build/cache
  mkdir -p "$POCL_CACHE_DIR" "$KEYWAY_MODULE_CACHE"
  runs=2
fi
for capability in ${capabilities//,/ }; do
  export KEYWAY_CPU_CAPABILITY=${capability#default}
  lacks=$("$keyway" list 2>&1 >/dev/null | grep -o 'this processor lacks.*' || true)
  if [ -n "$lacks" ]; then
    say "    not run: $capability, $lacks"
    continue
  fi
  [ -z "$KEYWAY_CPU_CAPABILITY" ] || say "    KEYWAY_CPU_CAPABILITY=$KEYWAY_CPU_CAPABILITY"
  for seed in ${seeds//,/ }; do
    for ((run = 0; run < runs; run++)); do
      conform "$device" --seed "$seed" "${options[@]}"
      ! $isolated || conform_isolated "$device" --seed "$seed" "${options[@]}"
    done
  done
done
conform_table
require_conformant
[ -z "$cases" ] || "$keyway" report show "build/reports/${device//:/-}-1.json" --markdown >"$cases"
