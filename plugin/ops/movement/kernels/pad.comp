#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Pad in all its modes, and Tile, which wraps without an offset.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/item.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, mode, 0u);  // 0 constant, 1 reflect, 2 edge, 3 wrap

struct Args {
  uint64_t src;
  uint64_t dst;
  uint64_t value;  // what CONSTANT writes, in the low bits
  uint count;      // items of the result
  uint rank;       // at least 1
  uint dims[8];    // of the result, which is compact
  int src_dims[8];
  int begins[8];  // position of the source in the result
  int strides[8];
};
LEAT_ARGS

// The remainder in [0, n). GLSL leaves % undefined for negative operands.
int modulo(int a, int n) { return a >= 0 ? a % n : n - 1 - (-1 - a) % n; }

void main() {
  uint item = leat_linear_group() * 1024u + gl_LocalInvocationIndex;
  for (uint n = 0u; n < 4u && item < args.count; ++n, item += 256u) {
    uint index = item;
    int from = 0;
    bool inside = true;
    for (uint e = args.rank; e > 0u; --e) {
      uint d = e - 1u;
      uint rest = index / args.dims[d];
      int size = args.src_dims[d];
      int i = int(index - rest * args.dims[d]) - args.begins[d];
      index = rest;
      if (mode == 0u) {
        inside = inside && i >= 0 && i < size;
      } else if (mode == 1u) {
        int period = max(2 * size - 2, 1);
        i = modulo(i, period);
        i = i < size ? i : period - i;
      } else if (mode == 2u) {
        i = clamp(i, 0, size - 1);
      } else {
        i = modulo(i, size);
      }
      from += i * args.strides[d];
    }
    Item value = Item(args.value);
    if (inside) value = item_load(item_at(args.src, from));
    item_store(item_at(args.dst, int(item)), value);
  }
}
