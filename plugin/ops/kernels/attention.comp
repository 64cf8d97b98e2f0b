#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Attention: softmax(scale Q K' + mask) V of one head, without the matrix of scores in memory.
//
// A workgroup has ROWS queries of one head, LANES threads each, and goes through the keys KEYS at a time: scores of its
// queries with these keys, their weights relative to the largest score so far, and the weighted sum of the values,
// which is scaled down whenever a larger score turns up. Keys and values come through one tile in shared memory, in
// chunks of up to 64 elements of their heads; each chunk is on its way while the one before it is used. All sums are
// made in one order, whatever the strides of the operands. Whatever TYPE is, all of this is float32; a result is
// rounded once, at the end. Where there are few queries, several workgroups share their keys; the last of them joins what
// they have, in the order of the keys.
//
// HEAD: elements of a head, of queries and keys and of values, that the kernel has room for.
#include "attention_args.glsl"
#include "split.glsl"

#define ROWS LEAT_ATTENTION_ROWS
#define LANES 8
#define KEYS LEAT_ATTENTION_KEYS
#define THREADS (ROWS * LANES)
layout(local_size_x = THREADS) in;

LEAT_CONSTANT(uint, QUADS, 0);       // 1: all operands and the result are moved four elements at a time
LEAT_CONSTANT(uint, DEPTH_CHUNK, 8); // fours of a chunk of queries and keys: LANES or CHUNK_MOST
LEAT_CONSTANT(uint, WIDTH_CHUNK, 8); // of values

#define CHUNK_MOST 16
#define CHUNKS (HEAD / 4 / CHUNK_MOST)
#define HELD (KEYS * CHUNK_MOST / THREADS)
// Fours from one row to the next in shared memory: one more than needed, so that rows begin in different banks.
#define TILE_PITCH (CHUNK_MOST + 1)
#define QUERY_PITCH (HEAD / 4 + 1)
#define SCORE_PITCH (KEYS / 4 + 1)
shared vec4 tile[KEYS * TILE_PITCH];
shared vec4 queries[ROWS * QUERY_PITCH];
shared vec4 scores[ROWS * SCORE_PITCH];
shared vec4 weights[ROWS * SCORE_PITCH];

vec4 held[HELD];

// Four elements of a row from `element` on; those past the end are 0.
vec4 fetch(uint64_t base, uint row, uint element, int row_stride, int stride, uint count) {
  const int at = int(row) * row_stride;
  if (QUADS != 0) {
    return QUAD(base, (at + int(element)) >> 2);
  }
  vec4 values = vec4(0);
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (element + j < count) {
      values[j] = ELEMENT(base, at + int(element + j) * stride);
    }
  }
  return values;
}

bool goes_across(uint operand) { return QUADS == 0 && (args.across & operand) != 0; }

// The row and the four of a tile that a thread moves as its number `i`.
uvec2 place(uint i, uint chunk, bool across) {
  const uint at = gl_LocalInvocationIndex + i * THREADS;
  return across ? uvec2(at % KEYS, at / KEYS) : uvec2(at / chunk, at % chunk);
}

void fetch_keys(uint64_t base, uint key0, uint first) {
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uvec2 at = place(i, DEPTH_CHUNK, goes_across(LEAT_ATTENTION_K));
    const uint element = (first + at.y) * 4;
    held[i] = vec4(0);
    if (at.x < KEYS && at.y < DEPTH_CHUNK && key0 + at.x < key_count && element < args.depth) {
      held[i] = fetch(base, key0 + at.x, element, args.k_strides[2], args.k_strides[3], args.depth);
    }
  }
}
void fetch_values(uint64_t base, uint key0, uint first) {
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uvec2 at = place(i, WIDTH_CHUNK, goes_across(LEAT_ATTENTION_V));
    const uint element = (first + at.y) * 4;
    held[i] = vec4(0);
    if (at.x < KEYS && at.y < WIDTH_CHUNK && key0 + at.x < key_count && element < args.width) {
      held[i] = fetch(base, key0 + at.x, element, args.v_strides[2], args.v_strides[3], args.width);
    }
  }
}
// Puts what was fetched into the tile.
void keep(uint chunk, bool across) {
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uvec2 at = place(i, chunk, across);
    if (at.x < KEYS && at.y < chunk) {
      tile[at.x * TILE_PITCH + at.y] = held[i];
    }
  }
}

