/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of domain "leat" on lists of tensors: arithmetic, norms, and steps of optimisers. A kernel takes as many
 * tensors as a plan can name in one step, so 300 of them are a few dispatches; each workgroup finds out which tensor
 * its elements are of. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/foreach/kernels/foreach_codes.glsl"

/* Tensors of a list at most. */
#define TENSORS_MAX 512u

/* What an operation takes and gives: tensors of one element, and lists. */
typedef struct form {
  uint32_t scalars; /* first inputs: learning rate, steps */
  uint32_t taken, given;
  uint32_t norms; /* first outputs */
} form;

static form form_of(uint32_t operation) {
  switch (operation) {
    case LEAT_FOREACH_ADDCMUL:
      return (form){.taken = 3, .given = 1};
    case LEAT_FOREACH_SGD:
      return (form){.scalars = 1, .taken = 3, .given = 2};
    case LEAT_FOREACH_ADAM:
    case LEAT_FOREACH_ADAMW:
      return (form){.scalars = 2, .taken = 4, .given = 3};
    case LEAT_FOREACH_SQUARES:
      return (form){.taken = 1, .norms = 1};
    case LEAT_FOREACH_CLIP:
      return (form){.taken = 1, .given = 1, .norms = 1};
    default:
      return (form){.taken = 2, .given = 1};
  }
}

typedef struct foreach_state {
  float parameters[LEAT_FOREACH_PARAMETERS];
} foreach_state;

/* ---- Attributes, shapes ------------------------------------------------------------------------------------------ */

static int32_t foreach_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)device;
  const form f = form_of(def->param);
  const uint32_t listed = desc->input_count - f.scalars, count = listed / f.taken;
  if (listed % f.taken != 0 || count == 0 || count > TENSORS_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: %u inputs; expected %u for each of 1 to %u tensors, and %u before them", def->info.name,
                      desc->input_count, f.taken, TENSORS_MAX, f.scalars);
  }
  if (desc->output_count != f.norms + f.given * count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u outputs; expected %u for lists of %u tensors",
                      def->info.name, desc->output_count, f.norms + f.given * count, count);
  }
  static const char *const names[] = {"beta1", "beta2"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const float beta = leati_attr_float(desc, names[i], 0);
    if (!(beta >= 0 && beta < 1)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: '%s' is %g; it must be 0 or more and less than 1",
                        def->info.name, names[i], (double)beta);
    }
  }
  return LEAT_OK;
}

/* 1 - x, rounded once. */
static float rest_of(float x) {
  return (float)(1.0 - (double)x);
}

static int32_t foreach_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  float *const p = ((foreach_state *)leati_op_state(op))->parameters;
  switch (leati_op_def_of(op)->param) {
    case LEAT_FOREACH_ADD:
      p[0] = leati_attr_float(desc, "alpha", 1);
      break;
    case LEAT_FOREACH_LERP:
      p[0] = leati_attr_float(desc, "weight", 0.5f);
      p[1] = rest_of(p[0]);
      break;
    case LEAT_FOREACH_ADDCMUL:
      p[0] = leati_attr_float(desc, "value", 1);
      break;
    case LEAT_FOREACH_CLIP:
      p[0] = leati_attr_float(desc, "max_norm", 1);
      p[1] = leati_attr_float(desc, "epsilon", 1e-6f);
      break;
    case LEAT_FOREACH_SGD:
      p[0] = leati_attr_float(desc, "momentum", 0.9f);
      p[1] = rest_of(leati_attr_float(desc, "dampening", 0));
      p[2] = leati_attr_float(desc, "weight_decay", 0);
      p[3] = leati_attr_int(desc, "nesterov", 0) != 0;
      break;
    case LEAT_FOREACH_ADAM:
    case LEAT_FOREACH_ADAMW:
      p[0] = leati_attr_float(desc, "beta1", 0.9f);
      p[1] = rest_of(p[0]);
      p[2] = leati_attr_float(desc, "beta2", 0.999f);
      p[3] = rest_of(p[2]);
      p[4] = (float)log((double)p[0]);
      p[5] = (float)log((double)p[2]);
      p[6] = leati_attr_float(desc, "epsilon", 1e-8f);
      p[7] = leati_attr_float(desc, "weight_decay", leati_op_def_of(op)->param == LEAT_FOREACH_ADAMW ? 0.01f : 0);
      break;
    default:
      break;
  }
  return LEAT_OK;
}

