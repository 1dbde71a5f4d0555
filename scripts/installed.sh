#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/installed.sh
#
# The conformance suite as a vendor gets it: the installed package alone in a root of its own, without this source tree,
# without a compiler, against the example vendor's plugin, which was built elsewhere from the package; and the example
# models, built likewise. Uses what scripts/test.sh installed in build/installed, or builds it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

[ -x build/installed/bin/keyway ] || {
  step "building and installing"
  scripts/setup.sh --minimal
  build_preset release
  install_with_examples release
}

step "the example vendor and the models, built outside of the source tree"
elsewhere=$(mktemp -d)
root=$(mktemp -d)
clean_up() {
  ! mountpoint -q "$root/proc" || umount "$root/proc"
  rm -rf --one-file-system "$elsewhere" "$root"
}
trap clean_up EXIT
for example in vendor_npu models; do
  cp -r "examples/$example" "$elsewhere/$example"
  quiet "configure-elsewhere-$example" cmake -G Ninja -S "$elsewhere/$example" -B "$elsewhere/build/$example" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$PWD/build/installed"
  quiet "build-elsewhere-$example" cmake --build "$elsewhere/build/$example" -j "$jobs"
done

step "a root with the package, its libraries, the plugin and the models"
mkdir -p "$root"/{dev,tmp,proc,vendor,opt}
cp -r build/installed "$root/opt/keyway"
cp "$elsewhere"/build/{vendor_npu/vendor_npu.so,models/decoder_block,models/bottleneck,models/sentence_embedding} "$root/vendor/"
cp -r examples/models/recorded "$root/vendor/"
rm -f "$root"/opt/keyway/lib/*/keyway/plugins/keyway_opencl.so "$root"/opt/keyway/lib/keyway/plugins/keyway_opencl.so
find "$root/opt/keyway" "$root/vendor" -type f \( -name '*.so*' -o -perm -u+x \) -exec ldd {} + 2>/dev/null |
  grep -oE '/[^ :]+' | grep -v "^$PWD" | sort -u | while read -r file; do
  [ ! -f "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -L "$file" "$root$file"; }
done
: >"$root/dev/null"

step "the suite in there"
inside=(unshare --user --map-root-user --mount --pid --fork --mount-proc="$root/proc" chroot "$root")
if [ "$(id -u)" -eq 0 ] && mount -t proc proc "$root/proc" 2>/dev/null; then
  inside=(chroot "$root")
fi
for run in "npu:0 --plugin /vendor/vendor_npu.so" "cpu:0 --op add.*"; do
  read -ra arguments <<<"$run"
  say "    keyway conform --device ${arguments[*]}"
  "${inside[@]}" /opt/keyway/bin/keyway conform --device "${arguments[@]}" >build/logs/installed.log 2>&1 ||
    {
      tail -n 40 build/logs/installed.log >&2
      die "the suite failed in the bare root; its last lines are above" "All of its output is in build/logs/installed.log."
    }
  sed -n 's/^verdict:/    verdict:/p' build/logs/installed.log
done

step "the models in there"
library=$(find "$root/opt/keyway" -name 'libkeyway.so.1' -printf '%h')
for run in "${model_runs[@]}"; do
  read -ra command <<<"$run"
  LD_LIBRARY_PATH=${library#"$root"} "${inside[@]}" "/vendor/${command[0]}" "${command[@]:1}" --device cpu:0 \
    --recorded /vendor/recorded >build/logs/installed.log 2>&1 ||
    {
      tail -n 40 build/logs/installed.log >&2
      die "$run failed in the bare root; its last lines are above" "All of its output is in build/logs/installed.log."
    }
  sed -n '$s/^/    /p' build/logs/installed.log
done
