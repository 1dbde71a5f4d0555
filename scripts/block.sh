#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/block.sh NAME...
#        scripts/block.sh --list
#
# Runs blocks of scripts/blocks.list by hand. A block builds what it needs, so that each can run in a fresh clone. The
# output of each is left in build/logs/block-NAME.log, its dated result in build/blocks, for scripts/full.sh. Exit
# status 0: all of them passed.
#
#   --list   the table: minutes, inputs and command of each block, and what .ci/run draws for the present commit
set -euo pipefail
. "$(dirname "$0")/lib.sh"

case ${1-} in
  --list)
    no_arguments "${@:2}"
    scripts/blocks.py list
    exit
    ;;
  '') die "wants the name of a block" "Run: $script --list" ;;
  -*) no_arguments "$1" ;;
esac
scripts/setup.sh
exec scripts/blocks.py run "$@"
