/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "memory/overlap.h"
#include "ops/core/op_state.h"
#include "ops/core/plan_cache.h"

_Static_assert(LEATI_OVERLAPS_MANY >= LEATI_INLINE_ARGUMENTS, "of calls with many outputs all tensors lie in one list");

int32_t leati_arguments_begin(const leat_op *op, leati_arguments *a, uint32_t input_count, uint32_t output_count,
                              leat_error *err) {
  a->inferred.what = NULL;
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
      .inferred = &a->inferred,
  };
  return LEAT_OK;
}

static void release_inferred(leati_inferred *inferred) {
  if (inferred->what != NULL) {
    inferred->release(inferred->what);
    inferred->what = NULL;
  }
}

void leati_arguments_end(leati_arguments *a) {
  release_inferred(&a->inferred);
  if (a->memory != NULL) {
    leati_free(a->memory);
  }
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

/* The same for shape and type alone. */
static int32_t import_shape(const leat_op *op, DLDataType dtype, int32_t ndim, const int64_t *shape, const char *kind,
                            uint32_t i, leati_view *out, leat_error *err) {
  if (leati_view_of_shape(dtype, ndim, shape, kind, out, NULL) == LEAT_OK) {
    return LEAT_OK;
  }
  char what[96];
  (void)snprintf(what, sizeof(what), "%s %u of %s", kind, i, op->def->info.name);
  return leati_view_of_shape(dtype, ndim, shape, what, out, err);
}

int32_t leati_arguments_import_shape(const leat_op *op, DLDataType dtype, int32_t ndim, const int64_t *shape,
                                     uint32_t i, leati_view *out, leat_error *err) {
  return import_shape(op, dtype, ndim, shape, "input", i, out, err);
}

int32_t leati_arguments_infer(const leat_op *op, leati_arguments *a, leat_error *err) {
  if (leati_input(&a->call, 0) != NULL) { /* its rank may not have been known when the operator was made */
    LEATI_TRY(leati_op_check_rank(op->def, a->inputs[0].ndim, err));
  }
  for (uint32_t i = 0; i < a->call.output_count; ++i) {
    const uint64_t type = op->types[leati_op_output_type(op->def, i)];
    leat_shape *const shape = &a->shapes[i];
    memset(shape, 0, sizeof(*shape));
    shape->struct_size = sizeof(*shape);
    if (type != 0) {
      shape->dtype = leati_dtype_of(type);
    }
  }
  release_inferred(&a->inferred);
  return op->def->infer(op, &a->call, a->shapes, err);
}

/* Fails unless the operator was made for an input of this type there. */
static int32_t check_made_for(const leat_op *op, uint32_t i, uint64_t type, leat_error *err) {
  const uint64_t made_for = op->types[leati_op_input_type(op->def, i)];
  if (i < 64 && (op->given >> i & 1u) == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is given, and was absent when it was created",
                      op->def->info.name, i);
  }
  return type == made_for
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u has type %s; the operator was created for %s",
                          op->def->info.name, i, leati_type_name(type), leati_type_name(made_for));
}

/* Fails if the operator was made for an input there. */
static int32_t check_absent(const leat_op *op, uint32_t i, leat_error *err) {
  return i >= 64 || (op->given >> i & 1u) == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is absent, and was given when it was created",
                          op->def->info.name, i);
}

int32_t leati_arguments_import_inputs(const leat_op *op, leati_arguments *a, const DLTensor *const *inputs,
                                      bool shapes_only, leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  for (uint32_t i = 0; i < a->call.input_count; ++i) {
    leati_view *const view = &a->inputs[i];
    if (inputs[i] == NULL) {
      if (leati_op_requires(op->def, i)) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is NULL and not optional", info->name, i);
      }
      LEATI_TRY(check_absent(op, i, err));
      memset(view, 0, sizeof(*view));
      continue;
    }
    const bool host = leati_op_is_host(info->host_inputs, i);
    if (shapes_only && !host) {
      LEATI_TRY(leati_arguments_import_shape(op, inputs[i]->dtype, inputs[i]->ndim, inputs[i]->shape, i, view, err));
    } else {
      LEATI_TRY(import_argument(op, inputs[i], "input", i, view, err));
      if (view->host != host) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is in %s memory; expected %s", info->name, i,
                          view->host ? "host" : "device", host ? "host memory" : "the device's");
      }
    }
    LEATI_TRY(check_made_for(op, i, view->type, err));
  }
  for (uint32_t i = a->call.input_count; i < op->input_count; ++i) {
    LEATI_TRY(check_absent(op, i, err));
  }
  return leati_arguments_infer(op, a, err);
}

