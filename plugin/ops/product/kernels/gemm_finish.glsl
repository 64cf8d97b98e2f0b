// SPDX-License-Identifier: BSD-3-Clause
// What becomes of the sums of gemm_tile.glsl where the result is that of gemm_sides.glsl; both are included before.
#ifndef LEAT_GEMM_FINISH_GLSL_
#define LEAT_GEMM_FINISH_GLSL_

// Adds up the splits of a tile, and stores it.
void tile_finish(TileNumber tile) {
  if (!tile_join(tile)) {
    return;
  }
  const uint t = gl_LocalInvocationIndex % HOLDERS;
  [[unroll]] for (uint i = 0; i < KEPT; ++i) {
    const uint row = tile.row * BM + kept_row(t, i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = tile.column * BN + kept_column(t, q);
      if (row < args.m && column < args.n) {
        sums[i][q] = with_bias(row, column, sums[i][q]);
      }
    }
  }
  tile_activate();
  [[unroll]] for (uint i = 0; i < KEPT; ++i) {
    const uint row = tile.row * BM + kept_row(t, i);
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      const uint column = tile.column * BN + kept_column(t, q);
      if (row < args.m && column < args.n) {
        store_result(row, column, sums[i][q]);
      }
    }
  }
}

#endif
