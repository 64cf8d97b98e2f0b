#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Attention: softmax(scale Q K' + mask) V of one head, without the matrix of scores in memory.
//
// A workgroup has ROWS queries of one head. Its threads are slices, each of which goes through tiles of KEYS keys of its
// own, every SLICES-th, for all of these queries. In a slice LANES threads share ROWS_EACH queries: they have their
// scores with these keys, the weights of these relative to the largest score so far, and the weighted sum of the values,
// which is scaled down whenever a larger score turns up. Keys and values come through shared memory, in chunks of up to
// 64 elements of their heads; each chunk is on its way while the one before it is used. In the end the first slice joins
// what all have: each thread its elements of the results, and of the sum of weights those of its keys. All sums are
// made in one order, whatever the strides of the operands. Whatever TYPE is, all of this is float32; a result is rounded
// once, at the end. Where there are few queries, several workgroups share their keys; the last of them joins what they
// have, in the order of the keys.
//
// HEAD: elements of a head, of queries and keys and of values, that the kernel has room for.
#include "attention_args.glsl"
#include "core/kernels/split.glsl"

#define ROWS LEAT_ATTENTION_ROWS
#define LANES LEAT_ATTENTION_LANES
#if HEAD <= LEAT_ATTENTION_SMALL
#define ROWS_EACH LEAT_ATTENTION_SMALL_ROWS_EACH
#define SLICES 2
#else
#define ROWS_EACH 1
#define SLICES 1
#endif
#define KEYS LEAT_ATTENTION_KEYS
#define ROW_STEP (ROWS / ROWS_EACH) // from one query of a thread to its next
#define SLICE LEAT_ATTENTION_SLICE(ROWS_EACH)
#define THREADS (SLICE * SLICES)
layout(local_size_x = THREADS) in;

LEAT_CONSTANT(uint, QUADS, 0);       // 1: all operands and the result are moved four elements at a time
LEAT_CONSTANT(uint, DEPTH_CHUNK, 8); // fours of a chunk of queries and keys: LANES or CHUNK_MOST
LEAT_CONSTANT(uint, WIDTH_CHUNK, 8); // of values
// These are apart because what they take is much of the kernel.
LEAT_CONSTANT(uint, SPLIT, 0);  // 1: args.splits workgroups share out keys
LEAT_CONSTANT(uint, CAPPED, 0); // 1: scores have a cap

#define CHUNK_MOST 16
#define CHUNKS (HEAD / 4 / CHUNK_MOST)
#define HELD (KEYS * CHUNK_MOST / SLICE)
#define KEYS_EACH (KEYS / LANES)
#define BLOCK (KEYS * SLICES) // keys that a workgroup takes at a time
// Fours from one row to the next in shared memory: one more than needed, so that rows begin in different banks.
#define TILE_PITCH (CHUNK_MOST + 1)
#define QUERY_PITCH (HEAD / 4 + 1)
#define WEIGHT_PITCH (KEYS / 4 + 1)
#define RESULTS_EACH (2 * CHUNKS)
#define RESULTS (ROWS_EACH * RESULTS_EACH)
#define PIECE LEAT_ATTENTION_PIECE(ROWS_EACH, HEAD) // of a thread: its results, and what they are relative to
#define TILE (KEYS * TILE_PITCH)
#if ROWS_EACH > 2 || PIECE != RESULTS + 1 || (SLICES > 1 && PIECE * SLICE > TILE)
#error "a thread has queries for which there is no room in its piece, or slices pieces for which there is none in a tile"
#endif
shared vec4 tiles[SLICES * TILE];
shared vec4 queries[ROWS * QUERY_PITCH];
shared vec4 weights[SLICES * ROWS * WEIGHT_PITCH];
shared vec4 tops[SLICES * ROWS * LANES / 4]; // of each thread and query the largest score; in the end the sum of weights

