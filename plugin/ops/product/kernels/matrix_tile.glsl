// SPDX-License-Identifier: BSD-3-Clause
// The heart of products on matrix hardware (VK_KHR_cooperative_matrix): one workgroup computes a BM x BN tile of the
// result from tiles of both operands in shared memory, BK of k at a time; each of its subgroups has WM x WN of it, in
// matrices of the device's own size. What it multiplies, matrix_element.glsl says. With K_PARTS, there are so many
// subgroups for each such part, which have a part of the BK of k each, and their sums are added up in that order.
//
// The including file defines BM, BN, BK, WM and WN, has `args` with GEMM_ARGS, THREADS, which a workgroup has, and
// `uint k_end`, where the k of this workgroup end, and says where operands come from and what becomes of sums:
// - A_ALONG_K: whether the tile of a lies in shared memory along k, else along its rows; B_ALONG_K the same of b.
// - uvec2 place_a(number): row and k, in the tile, of the first element of the eight of this number, the others of
//   which follow along k or along rows; place_b() the same of b, with columns for rows.
// - EIGHT fetch_a(which, i, k): those eight, from row i of the result and k on, where `which` is their number among those
//   that the thread fetches at once; HELD_B fetch_b(which, i, k) the same from column i. For rows and columns that are not
//   there it may be anything: they are left out in the end. Those from k_end on are 0 unless OPEN_A (OPEN_B) is true:
//   then they may be anything too. A file defines both of these or neither.
// - HELD_B, if an eight of b is something else while it is on its way from memory; NO_B, one of zeros; and
//   READY_B(which, held), the EIGHT that is multiplied. What fetch_b() does with an element makes the thread wait for
//   it, while it could multiply what came before: READY_B() is where that belongs.
// - KEEPS, if it puts eights into shared memory itself, by keep_a(EIGHT held[LOADS_A]) and keep_b(HELD_B held[LOADS_B]).
// - TURNS, if columns lie there in another order where that is not 0: of the WN columns of a subgroup, in runs of
//   WN / TURNS, the first of all runs, then the second of all, and so on.
// - FRAMED, if all threads are to call `void begin_products(row0, column0)` when the first tiles are on their way from
//   memory, and `void end_products()` behind the last product, with a barrier after it; SUM4 ended(row, column, sum), with
//   their place in the tile, then says what sums over the k of this workgroup become before they are finished or put with
//   those of the other splits.
// - void finish(row, column, SUM4 sum): stores what comes of the sums of four columns; those of the tile that are not
//   in the result are to be left out.
// - FOUR_ROWS, if finish() is to get the sums of four rows of a column where that is true.
// - PREPARES, if all threads are to call `void prepare(k)` before what lies from k on is fetched, with a barrier after
//   it, and one between it and the fetches before.
#ifndef LEAT_MATRIX_TILE_GLSL_
#define LEAT_MATRIX_TILE_GLSL_

#ifndef HELD_B
#define HELD_B EIGHT
#define NO_B NO_EIGHT
#define READY_B(which, held) held
#endif
#ifndef NO_A
#define NO_A NO_EIGHT
#endif
#ifndef FOUR_ROWS
#define FOUR_ROWS false
#endif
#ifndef TURNS
#define TURNS 0
#endif
#ifndef K_PARTS
#define K_PARTS 1
#elif defined(BYTES)
#error sums of bytes are not added up over parts of k
#endif
#ifndef FRAMED
#define ended(row, column, sum) sum
#endif
#ifndef OPEN_A
#define OPEN_A false
#define OPEN_B false
#endif

#include "matrix_element.glsl"
#include "core/kernels/matrix_size.glsl"
#include "core/kernels/split.glsl"
#include "tile_number.glsl"

