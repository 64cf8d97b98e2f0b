#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leat_bench_test.sh LEAT_BENCH PLUGIN MUTANT PYTHON BENCH WORK: leat-bench on whatever device there is, for moments: that
# every measurement runs and is reported, that wrong results are noticed (MUTANT is a backend that wraps PLUGIN and is
# wrong on purpose), that bad arguments are refused, likewise for the scripts in BENCH. No figure is judged. Without a
# device, 77, which ctest counts as skipped; what needs none is tried in any case.
set -u
tool=$1
plugin=$2
mutant=$3
python=$4
bench=$5
work=$6
# shellcheck source=tests/tools/ran.sh
. "$(dirname "$0")/ran.sh"

# Without a device.
ran 0 'Exit status' "$tool" --help
ran 0 'leat-bench ' "$tool" --version
for name in floor op paced linear depth chain launch download cpu tick flat locks alloc kernels; do
  ran 0 "$name " "$tool" --list
done
ran 2 'from 1 to 64' "$tool" --threads 0
ran 2 'from 1 to 64' "$tool" --threads 1,x
ran 2 'from 1 to 64' "$tool" --threads ''
ran 2 'there twice' "$tool" --threads 2,4,2
for value in -1 1e99 '' ' 3' 99999999999999999999 nan soon; do
  ran 2 "--seconds: '$value' is not a number from 0.001 to 3600" "$tool" --seconds "$value"
  ran 2 "--warmup: '$value' is not a number from 0 to 3600" "$tool" --warmup "$value"
  ran 2 "--repeat: '$value' is not a whole number from 1 to 1000" "$tool" --repeat "$value"
  ran 2 "--flat-runs: '$value' is not a whole number from 10 to 1000000000" "$tool" --flat-runs "$value"
  ran 2 "--ticks: '$value' is not a whole number from 1 to 1000000" "$tool" --ticks "$value"
  ran 2 "--seed: '$value' is not a whole number from 0 to 4294967295" "$tool" --seed "$value"
  ran 2 "--device: '$value' is not a whole number from 0 to 1000" "$tool" --device "$value"
done
ran 2 'from 0.001' "$tool" --seconds 0
ran 2 'from 10' "$tool" --flat-runs 9
for arguments in --help --version --list --list-rows; do
  # shellcheck disable=SC2016 # for the inner shell
  ran 1 'writing to stdout: No space left' sh -c '"$0" "$1" >/dev/full' "$tool" $arguments
  # shellcheck disable=SC2016
  ran 1 'writing to stdout: Bad file descriptor' sh -c '"$0" "$1" >&-' "$tool" $arguments
done
ran 0 'model-matmul-64x384x384' "$tool" --list
ran 2 'no row of "kernels" fits "big*"' "$tool" --rows 'small*,big*'
ran 2 'no row of "kernels" fits ""' "$tool" --rows 'small-copy*,'
ran 2 'names no row' "$tool" --rows ''
ran 2 'there is no measurement "speed"' "$tool" --only op,speed
ran 2 'names no measurement' "$tool" --only ''
ran 2 'from 1 to 8' "$tool" --lanes 9
ran 2 'from 1 to 8' "$tool" --lanes 1,,2
ran 2 'unexpected argument "op"' "$tool" op
ran 2 '--wrong' "$tool" --wrong
ran 2 'No such file' "$tool" --plugin "$work/none.so"

