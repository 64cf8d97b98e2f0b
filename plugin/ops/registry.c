/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/registry.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "device/kernel.h"
#include "ops/op.h"
#include "ops/plan_cache.h"
#include "streams/recorder.h"
#include "streams/stream.h"

/* Type parameters of one operator at most. */
#define TYPES_MAX 8

struct leat_op {
  leati_kind kind;
  uint32_t opset;
  const leati_op_def *def;
  leat_device *device;
  leat_op *previous, *next; /* in the device's list; guarded by its lock */
  leati_plan_cache plans;
  alignas(max_align_t) unsigned char state[];
};

static void free_op(leat_op *op) {
  if (op != NULL) {
    leati_plan_cache_clear(&op->plans);
    leati_free(op);
  }
}

/* The operators of a device. The lock guards the list alone; invoking an operator takes no lock here. */
struct leati_ops {
  leati_mutex lock;
  leat_op *first;
};

static const leati_op_family *const families[] = {
    &leati_elementwise_family, &leati_movement_family, &leati_index_family, &leati_shape_family, &leati_reduce_family,
    &leati_norm_family,        &leati_matmul_family,   &leati_conv_family,  &leati_pool_family,  &leati_resize_family,
};
#define FAMILY_COUNT (sizeof(families) / sizeof(families[0]))

const leati_op_def *leati_op_def_of(const leat_op *op) {
  return op->def;
}
leat_device *leati_op_device(const leat_op *op) {
  return op->device;
}
uint32_t leati_op_opset(const leat_op *op) {
  return op->opset;
}
void *leati_op_state(leat_op *op) {
  return op->state;
}
const void *leati_op_state_const(const leat_op *op) {
  return op->state;
}

int32_t leati_ops_create(leat_device *device, leat_error *err) {
  struct leati_ops *const ops = leati_calloc(1, sizeof(*ops));
  if (ops == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the list of operators");
  }
  leati_mutex_init(&ops->lock, LEATI_RANK_FREE_STREAMS);
  device->ops = ops;
  return LEAT_OK;
}

void leati_ops_destroy(leat_device *device) {
  struct leati_ops *const ops = device->ops;
  if (ops == NULL) {
    return;
  }
  for (leat_op *op = ops->first; op != NULL;) {
    leat_op *const next = op->next;
    op->kind = LEATI_KIND_DEAD;
    free_op(op);
    op = next;
  }
  leati_mutex_destroy(&ops->lock);
  leati_free(ops);
  device->ops = NULL;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static int32_t op_count(uint32_t *out_count, leat_error *err) {
  LEATI_ENTER(err);
  if (out_count == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.count: out_count is NULL");
  }
  *out_count = 0;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    *out_count += families[i]->count;
  }
  return LEAT_OK;
}

static int32_t op_info(uint32_t index, const leat_op_info **out, leat_error *err) {
  LEATI_ENTER(err);
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.info: out is NULL");
  }
  *out = NULL;
  uint32_t rest = index;
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    if (rest < families[i]->count) {
      *out = &families[i]->defs[rest]->info;
      return LEAT_OK;
    }
    rest -= families[i]->count;
  }
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.info: there is no entry %u; the list has %u", index,
                    index - rest);
}

/* Writes "2", "2 to 4" or "2 and more"; `most` is `open` where there is no end. */
static void range_text(uint32_t least, uint32_t most, uint32_t open, char out[32]) {
  if (least == most) {
    (void)snprintf(out, 32, "%u", least);
  } else if (most == open) {
    (void)snprintf(out, 32, "%u and more", least);
  } else {
    (void)snprintf(out, 32, "%u to %u", least, most);
  }
}

/* Appends a range to a list in words; what does not fit is left out. */
static void versions_add(char *text, size_t size, const leat_op_info *info) {
  const size_t used = strlen(text);
  char range[32];
  range_text(info->opset_min, info->opset_max, UINT32_MAX, range);
  (void)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", range);
}

static int32_t fail_version(const char *name, uint32_t opset, const char *versions, uint32_t before, leat_error *err) {
  if (before == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "operator %s of version %u is not supported; its versions here: %s. leat_op_desc::opset is the "
                      "\"since version\" of its definition, not the model's operator set",
                      name, opset, versions);
  }
  char later[32];
  range_text(before + 1, opset, 0, later);
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                    "operator %s of version %u is not supported; its versions here: %s. leat_op_desc::opset is the "
                    "\"since version\" of its definition: %u in a model of operator set %u, unless %s changed it",
                    name, opset, versions, before, opset, later);
}

