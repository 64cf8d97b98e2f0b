#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Steps of LSTM, GRU and RNN. The products of the inputs with their weights are there; a round adds up those of the
// state of the step before with the recurrent weights, and computes the next state of it. A step is one round, or with
// TWICE two: then the second one's sums are of the state times the reset gate, which the first one gives.
//
// A workgroup has some units of a direction, with all gates, and some rows of the batch. A thread adds up four
// neighbouring columns of the weights, which lie with k slowest, over a part of k; the parts of a column are put together
// in shared memory, and one thread for each unit and row, the unit's owner, computes the gates. With WHOLE a workgroup
// has all units and goes through many rounds, in which the states stay in shared memory; without it each round is a
// dispatch.
//
// With QUANTIZED the weights are bytes, and the sums of a step are of integers: each row of the states is quantised as
// DynamicQuantizeLinear does, by its own range.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "elementwise/kernels/functions.glsl"
#if defined(QUANTIZED)
#include "elementwise/kernels/quotient.glsl"
#endif
#include "recurrent_codes.glsl"

#if defined(LSTM)
#define GATES 4 // input, output, forget, cell
#elif defined(GRU)
#define GATES 3 // update, reset, hidden
#else
#define GATES 1
#endif

LEAT_CONSTANT(uint, THREADS, 128);
layout(local_size_x_id = CONSTANT_THREADS) in;
LEAT_CONSTANT(uint, ROWS, 1);    // of a workgroup
LEAT_CONSTANT(uint, PASS, 1);    // rows whose sums are put together at once; divides ROWS
LEAT_CONSTANT(uint, WHOLE, 0);
LEAT_CONSTANT(uint, VECTORS, 1); // with WHOLE: fours of all rows' states, at least; else 1
LEAT_CONSTANT(uint, HELD, 0);    // with WHOLE: fours of k whose weights a thread keeps from round to round
LEAT_CONSTANT(uint, QUADS, 0);   // 1: there are whole fours of units, and the weights and initial states are aligned
LEAT_CONSTANT(uint, STANDARD, 0); // 1: the activations are Sigmoid and Tanh as the specification has them
LEAT_CONSTANT(uint, TWICE, 0);
const uint PASSES = ROWS / PASS;

struct Activation {
  uint operation;
  float p, q;
};
struct Args {
  uint64_t weights;            // [direction][k][gate][unit]
  uint64_t products;           // of the inputs
  uint64_t bias;               // [direction][of inputs, of states][gate][unit], or 0
  uint64_t peepholes;          // [direction][input, output, forget][unit], or 0
  uint64_t lengths;            // of the batch's sequences, or 0: all have all steps
  uint64_t initial_h, initial_c; // or 0: zeros
  uint64_t vector;             // float32, [direction][row][state_row]: what the sums are of
  uint64_t h;                  // and the states before,
  uint64_t next;               // and what the rounds give for those that follow;
  uint64_t own;                // what only a unit's owner reads: cells, or in the first of two rounds the update gates
  uint64_t y, y_h, y_c;        // or 0
  uint64_t weight_scale, weight_zero; // of bytes: [direction] or [direction][gate][unit]
  uint begin, end;             // rounds
  uint steps, batch, units, directions;
  uint fours;                  // of units, of a workgroup
  uint blocks, row_blocks;     // workgroups of a direction
  Divider per_fours, per_blocks, per_row_blocks;
  uint parts[2], part_fours[2]; // of k, by round of a step
  uint state_row;              // a multiple of 4
  uint product_step, product_row;
  uint initial_direction, initial_row; // also of y_h and y_c
  uint y_step, y_direction, y_row;
  uint reverse;
  uint input_forget, last;     // last: the rounds end the sequence
  float clip;                  // infinite: none
  uint weight_column;          // 1: each column of the weights has a scale of its own
  uint weight_turn;            // what makes a byte of the weights, or a zero point, one with a sign: 0 or 0x80 in each
  Activation activations[LEAT_RECURRENT_DIRECTIONS * LEAT_RECURRENT_ACTIVATIONS];
};
LEAT_ARGS

