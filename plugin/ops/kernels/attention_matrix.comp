#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Attention of operands of 16 bits on matrix hardware (VK_KHR_cooperative_matrix), as attention.comp, sums in float32:
// each subgroup has ROWS queries of one head, and all of a workgroup go through the keys KEYS at a time. Weights,
// relative to the largest score so far, are at most 1; they are rounded to the type of the operands before they are
// multiplied by values, and summed up as they are.
//
// HEAD: elements of a head, of queries and keys and of values, that the kernel has room for.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#include "attention_args.glsl"

LEAT_CONSTANT(uint, WIDE, 0);     // these operands are moved eight elements at a time, the result four
LEAT_CONSTANT(uint, DEPTH, 16);   // elements of a head of queries and keys, and of values, rounded up to the multiple
LEAT_CONSTANT(uint, WIDTH, 16);   // of 16 that matrices are made of
LEAT_CONSTANT(uint, THREADS, 64); // of a workgroup: of all its subgroups
layout(local_size_x_id = CONSTANT_THREADS) in;
#include "matrix_size.glsl"

#define ROWS LEAT_ATTENTION_MATRIX_ROWS
#define KEYS LEAT_ATTENTION_KEYS
#define SUBGROUPS_MOST LEAT_ATTENTION_MATRIX_SUBGROUPS
const uint QUERIES = THREADS / SUBGROUP_SIZE * ROWS; // of a workgroup

// What is in shared memory lies there by eights of 16 bits, or fours of float32. From one row to the next there is one
// more than needed, so that rows begin in different banks.
#define PITCH (HEAD / 8 + 1)
#define SCORE_PITCH (KEYS / 4 + KEYS / 8 + 1)
// Queries, for which two tiles are just enough (SUBGROUPS_MOST * ROWS is 2 * KEYS), and afterwards a tile of keys and
// one of values.
#define TILE (KEYS * PITCH)
#if SUBGROUPS_MOST * ROWS > 2 * KEYS
#error "queries do not fit where tiles of keys and values lie"
#endif
shared uvec4 tiles[2 * TILE];
// For each query of a subgroup a row of scores, behind them their weights, and one place where the threads of a row
// tell each other a number each. What earlier results are scaled by lies later, MATRIX_N times, where scores were.
shared uvec4 scores[SUBGROUPS_MOST * ROWS * SCORE_PITCH];
#define WEIGHTS (KEYS / 4)
#define TOLD (WEIGHTS + KEYS / 8)

// Threads of a subgroup for each row, at most 4: rows of one thread follow each other by SUBGROUP_SIZE.
const uint PER_ROW = SUBGROUP_SIZE > ROWS ? SUBGROUP_SIZE / ROWS : 1;
const uint OWN_ROWS = SUBGROUP_SIZE > ROWS ? 1 : ROWS / SUBGROUP_SIZE;

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
    held_k[i] = fetch(LEAT_ATTENTION_K, k, key0 + at.x, at.y * 8, args.k_strides[2], args.k_strides[3],
                      key_count, args.depth);
  }
  [[unroll]] for (uint i = 0; i < LOADS_V; ++i) {
    const uvec2 at = place_v(i);
    held_v[i] = fetch(LEAT_ATTENTION_V, v, key0 + at.x, at.y * 8, args.v_strides[2], args.v_strides[3],
                      key_count, args.width);
  }
}