static int32_t find_def(const char *domain, const char *name, uint32_t opset, const leati_op_def **out,
                        leat_error *err) {
  char versions[128] = ""; /* of the operator, if the one asked for is not found */
  uint32_t before = 0;     /* the highest of them below that */
  for (size_t i = 0; i < FAMILY_COUNT; ++i) {
    for (uint32_t j = 0; j < families[i]->count; ++j) {
      const leati_op_def *const def = families[i]->defs[j];
      if (strcmp(def->info.name, name) != 0 || strcmp(def->info.domain, domain) != 0) {
        continue;
      }
      if (opset >= def->info.opset_min && opset <= def->info.opset_max) {
        *out = def;
        return LEAT_OK;
      }
      versions_add(versions, sizeof(versions), &def->info);
      before = def->info.opset_max < opset && def->info.opset_max > before ? def->info.opset_max : before;
    }
  }
  if (versions[0] != '\0') {
    return fail_version(name, opset, versions, before, err);
  }
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "operator '%s' of operator set '%s' is not supported", name, domain);
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* Which type parameter argument `i` has, by a def's list (NULL: all have 0; the last element stands for all that
 * follow). How long a list is follows from the highest count of arguments. */
static uint32_t type_of_argument(const uint8_t *list, uint32_t max_count, uint32_t min_count, uint32_t i) {
  if (list == NULL) {
    return 0;
  }
  const uint32_t last = (max_count == LEAT_VARIADIC ? (min_count == 0 ? 1 : min_count) : max_count) - 1;
  return list[i < last ? i : last];
}

static uint32_t input_type(const leat_op_info *info, const uint8_t *list, uint32_t i) {
  return type_of_argument(list, info->max_inputs, info->min_inputs, i);
}

/* Whether input `i` has to be there: those below the least count, and all of them where any number is taken. */
static bool is_required(const leat_op_info *info, uint32_t i) {
  return i < info->min_inputs || info->max_inputs == LEAT_VARIADIC;
}

static bool is_host(uint64_t mask, uint32_t i) {
  return i < 64 && (mask >> i & 1u) != 0;
}

/* Checks the type of input `i` and remembers it by its type parameter in `bound[TYPES_MAX]`. */
static inline int32_t bind_type(const leati_op_def *def, uint32_t i, uint64_t type, uint64_t *bound, leat_error *err) {
  const uint32_t number = input_type(&def->info, def->input_types, i);
  const leat_op_type *const parameter = def->info.types[number];
  if ((type & parameter->types) == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u has type %s, which is not supported for %s",
                      def->info.name, i, leati_type_name(type), parameter->name);
  }
  if (bound[number] == 0) {
    bound[number] = type;
  } else if (bound[number] != type) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u has type %s; %s is %s by an earlier input",
                      def->info.name, i, leati_type_name(type), parameter->name, leati_type_name(bound[number]));
  }
  return LEAT_OK;
}

static int32_t fail_count(const leat_op_info *info, const char *what, uint32_t count, uint32_t least, uint32_t most,
                          leat_error *err) {
  char range[32];
  range_text(least, most, LEAT_VARIADIC, range);
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u %s %s", info->name, count, what, range);
}

static inline int32_t check_counts(const leat_op_info *info, uint32_t input_count, uint32_t output_count,
                                   leat_error *err) {
  if (input_count < info->min_inputs || input_count > info->max_inputs) {
    return fail_count(info, "inputs; it takes", input_count, info->min_inputs, info->max_inputs, err);
  }
  if (output_count < info->min_outputs || output_count > info->max_outputs) {
    return fail_count(info, "outputs; it has", output_count, info->min_outputs, info->max_outputs, err);
  }
  return LEAT_OK;
}

/* ---- Creating --------------------------------------------------------------------------------------------------- */

/* A descriptor after import, with the arrays that it points to. */
typedef struct imported {
  const leati_op_def *def;
  leati_op_desc desc;
  void *memory; /* of attributes and inputs */
} imported;

static const leat_op_attribute *known_attribute(const leat_op_info *info, const char *name) {
  for (uint32_t i = 0; i < info->attribute_count; ++i) {
    if (strcmp(info->attributes[i]->name, name) == 0) {
      return info->attributes[i];
    }
  }
  return NULL;
}

/* Name of an attribute type for messages. */
static const char *attribute_type_name(uint32_t type) {
  static const char *const names[] = {"an unknown type", "INT",    "FLOAT",   "STRING", "INTS",
                                      "FLOATS",          "TENSOR", "STRINGS", "GRAPH"};
  return names[type < sizeof(names) / sizeof(names[0]) ? type : 0];
}