#define ACROSS (BN / WN)
#define OF_TILE (BM / WM * ACROSS) // parts of a tile
// What shared memory is made of: numbers of 16 bits that a matrix may begin at. Matrices of bytes may be as short as four
// pairs along k.
#ifdef BYTES
#define UNIT uvec2
#define UNIT_SIZE 4
#define SUM4_AT(units, at) ivec4(units[at], units[(at) + 1])
#define PIECES IntegerPieces
const uint MATRIX_DEPTH = 2 * MATRIX_K; // numbers between the rows of a and the columns of b
#else
#define UNIT uvec4
#define UNIT_SIZE 8
#define SUM4_AT(units, at) uintBitsToFloat(units[at])
#define PIECES Pieces
const uint MATRIX_DEPTH = MATRIX_K;
#endif
#define UNITS_OF(eights) ((eights) * (8 / UNIT_SIZE))
// What is in shared memory lies there by eights of 16 bits, or fours of sums; the second parts of all elements of a
// tile behind the first. From one row to the next there is one more than needed, so that rows begin in different banks.
#define PITCH_K (BK / 8 + 1)
#define PITCH_A (BM / 8 + 1)
#define PITCH_B (BN / 8 + 1)
#define PITCH_SUMS (WN / 4 + 1)
#define PITCH_ROWS (MATRIX_MOST / 4 + 1)
#define TILE_A (BM * PITCH_K > BK * PITCH_A ? BM * PITCH_K : BK * PITCH_A)
#define TILE_B (BN * PITCH_K > BK * PITCH_B ? BN * PITCH_K : BK * PITCH_B)
// Rows of a matrix at most.
#define MATRIX_MOST 16
// Sums of one row of matrices of a subgroup, by rows or, where four rows are finished at a time, by columns.
#define SUMS_BY_ROWS (MATRIX_MOST * PITCH_SUMS)
#define SUMS_BY_COLUMNS (WN * PITCH_ROWS)
#define SUMS_OF_ONE (SUMS_BY_ROWS > SUMS_BY_COLUMNS ? SUMS_BY_ROWS : SUMS_BY_COLUMNS)
#define SUMS (K_PARTS * OF_TILE * SUMS_OF_ONE)
// Tiles of a and b; afterwards, for each subgroup, sums of one row of its matrices after the other.
#define FIRST_B (PARTS * TILE_A)
#define TILES (FIRST_B + PARTS * TILE_B)
shared UNIT tiles[UNITS_OF(TILES > SUMS ? TILES : SUMS)];

// Eights of a tile that one thread brings in, and what of them is on its way from memory. These are parameters:
// globals, NVIDIA's compiler copies in each turn of the loop.
#ifndef LOADS_A
const uint LOADS_A = BM * BK / 8 / THREADS;
const uint LOADS_B = BN * BK / 8 / THREADS;
#endif
#define HELD inout EIGHT held_a[LOADS_A], inout HELD_B held_b[LOADS_B]

uvec2 place_of_a(uint e) { return place_a(gl_LocalInvocationIndex + e * THREADS); }
uvec2 place_of_b(uint e) { return place_b(gl_LocalInvocationIndex + e * THREADS); }

void fetch_tiles(HELD, uint row0, uint column0, uint k0) {
  [[unroll]] for (uint e = 0; e < LOADS_A; ++e) {
    const uvec2 at = place_of_a(e);
    held_a[e] = fetch_a(e, row0 + at.x, k0 + at.y);
  }
  [[unroll]] for (uint e = 0; e < LOADS_B; ++e) {
    const uvec2 at = place_of_b(e);
    held_b[e] = fetch_b(e, column0 + at.x, k0 + at.y);
  }
}

// Lets what is on its way be 0 from k_end on, in tiles from k0 on.
void end_tiles(HELD, uint k0) {
  [[unroll]] for (uint e = 0; e < LOADS_A; ++e) {
    if (OPEN_A && k0 + place_of_a(e).y >= k_end) {
      held_a[e] = NO_A;
    }
  }
  [[unroll]] for (uint e = 0; e < LOADS_B; ++e) {
    if (OPEN_B && k0 + place_of_b(e).y >= k_end) {
      held_b[e] = NO_B;
    }
  }
}

#ifndef KEEPS
// Puts an eight into a tile that has `size` of them.
void keep_eight(uint at, const uint size, EIGHT eight) {
#if PARTS == 1
  tiles[at] = eight;
#else
  split_eight(eight, tiles[at], tiles[at + size]);
#endif
}
void keep_a(EIGHT held[LOADS_A]) {
  [[unroll]] for (uint e = 0; e < LOADS_A; ++e) {
    const uvec2 at = place_of_a(e);
    keep_eight(A_ALONG_K ? at.x * PITCH_K + at.y / 8 : at.y * PITCH_A + at.x / 8, TILE_A, held[e]);
  }
}
void keep_b(HELD_B held[LOADS_B]) {
  [[unroll]] for (uint e = 0; e < LOADS_B; ++e) {
    const uvec2 at = place_of_b(e);
    keep_eight(FIRST_B + (B_ALONG_K ? at.x * PITCH_K + at.y / 8 : at.y * PITCH_B + at.x / 8), TILE_B,
               READY_B(e, held[e]));
  }
}
#endif

