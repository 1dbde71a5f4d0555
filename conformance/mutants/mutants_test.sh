#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: mutants_test.sh BUILD_DIRECTORY [--results DIRECTORY] NAME
#
# Is the mutant NAME killed? The suite has to find it not conformant by the check that mutants.list names, and the
# replay command that it prints has to give the same numbers. NAME "none", the wrapper without a defect, has to be
# conformant in everything that kills a mutant, but faults, ops and options of a mutant's own; "none_KIND" in what kills
# those made with mutant_KIND.h. What kills with --thorough only takes minutes: "thorough" is "none" in that. Leaves
# "killed" or "survived" in DIRECTORY/NAME for the summary that ctest prints.
build=$1
shift
results=
[ "$1" = --results ] && results=$2 && shift 2
name=$1
plugin=$name
[ "$name" = thorough ] && plugin=none
here=$(dirname "$0")
PATH=$build/bin:$PATH # the printed replay commands begin with "keyway"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# column N: of the mutant's row.
column() {
  awk -F ' : ' -v name="$name" -v n="$1" '$1 == name { print $n }' "$here/mutants.list"
}

conform() {
  keyway conform --plugin "$build/tests/mutants/keyway_mutant_$plugin.so" --device mutant:0 --verbose "$@" 2>&1
}

# first_failure REPORT CHECK: the failed case with what is below: the numbers and the replay command.
first_failure() {
  awk -v check="^$2" '/^(fail|crash|timeout) / { found = $0 ~ check } found { print } found && /^    keyway / { exit }' "$1"
}

# survives: says why the mutant is not killed; nothing when it is.
survives() {
  cases=$(column 2) check=$(column 3)
  case $cases in
    'not yet: '*) echo "mutants.list says that its check is not there yet" && return ;;
  esac
  [ -n "$check" ] || { echo "it has no row in mutants.list" && return; }
  conform $cases >"$work/report"
  status=$?
  [ $status = 1 ] || { echo "keyway conform $cases ended with exit code $status, not 1" && tail -n 3 "$work/report" && return; }
  first_failure "$work/report" "$check" >"$work/failure"
  [ -s "$work/failure" ] || { echo "no failed case matches $check; failed:" && grep -E '^(fail|crash|timeout) ' "$work/report" | head -n 5 && return; }
  replay=$(tail -n 1 "$work/failure")
  eval "$replay" >"$work/again" 2>&1
  status=$?
  [ $status = 1 ] || { echo "its replay ended with exit code $status, not 1: $replay" && return; }
  first_failure "$work/again" "" >"$work/failure_again"
  cmp -s "$work/failure" "$work/failure_again" ||
    { echo "its replay gave other numbers:" && head -n 2 "$work/failure" "$work/failure_again"; }
}

# made_with KIND MUTANT: is the mutant's source based on mutant_KIND.h?
made_with() {
  grep -q "\"mutant_$1\.h\"" "$here/$2.c"
}

# accused: in which cases the wrapper without a defect fails. Where none of them applies to it, as with a mutant that has
# a second device or an energy counter, it is not judged.
accused() {
  awk -F ' : ' '/ : / && !/^#/ && $2 !~ /^not yet: / { print $1, $2 }' "$here/mutants.list" | while read -r mutant cases; do
    case $name:$cases in
      thorough:*--thorough*) echo "$cases" ;;
      thorough:* | none*:*--thorough*) ;;
      none:*) made_with fault "$mutant" || made_with own "$mutant" || made_with number "$mutant" || echo "$cases" ;;
      *) ! made_with "${name#none_}" "$mutant" || echo "$cases" ;;
    esac
  done | sort -u | while read -r cases; do
    conform $cases >"$work/report"
    status=$?
    [ $status = 0 ] || grep -q '^verdict: not judged ' "$work/report" && continue
    echo "keyway conform $cases ended with exit code $status:"
    grep -E -A 2 '^(fail|crash|timeout) ' "$work/report" | head -n 9
  done
}

case $name in
  none | none_* | thorough)
    reason=$(accused)
    [ -z "$reason" ] && exit
    echo "wrongly accused, the wrapper without a defect $name: $reason"
    exit 1
    ;;
esac
reason=$(survives)
verdict=killed
[ -z "$reason" ] || verdict=survived
[ -z "$results" ] || echo $verdict >"$results/$name"
echo "$verdict: $name${reason:+: }$reason"
[ $verdict = killed ]