/* Reads one attribute; `*out_known` is false for one that the operator does not read. */
static int32_t import_attribute(const leat_op_info *info, const leat_attribute *from, leat_attribute *to,
                                bool *out_known, leat_error *err) {
  *out_known = false;
  LEATI_TRY(leati_import(to, sizeof(*to), LEAT_SIZE_THROUGH(leat_attribute, reserved), from, "leat_attribute", err));
  if (to->name == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: an attribute has no name", info->name);
  }
  if (to->reserved != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: leat_attribute::reserved of '%s' is not zero", info->name,
                      to->name);
  }
  if (to->type == LEAT_ATTRIBUTE_GRAPH) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: attribute '%s' is a graph; this backend runs none",
                      info->name, to->name);
  }
  const leat_op_attribute *const known = known_attribute(info, to->name);
  if (known == NULL) {
    return LEAT_OK;
  }
  if (known->type != to->type) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attribute '%s' has type %u (%s); expected %s", info->name,
                      to->name, to->type, attribute_type_name(to->type), attribute_type_name(known->type));
  }
  const bool missing = (to->type == LEAT_ATTRIBUTE_INTS && to->count != 0 && to->ints == NULL) ||
                       (to->type == LEAT_ATTRIBUTE_FLOATS && to->count != 0 && to->floats == NULL) ||
                       (to->type == LEAT_ATTRIBUTE_STRING && to->count != 0 && to->string == NULL) ||
                       (to->type == LEAT_ATTRIBUTE_TENSOR && to->tensor == NULL);
  if (missing) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attribute '%s' has a NULL value", info->name, to->name);
  }
  if (to->type == LEAT_ATTRIBUTE_TENSOR) {
    char what[96];
    leati_view view;
    (void)snprintf(what, sizeof(what), "attribute '%s' of %s", to->name, info->name);
    LEATI_TRY(leati_view_import_host(to->tensor, what, &view, err));
    if (!view.compact) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has strides; it must be compact", what);
    }
  }
  *out_known = true;
  return LEAT_OK;
}

/* Checks the value of an input that is a constant, once for all operators that look at it. */
static int32_t check_constant(const leat_op_info *info, uint32_t i, const leat_value_info *input, leat_error *err) {
  char what[96];
  leati_view view;
  (void)snprintf(what, sizeof(what), "the value of input %u of %s", i, info->name);
  LEATI_TRY(leati_view_import_host(input->value, what, &view, err));
  bool agrees = leati_dtype_same(view.dtype, input->dtype) && (input->ndim == -1 || input->ndim == view.ndim);
  for (int32_t d = 0; agrees && d < input->ndim; ++d) {
    agrees = input->shape[d] == -1 || input->shape[d] == view.shape[d];
  }
  return agrees ? LEAT_OK
                : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has another type or shape than leat_value_info says",
                             what);
}

static int32_t import_value(const leati_op_def *def, uint32_t i, const leat_value_info *from, leat_value_info *to,
                            uint64_t *bound, leat_error *err) {
  const char *const name = def->info.name;
  if (from == NULL) {
    to->ndim = LEATI_ABSENT;
    return is_required(&def->info, i)
               ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is absent and not optional", name, i)
               : LEAT_OK;
  }
  LEATI_TRY(leati_import(to, sizeof(*to), LEAT_SIZE_THROUGH(leat_value_info, value), from, "leat_value_info", err));
  if (to->reserved != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: leat_value_info::reserved of input %u is not zero", name,
                      i);
  }
  if (to->ndim < -1 || (to->ndim > 0 && to->shape == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u has rank %d and %s shape", name, i, to->ndim,
                      to->shape == NULL ? "no" : "a");
  }
  if (to->ndim > LEAT_MAX_RANK) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u has rank %d; supported: up to %d", name, i, to->ndim,
                      LEAT_MAX_RANK);
  }
  const int32_t most = def->most_rank != 0 ? def->most_rank : LEAT_MAX_RANK;
  if (i == 0 && to->ndim != -1 && (to->ndim < def->least_rank || to->ndim > most)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input 0 has rank %d; supported: %d to %d", name, to->ndim,
                      def->least_rank, most);
  }
  for (int32_t d = 0; d < to->ndim; ++d) {
    if (to->shape[d] < -1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u has size %" PRId64 " in dimension %d", name, i,
                        to->shape[d], d);
    }
  }
  const uint64_t type = leati_type_of(to->dtype);
  if (type == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u has an element type that Leat does not know", name,
                      i);
  }
  LEATI_TRY(bind_type(def, i, type, bound, err));
  return to->value == NULL ? LEAT_OK : check_constant(&def->info, i, to, err);
}

