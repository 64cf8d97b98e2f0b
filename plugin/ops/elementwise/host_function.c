/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise/host_function.h"

#include <math.h>

#include "ops/core/host_kernel.h"
#include "ops/elementwise/kernels/elementwise_codes.glsl"

/* The most negative number by -1 is itself, and what is divided by 0 is 0. */
static int64_t quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* With the sign of the dividend. */
static int64_t remainder_of(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

/* With the sign of the divisor. */
static int64_t modulus(int64_t a, int64_t b) {
  const int64_t rest = remainder_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Sums and products wrap. */
static int64_t whole(uint32_t operation, int64_t x, int64_t y) {
  switch (operation) {
#define HOST_WHOLE(code, value) \
  case LEAT_EW_##code:          \
    return value;
#include "ops/elementwise/functions.inc"
    case LEAT_EW_ADD:
      return (int64_t)((uint64_t)x + (uint64_t)y);
    case LEAT_EW_SUB:
      return (int64_t)((uint64_t)x - (uint64_t)y);
    case LEAT_EW_MUL:
      return (int64_t)((uint64_t)x * (uint64_t)y);
    case LEAT_EW_DIV:
      return quotient(x, y);
    case LEAT_EW_MOD:
      return modulus(x, y);
    case LEAT_EW_FMOD:
      return remainder_of(x, y);
    case LEAT_EW_MIN:
      return x < y ? x : y;
    case LEAT_EW_MAX:
      return x > y ? x : y;
    case LEAT_EW_EQUAL:
      return x == y;
    case LEAT_EW_LESS:
      return x < y;
    case LEAT_EW_GREATER:
      return x > y;
    case LEAT_EW_LESS_OR_EQUAL:
      return x <= y;
    case LEAT_EW_GREATER_OR_EQUAL:
      return x >= y;
    case LEAT_EW_AND:
      return x != 0 && y != 0;
    default: /* LEAT_EW_OR */
      return x != 0 || y != 0;
  }
}

/* -0 is less than 0. */
static float real(uint32_t operation, float x, float y) {
  switch (operation) {
#define HOST_REAL(code, value) \
  case LEAT_EW_##code:         \
    return value;
#include "ops/elementwise/functions.inc"
    case LEAT_EW_ADD:
      return x + y;
    case LEAT_EW_SUB:
      return x - y;
    case LEAT_EW_MUL:
      return x * y;
    case LEAT_EW_DIV:
      return x / y;
    case LEAT_EW_MIN:
      return isnan(x) || x < y || (x == y && signbit(x)) ? x : y;
    default: /* LEAT_EW_MAX */
      return isnan(x) || x > y || (x == y && !signbit(x)) ? x : y;
  }
}

static bool compare(uint32_t operation, float a, float b) {
  switch (operation) {
    case LEAT_EW_EQUAL:
      return a == b;
    case LEAT_EW_LESS:
      return a < b;
    case LEAT_EW_GREATER:
      return a > b;
    case LEAT_EW_LESS_OR_EQUAL:
      return a <= b;
    default: /* LEAT_EW_GREATER_OR_EQUAL */
      return a >= b;
  }
}

/* Computes element `i` of the result from those of the operands. */
static void compute(uint32_t operation, const leati_view *first, uint64_t a, const leati_view *second, uint64_t b,
                    const leati_view *out, uint64_t i) {
  if (first->type != LEAT_TYPE_FLOAT32) {
    leati_host_put(out, i, whole(operation, leati_host_get(first, a), leati_host_get(second, b)));
    return;
  }
  const float x = ((const float *)first->data)[a], y = ((const float *)second->data)[b];
  if (out->type == LEAT_TYPE_FLOAT32) {
    ((float *)out->data)[i] = real(operation, x, y);
  } else {
    leati_host_put(out, i, compare(operation, x, y));
  }
}

/* The result may be the first operand. */
static void apply(uint32_t operation, const leati_view *first, const leati_view *second, const leati_view *out) {
  if (out->count == 1) { /* as most sizes are */
    compute(operation, first, 0, second, 0, out, 0);
    return;
  }
  leati_host_walk walk;
  leati_host_walk_begin(&walk, out, 2);
  leati_host_walk_broadcast(&walk, 0, first);
  leati_host_walk_broadcast(&walk, 1, second);
  for (uint64_t i = 0; i < out->count; ++i) {
    compute(operation, first, (uint64_t)walk.at[0], second, (uint64_t)walk.at[1], out, i);
    leati_host_walk_next(&walk);
  }
}

void leati_evaluate_function(uint32_t operation, const leati_call *call) {
  const leati_view *const out = &call->outputs[0];
  if (operation < LEAT_EW_ADD) {
    apply(operation, &call->inputs[0], &call->inputs[0], out);
  } else if (call->input_count == 1) {
    memcpy(out->data, call->inputs[0].data, out->count * out->item_size);
  } else {
    apply(operation, &call->inputs[0], &call->inputs[1], out);
  }
  for (uint32_t i = 2; i < call->input_count; ++i) {
    apply(operation, out, &call->inputs[i], out);
  }
}
