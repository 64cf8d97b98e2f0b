#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leat_run_test.sh LEAT_RUN MODELS HANGING_PROVIDER WORK PYTHON: leat-run by its exit status and its words, on the CPU
# provider (no device needed). Every bad use must end with 2, every wrong output or failed run with 1, never by a signal, and say what is
# wrong.
set -u
tool=$1
models=$2
hanging=$3
work=$4
python=$5
# shellcheck source=tests/tools/ran.sh
. "$(dirname "$0")/ran.sh"

# expect STATUS TEXT ARGUMENT...: runs the tool, wants the status, and the text somewhere in what it prints.
expect() {
  wanted=$1
  text=$2
  shift 2
  ran "$wanted" "$text" "$tool" "$@"
}

# npy FILE DESCR SHAPE: writes the header of a .npy file of version 1; the caller appends the elements.
npy() {
  header="{'descr': '$2', 'fortran_order': False, 'shape': $3}"
  {
    printf '\223NUMPY\001\000'
    # shellcheck disable=SC2059 # the format is the point: one byte by its number
    printf "\\$(printf %03o ${#header})\\000"
    printf '%s' "$header"
  } >"$1"
}

# Good runs.
expect 0 'OK: 20 runs, 21 outputs' "$models/mlp.onnx" -p cpu --runs 20
expect 0 '0 wrong' "$models/mlp.onnx" -p cpu --threads 8 --sessions 3 --runs 50 --dim batch=3
expect 0 'all' "$models/mlp.onnx" "$models/words.onnx" -p cpu --threads 4 --dim length=7 --range ids=0:99
expect 0 'words-2' "$models/words.onnx" "$models/words.onnx" -p cpu
expect 0 "dimension 'batch' is dynamic and not given: taken as 1" "$models/mlp.onnx" -p cpu
expect 0 'OK' "$models/mlp.onnx" -p cpu --dim batch=0
expect 0 'Gemm 2' "$models/mlp.onnx" -p cpu
expect 0 'Gemm second' "$models/mlp.onnx" -p cpu --verbose
expect 0 '"wrong_outputs" : 0' "$models/mlp.onnx" -p cpu --json
expect 0 'nothing compared' "$models/mlp.onnx" -p cpu --compare none
expect 0 'tolerance  5.00e-01 = set by --tolerance' "$models/mlp.onnx" -p cpu --tolerance 0.5
expect 0 'Exit status' --help
expect 0 'leat-run ' --version
# NaN and infinity are legal and equal to themselves.
expect 0 '0 wrong' "$models/quotient.onnx" -p cpu --fill x=0 --dim n=9
expect 0 '0 wrong' "$models/quotient.onnx" -p cpu --fill x=nan
expect 0 '0 wrong' "$models/quotient.onnx" -p cpu --fill x=-inf

# Inputs from files: .npy, bare bytes, one file a thread, sizes taken from a file, and the outputs written back.
npy "$work/ids.npy" '<i8' '(1, 2)'
printf '\003\0\0\0\0\0\0\0\005\0\0\0\0\0\0\0' >>"$work/ids.npy"
printf '\0\0\200\077\0\0\0\100' >"$work/mask.raw"
expect 0 '0 wrong' "$models/words.onnx" -p cpu --input ids="$work/ids.npy" --input mask="$work/mask.raw" \
  --save-outputs "$work/outputs"
expect 0 '0 wrong' "$models/quotient.onnx" -p cpu --fill x=0 --dim n=9 --save-outputs "$work/outputs"
expect 0 'x float32[9]: ' "$models/quotient.onnx" -p cpu --input x="$work/outputs/q.npy"
expect 2 'another shape than --shape says' "$models/quotient.onnx" -p cpu --input x="$work/outputs/q.npy" --shape x=8
npy "$work/shape23.npy" '<i8' '(2,)'
printf '\002\0\0\0\0\0\0\0\003\0\0\0\0\0\0\0' >>"$work/shape23.npy"
npy "$work/shape55.npy" '<i8' '(2,)'
printf '\005\0\0\0\0\0\0\0\005\0\0\0\0\0\0\0' >>"$work/shape55.npy"
expect 0 '0 wrong' "$models/reshape.onnx" -p cpu --threads 3 --input shape="$work/shape23.npy"