static int32_t import_desc(const leat_op_desc *from, imported *out, leat_error *err) {
  memset(out, 0, sizeof(*out));
  leat_op_desc desc;
  LEATI_TRY(leati_import(&desc, sizeof(desc), LEAT_SIZE_THROUGH(leat_op_desc, inputs), from, "leat_op_desc", err));
  if (desc.reserved != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_op_desc::reserved is not zero");
  }
  if (desc.name == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_op_desc::name is NULL");
  }
  if (desc.attribute_count != 0 && desc.attributes == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_op_desc::attributes is NULL and attribute_count is %u",
                      desc.attribute_count);
  }
  if (desc.input_count != 0 && desc.inputs == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_op_desc::inputs is NULL and input_count is %u",
                      desc.input_count);
  }
  LEATI_TRY(find_def(desc.domain == NULL ? "" : desc.domain, desc.name, desc.opset, &out->def, err));
  LEATI_TRY(check_counts(&out->def->info, desc.input_count, desc.output_count, err));
  const size_t attribute_bytes = (size_t)desc.attribute_count * sizeof(leat_attribute);
  out->memory = leati_calloc(1, attribute_bytes + (size_t)desc.input_count * sizeof(leat_value_info) + 1);
  if (out->memory == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no host memory to read its descriptor", desc.name);
  }
  leat_attribute *const attributes = out->memory;
  leat_value_info *const inputs = (leat_value_info *)(void *)((unsigned char *)out->memory + attribute_bytes);
  out->desc = (leati_op_desc){
      .opset = desc.opset,
      .input_count = desc.input_count,
      .output_count = desc.output_count,
      .attributes = attributes,
      .inputs = inputs,
  };
  for (uint32_t i = 0; i < desc.attribute_count; ++i) {
    bool known;
    LEATI_TRY(
        import_attribute(&out->def->info, desc.attributes[i], &attributes[out->desc.attribute_count], &known, err));
    out->desc.attribute_count += known ? 1 : 0;
  }
  uint64_t bound[TYPES_MAX] = {0};
  for (uint32_t i = 0; i < desc.input_count; ++i) {
    LEATI_TRY(import_value(out->def, i, desc.inputs[i], &inputs[i], bound, err));
  }
  return LEAT_OK;
}

static int32_t check_op(const leat_op *op, leat_error *err) {
  return leati_kind_of(op) == LEATI_KIND_OP
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "not an operator: %s",
                          op == NULL ? "NULL" : "the handle is destroyed or of another kind");
}

static int32_t op_destroy(leat_op *op, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (op == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(check_op(op, err));
  struct leati_ops *const ops = op->device->ops;
  leati_mutex_lock(&ops->lock);
  if (op->previous != NULL) {
    op->previous->next = op->next;
  } else {
    ops->first = op->next;
  }
  if (op->next != NULL) {
    op->next->previous = op->previous;
  }
  leati_mutex_unlock(&ops->lock);
  op->kind = LEATI_KIND_DEAD;
  free_op(op);
  return LEAT_OK;
}

/* ---- Arguments -------------------------------------------------------------------------------------------------- */

/* Everything that a call needs, on the caller's stack for usual numbers of arguments. */
typedef struct arguments {
  leati_call call;
  leati_view *inputs, *outputs;
  leat_shape *shapes;
  void *memory; /* NULL: the arrays below are used */
  leati_view inline_inputs[LEATI_INLINE_ARGUMENTS], inline_outputs[LEATI_INLINE_ARGUMENTS];
  leat_shape inline_shapes[LEATI_INLINE_ARGUMENTS];
} arguments;

static inline int32_t arguments_begin(const leat_op *op, arguments *a, uint32_t input_count, uint32_t output_count,
                                      leat_error *err) {
  if (input_count <= LEATI_INLINE_ARGUMENTS && output_count <= LEATI_INLINE_ARGUMENTS) {
    a->memory = NULL;
    a->inputs = a->inline_inputs;
    a->outputs = a->inline_outputs;
    a->shapes = a->inline_shapes;
  } else {
    const size_t view_count = (size_t)input_count + output_count;
    a->memory = leati_calloc(1, view_count * sizeof(leati_view) + (size_t)output_count * sizeof(leat_shape));
    if (a->memory == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no host memory for %u inputs and %u outputs",
                        op->def->info.name, input_count, output_count);
    }
    a->inputs = a->memory;
    a->outputs = a->inputs + input_count;
    a->shapes = (leat_shape *)(void *)(a->outputs + output_count);
  }
  a->call = (leati_call){
      .input_count = input_count,
      .output_count = output_count,
      .inputs = a->inputs,
      .outputs = a->outputs,
  };
  return LEAT_OK;
}

