# SPDX-License-Identifier: Apache-2.0
# bash completion for keyway. Options come from the program's own help, so there is no second list to keep.

_keyway_options() {
  "$1" help "$2" 2>/dev/null | grep '^  -' | grep -o -- '--[a-z][a-z-]*' | sort -u
}

# The names in the JSON of `keyway list` or `keyway ops`.
_keyway_names() {
  "$@" --json 2>/dev/null | sed -n 's/^\t*"name":[[:space:]]*"\([^"]*\)".*/\1/p'
}

# Behind the name of a device: the options of its plugin, as `keyway doctor` lists them; of all behind "auto".
_keyway_device_options() {
  local key=${2%%[:@]*}
  key=${key##*.}
  [ "$key" != auto ] || key='[a-z0-9_]*'
  "$1" doctor 2>/dev/null | sed -n "s|^ *option \([a-z0-9_]*\.$key\.[a-z0-9_]*=\).*|$2/\1|p"
}

# A word with a colon is several words for readline: it wants only what follows the last colon.
_keyway_offer() {
  local typed=$1 reply
  shift
  mapfile -t COMPREPLY < <(compgen -W "$*" -- "$typed")
  if [[ $typed == *:* && $COMP_WORDBREAKS == *:* ]]; then
    for reply in "${!COMPREPLY[@]}"; do
      COMPREPLY[reply]=${COMPREPLY[reply]#"${typed%:*}":}
    done
  fi
}

_keyway() {
  local program=${COMP_WORDS[0]} line word previous command
  # Split at blanks only, so that npu:0 and --in=x stay whole.
  line=${COMP_LINE:0:COMP_POINT}
  local -a words
  read -ra words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then
    words+=("")
  fi
  word=${words[-1]}
  previous=${words[-2]}
  command=${words[1]}
  COMPREPLY=()

  if ((${#words[@]} <= 2)); then
    _keyway_offer "$word" "$("$program" help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')"
    return
  fi
  case $previous in
    --device)
      case $word in
        */*)
          compopt -o nospace 2>/dev/null # a value follows
          _keyway_offer "$word" "$(_keyway_device_options "$program" "${word%%/*}")"
          ;;
        *) _keyway_offer "$word" "$(_keyway_names "$program" list)" ;;
      esac
      ;;
    --against) [ "$command" != replay ] || _keyway_offer "$word" "$(_keyway_names "$program" list)" ;;
    --op) _keyway_offer "$word" "$(_keyway_names "$program" ops)" ;;
    --in-dtype) _keyway_offer "$word" bf16 f8e4m3fn f8e5m2 ;;
    --level | --missing) _keyway_offer "$word" core inference training ;;
    --plugin | --in | --out | --json | --junit | --tap | --html | --expect | --resume | --sign | --waivers | --public-key | --model | --cut) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    *)
      case $command:$word in
        *:-*) _keyway_offer "$word" "$(_keyway_options "$program" "$command")" ;;
        help:*) _keyway_offer "$word" "$("$program" help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')" ;;
        report:*) ((${#words[@]} == 3)) && _keyway_offer "$word" show diff merge ;;
        completion:*) _keyway_offer "$word" bash ;;
        eval:*) ((${#words[@]} == 3)) && _keyway_offer "$word" "$(_keyway_names "$program" ops)" ;;
      esac
      ;;
  esac
}

complete -o default -F _keyway keyway
