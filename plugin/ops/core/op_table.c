/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/op_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "device/kernel.h"
#include "ops/core/adapter.h"
#include "ops/core/arguments.h"
#include "ops/core/attribute.h"
#include "ops/core/op_import.h"
#include "ops/core/op_state.h"
#include "ops/core/plan_cache.h"
#include "ops/core/registry.h"
#include "streams/recorder.h"
#include "streams/stream.h"
#include "streams/stream_state.h"

/* The operators of a device. The lock guards the list alone; invoking an operator takes no lock here. */
struct leati_ops {
  leati_mutex lock;
  leat_op *first;
  leati_kernel_verdicts kernels;
  leati_lru_readers readers; /* threads that look for plans of any of them */
};

int32_t leati_ops_create(leat_device *device, leat_error *err) {
  struct leati_ops *const ops = leati_calloc_line(sizeof(*ops));
  if (ops == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the list of operators");
  }
  leati_mutex_init(&ops->lock, LEATI_RANK_OBJECTS);
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
    leati_op_free(op);
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
  *out_count = leati_registry_count();
  return LEAT_OK;
}

static int32_t op_info(uint32_t index, const leat_op_info **out, leat_error *err) {
  LEATI_ENTER(err);
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.info: out is NULL");
  }
  *out = NULL;
  const leati_op_def *const def = leati_registry_get(index);
  if (def == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.info: there is no entry %u; the list has %u", index,
                      leati_registry_count());
  }
  *out = &def->info;
  return LEAT_OK;
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
  if (leati_op_is_host(op->def->info.host_inputs, i)) {
    *out_known = leati_constant(desc, i, out);
    return LEAT_OK;
  }
  *out_known = input->ndim != -1;
  for (int32_t d = 0; *out_known && d < input->ndim; ++d) {
    *out_known = input->shape[d] != -1;
  }
  return *out_known ? leati_arguments_import_shape(op, input->dtype, input->ndim, input->shape, i, out, err) : LEAT_OK;
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
  leati_arguments a;
  LEATI_TRY(leati_arguments_begin(op, &a, desc->input_count, desc->output_count, err));
  int32_t status = LEAT_OK;
  bool known = true;
  for (uint32_t i = 0; known && status == LEAT_OK && i < desc->input_count; ++i) {
    leati_view *const input = &a.inputs[i];
    status = known_input(op, desc, i, input, &known, err);
    if (status == LEAT_OK && input->present) {
      status = check_size(op->def, input, "input", i, err);
    }
  }
  if (known && status == LEAT_OK) {
    status = leati_arguments_infer(op, &a, err);
  }
  for (uint32_t o = 0; known && status == LEAT_OK && o < desc->output_count; ++o) {
    leati_view result;
    status = leati_arguments_result(op, &a, o, &result, err);
    if (status == LEAT_OK) {
      status = check_size(op->def, &result, "output", o, err);
    }
  }
  leati_arguments_end(&a);
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
          LEATI_TRY(leati_kernel_check_once(&device->ops->kernels, device->physical, found[j],
                                            &leati_kernel_codes[found[j]], def->info.name, err));
        }
      }
    }
  }
  return LEAT_OK;
}

/* Notes what calls are compared with. */
static void note_arguments(leat_op *op, const leati_imported_op *in) {
  op->input_count = in->desc.input_count;
  op->output_count = in->desc.output_count;
  memcpy(op->types, in->types, sizeof(op->types));
  for (uint32_t i = 0; i < in->desc.input_count && i < 64; ++i) {
    op->given |= (uint64_t)leati_is_given(&in->desc, i) << i;
  }
}

int32_t leati_op_make(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  leati_imported_op in;
  int32_t status = leati_op_import(desc, &in, err);
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
    leati_plan_cache_begin(&op->plans);
    op->since_version = in.desc.since_version;
    op->def = in.def;
    op->device = device;
    note_arguments(op, &in);
    status = in.def->create == NULL ? LEAT_OK : in.def->create(op, &in.desc, err);
  }
  if (status == LEAT_OK) {
    status = leati_adapter_read(op, &in.desc, err);
  }
  if (status == LEAT_OK) {
    status = check_known(op, &in.desc, err);
  }
  leati_free(in.memory);
  if (status != LEAT_OK) {
    leati_op_free(op);
    return status;
  }
  *out = op;
  return LEAT_OK;
}

static int32_t op_supports(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  leat_op *op = NULL;
  LEATI_TRY(leati_op_make(device, desc, &op, err));
  leati_op_free(op);
  return LEAT_OK;
}

static int32_t op_create(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "op.create: out is NULL");
  }
  *out = NULL;
  LEATI_TRY(leati_op_make(device, desc, out, err));
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

static int32_t op_destroy(leat_op *op, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (op == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_op_check(op, err));
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
  leati_op_free(op);
  return LEAT_OK;
}

/* ---- Inferring -------------------------------------------------------------------------------------------------- */