static void arguments_end(arguments *a) {
  if (a->memory != NULL) {
    leati_free(a->memory);
  }
}

/* Checks the operator of a call, and how many arguments it has. */
static inline int32_t check_call(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs,
                                 uint32_t output_count, leat_error *err) {
  LEATI_TRY(check_op(op, err));
  LEATI_TRY(check_counts(&op->def->info, input_count, output_count, err));
  return input_count == 0 || inputs != NULL
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u inputs and a NULL array of inputs",
                          op->def->info.name, input_count);
}

/* Imports an argument. A name for messages is only put together when there is something to say. */
static int32_t import_argument(const leat_op *op, const DLTensor *tensor, const char *kind, uint32_t i, leati_view *out,
                               leat_error *err) {
  if (leati_view_import(op->device, tensor, kind, out, NULL) == LEAT_OK) {
    return LEAT_OK;
  }
  char what[96];
  (void)snprintf(what, sizeof(what), "%s %u of %s", kind, i, op->def->info.name);
  return leati_view_import(op->device, tensor, what, out, err);
}

/* Shape and type of a device input that is not going to be touched: its memory need not exist yet. */
static int32_t import_shape(const leat_op *op, const DLTensor *tensor, uint32_t i, leati_view *out, leat_error *err) {
  if (leati_view_import_shape(tensor, "input", out, NULL) == LEAT_OK) {
    return LEAT_OK;
  }
  char what[96];
  (void)snprintf(what, sizeof(what), "input %u of %s", i, op->def->info.name);
  return leati_view_import_shape(tensor, what, out, err);
}

/* Shapes and types of the outputs; `bound` holds the types of the inputs by type parameter. */
static int32_t infer_outputs(const leat_op *op, arguments *a, const uint64_t *bound, leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  for (uint32_t i = 0; i < a->call.output_count; ++i) {
    const uint32_t number = type_of_argument(op->def->output_types, info->max_outputs, info->min_outputs, i);
    leat_shape *const shape = &a->shapes[i];
    memset(shape, 0, sizeof(*shape));
    shape->struct_size = sizeof(*shape);
    if (bound[number] != 0) {
      shape->dtype = leati_dtype_of(bound[number]);
    }
  }
  return op->def->infer(op, &a->call, a->shapes, err);
}

static int32_t import_inputs(const leat_op *op, arguments *a, const DLTensor *const *inputs, bool shapes_only,
                             leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  uint64_t bound[TYPES_MAX] = {0};
  for (uint32_t i = 0; i < a->call.input_count; ++i) {
    leati_view *const view = &a->inputs[i];
    if (inputs[i] == NULL) {
      if (is_required(info, i)) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is NULL and not optional", info->name, i);
      }
      memset(view, 0, sizeof(*view));
      continue;
    }
    const bool host = is_host(info->host_inputs, i);
    if (shapes_only && !host) {
      LEATI_TRY(import_shape(op, inputs[i], i, view, err));
    } else {
      LEATI_TRY(import_argument(op, inputs[i], "input", i, view, err));
      if (view->host != host) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is in %s memory; expected %s", info->name, i,
                          view->host ? "host" : "device", host ? "host memory" : "the device's");
      }
    }
    LEATI_TRY(bind_type(op->def, i, view->type, bound, err));
  }
  return infer_outputs(op, a, bound, err);
}
/* Fails if output `o` has more elements than can be counted, and gives its shape as a view. */
static int32_t check_result(const leat_op *op, const arguments *a, uint32_t o, leati_view *out, leat_error *err) {
  char what[96];
  leat_shape shape = a->shapes[o];
  const DLTensor tensor = {.ndim = shape.ndim, .dtype = shape.dtype, .shape = shape.dims};
  (void)snprintf(what, sizeof(what), "output %u of %s", o, op->def->info.name);
  return leati_view_import_shape(&tensor, what, out, err);
}

static int32_t export_shapes(const leat_shape *shapes, uint32_t count, leat_shape *const *out, leat_error *err) {
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i] != NULL) {
      LEATI_TRY(
          leati_export(out[i], &shapes[i], sizeof(shapes[i]), LEAT_SIZE_THROUGH(leat_shape, dims), "leat_shape", err));
    }
  }
  return LEAT_OK;
}

/* Infers what no plan is kept for. */
static int32_t infer_anew(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                          leat_shape *const *out, leat_error *err) {
  arguments a;
  int32_t status = arguments_begin(op, &a, input_count, output_count, err);
  if (status == LEAT_OK) {
    status = import_inputs(op, &a, inputs, true, err);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < output_count; ++i) {
    leati_view result;
    status = check_result(op, &a, i, &result, err);
  }
  if (status == LEAT_OK) {
    status = export_shapes(a.shapes, output_count, out, err);
  }
  arguments_end(&a);
  return status;
}

