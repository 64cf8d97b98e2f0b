/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise/function.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"

LEATI_ATTRIBUTE(leati_attribute_activation, "activation", STRING);
LEATI_ATTRIBUTE(leati_attribute_activation_params, "activation_params", FLOATS);
LEATI_ATTRIBUTE(leati_attribute_gate_activation, "gate_activation", STRING);
LEATI_ATTRIBUTE(leati_attribute_gate_activation_params, "gate_activation_params", FLOATS);
LEATI_ATTRIBUTE(leati_attribute_activation_alpha, "activation_alpha", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_activation_beta, "activation_beta", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_activation_gamma, "activation_gamma", FLOAT);

/* No number twice, which two members of one name would be, and each where kernels look for it. */
struct numbers {
#define FUNCTION(number, code) unsigned char number_##number;
#define RANGED(number, code, first, end) \
  FUNCTION(number, code)                 \
  _Static_assert((number) >= (first) && (number) < (end), #code " is out of range");
#define PLAIN_FUNCTION(number, code, value) RANGED(number, code, 0, LEAT_EW_FIRST_EXPONENTIAL)
#define EXPONENTIAL_FUNCTION(number, code, value) \
  RANGED(number, code, LEAT_EW_FIRST_EXPONENTIAL, LEAT_EW_FIRST_TRIGONOMETRIC)
#define TRIGONOMETRIC_FUNCTION(number, code, value) RANGED(number, code, LEAT_EW_FIRST_TRIGONOMETRIC, LEAT_EW_ADD)
#include "ops/elementwise/functions.inc"
};

enum { PROGRAM = 1, ACTIVATION = 2 };
#define NO_ATTRIBUTE .parameter_count = 0
#define ONE_ATTRIBUTE(name_, default_) .parameter_count = 1, .attributes[0] = #name_, .otherwise[0] = default_
#define TWO_ATTRIBUTES(first, first_default, second, second_default)                                      \
  .parameter_count = 2, .attributes[0] = #first, .attributes[1] = #second, .otherwise[0] = first_default, \
  .otherwise[1] = second_default
#define APPROXIMATE NO_ATTRIBUTE

const leati_function_name leati_function_names[] = {
#define NAME(name_, code, uses, ...)       \
  {.name = #name_,                         \
   .operation = LEAT_EW_##code,            \
   .program = ((uses)&PROGRAM) != 0,       \
   .activation = ((uses)&ACTIVATION) != 0, \
   __VA_ARGS__},
#include "ops/elementwise/functions.inc"
};
#define NAME_COUNT (sizeof(leati_function_names) / sizeof(leati_function_names[0]))
const uint32_t leati_function_name_count = NAME_COUNT;

void leati_clip_limits(uint64_t type, float out[2]) {
  out[1] = type == LEAT_TYPE_FLOAT16 ? 65504.0f : type == LEAT_TYPE_BFLOAT16 ? 0x1.fep127f : FLT_MAX;
  out[0] = -out[1];
}

void leati_function_parameters(const leati_function *function, uint64_t type, float out[2]) {
  float unbounded[2], limits[2];
  leati_clip_limits(LEAT_TYPE_FLOAT32, unbounded);
  leati_clip_limits(type, limits);
  for (uint32_t k = 0; k < 2; ++k) {
    const bool open = function->operation == LEAT_EW_CLIP && function->parameters[k] == unbounded[k];
    out[k] = open ? limits[k] : function->parameters[k];
  }
}

const leati_function_name *leati_function_find(const char *name, uint64_t length) {
  for (const leati_function_name *f = leati_function_names; f < leati_function_names + NAME_COUNT; ++f) {
    if (strlen(f->name) == length && memcmp(f->name, name, (size_t)length) == 0) {
      return f;
    }
  }
  return NULL;
}

void leati_function_read(const leati_op_desc *desc, const char *name, uint32_t operation, leati_function *out) {
  const leati_function_name *const f = name != NULL ? leati_function_find(name, strlen(name)) : NULL;
  *out = (leati_function){.operation = operation};
  for (uint32_t k = 0; f != NULL && k < f->parameter_count; ++k) {
    out->parameters[k] = leati_attr_float(desc, f->attributes[k], f->otherwise[k]);
  }
}

const char *leati_function_activation(const leati_function *function, uint32_t *out_count) {
  for (const leati_function_name *f = leati_function_names; f < leati_function_names + NAME_COUNT; ++f) {
    if (f->activation && f->operation == function->operation) {
      *out_count = f->parameter_count;
      return f->name;
    }
  }
  return NULL;
}

/* The function that the attribute names, or NULL; what is not known is told. */
static int32_t find_activation(const leati_op_def *def, const leat_attribute *name, const leati_function_name **out,
                               leat_error *err) {
  *out = leati_function_find(name->string, name->count);
  if (*out != NULL && (*out)->activation) {
    return LEAT_OK;
  }
  char known[512] = "";
  size_t used = 0;
  for (const leati_function_name *f = leati_function_names; f < leati_function_names + NAME_COUNT; ++f) {
    if (f->activation) {
      used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used == 0 ? "" : ", ", f->name);
    }
  }
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: activation '%.*s' is not supported; those that are: %s",
                    def->info.name, name->count < 64 ? (int)name->count : 64, name->string, known);
}

/* Reads an activation from the attributes of these names. */
static int32_t read_activation(const leati_op_def *def, const leati_op_desc *desc, const char *name_of,
                               const char *list_of, leati_function *out, leat_error *err) {
  *out = (leati_function){.operation = LEAT_EW_IDENTITY};
  const leat_attribute *const name = leati_attr(desc, name_of), *const list = leati_attr(desc, list_of);
  if (name == NULL || name->count == 0) {
    return LEAT_OK;
  }
  const leati_function_name *found;
  LEATI_TRY(find_activation(def, name, &found, err));
  if (list != NULL && list->count > found->parameter_count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s has %llu elements; activation %s has %u parameters",
                      def->info.name, list_of, (unsigned long long)list->count, found->name, found->parameter_count);
  }
  out->operation = found->operation;
  for (uint32_t k = 0; k < found->parameter_count; ++k) {
    char by_name[32];
    (void)snprintf(by_name, sizeof(by_name), "activation_%s", found->attributes[k]);
    out->parameters[k] =
        list != NULL && k < list->count ? list->floats[k] : leati_attr_float(desc, by_name, found->otherwise[k]);
  }
  return LEAT_OK;
}

int32_t leati_function_read_activation(const leati_op_def *def, const leati_op_desc *desc, leati_function *out,
                                       leat_error *err) {
  return read_activation(def, desc, leati_attribute_activation.name, leati_attribute_activation_params.name, out, err);
}

int32_t leati_function_read_gate_activation(const leati_op_def *def, const leati_op_desc *desc, leati_function *out,
                                            leat_error *err) {
  return read_activation(def, desc, leati_attribute_gate_activation.name, leati_attribute_gate_activation_params.name,
                         out, err);
}
