// SPDX-License-Identifier: BSD-3-Clause
// What part of a matrix product a workgroup has; the arguments say how the product is cut.
#ifndef LEAT_TILE_NUMBER_GLSL_
#define LEAT_TILE_NUMBER_GLSL_

// Which tile, batch and split a workgroup has, and the number of its tile among those of all batches. Tiles go in bands
// of 8 tile rows, so that workgroups that run together share operands in the cache.
struct TileNumber {
  uint row, column, batch, split, number;
};
TileNumber tile_number(uint group) {
  const uint per_batch = args.tiles_m * args.tiles_n;
  TileNumber r;
  const uint rest = group / per_batch;
  const uint tile = group - rest * per_batch;
  r.split = rest / args.batch;
  r.batch = rest - r.split * args.batch;
  r.number = r.batch * per_batch + tile;
  const uint band = tile / (8 * args.tiles_n);
  const uint in_band = tile - band * 8 * args.tiles_n;
  const uint height = min(8u, args.tiles_m - band * 8);
  r.column = in_band / height;
  r.row = band * 8 + (in_band - r.column * height);
  return r;
}

#endif
