#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Attention of operands of 16 bits on matrix hardware (VK_KHR_cooperative_matrix), as attention.comp, sums in float32:
// each subgroup has the queries of one head that are rows of a matrix, ROWS, and all of a workgroup go through the keys
// KEYS at a time, which are two matrices side by side. Weights, relative to the largest score so far, are at most 1;
// they are rounded to the type of the operands before they are multiplied by values, and summed up as they are.
//
// HEAD: elements of a head, of queries and keys and of values, that the kernel has room for.
// MATRICES2: scores stay in the registers of matrices, which takes VK_NV_cooperative_matrix2; else they are in shared
// memory.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef MATRICES2
#extension GL_NV_cooperative_matrix2 : require
#endif
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#endif
#include "attention_args.glsl"

LEAT_CONSTANT(uint, WIDE, 0);     // these operands are moved eight elements at a time, the result four
LEAT_CONSTANT(uint, DEPTH, 16);   // elements of a head of queries and keys, and of values, rounded up to the multiple
LEAT_CONSTANT(uint, WIDTH, 16);   // of 16 that matrices are made of
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: of all its subgroups
LEAT_CONSTANT(uint, MASKED, 1);   // 0: there is no mask
LEAT_CONSTANT(uint, CAPPED, 1);   // 0: scores have no cap
layout(local_size_x_id = CONSTANT_THREADS) in;
#include "core/kernels/matrix_size.glsl"

const uint ROWS = MATRIX_M;
const uint KEYS = 2 * MATRIX_N;
#define ROWS_MOST LEAT_ATTENTION_MATRIX_ROWS
#define KEYS_MOST LEAT_ATTENTION_KEYS
#define SUBGROUPS_MOST LEAT_ATTENTION_MATRIX_SUBGROUPS
const uint QUERIES = THREADS / SUBGROUP_SIZE * ROWS; // of a workgroup

// What is in shared memory lies there by eights of 16 bits, or fours of float32. From one row to the next there is one
// more than needed, so that rows begin in different banks.
#define PITCH (HEAD / 8 + 1)
#define RESULT_PITCH (LEAT_ATTENTION_MATRIX_STEP / 4 + 1)
// Queries, for which two tiles are just enough (SUBGROUPS_MOST * ROWS_MOST is 2 * KEYS_MOST); then a tile of keys and
// one of values; at last results.
#define TILE (KEYS_MOST * PITCH)
#if SUBGROUPS_MOST * ROWS_MOST > 2 * KEYS_MOST || RESULT_PITCH > PITCH
#error "queries or results do not fit where tiles of keys and values lie"
#endif
shared uvec4 tiles[2 * TILE];

// Eights of a tile that one thread brings in, and what of them is on its way from memory.
const uint LOADS_K = (KEYS * DEPTH / 8 + THREADS - 1) / THREADS;
const uint LOADS_V = (KEYS * WIDTH / 8 + THREADS - 1) / THREADS;
uvec4 held_k[LOADS_K], held_v[LOADS_V];

// Eight elements of a row from `element` on; those past the end are 0.
uvec4 fetch(const uint operand, uint64_t base, uint row, uint element, int row_stride, int stride, uint rows,
            uint count) {
  uvec4 eight = uvec4(0);
  if (row >= rows || element >= count) {
    return eight;
  }
  const int at = int(row) * row_stride;
  if ((WIDE & operand) != 0) {
    return U32x4(base).v[(at + int(element)) >> 3];
  }
  [[unroll]] for (uint e = 0; e < 8; ++e) {
    if (element + e < count) {
      eight[e / 2] |= uint(U16(base).v[at + int(element + e) * stride]) << (e % 2 * 16);
    }
  }
  return eight;
}

// Eight elements that may be moved at once; in the place of those that are not there, the nearest that are, or those of
// the first key, which the operand has (attention_matrix_keys in policy/tuning.h is at least 1). Without a condition, so
// that the load is not delayed.
uvec4 fetch_key(uint64_t base, uint key, uint element, int row_stride, uint count) {
  return U32x4(base).v[(int(min(key, max(key_count, 1) - 1)) * row_stride + int(min(element, count - 8))) >> 3];
}

// The row, of `rows`, and the eight of a tile that is moved as number `i`, where a row has so many eights.
uvec2 place(uint i, uint rows, uint eights, const uint operand) {
  const bool across = (WIDE & operand) == 0 && (args.across & operand) != 0;
  return across ? uvec2(i % rows, i / rows) : uvec2(i / eights, i % eights);
}
uvec2 place_k(uint i) { return place(gl_LocalInvocationIndex + i * THREADS, KEYS, DEPTH / 8, LEAT_ATTENTION_K); }
uvec2 place_v(uint i) { return place(gl_LocalInvocationIndex + i * THREADS, KEYS, WIDTH / 8, LEAT_ATTENTION_V); }

