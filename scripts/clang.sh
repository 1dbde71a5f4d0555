#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/clang.sh
#
# The whole tree built with clang (build/clang), for its warnings: nothing of it runs, so nothing is optimized.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "building with clang (build/clang)"
quiet configure-clang cmake -G Ninja -B build/clang -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" \
  -DKEYWAY_WERROR=ON
quiet build-clang cmake --build build/clang -j "$jobs"
say "    no warning"
