/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/adapter.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/attribute.h"
#include "ops/core/op_state.h"

/* Inputs that today's operators have at most. */
#define INPUTS 5

/* What attributes became, by leati_adapter::inputs. Ends the operator. */
struct leati_adapted_inputs {
  leati_view views[LEATI_ADAPTED_MAX];
  int64_t elements[]; /* of all of them */
};

static uint32_t count_of(const struct leati_adapter *adapter) {
  uint32_t count = 0;
  while (count < LEATI_ADAPTED_MAX && adapter->inputs[count].attribute != NULL) {
    ++count;
  }
  return count;
}

/* Elements of an attribute, at most as many bytes each as those of int64. */
static uint64_t elements_of(const leat_attribute *given) {
  return given->type == LEAT_ATTRIBUTE_INTS || given->type == LEAT_ATTRIBUTE_FLOATS ? given->count : 1;
}

/* Makes an attribute a view, and its elements those at `to`. */
static void read_attribute(const leati_op_desc *desc, const leat_attribute *given, void *to, leati_view *out) {
  const bool list = given->type != LEAT_ATTRIBUTE_FLOAT;
  const uint64_t count = elements_of(given);
  const double wide = given->f;
  const void *from = &given->i;
  *out = (leati_view){.present = true, .host = true, .ndim = list, .data = to, .shape = {(int64_t)count}};
  out->type = LEAT_TYPE_INT64;
  if (given->type == LEAT_ATTRIBUTE_INTS) {
    from = given->ints;
  } else if (given->type == LEAT_ATTRIBUTE_FLOATS) {
    out->type = LEAT_TYPE_FLOAT32;
    from = given->floats;
  } else if (given->type == LEAT_ATTRIBUTE_FLOAT) {
    out->type = leati_type_of(desc->inputs[0].dtype);
    from = out->type == LEAT_TYPE_FLOAT64 ? (const void *)&wide : &given->f;
  }
  out->dtype = leati_dtype_of(out->type);
  out->item_size = leati_type_size(out->type);
  if (count != 0) {
    memcpy(to, from, (size_t)count * out->item_size);
  }
  leati_view_make_compact(out);
}

int32_t leati_adapter_read(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  const struct leati_adapter *const adapter = op->def->adapter;
  if (adapter == NULL) {
    return LEAT_OK;
  }
  const leat_attribute *given[LEATI_ADAPTED_MAX];
  const uint32_t count = count_of(adapter);
  uint64_t elements = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const leati_adapted *const adapted = &adapter->inputs[k];
    given[k] = leati_attr(desc, adapted->attribute->name);
    if (given[k] == NULL && adapted->required) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attribute '%s' is missing", op->def->info.name,
                        adapted->attribute->name);
    }
    elements += given[k] != NULL ? elements_of(given[k]) : 0;
  }
  op->adapted = leati_calloc(1, sizeof(*op->adapted) + (size_t)elements * sizeof(int64_t) + 1);
  if (op->adapted == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the attributes of %s", op->def->info.name);
  }
  int64_t *to = op->adapted->elements;
  for (uint32_t k = 0; k < count; ++k) {
    if (given[k] != NULL) {
      read_attribute(desc, given[k], to, &op->adapted->views[k]);
      to += elements_of(given[k]);
    }
  }
  return LEAT_OK;
}

/* The call as today's operator has it; its inputs are in `inputs`. */
static leati_call today(const leat_op *op, const leati_call *call, leati_view inputs[INPUTS]) {
  const struct leati_adapter *const adapter = op->def->adapter;
  leati_call extended = *call;
  for (uint32_t i = 0; i < INPUTS; ++i) {
    if (i < call->input_count) {
      inputs[i] = call->inputs[i];
    } else {
      inputs[i].present = false;
      inputs[i].data = NULL;
    }
  }
  for (uint32_t k = 0; k < count_of(adapter); ++k) {
    inputs[adapter->inputs[k].input] = op->adapted->views[k];
  }
  extended.input_count = INPUTS;
  extended.inputs = inputs;
  return extended;
}

int32_t leati_adapted_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  leati_view inputs[INPUTS];
  const leati_call extended = today(op, call, inputs);
  return op->def->adapter->infer(op, &extended, out, err);
}

int32_t leati_adapted_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_view inputs[INPUTS];
  const leati_call extended = today(op, call, inputs);
  return op->def->adapter->plan(op, planner, &extended, err);
}

int32_t leati_adapted_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  leati_view inputs[INPUTS];
  const leati_call extended = today(op, call, inputs);
  return op->def->adapter->view(op, &extended, o, out, err);
}

leati_channels_last_use leati_adapted_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  leati_view inputs[INPUTS];
  const leati_call extended = today(op, call, inputs);
  return op->def->adapter->channels_last(op, &extended, constants);
}

void leati_adapted_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  leati_view inputs[INPUTS];
  const leati_call extended = today(op, call, inputs);
  op->def->adapter->evaluate(op, &extended, o);
}