"$tool" --list-rows >"$work/rows.json"
cat >"$work/rows.py" <<'END'
import json
import math
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    rows = json.load(file)
assert len({row['name'] for row in rows}) == len(rows) > 50
for row in rows:
    sizes = [{'float32': 4, 'float16': 2, 'bfloat16': 2, 'int32': 4, 'uint8': 1}[name]
             for name in row['input_types'] + [row['output_type']]]
    elements = [math.prod(shape) for shape in row['inputs'] + [row['output']]]
    # Of a cold row, the second inputs of all runs are more than the cache of any device holds, and not by far.
    cold = '-cold-' in '-' + row['name']
    assert row['copies'] == (math.ceil(2**29 / (elements[1] * sizes[1])) if cold else 1), row
    if row['kind'] == 'memory':
        work = sum(map(math.prod, zip(elements, sizes))) * 1e-9
        assert row['unit'] == 'GB/s' and math.isclose(row['work'], work), row
    else:
        terms = {
            'Attention': lambda q, w: 2 * w[2],
            'Conv': lambda x, w: math.prod(w[1:]),
            'ConvTranspose': lambda x, w: w[0],
            'Gemm': lambda a, b: a[-1],
            'LSTM': lambda x, w: 8 * x[2],
            'MatMul': lambda a, b: a[-1],
            'MatMulInteger': lambda a, b: a[-1],
            'MatMulNBits': lambda a, b: a[-1],
        }[row['op']](*row['inputs'][:2])
        assert row['unit'] == 'TFLOP/s' and math.isclose(row['work'], 2 * elements[-1] * terms * 1e-12), row
    assert row['link'] == 'rewrite' or row['inputs'][0] == row['output'], row
    assert row['formula'] and row['since_version'] > 0
print('as it should be')
END
ran 0 'as it should be' "$python" "$work/rows.py" "$work/rows.json"

ran 2 'is not from 1 to 64' "$python" -B "$bench/peers.py" --threads 1,65
ran 2 'a number twice' "$python" -B "$bench/peers.py" --threads 2,2
ran 2 'there is no "chain"' "$python" -B "$bench/peers.py" --only op,chain
ran 2 'is not a number' "$python" -B "$bench/peers.py" --seconds soon
ran 2 'kernels needs --rows FILE' "$python" -B "$bench/peers.py" --only kernels
ran 2 'No such file' "$python" -B "$bench/peers.py" --only kernels --rows "$work/none.json"
printf '[{"name": "x"}]\n' >"$work/norows.json"
ran 2 'has no rows' "$python" -B "$bench/peers.py" --only kernels --rows "$work/norows.json"
sed 's/"MatMul"/"MadMul"/' "$work/rows.json" >"$work/unknown.json"
ran 2 'needs MadMul, which peers.py cannot do' "$python" -B "$bench/peers.py" --only kernels --rows "$work/unknown.json"
# Every operator of the table is one that PyTorch can be asked for.
ran 0 'all known' "$python" -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import peer_kernels
assert peer_kernels.read_rows(sys.argv[2]); print("all known")' "$bench" "$work/rows.json"
ran 0 '--repeat' "$python" -B "$bench/peers.py" --help
mkfifo "$work/pipe"

# With one.
short='--seconds 0.01 --repeat 2 --flat-runs 40 --ticks 2 --lanes 1,unset'
# shellcheck disable=SC2086 # several words
timeout 120 "$tool" --plugin "$plugin" $short --only op --threads 1 >"$work/out" 2>&1
case $? in
  0) ;;
  2)
    if grep -q 'there is no usable device' "$work/out"; then
      cat "$work/out"
      finish 77
    fi
    ;;
esac
ran 2 'there is no device 99' "$tool" --plugin "$plugin" --device 99
# shellcheck disable=SC2086
ran 2 '--json' "$tool" --plugin "$plugin" $short --json "$work/none/x.json"
# shellcheck disable=SC2086
ran 2 "--json: '' names no file" "$tool" --plugin "$plugin" $short --json ''
# shellcheck disable=SC2086
ran 2 'it is a pipe that nobody reads from' "$tool" --plugin "$plugin" $short --json "$work/pipe"
# Only a plain file is replaced; what is none stays what it is. The way to /dev/full is a link, lest a mistake hit that.
: >"$work/target.json"
ln -s target.json "$work/link.json"
ln -s /dev/full "$work/full.json"
# shellcheck disable=SC2086
ran 0 'Relu' "$tool" --plugin "$plugin" $short --only op --threads 1 --no-floor --json "$work/link.json"
ran 0 '"tool"' cat "$work/target.json"
ran 0 'target.json' readlink "$work/link.json"
# shellcheck disable=SC2086
ran 1 'No space left' "$tool" --plugin "$plugin" $short --only op --threads 1 --no-floor --json "$work/full.json"
# Once each here, because a request of "launch" takes a tenth of a second on a processor; the others twice below.
# shellcheck disable=SC2086
ran 0 'median, by threads' "$tool" --plugin "$plugin" $short --repeat 1 --threads 1,2 --json "$work/all.json"
cat >"$work/points.py" <<'END'
import json
import sys


