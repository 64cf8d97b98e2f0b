/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/attention_few.h"

#include "core/status.h"
#include "device/device.h"
#include "ops/attention/kernels/attention_codes.glsl"
#include "ops/core/movement.h"
#include "policy/tiling.h"

/* What kernels/attention_few.comp is written for. */
#define PIECE_BYTES 16
#define AGREES(what) (LEAT_ATTENTION_FEW_##what == LEATI_ATTENTION_FEW_##what##_MOST)
_Static_assert(AGREES(ROWS) && AGREES(RESULTS) && AGREES(PIECES) && AGREES(FLIGHT) && AGREES(SCORES) &&
                   AGREES(SUBGROUPS) && LEAT_ATTENTION_FEW_LANES_MOST == LEATI_ATTENTION_FEW_LANES_MOST &&
                   LEAT_ATTENTION_FEW_LANES_LEAST == LEATI_ATTENTION_FEW_LANES_LEAST &&
                   LEAT_ATTENTION_FEW_THREADS_LEAST == LEATI_ATTENTION_FEW_THREADS_LEAST,
               "the rule cuts by what the kernel has room for");

/* Argument record of kernels/attention_few.comp. */
typedef struct few_args {
  leati_attention_args attention;
  uint64_t k, v, to_k, to_v;
  int32_t k_strides[4], v_strides[4];
  leati_rotation_args rotation;
  uint32_t count, rows;
} few_args;
_Static_assert(offsetof(few_args, k) == sizeof(leati_attention_args) && sizeof(few_args) <= LEATI_ARGS_MAX,
               "as std430 lays it out, and it fits");

/* What an attention is cut by; `whole`: elements of a piece. */
static leati_attention_few_cut cut_of(const leat_device *device, const leati_attention *a, int64_t keys,
                                      uint32_t whole) {
  const int64_t *const q = a->q.heads.shape, *const k = a->k.heads.shape, width = a->v.heads.shape[3];
  const int64_t size = q[3] > width ? q[3] : width;
  const leati_attention_few_shape shape = {.heads = (uint64_t)(k[0] * k[1]),
                                           .rows = (uint64_t)(q[1] / k[1] * q[2]),
                                           .keys = (uint32_t)keys,
                                           .pieces = (uint32_t)((size + whole - 1) / whole),
                                           .fours = whole / 4};
  return leati_attention_cut_few(&device->traits, device->physical->subgroup_size, &shape);
}

static uint32_t whole_of(const leati_attention *a) {
  return PIECE_BYTES / a->q.view.item_size;
}

/* Whether rows can be read a piece at a time. */
static bool in_pieces(const leati_operand *operand, uint32_t whole) {
  int32_t strides[4];
  leati_heads_strides(&operand->heads, strides);
  return leati_heads_in_groups(operand, strides, whole);
}

/* Keys that there may be, of which the last ones are new. */
static int64_t keys_of(const leati_attention *a, const leati_append *append) {
  return append != NULL ? a->lengths.most : a->k.heads.shape[2];
}

/* Whether new keys and values go where the first query stands, as the kernel has it, and find room in shared memory,
 * and what is read and written of caches is whole pieces. */
static bool fits_behind(const leati_attention *a, const leati_append *append, uint32_t whole, uint32_t block) {
  const int64_t fresh = a->k.heads.shape[2], depth = a->k.heads.shape[3], width = a->v.heads.shape[3];
  bool fits = (!a->ends || append->lengths.view == a->lengths.view) && depth % whole == 0 && width % whole == 0 &&
              fresh <= block && fresh * (depth + width) / whole <= LEAT_ATTENTION_FEW_NEW;
  for (uint32_t i = 0; i < 2; ++i) {
    const leati_append_part *const part = &append->parts[i];
    fits = fits && (part->past == NULL || part->past->view.count == 0 || in_pieces(part->past, whole)) &&
           (part->to == NULL || part->to->address % PIECE_BYTES == 0);
  }
  return fits;
}

bool leati_attention_few_fits(const leat_device *device, const leati_attention *a, const leati_append *append) {
  const int64_t keys = keys_of(a, append);
  if (!device->physical->shuffles || !leati_attention_is_few(&device->traits, a->q.heads.shape[2]) ||
      a->y.view.count == 0 || keys == 0) {
    return false;
  }
  const uint32_t whole = whole_of(a);
  if (append == NULL) {
    return in_pieces(&a->k, whole) && in_pieces(&a->v, whole);
  }
  const leati_attention_few_cut cut = cut_of(device, a, keys, whole);
  return fits_behind(a, append, whole, cut.threads / cut.lanes * cut.flight);
}

