#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/perfetto.sh
#
# Holds traces in Perfetto's format (KEYWAY_TRACE=FILE.pftrace) against Perfetto's own schema, by the runtime of Protocol
# Buffers, both from PyPI in build/perfetto: calls of ops, a graph of a program's calls, and copies, on cpu and on opencl.
# Its viewer and its trace processor are not on PyPI: the traces are not opened in them here.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

step "building Keyway (build/release)"
build_preset release

step "Perfetto's schema, in an environment of its own (build/perfetto)"
python_environment perfetto protobuf perfetto

step "traces"
for device in cpu:0 opencl:0; do
  trace=$environment/${device%:*}.pftrace
  KEYWAY_TRACE=$trace quiet "perfetto-$device" build/release/bin/keyway bench --device "$device" --rounds 1 --size 16 \
    --op mm --op add.Tensor --op sum
  "$python" tests/perfetto_check.py "$trace" --schema | sed "s|^$PWD/||; s/^/    /"
done
