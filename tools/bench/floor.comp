#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The least work that can be checked: each invocation adds one to its number. With rounds, it does arithmetic in
// registers before, and there may be more invocations than numbers.
#extension GL_EXT_buffer_reference : require

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint rounds = 0;
layout(constant_id = 1) const uint numbers_count = 0;

layout(buffer_reference, std430) buffer Numbers {
  uint value[];
};

layout(push_constant) uniform Args {
  Numbers numbers;
} args;

// 8 chains of 16 fused multiplications and additions a round; all come near 2, which no compiler can know.
float arithmetic() {
  vec4 a = vec4(0.0, 0.25, 0.5, 0.75), b = a + float(gl_LocalInvocationID.x);
  const vec4 factor = vec4(0.5 + 1e-9 * float(gl_WorkGroupID.x));
  for (uint i = 0; i < rounds; ++i) {
    for (uint k = 0; k < 16; ++k) {
      a = fma(a, factor, vec4(1.0));
      b = fma(b, factor, vec4(1.0));
    }
  }
  return dot(a + b, vec4(1.0));
}

void main() {
  if (rounds > 0 && (arithmetic() > 1e9 || gl_GlobalInvocationID.x >= numbers_count)) {
    return;
  }
  args.numbers.value[gl_GlobalInvocationID.x] += 1u;
}
