/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/attribute.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"

const leat_attribute *leati_attr(const leati_op_desc *desc, const char *name) {
  for (uint32_t i = 0; i < desc->attribute_count; ++i) {
    if (strcmp(desc->attributes[i].name, name) == 0) {
      return &desc->attributes[i];
    }
  }
  return NULL;
}

int64_t leati_attr_int(const leati_op_desc *desc, const char *name, int64_t otherwise) {
  const leat_attribute *const attribute = leati_attr(desc, name);
  return attribute == NULL ? otherwise : attribute->i;
}

float leati_attr_float(const leati_op_desc *desc, const char *name, float otherwise) {
  const leat_attribute *const attribute = leati_attr(desc, name);
  return attribute == NULL ? otherwise : attribute->f;
}

bool leati_attr_is(const leati_op_desc *desc, const char *name, const char *text) {
  const leat_attribute *const attribute = leati_attr(desc, name);
  return attribute != NULL && attribute->count == strlen(text) &&
         (attribute->count == 0 || memcmp(attribute->string, text, (size_t)attribute->count) == 0);
}

int32_t leati_attr_choice(const leati_op_desc *desc, const char *op, const char *name, const char *const *names,
                          uint32_t count, uint32_t *out, leat_error *err) {
  *out = 0;
  if (leati_attr(desc, name) == NULL) {
    return LEAT_OK;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (leati_attr_is(desc, name, names[i])) {
      *out = i;
      return LEAT_OK;
    }
  }
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: this value of attribute %s is not supported", op, name);
}

int32_t leati_attr_ints(const leati_op_desc *desc, const char *name, uint32_t capacity, int64_t *out,
                        uint32_t *out_count, leat_error *err) {
  *out_count = 0;
  const leat_attribute *const attribute = leati_attr(desc, name);
  if (attribute == NULL) {
    return LEAT_OK;
  }
  if (attribute->count > capacity) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "attribute '%s' has %" PRIu64 " elements; supported: up to %u",
                      name, attribute->count, capacity);
  }
  for (uint64_t i = 0; i < attribute->count; ++i) {
    out[i] = attribute->ints[i];
  }
  *out_count = (uint32_t)attribute->count;
  return LEAT_OK;
}

bool leati_attr_tensor(const leati_op_desc *desc, const char *name, leati_view *out) {
  const leat_attribute *const attribute = leati_attr(desc, name);
  return attribute != NULL && leati_view_import_host(attribute->tensor, name, out, NULL) == LEAT_OK;
}

bool leati_constant(const leati_op_desc *desc, uint32_t i, leati_view *out) {
  return i < desc->input_count && desc->inputs[i].value != NULL &&
         leati_view_import_host(desc->inputs[i].value, "a constant", out, NULL) == LEAT_OK;
}

int64_t leati_list_length(const leati_op_desc *desc, uint32_t i) {
  leati_view value;
  if (leati_constant(desc, i, &value)) {
    return (int64_t)value.count;
  }
  const leat_value_info *const input = &desc->inputs[i];
  return input->ndim == 0 ? 1 : input->ndim == 1 ? input->shape[0] : -1;
}

uint64_t leati_type_of_onnx(int64_t number) {
  switch (number) {
    case 1:
      return LEAT_TYPE_FLOAT32;
    case 2:
      return LEAT_TYPE_UINT8;
    case 3:
      return LEAT_TYPE_INT8;
    case 4:
      return LEAT_TYPE_UINT16;
    case 5:
      return LEAT_TYPE_INT16;
    case 6:
      return LEAT_TYPE_INT32;
    case 7:
      return LEAT_TYPE_INT64;
    case 9:
      return LEAT_TYPE_BOOL;
    case 10:
      return LEAT_TYPE_FLOAT16;
    case 11:
      return LEAT_TYPE_FLOAT64;
    case 12:
      return LEAT_TYPE_UINT32;
    case 13:
      return LEAT_TYPE_UINT64;
    case 16:
      return LEAT_TYPE_BFLOAT16;
    default:
      return 0;
  }
}
