// SPDX-License-Identifier: BSD-3-Clause
// The heart of matrix products: one workgroup computes a BM x BN tile of the result from tiles of both operands in
// shared memory.
//
// The including file defines BM, BN, BK, TM, TN (rows and columns per thread, multiples of 4) and SLICES, and the
// functions that say where the operands come from: `vec4 fetch_a4(i, k)`, `float fetch_a(i, k)`, the same for b, with i
// the row or column in the result and k in [k_begin, k_end) or beyond, which must give 0. The SLICES of a workgroup
// take turns along k, so that a small tile still has many loads in flight; their sums are added in order at the end.
// Where it defines BYTES, an element is four bytes along k, as an int, sums are ints, and `int dot4(a, b, sum)` adds the
// four products of two elements to a sum; the sums of each row of a and each column of b over k are found too.
// Where it defines PREPARES, all threads call `void prepare(k)` before the BK * SLICES of k from there on are fetched,
// with a barrier after it, and one between it and the fetches before.
//
// How an operand's tile is walked is a mode: quads along k or along rows (columns) where memory is contiguous that way
// and aligned, else single elements with neighbouring threads along k or along rows.
#include "core/kernels/split.glsl"
#include "tile_number.glsl"

// 1: args.splits workgroups share out k. Apart, because what joins their pieces is a third of the kernel.
LEAT_CONSTANT(uint, SPLIT, 0);

#define MODE_QUADS_K 0
#define MODE_QUADS_I 1
#define MODE_SINGLES_K 2
#define MODE_SINGLES_I 3

#define SLICE_THREADS ((BM / TM) * (BN / TN))
#define GEMM_THREADS (SLICE_THREADS * SLICES)
layout(local_size_x = GEMM_THREADS) in;

// Elements of each tile that one thread brings in.
#define LOADS_A (BM * BK / SLICE_THREADS)
#define LOADS_B (BN * BK / SLICE_THREADS)
// Quads between two k in shared memory. One more than needed, so that writes along k fall on different banks.
#define PITCH_A (BM / 4 + 1)
#define PITCH_B (BN / 4 + 1)
#define QUADS_A (SLICES * BK * PITCH_A)
#define QUADS_B (SLICES * BK * PITCH_B)

// Four elements, and where sums are put aside.
#ifdef BYTES
#define VEC4 ivec4
#define PIECES IntegerPieces
#else
#define VEC4 vec4
#define PIECES Pieces
#endif
shared VEC4 tiles[QUADS_A + QUADS_B];

// What is on its way from memory. By the number of a loop of one round (tile_product), because NVIDIA's compiler then
// keeps loads apart from sums: convolutions take 5 to 20 % less, and products no more.
VEC4 held_a[1][LOADS_A / 4], held_b[1][LOADS_B / 4];
VEC4 sums[TM][TN / 4];

// When the sums of the slices are added up, the first HOLDING_SLICES share out the rows of a thread, KEPT to each, so
// that HOLDERS threads finish a tile: with one slice alone, an activation of many steps took as long as a dispatch.
#define HOLDING_SLICES (SLICES < TM ? SLICES : TM)
#define HOLDERS (SLICE_THREADS * HOLDING_SLICES)
#define KEPT (TM / HOLDING_SLICES)
#if SLICES > 1 && SLICES * BM * BN / 4 > QUADS_A + QUADS_B
#error the sums of all slices do not fit where the tiles were
#endif

// Where element e of thread t lies in a tile that is `extent` wide: x along rows (columns), y along k.
uvec2 tile_place(const uint mode, const uint extent, uint t, const uint e) {
  if (mode == MODE_QUADS_K) {
    return uvec2(t / (BK / 4) + (e / 4) * (SLICE_THREADS / (BK / 4)), (t % (BK / 4)) * 4 + e % 4);
  }
  if (mode == MODE_QUADS_I) {
    return uvec2((t % (extent / 4)) * 4 + e % 4, t / (extent / 4) + (e / 4) * (SLICE_THREADS / (extent / 4)));
  }
  if (mode == MODE_SINGLES_K) {
    return uvec2(t / BK + e * (SLICE_THREADS / BK), t % BK);
  }
  return uvec2(t % extent, t / extent + e * (SLICE_THREADS / extent));
}

