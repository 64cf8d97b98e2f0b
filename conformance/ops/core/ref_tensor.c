/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/ref_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  int64_t size;
  uint64_t leat;
  const char *name;
  uint8_t dlpack_code;
  bool is_float, is_unsigned;
  int fraction; /* of floats: bits behind the point */
  int exponent; /* of floats: smallest one of a normal number */
  int64_t onnx;
  int64_t low; /* of an integer type, as `high`; held as elements are */
  int64_t high;
} types[LEATI_REF_TYPE_COUNT] = {
#define ROW(type, name, size, code, ...) [LEATI_REF_##type] = {size, LEAT_TYPE_##type, name, code, __VA_ARGS__},
    LEATI_REF_TYPES(ROW)
#undef ROW
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
  return types[type].is_float;
}

bool leati_ref_type_is_unsigned(leati_ref_type type) {
  return types[type].is_unsigned;
}

bool leati_ref_type_less(leati_ref_type type, int64_t a, int64_t b) {
  return type == LEATI_REF_UINT64 ? (uint64_t)a < (uint64_t)b : a < b;
}

double leati_ref_type_ulp(leati_ref_type type) {
  return ldexp(1, -types[type].fraction);
}

double leati_ref_type_smallest(leati_ref_type type) {
  return ldexp(1, types[type].exponent);
}

double leati_ref_type_largest(leati_ref_type type) {
  /* Exponents reach as far up as down, and one further. */
  return ldexp(2 - leati_ref_type_ulp(type), 1 - types[type].exponent);
}

