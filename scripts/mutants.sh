#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/mutants.sh [--share I/N]
#
# Whether the conformance suite finds each of the plugins that are wrong on purpose (conformance/mutants), and accuses
# none of those wrappers that are right. With --share every N-th of their tests, from the I-th on.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

parts=()
case ${1-} in
  --share)
    [[ ${2-} =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] || die "--share wants I/N" "Run: $script --share 1/4"
    parts=(--tests-information "${BASH_REMATCH[1]},,${BASH_REMATCH[2]}")
    no_arguments "${@:3}"
    ;;
  *) no_arguments "$@" ;;
esac

step "packages"
scripts/setup.sh

step "building with gcc (build/release)"
build_preset release

step "mutants${2:+, share $2}"
run_tests release --label-regex '^mutants$' "${parts[@]}"
