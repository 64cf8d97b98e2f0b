// SPDX-License-Identifier: BSD-3-Clause
// Elements whose type is a specialisation constant: Cast, and the exponent of Pow.
#ifndef LEAT_ANY_GLSL_
#define LEAT_ANY_GLSL_

#include "core/kernels/types.glsl"
#include "elementwise_codes.glsl"

// A number of any type. Integers are in `i` (uint64 by its bits); `f` holds what the type's conversion to float gives.
struct Any {
  float f;
  int64_t i;
};

uint any_size(uint type) {
  switch (type) {
    case LEAT_ANY_BOOL:
    case LEAT_ANY_I8:
    case LEAT_ANY_U8:
      return 1u;
    case LEAT_ANY_F16:
    case LEAT_ANY_BF16:
    case LEAT_ANY_I16:
    case LEAT_ANY_U16:
      return 2u;
    case LEAT_ANY_I64:
    case LEAT_ANY_U64:
      return 8u;
    default:
      return 4u;
  }
}

bool any_is_float(uint type) { return type <= LEAT_ANY_BF16; }

// What an integer type holds, as far as int64 holds that.
int64_t any_lowest(uint type) {
  switch (type) {
    case LEAT_ANY_I8:
      return int64_t(-128);
    case LEAT_ANY_I16:
      return int64_t(-32768);
    case LEAT_ANY_I32:
      return int64_t(-2147483648L);
    case LEAT_ANY_I64:
      return int64_t(0x8000000000000000L);
    default:
      return int64_t(0);
  }
}
int64_t any_highest(uint type) {
  switch (type) {
    case LEAT_ANY_I8:
      return int64_t(127);
    case LEAT_ANY_U8:
      return int64_t(255);
    case LEAT_ANY_I16:
      return int64_t(32767);
    case LEAT_ANY_U16:
      return int64_t(65535);
    case LEAT_ANY_I32:
      return int64_t(2147483647L);
    case LEAT_ANY_U32:
      return int64_t(4294967295L);
    default:
      return int64_t(0x7fffffffffffffffL);
  }
}

// float to an integer type (uint64 by its bits): towards zero. The specification leaves open what does not fit, and
// devices differ; here it is the nearest number that the type holds, and NaN is 0.
int64_t any_truncate(float f, uint type) {
  if ((floatBitsToUint(f) & 0x7fffffffu) > 0x7f800000u) return int64_t(0);
  if (type == LEAT_ANY_U64 && f >= 9.2233720e18) {
    return f >= 1.8446744e19 ? int64_t(-1) : int64_t(uint64_t(f));
  }
  if (f >= 9.2233720e18) return any_highest(type);
  if (f <= -9.2233720e18) return any_lowest(type);
  return clamp(int64_t(f), any_lowest(type), any_highest(type));
}

Any any_load(uint type, uint64_t p) {
  Any x;
  x.f = 0.0;
  x.i = int64_t(0);
  switch (type) {
    case LEAT_ANY_F32:
      x.f = F32(p).v[0];
      break;
    case LEAT_ANY_F16:
      x.f = load_F16(p);
      break;
    case LEAT_ANY_BF16:
      x.f = load_BF16(p);
      break;
    case LEAT_ANY_I8:
      x.i = int64_t(load_I8(p));
      break;
    case LEAT_ANY_I16:
      x.i = int64_t(load_I16(p));
      break;
    case LEAT_ANY_I32:
      x.i = int64_t(load_I32(p));
      break;
    case LEAT_ANY_I64:
    case LEAT_ANY_U64:
      x.i = load_I64(p);
      break;
    case LEAT_ANY_U8:
      x.i = int64_t(load_U8(p));
      break;
    case LEAT_ANY_U16:
      x.i = int64_t(load_U16(p));
      break;
    case LEAT_ANY_U32:
      x.i = int64_t(load_U32(p));
      break;
    default:
      x.i = load_BOOL(p) ? int64_t(1) : int64_t(0);
      break;
  }
  if (!any_is_float(type)) x.f = type == LEAT_ANY_U64 ? float(uint64_t(x.i)) : float(x.i);
  return x;
}

void any_store(uint type, uint from, uint64_t p, Any x) {
  bool is_float = any_is_float(from);
  // Of an integer that does not fit, the low bits are taken.
  int64_t i = is_float ? any_truncate(x.f, type) : x.i;
  switch (type) {
    case LEAT_ANY_F32:
      F32(p).v[0] = x.f;
      break;
    case LEAT_ANY_F16:
      store_F16(p, x.f);
      break;
    case LEAT_ANY_BF16:
      store_BF16(p, x.f);
      break;
    case LEAT_ANY_I8:
    case LEAT_ANY_U8:
      store_U8(p, uint(i));
      break;
    case LEAT_ANY_I16:
    case LEAT_ANY_U16:
      store_U16(p, uint(i));
      break;
    case LEAT_ANY_I32:
    case LEAT_ANY_U32:
      store_U32(p, uint(i));
      break;
    case LEAT_ANY_I64:
    case LEAT_ANY_U64:
      store_I64(p, i);
      break;
    default:
      store_BOOL(p, is_float ? (floatBitsToUint(x.f) & 0x7fffffffu) != 0u : x.i != int64_t(0));
      break;
  }
}

#endif