def read(path, repeat):
    """What leat-bench wrote, and its points by measurement, each looked at."""
    with open(path, encoding='utf-8') as file:
        found = json.load(file)
    assert found['options']['repeat'] == repeat
    points = {}
    for point in found['points']:
        points.setdefault(point['measurement'], []).append(point)
        rounds = 1 if point['measurement'] == 'flat' else repeat
        assert len(point['samples']) == rounds, point
        assert point['lowest'] <= point['median'] <= point['highest'], point
        if point['unit'].endswith('/s') and point['measurement'] != 'kernels':
            assert 0 < point['p50_us'] <= point['p99_us'] and point['cpu_us'] > 0, point
            assert len(point['p99_us_samples']) == len(point['cpu_us_samples']) == rounds, point
        if 'ratio_to' in point:
            assert point['ratio'] > 0 and len(point['ratio_samples']) == rounds, point
    return found, points


if __name__ == '__main__':
    measured = set(read(sys.argv[1], int(sys.argv[2]))[1])
    assert measured == set(sys.argv[3].split(',')), measured
    print('as it should be')
END
cat >"$work/look.py" <<'END'
import sys

import points as looked_at

found, points = looked_at.read(sys.argv[1], 1)
assert found['tool'] == 'leat-bench' and found['date'] and found['version'] and found['build_id']
assert all(found['device'][key] for key in ('name', 'driver', 'uuid'))
assert found['backend']['build_id'] and 'LEAT_LANES' in found['settings']
assert list(points) == ['floor', 'op', 'paced', 'linear', 'depth', 'chain', 'launch', 'download', 'cpu', 'tick', 'flat',
                        'locks', 'alloc']
for name in ('floor', 'op', 'paced', 'linear', 'chain', 'launch', 'download', 'alloc'):
    assert {point['threads'] for point in points[name]} == {1, 2}, name
assert len({point['variant'] for point in points['floor']}) == 4
assert {point.get('ratio_to') for point in points['op']} == {None, 'floor'}
assert [point['setting'] for point in points['depth']] == ['1', '2', '4', '8', '16', '32'] * 3
assert {point['setting'] for point in points['chain']} == {'LEAT_LANES=1', 'LEAT_LANES unset'}
assert len({point['variant'] for point in points['launch']}) == 6
assert {point['setting'] for point in points['download']} == {'1048576 bytes', '12865792 bytes', '67108864 bytes'}
assert len({point['variant'] for point in points['download']}) == 2
assert {point.get('ratio_to') for point in points['launch']} == {None, 'one call'}
# On a busy machine the lowest of some tries of a long chain may lie below that of a short one: then it is told as 0.
assert all(point['facts']['operator_us'] >= 0 and point['facts']['rows'] >= 2 for point in points['chain'])
for point in points['cpu']:
    busy = point['cpu_us'] * 1e-6 * point['median']
    assert 0 < point['facts']['cpus_busy'] and abs(point['facts']['cpus_busy'] - busy) <= 1e-6 * busy, point
assert {point['threads'] for point in points['tick']} == {0, 8}
assert all(point['unit'] == 'ms late' and point['lowest'] > 0 for point in points['tick'])
# A timer rings some microseconds late at best.
assert all(point['lowest'] > 1e-4 for point in points['tick'])
assert {point['threads'] for point in points['flat']} == {1, 8}
assert all(point['facts']['bytes_at_the_end'] - point['facts']['bytes_then'] == point['median']
           for point in points['flat'])
assert all(point['median'] > 0 for point in points['locks'] if point['unit'] == 'ns/call')
print('as it should be')
END
ran 0 'as it should be' "$python" -B "$work/look.py" "$work/all.json"
# shellcheck disable=SC2086
ran 0 'Relu, own stream' "$tool" --plugin "$plugin" $short --only op --threads 2 --no-floor

