#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/preset.sh debug|asan|tsan [tests|long|suite]
#
# The tests in another build than release: with debugging, under AddressSanitizer with UBSan, under ThreadSanitizer; and
# with a sanitizer, where there is no OpenCL, a share of the conformance suite. tests, long, suite: of a sanitizer's only
# the tests that are not labelled long, those that are, or the share.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

preset=${1-} part=${2-all}
no_arguments "${@:3}"
case $part in
  tests | long | suite | all) ;;
  *) die "wants tests, long or suite, not '$part'" "Run: $script --help" ;;
esac
case $preset in
  debug)
    [ "$part" = all ] || die "has no parts in debug, where the suite does not run" "Run: $script --help"
    step "building (build/debug)"
    build_preset debug
    step "tests, but the mutants: those are plugins of their own, and release has them"
    run_tests debug --label-exclude mutants
    ;;
  asan | tsan)
    step "building with sanitizers (build/$preset)"
    build_sanitized "$preset"
    only=()
    case $part in
      tests) only=(--label-exclude '^long$') ;;
      long) only=(--label-regex '^long$' --no-tests=error) ;;
    esac
    if [ "$part" != suite ]; then
      step "tests"
      run_tests "$preset" "${only[@]}"
    fi
    [ ${#only[@]} -eq 0 ] || exit 0
    step "a share of the conformance suite"
    # As the test preset has it: gcc 12's LeakSanitizer takes a thread's variables that lie 16 bytes behind the start of a
    # page for what an old C library kept there, and crashes.
    export ASAN_OPTIONS=intercept_tls_get_addr=0
    keyway=build/$preset/bin/keyway
    vendor_npu=build/$preset/examples/vendor_npu/vendor_npu.so
    # A sanitizer slows down manyfold, keeps freed memory, which soak would count, and fills much of what scale needs.
    contract=abi,environment,lifecycle,memory,launch,stream,event,slots,copy,thread,error,determinism,rng,graph
    contract+=,interop,activity,exit,fault,models,programs
    conform cpu:0 --timeout-scale 5 --suite "$contract"
    conform cpu:0 --timeout-scale 5 --suite ops --shard 1/16
    conform npu:0 --timeout-scale 5
    conform_table
    require_conformant
    ;;
  -*) no_arguments "$preset" ;;
  *) die "wants debug, asan or tsan, not '$preset'" "Run: $script --help" ;;
esac