void tile_fetch(const uint h, uint t, uint row0, uint column0, uint k0) {
  [[unroll]] for (uint q = 0; q < LOADS_A / 4; ++q) {
    if (MODE_A <= MODE_QUADS_I) {
      const uvec2 at = tile_place(MODE_A, BM, t, 4 * q);
      held_a[h][q] = fetch_a4(row0 + at.x, k0 + at.y);
    } else {
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uvec2 at = tile_place(MODE_A, BM, t, 4 * q + j);
        held_a[h][q][j] = fetch_a(row0 + at.x, k0 + at.y);
      }
    }
  }
  [[unroll]] for (uint q = 0; q < LOADS_B / 4; ++q) {
    if (MODE_B <= MODE_QUADS_I) {
      const uvec2 at = tile_place(MODE_B, BN, t, 4 * q);
      held_b[h][q] = fetch_b4(column0 + at.x, k0 + at.y);
    } else {
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uvec2 at = tile_place(MODE_B, BN, t, 4 * q + j);
        held_b[h][q][j] = fetch_b(column0 + at.x, k0 + at.y);
      }
    }
  }
}

void tile_keep(const uint h, uint t, uint slice) {
  const uint base_a = slice * BK * PITCH_A;
  const uint base_b = QUADS_A + slice * BK * PITCH_B;
  [[unroll]] for (uint q = 0; q < LOADS_A / 4; ++q) {
    if (MODE_A == MODE_QUADS_I) {
      const uvec2 at = tile_place(MODE_A, BM, t, 4 * q);
      tiles[base_a + at.y * PITCH_A + at.x / 4] = held_a[h][q];
    } else {
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uvec2 at = tile_place(MODE_A, BM, t, 4 * q + j);
        tiles[base_a + at.y * PITCH_A + at.x / 4][at.x % 4] = held_a[h][q][j];
      }
    }
  }
  [[unroll]] for (uint q = 0; q < LOADS_B / 4; ++q) {
    if (MODE_B == MODE_QUADS_I) {
      const uvec2 at = tile_place(MODE_B, BN, t, 4 * q);
      tiles[base_b + at.y * PITCH_B + at.x / 4] = held_b[h][q];
    } else {
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uvec2 at = tile_place(MODE_B, BN, t, 4 * q + j);
        tiles[base_b + at.y * PITCH_B + at.x / 4][at.x % 4] = held_b[h][q][j];
      }
    }
  }
}

// Row or column within the tile of a thread's element i: quads of one thread are spread over the tile, so that the
// quads that a warp reads at once are neighbours.
uint tile_row(uint row, uint i) {
  return (i / 4) * (BM / (TM / 4)) + row * 4 + i % 4;
}
uint tile_column(uint column, const uint quad) {
  return quad * (BN / (TN / 4)) + column * 4;
}

// Row and column of threads that thread t of a slice is in. In small tiles 32 neighbours are 4 x 8, and in the smallest a
// slice is 4 x 4, two rows and two columns taking turns: an H200 then takes 6 to 14 % less for a product. In the largest
// one it would take 5 % more.
uint thread_row(uint t) {
#if BM >= 128
  return t / (BN / TN);
#elif SLICE_THREADS < 32
  return (t >> 1 & 1) + (t >> 2 & 2);
#else
  return t / 32 / (BN / TN / 8) * 4 + (t >> 1 & 1) + (t >> 2 & 2);
#endif
}
uint thread_column(uint t) {
#if BM >= 128
  return t % (BN / TN);
#elif SLICE_THREADS < 32
  return (t & 1) + (t >> 1 & 2);
#else
  return t / 32 % (BN / TN / 8) * 8 + (t & 1) + (t >> 1 & 2) + (t >> 2 & 4);
#endif
}

