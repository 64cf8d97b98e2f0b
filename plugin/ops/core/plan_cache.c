/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/plan_cache.h"

#include <string.h>

#include "common/hash.h"
#include "core/sync.h"
#include "device/device.h"
#include "memory/memory.h"
#include "ops/core/dims.h"
#include "ops/core/op_state.h"
#include "policy/constants.h"

/* Bytes of the values on the host that a cached plan may follow from (shapes and axes have some tens). */
#define PLAN_VALUE_MAX 256

/* Where a tensor lies and what it holds: members of DLTensor that follow each other, compared in one go. */
typedef struct tensor_kind {
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
} tensor_kind;
_Static_assert(sizeof(tensor_kind) == 16 &&
                   offsetof(DLTensor, ndim) - offsetof(DLTensor, device) == offsetof(tensor_kind, ndim) &&
                   offsetof(DLTensor, dtype) - offsetof(DLTensor, device) == offsetof(tensor_kind, dtype),
               "DLTensor has these members side by side");

/* What a plan knows of an argument. */
typedef struct known_argument {
  tensor_kind kind;
  bool present, host;
  bool has_elements;
  bool on_device;         /* some of them, there */
  bool has_strides;       /* some were given; else NULL was */
  uint32_t alias;         /* an input: the output that may be exactly its memory, or LEATI_NO_ALIAS */
  uint8_t residue;        /* of the address, modulo LEATI_PLAN_ALIGNMENT */
  uint64_t before, after; /* bytes touched before the address, and from it on */
  uint32_t value_size;
  const unsigned char *value; /* of an input on the host; NULL: a whole number */
  int64_t least, most;        /* from here to here */
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
} known_argument;

typedef struct kept_plan {
  leati_lru_entry entry;
  leati_plan plan;
  uint32_t input_count, output_count;
  bool copies_unless_aliased; /* the plan depends on whether output 0 is the memory of input 0, */
  bool aliased;               /* which it is */
  const leat_shape *shapes;
  const known_argument *arguments; /* inputs, then outputs */
} kept_plan;

uint32_t leati_alias_of(const leat_op_info *info, uint32_t i, uint32_t input_count, uint32_t output_count) {
  if ((info->flags & LEAT_OP_LAST_IN_PLACE) != 0) {
    return i + output_count >= input_count ? i + output_count - input_count : LEATI_NO_ALIAS;
  }
  const bool first = (info->flags & LEAT_OP_IN_PLACE) != 0 || ((info->flags & LEAT_OP_ALIAS) != 0 && i == 0);
  const bool cache = (info->flags & LEAT_OP_CACHES) != 0 && (i == 3 || i == 4);
  return first ? 0 : cache ? i - 2 : LEATI_NO_ALIAS;
}

bool leati_may_alias(const leat_op_info *info, const leati_call *call, uint32_t i, uint32_t o) {
  const leati_view *const input = &call->inputs[i], *const output = &call->outputs[o];
  if (!input->compact || leati_alias_of(info, i, call->input_count, call->output_count) != o) {
    return false;
  }
  if ((info->flags & LEAT_OP_ALIAS) != 0 && i == 0) {
    return true;
  }
  return input->type == output->type && input->ndim == output->ndim &&
         leati_same_numbers(input->shape, output->shape, output->ndim);
}

/* ---- Finding ---------------------------------------------------------------------------------------------------- */

static inline bool fits_shape(const known_argument *known, const DLTensor *tensor) {
  if (tensor == NULL || !known->present) {
    return tensor == NULL && !known->present;
  }
  const int32_t ndim = known->kind.ndim;
  return memcmp(&tensor->device, &known->kind, sizeof(known->kind)) == 0 && (ndim == 0 || tensor->shape != NULL) &&
         leati_same_numbers(tensor->shape, known->shape, ndim);
}

/* Without elements strides mean nothing, and may point anywhere. */
static inline bool fits_strides(const known_argument *known, const DLTensor *tensor) {
  return !known->has_elements ||
         ((tensor->strides != NULL) == known->has_strides &&
          (!known->has_strides || leati_same_numbers(tensor->strides, known->strides, known->kind.ndim)));
}

/* The whole number of 32 or 64 bits that is at an address of any alignment. */
static int64_t read_number(const void *at, uint8_t bits) {
  int64_t wide;
  int32_t narrow;
  if (bits == 64) {
    memcpy(&wide, at, sizeof(wide));
    return wide;
  }
  memcpy(&narrow, at, sizeof(narrow));
  return narrow;
}

