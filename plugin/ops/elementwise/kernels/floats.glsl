// SPDX-License-Identifier: BSD-3-Clause
// A float of a type that the arguments say.
#ifndef LEAT_FLOATS_GLSL_
#define LEAT_FLOATS_GLSL_

#include "elementwise_codes.glsl"
#include "core/kernels/reals.glsl"

// Element i from address p on, of a LEAT_ANY_...
float load_float(uint type, uint64_t p, uint i) {
  return type == LEAT_ANY_F32   ? F32(p).v[i]
         : type == LEAT_ANY_F16 ? leat_from_F16(uint(U16(p).v[i]))
                                : leat_from_BF16(uint(U16(p).v[i]));
}

#endif
