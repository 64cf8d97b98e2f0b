#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conformance.sh SUITE PLUGIN: a slice of the conformance suite in the emulator that LEAT_TEST_EMULATOR names, in a minute
# or two: memory, order and threads, and two operators with each type. The suite starts its own program for its cases,
# which the system cannot run, so here each process is given its cases at once; a case that would skip or that wants a
# process of its own is none of the slice. QEMU_LD_PREFIX and the driver's variables are the caller's.
set -eu
suite=$1
plugin=$2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
names=$("$LEAT_TEST_EMULATOR" "$suite" --list | sed 's/[[:space:]].*//')
passed=0

# slice PATTERN [WITHOUT]: runs the cases whose names match, in one process.
slice() {
  arguments=$(printf '%s\n' "$names" | grep -xE "$1" | grep -vxE "${2:-}" | sed 's/^/--run-case=/')
  [ -n "$arguments" ] || {
    echo "no case is named as $1: does the slice use other names than the suite?" >&2
    exit 1
  }
  # shellcheck disable=SC2086 # A list of words.
  timeout 300 "$LEAT_TEST_EMULATOR" "$suite" $arguments "$plugin" >"$log" 2>&1 || {
    status=$?
    tail -n 30 "$log" >&2
    echo "in the emulator a case of $1 ended with status $status, see above" >&2
    exit 1
  }
  passed=$((passed + $(grep -c '^Pass ' "$log")))
}

slice 'query\..*'
slice 'dlpack\..*'
slice 'stream\..*' 'stream\.arguments\.other_device_is_invalid'
slice 'event\..*' 'event\.(sync_fd\..*|timing\.refused_where_not_supported)'
slice 'memory\.(reuse|record_stream|stats|classes|copy|threads|flat)\..*'
slice 'pool\.(main|workers|stream|set_current|release|churn)\..*'
slice 'threads\.(own_stream|one_stream|lifecycle|device|handover|pipeline)\..*|threads\.stress\.(eight|sixteen|thirty).*'
slice 'op\.(Add|Cast)\..*'
echo "conformance in the emulator: $passed cases passed"
