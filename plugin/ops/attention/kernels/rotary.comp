#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Turns pairs of elements of each head by the angles of its position (RotaryEmbedding).
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"
#include "lengths.glsl"
#include "rotary.glsl"

#define THREADS 256
#define EACH 4 // elements of a thread
layout(local_size_x = THREADS) in;

struct Args {
  uint64_t x, y; // y is compact, in the order of x
  Rotation rotation;
  int strides[4];               // of x, in elements: of batch, head, position and element of the head
  int cosine_batch, sine_batch; // elements from the angles of one batch to those of the next; 0: all have the same
  uint count;
  uint together;                // 1: the heads of a position lie side by side; 0: the positions of a head do
  uint size, inner, outer;      // elements of a head; of the other two, those that lie side by side, and the others
  Divider per_size, per_inner, per_outer;
};
LEAT_ARGS

void main() {
  uint item = leat_linear_group() * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count; ++n, item += THREADS) {
    const uint line = divide(item, args.per_size), element = item - line * args.size;
    const uint above = divide(line, args.per_inner), within = line - above * args.inner;
    const uint batch = divide(above, args.per_outer), beside = above - batch * args.outer;
    const uint head = args.together != 0 ? within : beside, row = args.together != 0 ? beside : within;
    const int from = int(batch) * args.strides[0] + int(head) * args.strides[1] + int(row) * args.strides[2];
    if (element < 2 * args.rotation.pairs) {
      Rotation by = args.rotation;
      by.cosines += uint64_t(int64_t(int(batch) * args.cosine_batch) * ELEMENT_SIZE);
      by.sines += uint64_t(int64_t(int(batch) * args.sine_batch) * ELEMENT_SIZE);
      const int position = rotation_position(by, batch, row, int(row));
      REALS(args.y).v[item] = NARROW(rotated(by, args.x, from, args.strides[3], element, position));
    } else {
      REALS(args.y).v[item] = REALS(args.x).v[from + int(element) * args.strides[3]];
    }
  }
}