# Kernels. What would take too long on this device is told, not left out.
short_kernels='--only kernels --seconds 0.01 --warmup 0.01 --repeat 2'
# shellcheck disable=SC2086
ran 0 'in an order of seed 7' "$tool" --plugin "$plugin" $short_kernels --seed 7 --clock-command 'echo " 1980 "' \
  --rows 'small*,model-matmul-64x384x384,model-depthwise-88*,large-matmul-8192*,cold-matmul-64x384x384' \
  --json "$work/kernels.json"
cat >"$work/kernels.py" <<'END'
import json
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    found = json.load(file)
assert found['options']['seed'] == 7 and found['options']['load'] == 0.01
points = {point['variant']: point for point in found['points']}
assert list(points)[:2] == ['device FMA rate', 'device copy'] and len(points) == len(found['points'])
fma = points.pop('device FMA rate')
assert fma['unit'] == 'TFLOP/s' and len(fma['samples']) == 2 and fma['lowest'] > 0, fma
assert [name for name in points if name.startswith('large')] == ['large-matmul-8192x8192x8192']
assert {'model-matmul-64x384x384', 'small-relu-64x384', 'small-transpose-512x512'} < set(points)
for name, point in points.items():
    facts = point['facts']
    if 'skipped' in facts:
        # On a busy machine a small one may take long, too, or seem to by what the device is found to do in a second.
        assert facts['skipped'].startswith(('a run takes ', 'a run would take ')), point
        assert point['samples'] == [] and 'median' not in point, point
        continue
    assert point['unit'] == 'us/run' and len(point['samples']) == 2 and point['lowest'] > 0, point
    assert point['setting'] in ('reads the last', 'rewrites', 'rewrites, other weights') and point['threads'] == 1
    assert point['setting'].endswith('other weights') == name.startswith('cold'), point
    assert facts['host_us'] > 0 and facts['runs'] >= 1
    assert facts['clock_mhz'] == 1980 and facts['clock_mhz_samples'] == [1980] * 2, point
    if 'GB/s' in facts:
        assert facts['GB/s'] > 0
        assert name == 'device copy' or (point['ratio_to'] == 'device copy' and point['ratio'] > 0), point
    else:
        assert facts['TFLOP/s'] > 0 and point['ratio_to'] == 'device FMA rate' and point['ratio'] > 0, point
assert [name for name, point in points.items() if name.startswith('small') and point['samples']], points
print('as it should be')
END
ran 0 'as it should be' "$python" "$work/kernels.py" "$work/kernels.json"
# A clock command that does not work ends the program before minutes have passed; one that stops working does not.
one="$short_kernels --rows small-copy*"
# shellcheck disable=SC2086
{
  ran 1 'exited with code 1' "$tool" --plugin "$plugin" $one --clock-command false
  ran 1 "is no number of MHz: 'soon'" "$tool" --plugin "$plugin" $one --clock-command 'echo soon'
  ran 1 "is no number of MHz: ''" "$tool" --plugin "$plugin" $one --clock-command true
  ran 1 'No such file' "$tool" --plugin "$plugin" $one --clock-command "$work/none"
  ran 1 'did not end within 10 seconds' "$tool" --plugin "$plugin" $one --clock-command "sh -c 'sleep 1000 & wait'"
  ran 0 'clock not read' "$tool" --plugin "$plugin" $one --clock-command "sh -c 'mkdir $work/once && echo 1980'"
}

# Wrong results. The first proves that the rest is not due to the wrapping.
LEAT_MUTANT_BASE=$plugin
LEAT_MUTANT=none
export LEAT_MUTANT_BASE LEAT_MUTANT
all_but_launch=floor,op,paced,linear,depth,chain,download,cpu,tick,flat,locks,alloc,kernels
# shellcheck disable=SC2086
ran 0 'Relu' "$tool" --plugin "$mutant" $short --only $all_but_launch --threads 2 --warmup 0.01 --rows 'small-copy*' \
  --json "$work/mutant.json"
ran 0 'as it should be' "$python" -B "$work/points.py" "$work/mutant.json" 2 $all_but_launch
LEAT_MUTANT=download_never_delivered
for name in op linear depth chain download flat kernels; do
  # shellcheck disable=SC2086
  ran 1 'wrong result' "$tool" --plugin "$mutant" $short --only $name --threads 2 --no-floor --rows 'small-copy*'
done
finish 0
