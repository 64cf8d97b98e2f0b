#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Normalisation of rows of neighbouring elements (layer, instance, group and RMS normalisation): mean and variance of
// a row in two passes, then scale and bias. A thread takes four elements of a row at a time, the same ones whether it
// loads them one by one or at once. Rows that fit are kept in registers and read once.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"
#include "reduce/kernels/rows.glsl"
#ifdef IMAGE
#include "core/kernels/divider.glsl"
#endif

LEAT_CONSTANT(uint, HELD, 0);  // fours of a row that a thread keeps, up to HELD_MOST; 0: the row is read three times
LEAT_CONSTANT(uint, QUADS, 0); // 1: fours are whole and aligned
LEAT_CONSTANT(uint, RMS, 0);   // 1: no mean is taken off
LEAT_CONSTANT(uint, SKIP, 0);  // the row is x + skip + addend; 1: skip has as many rows as x, 2: fewer
LEAT_CONSTANT(uint, SETS, 0);  // 0: element i of every row takes scale and bias number i; 1: as the record says
// 1: scale and bias are loaded beside x, not behind the sums: a short wait, which takes registers.
LEAT_CONSTANT(uint, EARLY, 0);
LEAT_CONSTANT(uint, GATE, 0);  // each element of y is multiplied by one made of its gate: 1 silu, 2 sigmoid; 0: by none
struct Args {
  uint64_t x, y;
  uint64_t scale, bias;         // 0 for none
  uint rows, count;            // count elements in each row
  float epsilon;
  uint period, step, spread;    // element i of row r takes scale and bias number r % period * step + i / spread
  uint skip_rows;              // skip repeats after so many rows
  uint64_t mean, deviation;     // outputs of one element per row, 0 for none; deviation holds its inverse
  // addend: one per element of a row, 0 for none; total: output of what was normalised, 0 for none.
  uint64_t skip, addend, total;
  uint64_t gate; // in the order of x, 0 for none
#ifdef EMBED
  // x, skip and addend are tables, of whose lines these say which are added up for a row; 0: lines of skip in their
  // order, and none of addend. `mask` has an element for each row; of a sequence those that are 1 are counted.
  uint64_t ids, positions, segments;
  uint64_t mask, counts;
  uint words, places, kinds; // lines of x, skip and addend
  uint sequence, position_count;
#endif
#ifdef IMAGE
  // A row is a group of the channels of an image, in runs of neighbours: pixels with channels last, else one run. Scale
  // and bias are of float32, and what an element of y is gated by is itself.
  uint run, pitch;         // elements of a run, and from one to the next
  Divider per_run;
  uint image, group;       // elements from one image, and from one of its groups, to the next
  uint pixels;             // elements of a channel that are neighbours; 0: channels are last
  uint channels;           // of an image, for skip of a line each
#endif
};
LEAT_ARGS

#define HELD_MOST 4
shared float space[LEAT_ROW_SPACE];

float add(float a, float b) { return a + b; }
LEAT_ROW_COMBINE(row_sum, float, space, add)

uint base, skip_base, first; // of the row, in x, skip, and scale and bias

// Where element i of a row is, from its first on. Fours that are moved at once are of one run.
#ifdef IMAGE
uint place_of(uint i) {
  const uint run = divide(i, args.per_run);
  return run * args.pitch + (i - run * args.run);
}
#else
uint place_of(uint i) { return i; }
#endif

// Four elements from `from` on; 0 for those past the end of the row.
vec4 four_of(uint64_t p, uint from, uint quad) {
  if (QUADS != 0) {
    return QUAD(p, (from + place_of(quad * 4)) >> 2);
  }
  vec4 values = vec4(0);
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      values[k] = ELEMENT(p, from + place_of(quad * 4 + k));
    }
  }
  return values;
}

void four_to(uint64_t p, uint quad, vec4 values) {
  if (QUADS != 0) {
    REALS4(p).v[(base + place_of(quad * 4)) >> 2] = NARROW4(values);
    return;
  }
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      REALS(p).v[base + place_of(quad * 4 + k)] = NARROW(values[k]);
    }
  }
}

