#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Attention of few queries, as decoders have it, in which each key is used for little arithmetic: what counts is that
// many of them are on the way at once, and that few steps wait for each other.
//
// A workgroup has up to ROWS rows: queries, of those heads that share one of keys and values. Its threads are teams of
// LANES, neighbours in a subgroup. A team goes through keys of its own, FLIGHT at once: each of its threads has CHUNKS
// pieces of 16 bytes of each key and of its value, straight from memory. A score is added up over the team, in such a
// way that each thread ends with other scores, whose exponentials it makes alone. The results of the teams are joined
// by shuffles and through shared memory, in a fixed order. Several workgroups take blocks of keys in turn; the last of
// them that is done joins what they have, in the order of their numbers.
//
// New keys and values may go behind those of a cache, rotated by their positions: then the queries are rotated too. One
// workgroup of those that share a cache makes them, in shared memory, uses them from there, and writes them into the
// cache; so none reads what another one writes. A cache that goes on elsewhere is copied there on the way.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "rotary.glsl"

// What goes behind a cache: strides as those of other operands. Without it keys and values are the whole ones.
struct New {
  uint64_t k, v;
  uint64_t to_k, to_v; // the caches as they become, compact, or 0; the old ones, perhaps
  int k_strides[4], v_strides[4];
  Rotation rotation;
  uint count; // positions; 0 without it
  uint rows;  // of the caches as they become
};
#define ATTENTION_MORE_ARGS New new;
#include "attention_args.glsl"
#include "core/kernels/split.glsl"

// These are powers of two, as leati_attention_cut_few() makes them.
LEAT_CONSTANT(uint, THREADS, 128);
LEAT_CONSTANT(uint, SUBGROUP_SIZE, 4);
LEAT_CONSTANT(uint, ROWS, 1);
LEAT_CONSTANT(uint, LANES, 4);
LEAT_CONSTANT(uint, CHUNKS, 1);
LEAT_CONSTANT(uint, FLIGHT, 4);

LEAT_CONSTANT(uint, SPLIT, 0);  // 1: args.splits workgroups share out keys; apart, because joining is much of the kernel
LEAT_CONSTANT(uint, BEHIND, 0); // 1: there are new keys and values, or caches to be copied
layout(local_size_x_id = CONSTANT_THREADS) in;

const uint WIDE = 16 / ELEMENT_SIZE; // elements of a piece
const uint EACH = WIDE / 4;          // fours of it
const uint TEAMS = THREADS / LANES;
const uint BLOCK = TEAMS * FLIGHT; // keys that a workgroup takes at once

// Scores of a team at once, number `row` * FLIGHT + `key`; those of which a thread ends up with, HELD, are of OWN_ROWS
// rows and OWN_KEYS keys each. Where there are more threads than scores, several have the same ones.
const uint SCORES = ROWS * FLIGHT;
const uint HOLDERS = SCORES < LANES ? SCORES : LANES;
const uint HELD = SCORES / HOLDERS;
const uint ROW_HOLDERS = ROWS < LANES ? ROWS : LANES;
const uint OWN_ROWS = ROWS / ROW_HOLDERS;
const uint OWN_KEYS = HELD / OWN_ROWS;
#define HELD_MOST (LEAT_ATTENTION_FEW_SCORES / LEAT_ATTENTION_FEW_LANES_LEAST)
#define OWN_ROWS_MOST (LEAT_ATTENTION_FEW_ROWS / LEAT_ATTENTION_FEW_LANES_LEAST)

// Fours of results of a thread, by row, chunk and four of a piece; those of a subgroup are by thread of a team then.
const uint RESULTS = ROWS * CHUNKS * EACH;
const uint RESULTS_ALL = RESULTS * LANES;
// Where the teams of a subgroup have added them up, a thread has LEFT of them.
const uint SUBGROUP_TEAMS = SUBGROUP_SIZE / LANES;
const uint SPREAD = RESULTS < SUBGROUP_TEAMS ? RESULTS : SUBGROUP_TEAMS;
const uint LEFT = RESULTS / SPREAD;
const uint SUBGROUPS = THREADS / SUBGROUP_SIZE;
#define JOINED_MOST (LEAT_ATTENTION_FEW_RESULTS * LEAT_ATTENTION_FEW_LANES_MOST / LEAT_ATTENTION_FEW_THREADS_LEAST)

