#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Codes of new keys and values behind those of earlier positions, and what all of them stand for, both in one dispatch. A
// thread has a byte of a position: one code of 8 bits, or two of 4. A cache that is written where it was read has its
// earlier positions already.
#include "core/kernels/reals.glsl"
#include "elementwise/kernels/quotient.glsl"
#include "lengths.glsl"

#define THREADS 256
#define EACH 4 // bytes of a thread
layout(local_size_x = THREADS) in;

// Strides of batch, head, position and byte or element; of scales, of head and element. `to` and `values` are compact.
struct Part {
  uint64_t past, fresh, scales, to, values; // codes of earlier positions, or 0; new ones; codes of all, or 0
  int past_strides[4], fresh_strides[4];
  int scale_strides[2];
};
struct Args {
  Part parts[2];
  Lengths lengths; // of earlier and new positions together; without numbers there are no earlier ones
  uint groups, count;    // workgroups of a part, and bytes of its codes
  uint heads, rows, row; // positions of the result, bytes of one
  uint size;             // elements of a head
  int fresh;
  uint bits; // of a code
};
LEAT_ARGS

#define part args.parts[p]

void main() {
  const uint group = leat_linear_group();
  const uint p = group / args.groups;
  if (p >= 2) {
    return;
  }
  const bool in_place = part.past == part.to, halves = args.bits == 4;
  const int high = halves ? 7 : 127;
  uint item = (group - p * args.groups) * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count; ++n, item += THREADS) {
    const uint outer = item / args.row, byte = item - outer * args.row;
    const uint above = outer / args.rows, batch = above / args.heads, head = above - batch * args.heads;
    const int row = int(outer - above * args.rows);
    const int end = args.lengths.at == 0 ? args.fresh : length_of(args.lengths, batch), past = end - args.fresh;
    if (row >= end) {
      if (!in_place && part.to != 0) {
        U8(part.to).v[item] = uint8_t(0u);
      }
      continue;
    }
    const uint codes = halves ? 2 : 1;
    uint whole = 0;
    if (row < past) {
      whole = uint(U8(part.past).v[int(batch) * part.past_strides[0] + int(head) * part.past_strides[1] +
                                   row * part.past_strides[2] + int(byte) * part.past_strides[3]]);
    }
    for (uint j = 0; j < codes; ++j) {
      const uint element = byte * codes + j;
      const float scale =
          F32(part.scales).v[int(head) * part.scale_strides[0] + int(element) * part.scale_strides[1]];
      int code;
      if (row < past) {
        code = halves ? int(whole >> (4 * j) & 15u) - 8 : bitfieldExtract(int(whole), 0, 8);
      } else {
        const float x = ELEMENT(part.fresh, int(batch) * part.fresh_strides[0] + int(head) * part.fresh_strides[1] +
                                                (row - past) * part.fresh_strides[2] +
                                                int(element) * part.fresh_strides[3]);
        code = quantized(LEAT_ANY_F32, x, scale, 0, -high - 1, high);
        whole |= halves ? uint(code + 8) << (4 * j) : uint(code) & 255u;
      }
      REALS(part.values).v[outer * args.size + element] = NARROW(float(code) * scale);
    }
    if (part.to != 0 && !(in_place && row < past)) {
      U8(part.to).v[item] = uint8_t(whole);
    }
  }
}
