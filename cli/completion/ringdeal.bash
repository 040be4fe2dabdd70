# Completion for bash: what the commands themselves say in their help, so that it is never behind them.

_ringdeal_names() { # of the listeners, if ringdeald answers
  ringdeal status --json 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d'"' -f4
}

_ringdeal_options() { # COMMAND...: its options
  "$@" --help 2>/dev/null | grep -oE '^ {2,4}(-[A-Za-z],)?--[a-z-]+' | grep -oE -e '--[a-z-]+'
}

_ringdeal() {
  local current=$2 previous=$3 words=
  if [[ ${COMP_WORDS[1]} = run && " ${COMP_WORDS[*]:1:COMP_CWORD-1} " = *' -- '* ]]; then
    COMPREPLY=($(compgen -c -- "$current"))
    return
  fi
  if [[ $previous = check && $current != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  case $previous in
    --listener) words=$(_ringdeal_names) ;;
    --control | --config | --topology | --plot) COMPREPLY=($(compgen -f -- "$current")); return ;;
    *)
      if [[ $1 = *ringdeald ]]; then
        words=$(_ringdeal_options ringdeald)
      elif [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
        words=$(ringdeal --help 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z]*\) .*/\1/p')
      elif [[ $COMP_CWORD -eq 1 ]]; then
        words=$(_ringdeal_options ringdeal)
      else
        words=$(_ringdeal_options ringdeal "${COMP_WORDS[1]}")
      fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _ringdeal ringdeal ringdeald
