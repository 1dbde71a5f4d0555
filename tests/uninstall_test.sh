#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: uninstall_test.sh BUILD_DIRECTORY
#
# The target uninstall takes away what the last installation has put below a prefix, and nothing else.
set -eu
build=$1
prefix=$build/tests/uninstall
manifest=$build/install_manifest.txt # what somebody has installed from here stays known
saved=$(mktemp)
[ ! -e "$manifest" ] || cp -p "$manifest" "$saved"
trap '[ ! -s "$saved" ] || cp -p "$saved" "$manifest"; rm -f "$saved"' EXIT

# install_and_uninstall: prints what is left.
install_and_uninstall() {
  cmake --install "$build" --prefix "$prefix" >/dev/null
  [ -x "$prefix/bin/keyway" ]
  cmake -P "$build/Uninstall.cmake" >/dev/null 2>&1
  [ ! -e "$prefix" ] || (cd "$prefix" && find . | LC_ALL=C sort)
}

rm -rf "$prefix"
left=$(install_and_uninstall)
[ -z "$left" ] || { printf 'of a prefix of its own this is left:\n%s\n' "$left" >&2; exit 1; }

mkdir -p "$prefix/lib/cmake/other" "$prefix/sbin"
touch "$prefix/lib/cmake/other/config"
left=$(install_and_uninstall)
wanted=$(printf '%s\n' . ./bin ./include ./lib ./lib/cmake ./lib/cmake/other ./lib/cmake/other/config ./sbin ./share)
[ "$left" = "$wanted" ] || { printf 'beside the files of others this is left:\n%s\n' "$left" >&2; exit 1; }

if cmake -P "$build/Uninstall.cmake" 2>/dev/null; then
  echo "a second uninstall has nothing to remove, and says so by its status" >&2
  exit 1
fi
rm -rf "$prefix"
echo "a prefix of its own is gone, the files of others stay"
