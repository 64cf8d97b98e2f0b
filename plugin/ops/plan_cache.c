/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/plan_cache.h"

#include <string.h>

#include "core/sync.h"
#include "device/device.h"
#include "memory/memory.h"
#include "ops/dims.h"

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
  uint8_t residue;        /* of the address, modulo LEATI_PROMISED */
  uint64_t before, after; /* bytes touched before the address, and from it on */
  uint32_t value_size;
  const unsigned char *value; /* of an input on the host */
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
} known_argument;

struct leati_kept_plan {
  leati_plan plan;
  uint32_t input_count, output_count;
  bool copies_unless_aliased; /* the plan depends on whether output 0 is the memory of input 0, */
  bool aliased;               /* which it is */
  const leat_shape *shapes;
  const known_argument *arguments; /* inputs, then outputs */
};
typedef struct leati_kept_plan kept_plan;

uint32_t leati_alias_of(const leat_op_info *info, uint32_t i) {
  const bool first = (info->flags & LEAT_OP_IN_PLACE) != 0 || ((info->flags & LEAT_OP_ALIAS) != 0 && i == 0);
  const bool cache = (info->flags & LEAT_OP_CACHES) != 0 && (i == 3 || i == 4);
  return first ? 0 : cache ? i - 2 : LEATI_NO_ALIAS;
}

bool leati_may_alias(const leat_op_info *info, uint32_t i, const leati_view *input, uint32_t o,
                     const leati_view *output) {
  if (!input->compact || leati_alias_of(info, i) != o) {
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
  return known->value_size == 0 || memcmp(out->data, known->value, known->value_size) == 0;
}

static inline bool fits_device(const known_argument *known, const DLTensor *tensor, leat_device *device,
                               leati_binding *out) {
  const uint64_t data = (uint64_t)(uintptr_t)tensor->data;
  leati_block *const block = leati_memory_find(device, data);
  if (block == NULL || __builtin_add_overflow(data, tensor->byte_offset, &out->address) ||
      (out->address & (LEATI_PROMISED - 1)) != known->residue) {
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

const leati_plan *leati_plan_cache_find(const leati_plan_cache *cache, leat_device *device, uint32_t input_count,
                                        const DLTensor *const *inputs, uint32_t output_count,
                                        const DLTensor *const *outputs, leati_binding *bindings) {
  for (uint32_t k = 0; k < LEATI_PLANS_MAX; ++k) {
    const kept_plan *const kept = atomic_load_explicit(&cache->at[k], memory_order_acquire);
    if (kept == NULL) {
      return NULL;
    }
    /* Looking for blocks takes longest: only for the one plan whose shapes fit. */
    if (kept->input_count == input_count && kept->output_count == output_count &&
        fit_descriptions(kept, inputs, outputs, bindings) && fit_device(kept, device, inputs, outputs, bindings) &&
        fits_sharing(kept, bindings)) {
      return &kept->plan;
    }
  }
  return NULL;
}

const leat_shape *leati_plan_cache_shapes(const leati_plan_cache *cache, uint32_t input_count,
                                          const DLTensor *const *inputs, uint32_t output_count) {
  for (uint32_t k = 0; k < LEATI_PLANS_MAX; ++k) {
    const kept_plan *const kept = atomic_load_explicit(&cache->at[k], memory_order_acquire);
    if (kept == NULL) {
      return NULL;
    }
    bool found = kept->input_count == input_count && kept->output_count == output_count;
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

/* ---- Keeping ---------------------------------------------------------------------------------------------------- */

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
  known.residue = (uint8_t)(view->address & (LEATI_PROMISED - 1));
  known.before = view->address - view->begin;
  known.after = view->end - view->address;
  for (int32_t d = 0; d < view->ndim; ++d) {
    known.shape[d] = view->shape[d];
    known.strides[d] = known.has_strides ? tensor->strides[d] : 0;
  }
  return known;
}

/* Fills in what a plan knows of a call; values go to `values`. */
static void know_all(const leat_op_info *info, const leati_call *call, const DLTensor *const *inputs,
                     const DLTensor *const *outputs, known_argument *out, unsigned char *values) {
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const input = &call->inputs[i];
    out[i] = know(input, inputs[i]);
    const uint32_t o = leati_alias_of(info, i);
    const bool may = input->present && o < call->output_count && call->outputs[o].present &&
                     leati_may_alias(info, i, input, o, &call->outputs[o]);
    out[i].alias = may ? o : LEATI_NO_ALIAS;
    out[i].value_size = (uint32_t)value_size(input);
    if (out[i].value_size != 0) {
      memcpy(values, input->data, out[i].value_size);
      out[i].value = values;
      values += out[i].value_size;
    }
  }
  for (uint32_t o = 0; o < call->output_count; ++o) {
    out[call->input_count + o] = know(&call->outputs[o], outputs[o]);
  }
}

void leati_plan_cache_keep(leati_plan_cache *cache, const leati_planner *planner, const leat_op_info *info,
                           const leati_call *call, const DLTensor *const *inputs, const DLTensor *const *outputs,
                           const leat_shape *shapes) {
  const uint32_t count = call->input_count + call->output_count;
  size_t bytes = 0;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const size_t size = value_size(&call->inputs[i]);
    if (size != 0 && (!call->inputs[i].compact || size > LEATI_PLAN_VALUE_MAX)) {
      return;
    }
    bytes += size;
  }
  uint32_t place = 0;
  while (place < LEATI_PLANS_MAX && atomic_load_explicit(&cache->at[place], memory_order_relaxed) != NULL) {
    ++place;
  }
  if (place == LEATI_PLANS_MAX || call->input_count > LEATI_INLINE_ARGUMENTS ||
      call->output_count > LEATI_INLINE_ARGUMENTS) {
    return;
  }
  const size_t shapes_size = call->output_count * sizeof(*shapes);
  leati_plan plan;
  kept_plan *const kept =
      leati_planner_keep(planner, sizeof(*kept) + count * sizeof(known_argument) + shapes_size + bytes, &plan);
  if (kept == NULL) {
    return;
  }
  known_argument *const arguments = (known_argument *)(void *)(kept + 1);
  leat_shape *const kept_shapes = (leat_shape *)(void *)(arguments + count);
  *kept = (kept_plan){
      .plan = plan,
      .input_count = call->input_count,
      .output_count = call->output_count,
      .copies_unless_aliased = (info->flags & LEAT_OP_ALIAS) != 0,
      .aliased = call->input_count != 0 && call->inputs[0].count != 0 && call->outputs[0].present &&
                 call->inputs[0].address == call->outputs[0].address,
      .shapes = kept_shapes,
      .arguments = arguments,
  };
  know_all(info, call, inputs, outputs, arguments, (unsigned char *)(kept_shapes + call->output_count));
  memcpy(kept_shapes, shapes, shapes_size);
  /* Of two threads that made the same plan both may keep it, if there is room: then the first is found. */
  for (; place < LEATI_PLANS_MAX; ++place) {
    kept_plan *expected = NULL;
    if (atomic_compare_exchange_strong_explicit(&cache->at[place], &expected, kept, memory_order_release,
                                                memory_order_relaxed)) {
      return;
    }
  }
  leati_free(kept);
}

void leati_plan_cache_clear(leati_plan_cache *cache) {
  for (uint32_t k = 0; k < LEATI_PLANS_MAX; ++k) {
    leati_free(atomic_load_explicit(&cache->at[k], memory_order_relaxed));
  }
}
