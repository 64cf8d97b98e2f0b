#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Matrix product for up to 8 rows with weights of 2, 4 or 8 bits, each of which is read once, by one thread, and used for
// all rows. LANES neighbouring threads share four columns, take 16 bytes of each at a time, and add up in a fixed order.
#include "core/kernels/leat.glsl"
#include "gemm_args.glsl"
#include "nbits.glsl"
#include "core/kernels/split.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, ROWS, 1);   // 1, 2, 4, 8: not less than args.m
LEAT_CONSTANT(uint, WIDE, 0);   // 1: the bytes of columns begin at multiples of 16
LEAT_CONSTANT(uint, BLOCKS, 1); // 1, 2: that 16 bytes may be of

LEAT_CONSTANT(uint, LANES, 8);  // 8, 16, 32, 64; ROWS times that is 64 at most
const uint TEAMS = 256 / LANES;
#define COLUMNS 4 // of a thread
const uint EACH = 128 / BITS;    // weights in 16 bytes
const uint STEP = LANES * EACH;  // of k: what a team takes at once
const uint STEPS = 64 / (ROWS * LANES); // whose part of a is held at once
// Fours of a for a lane, and where they fit one more: lanes begin in different banks.
const uint PITCH = EACH / 4 + (BITS == 2 ? 0 : 1);
// With few rows a scale is for the sum of a block, which takes a sum more for each row; else it is for each weight, as it
// is where weights of a block have scales of others.
const uint SHARES = LANES / 8; // of a team: each adds up the sums of eight lanes
const bool SCALES_SUMS = ROWS <= 2 && INDEXED == 0;

shared vec4 held[1024]; // a by step, row and lane; afterwards sums

// Of this thread.
uint lane, team, column0;
vec4 sums[8]; // by row
float brought[16]; // of a

struct Fetched {
  uvec4 words[COLUMNS];
  float scales[COLUMNS][2], zeros[COLUMNS][2];
};

// The weights of a lane from k on. Columns and weights that are not there repeat others, which then have no effect.
Fetched fetch(uint k) {
  Fetched f;
  [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
    const uint column = min(column0 + c, args.n - 1);
    const uint first = column * args.column_bytes, byte = k * BITS >> 3;
    if (WIDE != 0) {
      f.words[c] = U32x4(args.b).v[(first + min(byte, args.column_bytes - 16)) >> 4];
    } else {
      f.words[c].xy = U32x2(args.b).v[(first + min(byte, args.column_bytes - 8)) >> 3];
      f.words[c].zw = U32x2(args.b).v[(first + min(byte + 8, args.column_bytes - 8)) >> 3];
    }
    if (INDEXED == 0) {
      [[unroll]] for (uint h = 0; h < BLOCKS; ++h) {
        const uint block = min((k + h * (EACH / 2)) >> args.block_shift, args.blocks - 1);
        f.scales[c][h] = scale_of(column, block);
        f.zeros[c][h] = zero_of(column, block);
      }
    }
  }
  return f;
}

// Brings in the part of a from k on that is for STEPS steps; what is beyond the rows and beyond k_end is 0.
void bring(uint k, uint k_end) {
  [[unroll]] for (uint e = 0; e < EACH / 4; ++e) {
    const uint i = gl_LocalInvocationIndex + e * 256, row = i / (STEPS * STEP), at = k + i % (STEPS * STEP);
    brought[e] = 0;
    if (row < args.m && at < k_end) {
      brought[e] = ELEMENT(args.a, int(row) * args.a_row + int(at) * args.a_k);
    }
  }
}
void keep() {
  [[unroll]] for (uint e = 0; e < EACH / 4; ++e) {
    const uint i = gl_LocalInvocationIndex + e * 256, row = i / (STEPS * STEP), step = i % (STEPS * STEP) / STEP;
    held[((step * ROWS + row) * LANES + i % STEP / EACH) * PITCH + i % EACH / 4][i % 4] = brought[e];
  }
}

// Four weights of column `c` of a thread, which are from k on; `h`: the half of 16 bytes that they are of.
vec4 weights_of(Fetched f, uint c, uint h, uint four, uint k) {
  const uint bits = f.words[c][four * BITS / 8] >> bit_at(four * 4);
  if (INDEXED != 0) {
    const Places places = indexed_places(min(column0 + c, args.n - 1), k);
    return centred(bits, places.zeros) * places.scales;
  }
  const vec4 centre = centred(bits, f.zeros[c][h]);
  return SCALES_SUMS ? centre : centre * f.scales[c][h];
}