static int32_t foreach_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const form f = form_of(def->param);
  const uint32_t count = (call->input_count - f.scalars) / f.taken;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    LEATI_TRY(leati_check_reach(&call->inputs[i], def->info.name, err));
  }
  for (uint32_t i = 0; i < f.scalars; ++i) {
    if (call->inputs[i].count != 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u has %" PRIu64 " elements; expected one",
                        def->info.name, i, call->inputs[i].count);
    }
  }
  const leati_view *const first = &call->inputs[f.scalars];
  for (uint32_t i = count; i < f.taken * count; ++i) {
    const leati_view *const x = &first[i], *const like = &first[i % count];
    if (x->ndim != like->ndim || !leati_same_numbers(x->shape, like->shape, x->ndim)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: inputs %u and %u, tensors %u of their lists, have different shapes", def->info.name,
                        f.scalars + i % count, f.scalars + i, i % count);
    }
  }
  for (uint32_t o = 0; o < call->output_count; ++o) {
    if (o < f.norms) {
      /* Of ForeachNorm one for each tensor, of ForeachClipByNorm that of all. */
      out[o].ndim = f.given == 0 ? 1 : 0;
      out[o].dims[0] = count;
      out[o].dtype = leati_dtype_of(LEAT_TYPE_FLOAT32);
      continue;
    }
    const leati_view *const like = &first[(o - f.norms) % count];
    out[o].ndim = like->ndim;
    memcpy(out[o].dims, like->shape, (size_t)like->ndim * sizeof(out[o].dims[0]));
  }
  return LEAT_OK;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* As the kernel has it. */
typedef struct row {
  uint64_t at[LEAT_FOREACH_LISTS];
  uint32_t count, first, quads, sum;
} row;

typedef struct foreach_args {
  uint64_t rows, rate, steps, sums;
  uint32_t row_count;
  float parameters[LEAT_FOREACH_PARAMETERS];
} foreach_args;

#define ROWS_MAX (LEATI_ROWS_MAX / sizeof(row))

/* Tensors that are collected for one dispatch. */
typedef struct batch {
  leati_planner *planner;
  leati_kernel kernel;
  uint32_t operation;
  form form;
  const leati_view *rate, *steps, *sums; /* NULL: there are none */
  foreach_args args;
  uint32_t group_count, read_count, write_count;
  row rows[ROWS_MAX];
  leati_access reads[LEATI_ROW_ACCESSES_MAX], writes[LEATI_ROW_ACCESSES_MAX];
} batch;

static uint32_t groups_of(uint64_t count) {
  return (uint32_t)((count + LEAT_FOREACH_CHUNK - 1) / LEAT_FOREACH_CHUNK);
}

static void begin_batch(batch *b) {
  b->args.row_count = b->group_count = b->read_count = b->write_count = 0;
  b->reads[b->read_count++] = (leati_access){.view = b->rate, .field = &b->args.rate};
  b->reads[b->read_count++] = (leati_access){.view = b->steps, .field = &b->args.steps};
  b->writes[b->write_count++] = (leati_access){.view = b->sums, .field = &b->args.sums};
}

/* Plans the dispatch, if there are tensors, and begins the next one. */
static int32_t end_batch(batch *b, leat_error *err) {
  if (b->args.row_count == 0) {
    return LEAT_OK;
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = b->kernel, .constants.foreach = {.operation = b->operation}},
      .args = &b->args,
      .args_size = sizeof(b->args),
      .rows = b->rows,
      .rows_size = (uint32_t)(b->args.row_count * sizeof(b->rows[0])),
      .rows_at = &b->args.rows,
      .read_count = b->read_count,
      .write_count = b->write_count,
      .reads = b->reads,
      .writes = b->writes,
  };
  leati_groups_linear(b->planner->device, b->group_count, 1, dispatch.groups);
  const int32_t status = leati_plan_dispatch(b->planner, &dispatch, err);
  begin_batch(b);
  return status;
}

