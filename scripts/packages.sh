#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/packages.sh [--no-root]
#
# Debian's packages of this tree, built from debian/ into build/packages; lintian on them; then in a bare Debian root of
# their own installed, used (devices listed and judged, a program and a plugin built from libkeyway-dev), removed and
# purged: nothing of them may stay. Needs root for that.
#
#   --no-root   only build and look with lintian
set -euo pipefail
. "$(dirname "$0")/lib.sh"

in_root=true
case ${1-} in
  --no-root) in_root=false; shift ;;
esac
no_arguments "$@"

step "packages that this needs"
scripts/setup.sh --packages

step "building (build/packages)"
packages=$PWD/build/packages
rm -rf "$packages"
mkdir -p "$packages/keyway"
git ls-files -z | tar -c --null -T - | tar -x -C "$packages/keyway"
debian_packages "$packages"
(cd "$packages" && du -h -- *.deb | sed 's/^/    /')

step "lintian"
lintian --fail-on error,warning --tag-display-limit 0 "$packages"/*.changes >build/logs/lintian.log 2>&1 ||
  { grep -E '^[EW]:' build/logs/lintian.log >&2 || tail build/logs/lintian.log >&2
    die "lintian has found the above" "Mend it, or say in debian/PACKAGE.lintian-overrides why it is right."; }
say "    no error, no warning"
$in_root || exit 0

step "a bare root (build/package-root), in which the packages are installed, used and purged"
root=$PWD/build/package-root
make_bare_root "$root"
mkdir -p "$root/packages" "$root/try/examples"
cp "$packages"/*.deb "$root/packages/"
cp -r tests/consumers tests/packages_check.sh "$root/try/"
cp -r examples/select_device examples/vendor_bare "$root/try/examples/"
quiet packages-root in_bare_root "$root" bash /try/packages_check.sh /packages /try
sed -n 's/^== /    /p' build/logs/packages-root.log
leave_bare_root "$root"

say
say "${bold}scripts/packages.sh: all passed. $SECONDS s.$plain"
