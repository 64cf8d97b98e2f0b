/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise/epilogue.h"

#include <stdio.h>
#include <string.h>

#include "ops/core/bound.h"

/* An activation: which operator it is, which attributes of that are its parameters, and its largest slope where it has
 * a minimum; 0: on either side of a point it only rises or only falls. */
typedef struct activation {
  const char *name;
  const char *operator_name;
  const char *parameters[2];
  double slope;
} activation;

/* The slopes: of x (x / 6 + 1 / 2) it is at most x / 3 + 1 / 2 at 3. Those of x times a number between 0 and 1 that
 * rises are found where their second derivative is 0: 1.1290 for both forms of Gelu, 1.0999 for Swish, whatever alpha,
 * and 1.0887 for Mish. */
static const activation activations[] = {
    {"Relu", "Relu", {NULL, NULL}, 0},
    {"Clip", "Clip", {"alpha", "beta"}, 0},
    {"LeakyRelu", "LeakyRelu", {"alpha", NULL}, 0},
    {"ThresholdedRelu", "ThresholdedRelu", {"alpha", NULL}, 0},
    {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}, 0},
    {"HardSwish", "HardSwish", {NULL, NULL}, 1.5},
    {"Softsign", "Softsign", {NULL, NULL}, 0},
    {"Shrink", "Shrink", {"lambd", "bias"}, 0},
    {"Sigmoid", "Sigmoid", {NULL, NULL}, 0},
    {"Tanh", "Tanh", {NULL, NULL}, 0},
    {"Swish", "Swish", {"alpha", NULL}, 1.13},
    {"QuickGelu", "QuickGelu", {"alpha", NULL}, 1.13},
    {"Gelu", "Gelu", {NULL, NULL}, 1.13},
    {"FastGelu", "Gelu", {NULL, NULL}, 1.13},
    {"Mish", "Mish", {NULL, NULL}, 1.13},
    {"Softplus", "Softplus", {NULL, NULL}, 0},
    {"Elu", "Elu", {"alpha", NULL}, 0},
    {"Selu", "Selu", {"alpha", "gamma"}, 0},
    {"Celu", "Celu", {"alpha", NULL}, 0},
};

bool leati_ref_add(leati_ref_node *node, const leati_ref_tensor *added) {
  leati_ref_tensor *y = &node->outputs[0];
  for (int32_t d = 1; d <= added->rank; ++d) {
    const int64_t size = added->dims[added->rank - d];
    if (d > y->rank || (size != 1 && size != y->dims[y->rank - d])) {
      return leati_ref_fail(node, "%s: what is added does not broadcast to the result", node->name);
    }
  }
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    const double term = added->f[leati_ref_broadcast_at(added, y->rank, index)];
    /* The sum rounds once, with the first term off as it may be; a denormal term may be taken for 0. */
    y->f[k] += term;
    y->bound[k] += leati_ref_bound_ulps(fabs(y->f[k]) + y->bound[k], 1) + FLT_MIN;
  }
  return true;
}

/* The parameters that are given, as attributes of the activation's own operator; gives how many. */
static uint32_t take_parameters(const leati_ref_node *node, const activation *a, leat_attribute out[2]) {
  const leat_attribute *list = leati_ref_attribute(node, "activation_params");
  uint32_t count = 0;
  for (uint32_t k = 0; k < 2 && a->parameters[k] != NULL; ++k) {
    char name[32];
    snprintf(name, sizeof(name), "activation_%s", a->parameters[k]);
    const leat_attribute *alone = leati_ref_attribute(node, name);
    const bool listed = list != NULL && k < list->count;
    if (listed || alone != NULL) {
      out[count++] = (leat_attribute){.struct_size = sizeof(leat_attribute),
                                      .type = LEAT_ATTRIBUTE_FLOAT,
                                      .name = a->parameters[k],
                                      .f = listed ? list->floats[k] : alone->f};
    }
  }
  return count;
}

