# SPDX-License-Identifier: Apache-2.0
# What the scripts share; to be sourced. Changes to the root of the checkout and defines:
#   script_usage     prints the comment at the head of the running script
#   say, step, die   lines to people; step numbers and times what follows
#   build_preset, conform, conform_table, ...   see below
# shellcheck shell=bash
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

jobs=$(nproc)

if [ -t 1 ]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

script_usage() { awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$script"; }

# Every script takes --help and, unless it handles arguments itself, nothing else.
no_arguments() {
  case ${1-} in
    '') ;;
    --help) script_usage; exit 0 ;;
    *) die "does not know the argument '$1'" "Run: $script --help" ;;
  esac
}

say() { printf '%s\n' "$*"; }

# die WHAT [NEXT]: what failed and why, and what to do next.
die() {
  printf '%s: %s\n' "${script##*/}" "$1" >&2
  [ -z "${2-}" ] || printf '%s\n' "$2" >&2
  exit 1
}

steps_done=0
step() {
  steps_done=$((steps_done + 1))
  printf '%s[%d, %d s] %s%s\n' "$bold" "$steps_done" "$SECONDS" "$*" "$plain"
}

# quiet LOG COMMAND...: runs it with its output in a file under build/logs; shows the end of the file when it fails.
quiet() {
  local log=build/logs/$1.log
  shift
  mkdir -p build/logs
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "'$*' failed; its last lines are above" "All of its output is in $log."
  fi
}

# python_environment NAME ARGUMENT...: build/NAME, an environment of Python's own with what pip installs by these
# arguments. Sets environment and python.
python_environment() {
  environment=$PWD/build/$1 python=$PWD/build/$1/bin/python
  [ -x "$python" ] || quiet "$1-venv" python3 -m venv "$environment"
  quiet "$1-pip" "$python" -m pip install --disable-pip-version-check --no-compile --progress-bar off "${@:2}"
}

# build_preset PRESET [CMAKE OPTION...]: configures and builds build/PRESET; shows what was found unless that is as it was.
build_preset() {
  local preset=$1 features
  shift
  quiet "configure-$preset" cmake --preset "$preset" "$@"
  features=$(sed -n '/^-- Keyway /,/^-- Configuring/{/^-- Configuring/!s/^-- /    /p}' "build/logs/configure-$preset.log")
  if [ "$features" != "$(cat "build/$preset/features.txt" 2>/dev/null)" ]; then
    printf '%s\n' "$features" | tee "build/$preset/features.txt"
  fi
  quiet "build-$preset" cmake --build --preset "$preset" -j "$jobs"
}

# build_sanitized PRESET: build_preset without OpenCL. Its driver brings a whole compiler into the process, which is not
# built with sanitizers: real findings would drown in its own.
build_sanitized() {
  build_preset "$1" -DCMAKE_DISABLE_FIND_PACKAGE_OpenCL=ON
}

# run_tests PRESET [OPTIONS of ctest]: all tests of build/PRESET; says how many ran, and what those that failed said.
# Their cache is build/cache, in which a run that was ended has left marks of plugins that it was opening.
run_tests() {
  local preset=$1 log=build/logs/tests-$1.log
  shift
  mkdir -p build/logs
  rm -rf build/cache/keyway/opening
  if ! ctest --preset "$preset" -j "$jobs" "$@" >"$log" 2>&1; then
    awk '/^ *[0-9]+\/[0-9]+ Test +#/ { failed = /\*\*\*/ && !/\*\*\*Skipped/; lines = 0 } /^ +Start / { failed = 0 }
      failed && ++lines <= 60' "$log" >&2
    sed -n '/^The following tests FAILED/,$p' "$log" >&2
    die "tests of build/$preset failed; what each said is above" "All of their output is in $log."
  fi
  sed -n -E 's/^([0-9]*% tests passed.*|mutants: .*)$/    \1/p' "$log"
}

# check_format: every C source as clang-format would write it.
check_format() {
  git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror ||
    die "the files named above are not formatted" "Run: git ls-files '*.c' '*.h' | xargs clang-format -i"
}

