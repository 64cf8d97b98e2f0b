#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tuning_test.sh LEAT_INFO LEAT_CONFORMANCE PLUGIN: operators are right however their kernels are cut: with all constants
# of LEAT_TUNING at the lower ends of their ranges, at the upper ones, and with as many workgroups of as few threads as
# there can be; and attention with few queries by the kernels for many. Without a device, 77, which ctest counts as
# skipped.
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
[ "$(printf '%s' "$most" | tr , '\n' | grep -c =)" -gt 20 ] || {
  echo "leat-info tells no constants: '$most'"
  exit 1
}
small=gemm_fill_128_quarters=64,gemm_fill_64_quarters=64,gemm_split_fill=16,gemm_split_min=64,attention_split_min=32
small=$small,gemv_split_min=64,nbits_fill=16,reduce_fill=16,reduce_chunk_min=1,copy_items_many=0
# One case of each kind of cut: more would compile the same kernels for other strides and types.
set --
for name in MatMul.float32 MatMul.one_row MatMul.one_column MatMul.tile_edges MatMul.inner_long MatMul.inner_split \
  MatMul.inner_split_batched MatMul.inner_split_one_row MatMul.inner_split_wide_row MatMulNBits.few_rows_float32 \
  MatMulNBits.tiles_float32 MatMulNBits.long_row Conv.float32 \
  Conv.inner_split Conv.tile_edges Conv.groups Attention.float32 Attention.many_keys Attention.decoding \
  Attention.few_of_256_float32 Attention.few_of_last_keys GroupQueryAttention.few_of_128_float32 \
  GroupQueryAttention.sinks_of_many_keys \
  ReduceSum.last_axis ReduceSum.middle_axis ReduceSum.all ReduceSum.long ReduceSum.long_first_axis ArgMax.last_axis \
  ArgMax.first_axis ArgMax.ties_long Softmax.line_of_5 Softmax.line_of_384 Softmax.line_of_4100 Softmax.middle_axis \
  LayerNormalization.line_of_384 LayerNormalization.line_of_8193 LayerNormalization.many_lines \
  Transpose.tiles_31x33_int32 Transpose.tiles_68x60_int32 Transpose.many_tiles MatMulInteger.three_rows \
  MatMulInteger.inner_split MatMulInteger.inner_split_row DynamicQuantizeLinear.long \
  DynamicQuantizeLinear.fours; do
  set -- "$@" -f "op.$name"
done
for tuning in "$(ends 1)" "$most" "$small"; do
  echo "LEAT_TUNING=$tuning"
  LEAT_TUNING=$tuning "$conformance" "$plugin" --quiet --batch=64 --deadline-scale=4 "$@"
done
# Most cases of attention have few queries: here the kernels for many get them, each case as its inputs lie one after the
# other. Cases of more queries, which get these kernels in any case, are left out where they compile one that no other
# case has; and float16, whose cases of more queries run in the job validation: it is loaded otherwise, and no more.
set --
for name in $("$conformance" --list | cut -f1 | grep -E '^op\.[A-Za-z]*Attention\.[a-z0-9_]*$' |
  grep -Ev 'float16|head_of_|many_keys_of_130'); do
  set -- "$@" -f "$name"
done
LEAT_TUNING=attention_few_queries=0 "$conformance" "$plugin" --quiet --batch=64 --deadline-scale=4 "$@"