// Which slice, and which of its threads; where its tile, weights and largest scores begin.
uint slice, thread, tile, weight0, top0;
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
  const uint at = thread + i * SLICE;
  return across ? uvec2(at % KEYS, at / KEYS) : uvec2(at / chunk, at % chunk);
}

// Those of a tile that begins at `key0`, as far as there are any below `keys`.
void fetch_keys(uint64_t base, uint key0, uint keys, uint first) {
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uvec2 at = place(i, DEPTH_CHUNK, goes_across(LEAT_ATTENTION_K));
    const uint element = (first + at.y) * 4;
    held[i] = vec4(0);
    if (at.x < KEYS && at.y < DEPTH_CHUNK && key0 + at.x < keys && element < args.depth) {
      held[i] = fetch(base, key0 + at.x, element, args.k_strides[2], args.k_strides[3], args.depth);
    }
  }
}
void fetch_values(uint64_t base, uint key0, uint keys, uint first) {
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uvec2 at = place(i, WIDTH_CHUNK, goes_across(LEAT_ATTENTION_V));
    const uint element = (first + at.y) * 4;
    held[i] = vec4(0);
    if (at.x < KEYS && at.y < WIDTH_CHUNK && key0 + at.x < keys && element < args.width) {
      held[i] = fetch(base, key0 + at.x, element, args.v_strides[2], args.v_strides[3], args.width);
    }
  }
}
// Puts what was fetched into the tile.
void keep(uint chunk, bool across) {
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uvec2 at = place(i, chunk, across);
    if (at.x < KEYS && at.y < chunk) {
      tiles[tile + at.x * TILE_PITCH + at.y] = held[i];
    }
  }
}

// Of a thread, by its queries: their largest score, the part of their sum of weights that is of this thread's keys, and
// its fours of their results.
float top[ROWS_EACH], sum[ROWS_EACH];
vec4 results[RESULTS];

// e^(x - base): the weight of a score relative to the largest one, and the factor of what is relative to x and becomes
// relative to `base`. As long as no key is taken, there is nothing to be relative to.
float exp_relative(float x, float base) { return leat_exp(x - (base == -LEAT_INFINITY ? 0 : base)); }

// What the results of a thread are relative to.
vec4 relative() { return vec4(top[0], sum[0], top[ROWS_EACH - 1], sum[ROWS_EACH - 1]); }

// Adds what another slice or workgroup has of the same queries.
void add_piece(vec4 others[PIECE]) {
  [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
    const float other_top = others[RESULTS][2 * r], other_sum = others[RESULTS][2 * r + 1];
    const float higher = max(top[r], other_top);
    const float own = exp_relative(top[r], higher), other = exp_relative(other_top, higher);
    top[r] = higher;
    sum[r] = fma(sum[r], own, other_sum * other);
    [[unroll]] for (uint i = r * RESULTS_EACH; i < (r + 1) * RESULTS_EACH; ++i) {
      results[i] = fma(results[i], vec4(own), others[i] * other);
    }
  }
}

#if SLICES > 1
// Gives the first slice what all slices have, through their tiles.
void join_slices() {
  barrier(); // nobody reads the tiles any more
  if (slice > 0) {
    [[unroll]] for (uint i = 0; i < RESULTS; ++i) {
      tiles[tile + i * SLICE + thread] = results[i];
    }
    tiles[tile + RESULTS * SLICE + thread] = relative();
  }
  barrier();
  if (slice == 0) {
    for (uint s = 1; s < SLICES; ++s) {
      vec4 others[PIECE];
      [[unroll]] for (uint i = 0; i < PIECE; ++i) {
        others[i] = tiles[s * TILE + i * SLICE + thread];
      }
      add_piece(others);
    }
  }
}
#endif

