// SPDX-License-Identifier: BSD-3-Clause
// Scores of attention_matrix.comp in shared memory, through which threads get at those of a query.
#ifndef LEAT_ATTENTION_SCORES_SHARED_GLSL_
#define LEAT_ATTENTION_SCORES_SHARED_GLSL_

#define SCORE_PITCH (KEYS_MOST / 4 + KEYS_MOST / 8 + 1)
// For each query of a subgroup a row of scores, behind them their weights, and one place where the threads of a row
// tell each other a number each. What earlier results are scaled by lies later, MATRIX_N times, where scores were.
shared uvec4 scores[SUBGROUPS_MOST * ROWS_MOST * SCORE_PITCH];
#define WEIGHTS (KEYS_MOST / 4)
#define TOLD (WEIGHTS + KEYS_MOST / 8)

// Threads of a subgroup for each row, at most 4: rows of one thread follow each other by SUBGROUP_SIZE.
const uint PER_ROW = SUBGROUP_SIZE > ROWS ? SUBGROUP_SIZE / ROWS : 1;
const uint OWN_ROWS = SUBGROUP_SIZE > ROWS ? 1 : ROWS / SUBGROUP_SIZE;
// Of each row of a thread: the largest score so far, LOWEST as long as no key is taken, and what the weights that it made
// sum up to. Scores are for powers of 2.
float top[OWN_ROWS], sum[OWN_ROWS];

// Where the scores of this thread's row number `i`, of OWN_ROWS, begin, and the first of the fours that it has there.
uvec2 score_place(uint i) {
  const uint at = gl_SubgroupInvocationID + i * SUBGROUP_SIZE;
  return uvec2((gl_SubgroupID * ROWS + at % ROWS) * SCORE_PITCH, at / ROWS);
}

void begin_scores(uint head, uint own0) {
  [[unroll]] for (uint i = 0; i < OWN_ROWS; ++i) {
    const uint at = gl_SubgroupInvocationID + i * SUBGROUP_SIZE;
    const float sink = sink_of(head, own0 + at % ROWS);
    top[i] = for_powers(sink);
    sum[i] = at < ROWS ? sink_weight(sink) : 0;
  }
}

// Puts the products of a subgroup's queries with the keys of the tile where scores lie.
void multiply_keys() {
  for (uint c = 0; c < KEYS / MATRIX_N; ++c) {
    SUMS sums = SUMS(0.0);
    [[unroll]] for (uint d = 0; d < ACROSS_DEPTH; ++d) {
      sums = coopMatMulAdd(queries[d], b_of_keys(c, d), sums);
    }
    coopMatStore(sums, scores, gl_SubgroupID * ROWS * SCORE_PITCH + c * MATRIX_N / 4, SCORE_PITCH,
                 gl_CooperativeMatrixLayoutRowMajor);
  }
}

// Scales what there is of results, and adds the products of weights with the values of the tile.
void multiply_values() {
  const uint own = gl_SubgroupID * ROWS * SCORE_PITCH;
  SUMS factors;
  coopMatLoad(factors, scores, own, SCORE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
  [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
    results[w] = results[w] * factors;
  }
  for (uint j = 0; j < KEYS / MATRIX_K; ++j) {
    coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> a;
    coopMatLoad(a, scores, own + WEIGHTS + j * MATRIX_K / 8, SCORE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      results[w] = coopMatMulAdd(a, b_of_values(j, w), results[w]);
    }
  }
}

float top_of(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }
float sum_of(vec4 x) { return (x.x + x.y) + (x.z + x.w); }
vec4 power4(vec4 x) { return vec4(power(x.x), power(x.y), power(x.z), power(x.w)); }

void take_tile(uint batch, uint head, uint own0, uint key0, bool bare) {
  multiply_keys();
  subgroupBarrier();

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
          own[j] = score_taken(own[j], query, key0 + four * 4 + j, mask);
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
    const float smaller = power(top[i] - higher);
    float own_sum = 0;
    for (uint four = at.y; four < KEYS / 4; four += PER_ROW) {
      // Rounded as the largest of them was, which is to become exactly 0.
      precise const vec4 score = uintBitsToFloat(scores[at.x + four]) * factor;
      precise const vec4 relative = score - higher;
      const vec4 weights = power4(relative);
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

void end_scores(uint own0) {
  [[unroll]] for (uint i = 0; i < OWN_ROWS; ++i) {
    const uvec2 at = score_place(i);
    const uint query = own0 + (gl_SubgroupInvocationID + i * SUBGROUP_SIZE) % ROWS;
    scores[at.x + TOLD][at.y] = floatBitsToUint(total_of_row(sum[i], top[i], query));
  }
}

vec4 quotient(uint row, vec4 result) {
  const uint at_row = (gl_SubgroupID * ROWS + row) * SCORE_PITCH;
  float total = uintBitsToFloat(scores[at_row + TOLD].x);
  for (uint j = 1; j < PER_ROW; ++j) {
    total += uintBitsToFloat(scores[at_row + TOLD][j]);
  }
  return gives_zero(total) ? vec4(0) : result * (1.0 / total);
}

#endif
