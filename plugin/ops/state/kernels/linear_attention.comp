#version 460
// SPDX-License-Identifier: BSD-3-Clause
// LinearAttention: a state by head, a matrix with a row for each element of a key and a column for each of a value, is
// changed by each token, and read by its queries. Columns know nothing of each other: PARTS threads have one, and keep
// its elements in registers from token to token.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"
#include "reduce/kernels/rows.glsl"

LEAT_CONSTANT(uint, HELD, 1);      // elements of a column that a thread keeps, up to HELD_MOST
LEAT_CONSTANT(uint, DECAY, 0);     // the state fades: 0 not at all, 1 by a number for each head, 2 for each element of a key
LEAT_CONSTANT(uint, DELTA, 0);     // 1: of a value goes in what the state does not give for its key yet, times beta
LEAT_CONSTANT(uint, STATE_IN, 0);  // types of the states: 0 float32, 1 float16, 2 bfloat16
LEAT_CONSTANT(uint, STATE_OUT, 0);
struct Args {
  uint64_t query, key, value, past, decay, beta; // past: 0 for none, which is zeros
  uint64_t y, present;                           // present: 0 for none
  uint columns;                                  // of all states
  uint begin, end, tokens;                       // tokens of this dispatch, of tokens
  uint key_size, value_size;
  uint heads, query_heads, key_heads, y_heads;   // heads: of values and states
  uint reads;                                    // queries of a state
  uint betas;                                    // numbers of a token, 1 or heads
  float scale;
  Divider per_value_size, per_heads;
};
LEAT_ARGS

#define HELD_MOST 8
shared float space[LEAT_ROW_SPACE];

float add(float a, float b) { return a + b; }
LEAT_ROW_COMBINE(row_sum, float, space, add)

float load_state(uint64_t from, uint at) {
  if (STATE_IN == 0) {
    return F32(from).v[at];
  }
  const uint bits = uint(U16(from).v[at]);
  return STATE_IN == 1 ? leat_from_F16(bits) : leat_from_BF16(bits);
}

void store_state(uint64_t to, uint at, float x) {
  if (STATE_OUT == 0) {
    F32(to).v[at] = x;
  } else {
    U16(to).v[at] = uint16_t(STATE_OUT == 1 ? leat_to_F16(x) : leat_to_BF16(x));
  }
}

void main() {
  const uint block = leat_linear_group();
  if (block * ROWS >= args.columns) {
    return;
  }
  // A row past the last is that one again, which stores nothing.
  const uint row = block * ROWS + row_own(), column = min(row, args.columns - 1);
  const uint state = divide(column, args.per_value_size), j = column - state * args.value_size;
  const uint batch = divide(state, args.per_heads), head = state - batch * args.heads;
  const uint key_head = head * args.key_heads / args.heads;
  const uint first = row_part();
  const bool stores = row < args.columns && first == 0;
  const uint state_at = state * args.key_size * args.value_size + j;

  float held[HELD_MOST];
  [[unroll]] for (uint n = 0; n < HELD_MOST; ++n) {
    const uint i = first + n * PARTS;
    held[n] = n < HELD && i < args.key_size && args.past != 0 ? load_state(args.past, state_at + i * args.value_size)
                                                              : 0.0;
  }
  for (uint t = args.begin; t < args.end; ++t) {
    const uint token = batch * args.tokens + t;
    const uint key_at = (token * args.key_heads + key_head) * args.key_size;
    float keys[HELD_MOST];
    float given = 0;
    const float faded = DECAY == 1 ? leat_exp(ELEMENT(args.decay, token * args.heads + head)) : 1.0;
    [[unroll]] for (uint n = 0; n < HELD_MOST; ++n) {
      const uint i = first + n * PARTS;
      keys[n] = 0;
      if (n < HELD && i < args.key_size) {
        keys[n] = ELEMENT(args.key, key_at + i);
        if (DECAY == 1) {
          held[n] *= faded;
        } else if (DECAY == 2) {
          held[n] *= leat_exp(ELEMENT(args.decay, (token * args.heads + head) * args.key_size + i));
        }
        if (DELTA != 0) {
          given = fma(held[n], keys[n], given);
        }
      }
    }
    float put = ELEMENT(args.value, (token * args.heads + head) * args.value_size + j);
    if (DELTA != 0) {
      put = ELEMENT(args.beta, token * args.betas + (args.betas == 1 ? 0 : head)) * (put - row_sum(given));
    }
    [[unroll]] for (uint n = 0; n < HELD_MOST; ++n) {
      if (n < HELD) {
        held[n] = fma(keys[n], put, held[n]);
      }
    }
    for (uint g = 0; g < args.reads; ++g) {
      // With more states than queries several read by one query.
      const uint query_head = args.query_heads < args.heads ? head * args.query_heads / args.heads : head * args.reads + g;
      const uint query_at = (token * args.query_heads + query_head) * args.key_size;
      float sum = 0;
      [[unroll]] for (uint n = 0; n < HELD_MOST; ++n) {
        const uint i = first + n * PARTS;
        if (n < HELD && i < args.key_size) {
          sum = fma(ELEMENT(args.query, query_at + i), held[n], sum);
        }
      }
      sum = row_sum(sum);
      if (stores) {
        REALS(args.y).v[(token * args.y_heads + head * args.reads + g) * args.value_size + j] = NARROW(args.scale * sum);
      }
    }
  }
  if (args.present != 0 && row < args.columns) {
    [[unroll]] for (uint n = 0; n < HELD_MOST; ++n) {
      const uint i = first + n * PARTS;
      if (n < HELD && i < args.key_size) {
        store_state(args.present, state_at + i * args.value_size, held[n]);
      }
    }
  }
}
