// SPDX-License-Identifier: BSD-3-Clause
// What kernels of attention share, by whatever hardware they multiply: the arguments, and which keys a query has. A
// kernel with more arguments says ATTENTION_MORE_ARGS.
#ifndef LEAT_ATTENTION_ARGS_GLSL_
#define LEAT_ATTENTION_ARGS_GLSL_

#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"
#include "lengths.glsl"
#include "attention_codes.glsl"

// Strides in elements, of batch, head, position and element of the head.
struct Args {
  uint64_t q, k, v, mask, y, sinks;
  Lengths lengths; // keys of each batch
  uint64_t pieces, counters; // where keys are split, see split.glsl
  int q_strides[4], k_strides[4], v_strides[4], mask_strides[4], y_strides[4];
  uint groups, blocks; // workgroups in all, and for each head without splits
  uint splits;         // workgroups that share the keys of the same queries
  uint heads, share;   // heads of queries, or of keys and values (attention_few.comp), and how many of the former share
                       // one of the latter
  Divider per_splits, per_blocks, per_heads, per_share;
  uint queries;
  uint masked_keys; // keys that the mask has; it takes the others out
  uint depth, width; // elements of a head of queries and keys, and of values
  float scale;
  float cap;    // 0: there is none
  uint mask_kind; // LEAT_ATTENTION_MASK_...
  int offset;     // position of the first query among the keys,
  uint ends;      // or 1: the last of so many queries has that of its batch's last key
  int fresh;
  int step;       // positions from one query to the next: 0 or 1
  int before, after; // keys before and behind its position that a query has, or LEAT_ATTENTION_ALL
  uint across;    // of operands: where elements are moved one by one, neighbouring threads go across rows, for these
                  // lie closer
  int sink_strides[2]; // of head and query
  float sink;          // of all where `has_sinks` is 0; `sinks` are other numbers then
  uint has_sinks;
#ifdef ATTENTION_MORE_ARGS
  ATTENTION_MORE_ARGS
#endif
};
LEAT_ARGS
LEAT_CONSTANT(uint, ZEROED, LEAT_ATTENTION_ZEROED_NONE); // which queries give 0 in the place of NaN

uint64_t moved(uint64_t address, const int strides[4], uint batch, uint head) {
  return address + uint64_t(int(batch) * strides[0] + int(head) * strides[1]) * ELEMENT_SIZE;
}

// Where the mask of a query begins; one that is not there has that of the last.
int mask_row(uint batch, uint head, uint query) {
  return int(batch) * args.mask_strides[0] + int(head) * args.mask_strides[1] +
         int(min(query, args.queries - 1)) * args.mask_strides[2];
}

// Keys that the batch of this workgroup has, those of them that the mask has, and where its first query is among them.
uint key_count, mask_count;
int first_position;

void begin_batch(uint batch) {
  const int length = length_of(args.lengths, batch);
  key_count = uint(length);
  mask_count = min(key_count, args.masked_keys);
  first_position = args.ends != 0 ? length - args.fresh : args.offset;
}

int position_of(uint query) { return int(query) * args.step + first_position; }

// The tile of keys with the first that a query has, and how many keys there are up to the last one that it has.
uint first_tile(uint query) {
  return uint(max(position_of(query) - args.before, 0)) / LEAT_ATTENTION_KEYS * LEAT_ATTENTION_KEYS;
}
uint keys_up_to(uint query) {
  const int last = position_of(query);
  return last < int(key_count) - args.after ? uint(max(last + args.after + 1, 0)) : key_count;
}

// Whether a query has a key, but for what the mask says.
bool has_key(uint query, uint key) {
  const int position = position_of(query);
  return key < mask_count && int(key) - args.after <= position && int(key) >= position - args.before;
}
// Whether a query has any key, but for what the mask says.
bool has_keys(uint query) {
  return uint(max(position_of(query) - args.before, 0)) < min(mask_count, keys_up_to(query));
}
// What a mask of that kind, whose row of this query begins at `mask`, adds to the score of a key that the query has:
// -infinity if it is not taken.
float mask_of(uint kind, int mask, uint key) {
  const int at = mask + int(key) * args.mask_strides[3];
  if (kind == LEAT_ATTENTION_MASK_ADDED) {
    return ELEMENT(args.mask, at);
  }
  return kind == LEAT_ATTENTION_MASK_NONE || uint(U8(args.mask).v[at]) != 0u ? 0 : -LEAT_INFINITY;
}
// What is added to the score of any key.
float added_to(uint query, uint key, int mask) {
  return has_key(query, key) ? mask_of(args.mask_kind, mask, key) : -LEAT_INFINITY;
}

// The score of a key whose value is 0, which a query has before all others; -infinity: there is none.
float sink_of(uint head, uint query) {
  const int at = int(head) * args.sink_strides[0] + int(min(query, args.queries - 1)) * args.sink_strides[1];
  return args.has_sinks == 0 ? args.sink : ELEMENT(args.sinks, at);
}
// Its weight, relative to itself.
float sink_weight(float sink) { return sink == -LEAT_INFINITY ? 0 : 1; }

// What the largest score of a query that has a key counts as at least, so that it differs from that of a query without.
#define LOWEST -3.40282347e38

// The sum of weights, of which `sum` was made as if a score of -infinity had none. `infinite`: the query has keys, and
// all of its scores are such, so that its weights are NaN, unless that shall be 0.
float total_of(float sum, bool infinite) {
  return !infinite ? sum : ZEROED == LEAT_ATTENTION_ZEROED_NONE ? leat_nan() : 0;
}
// Whether a query gives 0, by that sum: it has no key, or a score of it is NaN or +infinity, which makes a weight NaN, and
// that is guarded against.
bool gives_zero(float total) { return total == 0 || (ZEROED == LEAT_ATTENTION_ZEROED_NAN && leat_isnan(total)); }

// From a product of query and key to their score.
float score_of(float product) {
  const float score = args.scale * product;
  return args.cap > 0 ? args.cap * leat_tanh(score / args.cap) : score;
}

#endif