double leati_ref_type_round(leati_ref_type type, double value) {
  if (type == LEATI_REF_FLOAT64 || value == 0 || !isfinite(value)) {
    return value;
  }
  int exponent;
  frexp(value, &exponent);
  /* frexp() gives numbers from 0.5 to 1. */
  exponent = exponent - 1 > types[type].exponent ? exponent - 1 : types[type].exponent;
  const double rounded = ldexp(rint(ldexp(value, types[type].fraction - exponent)), exponent - types[type].fraction);
  return fabs(rounded) > leati_ref_type_largest(type) ? copysign(INFINITY, value) : rounded;
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

leati_ref_type leati_ref_type_from_leat(uint64_t bit) {
  int type = 0;
  while (type < LEATI_REF_TYPE_COUNT && types[type].leat != bit) {
    type++;
  }
  return (leati_ref_type)type;
}

uint64_t leati_ref_type_leat(leati_ref_type type) {
  return types[type].leat;
}

const char *leati_ref_type_name(leati_ref_type type) {
  return types[type].name;
}

leati_ref_type leati_ref_type_from_dlpack(DLDataType dtype) {
  int type = 0;
  while (type < LEATI_REF_TYPE_COUNT && (types[type].dlpack_code != dtype.code || types[type].size * 8 != dtype.bits)) {
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
  for (int32_t d = 0; d < rank; ++d) {
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

/* A number that a type of 16 bits has, as those bits: the sign, the exponent and the fraction. */
static uint16_t encode_16(leati_ref_type type, double value) {
  const int fraction = types[type].fraction;
  const int sign = signbit(value) ? 0x8000 : 0;
  const int infinite = 0x8000 - (1 << fraction);
  if (isnan(value)) {
    return (uint16_t)(sign | infinite | 1 << (fraction - 1));
  }
  if (isinf(value) || value == 0) {
    return (uint16_t)(sign | (value == 0 ? 0 : infinite));
  }
  int exponent;
  frexp(value, &exponent);
  exponent = exponent - 1 > types[type].exponent ? exponent - 1 : types[type].exponent;
  /* The leading 1 of a normal number adds one to the exponent's bits, which are 0 for a subnormal one. */
  const int units = (int)ldexp(fabs(value), fraction - exponent);
  return (uint16_t)(sign | (units + ((exponent - types[type].exponent) << fraction)));
}

static double decode_16(leati_ref_type type, uint16_t bits) {
  const int fraction = types[type].fraction;
  const int exponent = (bits & 0x7fff) >> fraction;
  const int units = bits & ((1 << fraction) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x7fff >> fraction) {
    return units != 0 ? NAN : sign * INFINITY;
  }
  return exponent == 0 ? sign * ldexp(units, types[type].exponent - fraction)
                       : sign * ldexp(units + (1 << fraction), exponent - 1 + types[type].exponent - fraction);
}

void leati_ref_tensor_store(const leati_ref_tensor *tensor, void *bytes) {
  for (int64_t k = 0; k < tensor->count; ++k) {
    switch (tensor->type) {
      case LEATI_REF_FLOAT32:
        ((float *)bytes)[k] = (float)tensor->f[k];
        break;
      case LEATI_REF_FLOAT16:
      case LEATI_REF_BFLOAT16:
        ((uint16_t *)bytes)[k] = encode_16(tensor->type, tensor->f[k]);
        break;
      case LEATI_REF_FLOAT64:
        ((double *)bytes)[k] = tensor->f[k];
        break;
      default:
        /* The low bytes come first. */
        memcpy((char *)bytes + k * types[tensor->type].size, &tensor->i[k], (size_t)types[tensor->type].size);
        break;
    }
  }
}

static double load_float(leati_ref_type type, const void *bytes, int64_t at) {
  switch (type) {
    case LEATI_REF_FLOAT32:
      return ((const float *)bytes)[at];
    case LEATI_REF_FLOAT64:
      return ((const double *)bytes)[at];
    default:
      return decode_16(type, ((const uint16_t *)bytes)[at]);
  }
}

static int64_t load_integer(leati_ref_type type, const void *bytes, int64_t at) {
  uint64_t value = 0;
  memcpy(&value, (const char *)bytes + at * types[type].size, (size_t)types[type].size);
  /* A boolean is compared as it stands: a byte other than 0 and 1 is no boolean. */
  return type == LEATI_REF_BOOL ? (int64_t)value : leati_ref_type_wrap(type, (int64_t)value);
}

void leati_ref_tensor_load(leati_ref_tensor *tensor, const void *bytes) {
  for (int64_t k = 0; k < tensor->count; ++k) {
    if (leati_ref_type_is_float(tensor->type)) {
      tensor->f[k] = load_float(tensor->type, bytes, k);
    } else {
      tensor->i[k] = load_integer(tensor->type, bytes, k);
    }
  }
}

static bool float_agrees(leati_ref_type type, double expected, double bound, double got) {
  if (isnan(expected)) {
    return isnan(got);
  }
  if (isnan(got)) {
    return false;
  }
  if (isinf(expected)) {
    return got == expected;
  }
  if (leati_ref_type_size(type) == 2) {
    /* A number within the bound, rounded; an infinity is what a large one is rounded to. */
    return got >= leati_ref_type_round(type, expected - bound) && got <= leati_ref_type_round(type, expected + bound);
  }
  if (isinf(got)) {
    const double largest = leati_ref_type_largest(type);
    return bound > 0 && (got > 0 ? expected + bound >= largest : expected - bound <= -largest);
  }
  return fabs(got - expected) <= bound;
}

bool leati_ref_tensor_match(const leati_ref_tensor *expected, const void *bytes, char *message, size_t message_size) {
  int64_t wrong = 0;
  for (int64_t k = 0; k < expected->count; ++k) {
    char what[160];
    if (leati_ref_type_is_float(expected->type)) {
      double got = load_float(expected->type, bytes, k);
      if (float_agrees(expected->type, expected->f[k], expected->bound[k], got)) {
        continue;
      }
      snprintf(what, sizeof(what), "expected %.9g within %.3g, got %.9g", expected->f[k], expected->bound[k], got);
    } else {
      int64_t got = load_integer(expected->type, bytes, k);
      const int64_t most = expected->i[k] + (expected->bound != NULL ? (int64_t)expected->bound[k] : 0);
      if (got >= expected->i[k] && got <= most) {
        continue;
      }
      snprintf(what, sizeof(what), "expected %" PRId64 "%s, got %" PRId64, expected->i[k],
               most > expected->i[k] ? " or one more" : "", got);
    }
    if (wrong++ == 0) {
      int64_t index[LEAT_MAX_RANK];
      leati_ref_unravel(expected->rank, expected->dims, k, index);
      int length = snprintf(message, message_size, "%s at [", what);
      for (int32_t d = 0; d < expected->rank && length >= 0 && (size_t)length < message_size; ++d) {
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
  for (int32_t d = rank - 1; d >= 0; --d) {
    index[d] = at % dims[d];
    at /= dims[d];
  }
}

int64_t leati_ref_ravel(int32_t rank, const int64_t *dims, const int64_t *index) {
  int64_t at = 0;
  for (int32_t d = 0; d < rank; ++d) {
    at = at * dims[d] + index[d];
  }
  return at;
}

int64_t leati_ref_broadcast_at(const leati_ref_tensor *tensor, int32_t rank, const int64_t *index) {
  int64_t at = 0;
  for (int32_t d = 0; d < tensor->rank; ++d) {
    int64_t i = index[rank - tensor->rank + d];
    at = at * tensor->dims[d] + (tensor->dims[d] == 1 ? 0 : i);
  }
  return at;
}
