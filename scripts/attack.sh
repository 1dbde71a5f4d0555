#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/attack.sh [--list] [--seconds N | --runs N | --whole] [ATTACK...]
#
# The attacks of tests/attack: each of those named, or all, for its part of the time. The README there says what each
# tries. Fails when one finds something; what is found replays by the line that tells of it.
#
#   --list        the names
#   --seconds N   about so long for all together; 180 when nothing is given
#   --runs N      so many inputs for each fuzz target and calls for each fuzzer of calls; sweeps as with --whole
#   --whole       sweeps of every call instead of a share of them, which the commit chooses; fuzzers for an hour in all
#
# What fuzzers keep lies in build/attack, where the next run goes on from; what crashes them in build/attack/found.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
