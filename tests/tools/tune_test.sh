#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tune_test.sh LEAT_BENCH PLUGIN PACED PYTHON WORK: leat-bench --tune on whatever device there is: what it prints, and
# that it finds what there is to find and claims nothing else. PACED is a backend that wraps PLUGIN and takes the time
# that the test says (paced_backend.c). Without a device, 77, which ctest counts as skipped.
set -u
tool=$1
plugin=$2
paced=$3
python=$4
work=$5
rm -rf "$work"
mkdir -p "$work"
checks=0
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAIL $*"
  sed 's/^/     /' "$work/out"
}

# ran STATUS COMMAND...: runs it and wants the status.
ran() {
  wanted=$1
  shift
  checks=$((checks + 1))
  timeout 120 "$@" >"$work/out" 2>&1 </dev/null
  got=$?
  [ "$got" -eq "$wanted" ] || fail "status $got instead of $wanted: $*"
}

# said PATTERN...: each is of a line that the last command printed; "! PATTERN" of none.
said() {
  for pattern in "$@"; do
    checks=$((checks + 1))
    case $pattern in
      '! '*) ! grep -qE -e "${pattern#! }" "$work/out" || fail "there is '${pattern#! }'" ;;
      *) grep -qE -e "$pattern" "$work/out" || fail "there is no '$pattern'" ;;
    esac
  done
}

finish() {
  echo "$checks checks, $failures failures"
  [ $failures -eq 0 ] || exit 1
  exit "$1"
}

ran 2 "$tool" --tune='gem_*'
said 'no constant fits "gem_\*"; --list lists them'
ran 2 "$tool" --tune='reduce_fill,'
said 'no constant fits ""'
ran 2 "$tool" --tune=
said 'names no constant'
ran 2 "$tool" --tune --only kernels
said '--tune and --only do not go together'
ran 0 "$tool" --list
said '^reduce_fill=1,2,4,8 .*rule-sum-\*'

LEAT_LOG=error
export LEAT_LOG
short='--seconds 0.01 --warmup 0.01 --seed 5'
# Of all constants, those that this device has no row for: patterns of all rows are right.
# shellcheck disable=SC2086 # several words
timeout 120 "$tool" --plugin "$plugin" $short --tune --rows 'small-copy*' >"$work/out" 2>&1
case $? in
  0) ;;
  2)
    if grep -q 'there is no usable device' "$work/out"; then
      cat "$work/out"
      finish 77
    fi
    ;;
esac
said 'takes a reasonable time here:.* gemm_fill_128_quarters .* copy_items_many' '^Nothing was tuned' '! LEAT_TUNING'

# The plugin itself. No time is judged: whatever it finds, it says so in one way.
# shellcheck disable=SC2086
ran 0 "$tool" --plugin "$plugin" $short --tune=reduce_chunk_min --rows small-sum-64x384 --repeat 2 --json "$work/a.json"
said '^tune: 1 constant, in an order of seed 5; about [0-9]+ s, ' \
  '^\[1 of 1, 0 s left\] reduce_chunk_min: 16 (stays|-> (4|8|32|64), -[0-9.]+ %) \(4: [-+][0-9.]+ %, 8: .*, 32: .*, 64: .*, noise [0-9.]+ %\)' \
  '^constant +of the table +best here +time +noise +rows' '^reduce_chunk_min +16 +[0-9]+ .* [0-9.]+ % +1'
cat >"$work/look.py" <<'END'
import json
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    points = json.load(file)['points']
assert {point['measurement'] for point in points} == {'tune'}
by_setting = {point['setting']: point for point in points}
result = by_setting.pop(None)
assert result['variant'] == 'reduce_chunk_min' and result['facts']['table'] == 16, result
assert result['facts']['best'] in (4, 8, 16, 32, 64) and result['facts']['noise'] > 0.0049, result
assert (result['median'] < 1 - result['facts']['noise']) == (result['facts']['best'] != 16), result
assert set(by_setting) == {f'reduce_chunk_min={text}' for text in ('4', '8', '16', '16, again', '32', '64')}, by_setting
for setting, point in by_setting.items():
    assert point['variant'] == 'small-sum-64x384' and point['lowest'] > 0, point
    # The worse half of four values runs in one round alone.
    assert len(point['samples']) >= (2 if '=16' in setting else 1), point