#define SPACE 1024
shared vec4 space[SPACE]; // the queries, in the order of results; then results of subgroups
shared STORED4 made[LEAT_ATTENTION_FEW_NEW * EACH]; // new keys, then new values
#define RELATIVE_MOST (LEAT_ATTENTION_FEW_ROWS * LEAT_ATTENTION_FEW_SUBGROUPS)
shared float group_tops[RELATIVE_MOST], group_sums[RELATIVE_MOST];

uint thread, lane, team;
uvec4 keys[LEAT_ATTENTION_FEW_PIECES], values[LEAT_ATTENTION_FEW_PIECES];
vec4 results[LEAT_ATTENTION_FEW_RESULTS];
// Scores of this thread, then their weights, and of its rows the largest score, the sum of weights, and by what earlier
// ones are scaled down.
float weights[HELD_MOST];
float tops[OWN_ROWS_MOST], sums[OWN_ROWS_MOST], scales[OWN_ROWS_MOST];
uint first_score; // of this thread
uint own_query[OWN_ROWS_MOST];
int own_mask[OWN_ROWS_MOST];

// The bits of a number below a power of two in reverse.
uint reversed(uint number, uint below) {
  return below > 1 ? bitfieldReverse(number) >> (32 - findMSB(below)) : 0;
}

// ---- Keys and values -----------------------------------------------------------------------------------------------

uvec4 piece_of(uint64_t base, int at, uint element) {
  return U32x4(base).v[(at + int(element)) >> (ELEMENT_SIZE == 4 ? 2 : 3)];
}

// The number of a team's key `j` from `first` on; beyond the last it is that one again.
uint key_of(uint first, uint last, uint j) { return min(first + j * TEAMS + team, last); }

void fetch_keys(uint64_t k, uint first, uint last) {
  [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
    const uint element = (c * LANES + lane) * WIDE;
    [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
      keys[j * CHUNKS + c] = uvec4(0);
    }
    if (element < args.depth) {
      [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
        keys[j * CHUNKS + c] = piece_of(k, int(key_of(first, last, j)) * args.k_strides[2], element);
      }
    }
  }
}
// What is beyond the elements of a value is not written anywhere.
void fetch_values(uint64_t v, uint first, uint last) {
  [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
    const uint element = min((c * LANES + lane) * WIDE, args.width - WIDE);
    [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
      values[j * CHUNKS + c] = piece_of(v, int(key_of(first, last, j)) * args.v_strides[2], element);
    }
  }
}

// The same of new ones.
uvec4 made_piece(uint at) { return FOURS(made[at * EACH], made[at * EACH + EACH - 1]); }

void take_keys() {
  const uint pieces = args.depth / WIDE;
  [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
    const uint piece = c * LANES + lane;
    [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
      keys[j * CHUNKS + c] = uvec4(0);
      if (piece < pieces) {
        keys[j * CHUNKS + c] = made_piece(key_of(0, args.new.count - 1, j) * pieces + piece);
      }
    }
  }
}
void take_values() {
  const uint pieces = args.width / WIDE, from = args.new.count * (args.depth / WIDE);
  [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
    const uint piece = min(c * LANES + lane, pieces - 1);
    [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
      values[j * CHUNKS + c] = made_piece(from + key_of(0, args.new.count - 1, j) * pieces + piece);
    }
  }
}

// Copies a share of the `past` rows of a cache to where it goes on, and puts zeros behind the new ones.
void copy_past(uint64_t from, int row_stride, uint64_t to, uint row0, uint pieces, uint past, uint part, uint parts) {
  const uint share = (args.new.rows + parts - 1) / parts;
  const uint end = min((part + 1) * share, args.new.rows) * pieces;
  for (uint i = part * share * pieces + thread; i < end; i += 4 * THREADS) {
    uvec4 held[4];
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const uint at = i + j * THREADS, row = at / pieces;
      held[j] = uvec4(0);
      if (at < end && row < past) {
        held[j] = piece_of(from, int(row) * row_stride, (at - row * pieces) * WIDE);
      }
    }
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      const uint at = i + j * THREADS, row = at / pieces;
      if (at < end && (row < past || row >= past + args.new.count)) {
        U32x4(to).v[row0 * pieces + at] = held[j];
      }
    }
  }
}

