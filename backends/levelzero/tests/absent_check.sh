#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: absent_check.sh KEYWAY
#
# Without a Level Zero driver (the loader is sent to one that is not there) no device is listed, doctor says why and what
# would bring one, and nobody writes to stderr.
set -eu
keyway=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export ZE_ENABLE_ALT_DRIVERS=/nowhere/driver.so

failed=0
complain() {
  echo "$1" >&2
  failed=1
}
"$keyway" list >"$directory/list" 2>"$directory/stderr"
"$keyway" doctor >"$directory/doctor" 2>>"$directory/stderr"
if grep levelzero "$directory/list"; then complain "a device is listed"; fi
grep -q 'keyway.levelzero' "$directory/doctor" || complain "doctor does not name the plugin"
grep -q 'zeInit: ZE_RESULT_ERROR_UNINITIALIZED.*install.*libze-intel-gpu1' "$directory/doctor" ||
  complain "doctor does not say why there is no device, and which package brings one"
if [ -s "$directory/stderr" ]; then
  cat "$directory/stderr" >&2
  complain "something was written to stderr"
fi
exit $failed
