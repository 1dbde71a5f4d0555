#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: check.sh KEYWAY EXAMPLES FOLDER [PREFIX]
#
# An application and a plugin built against the installed Keyway by CMake, pkg-config alone, make and Meson (where it is
# there), in FOLDER, and run: the application on cpu:0 and on the plugin's device, whose contract KEYWAY, the program,
# checks. PREFIX: where Keyway is installed, if that is not the system's place.
set -eu
keyway=$1 examples=$(realpath "$2") folder=$3 prefix=${4-}
consumers=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder"
folder=$(realpath "$folder")
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
if [ -n "$prefix" ]; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name keyway.pc)")
  export PKG_CONFIG_PATH CMAKE_PREFIX_PATH="$prefix"
fi

# run_both HOW: what was built in FOLDER/HOW.
run_both() {
  program=$folder/$1/select_device plugin=$folder/$1/vendor_bare.so
  "$program" cpu:0 | grep -qF '[[2, 4, 6], [8, 10, 12]]' || { echo "$1: select_device cpu:0 printed no right y" >&2; exit 1; }
  "$keyway" list --plugin "$plugin" | grep -q '^vendor_bare:0' || { echo "$1: its plugin brings no vendor_bare:0" >&2; exit 1; }
  "$keyway" conform --device vendor_bare:0 --plugin "$plugin" --suite abi,lifecycle,memory --jobs 1 >"$folder/$1.log" 2>&1 ||
    { tail -n 20 "$folder/$1.log" >&2; exit 1; }
  echo "$1: an application and a plugin, built and run"
}

cmake -S "$consumers" -B "$folder/cmake" -DEXAMPLES="$examples" >"$folder/log"
cmake --build "$folder/cmake" >>"$folder/log"
run_both cmake

mkdir "$folder/pkg-config"
libraries=$(pkg-config --variable=libdir keyway)
# shellcheck disable=SC2046 # words of the compiler
cc -o "$folder/pkg-config/select_device" "$examples/select_device/select_device.c" \
  $(pkg-config --cflags --libs keyway) "-Wl,-rpath,$libraries"
# shellcheck disable=SC2046
cc -shared -fPIC -o "$folder/pkg-config/vendor_bare.so" "$examples/vendor_bare/plugin.c" \
  $(pkg-config --cflags keyway-plugin) -Wl,--version-script="$examples/vendor_bare/exports.map" -lm
run_both pkg-config

mkdir "$folder/make"
make -s -C "$folder/make" -f "$consumers/Makefile" SELECT_DEVICE="$examples/select_device" VENDOR_BARE="$examples/vendor_bare"
run_both make

if command -v meson >/dev/null; then
  meson setup -Dexamples="$(realpath --relative-to="$consumers" "$examples")" "$folder/meson" "$consumers" >>"$folder/log"
  ninja -C "$folder/meson" >>"$folder/log"
  run_both meson
else
  echo "meson: not tried, it is not installed"
fi