void keep_tiles() {
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
const uint DOWN = ROWS / MATRIX_M;
coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> queries[DOWN * ACROSS_DEPTH];
coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> results[DOWN * ACROSS_WIDTH];

// Where the scores of this thread's row number `i`, of OWN_ROWS, begin, and the first of the fours that it has there.
uvec2 score_place(uint i) {
  const uint at = gl_SubgroupInvocationID + i * SUBGROUP_SIZE;
  return uvec2((gl_SubgroupID * ROWS + at % ROWS) * SCORE_PITCH, at / ROWS);
}

// Puts the products of a subgroup's queries with the keys of the tile where scores lie.
void multiply_keys() {
  for (uint c = 0; c < KEYS / MATRIX_N; ++c) {
    coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[DOWN];
    [[unroll]] for (uint r = 0; r < DOWN; ++r) {
      sums[r] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
    }
    [[unroll]] for (uint d = 0; d < ACROSS_DEPTH; ++d) {
      coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> b;
      coopMatLoad(b, tiles, c * MATRIX_N * PITCH + d * MATRIX_K / 8, PITCH, gl_CooperativeMatrixLayoutColumnMajor);
      [[unroll]] for (uint r = 0; r < DOWN; ++r) {
        sums[r] = coopMatMulAdd(queries[r * ACROSS_DEPTH + d], b, sums[r]);
      }
    }
    [[unroll]] for (uint r = 0; r < DOWN; ++r) {
      coopMatStore(sums[r], scores, (gl_SubgroupID * ROWS + r * MATRIX_M) * SCORE_PITCH + c * MATRIX_N / 4, SCORE_PITCH,
                   gl_CooperativeMatrixLayoutRowMajor);
    }
  }
}

// Scales what there is of results, and adds the products of weights with the values of the tile.
void multiply_values() {
  [[unroll]] for (uint r = 0; r < DOWN; ++r) {
    const uint own = (gl_SubgroupID * ROWS + r * MATRIX_M) * SCORE_PITCH;
    coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> factors;
    coopMatLoad(factors, scores, own, SCORE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      results[r * ACROSS_WIDTH + w] = results[r * ACROSS_WIDTH + w] * factors;
    }
  }
  for (uint j = 0; j < KEYS / MATRIX_K; ++j) {
    coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> a[DOWN];
    [[unroll]] for (uint r = 0; r < DOWN; ++r) {
      coopMatLoad(a[r], scores, (gl_SubgroupID * ROWS + r * MATRIX_M) * SCORE_PITCH + WEIGHTS + j * MATRIX_K / 8,
                  SCORE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    }
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> b;
      coopMatLoad(b, tiles, TILE + j * MATRIX_K * PITCH + w * MATRIX_N / 8, PITCH, gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (uint r = 0; r < DOWN; ++r) {
        results[r * ACROSS_WIDTH + w] = coopMatMulAdd(a[r], b, results[r * ACROSS_WIDTH + w]);
      }
    }
  }
}

float top_of(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }
float sum_of(vec4 x) { return (x.x + x.y) + (x.z + x.w); }

// 2^x. What GLSL's own may be off by, 3 + 2 |x| ulp of float32, is little beside the rounding of a weight that is not
// almost 0; nothing is said of its result for -infinity.
float power(float x) { return x == -LEAT_INFINITY ? 0 : exp2(x); }
vec4 power4(vec4 x) { return vec4(power(x.x), power(x.y), power(x.z), power(x.w)); }
#define LOG2_E 1.44269504

void main() {
  const uint group = leat_linear_group();
  if (group >= args.groups) {
    return;
  }
  const uint outer = group / args.blocks;
  const uint batch = outer / args.heads, head = outer - batch * args.heads;
  const uint query0 = (group - outer * args.blocks) * QUERIES;
  const uint own0 = query0 + gl_SubgroupID * ROWS; // the first query of the subgroup
  const uint64_t q = moved(args.q, args.q_strides, batch, head);
  const uint64_t k = moved(args.k, args.k_strides, batch, head / args.share);
  const uint64_t v = moved(args.v, args.v_strides, batch, head / args.share);
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
  [[unroll]] for (uint r = 0; r < DOWN; ++r) {
    [[unroll]] for (uint d = 0; d < ACROSS_DEPTH; ++d) {
      coopMatLoad(queries[r * ACROSS_DEPTH + d], tiles,
                  (gl_SubgroupID * ROWS + r * MATRIX_M) * PITCH + d * MATRIX_K / 8, PITCH,
                  gl_CooperativeMatrixLayoutRowMajor);
    }
  }
  [[unroll]] for (uint e = 0; e < DOWN * ACROSS_WIDTH; ++e) {
    results[e] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
  }

  // Of each row of a thread: the largest score so far, and what the weights that it made sum up to. Scores are for
  // powers of 2.
  float top[OWN_ROWS], sum[OWN_ROWS];
  [[unroll]] for (uint i = 0; i < OWN_ROWS; ++i) {
    top[i] = -LEAT_INFINITY;
    sum[i] = 0;
  }
  // Of the keys from here to there none is masked for a query of this subgroup. A score is then its product times what
  // is not negative, and small enough for any product of float16: products stay what they are, and the factor is part of
  // the argument of the powers.
  const bool linear =
      args.mask_kind == LEAT_ATTENTION_MASK_NONE && args.cap == 0 && args.scale >= 0 && args.scale < 1e20;
  const uint bare_begin = uint(max(position_of(own0 + ROWS - 1) - args.before, 0));
  const uint bare_end = linear ? min(mask_count, keys_up_to(own0)) : 0;
  for (uint key0 = key_begin; key0 < keys; key0 += KEYS) {
    barrier(); // nobody reads the tiles any more
    keep_tiles();
    barrier();
    if (key0 + KEYS < keys) {
      fetch_tiles(k, v, key0 + KEYS);
    }
    multiply_keys();
    subgroupBarrier();

    const bool bare = key0 >= bare_begin && key0 + KEYS <= bare_end;
    const float factor = bare ? args.scale * LOG2_E : 1;
    for (uint i = 0; i < OWN_ROWS; ++i) {
      const uvec2 at = score_place(i);
      float own_top = -LEAT_INFINITY;
      if (bare) {
        for (uint four = at.y; four < KEYS / 4; four += PER_ROW) {
          own_top = max(own_top, top_of(uintBitsToFloat(scores[at.x + four])));
        }
        own_top *= factor;
      } else {
        const uint query = own0 + (gl_SubgroupInvocationID + i * SUBGROUP_SIZE) % ROWS;
        const int mask = mask_row(batch, head, query);
        for (uint four = at.y; four < KEYS / 4; four += PER_ROW) {
          vec4 own = uintBitsToFloat(scores[at.x + four]);
          [[unroll]] for (uint j = 0; j < 4; ++j) {
            const float added = added_to(query, key0 + four * 4 + j, mask);
            // A key that is not taken counts for nothing, whatever its score.
            own[j] = added == -LEAT_INFINITY ? added : (score_of(own[j]) + added) * LOG2_E;
          }
          scores[at.x + four] = floatBitsToUint(own);
          own_top = max(own_top, top_of(own));
        }
      }
      scores[at.x + TOLD][at.y] = floatBitsToUint(max(top[i], own_top));
    }
    subgroupBarrier();

    for (uint i = 0; i < OWN_ROWS; ++i) {
      const uvec2 at = score_place(i);
      float higher = uintBitsToFloat(scores[at.x + TOLD].x);
      for (uint j = 1; j < PER_ROW; ++j) {
        higher = max(higher, uintBitsToFloat(scores[at.x + TOLD][j]));
      }
      // As long as no key is taken, there is nothing to be relative to.
      const float base = higher == -LEAT_INFINITY ? 0 : higher;
      const float smaller = power(top[i] - base);
      float own_sum = 0;
      for (uint four = at.y; four < KEYS / 4; four += PER_ROW) {
        const vec4 weights = power4(fma(uintBitsToFloat(scores[at.x + four]), vec4(factor), vec4(-base)));
        const uvec2 rounded = NARROW4(weights);
        own_sum += sum_of(weights);
        if (four % 2 == 0) {
          scores[at.x + WEIGHTS + four / 2].xy = rounded;
        } else {
          scores[at.x + WEIGHTS + four / 2].zw = rounded;
        }
      }
      // Over scores that this thread has read.
      for (uint four = at.y; four < MATRIX_N / 4; four += PER_ROW) {
        scores[at.x + four] = floatBitsToUint(vec4(smaller));
      }
      top[i] = higher;
      sum[i] = fma(sum[i], smaller, own_sum);
    }
    subgroupBarrier();
    multiply_values();
  }

  [[unroll]] for (uint i = 0; i < OWN_ROWS; ++i) {
    const uvec2 at = score_place(i);
    scores[at.x + TOLD][at.y] = floatBitsToUint(sum[i]);
  }
  const uint64_t y = moved(args.y, args.y_strides, batch, head);
  // A matrix at a time, by loops that end up without an index: where one is left, a driver keeps all results in local
  // memory, also while they are summed up.
  [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
    subgroupBarrier();
    [[unroll]] for (uint r = 0; r < DOWN; ++r) {
      coopMatStore(results[r * ACROSS_WIDTH + w], scores, (gl_SubgroupID * ROWS + r * MATRIX_M) * SCORE_PITCH,
                   SCORE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    }
    subgroupBarrier();
    for (uint i = gl_SubgroupInvocationID; i < ROWS * (MATRIX_N / 4); i += SUBGROUP_SIZE) {
      const uint row = i / (MATRIX_N / 4), four = i % (MATRIX_N / 4), column = w * MATRIX_N + four * 4;
      if (own0 + row >= args.queries || column >= args.width) {
        continue;
      }
      const uint at_row = (gl_SubgroupID * ROWS + row) * SCORE_PITCH;
      float total = uintBitsToFloat(scores[at_row + TOLD].x);
      for (uint j = 1; j < PER_ROW; ++j) {
        total += uintBitsToFloat(scores[at_row + TOLD][j]);
      }
      const vec4 values = total == 0 ? vec4(0) : uintBitsToFloat(scores[at_row + four]) * (1.0 / total);
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
