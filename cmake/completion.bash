# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completion in bash for each of Leat's programs: its options, which it is asked for, and else files.
_leat() {
  local options
  COMPREPLY=()
  [[ $2 == -* ]] || return 0
  options=$("$1" --help 2>/dev/null | sed -nE '/Options:$/,/^$/s/^  (-[a-z], )?(--[a-z-]+=?).*/\2/p')
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$2")
  # Behind an option that takes a value comes that, without a space.
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _leat leat-bench leat-conformance leat-info leat-run