/* Fills in where keys and values come from, and where the caches go on. */
static int32_t fill_new(const leati_attention *a, const leati_append *append, few_args *args, leat_error *err) {
  args->rotation = leati_rotation_fill(&append->rotation);
  args->count = (uint32_t)a->k.heads.shape[2];
  leati_heads_strides(&a->k.heads, args->k_strides);
  leati_heads_strides(&a->v.heads, args->v_strides);
  int32_t *const past_strides[] = {args->attention.k_strides, args->attention.v_strides};
  for (uint32_t i = 0; i < 2; ++i) {
    const leati_append_part *const part = &append->parts[i];
    if (part->past != NULL) {
      leati_heads_strides(&part->past->heads, past_strides[i]);
    }
    if (part->to != NULL) {
      LEATI_TRY(leati_check_reach(part->to, "a cache of keys and values", err));
      args->rows = (uint32_t)part->to->shape[2];
    }
  }
  return LEAT_OK;
}

static const leati_view *view_of(const leati_operand *operand) {
  return operand != NULL ? &operand->view : NULL;
}

int32_t leati_plan_attention_few(leati_planner *planner, const leati_attention *a, const leati_append *append,
                                 leat_error *err) {
  const leati_attention_few_cut cut = cut_of(planner->device, a, keys_of(a, append), whole_of(a));
  few_args args = {.attention = leati_attention_fill(a)};
  leati_attention_args *const base = &args.attention;
  const leati_append none = {.count = 0}, *const behind = append != NULL ? append : &none;
  const leati_append_part *const parts = behind->parts;
  const leati_view *const k = append != NULL ? view_of(parts[0].past) : &a->k.view;
  const leati_view *const v = append != NULL ? view_of(parts[1].past) : &a->v.view;
  const leati_view *const new_k = append != NULL ? &a->k.view : NULL, *const new_v = append != NULL ? &a->v.view : NULL;
  if (append != NULL) {
    LEATI_TRY(fill_new(a, append, &args, err));
  }
  leati_view pieces = {.type = LEAT_TYPE_FLOAT32, .ndim = 1};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_ATTENTION_FEW, a->q.view.type),
                   .constants.attention_few = {.threads = cut.threads,
                                               .subgroup_size = planner->device->physical->subgroup_size,
                                               .rows = cut.rows,
                                               .lanes = cut.lanes,
                                               .chunks = cut.chunks,
                                               .flight = cut.flight,
                                               .behind = append != NULL,
                                               .zeroed = a->zeroed}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&a->q.view, &base->q}, {k, &base->k}, {v, &base->v}, {a->mask, &base->mask},
                  {a->lengths.view, &base->lengths.at}, {new_k, &args.k}, {new_v, &args.v},
                  {leati_attention_sinks(a), &base->sinks}, {behind->rotation.cosines, &args.rotation.cosines},
                  {behind->rotation.sines, &args.rotation.sines},
                  {behind->rotation.position_ids, &args.rotation.position_ids}),
      LEATI_WRITES({&a->y.view, &base->y}, {&pieces, &base->pieces}, {parts[0].to, &args.to_k},
                   {parts[1].to, &args.to_v}),
      .multiplications = (a->q.view.count + a->y.view.count) * (uint64_t)keys_of(a, append)};
  const uint32_t rows = base->share * base->queries;
  base->blocks = (rows + cut.rows - 1) / cut.rows;
  base->heads = (uint32_t)a->k.heads.shape[1];
  base->groups = (uint32_t)a->k.heads.shape[0] * base->heads * base->blocks;
  leati_groups_linear(planner->device, base->groups, 1, dispatch.groups);
  /* More groups than there are counters fill any device. */
  if (cut.splits > 1 && base->groups <= LEATI_COUNTERS_MAX) {
    dispatch.counter_count = base->groups;
    dispatch.counters = &base->counters;
    dispatch.pipeline.constants.attention_few.split = 1;
    base->splits = cut.splits;
    dispatch.groups[0] = cut.splits;
    dispatch.groups[1] = base->groups;
    const uint32_t results = cut.rows * cut.chunks * (whole_of(a) / 4) * cut.lanes;
    pieces.shape[0] = (int64_t)base->groups * cut.splits * (results + cut.rows) * 4;
    LEATI_TRY(leati_plan_temporary(planner, &pieces, err));
  }
  leati_attention_fill_dividers(base);
  return leati_plan_dispatch(planner, &dispatch, err);
}