// ---- What stays in shared memory -----------------------------------------------------------------------------------

// The query of a row, of those that share a head of keys; beyond the last row one that there is not.
uint query_of(uint row) { return divide(row, args.per_share); }

// The row of a position in the caches as they become, all of one batch and head behind those of another.
uint cache_row_of(uint batch, uint kv_head, uint position) {
  return (batch * args.heads + kv_head) * args.new.rows + position;
}

// The row of a four of the workgroup's queries or results, and its first element.
uint row_at(uint at) { return at / (CHUNKS * EACH * LANES); }
uint element_at(uint at) {
  const uint piece = at / (EACH * LANES) % CHUNKS * LANES + at % LANES;
  return piece * WIDE + at / LANES % EACH * 4;
}

#define ROUND LEAT_JOIN(leat_round_, TYPE)

// Four elements of a row from `first` on, the first `rotates` of all of which are rotated, and as a cache would hold
// them then. All loads come before anything that waits for one.
vec4 four_of(uint64_t from, int row, int stride, uint first, uint rotates, int position) {
  vec4 four, turned;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    four[j] = ELEMENT(from, row + int(first + j) * stride);
  }
  if (first < rotates) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      turned[j] = ROUND(rotated(args.new.rotation, from, row, stride, min(first + j, rotates - 1), position));
    }
    four = mix(four, turned, lessThan(uvec4(first) + uvec4(0, 1, 2, 3), uvec4(rotates)));
  }
  return four;
}

// Brings the queries, with zeros beyond their elements and the last row; and if this workgroup makes them the new keys
// and values, which lie behind `past` others. Those of which there is a cache are written into it.
void bring(uint batch, uint kv_head, uint row0, uint past, bool makes_new, bool writes) {
  const uint key_fours = args.depth / 4, value_fours = args.width / 4;
  const uint keys_end = RESULTS_ALL + args.new.count * key_fours;
  const uint end = makes_new ? keys_end + args.new.count * value_fours : RESULTS_ALL;
  for (uint i = thread; i < end; i += THREADS) {
    uint64_t from, to = 0;
    uint row, first, rotates = 2 * args.new.rotation.pairs, to_four = 0;
    int row_stride, stride;
    bool there = true;
    if (i < RESULTS_ALL) {
      row = query_of(row0 + row_at(i));
      first = element_at(i);
      from = moved(args.q, args.q_strides, batch, kv_head * args.share + row0 + row_at(i) - row * args.share);
      row_stride = args.q_strides[2];
      stride = args.q_strides[3];
      there = row < args.queries && first < args.depth;
    } else if (i < keys_end) {
      const uint at = i - RESULTS_ALL;
      row = at / key_fours;
      first = (at - row * key_fours) * 4;
      from = moved(args.new.k, args.new.k_strides, batch, kv_head);
      row_stride = args.new.k_strides[2];
      stride = args.new.k_strides[3];
      to = args.new.to_k;
      to_four = cache_row_of(batch, kv_head, past) * key_fours + at;
    } else {
      const uint at = i - keys_end;
      row = at / value_fours;
      first = (at - row * value_fours) * 4;
      from = moved(args.new.v, args.new.v_strides, batch, kv_head);
      row_stride = args.new.v_strides[2];
      stride = args.new.v_strides[3];
      to = args.new.to_v;
      to_four = cache_row_of(batch, kv_head, past) * value_fours + at;
      rotates = 0;
    }
    vec4 four = vec4(0);
    if (there) {
      const int position = BEHIND != 0 ? rotation_position(args.new.rotation, batch, row, int(past + row)) : 0;
      four = four_of(from, int(row) * row_stride, stride, first, BEHIND != 0 ? rotates : 0, position);
    }
    if (i < RESULTS_ALL) {
      space[i] = four;
    } else {
      made[i - RESULTS_ALL] = NARROW4(four);
      if (writes && to != 0) {
        REALS4(to).v[to_four] = NARROW4(four);
      }
    }
  }
}

// ---- Scores --------------------------------------------------------------------------------------------------------