static int32_t op_infer(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                        leat_shape *const *out, leat_error *err) {
  LEATI_ENTER(err);
  if (output_count != 0 && out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.infer: %u outputs and a NULL array of shapes",
                      output_count);
  }
  LEATI_TRY(check_call(op, input_count, inputs, output_count, err));
  const leat_shape *const known = leati_plan_cache_shapes(&op->plans, input_count, inputs, output_count);
  return known != NULL ? export_shapes(known, output_count, out, err)
                       : infer_anew(op, input_count, inputs, output_count, out, err);
}

/* ---- Asking and creating ---------------------------------------------------------------------------------------- */

/* Makes a view of input `i` from what is known before the operator runs; `*out_known` is false if that is too little.
 */
static int32_t known_input(const leat_op *op, const leati_op_desc *desc, uint32_t i, leati_view *out, bool *out_known,
                           leat_error *err) {
  const leat_value_info *const input = &desc->inputs[i];
  memset(out, 0, sizeof(*out));
  *out_known = true;
  if (input->ndim == LEATI_ABSENT) {
    return LEAT_OK;
  }
  if (is_host(op->def->info.host_inputs, i)) {
    *out_known = leati_constant(desc, i, out);
    return LEAT_OK;
  }
  *out_known = input->ndim != -1;
  for (int32_t d = 0; *out_known && d < input->ndim; ++d) {
    *out_known = input->shape[d] != -1;
  }
  int64_t shape[LEAT_MAX_RANK];
  if (!*out_known) {
    return LEAT_OK;
  }
  if (input->ndim != 0) {
    memcpy(shape, input->shape, (size_t)input->ndim * sizeof(shape[0]));
  }
  const DLTensor tensor = {.ndim = input->ndim, .dtype = input->dtype, .shape = shape};
  return import_shape(op, &tensor, i, out, err);
}

/* Kernels count elements in 32 bits, unless the operator says that it has other ways. */
static int32_t check_size(const leati_op_def *def, const leati_view *view, const char *kind, uint32_t i,
                          leat_error *err) {
  return view->count <= INT32_MAX || def->any_size
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: %s %u has %" PRIu64 " elements; supported: up to 2147483647", def->info.name, kind, i,
                          view->count);
}

/* If all is known that the outputs follow from, they are inferred: what a run would be refused for is found out now,
 * while the host can still run the operator elsewhere. */
static int32_t check_known(const leat_op *op, const leati_op_desc *desc, leat_error *err) {
  arguments a;
  uint64_t bound[TYPES_MAX] = {0};
  LEATI_TRY(arguments_begin(op, &a, desc->input_count, desc->output_count, err));
  int32_t status = LEAT_OK;
  bool known = true;
  for (uint32_t i = 0; known && status == LEAT_OK && i < desc->input_count; ++i) {
    leati_view *const input = &a.inputs[i];
    status = known_input(op, desc, i, input, &known, err);
    if (status == LEAT_OK && input->present) {
      status = check_size(op->def, input, "input", i, err);
    }
    if (status == LEAT_OK && input->present) {
      status = bind_type(op->def, i, input->type, bound, err);
    }
  }
  if (known && status == LEAT_OK) {
    status = infer_outputs(op, &a, bound, err);
  }
  for (uint32_t o = 0; known && status == LEAT_OK && o < desc->output_count; ++o) {
    leati_view result;
    status = check_result(op, &a, o, &result, err);
    if (status == LEAT_OK) {
      status = check_size(op->def, &result, "output", o, err);
    }
  }
  arguments_end(&a);
  return status;
}

/* Fails if the device cannot run a kernel of the operator for the type of an input, or for items of its size. */
static int32_t check_kernels(const leati_op_def *def, const leat_device *device, const leati_op_desc *desc,
                             leat_error *err) {
  uint64_t types = 0;
  for (uint32_t i = 0; i < desc->input_count; ++i) {
    types |= leati_is_given(desc, i) ? leati_type_of(desc->inputs[i].dtype) : 0;
  }
  for (; types != 0; types &= types - 1) {
    const uint64_t type = types & (~types + 1);
    for (uint32_t i = 0; i < def->kernel_count; ++i) {
      const leati_kernel found[] = {leati_kernel_find(def->kernels[i], type),
                                    leati_kernel_find_item(def->kernels[i], leati_type_size(type))};
      for (size_t j = 0; j < 2; ++j) {
        if (found[j] != LEATI_KERNEL_NONE) {
          LEATI_TRY(leati_kernel_check(device->physical, &leati_kernel_codes[found[j]], def->info.name, err));
        }
      }
    }
  }
  return LEAT_OK;
}

