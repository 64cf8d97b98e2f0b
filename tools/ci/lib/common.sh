#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What every script of tools/ci begins with: the tree's folders, and what it says. Sourced by them, whose name is the
# command of ./dev.
set -eu

CALLED_FROM=$PWD
ROOT=$(cd "${0%/*}/../.." && pwd -P)
cd "$ROOT"
COMMAND=$(basename "$0" .sh)

# A relative path is from where the caller stands, and not from the folder that everything runs in.
absolute() {
  case $1 in
    '' | /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$CALLED_FROM/$1" ;;
  esac
}
LEAT_DEPS_DIR=$(absolute "${LEAT_DEPS_DIR:-}")
ONNXRUNTIME_INCLUDE_DIR=$(absolute "${ONNXRUNTIME_INCLUDE_DIR:-}")
ONNXRUNTIME_LIBRARY=$(absolute "${ONNXRUNTIME_LIBRARY:-}")
DEPS=${LEAT_DEPS_DIR:-$ROOT/.leat-deps}
LOGS=$DEPS/logs
# shellcheck disable=SC2034 # Those who source this use it.
BUILD=$ROOT/build

say() {
  printf '== %s\n' "$*"
}

# stop TEXT...: one line each, then exit 1.
stop() {
  printf './dev: %s\n' "$1" >&2
  shift
  for line in "$@"; do
    printf '       %s\n' "$line" >&2
  done
  exit 1
}

# logged NAME COMMAND...: runs quietly; the output is in a log, and its end is shown when the command fails.
logged() {
  log=$LOGS/$1.log
  shift
  if "$@" >"$log" 2>&1; then
    return 0
  fi
  printf -- '---- the end of %s\n' "$log" >&2
  tail -n 15 "$log" >&2
  printf -- '----\n' >&2
  return 1
}

# no_arguments ARGUMENT...: refuses arguments that would be ignored.
no_arguments() {
  [ $# -eq 0 ] || stop "$COMMAND takes no arguments ('$1')"
}

# make_logs: the folder for what is downloaded and logged.
make_logs() {
  mkdir -p "$LOGS" || stop "$DEPS cannot be used for what is downloaded; LEAT_DEPS_DIR can name another folder"
}
