#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Convolution of images in NHWC layout, to such images, as a matrix product whose left operand is gathered from the
// image on the way into shared memory: rows are output pixels of all images, columns are output channels of a group. k
// runs over taps and channels, and weights lie by [column][tap][channel]. The batch of the product is the group.
#include "core/kernels/leat.glsl"
#include "core/kernels/reals.glsl"

// Of both operands, MODE_QUADS_K or MODE_SINGLES_K.
LEAT_CONSTANT(uint, MODE, 2);
#define MODE_A MODE
#define MODE_B MODE
#define STEPS 64 // one more than NHWC_TAPS_MAX in ops/conv/conv.c
#define PIXEL_SIZE args.pitch_in
#define PIXEL_COUNT args.m
#define PIXELS_MAX BM
#define SPREAD 0
#define TRANSPOSED 0
#include "conv_args.glsl"
#include "product/kernels/gemm_sides.glsl"
#include "conv_pixels.glsl"

uint first_row;

// Where k of a row is; if that is inside of the image.
bool find_place(uint row, uint k, out uint at) {
  const Pixel pixel = pixels[row - first_row];
  const uint tap = min(divide(k, args.per_channels), STEPS - 1); // past the last there is no image
  at = pixel.base + uint(steps[tap].x) + (k - tap * args.channels);
  return k < k_end && ((tap < 32 ? pixel.taps : pixel.more) >> (tap & 31) & 1) != 0;
}

vec4 fetch_a4(uint i, uint k) {
  uint at;
  return find_place(i, k, at) ? QUAD(a_base, at >> 2) : vec4(0);
}
float fetch_a(uint i, uint k) {
  uint at;
  return find_place(i, k, at) ? ELEMENT(a_base, at) : 0.0;
}
vec4 fetch_b4(uint i, uint k) { return i < args.n && k < k_end ? QUAD(b_base, (i * args.k + k) >> 2) : vec4(0); }
float fetch_b(uint i, uint k) { return i < args.n && k < k_end ? ELEMENT(b_base, i * args.k + k) : 0.0; }

#include "product/kernels/gemm_tile.glsl"
#include "product/kernels/gemm_finish.glsl"

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const TileNumber tile = tile_number(group);
  find_sides(tile);
  first_row = tile.row * BM;
  find_pixels(first_row, BM, tile.batch, GEMM_THREADS);
  tile_product(first_row, tile.column * BN, tile.split * args.k_chunk, k_end);
  tile_finish(tile);
}