print('as it should be')
END
ran 0 "$python" "$work/look.py" "$work/a.json"

# The paced backend has the clock, too.
preload="${TUNE_PRELOAD_FIRST:-} $paced"

# What there is to find, is found; the others of its group are tuned again, and stay as they are.
PACED_BASE=$plugin
PACED_FAST='reduce_fill=8 reduce_chunk_min=64'
export PACED_BASE PACED_FAST
# shellcheck disable=SC2086
ran 0 env LD_PRELOAD="$preload" "$tool" --plugin "$paced" $short --tune='reduce_*' --rows small-sum-64x384
said '^\[1 of 2, .* reduce_fill: 4 -> 8, -[0-9.]+ % \(1: ' '^reduce_fill +4 +8 +-[0-9.]+ % .* small-sum-64x384 -' \
  'reduce_chunk_min: 16 -> 64, -' '\] reduce_fill: 8 stays \(1: ' '^All changes together: -[0-9.]+ % \(1 row, noise ' \
  '^LEAT_TUNING=reduce_fill=8,(.*,)?reduce_chunk_min=64$' '^#define LEATI_REDUCE_FILL 8u$' \
  '^#define LEATI_REDUCE_CHUNK_MIN 64u$'
PACED_FAST=reduce_fill=8
# From where it is already; what the environment says counts as the beginning, and is in the line too.
LEAT_TUNING=reduce_fill=8,gemv_rows=4
export LEAT_TUNING
# shellcheck disable=SC2086
ran 0 env LD_PRELOAD="$preload" "$tool" --plugin "$paced" $short --tune=reduce_fill --rows small-sum-64x384 --repeat 2
said 'reduce_fill: 8 stays \(1: \+' '^LEAT_TUNING=gemv_rows=4,reduce_fill=8$' '^reduce_fill +4 +8  '
unset LEAT_TUNING PACED_FAST

# Where each opening takes another time, nothing is claimed.
PACED_NOISE=1
export PACED_NOISE
# shellcheck disable=SC2086
ran 0 env LD_PRELOAD="$preload" "$tool" --plugin "$paced" $short --tune=reduce_fill,reduce_chunk_min --rows small-sum-64x384
said 'reduce_fill: 4 stays' 'reduce_chunk_min: 16 stays' '^No value but those of the table' '! LEATI_' '! LEAT_TUNING'
unset PACED_NOISE

# A value with which a row cannot run is none; one with which it is wrong ends it.
PACED_REFUSED=reduce_fill=2
export PACED_REFUSED
# shellcheck disable=SC2086
ran 0 env LD_PRELOAD="$preload" "$tool" --plugin "$paced" $short --tune=reduce_fill --rows small-sum-64x384 --repeat 1
said 'reduce_fill: .* 2: cannot run, '
unset PACED_REFUSED
PACED_WRONG=reduce_chunk_min=8
export PACED_WRONG
# shellcheck disable=SC2086
ran 1 env LD_PRELOAD="$preload" "$tool" --plugin "$paced" $short --tune=reduce_fill,reduce_chunk_min --rows small-sum-64x384 --repeat 1
said 'leat-bench: tune, LEAT_TUNING=reduce_chunk_min=8: small-sum-64x384: wrong result' '^reduce_fill +4 ' \
  'it ended before: reduce_chunk_min$'
unset PACED_WRONG

# Interrupted, it tells what is known. timeout sends the signal: once, as Ctrl-C does, and not to its group too, since a
# second one ends leat-bench at once.
PACED_FAST=reduce_fill=8
export PACED_FAST
# shellcheck disable=SC2086
ran 1 timeout --foreground --preserve-status -s INT 5 env LD_PRELOAD="$preload" "$tool" --plugin "$paced" $short --tune='reduce_*' \
  --rows small-sum-64x384 --repeat 100
said 'tune: interrupted$' 'it ended before: .*reduce_chunk_min' '^Nothing was tuned|^LEAT_TUNING='
finish 0
