// SPDX-License-Identifier: BSD-3-Clause
// Floats in memory by number, for kernels that compute in float32 whatever type of float TYPE they read and write. The
// buffers REALS and REALS4 hold elements and four of them, which lie at a multiple of their size; WIDEN and WIDEN4 make
// float32 of what they hold, and NARROW and NARROW4 round a result once. ELEMENT(p, i) is element i from address p on,
// QUAD(p, q) the four of quad q; FOUR(q, h) the four number h of a uvec4 of elements, and
// FOURS(a, b) a uvec4 of what REALS4 holds, of which there is no b where one fills it.
#ifndef LEAT_REALS_GLSL_
#define LEAT_REALS_GLSL_

#include "types.glsl"

vec4 leat_from4_BF16(uvec2 q) {
  return uintBitsToFloat(uvec4(q.x << 16, q.x & 0xffff0000u, q.y << 16, q.y & 0xffff0000u));
}
uvec2 leat_to4_BF16(vec4 x) {
  return uvec2(leat_to_BF16(x.x) | (leat_to_BF16(x.y) << 16), leat_to_BF16(x.z) | (leat_to_BF16(x.w) << 16));
}

#define REALS_F32 F32
#define REALS_F16 U16
#define REALS_BF16 U16
#define REALS4_F32 F32x4
#define REALS4_F16 U32x2
#define REALS4_BF16 U32x2
#define WIDEN_F32(x) x
#define WIDEN_F16(x) leat_from_F16(uint(x))
#define WIDEN_BF16(x) leat_from_BF16(uint(x))
#define WIDEN4_F32(x) x
#define WIDEN4_F16(x) leat_from4_F16(x)
#define WIDEN4_BF16(x) leat_from4_BF16(x)
#define FOUR_F32(q, h) uintBitsToFloat(q)
#define FOUR_F16(q, h) leat_from4_F16((h) == 0 ? (q).xy : (q).zw)
#define FOUR_BF16(q, h) leat_from4_BF16((h) == 0 ? (q).xy : (q).zw)
#define FOURS_F32(a, b) floatBitsToUint(a)
#define FOURS_F16(a, b) uvec4(a, b)
#define FOURS_BF16(a, b) uvec4(a, b)
#define NARROW_F32(x) x
#define NARROW_F16(x) uint16_t(leat_to_F16(x))
#define NARROW_BF16(x) uint16_t(leat_to_BF16(x))
#define NARROW4_F32(x) x
#define NARROW4_F16(x) leat_to4_F16(x)
#define NARROW4_BF16(x) leat_to4_BF16(x)

#define ELEMENT_SIZE LEAT_JOIN(SIZE_, TYPE)
#define REALS LEAT_JOIN(REALS_, TYPE)
#define REALS4 LEAT_JOIN(REALS4_, TYPE)
#define WIDEN LEAT_JOIN(WIDEN_, TYPE)
#define WIDEN4 LEAT_JOIN(WIDEN4_, TYPE)
#define FOUR LEAT_JOIN(FOUR_, TYPE)
#define FOURS LEAT_JOIN(FOURS_, TYPE)
#define NARROW LEAT_JOIN(NARROW_, TYPE)
#define NARROW4 LEAT_JOIN(NARROW4_, TYPE)
#define ELEMENT(p, i) WIDEN(REALS(p).v[i])
#define QUAD(p, q) WIDEN4(REALS4(p).v[q])

#endif
