#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: spirv.sh SOURCES PRELUDE CLANG LLVM_SPIRV OUT.c
#
# The kernel pack as SPIR-V 1.0: SOURCES (keyway-gpu-sources) writes the programs beside OUT.c, those that changed are
# compiled, all CPUs at a time, and OUT.c gets the bytes of all, as the table kw_gpu_spirv (see spirv.h).
set -eu
sources=$1 prelude=$2 clang=$3 llvm_spirv=$4 out=$5
directory=$(dirname "$out")
cd "$directory"
"$sources" "$prelude" . >names
tr / . <names >files

for name in $(cat files); do
  [ "$name.spv" -nt "$name.cl" ] && [ "$name.spv" -nt "$0" ] || echo "$name"
done >changed

# A process of clang's takes longer to start than a program to compile, and so each gets many, which only its compiler
# proper takes. It optimises nothing: its passes leave instructions that the translator does not know, and drivers do
# that anyway. However many CPUs there are, 64 programs go to one: names of types count on within a process.
sed 's/$/.cl/' changed | xargs -r -n 64 -P "$(nproc)" "$clang" -cc1 -triple spir64 -no-opaque-pointers -x cl \
  -cl-std=CL1.2 -finclude-default-header -fdeclare-opencl-builtins -O2 -disable-llvm-passes -disable-llvm-verifier \
  -discard-value-names -ffp-contract=off -Wno-constant-logical-operand -emit-llvm-bc
mkdir -p new
xargs -r -P "$(nproc)" -I NAME \
  "$llvm_spirv" --spirv-max-version=1.0 --spirv-fp-contract=off -o new/NAME.spv NAME.bc <changed
[ ! -s changed ] || mv new/* .
rm -rf new changed ./*.bc

{
  echo "/* Made by $0. */"
  echo '#include "spirv.h"'
  number=0
  while read -r file; do
    echo "KW_GPU_INCLUDE($number, \"$PWD/$file.spv\")"
    number=$((number + 1))
  done <files
  echo 'const kw_gpu_binary kw_gpu_spirv[] = {'
  number=0
  while read -r name; do
    echo "  KW_GPU_ENTRY($number, \"$name\")"
    number=$((number + 1))
  done <names
  echo '  {0, 0, 0}};'
  echo "const char kw_gpu_spirv_sum[] = \"$(sed 's/$/.spv/' files | xargs cat | cksum)\";"
} >"$out"