void fetch_tiles(uint64_t k, uint64_t v, uint key0) {
  [[unroll]] for (uint i = 0; i < LOADS_K; ++i) {
    const uvec2 at = place_k(i);
    held_k[i] = (WIDE & LEAT_ATTENTION_K) != 0
                    ? fetch_key(k, key0 + at.x, at.y * 8, args.k_strides[2], args.depth)
                    : fetch(LEAT_ATTENTION_K, k, key0 + at.x, at.y * 8, args.k_strides[2], args.k_strides[3],
                            key_count, args.depth);
  }
  [[unroll]] for (uint i = 0; i < LOADS_V; ++i) {
    const uvec2 at = place_v(i);
    held_v[i] = (WIDE & LEAT_ATTENTION_V) != 0
                    ? fetch_key(v, key0 + at.x, at.y * 8, args.v_strides[2], args.width)
                    : fetch(LEAT_ATTENTION_V, v, key0 + at.x, at.y * 8, args.v_strides[2], args.v_strides[3],
                            key_count, args.width);
  }
}

// Lets be 0 what is on its way in the place of elements that are not there, and would be multiplied: by queries, whose
// elements past the end are 0, or by weights of 0.
void end_tiles(uint key0) {
  [[unroll]] for (uint i = 0; i < LOADS_K; ++i) {
    if (place_k(i).y * 8 >= args.depth) {
      held_k[i] = uvec4(0);
    }
  }
  [[unroll]] for (uint i = 0; i < LOADS_V; ++i) {
    if (key0 + place_v(i).x >= key_count) {
      held_v[i] = uvec4(0);
    }
  }
}

void keep_tiles(uint key0) {
  if (key0 + KEYS > key_count || args.depth < DEPTH) {
    end_tiles(key0);
  }
  [[unroll]] for (uint i = 0; i < LOADS_K; ++i) {
    const uvec2 at = place_k(i);
    if (at.x < KEYS && at.y < DEPTH / 8) {
      tiles[at.x * PITCH + at.y] = held_k[i];
    }
  }
  [[unroll]] for (uint i = 0; i < LOADS_V; ++i) {
    const uvec2 at = place_v(i);
    if (at.x < KEYS && at.y < WIDTH / 8) {
      tiles[TILE + at.x * PITCH + at.y] = held_v[i];
    }
  }
}

const uint ACROSS_DEPTH = DEPTH / MATRIX_K;
const uint ACROSS_WIDTH = WIDTH / MATRIX_N;
coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> queries[ACROSS_DEPTH];
#define SUMS coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>
#define FACTORS coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
SUMS results[ACROSS_WIDTH];

// 2^x. What GLSL's own may be off by, 3 + 2 |x| ulp of float32, is little beside the rounding of a weight that is not
// almost 0; nothing is said of its result for -infinity.
float power(float x) { return x == -LEAT_INFINITY ? 0 : exp2(x); }
#define LOG2_E 1.44269504

// A score for powers of 2: one that is too low for them counts as the least number that they take, and -infinity as
// LOWEST, which is below that and yet is not what a key that is not taken has.
#define LEAST -3.4e38
float for_powers(float score) {
  const float scaled = score * LOG2_E;
  return scaled < LEAST ? score == -LEAT_INFINITY ? LOWEST : LEAST : scaled;
}

// The score of a key, for powers of 2, by its product with a query whose mask begins at `mask`; -infinity if that does not
// take it, whatever the product.
float score_taken(float product, uint query, uint key, int mask) {
  const float added = !has_key(query, key) ? -LEAT_INFINITY : MASKED != 0 ? mask_of(args.mask_kind, mask, key) : 0;
  const float score = CAPPED != 0 ? score_of(product) : args.scale * product;
  return added == -LEAT_INFINITY ? added : for_powers(score + added);
}

// Number `c` of the matrices side by side of a tile's keys, and `d` of their depth; number `j` of those below each other
// of its values, and `w` of their width.
FACTORS b_of_keys(uint c, uint d) {
  FACTORS b;
  coopMatLoad(b, tiles, c * MATRIX_N * PITCH + d * MATRIX_K / 8, PITCH, gl_CooperativeMatrixLayoutColumnMajor);
  return b;
}
FACTORS b_of_values(uint j, uint w) {
  FACTORS b;
  coopMatLoad(b, tiles, TILE + j * MATRIX_K * PITCH + w * MATRIX_N / 8, PITCH, gl_CooperativeMatrixLayoutRowMajor);
  return b;
}

// A sum of weights of a query whose largest score is `top`. Where that is LOWEST, no key is taken or only such with scores
// of -infinity: then these have weights, but for a tile none of whose keys is masked, and there is no mask beside that.
float total_of_row(float sum, float top, uint query) {
  return total_of(sum, top == LOWEST && (MASKED != 0 ? sum > 0 : has_keys(query)));
}

