#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: op_pages_test.sh KEYWAY DIRECTORY
#
# The op reference in DIRECTORY is what the program writes, and every op has its definition.
keyway=$1 directory=$2
fresh=$(mktemp -d) || exit 1
trap 'rm -rf "$fresh"' EXIT
"$keyway" ops --pages "$fresh" || exit 1
diff -r "$directory" "$fresh" || {
  echo "docs/ops is out of date. Run: keyway ops --pages docs/ops" >&2
  exit 1
}
# A page starts with its title and, two lines below, the definition; without one a heading would follow.
for page in "$fresh"/*.md; do
  sed -n 3p "$page" | grep -q '^##' && { echo "${page##*/}: no definition; add a row to abi/op_notes.def" >&2; exit 1; }
done
exit 0