# install_with_examples PRESET: installs build/PRESET into build/installed and builds the examples from there, as a
# vendor and an application developer do. Sets keyway, select_device, models (a directory), vendor_npu, vendor_gpu and vendor_queue to
# the results. What is installed is moved once, since it promises that it may be. Does nothing when neither a source nor
# the build has changed since.
install_with_examples() {
  local prefix=$PWD/build/installed stamp=build/examples/installed.txt example
  if [ "$(cat "$stamp" 2>/dev/null)" != "$1" ] ||
    [ -n "$(find "build/$1/bin" "build/$1/lib" -type f -newer "$stamp" -print -quit)" ] ||
    [ -n "$(find . \( -path ./build -o -path ./.git \) -prune -o -newer "$stamp" -print -quit)" ]; then
    rm -rf build/install build/installed build/examples
    quiet install cmake --install "build/$1" --prefix "$PWD/build/install"
    mv build/install "$prefix"
    for example in vendor_npu vendor_gpu vendor_queue select_device kmeans perceptron models weights embeddings small; do
      # setup.sh --minimal brings no compiler of C++, and the demo has no use for it.
      command -v c++ >/dev/null || ! grep -q 'LANGUAGES CXX' "examples/$example/CMakeLists.txt" || continue
      quiet "configure-$example" cmake -G Ninja -S "examples/$example" -B "build/examples/$example" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-Werror -DCMAKE_CXX_FLAGS=-Werror -DCMAKE_PREFIX_PATH="$prefix"
      quiet "build-$example" cmake --build "build/examples/$example" -j "$jobs"
    done
    printf '%s\n' "$1" >"$stamp"
  fi
  keyway=$prefix/bin/keyway
  select_device=build/examples/select_device/select_device
  models=build/examples/models
  vendor_npu=build/examples/vendor_npu/vendor_npu.so
  vendor_gpu=build/examples/vendor_gpu/vendor_gpu.so vendor_queue=build/examples/vendor_queue/vendor_queue.so
}

# The OpenCL driver that opencl:0 is to be of, as scripts/opencl.sh calls it; empty: as the system has them.
opencl_driver=

# plugin_arguments DEVICE: what selects the plugin of a device; sets the array `plugin`, and `driver` to what runs a
# command with the device's driver in place: a test driver, or opencl_driver.
plugin_arguments() {
  plugin=() driver=()
  case $1 in
    npu:*) plugin=(--plugin "$vendor_npu") ;;
    agpu:*) plugin=(--plugin "$vendor_gpu") ;;
    aqpu:*) plugin=(--plugin "$vendor_queue") ;;
    # Two of each: they copy to one another.
    cuda:* | hip:* | levelzero:*) driver=(env KEYWAY_ENGINE_DEVICES=2 scripts/emulated.sh "${1%:*}") ;;
    opencl:*) [ -z "$opencl_driver" ] || driver=(scripts/opencl.sh "$opencl_driver") ;;
  esac
}

# run_select_device DEVICE: the example, and a check of what it prints.
run_select_device() {
  local output
  plugin_arguments "$1"
  output=$("$select_device" "${plugin[@]}" "$1") || die "select_device $1 failed" "Run: $select_device ${plugin[*]} $1"
  printf '%s\n' "$output" | sed 's/^/    /'
  grep -q '\[\[2, 4, 6\], \[8, 10, 12\]\]' <<<"$output" || die "select_device $1 printed the wrong y (above)"
}

# The models: inference, and training of those that can be trained.
model_runs=("decoder_block gpt2" "decoder_block gpt2 --train" "decoder_block llama" "decoder_block llama --train"
  bottleneck "bottleneck --train" sentence_embedding)

# run_models DEVICE: all of them. Where the device lacks an op, cpu:0 stands in.
run_models() {
  local run output
  local -a command
  plugin_arguments "$1"
  for run in "${model_runs[@]}"; do
    read -ra command <<<"$run"
    output=$(KEYWAY_FALLBACK=allow "$models/${command[0]}" "${command[@]:1}" "${plugin[@]}" --device "$1") ||
      die "$run on $1 failed:"$'\n'"$output" "Run: KEYWAY_FALLBACK=allow $models/$run ${plugin[*]} --device $1"
    tail -n 1 <<<"$output" | sed 's/^/    /'
  done
}

