/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference/tensor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  int64_t size;
  uint8_t dlpack_code;
  int64_t onnx;
  int64_t low; /* of an integer type, as `high` */
  int64_t high;
} types[LEATI_REF_TYPE_COUNT] = {
    [LEATI_REF_FLOAT32] = {4, kDLFloat, 1, 0, 0},
    [LEATI_REF_INT64] = {8, kDLInt, 7, INT64_MIN, INT64_MAX},
    [LEATI_REF_INT32] = {4, kDLInt, 6, INT32_MIN, INT32_MAX},
    [LEATI_REF_INT16] = {2, kDLInt, 5, INT16_MIN, INT16_MAX},
    [LEATI_REF_INT8] = {1, kDLInt, 3, INT8_MIN, INT8_MAX},
    [LEATI_REF_UINT32] = {4, kDLUInt, 12, 0, UINT32_MAX},
    [LEATI_REF_UINT16] = {2, kDLUInt, 4, 0, UINT16_MAX},
    [LEATI_REF_UINT8] = {1, kDLUInt, 2, 0, UINT8_MAX},
    [LEATI_REF_BOOL] = {1, LEAT_DL_BOOL, 9, 0, 1},
};

void *leati_ref_alloc(int64_t count, size_t size) {
  /* One element more than asked for, so that an empty tensor still has a pointer that is not NULL. */
  void *memory = calloc((size_t)count + 1, size);
  if (memory == NULL) {
    fprintf(stderr, "conformance reference: no memory for %" PRId64 " elements of %zu bytes\n", count, size);
    abort();
  }
  return memory;
}

bool leati_ref_type_is_float(leati_ref_type type) {
  return type == LEATI_REF_FLOAT32;
}

int64_t leati_ref_type_size(leati_ref_type type) {
  return types[type].size;
}

DLDataType leati_ref_type_dlpack(leati_ref_type type) {
  return (DLDataType){.code = types[type].dlpack_code, .bits = (uint8_t)(types[type].size * 8), .lanes = 1};
}

leati_ref_type leati_ref_type_from_onnx(int64_t data_type) {
  int type = 0;
  while (type < LEATI_REF_TYPE_COUNT && types[type].onnx != data_type) {
    type++;
  }
  return (leati_ref_type)type;
}

int64_t leati_ref_type_wrap(leati_ref_type type, int64_t value) {
  if (type == LEATI_REF_BOOL || types[type].size == 8) {
    return type == LEATI_REF_BOOL ? value != 0 : value;
  }
  int64_t range = INT64_C(1) << (8 * types[type].size);
  int64_t rest = (int64_t)((uint64_t)value & (uint64_t)(range - 1));
  return rest > types[type].high ? rest - range : rest;
}

int64_t leati_ref_type_low(leati_ref_type type) {
  return types[type].low;
}

int64_t leati_ref_type_high(leati_ref_type type) {
  return types[type].high;
}

void leati_ref_tensor_init(leati_ref_tensor *tensor, leati_ref_type type, int32_t rank, const int64_t *dims) {
  *tensor = (leati_ref_tensor){.type = type, .rank = rank, .count = 1};
  for (int32_t d = 0; d < rank; d++) {
    tensor->dims[d] = dims[d];
    tensor->count *= dims[d];
  }
  if (leati_ref_type_is_float(type)) {
    tensor->f = leati_ref_alloc(tensor->count, sizeof(double));
    tensor->bound = leati_ref_alloc(tensor->count, sizeof(double));
  } else {
    tensor->i = leati_ref_alloc(tensor->count, sizeof(int64_t));
  }
}

void leati_ref_tensor_clear(leati_ref_tensor *tensor) {
  free(tensor->f);
  free(tensor->bound);
  free(tensor->i);
  *tensor = (leati_ref_tensor){0};
}

void leati_ref_tensor_store(const leati_ref_tensor *tensor, void *bytes) {
  for (int64_t k = 0; k < tensor->count; k++) {
    if (leati_ref_type_is_float(tensor->type)) {
      ((float *)bytes)[k] = (float)tensor->f[k];
    } else {
      /* The low bytes come first. */
      memcpy((char *)bytes + k * types[tensor->type].size, &tensor->i[k], (size_t)types[tensor->type].size);
    }
  }
}

