#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/compile_check.sh [ARCHITECTURE...]
#
# Compiles every program of the kernel pack for GPUs that this machine need not have: with a new NVRTC from PyPI for
# sm_80, sm_90 and sm_100, with hipRTC for those of a list of gfx architectures that the installed one knows; or for the
# architectures that are named. Writes what kernels take of them, registers, spills and local memory, to
# bench/results/DATE-compile.md. Without hipRTC its architectures are skipped with a line. Exit status 0: all that could
# be compiled was. What may not get worse of it is a table: scripts/instructions.sh.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

architectures=(sm_80 sm_90 sm_100 gfx900 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1030 gfx1100)
case ${1-} in
  --help) no_arguments --help ;;
  '') ;;
  -*) no_arguments "$1" ;;
  *) architectures=("$@") ;;
esac
quiet configure-release cmake --preset release
quiet build-compile cmake --build --preset release -j "$jobs" --target keyway-gpu-compile
nvrtc_from_pypi "$nvrtc_new"
export LD_LIBRARY_PATH=$PWD/$nvrtc${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

results=bench/results/$(date +%F)-compile.md
lines=build/compile
rm -rf "$lines"
mkdir -p "$lines" build/logs

# compile ARCHITECTURE: lines of kernels in $lines/ARCHITECTURE, as keyway-gpu-compile prints them; says how it went.
compile() {
  local of=$1 runtime=cuda status=0
  [ "${of#gfx}" = "$of" ] || runtime=hip
  # An aborting compiler leaves no core, and the shell's word for it goes to the log.
  { (ulimit -c 0; build/release/bin/keyway-gpu-compile "$runtime" "$of" >"$lines/$of"); } 2>"build/logs/compile-$of.log" ||
    status=$?
  case $status in
    0) say "    $of: $(wc -l <"$lines/$of") kernels of $(cut -f1 "$lines/$of" | sort -u | wc -l) programs" ;;
    77) say "    $of: skipped: $(head -n 1 "build/logs/compile-$of.log")" ;;
    1 | 2)
      head -n 20 "build/logs/compile-$of.log" >&2
      failed+=("$of")
      ;;
    *)
      if [ -s "$lines/$of" ]; then
        failed+=("$of")
        say "    $of: the compiler crashed"
      else
        say "    $of: skipped: the installed compiler does not know it"
      fi
      ;;
  esac
  [ "$status" -eq 0 ] || rm -f "$lines/$of"
}

failed=()
step "compiling (${#architectures[@]} architectures)"
for architecture in "${architectures[@]}"; do compile "$architecture"; done
[ ${#failed[@]} -eq 0 ] || die "does not compile for: ${failed[*]}" "The compilers' messages are in build/logs/compile-*.log."
done=()
for architecture in "${architectures[@]}"; do
  [ ! -e "$lines/$architecture" ] || done+=("$architecture")
done
[ ${#done[@]} -gt 0 ] || { say "There is no compiler here: nothing was compiled."; exit; }

# The tables' cells.
summary() {
  echo 'architecture|programs|kernels|most registers|kernels that spill'
  local of
  for of in "${done[@]}"; do
    awk -F'\t' -v of="$of" '!seen[$1]++ { programs++ } $3 > most { most = $3; at = $2 } $4 > 0 { spill++ }
      END { print of "|" programs "|" NR "|" most + 0 " (" at ")|" spill + 0 }' "$lines/$of"
  done
}
spills() {
  echo 'architecture|program|kernel|registers|bytes spilt|local memory'
  local of
  for of in "${done[@]}"; do
    awk -F'\t' -v of="$of" '$4 > 0 { print of "|" $1 "|" $2 "|" $3 "|" $4 "|" $5 }' "$lines/$of"
  done
}
# Of each program the most registers that a kernel takes, for each architecture.
programs() {
  (cd "$lines" && awk -F'\t' '
    FNR == 1 { columns[++count] = FILENAME }
    !($1 in known) { known[$1] = ++rows; row[rows] = $1 }
    $3 > most[$1, FILENAME] { most[$1, FILENAME] = $3 }
    END {
      line = "program"
      for (c = 1; c <= count; c++) line = line "|" columns[c]
      print line
      for (r = 1; r <= rows; r++) {
        line = row[r]
        for (c = 1; c <= count; c++) line = line "|" most[row[r], columns[c]] + 0
        print line
      }
    }' "${done[@]}")
}
commit=$(git describe --always --dirty) # before the results change a file
{
  echo "# The kernel pack compiled ahead, $(date +%F)"
  echo
  echo "    scripts/compile_check.sh${*:+ $*}"
  echo
  echo "Commit $commit. No GPU was needed, and none was used: this says that every program compiles"
  echo "and what its kernels take, not that they compute the right thing. Registers are those of an item (of AMD's, vector"
  echo "registers), spills and local memory are in bytes."
  echo
  echo '```'
  summary | column_table
  echo
  spills | column_table
  echo '```'
  echo
  echo "The most registers that a kernel of a program takes:"
  echo
  echo '```'
  programs | column_table
  echo '```'
} >"$results"
say
summary | column_table
say
say "${bold}All programs compile. $results has every one.$plain"
