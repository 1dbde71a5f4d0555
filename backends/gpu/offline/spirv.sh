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

# clang optimises nothing: its passes leave instructions that the translator does not know, and drivers do that anyway.
CLANG=$clang LLVM_SPIRV=$llvm_spirv SCRIPT=$0 xargs -P "$(nproc)" -I NAME sh -c '
  set -e
  if [ NAME.spv -nt NAME.cl ] && [ NAME.spv -nt "$SCRIPT" ]; then exit 0; fi
  "$CLANG" -x cl -cl-std=CL1.2 --target=spir64 -O2 -Xclang -disable-llvm-passes -ffp-contract=off \
    -Wno-constant-logical-operand -emit-llvm -c -o NAME.bc NAME.cl
  "$LLVM_SPIRV" --spirv-max-version=1.0 --spirv-fp-contract=off -o NAME.new NAME.bc
  rm NAME.bc
  mv NAME.new NAME.spv' <files

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