static int64_t load_integer(leati_ref_type type, const void *bytes, int64_t at) {
  int64_t value = 0;
  memcpy(&value, (const char *)bytes + at * types[type].size, (size_t)types[type].size);
  /* A boolean is compared as it stands: a byte other than 0 and 1 is no boolean. */
  return type == LEATI_REF_BOOL ? value : leati_ref_type_wrap(type, value);
}

void leati_ref_tensor_load(leati_ref_tensor *tensor, const void *bytes) {
  for (int64_t k = 0; k < tensor->count; k++) {
    if (leati_ref_type_is_float(tensor->type)) {
      tensor->f[k] = ((const float *)bytes)[k];
    } else {
      tensor->i[k] = load_integer(tensor->type, bytes, k);
    }
  }
}

static bool float_agrees(double expected, double bound, double got) {
  if (isnan(expected)) {
    return isnan(got);
  }
  if (isnan(got)) {
    return false;
  }
  if (isinf(expected)) {
    return got == expected;
  }
  if (isinf(got)) {
    return bound > 0 && (got > 0 ? expected + bound >= FLT_MAX : expected - bound <= -FLT_MAX);
  }
  return fabs(got - expected) <= bound;
}

bool leati_ref_tensor_match(const leati_ref_tensor *expected, const void *bytes, char *message, size_t message_size) {
  int64_t wrong = 0;
  for (int64_t k = 0; k < expected->count; k++) {
    char what[160];
    if (leati_ref_type_is_float(expected->type)) {
      double got = ((const float *)bytes)[k];
      if (float_agrees(expected->f[k], expected->bound[k], got)) {
        continue;
      }
      snprintf(what, sizeof what, "expected %.9g within %.3g, got %.9g", expected->f[k], expected->bound[k], got);
    } else {
      int64_t got = load_integer(expected->type, bytes, k);
      if (got == expected->i[k]) {
        continue;
      }
      snprintf(what, sizeof what, "expected %" PRId64 ", got %" PRId64, expected->i[k], got);
    }
    if (wrong++ == 0) {
      int64_t index[LEAT_MAX_RANK];
      leati_ref_unravel(expected->rank, expected->dims, k, index);
      int length = snprintf(message, message_size, "%s at [", what);
      for (int32_t d = 0; d < expected->rank && length >= 0 && (size_t)length < message_size; d++) {
        length += snprintf(message + length, message_size - (size_t)length, "%s%" PRId64, d == 0 ? "" : ",", index[d]);
      }
      if (length >= 0 && (size_t)length < message_size) {
        snprintf(message + length, message_size - (size_t)length, "]");
      }
    }
  }
  if (wrong == 0) {
    message[0] = '\0';
    return true;
  }
  size_t length = strlen(message);
  snprintf(message + length, message_size - length, " (%" PRId64 " of %" PRId64 " elements are wrong)", wrong,
           expected->count);
  return false;
}

void leati_ref_tensor_copy_element(leati_ref_tensor *to, int64_t to_at, const leati_ref_tensor *from, int64_t from_at) {
  if (leati_ref_type_is_float(to->type)) {
    to->f[to_at] = from->f[from_at];
    to->bound[to_at] = from->bound[from_at];
  } else {
    to->i[to_at] = from->i[from_at];
  }
}

void leati_ref_unravel(int32_t rank, const int64_t *dims, int64_t at, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    index[d] = at % dims[d];
    at /= dims[d];
  }
}

int64_t leati_ref_ravel(int32_t rank, const int64_t *dims, const int64_t *index) {
  int64_t at = 0;
  for (int32_t d = 0; d < rank; d++) {
    at = at * dims[d] + index[d];
  }
  return at;
}

int64_t leati_ref_broadcast_at(const leati_ref_tensor *tensor, int32_t rank, const int64_t *index) {
  int64_t at = 0;
  for (int32_t d = 0; d < tensor->rank; d++) {
    int64_t i = index[rank - tensor->rank + d];
    at = at * tensor->dims[d] + (tensor->dims[d] == 1 ? 0 : i);
  }
  return at;
}
