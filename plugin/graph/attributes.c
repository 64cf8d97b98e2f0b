/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/attributes.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"

/* What an attribute points to beside its name, and its bytes; false: such a one is not kept. */
static bool payload_of(const leat_attribute *attribute, const void **out, size_t *out_size) {
  *out = NULL;
  *out_size = 0;
  switch (attribute->type) {
    case LEAT_ATTRIBUTE_INT:
    case LEAT_ATTRIBUTE_FLOAT:
      return true;
    case LEAT_ATTRIBUTE_INTS:
      *out = attribute->ints;
      *out_size = (size_t)attribute->count * sizeof(attribute->ints[0]);
      return true;
    case LEAT_ATTRIBUTE_FLOATS:
      *out = attribute->floats;
      *out_size = (size_t)attribute->count * sizeof(attribute->floats[0]);
      return true;
    case LEAT_ATTRIBUTE_STRING:
      *out = attribute->string;
      *out_size = (size_t)attribute->count;
      return true;
    default:
      return false;
  }
}

/* Others were not checked. */
static bool is_read(const leat_op_info *info, const leat_attribute *attribute) {
  bool found = false;
  for (uint32_t i = 0; i < info->attribute_count && !found; ++i) {
    found = strcmp(info->attributes[i]->name, attribute->name) == 0;
  }
  return found;
}

static size_t rounded(size_t size) {
  return (size + 7) / 8 * 8;
}

/* Copies bytes to `*at`, which moves on. */
static const void *put(char **at, const void *bytes, size_t size) {
  char *const here = *at;
  if (size != 0) {
    memcpy(here, bytes, size);
  }
  *at += rounded(size);
  return here;
}

int32_t leati_attributes_keep(const leat_op_info *info, uint32_t count, const leat_attribute *const *from,
                              leati_kept_attributes *out, leat_error *err) {
  *out = (leati_kept_attributes){0};
  size_t size = (size_t)count * (sizeof(leat_attribute *) + sizeof(leat_attribute));
  for (uint32_t i = 0; i < count; ++i) {
    const void *payload;
    size_t bytes;
    if (is_read(info, from[i]) && payload_of(from[i], &payload, &bytes)) {
      size += rounded(strlen(from[i]->name) + 1) + rounded(bytes);
    }
  }
  if (count == 0) {
    return LEAT_OK;
  }
  const leat_attribute **const list = leati_calloc(1, size);
  if (list == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the attributes of a node");
  }
  leat_attribute *const copies = (leat_attribute *)(void *)(list + count);
  char *at = (char *)(copies + count);
  for (uint32_t i = 0; i < count; ++i) {
    const void *payload;
    size_t bytes;
    if (!is_read(info, from[i]) || !payload_of(from[i], &payload, &bytes)) {
      out->partial = out->partial || is_read(info, from[i]);
      continue;
    }
    leat_attribute *const copy = &copies[out->count];
    *copy = (leat_attribute){
        .struct_size = sizeof(*copy), .type = from[i]->type, .count = from[i]->count, .i = from[i]->i, .f = from[i]->f};
    copy->name = put(&at, from[i]->name, strlen(from[i]->name) + 1);
    payload = put(&at, payload, bytes);
    copy->ints = copy->type == LEAT_ATTRIBUTE_INTS ? payload : NULL;
    copy->floats = copy->type == LEAT_ATTRIBUTE_FLOATS ? payload : NULL;
    copy->string = copy->type == LEAT_ATTRIBUTE_STRING ? payload : NULL;
    list[out->count++] = copy;
  }
  out->list = list;
  return LEAT_OK;
}

const leat_attribute *leati_attributes_find(const leati_kept_attributes *attributes, const char *name) {
  for (uint32_t i = 0; i < attributes->count; ++i) {
    if (strcmp(attributes->list[i]->name, name) == 0) {
      return attributes->list[i];
    }
  }
  return NULL;
}

int64_t leati_attributes_int(const leati_kept_attributes *attributes, const char *name, int64_t otherwise) {
  const leat_attribute *const found = leati_attributes_find(attributes, name);
  return found != NULL ? found->i : otherwise;
}

float leati_attributes_float(const leati_kept_attributes *attributes, const char *name, float otherwise) {
  const leat_attribute *const found = leati_attributes_find(attributes, name);
  return found != NULL ? found->f : otherwise;
}

void leati_attributes_order(const leati_kept_attributes *attributes, int32_t rank, int64_t *out) {
  /* Without a list it turns the order around. */
  const leat_attribute *const perm = leati_attributes_find(attributes, "perm");
  const bool turned = perm == NULL || perm->count == 0;
  for (int32_t d = 0; d < rank; ++d) {
    out[d] = turned ? rank - 1 - d : perm->ints[d];
  }
}