// Leaves each thread its scores, with `keys`, the first of which is `first` and the last of which that there are is
// `last`.
void score(uint first, uint last) {
  float added[HELD_MOST];
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    const uint key = first + (first_score + i) % FLIGHT * TEAMS + team;
    added[i] = key <= last ? added_to(own_query[i / OWN_KEYS], key, own_mask[i / OWN_KEYS]) : -LEAT_INFINITY;
  }
  float parts[LEAT_ATTENTION_FEW_SCORES];
  [[unroll]] for (uint i = 0; i < SCORES; ++i) {
    parts[i] = 0;
  }
  [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
    [[unroll]] for (uint h = 0; h < EACH; ++h) {
      vec4 k[LEAT_ATTENTION_FEW_FLIGHT];
      [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
        k[j] = FOUR(keys[j * CHUNKS + c], h);
      }
      [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        const vec4 q = space[((r * CHUNKS + c) * EACH + h) * LANES + lane];
        [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
          const float part = parts[r * FLIGHT + j];
          parts[r * FLIGHT + j] = fma(q.x, k[j].x, fma(q.y, k[j].y, fma(q.z, k[j].z, fma(q.w, k[j].w, part))));
        }
      }
    }
  }
  // With each bit of a thread's number it keeps one half of the sums and gives the other away.
  [[unroll]] for (uint b = 0; b < 5; ++b) {
    const uint across = 1u << b, half_of = SCORES >> (b + 1);
    if (across < LANES && half_of > 0) {
      const bool upper = (lane & across) != 0;
      [[unroll]] for (uint i = 0; i < half_of; ++i) {
        const float low = parts[i], high = parts[i + half_of];
        parts[i] = (upper ? high : low) + subgroupShuffleXor(upper ? low : high, across);
      }
    } else if (across < LANES) {
      parts[0] += subgroupShuffleXor(parts[0], across);
    }
  }
  [[unroll]] for (uint i = 0; i < HELD; ++i) {
    // A key that is not taken counts for nothing, whatever its score.
    const bool taken = added[i] != -LEAT_INFINITY;
    weights[i] = taken ? score_of(parts[i]) + added[i] : added[i];
    tops[i / OWN_KEYS] = taken ? max(tops[i / OWN_KEYS], LOWEST) : tops[i / OWN_KEYS];
  }
}

// The largest value, and the sum of values, of those threads that differ in bits of their numbers, from the one with the
// value `from` up to below `end`.
float largest_across(float value, uint from, uint end) {
  [[unroll]] for (uint b = 0; b < 5; ++b) {
    if (from << b < end) {
      value = max(value, subgroupShuffleXor(value, from << b));
    }
  }
  return value;
}
float sum_across(float value, uint from, uint end) {
  [[unroll]] for (uint b = 0; b < 5; ++b) {
    if (from << b < end) {
      value += subgroupShuffleXor(value, from << b);
    }
  }
  return value;
}

// Makes weights of scores, relative to the largest so far.
void weigh() {
  [[unroll]] for (uint o = 0; o < OWN_ROWS; ++o) {
    float higher = tops[o];
    [[unroll]] for (uint i = 0; i < OWN_KEYS; ++i) {
      higher = max(higher, weights[o * OWN_KEYS + i]);
    }
    higher = largest_across(higher, ROW_HOLDERS, HOLDERS);
    // As long as no key is taken, there is nothing to be relative to.
    const float base = higher == -LEAT_INFINITY ? 0 : higher;
    scales[o] = leat_exp(tops[o] - base);
    tops[o] = higher;
    sums[o] *= scales[o];
    [[unroll]] for (uint i = 0; i < OWN_KEYS; ++i) {
      weights[o * OWN_KEYS + i] = leat_exp(weights[o * OWN_KEYS + i] - base);
      sums[o] += weights[o * OWN_KEYS + i];
    }
  }
}

// The thread of this team that has a score.
uint holder_of(uint number) {
  return gl_SubgroupInvocationID - lane + reversed(number / HELD, HOLDERS);
}

// Multiplies the results of each row by a factor that its holders have.
void scale_results() {
  [[unroll]] for (uint r = 0; r < ROWS; ++r) {
    const float by = subgroupShuffle(scales[r % OWN_ROWS], holder_of(r * FLIGHT));
    [[unroll]] for (uint i = 0; i < CHUNKS * EACH; ++i) {
      results[r * CHUNKS * EACH + i] *= by;
    }
  }
}