# Batches: a second time, with the same inputs as single requests. Whatever axis 0 is not the batch of, is named.
expect 0 'mlp, batched' "$models/mlp.onnx" -p cpu --threads 8 --batch 8
expect 0 'OK: 160 runs, 176 outputs compared' "$models/mlp.onnx" -p cpu --threads 8 --batch 3 --batch-delay-us 0
expect 0 '0 wrong' "$models/mlp.onnx" -p cpu --threads 8 --sessions 2 --batch 16 --dim batch=5 --batch-workers 3
expect 0 '0 wrong' "$models/mlp.onnx" -p cpu --threads 4 --batch 4 --dim batch=0
expect 0 'all, batched' "$models/mlp.onnx" "$models/words.onnx" -p cpu --threads 4 --dim length=7 --batch 4
expect 0 '"requests_per_batch"' "$models/mlp.onnx" -p cpu --threads 4 --batch 4 --json
expect 0 'the model takes exactly 4 rows' "$models/four.onnx" -p cpu --threads 6 --batch 4
expect 0 '0 wrong' "$models/four.onnx" -p cpu --threads 1 --batch 4
expect 0 'on average 4.0 requests (warm-ups counted): 11 of 4 to 7' "$models/mlp.onnx" -p cpu --threads 4 --batch 4 \
  --batch-delay-us 3600000000
expect 1 'WRONG crowd, batched thread' "$models/crowd.onnx" -p cpu --threads 4 --batch 4 --batch-delay-us 3600000000
expect 1 'depend on the rows beside them: axis 0 is not the batch' "$models/crowd.onnx" -p cpu --threads 4 --batch 4 \
  --batch-delay-us 3600000000
# What is wrong has no speed; what is right keeps its own.
checks=$((checks + 1))
if ! grep -Eq '^crowd, batched +40 +- +- +- ' "$work/out" ||
  ! grep -Eq '^crowd +40 +[0-9.]+ +[0-9.]+ +[0-9.]+ ' "$work/out"; then
  failures=$((failures + 1))
  echo 'FAIL a row that is wrong has a throughput, or one that is right has none'
  sed 's/^/     /' "$work/out"
fi
expect 0 '0 wrong' "$models/crowd.onnx" -p cpu --threads 4 --batch 1
# What is beyond the tolerance is right if the CPU's own results lie as far apart, and wrong if they do not, even where
# its largest error is no larger than theirs.
expect 0 '4 beyond the tolerance are right by what the CPU provider differs from itself (NOTE)' "$models/stepped.onnx" \
  -p cpu --threads 4 --batch 4 --batch-delay-us 3600000000 --runs 1 --warmup 0
expect 0 'NOTE stepped, batched thread 0, 2 times' "$models/stepped.onnx" -p cpu --threads 4 --batch 4 \
  --batch-delay-us 3600000000 --runs 1
expect 0 'itself with inputs off by up to 32 ulp: off by' "$models/stepped.onnx" -p cpu --threads 4 --batch 4 \
  --batch-delay-us 3600000000 --runs 1
expect 0 '"outputs_within_spread" : 8' "$models/stepped.onnx" -p cpu --threads 4 --batch 4 \
  --batch-delay-us 3600000000 --runs 1 --json
expect 0 'itself with weights off by up to 32 ulp: off by' "$models/lettered.onnx" -p cpu --threads 4 --batch 4 \
  --batch-delay-us 3600000000 --runs 1 --range ids=0:16383
expect 1 'WRONG stepped, batched' "$models/stepped.onnx" -p cpu --threads 4 --batch 4 --batch-delay-us 3600000000 \
  --runs 1 --tolerance 0.001
expect 1 'the CPU provider differs from itself by 0.0e+00 (rms 0.0e+00) between optimisation levels, by 1.0e-02' \
  "$models/pulled.onnx" -p cpu --threads 4 --batch 4 --batch-delay-us 3600000000 --runs 1
expect 1 'WRONG pulled, batched' "$models/pulled.onnx" -p cpu --threads 4 --batch 4 --batch-delay-us 3600000000 --runs 1
expect 2 "input 'x' is [?,?,3], whose axis 1 is named 'batch'; axis 0" "$models/recurrent.onnx" -p cpu --batch 8
expect 2 "--batch 8: $models/four.onnx: input 'x' is [4,16]; axis 0" "$models/four.onnx" -p cpu --batch 8
expect 2 "output 'sum' is []; axis 0" "$models/total.onnx" -p cpu --batch 8
expect 2 "input 'x' of a request is [5,16], and a batch holds 0 to 4 rows" "$models/mlp.onnx" -p cpu --batch 4 \
  --dim batch=5
