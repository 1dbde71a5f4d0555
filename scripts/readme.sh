#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/readme.sh [--whole]
#
# The commands of README.md as a new user pastes them, in their order, in a fresh clone within a bare Debian root; says
# what each took. Needs root.
#
#   --whole  scripts/test.sh as well, which is the fixed part of continuous integration
set -euo pipefail
. "$(dirname "$0")/lib.sh"

left_out='^scripts/test.sh'
case ${1-} in
  --whole) left_out='^$'; shift ;;
esac
no_arguments "$@"
scripts/setup.sh --packages

step "a bare root (build/readme-root) with a clone"
root=$PWD/build/readme-root
make_bare_root "$root"
mkdir -p "$root/work"
git clone -q "$PWD" "$root/work/keyway"
tests/pages_check.py --paste README.md | grep -v "$left_out" >"$root/work/paste"

step "README.md, pasted"
quiet readme in_bare_root "$root" bash -c 'cd /work/keyway && apt-get update -qq && bash /work/paste'
sed -n 's/^== /    /p' build/logs/readme.log
leave_bare_root "$root"
say "${bold}scripts/readme.sh: all passed. $SECONDS s.$plain"