// Adds `values` by their weights.
void add_values() {
  scale_results();
  [[unroll]] for (uint j = 0; j < FLIGHT; ++j) {
    vec4 v[LEAT_ATTENTION_FEW_RESULTS];
    [[unroll]] for (uint i = 0; i < CHUNKS * EACH; ++i) {
      v[i] = FOUR(values[j * CHUNKS + i / EACH], i % EACH);
    }
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      const uint number = r * FLIGHT + j;
      const float weight = subgroupShuffle(weights[number % HELD], holder_of(number));
      [[unroll]] for (uint i = 0; i < CHUNKS * EACH; ++i) {
        results[r * CHUNKS * EACH + i] = fma(vec4(weight), v[i], results[r * CHUNKS * EACH + i]);
      }
    }
  }
}

// ---- Joining -------------------------------------------------------------------------------------------------------

// The largest score of a row in this workgroup, when the subgroups have put theirs aside.
float group_top(uint row) {
  float top = -LEAT_INFINITY;
  for (uint s = 0; s < SUBGROUPS; ++s) {
    top = max(top, group_tops[s * ROWS + row]);
  }
  return top;
}

// The sum of a row's weights in this workgroup, when they have put aside theirs, relative to that score.
float group_sum(uint row) {
  float sum = 0;
  for (uint s = 0; s < SUBGROUPS; ++s) {
    sum += group_sums[s * ROWS + row];
  }
  return sum;
}

// Makes the results of all teams of this subgroup relative to the largest scores of the workgroup, and adds them up.
void join_teams() {
  [[unroll]] for (uint o = 0; o < OWN_ROWS; ++o) {
    const float top = largest_across(tops[o], LANES, SUBGROUP_SIZE);
    if (gl_SubgroupInvocationID < ROW_HOLDERS) {
      group_tops[gl_SubgroupID * ROWS + first_score / FLIGHT + o] = top;
    }
  }
  barrier();
  [[unroll]] for (uint o = 0; o < OWN_ROWS; ++o) {
    const float top = group_top(first_score / FLIGHT + o);
    scales[o] = leat_exp(tops[o] - (top == -LEAT_INFINITY ? 0 : top));
    const float sum = sum_across(sum_across(sums[o] * scales[o], ROW_HOLDERS, HOLDERS), LANES, SUBGROUP_SIZE);
    if (gl_SubgroupInvocationID < ROW_HOLDERS) {
      group_sums[gl_SubgroupID * ROWS + first_score / FLIGHT + o] = sum;
    }
  }
  scale_results();
  // As scores are, by halves.
  [[unroll]] for (uint b = 0; b < 5; ++b) {
    const uint across = LANES << b, half_of = RESULTS >> (b + 1);
    if (across < SUBGROUP_SIZE && half_of > 0) {
      const bool upper = (gl_SubgroupInvocationID & across) != 0;
      [[unroll]] for (uint i = 0; i < half_of; ++i) {
        const vec4 low = results[i], high = results[i + half_of];
        results[i] = (upper ? high : low) + subgroupShuffleXor(upper ? low : high, across);
      }
    } else if (across < SUBGROUP_SIZE) {
      results[0] += subgroupShuffleXor(results[0], across);
    }
  }
}

// Of the results of the workgroup a thread has every THREADS-th from its own number on.
vec4 joined[JOINED_MOST];
const uint JOINED = (RESULTS_ALL + THREADS - 1) / THREADS;

// Adds up the results of all subgroups, as many at once as there is space for.
void join_subgroups() {
  const uint own_team = gl_SubgroupInvocationID / LANES;
  const uint first = reversed(own_team % SPREAD, SPREAD) * LEFT;
  const uint at_once = SPACE / RESULTS_ALL;
  [[unroll]] for (uint k = 0; k < JOINED; ++k) {
    joined[k] = vec4(0);
  }
  for (uint from = 0; from < SUBGROUPS; from += at_once) {
    if (from != 0) {
      barrier(); // nobody reads what lies there any more
    }
    if (own_team < SPREAD && gl_SubgroupID >= from && gl_SubgroupID - from < at_once) {
      [[unroll]] for (uint i = 0; i < LEFT; ++i) {
        space[((gl_SubgroupID - from) * RESULTS + first + i) * LANES + lane] = results[i];
      }
    }
    barrier();
    [[unroll]] for (uint k = 0; k < JOINED; ++k) {
      const uint at = thread + k * THREADS;
      for (uint s = 0; at < RESULTS_ALL && s < min(at_once, SUBGROUPS - from); ++s) {
        joined[k] += space[s * RESULTS_ALL + at];
      }
    }
  }
}