/* Whether elements on the host are such as a plan is for. */
static bool fits_value(const known_argument *known, const void *data) {
  if (known->value_size == 0 || known->value != NULL) {
    return known->value_size == 0 || memcmp(data, known->value, known->value_size) == 0;
  }
  const int64_t number = read_number(data, known->kind.dtype.bits);
  return number >= known->least && number <= known->most;
}

static bool fits_host(const known_argument *known, const DLTensor *tensor, leati_binding *out) {
  uint64_t end;
  if (known->has_elements && tensor->data == NULL) {
    return false;
  }
  if (__builtin_add_overflow((uint64_t)(uintptr_t)tensor->data, tensor->byte_offset, &end) ||
      __builtin_add_overflow(end, known->after, &end)) {
    return false;
  }
  out->data = known->has_elements ? (unsigned char *)tensor->data + tensor->byte_offset : NULL;
  return fits_value(known, out->data);
}

static inline bool fits_device(const known_argument *known, const DLTensor *tensor, leat_device *device,
                               leati_binding *out) {
  const uint64_t data = (uint64_t)(uintptr_t)tensor->data;
  leati_block *const block = leati_memory_find(device, data);
  if (block == NULL || __builtin_add_overflow(data, tensor->byte_offset, &out->address) ||
      (out->address & (LEATI_PLAN_ALIGNMENT - 1)) != known->residue) {
    return false;
  }
  out->block = block;
  return leati_block_holds(block, out->address, known->before, known->after);
}

/* Whether an argument whose shape fits has the strides and the value that a plan knows. */
static inline bool fits_contents(const known_argument *known, const DLTensor *tensor, leati_binding *out) {
  return tensor == NULL || (fits_strides(known, tensor) && (!known->host || fits_host(known, tensor, out)));
}

/* Argument `i` of a call: inputs, then outputs. */
static inline const DLTensor *argument(const kept_plan *kept, const DLTensor *const *inputs,
                                       const DLTensor *const *outputs, uint32_t i) {
  return i < kept->input_count ? inputs[i] : outputs[i - kept->input_count];
}

/* Whether arguments fit, but for where they lie on the device. */
static inline bool fit_descriptions(const kept_plan *kept, const DLTensor *const *inputs,
                                    const DLTensor *const *outputs, leati_binding *out) {
  const uint32_t count = kept->input_count + kept->output_count;
  bool fit = true;
  for (uint32_t i = 0; i < count && fit; ++i) {
    const known_argument *const known = &kept->arguments[i];
    const DLTensor *const tensor = argument(kept, inputs, outputs, i);
    fit = fits_shape(known, tensor) && fits_contents(known, tensor, &out[i]);
  }
  return fit;
}

/* Whether those on the device, which fit otherwise, lie there in live blocks and as aligned as the plan relies on. */
static inline bool fit_device(const kept_plan *kept, leat_device *device, const DLTensor *const *inputs,
                              const DLTensor *const *outputs, leati_binding *out) {
  const known_argument *const known = kept->arguments;
  const uint32_t count = kept->input_count + kept->output_count;
  uint32_t i = 0;
  while (i < count &&
         (!known[i].on_device || fits_device(&known[i], argument(kept, inputs, outputs, i), device, &out[i]))) {
    ++i;
  }
  return i == count;
}

/* Whether two arguments share bytes. */
static inline bool meet(const known_argument *a, const leati_binding *at_a, const known_argument *b,
                        const leati_binding *at_b) {
  return at_a->address - a->before < at_b->address + b->after && at_b->address - b->before < at_a->address + a->after;
}

/* Whether what outputs share with other arguments is what the plan was made for, and allowed. */
static bool fits_sharing(const kept_plan *kept, const leati_binding *bindings) {
  const uint32_t inputs = kept->input_count, all = inputs + kept->output_count;
  const known_argument *const known = kept->arguments;
  bool aliased = false;
  for (uint32_t o = inputs; o < all; ++o) {
    for (uint32_t i = 0; i < o && known[o].on_device; ++i) {
      if (!known[i].on_device || !meet(&known[i], &bindings[i], &known[o], &bindings[o])) {
        continue;
      }
      if (i >= inputs || known[i].alias != o - inputs || bindings[i].address != bindings[o].address ||
          known[i].after != known[o].after) {
        return false;
      }
      aliased = aliased || i == 0;
    }
  }
  return !kept->copies_unless_aliased || aliased == kept->aliased;
}

