#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/races.sh
#
# The portable kernels on a simulated OpenCL device (oclgrind) that watches every access: one case of each op in f32.
# Fails for a race between items, an access out of bounds, or a case that fails.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

keyway=build/release/bin/keyway
command -v oclgrind >/dev/null || die "oclgrind is missing" "Run: scripts/setup.sh"
build_preset release

log=build/logs/races.log
# Not optimised, and no integers: the simulator does not know all that its compiler makes.
oclgrind --data-races --build-options -cl-opt-disable "$keyway" conform --device opencl:0 --case "*/f32/prime/1" \
  --jobs "$jobs" --timeout-scale 20 >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  die "cases fail on the simulated device (above)" "All of its output is in $log."
}
if grep -qE '(data race|Invalid (read|write)|OCLGRIND FATAL)' "$log"; then
  grep -E -m 20 -A 3 '(data race|Invalid (read|write)|OCLGRIND FATAL)' "$log" >&2
  die "the simulator found races or accesses out of bounds (above)" "All of its output is in $log."
fi
say "    $(sed -n 's/^verdict: //p' "$log")"