#define PIECE (2 * CHUNKS + 1) // of a thread: its results, and what they are relative to

// Puts what a workgroup has of its keys aside. In the last workgroup of those that share the keys it becomes what all
// have; false in the others.
bool join(uint number, uint split, inout float top, inout float sum, inout vec4 results[2 * CHUNKS]) {
  const uint first = number * args.splits * PIECE * THREADS + gl_LocalInvocationIndex;
  const uint own = first + split * PIECE * THREADS;
  [[unroll]] for (uint i = 0; i < 2 * CHUNKS; ++i) {
    Pieces(args.pieces).v[own + i * THREADS] = results[i];
    results[i] = vec4(0);
  }
  Pieces(args.pieces).v[own + 2 * CHUNKS * THREADS] = vec4(top, sum, 0, 0);
  if (!split_last(args.counters, number, args.splits)) {
    return false;
  }
  top = -LEAT_INFINITY;
  for (uint s = 0; s < args.splits; ++s) {
    top = max(top, Pieces(args.pieces).v[first + (s * PIECE + 2 * CHUNKS) * THREADS].x);
  }
  const float base = top == -LEAT_INFINITY ? 0 : top;
  sum = 0;
  for (uint s = 0; s < args.splits; ++s) {
    const uint at = first + s * PIECE * THREADS;
    const vec4 relative = Pieces(args.pieces).v[at + 2 * CHUNKS * THREADS];
    const float smaller = leat_exp(relative.x - base);
    sum = fma(relative.y, smaller, sum);
    [[unroll]] for (uint i = 0; i < 2 * CHUNKS; ++i) {
      results[i] = fma(Pieces(args.pieces).v[at + i * THREADS], vec4(smaller), results[i]);
    }
  }
  return true;
}

float top_of(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }
float sum_of(vec4 x) { return (x.x + x.y) + (x.z + x.w); }