// What differs by where scores are:
// - begin_scores(): before the first tile, with the sinks of the subgroup's queries, which begin at `own0`.
// - take_tile(): adds a tile of keys and values to the results of these queries. `bare`: none of these keys is masked for
//   one of them, and a score is its product times args.scale.
// - end_scores(): after the last tile, before a barrier.
// - quotient(): what is a result of a row of the subgroup, divided by what the weights of the row sum up to.
#ifdef MATRICES2
#include "attention_scores_held.glsl"
#else
#include "attention_scores_shared.glsl"
#endif

void main() {
  const uint group = leat_linear_group();
  if (group >= args.groups) {
    return;
  }
  const uint outer = divide(group, args.per_blocks);
  const uint batch = divide(outer, args.per_heads), head = outer - batch * args.heads;
  const uint query0 = (group - outer * args.blocks) * QUERIES;
  const uint own0 = query0 + gl_SubgroupID * ROWS; // the first query of the subgroup
  const uint64_t q = moved(args.q, args.q_strides, batch, head);
  const uint kv_head = divide(head, args.per_share);
  const uint64_t k = moved(args.k, args.k_strides, batch, kv_head);
  const uint64_t v = moved(args.v, args.v_strides, batch, kv_head);
  begin_batch(batch);
  // Keys that some query of the workgroup has.
  const uint key_begin = first_tile(query0), keys = keys_up_to(query0 + QUERIES - 1);

  fetch_tiles(k, v, key_begin);
  for (uint i = gl_LocalInvocationIndex; i < QUERIES * (DEPTH / 8); i += THREADS) {
    const uvec2 at = place(i, QUERIES, DEPTH / 8, LEAT_ATTENTION_Q);
    tiles[at.x * PITCH + at.y] = fetch(LEAT_ATTENTION_Q, q, query0 + at.x, at.y * 8, args.q_strides[2],
                                       args.q_strides[3], args.queries, args.depth);
  }
  barrier();
  [[unroll]] for (uint d = 0; d < ACROSS_DEPTH; ++d) {
    coopMatLoad(queries[d], tiles, gl_SubgroupID * ROWS * PITCH + d * MATRIX_K / 8, PITCH,
                gl_CooperativeMatrixLayoutRowMajor);
  }
  [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
    results[w] = SUMS(0.0);
  }
  begin_scores(head, own0);

  // Of the keys from here to there none is masked for a query of this subgroup. A score is then its product times what
  // is not negative, and small enough for any product of float16: products stay what they are, and the factor is part
  // of the argument of the powers. Products of bfloat16 may be larger, and scores from 2.3e38 on overflow by LOG2_E:
  // then their row is NaN, as it is where all are below -2.3e38.
  const bool linear = MASKED == 0 && CAPPED == 0 && args.scale >= 0 && args.scale < 1e20;
  const uint bare_begin = uint(max(position_of(own0 + ROWS - 1) - args.before, 0));
  const uint bare_end = linear ? min(mask_count, keys_up_to(own0)) : 0;
  for (uint key0 = key_begin; key0 < keys; key0 += KEYS) {
    barrier(); // nobody reads the tiles any more
    keep_tiles(key0);
    barrier();
    if (key0 + KEYS < keys) {
      fetch_tiles(k, v, key0 + KEYS);
    }
    take_tile(batch, head, own0, key0, key0 >= bare_begin && key0 + KEYS <= bare_end);
  }
  end_scores(own0);

  barrier(); // nobody reads the tiles any more
  const uint64_t y = moved(args.y, args.y_strides, batch, head);
  // A matrix at a time, by loops that end up without an index: where one is left, a driver keeps all results in local
  // memory, also while they are summed up.
  [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
    subgroupBarrier();
    coopMatStore(results[w], tiles, gl_SubgroupID * ROWS * RESULT_PITCH, RESULT_PITCH,
                 gl_CooperativeMatrixLayoutRowMajor);
    subgroupBarrier();
    for (uint i = gl_SubgroupInvocationID; i < ROWS * (MATRIX_N / 4); i += SUBGROUP_SIZE) {
      const uint row = i / (MATRIX_N / 4), four = i % (MATRIX_N / 4), column = w * MATRIX_N + four * 4;
      if (own0 + row >= args.queries || column >= args.width) {
        continue;
      }
      const vec4 values =
          quotient(row, uintBitsToFloat(tiles[(gl_SubgroupID * ROWS + row) * RESULT_PITCH + four]));
      const int at = int(own0 + row) * args.y_strides[2] + int(column) * args.y_strides[3];
      if ((WIDE & LEAT_ATTENTION_Y) != 0) {
        REALS4(y).v[at >> 2] = NARROW4(values);
      } else {
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          if (column + j < args.width) {
            REALS(y).v[at + int(j) * args.y_strides[3]] = NARROW(values[j]);
          }
        }
      }
    }
  }
}
