# SPDX-License-Identifier: Apache-2.0
# bash completion for keyway: what `keyway __complete` offers.

_keyway() {
  # Split at blanks only, so that npu:0 and --in=x stay whole.
  local line=${COMP_LINE:0:COMP_POINT} reply head
  local -a words
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" __complete "${words[@]:1}" 2>/dev/null | cut -f 1)
  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null # a value follows
  # Readline takes a word apart at some characters, and wants only what follows the last of them.
  head=${words[-1]%"${words[-1]##*["${COMP_WORDBREAKS//[^:=]/}"]}"}
  for reply in "${!COMPREPLY[@]}"; do COMPREPLY[reply]=${COMPREPLY[reply]#"$head"}; done
}

complete -o default -F _keyway keyway