// Row and first column within the tile of the sums that thread t of the HOLDERS holds in the end.
#if SLICES > 1
uint kept_row(uint t, const uint i) { return tile_row(thread_row(t % SLICE_THREADS), t / SLICE_THREADS * KEPT + i); }
uint kept_column(uint t, const uint quad) { return tile_column(thread_column(t % SLICE_THREADS), quad); }
#else
uint kept_row(uint t, const uint i) { return tile_row(thread_row(t), i); }
uint kept_column(uint t, const uint quad) { return tile_column(thread_column(t), quad); }
#endif

// Bytes that are multiplied one by one make four times the instructions: then the loop along k stays one.
#if defined(BYTES) && !defined(DOTS)
#define UNROLLED
#else
#define UNROLLED [[unroll]]
#endif

// Adds the products of the BK of k that a slice has in shared memory to the sums.
void tile_add(uint t, uint slice) {
  const uint base_a = slice * BK * PITCH_A + thread_row(t);
  const uint base_b = QUADS_A + slice * BK * PITCH_B + thread_column(t);
  UNROLLED for (uint k = 0; k < BK; ++k) {
    VEC4 a[TM / 4], b[TN / 4];
    [[unroll]] for (uint i = 0; i < TM / 4; ++i) {
      a[i] = tiles[base_a + k * PITCH_A + i * (BM / TM)];
    }
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
      b[j] = tiles[base_b + k * PITCH_B + j * (BN / TN)];
    }
    [[unroll]] for (uint i = 0; i < TM; ++i) {
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
#ifdef BYTES
        [[unroll]] for (uint c = 0; c < 4; ++c) {
          sums[i][j][c] = dot4(a[i / 4][i % 4], b[j][c], sums[i][j][c]);
        }
#else
        sums[i][j] = fma(vec4(a[i / 4][i % 4]), b[j], sums[i][j]);
#endif
      }
    }
  }
}

#ifdef BYTES
// The sum of a row of a, or behind those of a column of b, of each slice.
shared int operand_sums[SLICES * (BM + BN)];
int operand_sum;

// Adds to it what a slice has in shared memory.
void tile_add_operand(uint t, uint slice) {
  const bool is_row = t < BM;
  const uint i = is_row ? t : t - BM, pitch = is_row ? PITCH_A : PITCH_B;
  const uint base = (is_row ? slice * BK * PITCH_A : QUADS_A + slice * BK * PITCH_B) + i / 4;
  if (t < BM + BN) {
    for (uint k = 0; k < BK; ++k) {
      operand_sum = dot4(tiles[base + k * pitch][i % 4], 0x01010101, operand_sum);
    }
  }
}

// The sum of row i of a, or for i of BM and more of column i - BM of b.
int operand_sum_of(uint i) {
  int sum = 0;
  [[unroll]] for (uint s = 0; s < SLICES; ++s) {
    sum += operand_sums[s * (BM + BN) + i];
  }
  return sum;
}
#endif

#if SLICES > 1
// Lets each thread have the KEPT rows that it holds, of all slices, added up in the order of the slices.
void add_slices(uint t, uint slice) {
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
      tiles[((slice * TM + i) * (TN / 4) + j) * SLICE_THREADS + t] = sums[i][j];
    }
  }
  barrier();
  if (slice < HOLDING_SLICES) {
    [[unroll]] for (uint i = 0; i < KEPT; ++i) {
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
        [[unroll]] for (uint s = 0; s < SLICES; ++s) {
          const VEC4 one = tiles[((s * TM + slice * KEPT + i) * (TN / 4) + j) * SLICE_THREADS + t];
          sums[i][j] = s == 0 ? one : sums[i][j] + one;
        }
      }
    }
  }
}
#endif

// Computes the tile at (row0, column0) over [k_begin, k_end). Afterwards HOLDERS threads hold the sums.
void tile_product(uint row0, uint column0, uint k_begin, uint k_end) {
  const uint slice = gl_LocalInvocationIndex / SLICE_THREADS;
  const uint t = gl_LocalInvocationIndex % SLICE_THREADS;
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
      sums[i][j] = VEC4(0);
    }
  }