#if defined(QUANTIZED)
#define SUM ivec4
#else
#define SUM vec4
#endif
shared SUM partial[PASS * THREADS];
shared vec4 states[VECTORS];

uint thread = gl_LocalInvocationIndex;
uint direction, row0, unit0;
uint gates, first_gate; // of the round
bool initial;           // the round's step is the first

float activation(uint number, float x) {
  if (STANDARD != 0) {
#if defined(RNN)
    return leat_tanh(x);
#else
    return number == 0 ? leat_sigmoid(x) : leat_tanh(x);
#endif
  }
  const Activation a = args.activations[direction * LEAT_RECURRENT_ACTIVATIONS + number];
  // Each by itself, so that a kernel has these alone.
  switch (a.operation) {
    case LEAT_RECURRENT_AFFINE:
      return a.p * x + a.q;
    case LEAT_RECURRENT_SCALED_TANH:
      return a.p * leat_tanh(a.q * x);
    case LEAT_EW_SIGMOID:
      return leat_sigmoid(x);
    case LEAT_EW_TANH:
      return leat_tanh(x);
    case LEAT_EW_RELU:
      return function_plain(LEAT_EW_RELU, x, a.p, a.q);
    case LEAT_EW_LEAKY_RELU:
      return function_plain(LEAT_EW_LEAKY_RELU, x, a.p, a.q);
    case LEAT_EW_THRESHOLDED_RELU:
      return function_plain(LEAT_EW_THRESHOLDED_RELU, x, a.p, a.q);
    case LEAT_EW_HARD_SIGMOID:
      return function_plain(LEAT_EW_HARD_SIGMOID, x, a.p, a.q);
    case LEAT_EW_SOFTSIGN:
      return function_plain(LEAT_EW_SOFTSIGN, x, a.p, a.q);
    case LEAT_EW_ELU:
      return function_exponential(LEAT_EW_ELU, x, a.p, a.q);
    default:
      return function_exponential(LEAT_EW_SOFTPLUS, x, a.p, a.q);
  }
}

float clipped(float x) { return leat_isinf(args.clip) ? x : function_clip(x, -args.clip, args.clip); }

uint batch_row(uint row) { return min(row0 + row, args.batch - 1); }

// Element of an initial state.
float initial_of(uint64_t from, uint row, uint unit) {
  return from != 0 ? ELEMENT(from, direction * args.initial_direction + batch_row(row) * args.initial_row + unit) : 0.0;
}
uint state_at(uint row, uint unit) { return (direction * args.batch + batch_row(row)) * args.state_row + unit; }

// The first `count` of four numbers, and 0.
vec4 upto(vec4 x, uint count) { return mix(vec4(0), x, lessThan(uvec4(0, 1, 2, 3), uvec4(count))); }

// Four elements of the states. Those past its end are 0.
vec4 states_of(uint row, uint four, bool from_initial) {
  if (WHOLE != 0) {
    return states[row * ((args.units + 3) >> 2) + four];
  }
  if (QUADS != 0) {
    if (!from_initial) {
      return F32x4(args.vector).v[state_at(row, four * 4) >> 2];
    }
    return args.initial_h != 0 ? QUAD(args.initial_h, (direction * args.initial_direction +
                                                       batch_row(row) * args.initial_row + four * 4) >> 2)
                               : vec4(0);
  }
  // Without a branch for each: what is past the end is read from the end.
  vec4 x;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const uint unit = min(four * 4 + i, args.units - 1);
    x[i] = from_initial ? initial_of(args.initial_h, row, unit) : F32(args.vector).v[state_at(row, unit)];
  }
  return upto(x, args.units - four * 4);
}

#if defined(QUANTIZED)
shared vec4 row_scales[ROWS]; // scale, its inverse, zero point

