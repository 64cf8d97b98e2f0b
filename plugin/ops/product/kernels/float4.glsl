// SPDX-License-Identifier: BSD-3-Clause
// Numbers of 4 bits that stand for floats of a table, as the library bitsandbytes has them: FP4, with a sign, two bits
// of an exponent and one of a fraction, of which the largest is 1; and NF4, the means of 16 equally likely parts of a
// normal distribution, from -1 to 1, with 0 among them (Dettmers and others, "QLoRA: Efficient Finetuning of Quantized
// LLMs", appendix E).
#ifndef LEAT_FLOAT4_GLSL_
#define LEAT_FLOAT4_GLSL_

const float FLOAT4_FP4[8] = {0, 5.208333333e-3, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25};
const float FLOAT4_NF4[16] = {-1,
                              -0.6961928009986877,
                              -0.5250730514526367,
                              -0.39491748809814453,
                              -0.28444138169288635,
                              -0.18477343022823334,
                              -0.09105003625154495,
                              0,
                              0.07958029955625534,
                              0.16093020141124725,
                              0.24611230194568634,
                              0.33791524171829224,
                              0.44070982933044434,
                              0.5626170039176941,
                              0.7229568362236023,
                              1};

// The float of a number in the lowest 4 bits, with `normal` of NF4.
float float4_of(bool normal, uint number) {
  if (normal) {
    return FLOAT4_NF4[number & 15u];
  }
  const float size = FLOAT4_FP4[number & 7u];
  return (number & 8u) != 0 ? -size : size;
}
vec4 float4_of(bool normal, uvec4 numbers) {
  return vec4(float4_of(normal, numbers.x), float4_of(normal, numbers.y), float4_of(normal, numbers.z),
              float4_of(normal, numbers.w));
}

#endif
