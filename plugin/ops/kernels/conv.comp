#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution and transposed convolution as a matrix product whose right operand is gathered from the image on the way
// into shared memory: rows are output channels of a group, columns are output pixels of all images, k runs over input
// channels and taps. The batch of the product is the group. One and two spatial dimensions come as three.
#include "leat.glsl"
#include "gemm_args.glsl"
#include "reals.glsl"

LEAT_CONSTANT(uint, MODE_A, 2);
#define MODE_B 3
LEAT_CONSTANT(uint, TRANSPOSED, 0);
LEAT_CONSTANT(uint, VOLUME, 0); // 1: the depth of kernel, input or output is not 1
struct Args {
  GEMM_ARGS
  uint pixels;             // of one output image
  uint out_height, out_width;
  int depth, height, width; // of an input image
  uint plane;              // their product
  uint image_in, image_out; // elements of an image with all its channels
  uint group_in, group_out, group_weights;
  uint group_rows;         // output channels of a group
  uint taps;               // of the kernel; per_taps divides by it
  uint kernel_area, kernel_width;
  uint per_taps[2], per_area[2], per_width[2];
  int stride[3], dilation[3], pad[3];
};
LEAT_ARGS

uint64_t a_base;
uint k_end;

// What a thread needs to know of the one output pixel that it gathers for: where its image and group begin and, unless
// TRANSPOSED, where the pixel under tap 0 would be from there; input coordinates of tap 0 (transposed: output coordinates
// plus padding).
uint pixel_base;
int pixel_d, pixel_h, pixel_w;

// A coordinate that is outside of any image, also when another one is added to it.
#define OUTSIDE 0x7fffffff

// n / d for n < 2^31; the host has made the two numbers from d.
uint divide(uint n, uint magic, uint shift) {
  uint high, low;
  umulExtended(n, magic, high, low);
  return (high + n) >> shift;
}

vec4 fetch_a4(uint i, uint k) {
  return i < args.m && k < k_end ? QUAD(a_base, (i * args.k + k) >> 2) : vec4(0);
}
float fetch_a(uint i, uint k) {
  if (i >= args.m || k >= k_end) {
    return 0;
  }
  if (TRANSPOSED != 0) {
    const uint channel = divide(k, args.per_taps[0], args.per_taps[1]);
    return ELEMENT(a_base, (channel * args.m + i) * args.taps + (k - channel * args.taps));
  }
  return ELEMENT(a_base, i * args.k + k);
}
vec4 fetch_b4(uint i, uint k) {
  return vec4(0);
}

// What channel and tap of each k that is fetched next add to the place of a pixel, and the tap to its coordinates
// (depth, height, width). All threads that gather at one k share the two divisions.
shared ivec4 steps[BK * SLICES];
uint steps_begin;

#define PREPARES
void prepare(uint k0) {
  steps_begin = k0;
  if (gl_LocalInvocationIndex >= BK * SLICES) {
    return;
  }
  const uint k = k0 + gl_LocalInvocationIndex;
  const uint channel = divide(k, args.per_taps[0], args.per_taps[1]);
  uint tap = k - channel * args.taps;
  ivec4 step = ivec4(channel * args.plane, 0, 0, 0);
  if (VOLUME != 0) {
    const uint tap_d = divide(tap, args.per_area[0], args.per_area[1]);
    tap -= tap_d * args.kernel_area;
    step.y = int(tap_d) * args.dilation[0];
  }
  const uint tap_h = divide(tap, args.per_width[0], args.per_width[1]);
  step.z = k < k_end ? int(tap_h) * args.dilation[1] : OUTSIDE;
  step.w = int(tap - tap_h * args.kernel_width) * args.dilation[2];
  if (TRANSPOSED == 0) {
    step.x += (step.y * args.height + step.z) * args.width + step.w;
  }
  steps[gl_LocalInvocationIndex] = step;
}

// From an output coordinate to the input coordinate under a tap, of a transposed convolution; -1 if there is none.
int source(int at, int step, const uint d) {
  const int n = at - step;
  return n >= 0 && n % args.stride[d] == 0 ? n / args.stride[d] : -1;
}