#define PIECE (RESULTS_ALL + ROWS) // of a workgroup: its results, and what those of each row are relative to
#define PIECES_AT_ONCE 8

// Joins the `count` pieces from `first` on: four `at` of the results, and the sum of weights of its row and its largest
// score.
vec4 join_pieces(uint first, uint count, uint at, out float sum, out float top) {
  const uint relative_at = RESULTS_ALL + row_at(at);
  top = -LEAT_INFINITY;
  vec4 result = vec4(0);
  sum = 0;
  for (uint from = 0; from < count; from += PIECES_AT_ONCE) {
    vec4 pieces[PIECES_AT_ONCE], relative[PIECES_AT_ONCE];
    float higher = top;
    [[unroll]] for (uint i = 0; i < PIECES_AT_ONCE; ++i) {
      const uint piece = first + min(from + i, count - 1) * PIECE;
      pieces[i] = Pieces(args.pieces).v[piece + at];
      relative[i] = Pieces(args.pieces).v[piece + relative_at];
    }
    [[unroll]] for (uint i = 0; i < PIECES_AT_ONCE; ++i) {
      higher = max(higher, relative[i].x);
    }
    const float base = higher == -LEAT_INFINITY ? 0 : higher;
    const float smaller = leat_exp(top - base);
    result *= smaller;
    sum *= smaller;
    [[unroll]] for (uint i = 0; i < PIECES_AT_ONCE; ++i) {
      if (from + i < count) {
        const float by = leat_exp(relative[i].x - base);
        result = fma(pieces[i], vec4(by), result);
        sum = fma(relative[i].y, by, sum);
      }
    }
    top = higher;
  }
  return result;
}

// Writes four `at` of the results, over the sum of their weights; `top`: the largest score.
void write(uint batch, uint kv_head, uint row0, uint at, vec4 result, float sum, float top) {
  const uint row = row0 + row_at(at), query = query_of(row);
  if (query >= args.queries) {
    return;
  }
  const uint64_t y = moved(args.y, args.y_strides, batch, kv_head * args.share + row - query * args.share);
  const float total = total_of(sum, sum == 0 && top != -LEAT_INFINITY);
  const vec4 out_of = gives_zero(total) ? vec4(0) : result * (1.0 / total);
  const uint first = element_at(at);
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (first + j < args.width) {
      REALS(y).v[int(query) * args.y_strides[2] + int(first + j) * args.y_strides[3]] = NARROW(out_of[j]);
    }
  }
}

// Joins what all teams and the `sharers` workgroups have, and writes it.
void finish(uint number, uint split, uint sharers, uint batch, uint kv_head, uint row0) {
  join_teams();
  join_subgroups();
  const uint first = number * args.splits * PIECE, own = first + split * PIECE;
  [[unroll]] for (uint k = 0; k < JOINED; ++k) {
    const uint at = thread + k * THREADS;
    if (at < RESULTS_ALL && sharers > 1) {
      Pieces(args.pieces).v[own + at] = joined[k];
      if (at % (CHUNKS * EACH * LANES) == 0) {
        Pieces(args.pieces).v[own + RESULTS_ALL + row_at(at)] =
            vec4(group_top(row_at(at)), group_sum(row_at(at)), 0, 0);
      }
    }
  }
  if (sharers > 1 && !split_last(args.counters, number, sharers)) {
    return;
  }
  [[unroll]] for (uint k = 0; k < JOINED; ++k) {
    const uint at = thread + k * THREADS;
    if (at < RESULTS_ALL) {
      float sum = group_sum(row_at(at)), top = group_top(row_at(at));
      vec4 result = joined[k];
      if (sharers > 1) {
        result = join_pieces(first, sharers, at, sum, top);
      }
      write(batch, kv_head, row0, at, result, sum, top);
    }
  }
}

// ---- A workgroup ---------------------------------------------------------------------------------------------------