vec4 steps_of(uint row, vec4 x) {
  const vec4 by = row_scales[row];
  return vec4(quantized4_by(Divisor(by.x, by.y), x, int(by.z), 0, 255) - int(by.z));
}

vec2 wider(vec2 range, vec2 other) { return vec2(min(range.x, other.x), max(range.y, other.y)); }

// Finds the scale of each row of the states, and with WHOLE quantises them. A row's range has as many threads as there
// are for each.
void quantize_rows(bool from_initial) {
  const uint each = THREADS / ROWS, row = thread / each, i = thread - row * each, fours = (args.units + 3) >> 2;
  vec2 range = vec2(0);
  if (row < ROWS) {
    for (uint four = i; four < fours; four += each) {
      const vec4 x = states_of(row, four, from_initial);
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        range = wider(range, vec2(x[j]));
      }
    }
  }
  partial[thread].xy = floatBitsToInt(range);
  for (uint n = each; n > 1;) {
    const uint next = (n + 3) / 4;
    barrier();
    if (row < ROWS && i < next) {
      [[unroll]] for (uint j = 1; j < 4; ++j) {
        if (i + j * next < n) {
          range = wider(range, intBitsToFloat(partial[thread + j * next].xy));
        }
      }
      partial[thread].xy = floatBitsToInt(range);
    }
    n = next;
  }
  if (row < ROWS && i == 0) {
    const float exact = exact_quotient(range.y - range.x, 255.0);
    const Divisor by = divisor_of(exact > 0.0 ? exact : 1.0);
    row_scales[row] = vec4(by.scale, by.inverse, clamp(whole_quotient(LEAT_ANY_F32, -range.x, by.scale), 0.0, 255.0), 0);
  }
  barrier();
  if (WHOLE != 0) {
    for (uint k = thread; k < ROWS * fours; k += THREADS) {
      states[k] = steps_of(k / fours, states[k]);
    }
    barrier();
  }
}

// What the sums are of.
vec4 vector_of(uint row, uint four, bool from_initial) {
  const vec4 x = states_of(row, four, from_initial);
  return WHOLE != 0 ? x : steps_of(row, x);
}

// Bytes of weights with a sign, or zero points.
int byte_of(uint64_t from, uint at) { return bitfieldExtract(int(uint(U8(from).v[at]) ^ (args.weight_turn & 0xffu)), 0, 8); }
vec4 bytes_of(uint word) {
  const int x = int(word ^ args.weight_turn);
  return vec4(ivec4(bitfieldExtract(x, 0, 8), bitfieldExtract(x, 8, 8), bitfieldExtract(x, 16, 8), x >> 24));
}
// Where the scale and the zero point of a column of a direction are.
uint scale_at(uint column) { return args.weight_column != 0 ? direction * GATES * args.units + column : direction; }

vec4 zeros; // of the four columns that a thread adds up
#define LESS_ZEROS(x) ((x) - zeros)
#define WEIGHT(at) (float(byte_of(args.weights, at)))
#define WEIGHT4(quad) bytes_of(U32(args.weights).v[quad])
#else
#define vector_of states_of
#define WEIGHT(at) ELEMENT(args.weights, at)
#define WEIGHT4(quad) QUAD(args.weights, quad)
#define LESS_ZEROS(x) (x)
#endif

// Weights of four neighbouring units for four elements of k. Those past an end are 0.
struct Weights {
  vec4 k[4];
};
Weights weights_at(uint four, uint column, uint unit) {
  Weights w;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const uint k = QUADS != 0 ? four * 4 + i : min(four * 4 + i, args.units - 1);
    const uint at = (direction * args.units + k) * (GATES * args.units) + column;
    if (QUADS != 0) {
      w.k[i] = LESS_ZEROS(WEIGHT4(at >> 2));
    } else {
      const uint last = args.units - 1 - unit;
      const vec4 x = LESS_ZEROS(vec4(WEIGHT(at), WEIGHT(at + min(1, last)), WEIGHT(at + min(2, last)),
                                     WEIGHT(at + min(3, last))));
      w.k[i] = upto(x, four * 4 + i < args.units ? args.units - unit : 0);
    }
  }
  return w;
}