# json_member FILE KEY: the value of a string or number that stands outside the list of ops in a conform report.
json_member() {
  tr -d '\n\t' <"$1" | sed 's/"ops":.*//' | grep -oE "\"$2\": *(\"[^\"]*\"|[a-z0-9.]+)" | head -n 1 |
    sed -E 's/^"[^"]*": *//; s/"//g' || true # a report without it: an empty cell
}

# library_symbols LIBRARY: the names that it exports, one a line.
library_symbols() {
  nm -D --defined-only -f posix "$1" | awk '$2 != "A" { sub(/@.*/, "", $1); print $1 }' | LC_ALL=C sort
}

# abi_version: the version of the plugin ABI that the headers say, as "1.0".
abi_version() { sed -n 's/^#define KW_ABI_VERSION_TEXT "\(.*\)".*/\1/p' abi/include/keyway/types.h; }

# abi_types FILE: the types of plugin.h as libabigail writes them, which wants to see a function.
abi_types() {
  local object
  object=$(mktemp --suffix .so)
  {
    echo '#include <keyway/plugin.h>'
    echo 'kw_status keyway_plugin_query(const kw_query_info *a, const kw_plugin_desc **b, const char **c) {'
    echo '  return a || b || c; }'
  } | gcc -std=c11 -g -fno-eliminate-unused-debug-types -shared -fPIC -Iabi/include -x c - -o "$object"
  abidw --load-all-types --no-show-locs --no-corpus-path --no-comp-dir-path --out-file "$1" "$object"
  rm -f "$object"
}

# Devices that run on test drivers here, see scripts/emulated.sh.
emulated_devices=(levelzero:0 cuda:0 hip:0)

# The whole op set: the last level with every extension.
whole_level=training+f64+complex+fp8+int4+sparse+fft+detection+paged

# share PARTS: one of so many, "3/16", by the commit.
share() { say "$((0x$(git rev-parse --short=7 HEAD) % $1 + 1))/$1"; }

# debian_packages FOLDER: builds the source in FOLDER/keyway into packages in FOLDER; uses the source up. Packages with
# debugging symbols are for whoever asks dpkg-buildpackage for them: they double the time.
debian_packages() {
  quiet "packages-${1##*/}" env -C "$1/keyway" DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$jobs" DEB_CFLAGS_STRIP=-g \
    dpkg-buildpackage -us -uc
  rm -rf "$1/keyway"
}

# make_bare_root FOLDER: a bare Debian root there, with this machine's sources of packages, for in_bare_root; needs to
# be root. What debootstrap made is kept in build/bare-root.
make_bare_root() {
  local base=$PWD/build/bare-root file mirror
  [ "$(id -u)" -eq 0 ] || die "a bare root can only be made by root" "Run: sudo $script"
  if [ ! -e "$base.complete" ]; then
    rm -rf "$base"
    mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
      sed -n -E 's/^(deb|URIs:) .*(https?:[^ ]+).*/\2/p' | sed -n 1p)
    quiet debootstrap debootstrap --variant=minbase --include=ca-certificates \
      "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$base" ${mirror:+"$mirror"}
    rm -f "$base/etc/apt/sources.list"
    for file in /etc/apt/{sources.list,sources.list.d,apt.conf.d,preferences.d}; do
      [ ! -e "$file" ] || cp -r "$file" "$base/etc/apt/"
    done
    cp -r /usr/share/keyrings/. "$base/usr/share/keyrings/"
    : >"$base.complete"
  fi
  leave_bare_root "$1"
  cp -a --reflink=auto "$base" "$1"
  cp /etc/resolv.conf /etc/hosts "$1/etc/"
}

# in_bare_root FOLDER COMMAND...: runs it in there, with nothing of this environment.
in_bare_root() {
  local root=$1 propagation=private
  shift
  mountpoint -q / || propagation=unchanged # within another root / is no mount, which unshare could make private
  unshare --mount --propagation "$propagation" --pid --fork --mount-proc="$root/proc" bash -c \
    'mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" && exec "$@"' "$root" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb chroot "$root" "$@"
}

