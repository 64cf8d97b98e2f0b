/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/op_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/registry.h"

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

/* Whether a list of strings lacks one. */
static bool lacks_string(const leat_attribute *list) {
  bool lacks = list->count != 0 && (list->strings == NULL || list->lengths == NULL);
  for (uint64_t i = 0; i < list->count && !lacks; ++i) {
    lacks = list->strings[i] == NULL && list->lengths[i] != 0;
  }
  return lacks;
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
                       (to->type == LEAT_ATTRIBUTE_STRINGS && lacks_string(to)) ||
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

/* Checks the type of input `i`, and notes it in `types` by its type constraint. */
static int32_t bind_type(const leati_op_def *def, uint32_t i, uint64_t type, uint64_t *types, leat_error *err) {
  const uint32_t number = leati_op_input_type(def, i);
  const leat_op_type *const constraint = def->info.types[number];
  if ((type & constraint->types) == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u has type %s, which is not supported for %s",
                      def->info.name, i, leati_type_name(type), constraint->name);
  }
  if (types[number] != 0 && types[number] != type) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u has type %s; %s is %s by an earlier input",
                      def->info.name, i, leati_type_name(type), constraint->name, leati_type_name(types[number]));
  }
  types[number] = type;
  return LEAT_OK;
}

static int32_t fail_absent(const leati_op_def *def, uint32_t i, leat_error *err) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: input %u is absent and not optional", def->info.name, i);
}

static int32_t import_value(const leati_op_def *def, uint32_t i, const leat_value_info *from, leat_value_info *to,
                            uint64_t *types, leat_error *err) {
  const char *const name = def->info.name;
  if (from == NULL) {
    to->ndim = LEATI_ABSENT;
    return leati_op_requires(def, i) ? fail_absent(def, i, err) : LEAT_OK;
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
  if (i == 0 && to->ndim != -1) {
    LEATI_TRY(leati_op_check_rank(def, to->ndim, err));
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
  LEATI_TRY(bind_type(def, i, type, types, err));
  return to->value == NULL ? LEAT_OK : check_constant(&def->info, i, to, err);
}

int32_t leati_op_import(const leat_op_desc *from, leati_imported_op *out, leat_error *err) {
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
  LEATI_TRY(leati_registry_find(desc.domain == NULL ? "" : desc.domain, desc.name, desc.since_version, &out->def, err));
  LEATI_TRY(leati_op_check_counts(&out->def->info, desc.input_count, desc.output_count, err));
  if ((uint64_t)desc.input_count + desc.output_count > LEATI_ARGUMENTS_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: %u inputs and %u outputs; supported: %u together", desc.name,
                      desc.input_count, desc.output_count, LEATI_ARGUMENTS_MAX);
  }
  const size_t attribute_bytes = (size_t)desc.attribute_count * sizeof(leat_attribute);
  out->memory = leati_calloc(1, attribute_bytes + (size_t)desc.input_count * sizeof(leat_value_info) + 1);
  if (out->memory == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no host memory to read its descriptor", desc.name);
  }
  leat_attribute *const attributes = out->memory;
  leat_value_info *const inputs = (leat_value_info *)(void *)((unsigned char *)out->memory + attribute_bytes);
  out->desc = (leati_op_desc){
      .since_version = desc.since_version,
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
  for (uint32_t i = 0; i < desc.input_count; ++i) {
    LEATI_TRY(import_value(out->def, i, desc.inputs[i], &inputs[i], out->types, err));
  }
  for (uint32_t i = desc.input_count; i < 32; ++i) {
    if (leati_has_input(out->def->required_inputs, i)) {
      return fail_absent(out->def, i, err);
    }
  }
  return LEAT_OK;
}
