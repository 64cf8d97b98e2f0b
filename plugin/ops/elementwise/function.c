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

/* Functions that have parameters or may be activations, under the name of their operator. FastGelu is Gelu with its
 * tanh approximation; Clip's bounds, inputs of the operator, are parameters here. */
typedef struct definition {
  const char *name;
  uint32_t operation;
  uint32_t count;            /* parameters */
  const char *attributes[2]; /* of the operator, for the parameters */
  float otherwise[2];        /* where they are not given */
} definition;

static const definition definitions[] = {
    {"Relu", LEAT_EW_RELU, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Clip", LEAT_EW_CLIP, 2, {"alpha", "beta"}, {-FLT_MAX, FLT_MAX}},
    {"LeakyRelu", LEAT_EW_LEAKY_RELU, 1, {"alpha", NULL}, {0.01f, 0.0f}},
    {"ThresholdedRelu", LEAT_EW_THRESHOLDED_RELU, 1, {"alpha", NULL}, {1.0f, 0.0f}},
    {"HardSigmoid", LEAT_EW_HARD_SIGMOID, 2, {"alpha", "beta"}, {0.2f, 0.5f}},
    {"HardSwish", LEAT_EW_HARD_SWISH, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Softsign", LEAT_EW_SOFTSIGN, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Shrink", LEAT_EW_SHRINK, 2, {"lambd", "bias"}, {0.5f, 0.0f}},
    {"Sigmoid", LEAT_EW_SIGMOID, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Tanh", LEAT_EW_TANH, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Swish", LEAT_EW_SWISH, 1, {"alpha", NULL}, {1.0f, 0.0f}},
    {"QuickGelu", LEAT_EW_SWISH, 1, {"alpha", NULL}, {1.702f, 0.0f}},
    {"Gelu", LEAT_EW_GELU, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"FastGelu", LEAT_EW_GELU_TANH, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Mish", LEAT_EW_MISH, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Softplus", LEAT_EW_SOFTPLUS, 0, {NULL, NULL}, {0.0f, 0.0f}},
    {"Elu", LEAT_EW_ELU, 1, {"alpha", NULL}, {1.0f, 0.0f}},
    {"Selu", LEAT_EW_SELU, 2, {"alpha", "gamma"}, {1.67326319217681884765625f, 1.05070102214813232421875f}},
    {"Celu", LEAT_EW_CELU, 1, {"alpha", NULL}, {1.0f, 0.0f}},
};
#define DEFINITION_COUNT (sizeof(definitions) / sizeof(definitions[0]))

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

void leati_function_read(const leati_op_desc *desc, uint32_t operation, leati_function *out) {
  *out = (leati_function){.operation = operation};
  const definition *d = definitions;
  while (d < definitions + DEFINITION_COUNT && d->operation != operation) {
    ++d;
  }
  for (uint32_t k = 0; d < definitions + DEFINITION_COUNT && k < d->count; ++k) {
    out->parameters[k] = leati_attr_float(desc, d->attributes[k], d->otherwise[k]);
  }
}

const char *leati_function_activation(const leati_function *function, uint32_t *out_count) {
  for (const definition *d = definitions; d < definitions + DEFINITION_COUNT; ++d) {
    if (d->operation == function->operation) {
      *out_count = d->count;
      return d->name;
    }
  }
  return NULL;
}

/* The function that the attribute names, or NULL; what is not known is told. */
static int32_t find_activation(const leati_op_def *def, const leat_attribute *name, const definition **out,
                               leat_error *err) {
  for (const definition *d = definitions; d < definitions + DEFINITION_COUNT; ++d) {
    if (name->string[0] == d->name[0] && name->count == strlen(d->name) &&
        memcmp(name->string, d->name, (size_t)name->count) == 0) {
      *out = d;
      return LEAT_OK;
    }
  }
  char known[512] = "";
  size_t used = 0;
  for (const definition *d = definitions; d < definitions + DEFINITION_COUNT; ++d) {
    used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used == 0 ? "" : ", ", d->name);
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
  const definition *found;
  LEATI_TRY(find_activation(def, name, &found, err));
  if (list != NULL && list->count > found->count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s has %llu elements; activation %s has %u parameters",
                      def->info.name, list_of, (unsigned long long)list->count, found->name, found->count);
  }
  out->operation = found->operation;
  for (uint32_t k = 0; k < found->count; ++k) {
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
