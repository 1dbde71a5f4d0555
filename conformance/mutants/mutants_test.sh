#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutants_test.sh BUILD_DIRECTORY MUTANT...
# The suite finds each mutant not conformant, by the check that is named for its defect, and the replay command that it
# prints gives the same numbers. The wrapper without a defect is conformant in the same cases. Prints "killed N/M".
build=$1
shift
PATH=$build/bin:$PATH # the printed replay commands begin with "keyway"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# select_cases MUTANT: sets cases (what to run) and check (an extended expression that a "fail" line must match).
select_cases() {
  case $1 in
  tail_not_written) cases='--op add.Tensor' check='add\.Tensor/.*: tail not written' ;;
  stride_ignored) cases='--op sub.Tensor' check='sub\.Tensor/[^/]*/(transposed|sliced)/' ;;
  offset_off_by_one) cases='--op abs' check='abs/[^/]*/one/' ;;
  nan_dropped) cases='--op maximum' check='maximum/f32/special/' ;;
  off_by_one_reduction) cases='--op sum' check='sum/[^/]*/one/' ;;
  input_changed) cases='--op mul.Tensor' check='mul\.Tensor/.*: input 0 changed' ;;
  guard_overrun) cases='--op neg' check='neg/.*: guard zone after output 0 changed' ;;
  oom_as_success) cases='--suite memory' check='memory/out_of_memory$' ;;
  event_never_waits) cases='--suite event' check='event/orders_streams$' ;;
  sync_returns_early) cases='--suite stream' check='stream/synchronize_waits$' ;;
  query_always_idle) cases='--suite stream' check='stream/query$' ;;
  callback_inline) cases='--suite stream' check='stream/callback_not_inline$' ;;
  copy_short) cases='--suite copy' check='copy/small_sizes$' ;;
  environment_changed) cases='--suite environment' check='environment/process_kept$' ;;
  fast_math) cases='--suite environment' check='environment/no_fast_math$' ;;
  *) return 1 ;;
  esac
}

# conform MUTANT CASES... >report
conform() {
  plugin=$build/tests/mutants/keyway_mutant_$1.so
  shift
  keyway conform --plugin "$plugin" --device mutant:0 --verbose "$@" 2>&1
}

# first_failure REPORT CHECK: the failed case with its two lines below, of the numbers and of the replay command.
first_failure() {
  awk -v check="^fail $2" '/^fail / { found = $0 ~ check } found { print; if (++lines == 3) exit }' "$1"
}

# survives MUTANT: says why the mutant is not killed; nothing when it is.
survives() {
  select_cases "$1" || { echo "has no row in mutants_test.sh" && return; }
  conform "$1" $cases >"$work/report"
  status=$?
  [ $status = 1 ] || { echo "keyway conform $cases ended with exit code $status, not 1" && tail -n 3 "$work/report" && return; }
  first_failure "$work/report" "$check" >"$work/failure"
  [ -s "$work/failure" ] || { echo "no failed case matches $check; failed:" && grep '^fail ' "$work/report" | head -n 5 && return; }
  replay=$(sed -n 3p "$work/failure")
  eval "$replay" >"$work/again" 2>&1
  status=$?
  [ $status = 1 ] || { echo "its replay ended with exit code $status, not 1: $replay" && return; }
  first_failure "$work/again" "" >"$work/failure_again"
  cmp -s "$work/failure" "$work/failure_again" ||
    { echo "its replay gave other numbers:" && head -n 2 "$work/failure" "$work/failure_again"; }
}

killed=0
ran= # the distinct choices of cases, each followed by ";"
for mutant; do
  reason=$(survives "$mutant")
  select_cases "$mutant" || cases=
  if [ -z "$reason" ]; then
    killed=$((killed + 1))
    echo "killed $mutant by $check"
  else
    echo "SURVIVED $mutant: $reason"
  fi
  case "$ran" in *"$cases;"*) ;; *) ran="$ran$cases;" ;; esac
done

# The wrapper alone: what the mutants have in common is no defect.
innocent=0
IFS=';'
for cases in $ran; do
  IFS=' '
  conform none $cases >"$work/report"
  status=$?
  [ $status = 0 ] && continue
  innocent=1
  echo "WRONGLY ACCUSED: the wrapper without a defect, keyway conform $cases, exit code $status:"
  grep -A 2 '^fail ' "$work/report" | head -n 9
done

echo "killed $killed/$#"
[ $killed = $# ] && [ $innocent = 0 ]