/* Applies the activation to the elements of `x`, each moved by its bound times `away`. */
static bool apply(leati_ref_node *node, const activation *a, const leati_ref_tensor *x, double away,
                  leati_ref_tensor *out) {
  leat_attribute attributes[3];
  const leat_attribute *pointers[3] = {&attributes[0], &attributes[1], &attributes[2]};
  leati_ref_tensor inputs[3] = {{0}};
  const leati_ref_tensor *given[3] = {&inputs[0], NULL, NULL};
  uint32_t count = take_parameters(node, a, attributes);
  leati_ref_tensor_init(&inputs[0], x->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    inputs[0].f[k] = isfinite(x->f[k]) ? x->f[k] + away * x->bound[k] : x->f[k];
  }
  if (strcmp(a->name, "Clip") == 0) {
    for (uint32_t k = 0; k < count; ++k) {
      const uint32_t at = strcmp(attributes[k].name, "alpha") == 0 ? 1 : 2;
      leati_ref_tensor_init(&inputs[at], x->type, 0, NULL);
      inputs[at].f[0] = attributes[k].f;
      given[at] = &inputs[at];
    }
    count = 0;
  }
  if (strcmp(a->name, "FastGelu") == 0) {
    attributes[count++] = (leat_attribute){.struct_size = sizeof(leat_attribute),
                                           .type = LEAT_ATTRIBUTE_STRING,
                                           .name = "approximate",
                                           .count = 4,
                                           .string = "tanh"};
  }
  leati_ref_node part = {.name = a->operator_name,
                         .since_version = 1,
                         .attribute_count = count,
                         .attributes = pointers,
                         .input_count = 3,
                         .inputs = given,
                         .output_count = 1};
  const bool ok = leati_ref_run_of(leati_ref_elementwise, &part) || leati_ref_fail(node, "%s", part.error);
  *out = part.outputs[0];
  for (int k = 0; k < 3; ++k) {
    leati_ref_tensor_clear(&inputs[k]);
  }
  return ok;
}

/* The function of a number that is off by up to b: its own bound, the largest of those here, at x - b and at x + b; and
 * how far its value moves, which is at most slope times b, or what the ends say where it only rises or falls on either
 * side of a point. An infinity and NaN are what they are. */
static void join(leati_ref_tensor *y, const activation *a, const leati_ref_tensor at[3]) {
  for (int64_t k = 0; k < y->count; ++k) {
    double own = at[0].bound[k];
    double moved = 0;
    if (isfinite(y->f[k]) && y->bound[k] > 0) {
      own = fmax(own, fmax(at[1].bound[k], at[2].bound[k]));
      moved = fmax(a->slope * y->bound[k], fmax(fabs(at[1].f[k] - at[0].f[k]), fabs(at[2].f[k] - at[0].f[k])));
    }
    y->f[k] = at[0].f[k];
    y->bound[k] = own + moved;
  }
}

static bool activate(leati_ref_node *node) {
  leati_ref_tensor *y = &node->outputs[0];
  if (leati_ref_string_is(node, "activation", "", "")) {
    return true;
  }
  const activation *a = activations;
  const activation *const end = activations + sizeof(activations) / sizeof(activations[0]);
  while (a < end && !leati_ref_string_is(node, "activation", "", a->name)) {
    a++;
  }
  if (a == end) {
    return leati_ref_fail(node, "%s: no such activation", node->name);
  }
  static const double ends[3] = {0, -1, 1};
  leati_ref_tensor at[3] = {{0}};
  bool ok = true;
  for (int k = 0; k < 3 && ok; ++k) {
    ok = apply(node, a, y, ends[k], &at[k]);
  }
  if (ok) {
    join(y, a, at);
  }
  for (int k = 0; k < 3; ++k) {
    leati_ref_tensor_clear(&at[k]);
  }
  return ok;
}

bool leati_ref_epilogue(leati_ref_node *node, const leati_ref_tensor *residual) {
  const bool last = leati_ref_int(node, "residual_first", 1) == 0;
  return (residual == NULL || last || leati_ref_add(node, residual)) && activate(node) &&
         (residual == NULL || !last || leati_ref_add(node, residual));
}