// Puts what a workgroup has of its keys aside. In the last workgroup of those that share the keys it becomes what all
// have; false in the others.
bool join_splits(uint number, uint split) {
  const uint first = number * args.splits * PIECE * SLICE + thread;
  const uint own = first + split * PIECE * SLICE;
  if (slice == 0) {
    [[unroll]] for (uint i = 0; i < RESULTS; ++i) {
      Pieces(args.pieces).v[own + i * SLICE] = results[i];
    }
    Pieces(args.pieces).v[own + RESULTS * SLICE] = relative();
  }
  if (!split_last(args.counters, number, args.splits)) {
    return false;
  }
  if (slice == 0) {
    [[unroll]] for (uint i = 0; i < RESULTS; ++i) {
      results[i] = vec4(0);
    }
    [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
      top[r] = -LEAT_INFINITY;
      sum[r] = 0;
    }
    for (uint s = 0; s < args.splits; ++s) {
      vec4 others[PIECE];
      [[unroll]] for (uint i = 0; i < PIECE; ++i) {
        others[i] = Pieces(args.pieces).v[first + (s * PIECE + i) * SLICE];
      }
      add_piece(others);
    }
  }
  return true;
}

// The elements of four scores or sums together.
float top_of(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }
float sum_of(vec4 x) { return (x.x + x.y) + (x.z + x.w); }

// Adds to the products of this thread's queries, row + r * ROW_STEP, and keys, lane + j * LANES of the tile, what these
// fours of their heads bring, in as many sums as a four has elements.
void add_products(uint row, uint lane, uint first, uint fours, inout vec4 products[ROWS_EACH * KEYS_EACH]) {
  for (uint i = 0; i < fours; ++i) {
    vec4 a[ROWS_EACH];
    [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
      a[r] = queries[(row + r * ROW_STEP) * QUERY_PITCH + first + i];
    }
    [[unroll]] for (uint j = 0; j < KEYS_EACH; ++j) {
      const vec4 b = tiles[tile + (lane + j * LANES) * TILE_PITCH + i];
      [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
        products[r * KEYS_EACH + j] = fma(a[r], b, products[r * KEYS_EACH + j]);
      }
    }
  }
}

// Puts what a mask of that kind adds in the place of 0, for this thread's keys from `own_key` on. Its loads are all on
// the way at once: for a key that the mask does not have it is read at its last one.
void add_mask(uint kind, int mask[ROWS_EACH], uint own_key, inout float added[ROWS_EACH * KEYS_EACH]) {
  if (mask_count == 0) {
    return;
  }
  [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
    [[unroll]] for (uint j = 0; j < KEYS_EACH; ++j) {
      const float masked = mask_of(kind, mask[r], min(own_key + j * LANES, mask_count - 1));
      added[r * KEYS_EACH + j] = added[r * KEYS_EACH + j] == 0 ? masked : -LEAT_INFINITY;
    }
  }
}

