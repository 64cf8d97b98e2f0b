#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Puts new keys and values behind those of earlier positions, both in one dispatch, and rotates new keys, and queries,
// by their positions. A cache that is written where it was read has its earlier positions already: only new ones are
// moved then.
#include "core/kernels/reals.glsl"
#include "lengths.glsl"
#include "rotary.glsl"

#define THREADS 256
#define EACH 4 // fours of elements that a thread moves
layout(local_size_x = THREADS) in;

LEAT_CONSTANT(uint, QUADS, 0); // 1: all tensors are moved four elements at a time

// Strides in elements, of batch, head, position and element of the head; `to` is compact, in this order.
struct Part {
  uint64_t past, fresh, to; // earlier positions, or 0; new ones; the result
  int past_strides[4], fresh_strides[4];
  uint heads, size; // elements of a head
  uint rows;        // positions of the result
  uint cached;      // 1: new positions lie behind earlier ones; 0: by themselves
  uint rotates;
};
struct Args {
  Part parts[3];
  Lengths lengths; // of earlier and new positions together
  Rotation rotation;
  uint used, groups; // parts that there are, and workgroups of each
  uint batches;
  int past, fresh; // positions: earlier ones where `lengths` has none, and new ones
};
LEAT_ARGS

#define part args.parts[p]

// Moves a four of row `row` of a head, of the result.
void move(uint p, uint batch, uint head, uint row, uint four, int past, bool in_place) {
  const int to_row = int(row) + (in_place ? past : 0);
  const int from_row = part.cached != 0 ? to_row - past : to_row; // of new positions
  const uint first = four * 4, count = min(4, part.size - first);
  const int to = ((int(batch * part.heads + head) * int(part.rows) + to_row) * int(part.size)) + int(first);
  const bool fresh = from_row >= 0;
  if (fresh && from_row >= args.fresh) {
    if (QUADS != 0) {
      REALS4(part.to).v[to >> 2] = NARROW4(vec4(0));
    } else {
      for (uint j = 0; j < count; ++j) {
        REALS(part.to).v[to + int(j)] = NARROW(0.0);
      }
    }
    return;
  }
  const uint64_t from = fresh ? part.fresh : part.past;
  const int stride = fresh ? part.fresh_strides[3] : part.past_strides[3];
  const int at = fresh ? int(batch) * part.fresh_strides[0] + int(head) * part.fresh_strides[1] +
                             from_row * part.fresh_strides[2]
                       : int(batch) * part.past_strides[0] + int(head) * part.past_strides[1] +
                             to_row * part.past_strides[2];
  if (fresh && part.rotates != 0 && first < 2 * args.rotation.pairs) {
    const int position = rotation_position(args.rotation, batch, uint(from_row), past + from_row);
    for (uint j = 0; j < count; ++j) {
      const uint element = first + j;
      REALS(part.to).v[to + int(j)] =
          element < 2 * args.rotation.pairs
              ? NARROW(rotated(args.rotation, from, at, stride, element, position))
              : REALS(from).v[at + int(element) * stride];
    }
  } else if (QUADS != 0) {
    REALS4(part.to).v[to >> 2] = REALS4(from).v[(at + int(first)) >> 2];
  } else {
    for (uint j = 0; j < count; ++j) {
      REALS(part.to).v[to + int(j)] = REALS(from).v[at + int(first + j) * stride];
    }
  }
}

void main() {
  const uint group = leat_linear_group();
  const uint p = group / args.groups;
  if (p >= args.used) {
    return;
  }
  const bool in_place = part.cached != 0 && part.past == part.to;
  const uint rows = in_place ? uint(args.fresh) : part.rows, fours = (part.size + 3) / 4;
  const uint items = args.batches * part.heads * rows * fours;
  uint item = (group - p * args.groups) * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < items; ++n, item += THREADS) {
    const uint at = item / fours, outer = at / rows, batch = outer / part.heads;
    const int past = args.lengths.at == 0 ? args.past : length_of(args.lengths, batch) - args.fresh;
    move(p, batch, outer - batch * part.heads, at - outer * rows, item - at * fours, past, in_place);
  }
}