SUM sums[ROWS];
void add(Weights w, uint four, bool from_initial) {
  [[unroll]] for (uint j = 0; j < ROWS; ++j) {
    const vec4 x = vector_of(j, four, from_initial);
    // Of bytes these are whole numbers below 2^24, which floats hold.
    sums[j] += SUM((x.x * w.k[0] + x.y * w.k[1]) + (x.z * w.k[2] + x.w * w.k[3]));
  }
}

// The first fours of k of a thread, where they are kept.
#define HELD_MOST 2
Weights held[HELD_MOST];

// What a unit's owner keeps of each of its rows, and of the inputs of one.
float own_h[PASSES], own_c[PASSES], inputs[GATES];
uint lengths[PASSES];

// The element of time that a step takes of a sequence, which has not ended.
uint time_of(uint step, uint length) { return direction != 0 || args.reverse != 0 ? length - 1 - step : step; }

void load_inputs(uint step, uint length, uint row, uint unit) {
  const uint at = time_of(step, length) * args.product_step + batch_row(row) * args.product_row +
                  direction * GATES * args.units + unit;
  [[unroll]] for (uint g = 0; g < GATES; ++g) {
    inputs[g] = ELEMENT(args.products, at + g * args.units);
  }
}

#if defined(QUANTIZED)
float row_scale;             // of an owner's row,
float column_scales[GATES];  // and of its columns
#endif

// The sum of gate `g` of the round of row `row` of a pass.
float sum_of(uint row, uint g, uint parts, uint unit) {
  const uint quads = gates * args.fours, four = g * args.fours + (unit >> 2);
#if defined(QUANTIZED)
  int sum = 0;
#else
  float sum = 0;
#endif
  for (uint part = 0; part < parts; ++part) {
    sum += partial[(row * parts + part) * quads + four][unit & 3];
  }
#if defined(QUANTIZED)
  return float(sum) * (row_scale * column_scales[g]);
#else
  return sum;
#endif
}

void store(uint64_t to, uint at, float x) { REALS(to).v[at] = NARROW(x); }

void main() {
  const uint group = leat_linear_group();
  const uint outer = divide(group, args.per_blocks);
  direction = divide(outer, args.per_row_blocks);
  if (direction >= args.directions) {
    return;
  }
  row0 = (outer - direction * args.row_blocks) * ROWS;
  unit0 = (group - outer * args.blocks) * args.fours * 4;

  // As one that adds up: which four of the columns, and which part of k.
  const uint slot = divide(thread, args.per_fours);
  const uint my_four = thread - slot * args.fours;
  const uint column_unit = unit0 + my_four * 4;
  const bool in_range = column_unit < args.units;
  // As an owner: which unit, and which row of a pass.
  const uint my_row = divide(thread >> 2, args.per_fours);
  const uint my_unit = thread - my_row * args.fours * 4;
  const uint unit = unit0 + my_unit;
  const bool owns = my_row < PASS && unit < args.units;

  float bias[GATES];
  float bias_of_hidden = 0; // of the states, which the reset gate multiplies
  float peepholes[3] = float[3](0.0, 0.0, 0.0);
  [[unroll]] for (uint g = 0; g < GATES; ++g) {
    bias[g] = 0;
  }
  if (owns && args.bias != 0) {
    [[unroll]] for (uint g = 0; g < GATES; ++g) {
      const uint at = direction * 2 * GATES * args.units + g * args.units + unit;
      const float of_state = ELEMENT(args.bias, at + GATES * args.units);
      bias[g] = ELEMENT(args.bias, at);
#if defined(GRU)
      if (TWICE == 0 && g == 2) {
        bias_of_hidden = of_state;
        continue;
      }
#endif
      bias[g] += of_state;
    }
  }
#if defined(LSTM)
  if (owns && args.peepholes != 0) {
    [[unroll]] for (uint p = 0; p < 3; ++p) {
      peepholes[p] = ELEMENT(args.peepholes, (direction * 3 + p) * args.units + unit);
    }
  }
#endif
#if defined(QUANTIZED)
  [[unroll]] for (uint g = 0; g < GATES; ++g) {
    column_scales[g] = owns ? F32(args.weight_scale).v[scale_at(g * args.units + unit)] : 0.0;
  }
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    const uint column = slot % GATES * args.units + min(column_unit + i, args.units - 1);
    zeros[i] = float(byte_of(args.weight_zero, scale_at(column)));
  }