#ifdef EMBED
int word, place, kind; // lines of the tables; -1: there is none, which counts as zeros

// The line that an index names; a negative one counts from the end.
int line_of(int index, uint lines) {
  const int line = index < 0 ? index + int(lines) : index;
  return line >= 0 && line < int(lines) ? line : -1;
}

void find_lines(uint row) {
  word = line_of(I32(args.ids).v[row], args.words);
  place = line_of(args.positions != 0 ? I32(args.positions).v[row % args.position_count] : int(row % args.sequence),
                  args.places);
  kind = args.segments != 0 ? line_of(I32(args.segments).v[row], args.kinds) : -1;
}

vec4 line_four(uint64_t table, int line, uint quad) {
  return line >= 0 ? four_of(table, uint(line) * args.count, quad) : vec4(0);
}

vec4 load(uint quad) {
  return (line_four(args.x, word, quad) + line_four(args.skip, place, quad)) + line_four(args.addend, kind, quad);
}
#elif defined(IMAGE)
// The channel of element i, in its image.
uint channel_of(uint i) {
  return first + (args.pixels == 0 ? i - divide(i, args.per_run) * args.run : i / args.pixels);
}

// Elements of channels, for four of the row, from `from` on.
vec4 channels_of(uint64_t p, uint from, uint quad) {
  vec4 values = vec4(0);
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      values[k] = ELEMENT(p, from + channel_of(quad * 4 + k));
    }
  }
  return values;
}

#define ROUND LEAT_JOIN(leat_round_, TYPE)
vec4 rounded(vec4 x) { return vec4(ROUND(x.x), ROUND(x.y), ROUND(x.z), ROUND(x.w)); }

// What is normalised is the sum as output 1 has it.
vec4 load(uint quad) {
  vec4 values = four_of(args.x, base, quad);
  if (SKIP != 0) {
    values += SKIP == 1 ? four_of(args.skip, base, quad) : channels_of(args.skip, skip_base, quad);
    values = rounded(values);
    if (args.addend != 0) {
      values = rounded(values + channels_of(args.addend, 0, quad));
    }
  }
  return values;
}
#else
vec4 load(uint quad) {
  vec4 values = four_of(args.x, base, quad);
  if (SKIP != 0) {
    values += four_of(args.skip, skip_base, quad);
    if (args.addend != 0) {
      values += four_of(args.addend, 0, quad);
    }
  }
  return values;
}
#endif

#ifdef IMAGE
// Scale or bias of four elements.
vec4 set_of(uint64_t p, uint quad, float otherwise) {
  vec4 values = vec4(otherwise);
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      values[k] = F32(p).v[channel_of(quad * 4 + k)];
    }
  }
  return values;
}
#else
// Scale or bias of four elements; `otherwise` where there is none.
vec4 set_of(uint64_t p, uint quad, float otherwise) {
  vec4 values = vec4(otherwise);
  if (p == 0) {
    return values;
  }
  if (SETS == 0) {
    return four_of(p, 0, quad);
  }
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    if (quad * 4 + k < args.count) {
      const uint i = quad * 4 + k;
      values[k] = ELEMENT(p, first + (args.spread == 1 ? i : i / args.spread));
    }
  }
  return values;
}
#endif

float sum_of(vec4 values) { return (values.x + values.y) + (values.z + values.w); }

// Sum of the squared distances from the mean.
float distances_of(uint quad, vec4 values, float mean) {
  vec4 away = values - mean;
  if (QUADS == 0) {
    away = mix(vec4(0), away, lessThan(uvec4(quad * 4) + uvec4(0, 1, 2, 3), uvec4(args.count)));
  }
  return fma(away.x, away.x, away.y * away.y) + fma(away.z, away.z, away.w * away.w);
}

// What four elements are multiplied by.
vec4 gate_of(uint quad, vec4 normal) {
#ifdef IMAGE
  const vec4 gate = normal;
#else
  const vec4 gate = four_of(args.gate, base, quad);
#endif
  const vec4 opened = vec4(leat_sigmoid(gate.x), leat_sigmoid(gate.y), leat_sigmoid(gate.z), leat_sigmoid(gate.w));
  return GATE == 1 ? gate * opened : opened;
}