#ifdef BYTES
  operand_sum = 0;
#endif
#ifdef PREPARES
  prepare(k_begin);
  barrier();
#endif
  if (k_begin < k_end) {
    tile_fetch(0, t, row0, column0, k_begin + slice * BK);
  }
#ifdef PREPARES
  barrier();
#endif
  for (uint k0 = k_begin; k0 < k_end; k0 += BK * SLICES) {
    [[unroll]] for (uint h = 0; h < 1; ++h) {
      tile_keep(h, t, slice);
#ifdef PREPARES
      prepare(k0 + BK * SLICES);
#endif
      barrier();
      // The next tile is on its way while this one is used.
      if (k0 + BK * SLICES < k_end) {
        tile_fetch(h, t, row0, column0, k0 + BK * SLICES + slice * BK);
      }
      tile_add(t, slice);
#ifdef BYTES
      tile_add_operand(t, slice);
#endif
      barrier();
    }
  }
#ifdef BYTES
  if (t < BM + BN) {
    operand_sums[slice * (BM + BN) + t] = operand_sum;
  }
  barrier();
#endif
#if SLICES > 1
  add_slices(t, slice);
#endif
}

#ifndef BYTES
// Applies the activation to all sums of a thread. Those that a loop goes through by number are a copy, so that the sums
// themselves stay in registers.
void tile_activate() {
  if (ACTIVATION == LEAT_EW_IDENTITY) {
    return;
  }
  vec4 held[KEPT * TN / 4];
  [[unroll]] for (uint i = 0; i < KEPT; ++i) {
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      held[i * (TN / 4) + q] = sums[i][q];
    }
  }
  for (uint e = 0; e < KEPT * TN / 4; ++e) {
    held[e] = activated4(held[e], args.activation[0], args.activation[1]);
  }
  [[unroll]] for (uint i = 0; i < KEPT; ++i) {
    [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
      sums[i][q] = held[i * (TN / 4) + q];
    }
  }
}
#endif

// Pieces of so many splits are on their way at once, for the last workgroup not to wait for each of them in turn. Large
// tiles have too few registers for it.
#define JOINED_AT_ONCE (BM == 32 ? 4 : 1)

// Adds up the sums of all splits of a tile. True for the threads that hold them afterwards.
bool tile_join(TileNumber tile) {
  const bool holds = HOLDERS == GEMM_THREADS || gl_LocalInvocationIndex < HOLDERS;
  if (SPLIT == 0) {
    return holds;
  }
  const uint t = gl_LocalInvocationIndex % HOLDERS;
  if (holds) {
    const uint piece = (tile.split * args.tiles + tile.number) * (KEPT * TN / 4);
    [[unroll]] for (uint i = 0; i < KEPT; ++i) {
      [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
        PIECES(args.pieces).v[(piece + i * (TN / 4) + q) * HOLDERS + t] = sums[i][q];
      }
    }
  }
  if (!split_last(args.counters, tile.number, args.splits) || !holds) {
    return false;
  }
  for (uint first = 0; first < args.splits; first += JOINED_AT_ONCE) {
    VEC4 next[JOINED_AT_ONCE][KEPT * TN / 4];
    [[unroll]] for (uint s = 0; s < JOINED_AT_ONCE; ++s) {
      const uint piece = (min(first + s, args.splits - 1) * args.tiles + tile.number) * (KEPT * TN / 4);
      [[unroll]] for (uint e = 0; e < KEPT * TN / 4; ++e) {
        next[s][e] = PIECES(args.pieces).v[(piece + e) * HOLDERS + t];
      }
    }
    [[unroll]] for (uint s = 0; s < JOINED_AT_ONCE; ++s) {
      if (first + s < args.splits) {
        [[unroll]] for (uint i = 0; i < KEPT; ++i) {
          [[unroll]] for (uint q = 0; q < TN / 4; ++q) {
            const VEC4 one = next[s][i * (TN / 4) + q];
            sums[i][q] = first + s == 0 ? one : sums[i][q] + one;
          }
        }
      }
    }
  }
  return true;
}