int32_t leati_arguments_result(const leat_op *op, const leati_arguments *a, uint32_t o, leati_view *out,
                               leat_error *err) {
  const leat_shape *const shape = &a->shapes[o];
  return import_shape(op, shape->dtype, shape->ndim, shape->dims, "output", o, out, err);
}

int32_t leati_arguments_export_shapes(const leat_shape *shapes, uint32_t count, leat_shape *const *out,
                                      leat_error *err) {
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i] != NULL) {
      LEATI_TRY(
          leati_export(out[i], &shapes[i], sizeof(shapes[i]), LEAT_SIZE_THROUGH(leat_shape, dims), "leat_shape", err));
    }
  }
  return LEAT_OK;
}

static bool overlap(const leati_view *a, const leati_view *b) {
  return a->begin < b->end && b->begin < a->end;
}

/* Whether output `o` is exactly the memory of input `i`, and may be. */
static bool is_alias(const leat_op_info *info, const leati_call *call, uint32_t i, uint32_t o) {
  const leati_view *const input = &call->inputs[i], *const output = &call->outputs[o];
  return input->address == output->address && input->begin == output->begin && input->end == output->end &&
         leati_may_alias(info, call, i, o);
}

static int32_t check_output(const leat_op *op, const leati_arguments *a, uint32_t o, leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  const leati_view *const output = &a->outputs[o];
  const leat_shape *const shape = &a->shapes[o];
  const bool host = leati_op_is_host(info->host_outputs, o);
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
  return LEAT_OK;
}

/* Compares where an output lies with the inputs and the outputs before it. */
static int32_t check_overlaps(const leat_op *op, const leati_arguments *a, uint32_t o, leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  const leati_view *const output = &a->outputs[o];
  if (output->host || output->count == 0) {
    return LEAT_OK;
  }
  for (uint32_t i = 0; i < a->call.input_count; ++i) {
    if (a->inputs[i].present && !a->inputs[i].host && overlap(&a->inputs[i], output) &&
        !is_alias(info, &a->call, i, o)) {
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

/* A call whose tensors are asked about by their numbers, inputs first. */
typedef struct numbered_call {
  const leat_op_info *info;
  const leati_call *call;
} numbered_call;

static bool may_share(const void *context, uint32_t written, uint32_t other) {
  const numbered_call *const it = context;
  const uint32_t inputs = it->call->input_count;
  return other < inputs && is_alias(it->info, it->call, other, written - inputs);
}

int32_t leati_arguments_import_outputs(const leat_op *op, leati_arguments *a, const DLTensor *const *outputs,
                                       leat_error *err) {
  const leat_op_info *const info = &op->def->info;
  const uint32_t inputs = a->call.input_count, count = a->call.output_count;
  const bool many = count > LEATI_OVERLAPS_MANY;
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
    LEATI_TRY(many ? LEAT_OK : check_overlaps(op, a, o, err));
  }
  const numbered_call numbered = {.info = info, .call = &a->call};
  if (!many || leati_views_are_apart(a->inputs, inputs + count, inputs, may_share, &numbered)) {
    return LEAT_OK;
  }
  for (uint32_t o = 0; o < count; ++o) {
    LEATI_TRY(check_overlaps(op, a, o, err));
  }
  return LEAT_OK;
}

void leati_arguments_place(const leat_op *op, leati_arguments *a, leati_binding *bindings) {
  const uint32_t inputs = a->call.input_count;
  const bool aliased =
      (op->def->info.flags & LEAT_OP_ALIAS) != 0 && a->inputs[0].count != 0 && is_alias(&op->def->info, &a->call, 0, 0);
  for (uint32_t i = 0; i < inputs + a->call.output_count; ++i) {
    leati_view *const view = i < inputs ? &a->inputs[i] : &a->outputs[i - inputs];
    bindings[i] = (leati_binding){.address = view->address, .block = view->block, .data = view->data};
    leati_planner_place(view, aliased && i == inputs ? 0 : i);
  }
}
