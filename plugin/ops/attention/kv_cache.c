/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/kv_cache.h"

#include "core/status.h"
#include "ops/core/movement.h"

/* What kernels/append.comp is written for. */
#define FOURS_PER_GROUP 1024u

/* Argument record of kernels/append.comp. */
typedef struct part_args {
  uint64_t past, fresh, to, bias;
  int32_t past_strides[4], fresh_strides[4];
  uint32_t heads, size;
  uint32_t rows;
  uint32_t cached;
  uint32_t rotates;
  int32_t bias_stride;
} part_args;

typedef struct append_args {
  part_args parts[LEATI_APPEND_PARTS];
  leati_lengths_args lengths;
  leati_rotation_args rotation;
  uint64_t origins;
  uint32_t used, groups;
  uint32_t batches;
  int32_t past, fresh;
  int32_t origin_stride;
  uint32_t beams;
} append_args;
_Static_assert(sizeof(append_args) <= LEATI_ARGS_MAX, "a record has room for all parts");

leati_lengths_args leati_lengths_fill(const leati_lengths *lengths) {
  leati_lengths_args args = {.added = lengths->added, .least = (int32_t)lengths->least, .most = (int32_t)lengths->most};
  if (lengths->view != NULL) {
    const uint32_t words = lengths->view->item_size / (uint32_t)sizeof(uint32_t);
    args.stride = lengths->view->count > 1 ? (int32_t)(lengths->view->strides[0] * words) : 0;
    args.wide = words == 2;
  }
  return args;
}

leati_rotation_args leati_rotation_fill(const leati_rotation *rotation) {
  leati_rotation_args args = {.interleaved = rotation->interleaved};
  if (rotation->cosines != NULL) {
    for (uint32_t d = 0; d < 2; ++d) {
      args.cosine_strides[d] = (int32_t)rotation->cosines->strides[d];
      args.sine_strides[d] = (int32_t)rotation->sines->strides[d];
    }
    args.id_step = rotation->counted;
    for (uint32_t d = 0; d < 2 && rotation->position_ids != NULL && !rotation->counted; ++d) {
      args.id_strides[d] = (int32_t)rotation->position_ids->strides[d];
    }
    args.positions = (int32_t)rotation->cosines->shape[0];
    args.pairs = (uint32_t)rotation->cosines->shape[1];
  }
  return args;
}

/* Fills in a part, but for addresses; false: not all of it can be moved four elements at a time. */
static bool fill_part(const leati_append_part *part, part_args *args) {
  const leati_heads *const fresh = &part->fresh->heads;
  *args = (part_args){.heads = (uint32_t)fresh->shape[1],
                      .size = (uint32_t)fresh->shape[3],
                      .rows = (uint32_t)part->to->shape[2],
                      .cached = !part->alone,
                      .rotates = part->rotates};
  leati_heads_strides(fresh, args->fresh_strides);
  bool quads =
      leati_heads_in_groups(part->fresh, args->fresh_strides, 4) && part->to->address % (4 * part->to->item_size) == 0;
  if (part->past != NULL && part->past->view.count != 0) {
    leati_heads_strides(&part->past->heads, args->past_strides);
    quads = quads && leati_heads_in_groups(part->past, args->past_strides, 4);
  }
  if (part->bias != NULL) {
    args->bias_stride = part->bias->count > 1 ? (int32_t)part->bias->strides[0] : 1;
    quads = quads && args->bias_stride == 1 && part->bias->address % (4 * part->bias->item_size) == 0;
  }
  return quads;
}

/* What a dispatch reads; what is rotated has no bias, so that there is room for all. */
typedef struct read_list {
  leati_access accesses[LEATI_ACCESS_MAX];
  uint32_t count;
} read_list;

static void add_read(read_list *reads, const leati_view *view, const uint64_t *field) {
  if (view != NULL) {
    reads->accesses[reads->count++] = (leati_access){view, field};
  }
}

