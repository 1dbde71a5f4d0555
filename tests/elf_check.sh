#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# elf_check.sh LIBDIR PLUGINSUBDIR
# Every plugin exports keyway_plugin_query and nothing else, and needs no Keyway symbol, strong or weak. libkeyway
# exports versioned kw_* symbols and nothing else, reads the environment by secure_getenv alone, and has little
# thread-local data.
set -eu
libdir=$1
plugins=$libdir/$2
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

command -v nm > /dev/null || { echo "nm is missing: install binutils"; exit 1; }

count=0
for plugin in "$plugins"/*.so; do
  [ -e "$plugin" ] || continue
  count=$((count + 1))
  exported=$(nm -D --defined-only --format=posix "$plugin" | awk '{print $1}')
  [ "$exported" = keyway_plugin_query ] || fail "$plugin exports: $(echo $exported)"
  needed=$(nm -D --undefined-only --format=posix "$plugin" | awk '{print $1}' | grep -E '^(kw|keyway)_' || true)
  [ -z "$needed" ] || fail "$plugin needs: $(echo $needed)"
done
[ "$count" -gt 0 ] || fail "there is no plugin in $plugins"

library=$libdir/libkeyway.so
# The version's own name is an absolute symbol of type A.
others=$(nm -D --defined-only --with-symbol-versions --format=posix "$library" |
  awk '$2 != "A" && $1 !~ /^kw_[a-z0-9_]+@@KEYWAY_1\.0$/ {print $1}')
[ -z "$others" ] || fail "$library exports: $(echo $others)"
nm -D --defined-only "$library" | grep -q ' kw_device_open' || fail "$library does not export kw_device_open"
nm -D --undefined-only "$library" | grep -q ' getenv' && fail "$library uses getenv: write secure_getenv"

# Programs that run already have about 1.5 KiB of static thread-local memory left for what they open, for all of it.
static=$(readelf -lW "$library" | awk '$1 == "TLS" {print $6}')
[ $((${static:-0})) -le 256 ] || fail "$library has $((static)) bytes of thread-local data: keep large ones on the heap"

echo "$count plugins and libkeyway checked, $failures failures"
[ "$failures" -eq 0 ]
