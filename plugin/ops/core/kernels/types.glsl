// SPDX-License-Identifier: BSD-3-Clause
// Element types by name, for kernels that are compiled once per type: T_<name> is the type to compute in, STORED_<name>
// what the buffer of that name holds (STORED4_<name> four of them, where quads are stored), SIZE_<name> the bytes of an
// element, load_<name> and store_<name> move one element, load4_<name> and store4_<name> four that lie side by side at
// an address that is a multiple of their size (of 16 where that is more). LOWEST_<name> and HIGHEST_<name> are what is
// below and above all numbers of a type that kernels compute in.
#ifndef LEAT_TYPES_GLSL_
#define LEAT_TYPES_GLSL_

#include "leat.glsl"

#define LEAT_JOIN_(a, b) a##b
#define LEAT_JOIN(a, b) LEAT_JOIN_(a, b)

layout(buffer_reference, std430, buffer_reference_align = 16) buffer U32x4 { uvec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer U32x2 { uvec2 v[]; };
#if defined(DOUBLE)
// A kernel that names the type needs a feature that not every device has.
layout(buffer_reference, std430, buffer_reference_align = 8) buffer F64 { double v[]; };
#endif

#define T_F32 float
#define T_F16 float
#define T_BF16 float
#define T_F64 double
#define T_I32 int
#define T_U32 uint
#define T_I64 int64_t
#define T_U64 uint64_t
#define T_I16 int
#define T_U16 uint
#define T_I8 int
#define T_U8 uint
#define T_BOOL bool

#define STORED_F32 float
#define STORED_F16 uint16_t
#define STORED_BF16 uint16_t
#define STORED_I32 int
#define STORED_U32 uint
#define STORED_I64 int64_t
#define STORED_U64 uint64_t
#define STORED_I16 int16_t
#define STORED_U16 uint16_t
#define STORED_I8 int8_t
#define STORED_U8 uint8_t

#define STORED4_F32 vec4
#define STORED4_F16 uvec2
#define STORED4_BF16 uvec2

// What the buffer of TYPE holds, for a kernel that reads and writes one type.
#define STORED LEAT_JOIN(STORED_, TYPE)
#define STORED4 LEAT_JOIN(STORED4_, TYPE)

#define LOWEST_F32 -uintBitsToFloat(0x7f800000u)
#define HIGHEST_F32 uintBitsToFloat(0x7f800000u)
#define LOWEST_I32 0x80000000
#define HIGHEST_I32 0x7fffffff
#define LOWEST_U32 0u
#define HIGHEST_U32 0xffffffffu
#define LOWEST_I64 0x8000000000000000L
#define HIGHEST_I64 0x7fffffffffffffffL
#define LOWEST_U64 0UL
#define HIGHEST_U64 0xffffffffffffffffUL

#define SIZE_F32 4u
#define SIZE_F16 2u
#define SIZE_BF16 2u
#define SIZE_F64 8u
#define SIZE_I32 4u
#define SIZE_U32 4u
#define SIZE_I64 8u
#define SIZE_U64 8u
#define SIZE_I16 2u
#define SIZE_U16 2u
#define SIZE_I8 1u
#define SIZE_U8 1u
#define SIZE_BOOL 1u

// 1: the device converts float16 as IEEE 754 says, because the module asks for it (leati_kernel_module()).
layout(constant_id = LEAT_HALVES_ID) const uint LEAT_HALVES = 0;

// A float of 16 bits is computed with as float32. Its conversions keep subnormal numbers, and round to the nearest and
// of two to the even one, on every device: where its own do not, they are integer arithmetic without branches, which
// needs no feature.
float leat_widened_F16(uint h) {
  // As a float32 with the exponent of a float16; a subnormal one has the leading 1 that it lacks subtracted again.
  uint magnitude = ((h & 0x7fffu) << 13) + 0x38000000u;
  float x = magnitude >= 0x47800000u  ? uintBitsToFloat(magnitude + 0x38000000u)
            : magnitude < 0x38800000u ? uintBitsToFloat(magnitude + 0x00800000u) - uintBitsToFloat(0x38800000u)
                                      : uintBitsToFloat(magnitude);
  return uintBitsToFloat(floatBitsToUint(x) | ((h & 0x8000u) << 16));
}
float leat_from_F16(uint h) { return LEAT_HALVES != 0 ? unpackHalf2x16(h).x : leat_widened_F16(h); }
float leat_from_BF16(uint h) { return uintBitsToFloat(h << 16); }

uint leat_to_F16(float x) {
  if (LEAT_HALVES != 0) {
    return packHalf2x16(vec2(x, 0.0));
  }
  uint bits = floatBitsToUint(x);
  uint magnitude = bits & 0x7fffffffu;
  // Below the smallest normal float16 the leading 1 is written out, and more bits are dropped; of no more than 25 all.
  bool subnormal = magnitude < 0x38800000u;
  uint drop = subnormal ? min(126u - (magnitude >> 23), 25u) : 13u;
  uint units = subnormal ? (magnitude & 0x007fffffu) | 0x00800000u : magnitude - 0x38000000u;
  uint rounded = (units + (1u << (drop - 1u)) - 1u + ((units >> drop) & 1u)) >> drop;
  return ((bits >> 16) & 0x8000u) | (magnitude > 0x7f800000u ? 0x7e00u : min(rounded, 0x7c00u));
}
uint leat_to_BF16(float x) {
  uint bits = floatBitsToUint(x);
  return (bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

vec4 leat_from4_F16(uvec2 q) {
  if (LEAT_HALVES != 0) {
    return vec4(unpackHalf2x16(q.x), unpackHalf2x16(q.y));
  }
  return vec4(leat_from_F16(q.x & 0xffffu), leat_from_F16(q.x >> 16), leat_from_F16(q.y & 0xffffu),
              leat_from_F16(q.y >> 16));
}
uvec2 leat_to4_F16(vec4 x) {
  if (LEAT_HALVES != 0) {
    return uvec2(packHalf2x16(x.xy), packHalf2x16(x.zw));
  }
  return uvec2(leat_to_F16(x.x) | (leat_to_F16(x.y) << 16), leat_to_F16(x.z) | (leat_to_F16(x.w) << 16));
}

// A result as TYPE holds it: what a kernel that goes on computing with one has to round it to. A compiler may take a
// float16 that is unpacked from what was just packed for the same number, so one of the two is integer arithmetic.
float leat_round_F32(float x) { return x; }
float leat_round_F16(float x) { return leat_widened_F16(leat_to_F16(x)); }
float leat_round_BF16(float x) { return leat_from_BF16(leat_to_BF16(x)); }

float load_F32(uint64_t p) { return F32(p).v[0]; }
float load_F16(uint64_t p) { return leat_from_F16(uint(U16(p).v[0])); }
float load_BF16(uint64_t p) { return leat_from_BF16(uint(U16(p).v[0])); }
#if defined(DOUBLE)
double load_F64(uint64_t p) { return F64(p).v[0]; }
void store_F64(uint64_t p, double x) { F64(p).v[0] = x; }
#endif
int load_I32(uint64_t p) { return I32(p).v[0]; }
uint load_U32(uint64_t p) { return U32(p).v[0]; }
int64_t load_I64(uint64_t p) { return I64(p).v[0]; }
uint64_t load_U64(uint64_t p) { return U64(p).v[0]; }
int load_I16(uint64_t p) { return int(I16(p).v[0]); }
uint load_U16(uint64_t p) { return uint(U16(p).v[0]); }
int load_I8(uint64_t p) { return int(I8(p).v[0]); }
uint load_U8(uint64_t p) { return uint(U8(p).v[0]); }
bool load_BOOL(uint64_t p) { return uint(U8(p).v[0]) != 0u; }

void store_F32(uint64_t p, float x) { F32(p).v[0] = x; }
void store_F16(uint64_t p, float x) { U16(p).v[0] = uint16_t(leat_to_F16(x)); }
void store_BF16(uint64_t p, float x) { U16(p).v[0] = uint16_t(leat_to_BF16(x)); }
void store_I32(uint64_t p, int x) { I32(p).v[0] = x; }
void store_U32(uint64_t p, uint x) { U32(p).v[0] = x; }
void store_I64(uint64_t p, int64_t x) { I64(p).v[0] = x; }
void store_U64(uint64_t p, uint64_t x) { U64(p).v[0] = x; }
void store_I16(uint64_t p, int x) { I16(p).v[0] = int16_t(x); }
void store_U16(uint64_t p, uint x) { U16(p).v[0] = uint16_t(x); }
void store_I8(uint64_t p, int x) { I8(p).v[0] = int8_t(x); }
void store_U8(uint64_t p, uint x) { U8(p).v[0] = uint8_t(x); }
void store_BOOL(uint64_t p, bool x) { U8(p).v[0] = uint8_t(x ? 1u : 0u); }

void load4_F32(uint64_t p, out float x[4]) {
  vec4 q = F32x4(p).v[0];
  x = float[4](q.x, q.y, q.z, q.w);
}
void load4_U32(uint64_t p, out uint x[4]) {
  uvec4 q = U32x4(p).v[0];
  x = uint[4](q.x, q.y, q.z, q.w);
}
void load4_I32(uint64_t p, out int x[4]) {
  ivec4 q = ivec4(U32x4(p).v[0]);
  x = int[4](q.x, q.y, q.z, q.w);
}
void load4_U64(uint64_t p, out uint64_t x[4]) {
  for (uint i = 0u; i < 4u; ++i) x[i] = U64(p).v[i];
}
void load4_I64(uint64_t p, out int64_t x[4]) {
  for (uint i = 0u; i < 4u; ++i) x[i] = I64(p).v[i];
}
void load4_U16(uint64_t p, out uint x[4]) {
  uvec2 q = U32x2(p).v[0];
  x = uint[4](q.x & 0xffffu, q.x >> 16, q.y & 0xffffu, q.y >> 16);
}
void load4_F16(uint64_t p, out float x[4]) {
  vec4 q = leat_from4_F16(U32x2(p).v[0]);
  x = float[4](q.x, q.y, q.z, q.w);
}
void load4_BF16(uint64_t p, out float x[4]) {
  uint q[4];
  load4_U16(p, q);
  for (uint i = 0u; i < 4u; ++i) x[i] = leat_from_BF16(q[i]);
}
void load4_I16(uint64_t p, out int x[4]) {
  ivec2 q = ivec2(U32x2(p).v[0]);
  x = int[4]((q.x << 16) >> 16, q.x >> 16, (q.y << 16) >> 16, q.y >> 16);
}
void load4_U8(uint64_t p, out uint x[4]) {
  uint q = U32(p).v[0];
  x = uint[4](q & 0xffu, (q >> 8) & 0xffu, (q >> 16) & 0xffu, q >> 24);
}
void load4_I8(uint64_t p, out int x[4]) {
  int q = I32(p).v[0];
  x = int[4]((q << 24) >> 24, (q << 16) >> 24, (q << 8) >> 24, q >> 24);
}
void load4_BOOL(uint64_t p, out bool x[4]) {
  uint q = U32(p).v[0];
  x = bool[4]((q & 0xffu) != 0u, (q & 0xff00u) != 0u, (q & 0xff0000u) != 0u, (q & 0xff000000u) != 0u);
}

void store4_F32(uint64_t p, float x[4]) { F32x4(p).v[0] = vec4(x[0], x[1], x[2], x[3]); }
void store4_U32(uint64_t p, uint x[4]) { U32x4(p).v[0] = uvec4(x[0], x[1], x[2], x[3]); }
void store4_I32(uint64_t p, int x[4]) { U32x4(p).v[0] = uvec4(x[0], x[1], x[2], x[3]); }
void store4_U64(uint64_t p, uint64_t x[4]) {
  for (uint i = 0u; i < 4u; ++i) U64(p).v[i] = x[i];
}
void store4_I64(uint64_t p, int64_t x[4]) {
  for (uint i = 0u; i < 4u; ++i) I64(p).v[i] = x[i];
}
void store4_U16(uint64_t p, uint x[4]) {
  U32x2(p).v[0] = uvec2((x[0] & 0xffffu) | (x[1] << 16), (x[2] & 0xffffu) | (x[3] << 16));
}
void store4_F16(uint64_t p, float x[4]) { U32x2(p).v[0] = leat_to4_F16(vec4(x[0], x[1], x[2], x[3])); }
void store4_BF16(uint64_t p, float x[4]) {
  store4_U16(p, uint[4](leat_to_BF16(x[0]), leat_to_BF16(x[1]), leat_to_BF16(x[2]), leat_to_BF16(x[3])));
}
void store4_I16(uint64_t p, int x[4]) { store4_U16(p, uint[4](uint(x[0]), uint(x[1]), uint(x[2]), uint(x[3]))); }
void store4_U8(uint64_t p, uint x[4]) {
  U32(p).v[0] = (x[0] & 0xffu) | ((x[1] & 0xffu) << 8) | ((x[2] & 0xffu) << 16) | (x[3] << 24);
}
void store4_I8(uint64_t p, int x[4]) { store4_U8(p, uint[4](uint(x[0]), uint(x[1]), uint(x[2]), uint(x[3]))); }
void store4_BOOL(uint64_t p, bool x[4]) {
  U32(p).v[0] = (x[0] ? 1u : 0u) | (x[1] ? 0x100u : 0u) | (x[2] ? 0x10000u : 0u) | (x[3] ? 0x1000000u : 0u);
}

#endif
