// SPDX-License-Identifier: BSD-3-Clause
// Scores of attention_matrix.comp in the registers of matrices, by VK_NV_cooperative_matrix2. Products of queries and
// keys become factors of values as they are, for which MATRIX_N has to be MATRIX_K.
#ifndef LEAT_ATTENTION_SCORES_HELD_GLSL_
#define LEAT_ATTENTION_SCORES_HELD_GLSL_

const uint ACROSS_KEYS = KEYS / MATRIX_N;
SUMS scores[ACROSS_KEYS];
coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> weights[ACROSS_KEYS];
// In all columns the largest score of the row so far, for powers of 2, or the lowest finite number as long as no key is
// taken, so that a difference to it is never that of two infinities; and in each what the weights made there sum up to.
SUMS top, sum;

// What happens to elements of matrices, whose row and column come first.
float larger(const in float a, const in float b) { return max(a, b); }
float sum_of(const in float a, const in float b) { return a + b; }
float larger_of(const in uint32_t row, const in uint32_t column, const in float a, const in float b) {
  return max(a, b);
}
float power_of(const in uint32_t row, const in uint32_t column, const in float x) { return power(x); }
float exp2_of(const in uint32_t row, const in uint32_t column, const in float x) { return exp2(x); }
float quotient_of(const in uint32_t row, const in uint32_t column, const in float result, const in float total) {
  return gives_zero(total) ? 0 : result * (1.0 / total);
}
float total_at(const in uint32_t row, const in uint32_t column, const in float sum, const in float highest,
               const in uint32_t query0) {
  return total_of_row(sum, highest, query0 + row);
}
float sink_top(const in uint32_t row, const in uint32_t column, const in float x, const in uint32_t head,
               const in uint32_t query0) {
  return for_powers(sink_of(head, query0 + row));
}
float sink_sum(const in uint32_t row, const in uint32_t column, const in float x, const in uint32_t head,
               const in uint32_t query0) {
  return column == 0 ? sink_weight(sink_of(head, query0 + row)) : 0;
}
float masked(const in uint32_t row, const in uint32_t column, const in float product, const in uint32_t batch,
             const in uint32_t head, const in uint32_t query0, const in uint32_t key0) {
  const uint query = query0 + row;
  return score_taken(product, query, key0 + column, mask_row(batch, head, query));
}

void begin_scores(uint head, uint own0) {
  top = SUMS(0.0);
  coopMatPerElementNV(top, top, sink_top, head, own0);
  coopMatPerElementNV(sum, top, sink_sum, head, own0);
}

void multiply_keys() {
  [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
    scores[c] = SUMS(0.0);
    [[unroll]] for (uint d = 0; d < ACROSS_DEPTH; ++d) {
      scores[c] = coopMatMulAdd(queries[d], b_of_keys(c, d), scores[c]);
    }
  }
}

void multiply_values() {
  [[unroll]] for (uint j = 0; j < ACROSS_KEYS; ++j) {
    [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
      results[w] = coopMatMulAdd(weights[j], b_of_values(j, w), results[w]);
    }
  }
}

void take_tile(uint batch, uint head, uint own0, uint key0, bool bare) {
  multiply_keys();
  if (bare) {
    [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
      scores[c] = scores[c] * (args.scale * LOG2_E);
    }
  } else {
    [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
      coopMatPerElementNV(scores[c], scores[c], masked, batch, head, own0, key0 + c * MATRIX_N);
    }
  }
  SUMS most = scores[0], higher, smaller;
  [[unroll]] for (uint c = 1; c < ACROSS_KEYS; ++c) {
    coopMatPerElementNV(most, most, larger_of, scores[c]);
  }
  coopMatReduceNV(higher, most, gl_CooperativeMatrixReduceRowNV, larger);
  coopMatPerElementNV(higher, higher, larger_of, top);
  smaller = top - higher;
  coopMatPerElementNV(smaller, smaller, power_of);
  top = higher;
  sum = sum * smaller;
  [[unroll]] for (uint c = 0; c < ACROSS_KEYS; ++c) {
    SUMS weight = scores[c] - higher;
    // Where no key is masked, a score of -infinity is one of infinite or very large factors, and a weight that is almost 0
    // is as good as 0.
    if (bare) {
      coopMatPerElementNV(weight, weight, exp2_of);
    } else {
      coopMatPerElementNV(weight, weight, power_of);
    }
    sum = sum + weight;
    weights[c] = coopmat<MATRIX_NUMBER, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>(weight);
  }
  [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
    results[w] = results[w] * smaller;
  }
  multiply_values();
}

void end_scores(uint own0) {
  SUMS total;
  coopMatReduceNV(total, sum, gl_CooperativeMatrixReduceRowNV, sum_of);
  coopMatPerElementNV(total, total, total_at, top, own0);
  [[unroll]] for (uint w = 0; w < ACROSS_WIDTH; ++w) {
    coopMatPerElementNV(results[w], results[w], quotient_of, total);
  }
}

vec4 quotient(uint row, vec4 result) { return result; }

#endif
