#compdef keyway
# SPDX-License-Identifier: Apache-2.0
# zsh completion for keyway: what `keyway __complete` offers.

_keyway() {
  local line
  local -a offers values
  for line in ${(f)"$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    if [[ ${line%%$'\t'*} == *= ]]; then
      values+=${${line//:/\\:}/$'\t'/:}
    else
      offers+=${${line//:/\\:}/$'\t'/:}
    fi
  done
  if (( $#offers + $#values == 0 )); then
    _files
    return
  fi
  (( $#values == 0 )) || _describe -t values value values -S ''
  (( $#offers == 0 )) || _describe -t words word offers
}

# Read by the function's own file when it is in $fpath, and by `source <(keyway completion zsh)` otherwise.
if [[ $funcstack[1] == _keyway ]]; then _keyway "$@"; else compdef _keyway keyway; fi
