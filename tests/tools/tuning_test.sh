#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tuning_test.sh LEAT_INFO LEAT_CONFORMANCE PLUGIN: operators are right however their kernels are cut: with all constants
# of LEAT_TUNING at the lower ends of their ranges, at the upper ones, and with as many workgroups of as few threads as
# there can be. Without a device, 77, which ctest counts as skipped.
set -eu
info=$1 conformance=$2 plugin=$3

# ends N: NAME=NUMBER of all constants, with the lowest number that each may have, or the highest: 1 or 2.
ends() {
  "$info" --json --plugin "$plugin" |
    sed -nE 's/^ *"tuning\.([a-z0-9_]+)" : "[0-9]+ \(([0-9]+) to ([0-9]+), by itself [0-9]+\)".*/\1 \2 \3/p' |
    awk -v "n=$1" '{ print $1 "=" $(n + 1) }' | paste -s -d , -
}

if [ "$("$info" --check --plugin "$plugin" | cut -c 1-16)" = 'no usable device' ]; then
  echo 'there is no usable device'
  exit 77
fi
most=$(ends 2)
[ "$(printf '%s' "$most" | tr , '\n' | grep -c =)" -gt 40 ] || {
  echo "leat-info tells no constants: '$most'"
  exit 1
}
small=gemm_fill_128_quarters=64,gemm_fill_64_quarters=64,gemm_split_fill=16,gemm_split_min=64,gemm_split_min_few=64
small=$small,attention_split_fill_quarters=32,attention_split_min=32,gemv_fill_quarters=64,gemv_split_min=64,nbits_fill=16
small=$small,gemv_columns_min=8,gemv_quads_columns=0,reduce_fill=16,reduce_split_fill=16,reduce_chunk_min=1
small=$small,row_together=1,row_fours_max=1,copy_each=3,copy_items_many=0,transpose_min=1,transpose_tiles_many=0
for tuning in "$(ends 1)" "$most" "$small"; do
  echo "LEAT_TUNING=$tuning"
  LEAT_TUNING=$tuning "$conformance" "$plugin" --quiet --batch=64 --deadline-scale=4 \
    -f 'op.MatMul.*' -f 'op.MatMulNBits.*float32*' -f 'op.MultiMatMul.float32*' -f 'op.MultiMatMul.inner_split*' \
    -f 'op.Conv.*float32*' -f 'op.Attention.float32*' -f 'op.ReduceSum.*' -f 'op.ArgMax.*_axis*' \
    -f 'op.Softmax.line_of_*' -f 'op.Softmax.*_axis*' -f 'op.LayerNormalization.float32*' \
    -f 'op.LayerNormalization.many_lines' -f 'op.Transpose.tiles_*int32*' -f 'op.Transpose.float32*'
done
