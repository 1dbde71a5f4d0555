#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# include_check.sh SOURCEDIR BUILDDIR
# Of Keyway's headers, what lies under backends/ includes those that a vendor has, keyway/types.h, plugin.h and
# known_args.h, and its own. Test programs there may also use the rest of abi/ (the op table, the application's API),
# never core's.
# Read from the dependencies that the compiler wrote.
set -eu
source=$(cd "$1" && pwd -P)
build=$(cd "$2" && pwd -P)
cd "$build"

# One line per dependency: "object dependency".
dependencies() {
  if [ -f build.ninja ]; then
    "${NINJA:-ninja}" -t deps | awk '/^[^ ].*: #deps/ {sub(/: #deps.*/, ""); object = $0} /^ / {print object, $1}'
  else
    find backends -name '*.d' -exec awk '{object = FILENAME; gsub(/\\$/, ""); for (i = 1; i <= NF; i++) print object, $i}' {} +
  fi
}

dependencies | awk -v source="$source" -v build="$build" '
  $1 !~ /^backends\// { next }
  { objects[$1] = 1 }
  {
    path = $2
    if (path !~ /^\//) path = build "/" path
    while (sub(/\/[^\/]+\/\.\.\//, "/", path)) {}
    if (index(path, source "/") != 1 || index(path, build "/") == 1) next
    path = substr(path, length(source) + 2)
    if (path ~ /^backends\// || path ~ /^abi\/include\/keyway\/(types|plugin|known_args)\.h$/) next
    if (path ~ /^abi\// && $1 ~ /(_test|test_[a-z_]+)\.c\.o$/) next
    print "FAILED: " $1 " includes " path
    bad = 1
  }
  END {
    count = 0
    for (object in objects) count++
    print count " objects of backends checked"
    if (count == 0) { print "FAILED: no dependencies known; build first"; bad = 1 }
    exit bad
  }'
