#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: weights_test.sh WEIGHTS
#
# Files that are no safetensors of f32, made here: WEIGHTS, the program, has to end with exit status 2 and say why.
weights=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/file.safetensors
failed=0

# refuse HEADER SENTENCE: a file of this header, up to 255 bytes, and 4 bytes of data.
refuse() {
  { printf "\\$(printf '%03o' ${#1})\0\0\0\0\0\0\0%s1234" "$1"; } >"$file"
  "$weights" "$file" >"$work/output" 2>&1
  status=$?
  if [ $status -ne 2 ] || [ "$(cat "$work/output")" != "$file: $2" ]; then
    echo "$1: exit status $status instead of 2, or another sentence than '$2':"
    cat "$work/output"
    failed=1
  fi
}

good='"dtype":"F32","shape":[1],"data_offsets"'
none='a tensor is none of f32 with a shape and data_offsets; st_make writes such files'
refuse "[$good]" 'its header is no JSON object'
refuse "{\"a\":{$good:[0,8]}}" "$none"
refuse "{\"a\":{$good:[1,-9223372036854775808]}}" "$none"
refuse "{\"a\":{$good:[4,8]}}" 'a tensor reaches past the end'
refuse "{\"a\":{$good:[0,4]},b}" "a tensor's name is missing or too long"
refuse "{\"a\":{$good:[0,4]},\"b\":{}}" "$none" # the list has room for one tensor: b has no data_offsets
refuse "{\"a\":{$good:[0,4]},\"$(printf '%063d' 0)\":{}}" "$none"
exit $failed
