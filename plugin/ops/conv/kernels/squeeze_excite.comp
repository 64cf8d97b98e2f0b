#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Squeeze and excitation: of each image a gate for each channel, excite * (squeeze * means of the channels), each with
// a bias and an activation. A workgroup has some channels of one image: it computes their means, and what these add to
// the sums of squeeze. The workgroup of an image that comes last adds up the sums of all, in the order of the channels,
// and computes the gates. Nobody waits for another workgroup.
#include "core/kernels/leat.glsl"
#include "core/kernels/divider.glsl"
#include "elementwise/kernels/functions.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/split.glsl"

LEAT_CONSTANT(uint, QUADS, 0);     // 1: rows of squeeze may be read by fours, 2: those of excite, 3: both
LEAT_CONSTANT(int, ACTIVATION, 0); // LEAT_EW_... of function_activation(): of squeeze
LEAT_CONSTANT(int, GATE_ACTIVATION, 0);
layout(local_size_x = 256) in;

// Sums of squeeze of each workgroup, float32.
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer Sums { float v[]; };

struct Args {
  uint64_t x;                         // images x channels x pixels
  uint64_t squeeze;                   // squeezed x channels
  uint64_t squeeze_bias, excite_bias; // 0: none
  uint64_t excite;                    // channels x squeezed
  uint64_t y;                         // images x channels
  uint64_t sums, counters;
  float activation[2], gate_activation[2];
  uint images, channels, pixels;
  uint squeezed; // at most SQUEEZED_MAX
  uint parts;    // threads that share a channel, a power of two
  uint groups;   // workgroups of an image
  Divider per_parts, per_groups;
};
LEAT_ARGS

#define SQUEEZED_MAX 1024
#define THREADS 256
#define LANES 8 // threads that share a row of a matrix
#define EACH 8  // rows of a thread, THREADS / LANES apart: a row for each thread in all

shared float held[SQUEEZED_MAX];             // what a matrix is multiplied with
shared float partial[THREADS * (LANES + 1)]; // by row; neighbouring ones begin in different banks

// Puts the mean of a channel into held[]: THREADS / args.parts of them in the workgroup, in their order.
void hold_mean(uint64_t image, uint channel, bool there) {
  const uint t = gl_LocalInvocationIndex, own = divide(t, args.per_parts), part = t - own * args.parts;
  const uint64_t plane = image + uint64_t(channel) * args.pixels * ELEMENT_SIZE;
  float sum = 0;
  for (uint i = part; there && i < args.pixels; i += 8 * args.parts) {
    float x[8];
    [[unroll]] for (uint j = 0; j < 8; ++j) {
      // What is beyond the end repeats the first, and is not added.
      const uint at = i + j * args.parts;
      x[j] = ELEMENT(plane, at < args.pixels ? at : i);
    }
    [[unroll]] for (uint j = 0; j < 8; ++j) {
      sum += i + j * args.parts < args.pixels ? x[j] : 0;
    }
  }
  partial[t] = sum;
  barrier();
  for (uint distance = args.parts / 2; distance > 0; distance /= 2) {
    if (part < distance) {
      partial[t] += partial[t + distance];
    }
    barrier();
  }
  if (part == 0) {
    held[own] = partial[t] / float(args.pixels);
  }
  barrier();
}

// Elements `at` to at + 3 of a matrix, of which `left` are of the row.
vec4 four_at(uint64_t matrix, uint at, uint left, bool quads) {
  if (quads) {
    return QUAD(matrix, at >> 2);
  }
  vec4 four = vec4(0);
  for (uint i = 0; i < min(left, 4); ++i) {
    four[i] = ELEMENT(matrix, at + i);
  }
  return four;
}