void main() {
  const uint group = leat_linear_group();
  if (group >= args.groups) {
    return;
  }
  const uint number = group / args.splits, outer = number / args.blocks;
  const uint batch = outer / args.heads, head = outer - batch * args.heads;
  const uint query0 = (number - outer * args.blocks) * ROWS;
  const uint row = gl_LocalInvocationIndex / LANES, lane = gl_LocalInvocationIndex % LANES;
  const uint query = query0 + row;
  const uint64_t q = moved(args.q, args.q_strides, batch, head);
  const uint64_t k = moved(args.k, args.k_strides, batch, head / args.share);
  const uint64_t v = moved(args.v, args.v_strides, batch, head / args.share);
  const int mask = mask_row(batch, head, query);
  begin_batch(batch);
  // Keys that some query of the workgroup has, and its share of them.
  uint key_begin = first_tile(query0), keys = keys_up_to(query0 + ROWS - 1);
  if (args.splits > 1) {
    const uint tiles = (max(keys, key_begin) - key_begin + KEYS - 1) / KEYS;
    const uint share = (tiles + args.splits - 1) / args.splits * KEYS;
    key_begin += (group - number * args.splits) * share;
    keys = min(keys, key_begin + share);
  }
  const uint depth_fours = (args.depth + 3) / 4, width_fours = (args.width + 3) / 4;

  fetch_keys(k, key_begin, 0);
  for (uint at = gl_LocalInvocationIndex; at < ROWS * depth_fours; at += THREADS) {
    const bool across = goes_across(LEAT_ATTENTION_Q);
    const uint r = across ? at % ROWS : at / depth_fours, four = across ? at / ROWS : at % depth_fours;
    queries[r * QUERY_PITCH + four] =
        query0 + r < args.queries ? fetch(q, query0 + r, four * 4, args.q_strides[2], args.q_strides[3], args.depth)
                                  : vec4(0);
  }

  // Of the workgroups that share keys, the first has the sink.
  float top = group == number * args.splits ? sink_of(head, query) : -LEAT_INFINITY, sum = sink_weight(top);
  vec4 results[2 * CHUNKS];
  [[unroll]] for (uint i = 0; i < 2 * CHUNKS; ++i) {
    results[i] = vec4(0);
  }
  for (uint key0 = key_begin; key0 < keys; key0 += KEYS) {
    // A thread has four scores, of its query and every eighth key.
    float added[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      added[j] = added_to(query, key0 + lane + j * LANES, mask);
    }
    vec4 parts[4] = vec4[4](vec4(0), vec4(0), vec4(0), vec4(0));
    for (uint first = 0; first < depth_fours; first += DEPTH_CHUNK) {
      barrier(); // nobody reads the tile any more
      keep(DEPTH_CHUNK, goes_across(LEAT_ATTENTION_K));
      barrier();
      if (first + DEPTH_CHUNK < depth_fours) {
        fetch_keys(k, key0, first + DEPTH_CHUNK);
      } else {
        fetch_values(v, key0, 0);
      }
      const uint fours = min(DEPTH_CHUNK, depth_fours - first);
      for (uint i = 0; i < fours; ++i) {
        const vec4 a = queries[row * QUERY_PITCH + first + i];
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          parts[j] = fma(a, tile[(lane + j * LANES) * TILE_PITCH + i], parts[j]);
        }
      }
    }
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const uint key = lane + j * LANES;
      const float score = score_of(sum_of(parts[j]));
      // A key that is not taken counts for nothing, whatever its score.
      scores[row * SCORE_PITCH + key / 4][key % 4] = added[j] == -LEAT_INFINITY ? added[j] : score + added[j];
    }
    barrier();

    keep(WIDTH_CHUNK, goes_across(LEAT_ATTENTION_V));
    float higher = top;
    [[unroll]] for (uint i = 0; i < KEYS / 4; ++i) {
      higher = max(higher, top_of(scores[row * SCORE_PITCH + i]));
    }
    // As long as no key is taken, there is nothing to be relative to.
    const float base = higher == -LEAT_INFINITY ? 0 : higher;
    const float smaller = leat_exp(top - base);
    top = higher;
    const vec4 own = scores[row * SCORE_PITCH + lane];
    weights[row * SCORE_PITCH + lane] =
        vec4(leat_exp(own.x - base), leat_exp(own.y - base), leat_exp(own.z - base), leat_exp(own.w - base));
    barrier();

    float own_sum = 0;
    for (uint first = 0; first < width_fours; first += WIDTH_CHUNK) {
      if (first > 0) {
        barrier();
        keep(WIDTH_CHUNK, goes_across(LEAT_ATTENTION_V));
        barrier();
      }
      if (first + WIDTH_CHUNK < width_fours) {
        fetch_values(v, key0, first + WIDTH_CHUNK);
      } else {
        fetch_keys(k, key0 + KEYS, 0);
      }
      own_sum = 0;
      vec4 near = vec4(0), far = vec4(0);
      for (uint i = 0; i < KEYS / 4; ++i) {
        const vec4 weight = weights[row * SCORE_PITCH + i];
        own_sum += sum_of(weight);
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          const uint at = (4 * i + j) * TILE_PITCH + lane;
          near = fma(vec4(weight[j]), tile[at], near);
          if (WIDTH_CHUNK > LANES) {
            far = fma(vec4(weight[j]), tile[at + LANES], far);
          }
        }
      }
      // Not by number, so that results stay in registers.
      [[unroll]] for (uint i = 0; i < CHUNKS; ++i) {
        if (first == i * WIDTH_CHUNK) {
          results[2 * i] = fma(results[2 * i], vec4(smaller), near);
          results[2 * i + 1] = fma(results[2 * i + 1], vec4(smaller), far);
        }
      }
    }
    sum = fma(sum, smaller, own_sum);
  }

  if (args.splits > 1 && !join(number, group - number * args.splits, top, sum, results)) {
    return;
  }
  if (query >= args.queries) {
    return;
  }
  const uint64_t y = moved(args.y, args.y_strides, batch, head);
  const float over = sum == 0 ? 0 : 1.0 / sum;
  [[unroll]] for (uint i = 0; i < 2 * CHUNKS; ++i) {
    const uint four = (i / 2) * WIDTH_CHUNK + (i % 2) * LANES + lane;
    if ((i % 2) * LANES + lane < WIDTH_CHUNK && four < width_fours) {
      const vec4 values = sum == 0 ? vec4(0) : results[i] * over;
      const int at = int(query) * args.y_strides[2] + int(four) * 4 * args.y_strides[3];
      if (QUADS != 0) {
        REALS4(y).v[at >> 2] = NARROW4(values);
      } else {
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          if (four * 4 + j < args.width) {
            REALS(y).v[at + int(j) * args.y_strides[3]] = NARROW(values[j]);
          }
        }
      }
    }
  }
}
