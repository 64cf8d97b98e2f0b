#version 460
// SPDX-License-Identifier: BSD-3-Clause
// A gamma distributed number for each element; where LOGARITHM is defined its logarithm, as float32; where BETA is
// defined a beta distributed one for each two.
#extension GL_GOOGLE_include_directive : require
#include "gamma.glsl"

layout(local_size_x = 256) in;

struct Args {
  uint64_t dst;
  uint64_t a;
  uint64_t b;
  Random random;
  uint count;
};
LEAT_ARGS

void main() {
  uint e = leat_linear_group() * 256u + gl_LocalInvocationIndex;
  if (e >= args.count) return;
  uint64_t at = uint64_t(e) * LEAT_JOIN(SIZE_, TYPE);
  float a = LEAT_JOIN(load_, TYPE)(args.a + at);
#if defined(LOGARITHM)
  F32(args.dst).v[e] = random_log_gamma(args.random, e, 0u, a);
#elif defined(BETA)
  float b = LEAT_JOIN(load_, TYPE)(args.b + at);
  // a' / (a' + b'), by logarithms: both may be smaller than any float32.
  precise float apart = random_log_gamma(args.random, e, GAMMA_ATTEMPTS, b) - random_log_gamma(args.random, e, 0u, a);
  precise float sum = 1.0 + exact_exp(min(apart, 80.0));
  float y = apart > 80.0 ? exact_exp(-apart) : exact_reciprocal(sum);
  LEAT_JOIN(store_, TYPE)(args.dst + at, leat_isnan(apart) ? apart : y);
#else
  float power, exponent;
  random_gamma(args.random, e, 0u, a, power, exponent);
  precise float y = power * exact_exp(exponent);
  LEAT_JOIN(store_, TYPE)(args.dst + at, exponent == 0.0 ? power : y);
#endif
}