void store(uint quad, vec4 values, float mean, float inverse, vec4 scale, vec4 bias) {
  if (SKIP != 0 && args.total != 0) {
    four_to(args.total, quad, values);
  }
  const vec4 normal = fma((values - mean) * inverse, scale, bias);
  four_to(args.y, quad, GATE != 0 ? normal * gate_of(quad, normal) : normal);
}

void main() {
  const uint block = leat_linear_group();
  if (block * ROWS >= args.rows) {
    return;
  }
  const uint row = block * ROWS + row_own();
  const uint quads = row < args.rows ? (args.count + 3) / 4 : 0;
  base = row * args.count;
  skip_base = SKIP < 2 ? base : row % args.skip_rows * args.count;
  first = SETS != 0 ? row % args.period * args.step : 0;
#ifdef IMAGE
  base = row / args.period * args.image + row % args.period * args.group;
  skip_base = row / args.period * args.channels;
#endif
#ifdef EMBED
  if (row < args.rows) {
    find_lines(row);
  }
#endif
  const float over = float(max(args.count, 1)); // a row of nothing has mean and variance 0

  vec4 held[HELD_MOST], scales[HELD_MOST], biases[HELD_MOST];
  float mean = 0;
  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      const uint quad = row_part() + j * PARTS;
      if (j < HELD && quad < quads) {
        held[j] = load(quad);
        if (EARLY != 0) {
          scales[j] = set_of(args.scale, quad, 1);
          biases[j] = set_of(args.bias, quad, 0);
        }
      }
    }
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (RMS == 0 && j < HELD && row_part() + j * PARTS < quads) {
        mean += sum_of(held[j]);
      }
    }
  } else if (RMS == 0) {
    for (uint quad = row_part(); quad < quads; quad += PARTS) {
      mean += sum_of(load(quad));
    }
  }
  mean = RMS != 0 ? 0 : row_sum(mean) / over;

  float variance = 0;
  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      if (j < HELD && row_part() + j * PARTS < quads) {
        variance += distances_of(row_part() + j * PARTS, held[j], mean);
      }
    }
  } else {
    for (uint quad = row_part(); quad < quads; quad += PARTS) {
      variance += distances_of(quad, load(quad), mean);
    }
  }
  variance = row_sum(variance) / over;
  const float inverse = 1.0 / sqrt(variance + args.epsilon);

  if (HELD != 0) {
    [[unroll]] for (uint j = 0; j < HELD_MOST; ++j) {
      const uint quad = row_part() + j * PARTS;
      if (j < HELD && quad < quads) {
        if (EARLY == 0) {
          scales[j] = set_of(args.scale, quad, 1);
          biases[j] = set_of(args.bias, quad, 0);
        }
        store(quad, held[j], mean, inverse, scales[j], biases[j]);
      }
    }
  } else {
    for (uint quad = row_part(); quad < quads; quad += PARTS) {
      store(quad, load(quad), mean, inverse, set_of(args.scale, quad, 1), set_of(args.bias, quad, 0));
    }
  }
  if (row_part() == 0 && row < args.rows) {
    if (args.mean != 0) {
      F32(args.mean).v[row] = mean;
    }
    if (args.deviation != 0) {
      F32(args.deviation).v[row] = inverse;
    }
  }
#ifdef EMBED
  if (args.counts != 0) {
    const bool first_row = row < args.rows && row % args.sequence == 0;
    float ones = 0; // whole numbers that float32 has all of
    for (uint i = row_part(); first_row && args.mask != 0 && i < args.sequence; i += PARTS) {
      ones += I32(args.mask).v[row + i] == 1 ? 1 : 0;
    }
    ones = row_sum(ones);
    if (first_row && row_part() == 0) {
      I32(args.counts).v[row / args.sequence] = int(ones);
    }
  }
#endif
}