float fetch_b(uint i, uint k) {
  const ivec4 step = steps[k - steps_begin];
  const int z = VOLUME == 0 ? 0 : TRANSPOSED != 0 ? source(pixel_d, step.y, 0) : pixel_d + step.y;
  const int y = TRANSPOSED != 0 ? source(pixel_h, step.z, 1) : pixel_h + step.z;
  const int x = TRANSPOSED != 0 ? source(pixel_w, step.w, 2) : pixel_w + step.w;
  if ((VOLUME != 0 && uint(z) >= uint(args.depth)) || uint(y) >= uint(args.height) || uint(x) >= uint(args.width)) {
    return 0;
  }
  uint at = pixel_base + uint(step.x);
  if (TRANSPOSED != 0) {
    at += uint((z * args.height + y) * args.width + x);
  }
  return ELEMENT(args.b, at);
}

#include "gemm_tile.glsl"

// Where the element of a column in row 0 of the group lies in the result, and in the residual.
uint place_of(uint column) {
  const uint image = column / args.pixels;
  return image * args.image_out + (column - image * args.pixels);
}
// Four columns of a row. Where they may be moved together they are of one image, and `at` is the place of the first.
vec4 fetch_residual(uint64_t base, uint at, uint row, uint column) {
  if ((args.vector & VECTOR_RESIDUAL) != 0) {
    return QUAD(base, (at + row * args.pixels) >> 2);
  }
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = ELEMENT(base, place_of(min(column + j, args.n - 1)) + row * args.pixels);
  }
  return x;
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  a_base = args.a + uint64_t(tile.batch) * args.group_weights * ELEMENT_SIZE;
  const uint k_begin = tile.split * args.k_chunk;
  k_end = min(args.k, k_begin + args.k_chunk);

  const uint t = gl_LocalInvocationIndex % SLICE_THREADS;
  const uint own = tile.column * BN + t % BN;
  const uint image = own / args.pixels;
  uint pixel = own - image * args.pixels;
  pixel_base = image * args.image_in + tile.batch * args.group_in;
  pixel_d = 0;
  if (VOLUME != 0) {
    const uint out_area = args.out_height * args.out_width;
    const uint z = pixel / out_area;
    pixel -= z * out_area;
    pixel_d = TRANSPOSED != 0 ? int(z) + args.pad[0] : int(z) * args.stride[0] - args.pad[0];
  }
  const uint y = pixel / args.out_width;
  const uint x = pixel - y * args.out_width;
  pixel_h = TRANSPOSED != 0 ? int(y) + args.pad[1] : int(y) * args.stride[1] - args.pad[1];
  pixel_w = TRANSPOSED != 0 ? int(x) + args.pad[2] : int(x) * args.stride[2] - args.pad[2];
  if (TRANSPOSED == 0) {
    pixel_base += uint((pixel_d * args.height + pixel_h) * args.width + pixel_w);
  }
  if (own >= args.n) {
    pixel_h = TRANSPOSED != 0 ? -1 : OUTSIDE;
  }

  tile_product(tile.row * BM, tile.column * BN, k_begin, k_end);

  if (!tile_join(tile)) {
    return;
  }
  const uint64_t c_base = args.c + uint64_t(tile.batch) * args.group_out * ELEMENT_SIZE;
  const uint64_t residual_base = args.residual + uint64_t(tile.batch) * args.group_out * ELEMENT_SIZE;
  [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
    const uint column = tile.column * BN + tile_column(thread_column(t), q);
    if (column >= args.n) {
      continue;
    }
    const uint at = place_of(column);
    [[unroll]] for (uint i = 0; i < TM; ++i) {
      const uint row = tile.row * BM + tile_row(thread_row(t), i);
      if (row < args.m) {
        if (args.bias != 0) {
          sums[i][q] += ELEMENT(args.bias, tile.batch * args.group_rows + row);
        }
        if (RESIDUAL == LEAT_RESIDUAL_FIRST) {
          sums[i][q] += fetch_residual(residual_base, at, row, column);
        }
      }
    }
  }
  tile_activate();
  [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
    const uint column = tile.column * BN + tile_column(thread_column(t), q);
    if (column >= args.n) {
      continue;
    }
    const uint at = place_of(column);
    [[unroll]] for (uint i = 0; i < TM; ++i) {
      const uint row = tile.row * BM + tile_row(thread_row(t), i);
      if (row < args.m) {
        vec4 value = sums[i][q];
        if (RESIDUAL == LEAT_RESIDUAL_LAST) {
          value += fetch_residual(residual_base, at, row, column);
        }
        if ((args.vector & VECTOR_C) != 0) {
          REALS4(c_base).v[(at + row * args.pixels) >> 2] = NARROW4(value);
        } else {
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            if (column + j < args.n) {
              REALS(c_base).v[place_of(column + j) + row * args.pixels] = NARROW(value[j]);
            }
          }
        }
      }
    }
  }
}