// Adds the products of a lane's weights, which are from k on, with the part of a that is held for a step.
void add(Fetched f, uint step, uint k) {
  [[unroll]] for (uint h = 0; h < BLOCKS; ++h) {
    vec4 parts[8];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      parts[r] = SCALES_SUMS ? vec4(0) : sums[r];
    }
    [[unroll]] for (uint i = 0; i < EACH / 4 / BLOCKS; ++i) {
      const uint four = h * (EACH / 8) + i;
      vec4 x[8];
      [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        x[r] = held[((step * ROWS + r) * LANES + lane) * PITCH + four];
      }
      [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
        const vec4 y = weights_of(f, c, h, four, k + four * 4);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
          parts[r][c] = fma(x[r].x, y.x, fma(x[r].y, y.y, fma(x[r].z, y.z, fma(x[r].w, y.w, parts[r][c]))));
        }
      }
    }
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
        sums[r][c] = SCALES_SUMS ? fma(parts[r][c], f.scales[c][h], sums[r][c]) : parts[r][c];
      }
    }
  }
}

// The sums of a team in the row whose number is that of the lane.
vec4 joined() {
  vec4 total = vec4(0);
  const uint own = lane / SHARES;
  [[unroll]] for (uint first = 0; first < ROWS; first += 4) {
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      if (first + i < ROWS) {
        held[i * 256 + gl_LocalInvocationIndex] = sums[first + i];
      }
    }
    barrier();
    if (own >= first && own < min(first + 4, ROWS)) {
      for (uint l = 0; l < 8; ++l) {
        total += held[(own - first) * 256 + team * LANES + lane % SHARES * 8 + l];
      }
    }
    barrier();
  }
  if (SHARES > 1) {
    held[gl_LocalInvocationIndex] = total;
    barrier();
    total = vec4(0);
    for (uint s = 0; s < SHARES && lane < ROWS; ++s) {
      total += held[team * LANES + lane * SHARES + s];
    }
  }
  return total;
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.tiles * args.splits) {
    return;
  }
  const uint split = divide(group, args.per_tiles), tile = group - split * args.tiles;
  const uint k_end = min(args.k, split * args.k_chunk + args.k_chunk);
  lane = gl_LocalInvocationIndex % LANES;
  team = gl_LocalInvocationIndex / LANES;
  column0 = tile * (TEAMS * COLUMNS) + team * COLUMNS;
  [[unroll]] for (uint r = 0; r < 8; ++r) {
    sums[r] = vec4(0);
  }
  // What comes next is on its way while this is used: weights for a step, a for several.
  Fetched next = fetch(split * args.k_chunk + lane * EACH);
  bring(split * args.k_chunk, k_end);
  for (uint k = split * args.k_chunk; k < k_end; k += STEPS * STEP) {
    keep();
    barrier();
    if (k + STEPS * STEP < k_end) {
      bring(k + STEPS * STEP, k_end);
    }
    for (uint s = 0; s < STEPS && k + s * STEP < k_end; ++s) {
      const Fetched f = next;
      const uint from = k + s * STEP + lane * EACH;
      if (k + (s + 1) * STEP < k_end) {
        next = fetch(from + STEP);
      }
      if (from < k_end) {
        add(f, s, from);
      }
    }
    barrier();
  }
  vec4 total = joined();
  if (args.splits > 1) {
    const uint at = tile * (ROWS * TEAMS) + lane * TEAMS + team;
    if (lane < ROWS) {
      Pieces(args.pieces).v[split * args.tiles * (ROWS * TEAMS) + at] = total;
    }
    if (!split_last(args.counters, tile, args.splits) || lane >= ROWS) {
      return;
    }
    total = Pieces(args.pieces).v[at];
    for (uint s = 1; s < args.splits; ++s) {
      total += Pieces(args.pieces).v[s * args.tiles * (ROWS * TEAMS) + at];
    }
  }
  [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
    const uint column = column0 + c;
    if (lane < args.m && column < args.n) {
      if (args.bias != 0) {
        total[c] += ELEMENT(args.bias, int(column) * args.bias_column);
      }
      REALS(args.c).v[lane * args.c_row + column] = NARROW(total[c]);
    }
  }
}