// Row `first` plus the thread's number of a matrix of `rows`, `pitch` elements each, times held[]: the sum over `count`
// elements of it from `from` on.
float row_times_held(uint64_t matrix, uint rows, uint pitch, uint first, uint from, uint count, bool quads) {
  const uint t = gl_LocalInvocationIndex, lane = t % LANES;
  float sums[EACH];
  [[unroll]] for (uint j = 0; j < EACH; ++j) {
    sums[j] = 0;
  }
  for (uint k = 4 * lane; k < count; k += 4 * LANES) {
    vec4 four[EACH];
    [[unroll]] for (uint j = 0; j < EACH; ++j) {
      // Rows beyond the last repeat it; what they give is not used.
      const uint row = min(first + j * (THREADS / LANES) + t / LANES, rows - 1);
      four[j] = four_at(matrix, row * pitch + from + k, count - k, quads);
    }
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      const float factor = k + i < count ? held[k + i] : 0;
      [[unroll]] for (uint j = 0; j < EACH; ++j) {
        sums[j] = fma(four[j][i], factor, sums[j]);
      }
    }
  }
  barrier(); // those of an earlier call are read
  [[unroll]] for (uint j = 0; j < EACH; ++j) {
    partial[(j * (THREADS / LANES) + t / LANES) * (LANES + 1) + lane] = sums[j];
  }
  barrier();
  float sum = 0;
  [[unroll]] for (uint l = 0; l < LANES; ++l) {
    sum += partial[t * (LANES + 1) + l];
  }
  return sum;
}

// Element `i` of a bias, which may not be there: then something of the matrix is read in its place.
float bias_at(uint64_t bias, uint64_t matrix, uint i) {
  const float value = ELEMENT(bias != 0 ? bias : matrix, i);
  return bias != 0 ? value : 0;
}

// Puts the activated sums of squeeze of all workgroups of an image into held[].
void hold_squeezed(uint image) {
  for (uint row = gl_LocalInvocationIndex; row < args.squeezed; row += THREADS) {
    float sum = bias_at(args.squeeze_bias, args.squeeze, row);
    for (uint g = 0; g < args.groups; g += 8) {
      float part[8];
      [[unroll]] for (uint j = 0; j < 8; ++j) {
        const uint other = image * args.groups + min(g + j, args.groups - 1);
        part[j] = Sums(args.sums).v[other * args.squeezed + row];
      }
      [[unroll]] for (uint j = 0; j < 8; ++j) {
        sum += g + j < args.groups ? part[j] : 0;
      }
    }
    held[row] = function_activation(ACTIVATION, sum, args.activation[0], args.activation[1]);
  }
  barrier();
}

void main() {
  const uint t = gl_LocalInvocationIndex;
  const uint group = leat_linear_group();
  if (group >= args.images * args.groups) {
    return;
  }
  const uint image = divide(group, args.per_groups);
  const uint own = divide(THREADS, args.per_parts), channel = divide(t, args.per_parts);
  const uint first = (group - image * args.groups) * own;
  const uint count = min(own, args.channels - first);
  hold_mean(args.x + uint64_t(image) * args.channels * args.pixels * ELEMENT_SIZE, first + channel,
            channel < count);
  for (uint row = 0; row < args.squeezed; row += THREADS) {
    const float sum =
        row_times_held(args.squeeze, args.squeezed, args.channels, row, first, count, (QUADS & 1) != 0);
    if (row + t < args.squeezed) {
      Sums(args.sums).v[group * args.squeezed + row + t] = sum;
    }
  }
  if (!split_last(args.counters, image, args.groups)) {
    return;
  }
  hold_squeezed(image);
  for (uint row = 0; row < args.channels; row += THREADS) {
    const float sum =
        row_times_held(args.excite, args.channels, args.squeezed, row, 0, args.squeezed, (QUADS & 2) != 0);
    if (row + t < args.channels) {
      const float gate = sum + bias_at(args.excite_bias, args.excite, row + t);
      REALS(args.y).v[image * args.channels + row + t] = NARROW(
          function_activation(GATE_ACTIVATION, gate, args.gate_activation[0], args.gate_activation[1]));
    }
  }
}
