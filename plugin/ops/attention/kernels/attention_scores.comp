#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Scores of an attention, or the weights that they become, as a tensor of their own. A workgroup has one
// query of a head, and each of its threads every 64th key. Weights need the largest score and the sum of all weights
// first, so that scores are computed twice rather than kept in the narrower type of the result.
#define ATTENTION_MORE_ARGS uint64_t scores; uint keys, mode;
#include "attention_args.glsl"

#define THREADS 64
layout(local_size_x = THREADS) in;

shared float tops[THREADS], sums[THREADS];

// In the order of attention's own sums, four elements a round.
float product_of(uint64_t q, uint64_t k) {
  float sum = 0;
  for (uint e = 0; e < args.depth; e += 4) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      // A driver may read an element of the query, which all threads share, before it looks at the condition.
      const int at = int(min(e + j, args.depth - 1));
      if (e + j < args.depth) {
        sum = fma(ELEMENT(q, at * args.q_strides[3]), ELEMENT(k, at * args.k_strides[3]), sum);
      }
    }
  }
  return sum;
}

// The score of a key that is taken, with what is added to it; that of others is not asked for.
float masked_score(uint64_t q, uint64_t k, uint key, float added) {
  return score_of(product_of(q, k + uint64_t(int(key) * args.k_strides[2]) * ELEMENT_SIZE)) + added;
}

// Leaves tops[0] and sums[0] the largest score, and the sum of weights relative to it.
void join(uint thread, float top, float sum) {
  tops[thread] = top;
  sums[thread] = sum;
  for (uint n = THREADS / 2; n > 0; n /= 2) {
    barrier();
    if (thread < n) {
      const float higher = max(tops[thread], tops[thread + n]), base = higher == -LEAT_INFINITY ? 0 : higher;
      sums[thread] = sums[thread] * leat_exp(tops[thread] - base) + sums[thread + n] * leat_exp(tops[thread + n] - base);
      tops[thread] = higher;
    }
  }
  barrier();
}

void main() {
  const uint thread = gl_LocalInvocationIndex, group = leat_linear_group();
  if (group >= args.groups) {
    return;
  }
  const uint outer = divide(group, args.per_blocks), query = group - outer * args.blocks;
  const uint batch = divide(outer, args.per_heads), head = outer - batch * args.heads;
  begin_batch(batch);
  const uint64_t q = moved(args.q, args.q_strides, batch, head) +
                     uint64_t(int(query) * args.q_strides[2]) * ELEMENT_SIZE;
  const uint64_t k = moved(args.k, args.k_strides, batch, divide(head, args.per_share));
  const int mask = mask_row(batch, head, query);

  float base = 0, over = 0;
  bool zero = false;
  if (args.mode == LEAT_ATTENTION_SCORES_WEIGHTS) {
    const float sink = sink_of(head, query);
    float top = thread == 0 ? sink : -LEAT_INFINITY, sum = thread == 0 ? sink_weight(sink) : 0;
    for (uint key = thread; key < args.keys; key += THREADS) {
      const float added = added_to(query, key, mask);
      if (added != -LEAT_INFINITY) {
        const float score = masked_score(q, k, key, added), higher = max(top, max(score, LOWEST));
        sum = sum * leat_exp(top - higher) + leat_exp(score - higher);
        top = higher;
      }
    }
    join(thread, top, sum);
    base = tops[0] == -LEAT_INFINITY ? 0 : tops[0];
    const float total = total_of(sums[0], sums[0] == 0 && tops[0] != -LEAT_INFINITY);
    zero = gives_zero(total);
    over = zero ? 0 : 1.0 / total;
  }
  for (uint key = thread; key < args.keys; key += THREADS) {
    float value;
    if (args.mode <= LEAT_ATTENTION_SCORES_CAPPED) {
      const float product = product_of(q, k + uint64_t(int(key) * args.k_strides[2]) * ELEMENT_SIZE);
      value = args.mode == LEAT_ATTENTION_SCORES_PRODUCTS ? args.scale * product : score_of(product);
    } else {
      const float added = added_to(query, key, mask);
      const bool taken = added != -LEAT_INFINITY;
      const bool own = args.mode != LEAT_ATTENTION_SCORES_OWN || has_key(query, key);
      value = taken ? masked_score(q, k, key, added) : own ? -LEAT_INFINITY : 0;
      if (args.mode == LEAT_ATTENTION_SCORES_WEIGHTS) {
        // Softmax makes NaN of all numbers of a row that has one, those of keys that are not taken too.
        value = zero || (!taken && !leat_isnan(over)) ? 0 : taken ? leat_exp(value - base) * over : over;
      }
    }
    REALS(args.scores).v[group * args.keys + key] = NARROW(value);
  }
}