# leave_bare_root FOLDER: nothing is mounted there any more, as in_bare_root's mounts are its own.
leave_bare_root() { rm -rf --one-file-system "$1"; }

# The oldest NVRTC that knows sm_90, and a new one.
nvrtc_old=nvidia-cuda-nvrtc-cu11==11.8.89 nvrtc_new=nvidia-cuda-nvrtc==13.5.37

# nvrtc_from_pypi PACKAGE==VERSION: NVRTC in a folder of its own; sets nvrtc to that of its library and nvrtc_version.
nvrtc_from_pypi() {
  local into=build/nvrtc/${1#*==}
  nvrtc=$into/lib nvrtc_version=${1#*==}
  nvrtc_version=${nvrtc_version%.*}
  [ ! -e "$into/complete" ] || return 0
  rm -rf "$into"
  quiet "nvrtc-$nvrtc_version" python3 -m pip install --disable-pip-version-check --no-deps --no-compile \
    --progress-bar off --target "$into/packages" "$1"
  ln -s "$(realpath --relative-to="$into" "$(dirname "$(find "$into" -name 'libnvrtc.so.*' -print -quit)")")" "$into/lib"
  : >"$into/complete"
}

conform_failures=0

# conform DEVICE [CONFORM OPTION...]: the conformance suite on one device; one more row for conform_table. Sets
# last_report to the file of its report.
conform() {
  local device=$1 report began=$SECONDS status=0
  shift
  mkdir -p build/reports
  report=build/reports/${device//[:@]/-}-$((conform_runs += 1)).json
  last_report=$report
  plugin_arguments "$device"
  [[ " ${emulated_devices[*]} " != *" $device "* ]] || set -- --timeout-scale 4 "$@" # what is emulated is slow
  say "    ${driver[*]:+${driver[*]} }keyway conform --device $device ${plugin[*]} $*"
  "${driver[@]}" "$keyway" conform --device "$device" "${plugin[@]}" --jobs "$jobs" --json "$report" "$@" \
    >"${report%.json}.txt" 2>&1 || status=$?
  [ "$status" -ne 3 ] || status=0 # only what --expect names
  if [ "$status" -ne 0 ]; then
    conform_failures=$((conform_failures + 1))
    tail -n 40 "${report%.json}.txt" >&2
  fi
  [ "$status" -le 1 ] || { conform_rows+="$device|could not run (exit $status)||||||||||"$'\n'; return; }
  local hardware=hardware
  [ "$(json_member "$report" emulated)" != true ] || hardware=emulated
  [ -z "${KEYWAY_ISOLATE-}" ] || hardware+=", isolated"
  local count row
  row="$device|$(json_member "$report" verdict)|$hardware|$(json_member "$report" seed)"
  for count in pass fail crash timeout unimplemented launches modules_built modules_cached build_seconds; do
    row+="|$(json_member "$report" "$count")"
  done
  conform_rows+="$row|$((SECONDS - began)) s"$'\n'
}
conform_runs=0
conform_rows=

conform_table() {
  {
    echo 'device|verdict|runs on|seed|pass|fail|crash|timeout|unimpl.|launches|built|cached|building, s|time'
    printf '%s' "$conform_rows"
  } | column_table
}

# Lines with | between cells, lined up.
column_table() {
  awk -F'|' '
    { rows = NR; for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) } if (NF > columns) columns = NF }
    END {
      for (r = 1; r <= rows; r++) {
        line = ""
        for (i = 1; i <= columns; i++) line = line sprintf("%-" width[i] "s  ", cell[r, i])
        sub(/ +$/, "", line)
        print line
        if (r == 1) { rule = ""; for (i = 1; i <= columns; i++) { dash = sprintf("%" width[i] "s", ""); gsub(/ /, "-", dash); rule = rule dash "  " } sub(/ +$/, "", rule); print rule }
      }
    }'
}

# require_conformant: ends the script unless every conform so far was.
require_conformant() {
  [ "$conform_failures" -eq 0 ] ||
    die "$conform_failures of the conform runs above failed" "Their reports are in build/reports; each failure there has the command that replays it."
}