#endif
  initial = args.begin < 1 + TWICE;
  [[dont_unroll]] for (uint p = 0; p < PASSES; ++p) {
    own_h[p] = own_c[p] = 0;
    lengths[p] = 0;
    if (owns) {
      const uint row = p * PASS + my_row;
      own_h[p] = initial ? initial_of(args.initial_h, row, unit) : F32(args.h).v[state_at(row, unit)];
#if defined(LSTM)
      own_c[p] = initial ? initial_of(args.initial_c, row, unit) : F32(args.own).v[state_at(row, unit)];
#elif defined(GRU)
      if (TWICE != 0 && (args.begin & 1) != 0) {
        own_c[p] = F32(args.own).v[state_at(row, unit)];
      }
#endif
      lengths[p] = args.lengths != 0 ? uint(clamp(I32(args.lengths).v[batch_row(row)], 0, int(args.steps))) : args.steps;
    }
  }
  if (WHOLE != 0) {
    const uint fours = (args.units + 3) >> 2;
    for (uint i = thread; i < VECTORS; i += THREADS) {
      states[i] = vec4(0);
    }
    barrier();
    for (uint i = thread; i < ROWS * args.units; i += THREADS) {
      const uint row = i / args.units, of = i - row * args.units;
      states[row * fours + (of >> 2)][of & 3] =
          initial ? initial_of(args.initial_h, row, of) : F32(args.vector).v[state_at(row, of)];
    }
    barrier();
  }
  if (WHOLE != 0 && HELD != 0) {
    const uint part = slot / GATES;
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && in_range && part < args.parts[0]) {
        const uint four = part * args.part_fours[0] + j;
        if (j < args.part_fours[0] && four * 4 < args.units) {
          held[j] = weights_at(four, (slot - part * GATES) * args.units + column_unit, column_unit);
        }
      }
    }
  }

  for (uint n = args.begin; n < args.end; ++n) {
    const uint round = TWICE != 0 ? n & 1 : 0, step = n >> TWICE;
    gates = TWICE == 0 ? GATES : round == 0 ? 2 : 1;
    first_gate = TWICE != 0 && round == 1 ? 2 : 0;
    const uint parts = args.parts[round];
#if defined(QUANTIZED)
    quantize_rows(step == 0);
#endif
    // What owners need besides is on its way while sums are added up.
    if (PASSES == 1 && owns && step < lengths[0]) {
      load_inputs(step, lengths[0], my_row, unit);
    }

    const uint part = TWICE == 0 ? slot / GATES : round == 0 ? slot / 2 : slot;
    const uint gate = slot - part * gates;
    [[unroll]] for (uint j = 0; j < ROWS; ++j) {
      sums[j] = SUM(0);
    }
    const bool from_initial = step == 0 && round == 0;
    if (in_range && part < parts) {
      const uint column = (first_gate + gate) * args.units + column_unit;
      const uint from = part * args.part_fours[round];
      const uint to = min(from + args.part_fours[round], (args.units + 3) >> 2);
      [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
        if (WHOLE != 0 && j < HELD && from + j < to) {
          add(held[j], from + j, from_initial);
        }
      }
      for (uint four = from + (WHOLE != 0 ? HELD : 0); four < to; ++four) {
        add(weights_at(four, column, column_unit), four, from_initial);
      }
    }

    [[dont_unroll]] for (uint p = 0; p < PASSES; ++p) {
      if (part < parts) {
        [[unroll]] for (uint j = 0; j < ROWS; ++j) {
          if (j / PASS == p) {
            partial[(j % PASS * parts + part) * gates * args.fours + gate * args.fours + my_four] = sums[j];
          }
        }
      }
      barrier();
      const uint row = p * PASS + my_row;
      if (owns && row0 + row < args.batch) {
        const bool lives = step < lengths[p];
        float next = own_h[p];
#if defined(QUANTIZED)
        row_scale = row_scales[row].x;
#endif
        if (lives) {
          if (PASSES > 1) {
            load_inputs(step, lengths[p], row, unit);
          }
          float x[GATES];
          [[unroll]] for (uint g = 0; g < GATES; ++g) {
            x[g] = inputs[g] + bias[g];
          }
#if defined(LSTM)
          const float i = activation(0, clipped(x[0] + sum_of(my_row, 0, parts, my_unit) + peepholes[0] * own_c[p]));
          const float f = args.input_forget != 0
                              ? 1.0 - i
                              : activation(0, clipped(x[2] + sum_of(my_row, 2, parts, my_unit) + peepholes[2] * own_c[p]));
          const float c = activation(1, clipped(x[3] + sum_of(my_row, 3, parts, my_unit)));
          own_c[p] = f * own_c[p] + i * c;
          const float o = activation(0, clipped(x[1] + sum_of(my_row, 1, parts, my_unit) + peepholes[1] * own_c[p]));
          next = o * activation(2, own_c[p]);
#elif defined(GRU)
          if (TWICE != 0 && round == 1) {
            const float hidden = activation(1, clipped(x[2] + sum_of(my_row, 0, parts, my_unit)));
            next = (1.0 - own_c[p]) * hidden + own_c[p] * own_h[p];
          } else {
            const float z = activation(0, clipped(x[0] + sum_of(my_row, 0, parts, my_unit)));
            const float r = activation(0, clipped(x[1] + sum_of(my_row, 1, parts, my_unit)));
            if (TWICE != 0) {
              own_c[p] = z;
              next = r * own_h[p];
            } else {
              const float of_states = sum_of(my_row, 2, parts, my_unit) + bias_of_hidden;
              const float hidden = activation(1, clipped(x[2] + r * of_states));
              next = (1.0 - z) * hidden + z * own_h[p];
            }
          }
#else
          next = activation(0, clipped(x[0] + sum_of(my_row, 0, parts, my_unit)));
#endif
        }
        if (TWICE == 0 || round == 1) {
          own_h[p] = next;
          if (args.y != 0) {
            const uint t = lives ? time_of(step, lengths[p]) : step;
            store(args.y, t * args.y_step + direction * args.y_direction + (row0 + row) * args.y_row + unit,
                  lives ? next : 0.0);
          }
        }
        if (WHOLE != 0) {
          states[row * ((args.units + 3) >> 2) + (unit >> 2)][unit & 3] = next;
        } else if (args.next != 0) {
          F32(args.next).v[state_at(row, unit)] = next;
        }
      }
      barrier();
    }
  }

  [[dont_unroll]] for (uint p = 0; p < PASSES; ++p) {
    const uint row = p * PASS + my_row;
    if (owns && row0 + row < args.batch) {
      const uint at = direction * args.initial_direction + (row0 + row) * args.initial_row + unit;
      if (args.last == 0) {
        if (WHOLE != 0) {
          F32(args.next).v[state_at(row, unit)] = own_h[p];
        }
#if !defined(RNN)
        if (args.own != 0) {
          F32(args.own).v[state_at(row, unit)] = own_c[p];
        }
#endif
      } else {
        if (args.y_h != 0) {
          store(args.y_h, at, lengths[p] == 0 ? 0.0 : own_h[p]);
        }
        if (args.y_c != 0) {
          store(args.y_c, at, lengths[p] == 0 ? 0.0 : own_c[p]);
        }
      }
    }
  }
}