/* Adds tensors of all lists at the same place; `sum`: the number of the first sum of squares. */
static int32_t add_row(batch *b, const leati_view *const *taken, const leati_view *const *given, uint32_t sum,
                       leat_error *err) {
  const form *const f = &b->form;
  const uint64_t count = taken[0]->count;
  uint64_t lies = 0;
  if (count == 0) {
    return LEAT_OK;
  }
  if (b->args.row_count == ROWS_MAX || b->read_count + b->write_count + f->taken + f->given > LEATI_ROW_ACCESSES_MAX) {
    LEATI_TRY(end_batch(b, err));
  }
  row *const to = &b->rows[b->args.row_count++];
  *to = (row){.count = (uint32_t)count, .first = b->group_count, .sum = sum};
  for (uint32_t i = 0; i < f->taken; ++i) {
    b->reads[b->read_count++] = (leati_access){.view = taken[i], .field = &to->at[i]};
    lies |= taken[i]->address;
  }
  for (uint32_t i = 0; i < f->given; ++i) {
    const bool wanted = given[i]->present;
    b->writes[b->write_count++] = (leati_access){.view = wanted ? given[i] : NULL, .field = &to->at[f->taken + i]};
    lies |= wanted ? given[i]->address : 0;
  }
  to->quads = lies % (4u * taken[0]->item_size) == 0;
  b->group_count += groups_of(count);
  return LEAT_OK;
}

/* What the kernels of one call read and write. */
typedef struct lists {
  uint32_t count;           /* of tensors */
  const leati_view *inputs; /* of lists, compact */
  const leati_view *outputs;
} lists;

static int32_t add_rows(batch *b, const lists *l, leat_error *err) {
  const leati_view *taken[LEAT_FOREACH_TAKEN], *given[LEAT_FOREACH_LISTS];
  uint32_t sum = 0;
  begin_batch(b);
  for (uint32_t k = 0; k < l->count; ++k) {
    for (uint32_t i = 0; i < b->form.taken; ++i) {
      taken[i] = &l->inputs[i * l->count + k];
    }
    for (uint32_t i = 0; i < b->form.given; ++i) {
      given[i] = &l->outputs[i * l->count + k];
    }
    LEATI_TRY(add_row(b, taken, given, sum, err));
    sum += groups_of(taken[0]->count);
  }
  return end_batch(b, err);
}

/* Plans the norm of each tensor of a list, or that of all: sums of squares of chunks, then roots of the sums of these.
 */
static int32_t plan_norms(batch *b, const lists *l, const leati_view *norms, leat_error *err) {
  struct {
    uint32_t first, count;
  } *const rows = (void *)b->rows;
  _Static_assert(TENSORS_MAX * sizeof(*rows) <= sizeof(b->rows), "there is room for the rows of all norms");
  uint64_t total = 0, most = 0;
  for (uint32_t k = 0; k < l->count; ++k) {
    const uint64_t groups = groups_of(l->inputs[k].count);
    total += groups;
    most = groups > most ? groups : most;
  }
  most = norms->count == 1 ? total : most;
  LEATI_TRY(leati_check_rounds(b->planner->device, most / 256 + 16, "the norm of a list", err));
  leati_view sums = {.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {(int64_t)total}};
  LEATI_TRY(leati_plan_temporary(b->planner, &sums, err));
  b->operation = LEAT_FOREACH_SQUARES;
  b->form = form_of(LEAT_FOREACH_SQUARES);
  b->sums = &sums;
  LEATI_TRY(add_rows(b, l, err));
  b->sums = NULL;
  struct {
    uint64_t rows, sums, norms;
    uint32_t row_count;
  } args = {.row_count = (uint32_t)norms->count};
  uint32_t first = 0;
  for (uint32_t k = 0; k < args.row_count; ++k) {
    rows[k].first = first;
    rows[k].count = norms->count == 1 ? (uint32_t)total : groups_of(l->inputs[k].count);
    first += rows[k].count;
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = LEATI_KERNEL_FOREACH_NORM},
      .args = &args,
      .args_size = sizeof(args),
      .rows = rows,
      .rows_size = (uint32_t)(args.row_count * sizeof(rows[0])),
      .rows_at = &args.rows,
      LEATI_READS({&sums, &args.sums}),
      LEATI_WRITES({norms, &args.norms}),
  };
  leati_groups_linear(b->planner->device, args.row_count, 1, dispatch.groups);
  return leati_plan_dispatch(b->planner, &dispatch, err);
}