/* The bytes of a tensor on the host of which plans may follow, which is compact; 0: of others, and of what is wrong. */
static size_t small_size(const DLTensor *tensor) {
  /* Of no element type that there is nothing is read: whoever says so would be refused. */
  size_t size = leati_type_of(tensor->dtype) != 0 ? tensor->dtype.bits / 8u : 0;
  for (int32_t d = 0; d < tensor->ndim; ++d) {
    if (tensor->shape[d] < 0 || __builtin_mul_overflow(size, (size_t)tensor->shape[d], &size)) {
      return 0;
    }
  }
  return tensor->strides == NULL && tensor->data != NULL && size <= PLAN_VALUE_MAX ? size : 0;
}

/* The hash of the inputs' shapes and of values on the host; of the latter only where they are compared whole. What is
 * wrong with arguments is found out by others. */
static uint64_t hash_of(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs) {
  const leati_op_def *const def = op->def;
  uint64_t hash = 0;
  for (uint32_t i = 0; i < input_count; ++i) {
    const DLTensor *const tensor = inputs[i];
    const bool readable = tensor != NULL && tensor->ndim >= 0 && tensor->ndim <= LEAT_MAX_RANK &&
                          (tensor->ndim == 0 || tensor->shape != NULL);
    hash = leati_hash_word(hash, readable ? 1 + (uint64_t)tensor->ndim : 0);
    for (int32_t d = 0; readable && d < tensor->ndim; ++d) {
      hash = leati_hash_word(hash, (uint64_t)tensor->shape[d]);
    }
    const bool compared = readable && leati_op_is_host(def->info.host_inputs, i) && def->host_range == NULL &&
                          tensor->device.device_type == kDLCPU;
    const size_t size = compared ? small_size(tensor) : 0;
    if (size != 0) {
      hash = leati_hash_bytes(hash, (const unsigned char *)tensor->data + tensor->byte_offset, size);
    }
  }
  return hash;
}

const leati_plan *leati_plan_cache_find(const leati_plan_cache *cache, const leat_op *op, uint32_t input_count,
                                        const DLTensor *const *inputs, uint32_t output_count,
                                        const DLTensor *const *outputs, leati_binding *bindings) {
  const uint64_t hash = hash_of(op, input_count, inputs);
  for (leati_lru_entry *at = leati_lru_first(&cache->table, hash); at != NULL; at = leati_lru_next(at)) {
    const kept_plan *const kept = (const kept_plan *)at;
    /* Looking for blocks takes longest: only for the one plan whose shapes fit. */
    if (at->hash == hash && kept->input_count == input_count && kept->output_count == output_count &&
        fit_descriptions(kept, inputs, outputs, bindings) && fit_device(kept, op->device, inputs, outputs, bindings) &&
        fits_sharing(kept, bindings)) {
      leati_lru_use(&cache->table, at);
      return &kept->plan;
    }
  }
  return NULL;
}

const leat_shape *leati_plan_cache_shapes(const leati_plan_cache *cache, const leat_op *op, uint32_t input_count,
                                          const DLTensor *const *inputs, uint32_t output_count) {
  const uint64_t hash = hash_of(op, input_count, inputs);
  for (const leati_lru_entry *at = leati_lru_first(&cache->table, hash); at != NULL; at = leati_lru_next(at)) {
    const kept_plan *const kept = (const kept_plan *)at;
    bool found = at->hash == hash && kept->input_count == input_count && kept->output_count == output_count;
    for (uint32_t i = 0; i < input_count && found; ++i) {
      const known_argument *const known = &kept->arguments[i];
      leati_binding binding;
      /* Of what lies on the device the shape alone was ever asked for. */
      found = fits_shape(known, inputs[i]) && (!known->host || fits_contents(known, inputs[i], &binding));
    }
    if (found) {
      return kept->shapes;
    }
  }
  return NULL;
}

/* ---- Adding ----------------------------------------------------------------------------------------------------- */

/* Bytes of the value of an input on the host. */
static size_t value_size(const leati_view *input) {
  return input->present && input->host ? (size_t)(input->count * input->item_size) : 0;
}

static known_argument know(const leati_view *view, const DLTensor *tensor) {
  known_argument known = {.present = view->present, .host = view->host, .has_elements = view->count != 0};
  if (!view->present) {
    return known;
  }
  known.has_strides = tensor->strides != NULL && known.has_elements;
  known.kind = (tensor_kind){.device = tensor->device, .ndim = tensor->ndim, .dtype = tensor->dtype};
  known.on_device = !view->host && known.has_elements;
  known.residue = (uint8_t)(view->address & (LEATI_PLAN_ALIGNMENT - 1));
  known.before = view->address - view->begin;
  known.after = view->end - view->address;
  for (int32_t d = 0; d < view->ndim; ++d) {
    known.shape[d] = view->shape[d];
    known.strides[d] = known.has_strides ? tensor->strides[d] : 0;
  }
  return known;
}