expect 2 'is not a whole number from 1 to 1048576' "$models/mlp.onnx" -p cpu --batch 0
expect 2 '--batch-delay-us is for --batch N' "$models/mlp.onnx" -p cpu --batch-delay-us 5
expect 2 '--batch-workers is for --batch N' "$models/mlp.onnx" -p cpu --batch-workers 2

# Wrong outputs, failing runs and hanging runs are found: status 1, with thread and model.
expect 1 'WRONG dice thread' "$models/dice.onnx" -p cpu --threads 2
expect 1 '"ok" : false' "$models/dice.onnx" -p cpu --json
expect 1 'FAILED reshape thread 1,' "$models/reshape.onnx" -p cpu --compare none --threads 2 --runs 30 \
  --input shape="$work/shape23.npy" --input shape="$work/shape55.npy"
checks=$((checks + 1))
if grep -q 'FAILED reshape thread 0' "$work/out"; then
  failures=$((failures + 1))
  echo 'FAIL a failure of one thread was told of another'
fi
expect 1 'no run ended for 1 seconds' "$models/endless.onnx" -p cpu --compare none --timeout 1 --threads 2
expect 1 'not done within 1 s (--timeout): CPU reference of endless' "$models/endless.onnx" -p cpu --timeout 1
expect 1 'not done within 1 s (--timeout): loading ONNX Runtime' "$models/mlp.onnx" --timeout 1 \
  --provider-library "$hanging"

# Bad use.
expect 2 'no model named'
expect 2 'bad use (see --help)' --nonsense
for threads in -3 0 x '' 1025 3x 1e2 99999999999999999999; do
  expect 2 'is not a whole number from 1 to 1024' "$models/mlp.onnx" --threads "$threads"
done
expect 2 'at most one a thread' "$models/mlp.onnx" -p cpu --sessions 2
expect 2 'neither leat nor cpu' "$models/mlp.onnx" --provider gpu
expect 2 'neither cpu nor none' "$models/mlp.onnx" --compare cuda
expect 2 '--nonsense' "$models/mlp.onnx" --nonsense
expect 2 '--device is for --provider leat' "$models/mlp.onnx" -p cpu --device 0
expect 2 'no model has such an input; there is: x' "$models/mlp.onnx" -p cpu --fill y=1
expect 2 'no model has such a dynamic dimension; there is: batch' "$models/mlp.onnx" -p cpu --dim size=3
expect 2 'more than one of' "$models/mlp.onnx" -p cpu --fill x=1 --range x=0:1
expect 2 'given twice' "$models/mlp.onnx" -p cpu --fill x=1 --fill x=2
expect 2 'is not a number' "$models/mlp.onnx" -p cpu --fill x=one
expect 2 'is not LOW:HIGH' "$models/mlp.onnx" -p cpu --range x=9
expect 2 'is not a range of whole numbers' "$models/words.onnx" -p cpu --range ids=0.5:3
expect 2 'is not a whole number' "$models/words.onnx" -p cpu --fill ids=1.5
expect 2 'its shape is [1,15], and the model takes [?,16]' "$models/mlp.onnx" -p cpu --shape x=1,15
expect 2 'is not a shape' "$models/mlp.onnx" -p cpu --shape x=1,two
expect 2 "dimension 'batch' is 2 here and 3" "$models/mlp.onnx" -p cpu --shape x=2,16 --dim batch=3
expect 2 'than the' "$models/mlp.onnx" -p cpu --dim batch=2000000000 --threads 64
expect 2 'cannot be made' "$models/mlp.onnx" -p cpu --save-outputs /dev/null/outputs
expect 2 'the folder that it is to be in does not exist' "$models/mlp.onnx" -p cpu --save-outputs "$work/no/outputs"
expect 2 '--profile /dev/null/trace: cannot be written' "$models/mlp.onnx" --profile /dev/null/trace
expect 2 '--profile is for --provider leat' "$models/mlp.onnx" -p cpu --profile "$work/trace.json"
checks=$((checks + 1))
[ ! -e "$work/no" ] || {
  failures=$((failures + 1))
  echo 'FAIL --save-outputs made a folder that nobody asked for'
}
expect 2 'with these inputs (--dim, --shape, --range' "$models/words.onnx" -p cpu --range ids=0:100000 --dim length=50

