#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Resize by the nearest element or by linear interpolation along up to three dimensions. A thread computes one element.
#include "core/kernels/reals.glsl"
#include "resize_place.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, LINEAR_AXES, 0);  // 0 to 3; all other dimensions take the nearest element
LEAT_CONSTANT(uint, NEAREST, 0);      // 0 half down, 1 half up, 2 floor, 3 ceil
LEAT_CONSTANT(uint, EXTRAPOLATE, 0);  // 1: outside the input is args.outside
struct Args {
  uint64_t x, y;
  uint count;
  uint rank;
  uint linear_axis[3];
  float outside;
  uint keep_digits;
  uint out_shape[8];
  int in_shape[8], in_stride[8], out_stride[8];
  // What place_of() finds the input coordinate of an output index by; with a divisor of 0 it is the index.
  float shift[8], span[8], factor[8], divisor[8], offset[8], less[8];
};
LEAT_ARGS

float source(uint index, const int d) {
  return place_of(index, args.shift[d], args.span[d], args.factor[d], args.divisor[d], args.offset[d], args.less[d],
                  args.keep_digits != 0);
}

// Coordinates so near to the middle count as the middle, as in ONNX Runtime.
#define MIDDLE 1.0e-6

int nearest(float at) {
  if (NEAREST >= 2) {
    return int(NEAREST == 2 ? floor(at) : ceil(at));
  }
  const float below = floor(at);
  const float part = at - below;
  const bool middle = abs(part - 0.5) <= MIDDLE;
  return int(below) + ((middle ? NEAREST == 1 : part > 0.5) ? 1 : 0);
}

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  int base = 0, to = 0;
  int low[3] = int[3](0, 0, 0), high[3] = int[3](0, 0, 0);
  float part[3] = float[3](0, 0, 0);
  bool inside = true;
  uint rest = i;
  [[unroll]] for (int d = 7; d >= 0; --d) {
    if (d < args.rank) {
      const uint next = rest / args.out_shape[d];
      const uint index = rest - next * args.out_shape[d];
      rest = next;
      to += int(index) * args.out_stride[d];
      if (args.divisor[d] == 0) {
        base += int(index) * args.in_stride[d];
        continue;
      }
      const float at = source(index, d);
      const int last = args.in_shape[d] - 1;
      inside = inside && at >= 0 && at <= float(last);
      bool linear = false;
      [[unroll]] for (uint j = 0; j < 3; ++j) {
        if (j < LINEAR_AXES && args.linear_axis[j] == d) {
          linear = true;
          const float within = clamp(at, 0.0, float(last));
          const int first = int(floor(within));
          low[j] = first * args.in_stride[d];
          high[j] = min(first + 1, last) * args.in_stride[d];
          part[j] = within - float(first);
        }
      }
      if (!linear) {
        base += clamp(nearest(at), 0, last) * args.in_stride[d];
      }
    }
  }
  REALS x = REALS(args.x);
  float value;
  if (EXTRAPOLATE != 0 && !inside) {
    value = args.outside;
  } else if (LINEAR_AXES == 0) {
    value = WIDEN(x.v[base]);
  } else {
    value = 0;
    [[unroll]] for (uint corner = 0; corner < 8; ++corner) {
      if (corner < (1u << LINEAR_AXES)) {
        int at = base;
        float weight = 1;
        [[unroll]] for (uint j = 0; j < 3; ++j) {
          if (j < LINEAR_AXES) {
            const bool upper = (corner >> j & 1) != 0;
            at += upper ? high[j] : low[j];
            weight *= upper ? part[j] : 1.0 - part[j];
          }
        }
        // A corner without weight has no say, even if it is infinite.
        value += weight != 0 ? weight * WIDEN(x.v[at]) : 0;
      }
    }
  }
  REALS(args.y).v[to] = NARROW(value);
}