void main() {
  const uint group = leat_linear_group();
  if (group >= args.groups) {
    return;
  }
  slice = gl_LocalInvocationIndex / SLICE;
  thread = gl_LocalInvocationIndex % SLICE;
  tile = slice * TILE;
  weight0 = slice * ROWS * WEIGHT_PITCH;
  top0 = slice * ROWS * LANES / 4;
  const uint number = divide(group, args.per_splits), outer = divide(number, args.per_blocks);
  const uint batch = divide(outer, args.per_heads), head = outer - batch * args.heads;
  const uint query0 = (number - outer * args.blocks) * ROWS;
  const uint row = thread / LANES, lane = thread % LANES;
  const uint64_t q = moved(args.q, args.q_strides, batch, head);
  const uint kv_head = divide(head, args.per_share);
  const uint64_t k = moved(args.k, args.k_strides, batch, kv_head);
  const uint64_t v = moved(args.v, args.v_strides, batch, kv_head);
  begin_batch(batch);
  // Keys that some query of the workgroup has, and its share of them.
  uint key_begin = first_tile(query0), keys = keys_up_to(query0 + ROWS - 1);
  if (SPLIT != 0) {
    const uint count = (max(keys, key_begin) - key_begin + BLOCK - 1) / BLOCK;
    const uint share = divide(count + args.splits - 1, args.per_splits) * BLOCK;
    key_begin += (group - number * args.splits) * share;
    keys = min(keys, key_begin + share);
  }
  const uint depth_fours = (args.depth + 3) / 4, width_fours = (args.width + 3) / 4;

  fetch_keys(k, key_begin + slice * KEYS, keys, 0);
  for (uint at = gl_LocalInvocationIndex; at < ROWS * depth_fours; at += THREADS) {
    const bool across = goes_across(LEAT_ATTENTION_Q);
    const uint r = across ? at % ROWS : at / depth_fours, four = across ? at / ROWS : at % depth_fours;
    queries[r * QUERY_PITCH + four] =
        query0 + r < args.queries ? fetch(q, query0 + r, four * 4, args.q_strides[2], args.q_strides[3], args.depth)
                                  : vec4(0);
  }

  uint query[ROWS_EACH];
  int mask[ROWS_EACH];
  [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
    query[r] = query0 + row + r * ROW_STEP;
    mask[r] = mask_row(batch, head, query[r]);
    // Of the slices and workgroups that share keys, the first has the sink.
    const bool first = slice == 0 && group == number * args.splits;
    top[r] = first ? sink_of(head, query[r]) : -LEAT_INFINITY;
    sum[r] = lane == 0 ? sink_weight(top[r]) : 0;
  }
  [[unroll]] for (uint i = 0; i < RESULTS; ++i) {
    results[i] = vec4(0);
  }
  for (uint key_all = key_begin; key_all < keys; key_all += BLOCK) {
    const uint key0 = key_all + slice * KEYS;
    float added[ROWS_EACH * KEYS_EACH], scores[ROWS_EACH * KEYS_EACH];
    vec4 products[ROWS_EACH * KEYS_EACH];
    [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
      [[unroll]] for (uint j = 0; j < KEYS_EACH; ++j) {
        const uint key = key0 + lane + j * LANES;
        added[r * KEYS_EACH + j] = key < keys && has_key(query[r], key) ? 0 : -LEAT_INFINITY;
        products[r * KEYS_EACH + j] = vec4(0);
      }
    }
    if (args.mask_kind == LEAT_ATTENTION_MASK_ADDED) {
      add_mask(LEAT_ATTENTION_MASK_ADDED, mask, key0 + lane, added);
    } else if (args.mask_kind == LEAT_ATTENTION_MASK_BOOL) {
      add_mask(LEAT_ATTENTION_MASK_BOOL, mask, key0 + lane, added);
    }
    for (uint first = 0; first < depth_fours; first += DEPTH_CHUNK) {
      barrier(); // nobody reads the tile any more
      keep(DEPTH_CHUNK, goes_across(LEAT_ATTENTION_K));
      barrier();
      if (first + DEPTH_CHUNK < depth_fours) {
        fetch_keys(k, key0, keys, first + DEPTH_CHUNK);
      } else {
        fetch_values(v, key0, keys, 0);
      }
      add_products(row, lane, first, min(DEPTH_CHUNK, depth_fours - first), products);
    }
    [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
      float highest = -LEAT_INFINITY;
      [[unroll]] for (uint j = 0; j < KEYS_EACH; ++j) {
        // A key that is not taken counts for nothing, whatever its score.
        const uint at = r * KEYS_EACH + j;
        const float product = sum_of(products[at]);
        const float score = CAPPED != 0 ? score_of(product) : args.scale * product;
        const bool taken = added[at] != -LEAT_INFINITY;
        scores[at] = taken ? score + added[at] : added[at];
        highest = max(highest, taken ? max(scores[at], LOWEST) : added[at]);
      }
      tops[top0 + ((row + r * ROW_STEP) * LANES + lane) / 4][lane % 4] = highest;
    }
    barrier();

    keep(WIDTH_CHUNK, goes_across(LEAT_ATTENTION_V));
    float smaller[ROWS_EACH];
    [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
      const uint own_row = row + r * ROW_STEP;
      float higher = top[r];
      [[unroll]] for (uint i = 0; i < LANES / 4; ++i) {
        higher = max(higher, top_of(tops[top0 + own_row * (LANES / 4) + i]));
      }
      smaller[r] = exp_relative(top[r], higher);
      top[r] = higher;
      float own_sum = 0;
      [[unroll]] for (uint j = 0; j < KEYS_EACH; ++j) {
        const float weight = exp_relative(scores[r * KEYS_EACH + j], higher);
        own_sum += weight;
        weights[weight0 + own_row * WEIGHT_PITCH + (lane + j * LANES) / 4][lane % 4] = weight;
      }
      sum[r] = fma(sum[r], smaller[r], own_sum);
    }
    barrier();

    for (uint first = 0; first < width_fours; first += WIDTH_CHUNK) {
      if (first > 0) {
        barrier();
        keep(WIDTH_CHUNK, goes_across(LEAT_ATTENTION_V));
        barrier();
      }
      if (first + WIDTH_CHUNK < width_fours) {
        fetch_values(v, key0, keys, first + WIDTH_CHUNK);
      } else {
        fetch_keys(k, key0 + BLOCK, keys, 0);
      }
      vec4 near[ROWS_EACH], far[ROWS_EACH];
      [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
        near[r] = vec4(0);
        far[r] = vec4(0);
      }
      for (uint i = 0; i < KEYS / 4; ++i) {
        vec4 weight[ROWS_EACH];
        [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
          weight[r] = weights[weight0 + (row + r * ROW_STEP) * WEIGHT_PITCH + i];
        }
        [[unroll]] for (uint j = 0; j < 4; ++j) {
          const uint at = tile + (4 * i + j) * TILE_PITCH + lane;
          const vec4 value = tiles[at];
          [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
            near[r] = fma(vec4(weight[r][j]), value, near[r]);
          }
          if (WIDTH_CHUNK > LANES) {
            const vec4 other = tiles[at + LANES];
            [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
              far[r] = fma(vec4(weight[r][j]), other, far[r]);
            }
          }
        }
      }
      // Not by number, so that results stay in registers.
      [[unroll]] for (uint i = 0; i < CHUNKS; ++i) {
        if (first == i * WIDTH_CHUNK) {
          [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
            const uint at = r * RESULTS_EACH + 2 * i;
            results[at] = fma(results[at], vec4(smaller[r]), near[r]);
            results[at + 1] = fma(results[at + 1], vec4(smaller[r]), far[r]);
          }
        }
      }
    }
  }

#if SLICES > 1
  join_slices();
#endif
  if (SPLIT != 0 && !join_splits(number, group - number * args.splits)) {
    return;
  }
  if (slice == 0) {
    [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
      tops[((row + r * ROW_STEP) * LANES + lane) / 4][lane % 4] = sum[r];
    }
  }
  barrier();
  if (slice > 0) {
    return;
  }
  const uint64_t y = moved(args.y, args.y_strides, batch, head);
  [[unroll]] for (uint r = 0; r < ROWS_EACH; ++r) {
    if (query[r] >= args.queries) {
      continue;
    }
    float all = 0;
    [[unroll]] for (uint i = 0; i < LANES / 4; ++i) {
      all += sum_of(tops[(row + r * ROW_STEP) * (LANES / 4) + i]);
    }
    const float total = total_of(all, all == 0 && top[r] != -LEAT_INFINITY);
    const bool zero = gives_zero(total);
    const float over = zero ? 0 : 1.0 / total;
    [[unroll]] for (uint i = 0; i < RESULTS_EACH; ++i) {
      const uint four = (i / 2) * WIDTH_CHUNK + (i % 2) * LANES + lane;
      if ((i % 2) * LANES + lane < WIDTH_CHUNK && four < width_fours) {
        const vec4 values = zero ? vec4(0) : results[r * RESULTS_EACH + i] * over;
        const int at = int(query[r]) * args.y_strides[2] + int(four) * 4 * args.y_strides[3];
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
}
