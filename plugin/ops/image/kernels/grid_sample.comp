#version 460
// SPDX-License-Identifier: BSD-3-Clause
// GridSample of images and volumes. A thread has one place of the result, and a few channels that are sampled there.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

#define THREADS 256
#define CHANNELS_EACH 4 // of a thread; grid_sample.c has it too
layout(local_size_x = THREADS) in;
LEAT_CONSTANT(uint, DIMENSIONS, 2); // 2 or 3
LEAT_CONSTANT(uint, MODE, 0);
LEAT_CONSTANT(uint, PADDING, 0);
LEAT_CONSTANT(uint, GRID, 0); // type of the grid's numbers: 0 float32, 1 float16, 2 bfloat16
#define LINEAR 0
#define NEAREST 1
#define CUBIC 2
#define ZEROS 0
#define BORDER 1
#define REFLECTION 2
struct Args {
  uint64_t x, grid, y;          // grid and y are compact
  uint count;                   // threads: places of groups of channels of images
  uint channels, groups, places;
  uint aligned;                 // 1: -1 and 1 are the middles of the outer elements; 0: their outer edges
  int image_stride, channel_stride;
  int size[3], stride[3];       // of x; as the grid has its numbers, the last dimension first
  Divider per_places, per_groups;
};
LEAT_ARGS

// Elements of a line along a dimension that make up the result.
const uint TAPS = MODE == LINEAR ? 2 : MODE == NEAREST ? 1 : 4;
#define MOST_TAPS 4

float grid_number(uint i) {
  switch (GRID) {
    case 1:
      return load_F16(args.grid + uint64_t(i) * SIZE_F16);
    case 2:
      return load_BF16(args.grid + uint64_t(i) * SIZE_BF16);
    default:
      return load_F32(args.grid + uint64_t(i) * SIZE_F32);
  }
}

// Where a number of the grid lies, in elements, in the same steps as in ONNX Runtime. What is FAR away or more, or not a
// number, counts as FAR on its side, or before the first element, so that all that follows is finite. Reflection takes it
// for -1, as ONNX Runtime does.
#define FAR 9.223372036854775808e18 // 2^63
float located(float n, int size) {
  precise const float at =
      args.aligned != 0 ? (n + 1.0) * 0.5 * float(size - 1) : ((n + 1.0) * float(size) - 1.0) * 0.5;
  const uint bits = floatBitsToUint(at);
  if ((bits & 0x7fffffffu) < floatBitsToUint(FAR)) {
    return at;
  }
  return PADDING == REFLECTION ? (args.aligned != 0 ? 0.0 : -0.5) : bits <= floatBitsToUint(LEAT_INFINITY) ? FAR : -FAR;
}

// Element number `f`, which is whole, after reflection by the edges: there and back again in one period. A quotient may
// be rounded to the next whole number, or over it.
float reflected(float f, int size) {
  const float turn = args.aligned != 0 ? 0.0 : 1.0, period = 2.0 * (float(size) - 1.0 + turn);
  if (period == 0) {
    return 0;
  }
  float at = f - period * floor(f / period);
  at = at < 0.0 ? at + period : at >= period ? at - period : at;
  return min(at, period - turn - at);
}

// Where element number `f`, which is whole, lies in x along a dimension; -1: it counts as 0.
int offset_of(float f, const uint d) {
  const int size = args.size[d];
  if (PADDING == ZEROS && (f < 0.0 || f > float(size - 1))) {
    return -1;
  }
  const float inside = PADDING == REFLECTION ? reflected(f, size) : f;
  // As a float the last of very many elements may be rounded up.
  return min(int(clamp(inside, 0.0, 2147483520.0)), size - 1) * args.stride[d];
}

// Weights of cubic convolution with the parameter -0.75 (Keys 1981), which the specification names, for a place `t`
// behind the second of four elements.
float cubic_near(float t) {
  return (1.25 * t - 2.25) * t * t + 1.0;
}
float cubic_far(float t) {
  return -0.75 * t * (1.0 - t) * (1.0 - t);
}

void main() {
  const uint item = leat_linear_group() * THREADS + gl_LocalInvocationIndex;
  if (item >= args.count) {
    return;
  }
  const uint line = divide(item, args.per_places), place = item - line * args.places;
  const uint image = divide(line, args.per_groups), group = line - image * args.groups;
  int from[3][MOST_TAPS];
  float weight[3][MOST_TAPS];
  from[2][0] = 0;
  weight[2][0] = 1;
  [[unroll]] for (uint d = 0; d < DIMENSIONS; ++d) {
    const float at = located(grid_number((image * args.places + place) * DIMENSIONS + d), args.size[d]);
    const float base = MODE == NEAREST ? roundEven(at) : floor(at), t = at - base;
    [[unroll]] for (uint i = 0; i < TAPS; ++i) {
      from[d][i] = offset_of(base + (float(i) - (MODE == CUBIC ? 1.0 : 0.0)), d);
    }
    if (MODE == LINEAR) {
      weight[d][0] = 1.0 - t;
      weight[d][1] = t;
    } else if (MODE == CUBIC) {
      weight[d][0] = cubic_far(t);
      weight[d][1] = cubic_near(t);
      weight[d][2] = cubic_near(1.0 - t);
      weight[d][3] = cubic_far(1.0 - t);
    }
  }
  REALS x = REALS(args.x);
  uint channel = group * CHANNELS_EACH;
  for (uint n = 0; n < CHANNELS_EACH && channel < args.channels; ++n, ++channel) {
    const int first = int(image) * args.image_stride + int(channel) * args.channel_stride;
    float value = 0;
    [[unroll]] for (uint k = 0; k < (DIMENSIONS == 3 ? TAPS : 1); ++k) {
      float plane = 0;
      [[unroll]] for (uint j = 0; j < TAPS; ++j) {
        float row = 0;
        [[unroll]] for (uint i = 0; i < TAPS; ++i) {
          const bool any = from[0][i] >= 0 && from[1][j] >= 0 && from[2][k] >= 0;
          const float element = any ? WIDEN(x.v[first + from[0][i] + from[1][j] + from[2][k]]) : 0;
          row = MODE == NEAREST ? element : row + weight[0][i] * element;
        }
        plane = MODE == NEAREST ? row : plane + weight[1][j] * row;
      }
      value = MODE == NEAREST || DIMENSIONS == 2 ? plane : value + weight[2][k] * plane;
    }
    REALS(args.y).v[(image * args.channels + channel) * args.places + place] = NARROW(value);
  }
}