void keep_tiles(HELD, uint k0) {
  if (k0 + BK > k_end) {
    end_tiles(held_a, held_b, k0);
  }
  keep_a(held_a);
  keep_b(held_b);
}

const uint ROWS = WM / MATRIX_M;    // matrices of a subgroup, one above the other
const uint COLUMNS = WN / MATRIX_N; // and side by side
coopmat<MATRIX_SUM, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[ROWS * COLUMNS];

// Adds the products of the k in shared memory that a subgroup has to its sums, of which the first is at (row, column).
void add_tiles(uint row, uint column) {
  // Written out for products with tiles of 64 and 128 and those of parts of k, which become faster by it. Compilers take
  // longer for it: of bytes, of which matrices may be as short as four pairs, only two at a time.
#if BM >= 64 && defined(BYTES)
  for (uint first = 0; first < BK; first += 2 * MATRIX_K)
  [[unroll]] for (uint k = first; k < first + 2 * MATRIX_K; k += MATRIX_K) {
#else
#if (BM >= 64 || K_PARTS > 1) && !defined(PREPARES)
  [[unroll]]
#endif
  for (uint step = 0; step < BK / K_PARTS; step += MATRIX_K) {
    const uint k = K_PARTS > 1 ? gl_SubgroupID / OF_TILE * (BK / K_PARTS) + step : step;
#endif
    coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_M, MATRIX_DEPTH, gl_MatrixUseA> a[PARTS * ROWS];
    [[unroll]] for (uint r = 0; r < PARTS * ROWS; ++r) {
      const uint i = row + r % ROWS * MATRIX_M, part = r / ROWS * TILE_A;
      if (A_ALONG_K) {
        coopMatLoad(a[r], tiles, UNITS_OF(part + i * PITCH_K) + k / UNIT_SIZE, UNITS_OF(PITCH_K),
                    gl_CooperativeMatrixLayoutRowMajor);
      } else {
        coopMatLoad(a[r], tiles, UNITS_OF(part + k * PITCH_A) + i / UNIT_SIZE, UNITS_OF(PITCH_A),
                    gl_CooperativeMatrixLayoutColumnMajor);
      }
    }
    [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
      const uint i = column + c * MATRIX_N;
      coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_DEPTH, MATRIX_N, gl_MatrixUseB> b[PARTS];
      [[unroll]] for (uint p = 0; p < PARTS; ++p) {
        const uint part = FIRST_B + p * TILE_B;
        if (B_ALONG_K) {
          coopMatLoad(b[p], tiles, UNITS_OF(part + i * PITCH_K) + k / UNIT_SIZE, UNITS_OF(PITCH_K),
                      gl_CooperativeMatrixLayoutColumnMajor);
        } else {
          coopMatLoad(b[p], tiles, UNITS_OF(part + k * PITCH_B) + i / UNIT_SIZE, UNITS_OF(PITCH_B),
                      gl_CooperativeMatrixLayoutRowMajor);
        }
      }
      [[unroll]] for (uint r = 0; r < ROWS; ++r) {
#if PARTS == 2
        sums[r * COLUMNS + c] = coopMatMulAdd(a[ROWS + r], b[0], sums[r * COLUMNS + c]);
        sums[r * COLUMNS + c] = coopMatMulAdd(a[r], b[1], sums[r * COLUMNS + c]);
#endif
        sums[r * COLUMNS + c] = coopMatMulAdd(a[r], b[0], sums[r * COLUMNS + c]);
      }
    }
  }
}

// Waits for the subgroups whose sums are added up: where none has a part of k, each has its own.
void meet_over_sums() {
#if K_PARTS > 1
  barrier();
#else
  subgroupBarrier();
#endif
}

// Fours of a line of `rows` x `columns` sums.
#define FOURS_OF(rows, columns) ((FOUR_ROWS ? rows : columns) / 4)

// Computes the tile of a workgroup, of which (row0, column0) is the first element, from k to k_end, and finishes it, or
// puts it with those of the other splits.
void matrix_product(TileNumber tile, uint row0, uint column0, uint k) {
  EIGHT held_a[LOADS_A];
  HELD_B held_b[LOADS_B];
  const uint row = gl_SubgroupID / ACROSS % (BM / WM) * WM, column = gl_SubgroupID % ACROSS * WN;
  [[unroll]] for (uint e = 0; e < ROWS * COLUMNS; ++e) {
    sums[e] = coopmat<MATRIX_SUM, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(MATRIX_SUM(0));
  }
#ifdef PREPARES
  prepare(k);
  barrier();
#endif
#if defined(PREPARES) && BM >= 128
  // No split is empty, so this always holds. Without it NVIDIA's compiler reads `steps` of large tiles one after the
  // other, through the same registers, and a convolution takes a quarter more time.
  if (k < k_end)
#endif
  {
    fetch_tiles(held_a, held_b, row0, column0, k);
  }
#ifdef FRAMED
  begin_products(row0, column0);
#endif
#ifdef PREPARES
  barrier();
#endif
  while (k < k_end) {
    keep_tiles(held_a, held_b, k);
    k += BK;
#ifdef PREPARES
    prepare(k);
#endif
    barrier();
    // The next tiles are on their way while these are used.
    if (k < k_end) {
      fetch_tiles(held_a, held_b, row0, column0, k);
    }
    add_tiles(row, column);
    barrier();
  }
#ifdef FRAMED
  end_products();
  barrier();
#endif

  // The sums of one row of matrices after the other go to where threads know which is whose.
  const uint own = gl_SubgroupID * SUMS_OF_ONE, first = gl_SubgroupID % OF_TILE * SUMS_OF_ONE;
  const uint pieces = tile.number * (BM * BN / 4);
  for (uint r = 0; r < ROWS; ++r) {
    [[unroll]] for (uint e = 0; e < ROWS * COLUMNS; ++e) {
      if (e / COLUMNS == r) {
        const uint j = e % COLUMNS * MATRIX_N;
        if (FOUR_ROWS) {
          coopMatStore(sums[e], tiles, UNITS_OF(own + j * PITCH_ROWS), UNITS_OF(PITCH_ROWS),
                       gl_CooperativeMatrixLayoutColumnMajor);
        } else {
          coopMatStore(sums[e], tiles, UNITS_OF(own + j / 4), UNITS_OF(PITCH_SUMS),
                       gl_CooperativeMatrixLayoutRowMajor);
        }
      }
    }
    meet_over_sums();
    for (uint four = gl_SubgroupID / OF_TILE * SUBGROUP_SIZE + gl_SubgroupInvocationID; four < MATRIX_M * WN / 4;
         four += K_PARTS * SUBGROUP_SIZE) {
      const uint line = four / FOURS_OF(MATRIX_M, WN), within = four % FOURS_OF(MATRIX_M, WN);
      uvec2 at = uvec2(row + r * MATRIX_M, column) + (FOUR_ROWS ? uvec2(within * 4, line) : uvec2(line, within * 4));
      const uint slot = UNITS_OF(first + line * (FOUR_ROWS ? PITCH_ROWS : PITCH_SUMS) + within);
      SUM4 sum = SUM4_AT(tiles, slot);
      [[unroll]] for (uint part = 1; part < K_PARTS; ++part) {
        sum += SUM4_AT(tiles, slot + part * UNITS_OF(OF_TILE * SUMS_OF_ONE));
      }
#ifdef BYTES
      if (TURNS != 0) {
        const uint run = within % TURNS, in_run = within / TURNS * 4;
        at.y = column + run * (WN / TURNS) + in_run;
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          const uint turned = (in_run + j) * TURNS + run;
          sum[j] = int(tiles[UNITS_OF(own + line * PITCH_SUMS) + turned / 2][turned % 2]);
        }
      }
#endif
      sum = ended(at.x, at.y, sum);
      if (args.splits > 1) {
        const uint place = FOUR_ROWS ? at.y * BM + at.x : at.x * BN + at.y;
        PIECES(args.pieces).v[tile.split * args.tiles * (BM * BN / 4) + pieces + place / 4] = sum;
      } else {
        finish(row0 + at.x, column0 + at.y, sum);
      }
    }
    meet_over_sums();
  }
  if (args.splits == 1 || !split_last(args.counters, tile.number, args.splits)) {
    return;
  }
  for (uint four = gl_LocalInvocationIndex; four < BM * BN / 4; four += THREADS) {
    SUM4 sum = PIECES(args.pieces).v[pieces + four];
    for (uint s = 1; s < args.splits; ++s) {
      sum += PIECES(args.pieces).v[s * args.tiles * (BM * BN / 4) + pieces + four];
    }
    const uint line = four / FOURS_OF(BM, BN), within = four % FOURS_OF(BM, BN) * 4;
    finish(row0 + (FOUR_ROWS ? within : line), column0 + (FOUR_ROWS ? line : within), sum);
  }
}

#endif
