#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: packages_check.sh FOLDER_OF_PACKAGES FOLDER
#
# For a bare Debian root, as scripts/packages.sh makes one: installs the packages there, uses them, removes and purges
# them, and looks whether anything of them stayed. FOLDER has consumers/ and examples/ of the tree.
set -euo pipefail
packages=$1 folder=$2
export DEBIAN_FRONTEND=noninteractive HOME=$folder/home XDG_CACHE_HOME=$folder/home/.cache
mkdir -p "$HOME"

# all_files: of the root, but what belongs to apt and dpkg themselves, or to no package.
all_files() {
  find / -xdev \( -path "$packages" -o -path "$folder" -o -path /proc -o -path /sys -o -path /dev -o -path /tmp \
    -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \) -prune -o -print | LC_ALL=C sort
}

echo "== installing"
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$packages"/*.deb gcc libc6-dev cmake make ninja-build meson pkg-config \
  man-db pocl-opencl-icd bash-completion fish zsh
mapfile -t names < <(for package in "$packages"/*.deb; do dpkg-deb -f "$package" Package; done)
echo "== installed: ${names[*]}"

# said WORDS COMMAND...: the command prints them. All of it is read: one that writes on behind `grep -q` would fail.
said() {
  local words=$1 text
  shift
  text=$("$@") && grep -q -e "$words" <<<"$text"
}

echo "== devices"
keyway list
said '^cpu:0' keyway list
said '^opencl:0' keyway list
said levelzero keyway doctor
keyway conform --device cpu:0 --quick --suite ops --op 'add.*,mm'
echo "== cpu:0 and opencl:0 are listed, cpu:0 proven"

said --device man --pager=cat keyway-conform
man --pager=cat keyway >/dev/null
bash -c '. /usr/share/bash-completion/bash_completion && _completion_loader keyway; complete -p keyway'
fish --command 'complete --do-complete "keyway do"' | grep doctor
zsh -f -c 'autoload -Uz compinit && compinit -D && whence -w _keyway'
[ -e /usr/share/doc/keyway/html/index.html ] || { echo "the site is missing" >&2; exit 1; }
echo "== man pages, completion and site are there"

bash "$folder/consumers/check.sh" keyway "$folder/examples" "$folder/built"
echo "== CMake, pkg-config, make and Meson build an application and a plugin"
(cd "$folder" && keyway new my_npu --vendor my_company && cmake -S my_npu -B my_npu/build && cmake --build my_npu/build &&
  ctest --test-dir my_npu/build -R contract)
echo "== keyway new: built, its contract kept"

# twice: what the first purge leaves would be found by the second.
purge() {
  dpkg --remove "${names[@]}"
  [ ! -e /usr/bin/keyway ]
  dpkg --purge "${names[@]}"
  all_files >"$folder/$1"
}
purge first
apt-get install -y -qq --no-install-recommends "$packages"/*.deb
purge second
diff "$folder/first" "$folder/second"
if grep -i keyway "$folder/second" || dpkg -l | grep keyway; then
  echo "the above stayed behind" >&2
  exit 1
fi
echo "== removed and purged: nothing stayed"
