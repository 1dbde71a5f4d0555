#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/abi_matrix.sh
#
# Hosts and plugins of several versions of the plugin ABI, each host with each plugin: those of one major run, and do
# what docs/abi.md says about what one of them does not know; others are refused in words. The versions: 0.9 from the
# history, 1.0 as it is here, and 1.1 and 2.0 as tests/abi_next.py makes them. Builds under build/matrix.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

last_0_9=c0a8e48b # the last commit before plugin ABI 1.0 began
versions=(0.9 1.0 1.1 2.0)
root=build/matrix

# make_tree VERSION DIRECTORY: its sources.
make_tree() {
  mkdir -p "$2"
  if [ "$1" = 0.9 ]; then
    git cat-file -e "$last_0_9^{commit}" 2>/dev/null ||
      die "this clone lacks the history in which the ABI was 0.9" "Run: git fetch --unshallow"
    git archive "$last_0_9" | tar x -C "$2"
    return
  fi
  git ls-files -z -- abi backends bench cli cmake 'CMake*' conformance core docs examples tests |
    tar c --null -T - | tar x -C "$2"
  [ "$1" = 1.0 ] || python3 tests/abi_next.py "$2" "$1"
}

# build_version VERSION: its library, its example NPU, and a host of it; nothing where the sources are what they were.
build_version() {
  local at=$root/$1 file
  rm -rf "$at/new"
  make_tree "$1" "$at/new"
  mkdir -p "$at/tree"
  # Files that have not changed keep their time, so that they are not compiled again.
  (cd "$at/new" && find . -type f) | while read -r file; do
    cmp -s "$at/new/$file" "$at/tree/$file" && continue
    mkdir -p "$at/tree/${file%/*}"
    cp "$at/new/$file" "$at/tree/$file"
  done
  quiet "matrix-configure-$1" cmake -G Ninja -S "$at/tree" -B "$at/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
  if [ "$1" = 0.9 ]; then # when the examples were part of each build
    quiet "matrix-build-$1" cmake --build "$at/build" -j "$jobs" --target keyway keyway-probe vendor_npu
  else # from the package, as a vendor builds it
    local plugin=$at/build/examples/vendor_npu
    quiet "matrix-build-$1" cmake --build "$at/build" -j "$jobs" --target keyway keyway-probe keyway_gpu keyway_queue \
      keyway-gpu-sources
    quiet "matrix-install-$1" cmake --install "$at/build" --component sdk --prefix "$at/stage"
    quiet "matrix-configure-npu-$1" cmake -G Ninja -S "$at/tree/examples/vendor_npu" -B "$plugin" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$PWD/$at/stage"
    quiet "matrix-build-npu-$1" cmake --build "$plugin"
  fi
  quiet "matrix-host-$1" gcc -std=c11 -Wall -Werror -I "$at/tree/abi/include" -o "$at/host" tests/abi_host.c \
    -L "$at/build/lib" -Wl,-rpath,"$PWD/$at/build/lib" -lkeyway
}

# expected HOST PLUGIN: the lines that have to be among what the host says, a line each.
expected() {
  case $1-$2 in
    1.0-1.1) printf '%s\n' 'option: ok' 'status of a class: busy' ran ;;
    1.1-1.0) printf '%s\n' 'host 1.1: critical extension: 3' 'host 1.1: memory.advise: 3, power.limit: 3' \
      'option: invalid argument' ran ;;
    1.1-1.1) printf '%s\n' 'host 1.1: critical extension: 0' 'host 1.1: memory.advise: 0, power.limit: 0' \
      'option: ok' 'status of a class: busy' ran ;;
    *) if [ "${1%.*}" = "${2%.*}" ]; then echo ran; else echo 'because: .*ABI'; fi ;;
  esac
}

for version in "${versions[@]}"; do
  step "building $version"
  build_version "$version"
done

failures=0
rows='host|plugin|'$'\n'
for host in "${versions[@]}"; do
  for plugin in "${versions[@]}"; do
    said=$("$root/$host/host" "$PWD/$root/$plugin/build/examples/vendor_npu/vendor_npu.so" 2>&1) || true
    while read -r line; do
      grep -q -- "$line" <<<"$said" && continue
      say "FAILED: a host of $host with a plugin of $plugin does not say '$line' but:"$'\n'"$said"
      failures=$((failures + 1))
    done < <(expected "$host" "$plugin")
    rows+="$host|$plugin|$(tail -n 1 <<<"$said" | cut -c1-90)"$'\n'
  done
done
say
printf '%s' "$rows" | column_table
[ "$failures" -eq 0 ] || die "$failures pairs did not do what docs/abi.md says"
say "scripts/abi_matrix.sh: passed. $SECONDS s."