static int32_t plan_lists(batch *b, const leat_op *op, const leati_call *call, const lists *l, leat_error *err) {
  const uint32_t operation = leati_op_def_of(op)->param;
  const form f = form_of(operation);
  memcpy(b->args.parameters, ((const foreach_state *)leati_op_state_const(op))->parameters, sizeof(b->args.parameters));
  if (f.norms != 0) {
    LEATI_TRY(plan_norms(b, l, &call->outputs[0], err));
  }
  if (f.given == 0) {
    return LEAT_OK;
  }
  b->operation = operation;
  b->form = f;
  b->rate = f.norms != 0 ? &call->outputs[0] : f.scalars > 0 ? &call->inputs[0] : NULL;
  b->steps = f.scalars > 1 ? &call->inputs[1] : NULL;
  return add_rows(b, l, err);
}

/* Copies inputs with strides into one temporary, of which there are few, and leaves views of the copies in place. */
static int32_t make_compact(leati_planner *planner, leati_view *inputs, uint32_t count, leat_error *err) {
  uint64_t size = 0;
  for (uint32_t i = 0; i < count; ++i) {
    size += inputs[i].compact ? 0
                              : (inputs[i].count * inputs[i].item_size + LEATI_PLAN_ALIGNMENT - 1) /
                                    LEATI_PLAN_ALIGNMENT * LEATI_PLAN_ALIGNMENT;
  }
  if (size == 0) {
    return LEAT_OK;
  }
  leati_view all = {.type = LEAT_TYPE_UINT8, .ndim = 1, .shape = {(int64_t)size}};
  LEATI_TRY(leati_plan_temporary(planner, &all, err));
  for (uint32_t i = 0; i < count; ++i) {
    if (inputs[i].compact) {
      continue;
    }
    leati_view copy = inputs[i];
    copy.binding = all.binding;
    copy.origin = all.origin;
    copy.address = all.address;
    leati_view_make_compact(&copy);
    leati_view_measure(&copy);
    LEATI_TRY(leati_plan_strided_copy(planner, &inputs[i], &copy, err));
    inputs[i] = copy;
    all.address +=
        (copy.count * copy.item_size + LEATI_PLAN_ALIGNMENT - 1) / LEATI_PLAN_ALIGNMENT * LEATI_PLAN_ALIGNMENT;
  }
  return LEAT_OK;
}

static int32_t foreach_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const form f = form_of(leati_op_def_of(op)->param);
  const uint32_t listed = call->input_count - f.scalars;
  leati_view *const inputs = leati_calloc(listed, sizeof(*inputs));
  batch *const b = leati_calloc(1, sizeof(*b));
  int32_t status = LEAT_OK;
  if (inputs == NULL || b == NULL) {
    status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for lists of tensors");
  } else {
    memcpy(inputs, &call->inputs[f.scalars], listed * sizeof(*inputs));
    *b = (batch){.planner = planner, .kernel = leati_kernel_find(LEATI_KERNELS_FOREACH, inputs[0].type)};
    status = make_compact(planner, inputs, listed, err);
  }
  if (status == LEAT_OK) {
    const lists l = {.count = listed / f.taken, .inputs = inputs, .outputs = &call->outputs[f.norms]};
    status = plan_lists(b, op, call, &l, err);
  }
  leati_free(inputs);
  leati_free(b);
  return status;
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_number, "F", LEAT_TYPE_FLOAT32);
static LEATI_ATTRIBUTE(attribute_weight, "weight", FLOAT);
static LEATI_ATTRIBUTE(attribute_value, "value", FLOAT);
static LEATI_ATTRIBUTE(attribute_max_norm, "max_norm", FLOAT);
static LEATI_ATTRIBUTE(attribute_epsilon, "epsilon", FLOAT);
static LEATI_ATTRIBUTE(attribute_momentum, "momentum", FLOAT);
static LEATI_ATTRIBUTE(attribute_dampening, "dampening", FLOAT);
static LEATI_ATTRIBUTE(attribute_weight_decay, "weight_decay", FLOAT);
static LEATI_ATTRIBUTE(attribute_nesterov, "nesterov", INT);
static LEATI_ATTRIBUTE(attribute_beta1, "beta1", FLOAT);
static LEATI_ATTRIBUTE(attribute_beta2, "beta2", FLOAT);

