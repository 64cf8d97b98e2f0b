/* SPDX-License-Identifier: BSD-3-Clause */
#include "element.h"

#include <math.h>
#include <string.h>

typedef struct element_facts {
  const char *name;
  size_t size;
  int64_t low;  /* unused for floating-point types, as is high */
  int64_t high; /* both ends included */
  int digits;   /* significant bits of a floating-point type, hidden one included; 0 for the others */
} element_facts;

static const element_facts kFacts[] = {
    [LEATI_FLOAT32] = {"float32", 4, 0, 0, 24},
    [LEATI_FLOAT64] = {"float64", 8, 0, 0, 53},
    [LEATI_FLOAT16] = {"float16", 2, 0, 0, 11},
    [LEATI_BFLOAT16] = {"bfloat16", 2, 0, 0, 8},
    [LEATI_INT8] = {"int8", 1, INT8_MIN, INT8_MAX, 0},
    [LEATI_INT16] = {"int16", 2, INT16_MIN, INT16_MAX, 0},
    [LEATI_INT32] = {"int32", 4, INT32_MIN, INT32_MAX, 0},
    [LEATI_INT64] = {"int64", 8, INT64_MIN, INT64_MAX, 0},
    [LEATI_UINT8] = {"uint8", 1, 0, UINT8_MAX, 0},
    [LEATI_UINT16] = {"uint16", 2, 0, UINT16_MAX, 0},
    [LEATI_UINT32] = {"uint32", 4, 0, UINT32_MAX, 0},
    [LEATI_UINT64] = {"uint64", 8, 0, INT64_MAX, 0},
    [LEATI_BOOL] = {"bool", 1, 0, 1, 0},
};

const char *leati_element_name(leati_element element) {
  return kFacts[element].name;
}

size_t leati_element_size(leati_element element) {
  return kFacts[element].size;
}

gboolean leati_element_is_float(leati_element element) {
  return kFacts[element].digits != 0;
}

double leati_element_unit(leati_element element) {
  return ldexp(1.0, -kFacts[element].digits);
}

void leati_element_limits(leati_element element, int64_t *low, int64_t *high) {
  *low = kFacts[element].low;
  *high = kFacts[element].high;
}

static double read_float16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = ldexp(fraction, -24);
  } else {
    magnitude = ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

static uint16_t write_float16(double value) {
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  const double magnitude = fabs(value);
  if (isnan(value)) {
    return (uint16_t)(sign | 0x7e00);
  }
  /* 65520 lies halfway between the largest finite number and the next, which nearest-even takes to infinity. */
  if (magnitude >= 65520.0) {
    return (uint16_t)(sign | 0x7c00);
  }
  int exponent = 0;
  (void)frexp(magnitude, &exponent);
  /* The spacing of representable numbers: 2^-24 below the smallest normal number, 2^-10 of the leading bit above it. */
  const int spacing = magnitude == 0.0 || exponent < -13 ? -24 : exponent - 11;
  const long steps = lrint(ldexp(magnitude, -spacing));
  /* Steps of 1024 to 2048 carry the hidden bit, which lands in the exponent field by plain addition, carries included.
   */
  const long field = spacing == -24 ? steps : ((long)(spacing + 24) << 10) + steps;
  return (uint16_t)(sign | field);
}

static double read_bfloat16(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return (double)value;
}

static uint16_t write_bfloat16(double value) {
  const float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof(bits));
  if (isnan(narrow)) {
    return (uint16_t)((bits >> 16) | 0x40);
  }
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* Copies one element into a variable of its own type, since data from files need not be aligned. */
#define READ_AS(type, data, index)                                                        \
  do {                                                                                    \
    type value;                                                                           \
    memcpy(&value, (const unsigned char *)(data) + (index) * sizeof(type), sizeof(type)); \
    return (double)value;                                                                 \
  } while (0)

double leati_element_read(leati_element element, const void *data, size_t index) {
  uint16_t bits;
  switch (element) {
    case LEATI_FLOAT32:
      READ_AS(float, data, index);
    case LEATI_FLOAT64:
      READ_AS(double, data, index);
    case LEATI_FLOAT16:
      memcpy(&bits, (const unsigned char *)data + index * 2, sizeof(bits));
      return read_float16(bits);
    case LEATI_BFLOAT16:
      memcpy(&bits, (const unsigned char *)data + index * 2, sizeof(bits));
      return read_bfloat16(bits);
    case LEATI_INT8:
      READ_AS(int8_t, data, index);
    case LEATI_INT16:
      READ_AS(int16_t, data, index);
    case LEATI_INT32:
      READ_AS(int32_t, data, index);
    case LEATI_INT64:
      READ_AS(int64_t, data, index);
    case LEATI_UINT8:
    case LEATI_BOOL:
      READ_AS(uint8_t, data, index);
    case LEATI_UINT16:
      READ_AS(uint16_t, data, index);
    case LEATI_UINT32:
      READ_AS(uint32_t, data, index);
    case LEATI_UINT64:
      READ_AS(uint64_t, data, index);
  }
  return NAN;
}

void leati_element_write_float(leati_element element, void *data, size_t index, double value) {
  unsigned char *at = (unsigned char *)data + index * kFacts[element].size;
  if (element == LEATI_FLOAT32) {
    const float narrow = (float)value;
    memcpy(at, &narrow, sizeof(narrow));
  } else if (element == LEATI_FLOAT64) {
    memcpy(at, &value, sizeof(value));
  } else {
    const uint16_t bits = element == LEATI_FLOAT16 ? write_float16(value) : write_bfloat16(value);
    memcpy(at, &bits, sizeof(bits));
  }
}

void leati_element_step(leati_element element, void *data, size_t index, int64_t ulps) {
  const size_t size = kFacts[element].size;
  unsigned char *at = (unsigned char *)data + index * size;
  const double before = leati_element_read(element, data, index);
  uint16_t half;
  uint32_t word;
  uint64_t wide;
  if (before == 0.0 || !isfinite(before)) {
    return;
  }
  /* Numbers of one sign are ordered as their bits are. */
  unsigned char old[sizeof(wide)];
  memcpy(old, at, size);
  if (size == sizeof(half)) {
    memcpy(&half, at, size);
    half = (uint16_t)(half + ulps);
    memcpy(at, &half, size);
  } else if (size == sizeof(word)) {
    memcpy(&word, at, size);
    word = (uint32_t)(word + ulps);
    memcpy(at, &word, size);
  } else {
    memcpy(&wide, at, size);
    wide += (uint64_t)ulps;
    memcpy(at, &wide, size);
  }
  const double after = leati_element_read(element, data, index);
  if (!isfinite(after) || after == 0.0 || (before < 0.0) != (after < 0.0)) {
    memcpy(at, old, size);
  }
}

void leati_element_write_int(leati_element element, void *data, size_t index, int64_t value) {
  unsigned char *at = (unsigned char *)data + index * kFacts[element].size;
  /* Two's complement: the low bytes of the 64-bit number are the narrower number, signed or not. */
  const uint64_t wide = (uint64_t)value;
  const uint8_t byte = (uint8_t)wide;
  const uint16_t half = (uint16_t)wide;
  const uint32_t word = (uint32_t)wide;
  switch (kFacts[element].size) {
    case 1:
      memcpy(at, &byte, sizeof(byte));
      break;
    case 2:
      memcpy(at, &half, sizeof(half));
      break;
    case 4:
      memcpy(at, &word, sizeof(word));
      break;
    default:
      memcpy(at, &wide, sizeof(wide));
      break;
  }
}
