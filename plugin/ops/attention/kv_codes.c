/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/kv_codes.h"

#include "core/status.h"
#include "ops/core/movement.h"

/* Argument record of kernels/kv_codes.comp. */
typedef struct part_args {
  uint64_t past, fresh, scales, to, values;
  int32_t past_strides[4], fresh_strides[4];
  int32_t scale_strides[2];
} part_args;

typedef struct codes_args {
  part_args parts[2];
  leati_lengths_args lengths;
  uint32_t groups, count;
  uint32_t heads, rows, row;
  uint32_t size;
  int32_t fresh;
  uint32_t bits;
} codes_args;

int32_t leati_plan_kv_codes(leati_planner *planner, const leati_kv_code *code, const leati_kv_codes_part parts[2],
                            const leati_lengths *lengths, leat_error *err) {
  const int64_t *const shape = parts[0].values->shape;
  const uint32_t row = (uint32_t)(shape[3] * code->bits / 8);
  codes_args args = {.lengths = leati_lengths_fill(lengths),
                     .heads = (uint32_t)shape[1],
                     .rows = (uint32_t)shape[2],
                     .row = row,
                     .size = (uint32_t)shape[3],
                     .fresh = (int32_t)parts[0].fresh->heads.shape[2],
                     .bits = code->bits};
  for (uint32_t i = 0; i < 2; ++i) {
    const leati_kv_codes_part *const part = &parts[i];
    part_args *const record = &args.parts[i];
    LEATI_TRY(leati_check_reach(part->values, "a cache of keys and values", err));
    leati_heads_strides(&part->fresh->heads, record->fresh_strides);
    for (uint32_t d = 0; d < 4 && part->past != NULL; ++d) {
      record->past_strides[d] = part->past->shape[d] > 1 ? (int32_t)part->past->strides[d] : 0;
    }
    if (code->scales[i]->count > 1) {
      record->scale_strides[0] = (int32_t)shape[3];
      record->scale_strides[1] = 1;
    }
  }
  args.count = (uint32_t)(shape[0] * shape[1] * shape[2]) * row;
  args.groups = (args.count + LEATI_ITEMS_PER_GROUP - 1) / LEATI_ITEMS_PER_GROUP;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_KV_CODES, parts[0].values->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({parts[0].past, &args.parts[0].past}, {&parts[0].fresh->view, &args.parts[0].fresh},
                  {code->scales[0], &args.parts[0].scales}, {parts[1].past, &args.parts[1].past},
                  {&parts[1].fresh->view, &args.parts[1].fresh}, {code->scales[1], &args.parts[1].scales},
                  {lengths->view, &args.lengths.at}),
      LEATI_WRITES({parts[0].to, &args.parts[0].to}, {parts[0].values, &args.parts[0].values},
                   {parts[1].to, &args.parts[1].to}, {parts[1].values, &args.parts[1].values})};
  leati_groups_linear(planner->device, (uint64_t)args.groups * 2, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}