# A report: well-formed, with the data of --json, from 1, 2, 4, ... threads; names in it are text.
# page FILE JSON ARGUMENT...: what report_page.py finds right.
page() {
  checks=$((checks + 1))
  "$python" "$(dirname "$0")/report_page.py" "$@" >"$work/out" 2>&1 || {
    failures=$((failures + 1))
    echo "FAIL report_page.py $*"
    sed 's/^/     /' "$work/out"
  }
}
expect 0 'From 4 threads' "$models/mlp.onnx" -p cpu --report "$work/page.html" --threads 5
page "$work/page.html" --threads 1 2 4 5
expect 0 '"lines"' "$models/mlp.onnx" "$models/words.onnx" -p cpu --report "$work/page.html" --json
cp "$work/out" "$work/page.json"
page "$work/page.html" "$work/page.json" --threads 1 2 4 8 --has words 'ONNX Runtime' ' --json'
hostile="<!--<script><b>&\"'"
cp "$models/mlp.onnx" "$work/$hostile.onnx"
sed 's/bend/<i"\&/' "$models/mlp.onnx" >"$work/named.onnx"
ln -s page.html "$work/link.html"
expect 0 'OK' "$work/$hostile.onnx" "$work/named.onnx" -p cpu --report "$work/link.html" --threads 1
page "$work/page.html" --threads 1 --has "$hostile" '<i"&'
expect 1 'WRONG dice thread' "$models/dice.onnx" -p cpu --report "$work/page.html" --threads 2
page "$work/page.html" --threads 1 2 --has '33 outputs compared'
expect 2 'No space left on device' "$models/mlp.onnx" -p cpu --report /dev/full
expect 2 'the folder that it is to be in does not exist' "$models/mlp.onnx" -p cpu --report "$work/no/page.html"
expect 2 'it is a folder' "$models/mlp.onnx" -p cpu --report "$work"
expect 2 'it has no name' "$models/mlp.onnx" -p cpu --report ''
expect 2 '--report /proc/version: cannot be written' "$models/mlp.onnx" -p cpu --report /proc/version
for other in '--batch 4' "--save-outputs $work/outputs"; do
  # shellcheck disable=SC2086 # two words
  expect 2 "--report together with ${other%% *}" "$models/mlp.onnx" -p cpu --report "$work/page.html" $other
done
# What was there stays until all of the new one is written.
echo old >"$work/page.html"
expect 2 'no such file' "$work/missing.onnx" -p cpu --report "$work/page.html"
checks=$((checks + 1))
(
  trap '' XFSZ
  ulimit -f 8
  timeout 60 "$tool" "$models/mlp.onnx" -p cpu --report "$work/page.html" --threads 1 >"$work/out" 2>&1 </dev/null
)
got=$?
if [ "$got" -ne 2 ] || ! grep -q 'page.html: cannot be written: .*File too large' "$work/out" ||
  [ "$(cat "$work/page.html")" != old ] || [ "$(find "$work" -name 'page.html*' | wc -l)" -ne 1 ]; then
  failures=$((failures + 1))
  echo "FAIL status $got instead of 2, or no reason, or another page: a page that does not fit"
  sed 's/^/     /' "$work/out"
fi

# Models that are none.
mkfifo "$work/pipe"
: >"$work/empty.onnx"
head -c 1000 "$models/mlp.onnx" >"$work/cut.onnx"
head -c 4000 /dev/urandom >"$work/random.onnx"
echo 'This is not a model.' >"$work/words.txt"
expect 2 'no such file' "$work/missing.onnx" -p cpu
expect 2 'not a file' "$work" -p cpu
expect 2 'not a file' "$work/pipe" -p cpu
expect 2 'not a file' /dev/zero -p cpu
expect 2 'empty.onnx: ' "$work/empty.onnx" -p cpu
expect 2 'not an ONNX model, or one that is cut short' "$work/cut.onnx" -p cpu
expect 2 'not an ONNX model, or one that is cut short' "$work/random.onnx" -p cpu
expect 2 'not an ONNX model, or one that is cut short' "$work/words.txt" -p cpu
expect 2 'Frobnicate' "$models/unknown_operator.onnx" -p cpu
expect 2 'string' "$models/text.onnx" -p cpu
expect 2 'random.onnx: ' "$models/mlp.onnx" "$work/random.onnx" -p cpu

# A damaged name is quoted without what a terminal would obey, in one line.
sed '0,/w1/s/w1/\x1b\n/' "$models/mlp.onnx" >"$work/name.onnx"
expect 2 "Node input '  ' is not a graph input" "$work/name.onnx" -p cpu

