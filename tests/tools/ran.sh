# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # work is set by who reads this
# Read by the tests of this folder once `work` names their folder, which is made anew: runs commands and counts.
rm -rf "$work"
mkdir -p "$work"
checks=0
failures=0

# ran STATUS TEXT COMMAND...: runs it for 120 s at most, wants the status, and the text somewhere in what it prints.
ran() {
  wanted=$1
  text=$2
  shift 2
  checks=$((checks + 1))
  timeout 120 "$@" >"$work/out" 2>&1 </dev/null
  got=$?
  if [ "$got" -ne "$wanted" ]; then
    failures=$((failures + 1))
    echo "FAIL status $got instead of $wanted: $*"
    sed 's/^/     /' "$work/out"
  elif ! grep -qF -e "$text" "$work/out"; then
    failures=$((failures + 1))
    echo "FAIL no '$text' in: $*"
    sed 's/^/     /' "$work/out"
  fi
}

# finish STATUS: ends with it, or with 1 if a check failed.
finish() {
  echo "$checks checks, $failures failures"
  [ "$failures" -eq 0 ] || exit 1
  exit "$1"
}
