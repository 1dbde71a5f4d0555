#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: spirv_check.sh DIRECTORY
#
# Every program there is valid SPIR-V for OpenCL 1.2, contracts nothing, and asks for double precision only where its
# name says so.
set -eu
cd "$1"
failed=0 count=0
complain() {
  echo "$1" >&2
  failed=1
}
while read -r name; do
  count=$((count + 1))
  spirv-val --target-env opencl1.2 "$name.spv" || complain "$name.spv is not valid"
  spirv-dis "$name.spv" >text
  [ "$(grep -c 'OpEntryPoint Kernel' text)" -eq "$(grep -c 'OpExecutionMode .* ContractionOff' text)" ] ||
    complain "$name.spv may contract multiplications and additions"
  case $name in
    mask.* | move.* | rearrange.* | selection.* | sort.*) wants=no ;; # by size
    *.9 | *+f64) wants=yes ;;
    *) wants=no ;;
  esac
  if grep -q 'OpCapability Float64' text; then has=yes; else has=no; fi
  [ $wants = yes ] || [ $has = no ] || complain "$name.spv needs double precision"
done <files
rm text
[ $count -gt 100 ] || complain "only $count programs are there"
exit $failed