# Input files that do not fit.
npy "$work/short.npy" '<f4' '(1, 16)'
npy "$work/wrong_type.npy" '<i4' '(1, 2)'
printf '\003\0\0\0\005\0\0\0' >>"$work/wrong_type.npy"
npy "$work/hostile.npy" '<f4' '(4611686018427387904, 16)'
npy "$work/wrong_shape.npy" '<i8' '(2,)'
printf '\003\0\0\0\0\0\0\0\005\0\0\0\0\0\0\0' >>"$work/wrong_shape.npy"
expect 2 'no such file' "$models/mlp.onnx" -p cpu --input x="$work/missing.npy"
expect 2 'not a file' "$models/mlp.onnx" -p cpu --input x="$work"
expect 2 'not a file' "$models/mlp.onnx" -p cpu --input x="$work/pipe"
expect 2 'not a file' "$models/mlp.onnx" -p cpu --input x=/dev/zero
truncate -s 1000T "$work/sparse.npy" 2>/dev/null || truncate -s 15T "$work/sparse.npy"
expect 2 'that can be taken' "$models/mlp.onnx" -p cpu --input x="$work/sparse.npy"
mkdir "$work/pipes"
mkfifo "$work/pipes/q.npy"
expect 2 'a pipe that nobody reads from' "$models/quotient.onnx" -p cpu --save-outputs "$work/pipes"
expect 2 'is cut short' "$models/mlp.onnx" -p cpu --input x="$work/short.npy"
expect 2 'address space' "$models/mlp.onnx" -p cpu --input x="$work/hostile.npy"
expect 2 'holds int32, and the model takes int64' "$models/words.onnx" -p cpu --input ids="$work/wrong_type.npy"
expect 2 'its shape is [2], and the model takes [?,?]' "$models/words.onnx" -p cpu --input ids="$work/wrong_shape.npy"
expect 2 'has 8 bytes' "$models/mlp.onnx" -p cpu --input x="$work/mask.raw"
cp "$work/words.txt" "$work/text.npy"
expect 2 'not a .npy file' "$models/mlp.onnx" -p cpu --input x="$work/text.npy"

# Provider libraries that are none.
libc=$(ldd "$tool" | sed -n 's/.*=> \(\/[^ ]*libc\.so[^ ]*\).*/\1/p')
expect 2 'No such file or directory; give the path of libleat_onnxruntime.so' "$models/mlp.onnx" \
  --provider-library "$work/libmissing.so"
expect 2 'is a folder' "$models/mlp.onnx" --provider-library "$work"
expect 2 'not a regular file' "$models/mlp.onnx" --provider-library "$work/pipe"
expect 2 'not a shared library' "$models/mlp.onnx" --provider-library "$work/words.txt"
expect 2 'an empty file' "$models/mlp.onnx" --provider-library "$work/empty.onnx"
# The dynamic loader would end by SIGBUS.
for length in 4 500 10000; do
  head -c $length "$hanging" >"$work/cut.so"
  expect 2 'is cut off' "$models/mlp.onnx" --provider-library "$work/cut.so"
done
cp "$tool" "$work/leat-run"
head -c 5000 "$hanging" >"$work/libonnxruntime.so.1"
checks=$((checks + 1))
LD_LIBRARY_PATH=$(dirname "$tool") timeout 60 "$work/leat-run" "$models/mlp.onnx" -p cpu >"$work/out" 2>&1
got=$?
if [ $got -ne 2 ] || ! grep -q 'libonnxruntime.so.1: is cut off' "$work/out"; then
  failures=$((failures + 1))
  echo "FAIL status $got instead of 2, or not cut off: ONNX Runtime beside leat-run"
  sed 's/^/     /' "$work/out"
fi
expect 2 'cannot be used as a provider library' "$models/mlp.onnx" --provider-library "$libc"

# unprinted REASON ARGUMENTS: the run just before has failed because of that.
unprinted() {
  got=$?
  checks=$((checks + 1))
  if [ "$got" -ne 2 ] || ! grep -qF "writing to stdout: $1" "$work/out"; then
    failures=$((failures + 1))
    echo "FAIL status $got instead of 2, or no '$1': leat-run $2"
    sed 's/^/     /' "$work/out"
  fi
}
for arguments in "$models/mlp.onnx -p cpu" "$models/mlp.onnx -p cpu --json" --help --version; do
  # shellcheck disable=SC2086 # several words
  timeout 60 "$tool" $arguments >/dev/full 2>"$work/out" </dev/null
  unprinted 'No space left on device' "$arguments"
  # shellcheck disable=SC2086
  timeout 60 "$tool" $arguments >&- 2>"$work/out" </dev/null
  unprinted 'Bad file descriptor' "$arguments"
done

finish 0