#define FOREACH(name, operation, inputs, outputs, ...)                                               \
  LEATI_OP(name, "leat", (1, 1), inputs, outputs, __VA_ARGS__, .state_size = sizeof(foreach_state),  \
           LEATI_KERNELS(LEATI_KERNELS_FOREACH), .param = (operation), .supports = foreach_supports, \
           .create = foreach_create, .infer = foreach_infer, .plan = foreach_plan)
#define AT_LEAST(count) (count, LEAT_VARIADIC)
#define UPDATES .info.flags = LEAT_OP_LAST_IN_PLACE
#define NORMS LEATI_TYPES(&leati_type_real, &type_number), LEATI_OUTPUT_TYPES(1, 0)
#define ADAM(name, operation)                                                                                  \
  FOREACH(name, operation, AT_LEAST(6), AT_LEAST(3), UPDATES,                                                  \
          LEATI_TYPES(&leati_type_real, &type_number, &leati_type_int64), LEATI_INPUT_TYPES(1, 2, 0, 0, 0, 0), \
          LEATI_ATTRIBUTES(&attribute_beta1, &attribute_beta2, &attribute_epsilon, &attribute_weight_decay))

static const leati_op_def ops[] = {
    FOREACH("ForeachAdd", LEAT_FOREACH_ADD, AT_LEAST(2), AT_LEAST(1), UPDATES, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&leati_attribute_alpha)),
    FOREACH("ForeachMul", LEAT_FOREACH_MUL, AT_LEAST(2), AT_LEAST(1), UPDATES, LEATI_TYPES(&leati_type_real)),
    FOREACH("ForeachLerp", LEAT_FOREACH_LERP, AT_LEAST(2), AT_LEAST(1), UPDATES, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&attribute_weight)),
    FOREACH("ForeachAddcmul", LEAT_FOREACH_ADDCMUL, AT_LEAST(3), AT_LEAST(1), UPDATES, LEATI_TYPES(&leati_type_real),
            LEATI_ATTRIBUTES(&attribute_value)),
    FOREACH("ForeachNorm", LEAT_FOREACH_SQUARES, AT_LEAST(1), (1, 1), NORMS),
    FOREACH("ForeachClipByNorm", LEAT_FOREACH_CLIP, AT_LEAST(1), AT_LEAST(2), UPDATES, NORMS,
            LEATI_ATTRIBUTES(&attribute_max_norm, &attribute_epsilon)),
    FOREACH("ForeachSGD", LEAT_FOREACH_SGD, AT_LEAST(4), AT_LEAST(2), UPDATES,
            LEATI_TYPES(&leati_type_real, &type_number), LEATI_INPUT_TYPES(1, 0, 0, 0),
            LEATI_ATTRIBUTES(&attribute_momentum, &attribute_dampening, &attribute_weight_decay, &attribute_nesterov)),
    ADAM("ForeachAdam", LEAT_FOREACH_ADAM),
    ADAM("ForeachAdamW", LEAT_FOREACH_ADAMW),
};

const leati_op_family leati_foreach_family = LEATI_FAMILY(ops);