int32_t leati_plan_append(leati_planner *planner, const leati_append *append, leat_error *err) {
  const leati_operand *const first = append->parts[0].fresh;
  append_args args = {.lengths = leati_lengths_fill(&append->lengths),
                      .rotation = leati_rotation_fill(&append->rotation),
                      .used = append->count,
                      .batches = (uint32_t)first->heads.shape[0],
                      .past = (int32_t)append->past,
                      .fresh = (int32_t)first->heads.shape[2]};
  read_list reads = {.count = 0};
  leati_access writes[LEATI_APPEND_PARTS];
  uint32_t largest = 0;
  bool quads = true;
  for (uint32_t i = 0; i < append->count; ++i) {
    const leati_append_part *const part = &append->parts[i];
    LEATI_TRY(leati_check_reach(part->to, "a cache of keys and values", err));
    part_args *const record = &args.parts[i];
    quads = fill_part(part, record) && quads;
    add_read(&reads, part->past != NULL ? &part->past->view : NULL, &record->past);
    add_read(&reads, &part->fresh->view, &record->fresh);
    add_read(&reads, part->rotates ? NULL : part->bias, &record->bias);
    writes[i] = (leati_access){part->to, &record->to};
    const uint32_t fours = (record->size + 3) / 4 * (uint32_t)(part->to->count / record->size);
    largest = fours > largest ? fours : largest;
  }
  add_read(&reads, append->lengths.view, &args.lengths.at);
  add_read(&reads, append->rotation.cosines, &args.rotation.cosines);
  add_read(&reads, append->rotation.sines, &args.rotation.sines);
  add_read(&reads, append->rotation.position_ids, &args.rotation.position_ids);
  add_read(&reads, append->origins, &args.origins);
  if (append->origins != NULL) {
    args.origin_stride = (int32_t)append->origins->shape[append->origins->ndim - 1];
    args.beams = (uint32_t)append->beams;
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_APPEND, append->parts[0].to->type),
                   .constants.append = {.quads = quads}},
      .args = &args,
      .args_size = sizeof(args),
      .reads = reads.accesses,
      .read_count = reads.count,
      .writes = writes,
      .write_count = append->count};
  args.groups = (largest + FOURS_PER_GROUP - 1) / FOURS_PER_GROUP;
  leati_groups_linear(planner->device, (uint64_t)args.groups * args.used, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Fails unless earlier keys or values have so many batches, heads and elements. */
static int32_t check_past(const char *name, const char *what, const leati_view *past, const leati_heads *fresh,
                          leat_error *err) {
  const int64_t *const shape = past->shape, *const with = fresh->shape;
  if (past->ndim != 4) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: past %s have %d dimensions; there are 4: batches, heads, positions, elements of a head",
                      name, what, past->ndim);
  }
  return shape[0] == with[0] && shape[1] == with[1] && shape[3] == with[3]
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: past %s of %lld batches, %lld heads and %lld elements of a head do not go with new ones "
                          "of %lld, %lld and %lld",
                          name, what, (long long)shape[0], (long long)shape[1], (long long)shape[3], (long long)with[0],
                          (long long)with[1], (long long)with[3]);
}

int32_t leati_kv_check(const char *name, const leati_view *past_key, const leati_view *past_value,
                       const leati_heads *keys, const leati_heads *values, int64_t *out, leat_error *err) {
  *out = 0;
  if ((past_key == NULL) != (past_value == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: past %s without past %s", name,
                      past_key == NULL ? "values" : "keys", past_key == NULL ? "keys" : "values");
  }
  if (past_key == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(check_past(name, "keys", past_key, keys, err));
  LEATI_TRY(check_past(name, "values", past_value, values, err));
  *out = past_key->shape[2];
  return past_value->shape[2] == *out
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: past keys have %lld positions and past values %lld",
                          name, (long long)*out, (long long)past_value->shape[2]);
}