/* Makes an operator that is not in the device's list yet. */
static int32_t make_op(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  imported in;
  int32_t status = import_desc(desc, &in, err);
  if (status == LEAT_OK) {
    status = check_kernels(in.def, device, &in.desc, err);
  }
  if (status == LEAT_OK && in.def->supports != NULL) {
    status = in.def->supports(in.def, device, &in.desc, err);
  }
  leat_op *op = NULL;
  if (status == LEAT_OK) {
    op = leati_calloc(1, sizeof(*op) + in.def->state_size);
    status = op != NULL
                 ? LEAT_OK
                 : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for an operator %s", in.def->info.name);
  }
  if (status == LEAT_OK) {
    op->kind = LEATI_KIND_OP;
    op->opset = in.desc.opset;
    op->def = in.def;
    op->device = device;
    status = in.def->create == NULL ? LEAT_OK : in.def->create(op, &in.desc, err);
  }
  if (status == LEAT_OK) {
    status = check_known(op, &in.desc, err);
  }
  leati_free(in.memory);
  if (status != LEAT_OK) {
    free_op(op);
    return status;
  }
  *out = op;
  return LEAT_OK;
}

static int32_t op_supports(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  leat_op *op = NULL;
  LEATI_TRY(make_op(device, desc, &op, err));
  free_op(op);
  return LEAT_OK;
}

static int32_t op_create(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.create: out is NULL");
  }
  *out = NULL;
  LEATI_TRY(make_op(device, desc, out, err));
  leat_op *const op = *out;
  struct leati_ops *const ops = device->ops;
  leati_mutex_lock(&ops->lock);
  op->next = ops->first;
  if (ops->first != NULL) {
    ops->first->previous = op;
  }
  ops->first = op;
  leati_mutex_unlock(&ops->lock);
  return LEAT_OK;
}

/* ---- Invoking --------------------------------------------------------------------------------------------------- */

static bool overlap(const leati_view *a, const leati_view *b) {
  return a->begin < b->end && b->begin < a->end;
}

/* Whether output 0 is exactly the memory of `input`, and may be. */
static bool is_alias(const leat_op_info *info, uint32_t i, const leati_view *input, const leati_view *output) {
  return input->address == output->address && input->begin == output->begin && input->end == output->end &&
         leati_may_alias(info, i, input, output);
}

static int32_t check_output(const leat_op *op, const arguments *a, uint32_t o, leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  const leati_view *const output = &a->outputs[o];
  const leat_shape *const shape = &a->shapes[o];
  const bool host = is_host(info->host_outputs, o);
  if (output->host != host) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u is in %s memory; expected %s", info->name, o,
                      output->host ? "host" : "device", host ? "host memory" : "the device's");
  }
  if (!leati_dtype_same(output->dtype, shape->dtype)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u has type %s; the operator gives %s", info->name,
                      o, leati_type_name(output->type), leati_type_name(leati_type_of(shape->dtype)));
  }
  if (output->ndim != shape->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u has rank %d; the operator gives %d", info->name,
                      o, output->ndim, shape->ndim);
  }
  for (int32_t d = 0; d < output->ndim; ++d) {
    if (output->shape[d] != shape->dims[d]) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: output %u has size %" PRId64 " in dimension %d; the operator gives %" PRId64, info->name,
                        o, output->shape[d], d, shape->dims[d]);
    }
  }
  if (!output->compact) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u has strides; it must be compact", info->name, o);
  }
  if (host || output->count == 0) {
    return LEAT_OK;
  }
  for (uint32_t i = 0; i < a->call.input_count; ++i) {
    if (a->inputs[i].present && !a->inputs[i].host && overlap(&a->inputs[i], output) &&
        !(o == 0 && is_alias(info, i, &a->inputs[i], output))) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: output %u overlaps input %u in a way that leat_op_info::flags does not allow", info->name,
                        o, i);
    }
  }
  for (uint32_t i = 0; i < o; ++i) {
    if (a->outputs[i].present && !a->outputs[i].host && overlap(&a->outputs[i], output)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: outputs %u and %u overlap", info->name, i, o);
    }
  }
  return LEAT_OK;
}