/* Whether so many arguments are as many as an operator was made for, or fewer where its definition allows that. */
static inline bool counts_fit(uint32_t count, uint32_t made_for, uint32_t least, uint32_t most) {
  return count == made_for || (count < made_for && count >= least && most != LEAT_VARIADIC);
}

/* Checks the operator of a call, and how many arguments it has. */
static inline int32_t check_call(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs,
                                 uint32_t output_count, leat_error *err) {
  LEATI_TRY(leati_op_check(op, err));
  const leat_op_info *const info = &op->def->info;
  if (!counts_fit(input_count, op->input_count, info->min_inputs, info->max_inputs) ||
      !counts_fit(output_count, op->output_count, info->min_outputs, info->max_outputs)) {
    LEATI_TRY(leati_op_check_counts(info, input_count, output_count, err));
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u inputs and %u outputs; it was created for %u and %u",
                      info->name, input_count, output_count, op->input_count, op->output_count);
  }
  return input_count == 0 || inputs != NULL
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u inputs and a NULL array of inputs", info->name,
                          input_count);
}

/* Infers what no plan is cached for. */
static int32_t infer_anew(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                          leat_shape *const *out, leat_error *err) {
  leati_arguments a;
  int32_t status = leati_arguments_begin(op, &a, input_count, output_count, err);
  if (status == LEAT_OK) {
    status = leati_arguments_import_inputs(op, &a, inputs, true, err);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < output_count; ++i) {
    leati_view result;
    status = leati_arguments_result(op, &a, i, &result, err);
  }
  if (status == LEAT_OK) {
    status = leati_arguments_export_shapes(a.shapes, output_count, out, err);
  }
  leati_arguments_end(&a);
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
  leati_lru_counter *const counter = leati_lru_enter(&op->device->ops->readers, leati_thread_id());
  const leat_shape *const known = leati_plan_cache_shapes(&op->plans, op, input_count, inputs, output_count);
  const int32_t status = known != NULL ? leati_arguments_export_shapes(known, output_count, out, err) : LEAT_OK;
  leati_lru_leave(counter);
  return known != NULL ? status : infer_anew(op, input_count, inputs, output_count, out, err);
}

/* ---- Invoking --------------------------------------------------------------------------------------------------- */

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

/* Plans a call that was checked, and records it. */
static int32_t plan_and_record(const leat_op *op, leat_stream *stream, leati_arguments *a,
                               const DLTensor *const *inputs, const DLTensor *const *outputs, leat_error *err) {
  const uint32_t count = a->call.input_count + a->call.output_count;
  leati_binding inline_bindings[LEATI_BINDINGS_MAX], *bindings = inline_bindings;
  if (count > LEATI_CACHED_ARGUMENTS_MAX) {
    bindings = leati_calloc(count + LEATI_TEMP_MAX, sizeof(*bindings));
    if (bindings == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no host memory for %u arguments", op->def->info.name,
                        count);
    }
  }
  leati_planner planner;
  leati_arguments_place(op, a, bindings);
  leati_planner_begin(&planner, op->device, a->call.input_count, a->call.output_count);
  planner.op = op->def->info.name;
  int32_t status = op->def->plan(op, &planner, &a->call, err);
  if (status == LEAT_OK) {
    /* The caches of an operator are its only part that changes. */
    leati_plan_cache *const cache = (leati_plan_cache *)&op->plans;
    leati_plan_cache_add(cache, &op->device->ops->readers, &planner, op, &a->call, inputs, outputs, a->shapes);
    const leati_plan plan = leati_planner_plan(&planner);
    status = record(stream, &plan, bindings, err);
  }
  leati_planner_end(&planner);
  if (bindings != inline_bindings) {
    leati_free(bindings);
  }
  return status;
}

/* A call that no plan is cached for. */
static int32_t invoke_anew(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  leati_arguments a;
  int32_t status = leati_arguments_begin(op, &a, input_count, output_count, err);
  if (status == LEAT_OK) {
    status = leati_arguments_import_inputs(op, &a, inputs, false, err);
  }
  if (status == LEAT_OK) {
    status = leati_arguments_import_outputs(op, &a, outputs, err);
  }
  if (status == LEAT_OK) {
    status = leati_stream_error_if_live(stream, err);
  }
  if (status == LEAT_OK) {
    status = plan_and_record(op, stream, &a, inputs, outputs, err);
  }
  leati_arguments_end(&a);
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
  leati_lru_counter *const counter = leati_lru_enter(&op->device->ops->readers, stream->number);
  const leati_plan *const plan =
      leati_plan_cache_find(&op->plans, op, input_count, inputs, output_count, outputs, bindings);
  const int32_t status = plan != NULL ? record(stream, plan, bindings, err) : LEAT_OK;
  leati_lru_leave(counter);
  return plan != NULL ? status : invoke_anew(op, stream, input_count, inputs, output_count, outputs, err);
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
