// SPDX-License-Identifier: BSD-3-Clause
// Scores of attention_matrix.comp in the registers of matrices, by VK_NV_cooperative_matrix2. Products of queries and
// keys become factors of values as they are, for which MATRIX_N has to be MATRIX_K.
#ifndef LEAT_ATTENTION_SCORES_HELD_GLSL_
#define LEAT_ATTENTION_SCORES_HELD_GLSL_

const uint ACROSS_KEYS = KEYS / MATRIX_N;
SUMS scores[DOWN * ACROSS_KEYS];
coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> weights[DOWN * ACROSS_KEYS];
// In all columns the largest score of the row so far, for powers of 2; and in each what the weights made there sum up to.
SUMS top[DOWN], sum[DOWN];

// What happens to elements of matrices, whose row and column come first.
float larger(const in float a, const in float b) { return max(a, b); }
float sum_of(const in float a, const in float b) { return a + b; }
float larger_of(const in uint32_t row, const in uint32_t column, const in float a, const in float b) {
  return max(a, b);
}
float power_of(const in uint32_t row, const in uint32_t column, const in float x) { return power(x); }
// As long as no key is taken, there is nothing to be relative to.
float base_of(const in uint32_t row, const in uint32_t column, const in float top) {
  return top == -LEAT_INFINITY ? 0 : top;
}
float quotient_of(const in uint32_t row, const in uint32_t column, const in float result, const in float total) {
  return total == 0 ? 0 : result * (1.0 / total);
}
float sink_top(const in uint32_t row, const in uint32_t column, const in float x, const in uint32_t head,
               const in uint32_t query0) {
  return sink_of(head, query0 + row) * LOG2_E;
}
float sink_sum(const in uint32_t row, const in uint32_t column, const in float top) {
  return column == 0 ? sink_weight(top) : 0;
}
// A key that is not taken counts for nothing, whatever its score.
float masked(const in uint32_t row, const in uint32_t column, const in float product, const in uint32_t batch,
             const in uint32_t head, const in uint32_t query0, const in uint32_t key0) {
  const uint query = query0 + row;
  const float added = added_to(query, key0 + column, mask_row(batch, head, query));
  return added == -LEAT_INFINITY ? added : (score_of(product) + added) * LOG2_E;
}

void begin_scores(uint head, uint own0) {
  [[unroll]] for (uint r = 0; r < DOWN; ++r) {
    top[r] = SUMS(0.0);
    coopMatPerElementNV(top[r], top[r], sink_top, head, own0 + r * MATRIX_M);
    coopMatPerElementNV(sum[r], top[r], sink_sum);
  }
}

void multiply_keys() {
  [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
    [[unroll]] for (uint r = 0; r < DOWN; ++r) {
      scores[r * ACROSS_KEYS + c] = SUMS(0.0);
    }
    [[unroll]] for (uint d = 0; d < ACROSS_DEPTH; ++d) {
      const FACTORS b = b_of_keys(c, d);
      [[unroll]] for (uint r = 0; r < DOWN; ++r) {
        scores[r * ACROSS_KEYS + c] = coopMatMulAdd(queries[r * ACROSS_DEPTH + d], b, scores[r * ACROSS_KEYS + c]);
      }
    }
  }
}

void multiply_values() {
  [[unroll]] for (uint j = 0; j < ACROSS_KEYS; ++j) {
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      const FACTORS b = b_of_values(j, w);
      [[unroll]] for (uint r = 0; r < DOWN; ++r) {
        results[r * ACROSS_WIDTH + w] = coopMatMulAdd(weights[r * ACROSS_KEYS + j], b, results[r * ACROSS_WIDTH + w]);
      }
    }
  }
}

void take_tile(uint batch, uint head, uint own0, uint key0, bool bare) {
  multiply_keys();
  if (bare) {
    [[unroll]] for (uint i = 0; i < DOWN * ACROSS_KEYS; ++i) {
      scores[i] = scores[i] * (args.scale * LOG2_E);
    }
  } else {
    [[unroll]] for (uint r = 0; r < DOWN; ++r) {
      [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
        coopMatPerElementNV(scores[r * ACROSS_KEYS + c], scores[r * ACROSS_KEYS + c], masked, batch, head,
                            own0 + r * MATRIX_M, key0 + c * MATRIX_N);
      }
    }
  }
  [[unroll]] for (uint r = 0; r < DOWN; ++r) {
    SUMS most = scores[r * ACROSS_KEYS], higher, base, smaller;
    [[unroll]] for (uint c = 1; c < ACROSS_KEYS; ++c) {
      coopMatPerElementNV(most, most, larger_of, scores[r * ACROSS_KEYS + c]);
    }
    coopMatReduceNV(higher, most, gl_CooperativeMatrixReduceRowNV, larger);
    coopMatPerElementNV(higher, higher, larger_of, top[r]);
    coopMatPerElementNV(base, higher, base_of);
    smaller = top[r] - base;
    coopMatPerElementNV(smaller, smaller, power_of);
    top[r] = higher;
    sum[r] = sum[r] * smaller;
    [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
      SUMS weight = scores[r * ACROSS_KEYS + c] - base;
      coopMatPerElementNV(weight, weight, power_of);
      sum[r] = sum[r] + weight;
      weights[r * ACROSS_KEYS + c] = coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>(weight);
    }
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      results[r * ACROSS_WIDTH + w] = results[r * ACROSS_WIDTH + w] * smaller;
    }
  }
  multiply_values();
}

void end_scores() {
  [[unroll]] for (uint r = 0; r < DOWN; ++r) {
    SUMS total;
    coopMatReduceNV(total, sum[r], gl_CooperativeMatrixReduceRowNV, sum_of);
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      coopMatPerElementNV(results[r * ACROSS_WIDTH + w], results[r * ACROSS_WIDTH + w], quotient_of, total);
    }
  }
}

vec4 quotient(uint row, vec4 result) { return result; }

#endif
