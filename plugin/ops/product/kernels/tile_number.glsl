// SPDX-License-Identifier: BSD-3-Clause
// What part of a matrix product a workgroup has; the arguments say how the product is cut.
#ifndef LEAT_TILE_NUMBER_GLSL_
#define LEAT_TILE_NUMBER_GLSL_

#include "gemm_codes.glsl"

// With DIVIDES the numbers are divided by themselves.
#ifdef DIVIDES
#define QUOTIENT(n, d, divider) ((n) / (d))
#else
#define QUOTIENT(n, d, divider) divide(n, divider)
#endif

// Which tile, batch and split a workgroup has, and the number of its tile among those of all batches. Tiles go in bands
// of LEAT_GEMM_BAND tile rows, so that workgroups that run together share operands in the cache.
struct TileNumber {
  uint row, column, batch, split, number;
};
TileNumber tile_number(uint group) {
  const uint per_batch = args.tiles_m * args.tiles_n;
  TileNumber r;
  const uint rest = QUOTIENT(group, per_batch, args.per_tiles);
  const uint tile = group - rest * per_batch;
  r.split = QUOTIENT(rest, args.batch, args.per_batch);
  r.batch = rest - r.split * args.batch;
  r.number = r.batch * per_batch + tile;
  const uint band = QUOTIENT(tile, LEAT_GEMM_BAND * args.tiles_n, args.per_band);
  const uint in_band = tile - band * LEAT_GEMM_BAND * args.tiles_n;
  const uint height = min(LEAT_GEMM_BAND, args.tiles_m - band * LEAT_GEMM_BAND);
  r.column = height == LEAT_GEMM_BAND ? in_band / LEAT_GEMM_BAND : QUOTIENT(in_band, height, args.per_height);
  r.row = band * LEAT_GEMM_BAND + (in_band - r.column * height);
  return r;
}

#endif
