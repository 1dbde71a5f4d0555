#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/abi_freeze.sh VERSION
#
# Freezes the ABI as it is in this tree: writes the smallest sizes of structs that no version had into plugin.h, and
# abi/frozen/VERSION, which scripts/abi_gate.sh holds every later tree against:
#
#   include/, slots.def   the public headers and the table of slots
#   layout.txt            what scripts/abi_layout.py says of them: sizes, offsets, values, signatures
#   symbols.txt           what libkeyway exports
#   types.abi             the types of plugin.h as libabigail sees them
#
# VERSION is the one in the headers, "1.0", or that with -rc, which may be frozen again.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
version=${1-}
case $version in --help | '') no_arguments --help ;; esac
frozen=abi/frozen/$version
now=$(abi_version)
[ "${version%-rc}" = "$now" ] || die "the headers say $now, not $version" "Run: scripts/abi_freeze.sh $now"
[ ! -e "$frozen" ] || [ "$version" != "$now" ] || die "$frozen is frozen: it never changes"
command -v abidw >/dev/null || die "abidw is not installed" "Run: scripts/setup.sh"

rm -rf "$frozen" "abi/frozen/$now-rc"
python3 scripts/abi_rules.py --write-floors
quiet configure-release cmake --preset release
quiet build-release cmake --build --preset release -j "$jobs" --target keyway
mkdir -p "$frozen"
cp -r abi/include abi/slots.def "$frozen"
python3 scripts/abi_layout.py >"$frozen/layout.txt"
library_symbols build/release/lib/libkeyway.so >"$frozen/symbols.txt"
abi_types "$frozen/types.abi"
python3 scripts/abi_rules.py --symbols build/release/lib/libkeyway.so
say "abi/frozen/$version: $(wc -l <"$frozen/layout.txt") lines of layout, $(wc -l <"$frozen/symbols.txt") symbols"