void main() {
  const uint group = leat_linear_group();
  if (SPLIT == 0 && group >= args.groups) {
    return;
  }
  // Vulkan does not say which threads form a subgroup; all subgroups are full.
  thread = gl_SubgroupID * SUBGROUP_SIZE + gl_SubgroupInvocationID;
  lane = gl_SubgroupInvocationID % LANES;
  team = thread / LANES;
  const uint number = SPLIT != 0 ? gl_WorkGroupID.y : group, split = SPLIT != 0 ? gl_WorkGroupID.x : 0;
  const uint outer = divide(number, args.per_blocks), block = number - outer * args.blocks;
  const uint batch = divide(outer, args.per_heads);
  const uint kv_head = outer - batch * args.heads, row0 = block * ROWS;
  const uint64_t k = moved(args.k, args.k_strides, batch, kv_head);
  const uint64_t v = moved(args.v, args.v_strides, batch, kv_head);
  begin_batch(batch);
  // Keys that some row has, the first `past` of all of which are not new.
  const uint last_query = min(query_of(row0 + ROWS - 1), args.queries - 1);
  const uint begin = uint(max(position_of(query_of(row0)) - args.before, 0)), end = keys_up_to(last_query);
  const uint past = BEHIND != 0 ? uint(first_position) : key_count, past_end = min(end, past);
  const uint steps_past = (max(past_end, begin) - begin + BLOCK - 1) / BLOCK;
  const bool any_new = BEHIND != 0 && end > max(begin, past);
  const uint steps = steps_past + uint(any_new);
  // A workgroup that has a block already takes new keys sooner than another one would be joined with it.
  const uint sharers = SPLIT == 0 || steps_past < 2 ? 1 : min(steps, args.splits);
  const bool makes_new = BEHIND != 0 && split == steps_past % sharers;

  if (split < sharers) {
    first_score = reversed(lane % HOLDERS, HOLDERS) * HELD;
    [[unroll]] for (uint o = 0; o < OWN_ROWS; ++o) {
      const uint row = row0 + first_score / FLIGHT + o, query = query_of(row);
      own_query[o] = min(query, args.queries - 1);
      const uint head = kv_head * args.share + row - query * args.share;
      own_mask[o] = mask_row(batch, head, query);
      // One team has the sink, and of its threads with the row the one that has its first key counts it.
      tops[o] = split == 0 && team == 0 ? sink_of(head, query) : -LEAT_INFINITY;
      sums[o] = first_score % FLIGHT == 0 ? sink_weight(tops[o]) : 0;
    }
    [[unroll]] for (uint i = 0; i < RESULTS; ++i) {
      results[i] = vec4(0);
    }
    // Keys are on the way while values are used and the other way round, the first of both while all else is made ready:
    // so a step fetches for the next one, and the first does nothing more.
    bool is_first = true;
    for (uint next = split;; next += sharers) {
      const bool is_new = !is_first && next - sharers >= steps_past;
      if (is_new) {
        take_keys();
        take_values();
      }
      if (!is_first) {
        score(is_new ? past : begin + (next - sharers) * BLOCK, (is_new ? end : past_end) - 1);
      }
      if (next < steps_past) {
        fetch_keys(k, begin + next * BLOCK, past_end - 1);
      }
      if (!is_first) {
        weigh();
        add_values();
      }
      if (next < steps_past) {
        fetch_values(v, begin + next * BLOCK, past_end - 1);
      }
      if (is_first) {
        bring(batch, kv_head, row0, past, makes_new, block == 0);
        barrier();
        is_first = false;
      }
      if (next >= steps) {
        break;
      }
    }
    finish(number, split, sharers, batch, kv_head, row0);
  }
  if (BEHIND != 0) {
    const uint part = split * args.blocks + block, parts = args.splits * args.blocks;
    const uint cache_row = cache_row_of(batch, kv_head, 0);
    if (args.new.to_k != 0 && args.new.to_k != args.k) {
      copy_past(k, args.k_strides[2], args.new.to_k, cache_row, args.depth / WIDE, past, part, parts);
    }
    if (args.new.to_v != 0 && args.new.to_v != args.v) {
      copy_past(v, args.v_strides[2], args.new.to_v, cache_row, args.width / WIDE, past, part, parts);
    }
  }
}