/* Fills in what a plan knows of a call; values go to `values`. */
static void know_all(const leat_op *op, const leati_call *call, const DLTensor *const *inputs,
                     const DLTensor *const *outputs, known_argument *out, unsigned char *values) {
  const leati_op_def *const def = op->def;
  const leat_op_info *const info = &def->info;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const input = &call->inputs[i];
    out[i] = know(input, inputs[i]);
    const uint32_t o = leati_alias_of(info, i, call->input_count, call->output_count);
    const bool may =
        input->present && o < call->output_count && call->outputs[o].present && leati_may_alias(info, call, i, o);
    out[i].alias = may ? o : LEATI_NO_ALIAS;
    out[i].value_size = (uint32_t)value_size(input);
    const bool ranged = out[i].value_size != 0 && input->count == 1 && def->host_range != NULL &&
                        (input->type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0 &&
                        def->host_range(op, call, i, &out[i].least, &out[i].most);
    if (out[i].value_size != 0 && !ranged) {
      memcpy(values, input->data, out[i].value_size);
      out[i].value = values;
      values += out[i].value_size;
    }
  }
  for (uint32_t o = 0; o < call->output_count; ++o) {
    out[call->input_count + o] = know(&call->outputs[o], outputs[o]);
  }
}

/* A plan for a call with what it is for; NULL: there is no memory. `values`: bytes of values on the host. */
static kept_plan *make_kept(const leati_planner *planner, const leat_op *op, const leati_call *call,
                            const DLTensor *const *inputs, const DLTensor *const *outputs, const leat_shape *shapes,
                            size_t values) {
  const uint32_t count = call->input_count + call->output_count;
  const size_t shapes_size = call->output_count * sizeof(*shapes);
  leati_plan plan;
  size_t size;
  kept_plan *const kept =
      leati_planner_keep(planner, sizeof(*kept) + count * sizeof(known_argument) + shapes_size + values, &plan, &size);
  if (kept == NULL) {
    return NULL;
  }
  known_argument *const arguments = (known_argument *)(void *)(kept + 1);
  leat_shape *const kept_shapes = (leat_shape *)(void *)(arguments + count);
  kept->entry.hash = hash_of(op, call->input_count, inputs);
  kept->entry.bytes = size;
  kept->plan = plan;
  kept->input_count = call->input_count;
  kept->output_count = call->output_count;
  kept->copies_unless_aliased = (op->def->info.flags & LEAT_OP_ALIAS) != 0;
  kept->aliased = call->input_count != 0 && call->inputs[0].count != 0 && call->output_count != 0 &&
                  call->outputs[0].present && call->inputs[0].address == call->outputs[0].address;
  kept->shapes = kept_shapes;
  kept->arguments = arguments;
  know_all(op, call, inputs, outputs, arguments, (unsigned char *)(kept_shapes + call->output_count));
  memcpy(kept_shapes, shapes, shapes_size);
  return kept;
}

static void free_plan(void *owner, leati_lru_entry *entry) {
  (void)owner;
  leati_free(entry);
}

void leati_plan_cache_begin(leati_plan_cache *cache) {
  leati_lru_begin(&cache->table, cache->buckets, LEATI_PLAN_BUCKETS, LEATI_PLANS_BYTES, free_plan, NULL);
}

void leati_plan_cache_add(leati_plan_cache *cache, const leati_lru_readers *readers, const leati_planner *planner,
                          const leat_op *op, const leati_call *call, const DLTensor *const *inputs,
                          const DLTensor *const *outputs, const leat_shape *shapes) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const size_t size = value_size(&call->inputs[i]);
    if (size != 0 && (!call->inputs[i].compact || size > PLAN_VALUE_MAX)) {
      return;
    }
    bytes += size;
  }
  if (call->input_count + call->output_count > LEATI_CACHED_ARGUMENTS_MAX ||
      atomic_exchange_explicit(&cache->adding, true, memory_order_acquire)) {
    return;
  }
  leati_lru_entry *const unused = leati_lru_collect(&cache->table, readers);
  /* Another thread may have added the same. */
  leati_binding bindings[LEATI_BINDINGS_MAX];
  if (leati_plan_cache_find(cache, op, call->input_count, inputs, call->output_count, outputs, bindings) == NULL) {
    kept_plan *const kept = make_kept(planner, op, call, inputs, outputs, shapes, bytes);
    if (kept != NULL && !leati_lru_add(&cache->table, &kept->entry)) {
      leati_free(kept);
    }
  }
  atomic_store_explicit(&cache->adding, false, memory_order_release);
  leati_lru_free_all(&cache->table, unused);
}
