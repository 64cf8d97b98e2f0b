/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/node.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/earlier.h"

bool leati_ref_fast_float32;

bool leati_ref_fail(leati_ref_node *node, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(node->error, sizeof(node->error), format, arguments);
  va_end(arguments);
  return false;
}

static const leati_ref_entry *find(const leati_ref_entry *list, const char *name) {
  while (list->name != NULL && strcmp(list->name, name) != 0) {
    list++;
  }
  return list;
}

bool leati_ref_has(const leati_ref_entry *list, const char *name) {
  return find(list, name)->name != NULL;
}

/* Makes an attribute what it is as an input. */
static void read_attribute(const leat_attribute *given, leati_ref_type type, leati_ref_tensor *out) {
  const bool list = given->type == LEAT_ATTRIBUTE_INTS || given->type == LEAT_ATTRIBUTE_FLOATS;
  const int64_t count = list ? (int64_t)given->count : 1;
  switch (given->type) {
    case LEAT_ATTRIBUTE_FLOATS:
      leati_ref_tensor_init(out, LEATI_REF_FLOAT32, 1, &count);
      for (int64_t k = 0; k < count; ++k) {
        out->f[k] = (double)given->floats[k];
      }
      break;
    case LEAT_ATTRIBUTE_FLOAT:
      leati_ref_tensor_init(out, type, 0, &count);
      out->f[0] = (double)given->f;
      break;
    default:
      leati_ref_tensor_init(out, LEATI_REF_INT64, 1, &count);
      for (int64_t k = 0; k < count; ++k) {
        out->i[k] = list ? given->ints[k] : given->i;
      }
  }
}

/* Runs an operator with what was an attribute in its version as an input. */
static bool run_earlier(const leati_ref_entry *entry, const leati_earlier *earlier, leati_ref_node *node) {
  leati_ref_tensor made[LEATI_EARLIER_MAX] = {{0}};
  const leati_ref_tensor *inputs[1 + LEATI_EARLIER_MAX] = {node->inputs[0]};
  const leati_ref_tensor *const *const given = node->inputs;
  const uint32_t count = node->input_count;
  for (uint32_t k = 0; k < LEATI_EARLIER_MAX && earlier->moved[k].attribute != NULL; ++k) {
    const leat_attribute *attribute = leati_ref_attribute(node, earlier->moved[k].attribute);
    if (attribute != NULL) {
      read_attribute(attribute, node->inputs[0]->type, &made[k]);
      inputs[earlier->moved[k].input] = &made[k];
    }
  }
  node->inputs = inputs;
  node->input_count = 1 + LEATI_EARLIER_MAX;
  const bool done = entry->run(node);
  node->inputs = given;
  node->input_count = count;
  for (uint32_t k = 0; k < LEATI_EARLIER_MAX; ++k) {
    leati_ref_tensor_clear(&made[k]);
  }
  return done;
}

bool leati_ref_run_of(const leati_ref_entry *list, leati_ref_node *node) {
  const leati_ref_entry *entry = find(list, node->name);
  const leati_earlier *earlier = leati_earlier_of(node->name, node->since_version);
  if (entry->name == NULL) {
    return leati_ref_fail(node, "the reference has no operator %s", node->name);
  }
  return earlier != NULL ? run_earlier(entry, earlier, node) : entry->run(node);
}

void leati_ref_node_clear(leati_ref_node *node) {
  for (uint32_t k = 0; k < LEATI_REF_MAX_OUTPUTS; ++k) {
    leati_ref_tensor_clear(&node->outputs[k]);
  }
}

const leati_ref_tensor *leati_ref_input(const leati_ref_node *node, uint32_t at) {
  return at < node->input_count ? node->inputs[at] : NULL;
}

const leat_attribute *leati_ref_attribute(const leati_ref_node *node, const char *name) {
  for (uint32_t k = 0; k < node->attribute_count; ++k) {
    if (strcmp(node->attributes[k]->name, name) == 0) {
      return node->attributes[k];
    }
  }
  return NULL;
}

int64_t leati_ref_int(const leati_ref_node *node, const char *name, int64_t otherwise) {
  const leat_attribute *attribute = leati_ref_attribute(node, name);
  return attribute != NULL ? attribute->i : otherwise;
}

float leati_ref_float(const leati_ref_node *node, const char *name, float otherwise) {
  const leat_attribute *attribute = leati_ref_attribute(node, name);
  return attribute != NULL ? attribute->f : otherwise;
}

bool leati_ref_string_is(const leati_ref_node *node, const char *name, const char *otherwise, const char *value) {
  const leat_attribute *attribute = leati_ref_attribute(node, name);
  if (attribute == NULL) {
    return strcmp(otherwise, value) == 0;
  }
  return attribute->count == strlen(value) && memcmp(attribute->string, value, strlen(value)) == 0;
}

int64_t leati_ref_ints_at(const leati_ref_node *node, const char *name, int64_t at, int64_t otherwise) {
  const leat_attribute *attribute = leati_ref_attribute(node, name);
  return attribute != NULL && (uint64_t)at < attribute->count ? attribute->ints[at] : otherwise;
}

bool leati_ref_axis(leati_ref_node *node, int64_t axis, int32_t rank, int32_t *out_axis) {
  if (axis < -rank || axis >= rank) {
    return leati_ref_fail(node, "axis %" PRId64 " is outside a tensor of rank %" PRId32, axis, rank);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return true;
}

bool leati_ref_axes(leati_ref_node *node, uint32_t input, int32_t rank, int32_t axes[LEAT_MAX_RANK], int32_t *count) {
  const leati_ref_tensor *tensor = leati_ref_input(node, input);
  const leat_attribute *attribute = leati_ref_attribute(node, "axes");
  *count = -1;
  if (tensor == NULL && attribute == NULL) {
    return true;
  }
  int64_t given = tensor != NULL ? tensor->count : (int64_t)attribute->count;
  if (given > LEAT_MAX_RANK) {
    return leati_ref_fail(node, "%" PRId64 " axes are more than a tensor has", given);
  }
  *count = (int32_t)given;
  for (int32_t k = 0; k < *count; ++k) {
    if (!leati_ref_axis(node, tensor != NULL ? tensor->i[k] : attribute->ints[k], rank, &axes[k])) {
      return false;
    }
    for (int32_t j = 0; j < k; ++j) {
      if (axes[j] == axes[k]) {
        return leati_ref_fail(node, "axis %" PRId32 " is given twice", axes[k]);
      }
    }
  }
  return true;
}
