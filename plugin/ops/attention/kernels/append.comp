#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Puts new keys and values behind those of earlier positions, both in one dispatch, and rotates new keys, and queries,
// by their positions, or adds a bias to what is new. A cache that is written where it was read has its earlier positions
// already: only new ones are moved then. Of a beam search earlier positions may be those of other batches.
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
  uint64_t bias;            // of all elements of a new position, head by head; 0: none
  int past_strides[4], fresh_strides[4];
  uint heads, size; // elements of a head
  uint rows;        // positions of the result
  uint cached;      // 1: new positions lie behind earlier ones; 0: by themselves
  uint rotates;
  int bias_stride;
};
struct Args {
  Part parts[3];
  Lengths lengths; // of earlier and new positions together
  Rotation rotation;
  uint64_t origins; // by batch and earlier position: which of the `beams` batches that belong together had it; 0: its own
  uint used, groups; // parts that there are, and workgroups of each
  uint batches;
  int past, fresh; // positions: earlier ones where `lengths` has none, and new ones
  int origin_stride; // from one batch to the next
  uint beams;
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
  if (fresh && part.cached != 0 && from_row >= args.fresh) {
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
  uint from_batch = batch;
  if (!fresh && args.origins != 0) {
    const int beam = I32(args.origins).v[int(batch) * args.origin_stride + to_row];
    from_batch += uint(clamp(beam, 0, int(args.beams) - 1)) - batch % args.beams;
  }
  const int at = fresh ? int(batch) * part.fresh_strides[0] + int(head) * part.fresh_strides[1] +
                             from_row * part.fresh_strides[2]
                       : int(from_batch) * part.past_strides[0] + int(head) * part.past_strides[1] +
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
  } else if (fresh && part.bias != 0) {
    const int in_bias = int(head * part.size + first);
    if (QUADS != 0) {
      REALS4(part.to).v[to >> 2] = NARROW4(QUAD(from, (at + int(first)) >> 2) + QUAD(part.bias, in_bias >> 2));
    } else {
      for (uint j = 0; j < count; ++j) {
        const float biased = ELEMENT(from, at + int(first + j) * stride);
        REALS(part.to).v[to + int(j)] =
            NARROW(biased + ELEMENT(part.bias, (in_bias + int(j)) * part.bias_stride));
      }
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
