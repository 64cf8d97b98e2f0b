#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The least work that can be checked: each invocation adds one to its number.
#extension GL_EXT_buffer_reference : require

layout(local_size_x = 64) in;

layout(buffer_reference, std430) buffer Numbers {
  uint value[];
};

layout(push_constant) uniform Args {
  Numbers numbers;
} args;

void main() {
  args.numbers.value[gl_GlobalInvocationID.x] += 1u;
}