static int32_t import_outputs(const leat_op *op, arguments *a, const DLTensor *const *outputs, leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  for (uint32_t o = 0; o < a->call.output_count; ++o) {
    if (outputs[o] == NULL) {
      if (o < info->min_outputs) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u is NULL and not optional", info->name, o);
      }
      memset(&a->outputs[o], 0, sizeof(a->outputs[o]));
      continue;
    }
    LEATI_TRY(import_argument(op, outputs[o], "output", o, &a->outputs[o], err));
    LEATI_TRY(check_output(op, a, o, err));
  }
  return LEAT_OK;
}

/* A plan with what it is recorded for. */
typedef struct operation {
  const leati_plan *plan;
  leati_binding *bindings;
} operation;

static int32_t record_operation(leati_recorder *recorder, const void *what, leat_error *err) {
  const operation *const it = what;
  return leati_record_plan(recorder, it->plan, it->bindings, err);
}

static int32_t record(leat_stream *stream, const leati_plan *plan, leati_binding *bindings, leat_error *err) {
  const operation it = {.plan = plan, .bindings = bindings};
  return leati_record(stream, record_operation, &it, err);
}

/* Notes where the arguments of a call are, and gives their views the addresses that stand for those. An output that is
 * the memory of input 0 stands for the same. */
static void place_arguments(const leat_op *op, arguments *a, leati_binding *bindings) {
  const uint32_t inputs = a->call.input_count;
  const bool aliased = (op->def->info.flags & LEAT_OP_ALIAS) != 0 && a->inputs[0].count != 0 &&
                       is_alias(&op->def->info, 0, &a->inputs[0], &a->outputs[0]);
  for (uint32_t i = 0; i < inputs + a->call.output_count; ++i) {
    leati_view *const view = i < inputs ? &a->inputs[i] : &a->outputs[i - inputs];
    bindings[i] = (leati_binding){.address = view->address, .block = view->block, .data = view->data};
    leati_planner_place(view, aliased && i == inputs ? 0 : i);
  }
}

/* Plans a call that was checked, and records it. */
static int32_t plan_and_record(const leat_op *op, leat_stream *stream, arguments *a, const DLTensor *const *inputs,
                               const DLTensor *const *outputs, leat_error *err) {
  const uint32_t count = a->call.input_count + a->call.output_count;
  leati_binding inline_bindings[LEATI_BINDINGS_MAX], *bindings = inline_bindings;
  if (count + LEATI_TEMP_MAX > LEATI_BINDINGS_MAX) {
    bindings = leati_calloc(count + LEATI_TEMP_MAX, sizeof(*bindings));
    if (bindings == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no host memory for %u arguments", op->def->info.name,
                        count);
    }
  }
  leati_planner planner;
  place_arguments(op, a, bindings);
  leati_planner_begin(&planner, op->device, a->call.input_count, a->call.output_count);
  int32_t status = op->def->plan(op, &planner, &a->call, err);
  if (status == LEAT_OK) {
    /* The caches of an operator are its only part that changes. */
    leati_plan_cache *const cache = (leati_plan_cache *)&op->plans;
    leati_plan_cache_keep(cache, &planner, &op->def->info, &a->call, inputs, outputs, a->shapes);
    const leati_plan plan = leati_planner_plan(&planner);
    status = record(stream, &plan, bindings, err);
  }
  leati_planner_end(&planner);
  if (bindings != inline_bindings) {
    leati_free(bindings);
  }
  return status;
}

/* A call that no plan is kept for. */
static int32_t invoke_anew(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  arguments a;
  int32_t status = arguments_begin(op, &a, input_count, output_count, err);
  if (status == LEAT_OK) {
    status = import_inputs(op, &a, inputs, false, err);
  }
  if (status == LEAT_OK) {
    status = import_outputs(op, &a, outputs, err);
  }
  if (status == LEAT_OK) {
    status = plan_and_record(op, stream, &a, inputs, outputs, err);
  }
  arguments_end(&a);
  return status;
}

static int32_t op_invoke(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                         uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(check_call(op, input_count, inputs, output_count, err));
  LEATI_TRY(leati_stream_check(stream, op->device, err));
  if (output_count != 0 && outputs == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u outputs and a NULL array of outputs",
                      op->def->info.name, output_count);
  }
  leati_binding bindings[LEATI_BINDINGS_MAX];
  const leati_plan *const plan =
      leati_plan_cache_find(&op->plans, op->device, input_count, inputs, output_count, outputs, bindings);
  return plan != NULL ? record(stream, plan, bindings, err)
                      : invoke_anew(op, stream, input_count, inputs, output_count, outputs, err);
}

const leat_op_api leati_op_table = {
    .struct_size = sizeof(leat_op_api),
    .count = op_count,
    .info = op_info,
    .supports = op_supports,
    .create = op_create,
    .destroy = op_destroy,
    .infer = op_infer,
    .invoke = op_invoke,
};
