#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/mustpass_freeze.sh VERSION
#
# Freezes what a level has to pass: writes conformance/mustpass/VERSION, which the test mustpass_gate holds every later
# tree against, and which is installed with the suite. VERSION is KW_SUITE_VERSION of conformance/base/suite_version.h;
# one that ends in -rc may be frozen again, and goes when the version without -rc is.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
version=${1-}
case $version in --help | '') no_arguments --help ;; esac
frozen=conformance/mustpass/$version
now=$(sed -n 's/^#define KW_SUITE_VERSION "\(.*\)"$/\1/p' conformance/base/suite_version.h)
[ "$version" = "$now" ] || die "the suite is version $now, not $version" "Run: scripts/mustpass_freeze.sh $now"
case $version in
  *-rc) ;;
  *) [ ! -e "$frozen" ] || die "$frozen is frozen: it never changes" "Change KW_SUITE_VERSION in conformance/base/suite_version.h." ;;
esac

quiet configure-release cmake --preset release
quiet build-release cmake --build --preset release -j "$jobs" --target mustpass-gate keyway-worker
mkdir -p "$frozen"
build/release/bin/mustpass-gate write "$frozen"
case $version in *-rc) ;; *) rm -rf "conformance/mustpass/$version-rc" ;; esac
for list in "$frozen"/*.txt; do
  say "$list: $(sed -n 's/^ids \([0-9]*\) .*/\1/p' "$list") ids"
done
