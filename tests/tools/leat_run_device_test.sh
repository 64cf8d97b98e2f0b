#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leat_run_device_test.sh LEAT_RUN LEAT_INFO MODELS WORK PYTHON: leat-run with the Leat provider, on whatever device there is.
# Without a device, 77, which ctest counts as skipped; what must fail without one is tried in any case.
set -u
tool=$1
info=$2
models=$3
work=$4
python=$5
# shellcheck source=tests/tools/ran.sh
. "$(dirname "$0")/ran.sh"
setting= # variables for the tool's environment, as env takes them

# expect STATUS TEXT ARGUMENT...: runs the tool, wants the status, and the text somewhere in what it prints.
expect() {
  wanted=$1
  text=$2
  shift 2
  # shellcheck disable=SC2086 # several settings are several words
  ran "$wanted" "$text" env $setting "$tool" "$@"
}

# No driver, and a device that nobody has: a reason and status 2, with or without a device in the machine.
setting='VK_ICD_FILENAMES=/nonexistent VK_DRIVER_FILES=/nonexistent'
expect 2 'found no device that Leat can use: the Vulkan loader' "$models/mlp.onnx"
setting=LEAT_VULKAN_DEVICE=nonsense
expect 2 'LEAT_VULKAN_DEVICE' "$models/mlp.onnx"
setting=

"$info" --check >"$work/info" 2>&1
usable=$?
if [ "$usable" -eq 1 ]; then
  cat "$work/info"
  echo "$checks checks, $failures failures; no usable device, so the rest was skipped"
  [ "$failures" -eq 0 ] && exit 77
  exit 1
elif [ "$usable" -ne 0 ]; then
  cat "$work/info"
  echo "FAIL $info --check ended with $usable"
  exit 1
fi

# The device is named, and where it is of software that is said; whether the backend uses Vulkan is not known here.
if "$info" --json 2>/dev/null | grep -q '"software" : true'; then
  expect 0 '(in software, no GPU)' "$models/mlp.onnx" --runs 2
fi

for threads in 1 2 8 16; do
  expect 0 'LeatExecutionProvider 3, 3 of them in 1 fused subgraph: Gemm 2, Relu 1' "$models/mlp.onnx" --dim batch=5 \
    --threads "$threads" --runs 20
  expect 0 '0 wrong' "$models/words.onnx" --dim length=7 --range ids=0:99 --threads "$threads" --runs 20
done
expect 0 '0 wrong' "$models/mlp.onnx" --threads 8 --sessions 4 --runs 20
expect 0 '0 wrong' "$models/mlp.onnx" "$models/words.onnx" "$models/quotient.onnx" --threads 4 --sessions 2 --runs 20
expect 0 '0 wrong' "$models/mlp.onnx" --threads 8 --batch 8 --runs 20
expect 0 '0 wrong' "$models/mlp.onnx" "$models/words.onnx" --threads 8 --sessions 2 --batch 4 --batch-workers 2 \
  --runs 20
expect 0 'batched' "$models/four.onnx" --threads 3 --batch 4
expect 0 '0 wrong' "$models/quotient.onnx" --fill x=0 --dim n=9
expect 0 '0 wrong' "$models/quotient.onnx" --fill x=nan
expect 0 '0 wrong' "$models/quotient.onnx" --fill x=-inf
expect 0 '0 wrong' "$models/mlp.onnx" --dim batch=0
# Where the CPU provider is the less exact of both.
expect 0 '0 wrong' "$models/faint.onnx" --threads 4
expect 0 'OK' "$models/mlp.onnx" --no-fallback
expect 0 'nodes of graphs that took longest' "$models/mlp.onnx" --profile "$work/trace.json" --threads 3
expect 0 'runs compiled 0 pipelines' "$models/mlp.onnx" --profile "$work/trace.json" --dim batch=5 \
  --option 'warm_shapes=batch=5'
expect 0 'device time by operator' "$models/mlp.onnx" --profile "$work/trace.json" --option force_direct_path=1
expect 0 '"ok" : true' "$models/mlp.onnx" --profile "$work/trace.json" --json
# A report: with the reasons, device time by node and memory, all of which take a run of its own.
expect 0 '"device_time"' "$models/mlp.onnx" "$models/quotient.onnx" --report "$work/page.html" --threads 3 --json
cp "$work/out" "$work/page.json"
expect 1 'NOT OK' "$models/dice.onnx" "$models/mlp.onnx" --report "$work/dice.html" --threads 2
checks=$((checks + 2))
if ! "$python" "$(dirname "$0")/report_page.py" "$work/page.html" "$work/page.json" --threads 1 2 3 \
    --has second 'taken from the driver' ||
  ! "$python" "$(dirname "$0")/report_page.py" "$work/dice.html" --threads 1 2 \
    --has "its operator is not in the backend's list" second; then
  failures=$((failures + 1))
  echo 'FAIL report_page.py'
fi
expect 2 'there is: batch' "$models/mlp.onnx" --dim size=3 --report "$work/page.html"
expect 2 '--report together with --profile' "$models/mlp.onnx" --report "$work/page.html" --profile "$work/trace.json"
expect 1 'will have no device time' "$models/endless.onnx" --compare none --timeout 1 --report "$work/page.html"
expect 2 'dice.onnx' "$models/dice.onnx" --no-fallback
expect 2 'there are:' "$models/mlp.onnx" --device nonsense
expect 2 'there are:' "$models/mlp.onnx" --device 99
expect 2 'nonsense' "$models/mlp.onnx" --option nonsense=1
expect 0 'LeatExecutionProvider 3: Gemm 2, Relu 1' "$models/mlp.onnx" --option force_direct_path=1
expect 0 ', fused subgraph 1' "$models/mlp.onnx" --verbose
expect 0 '"in_subgraphs" : 3' "$models/mlp.onnx" --json

finish 0
