#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Images of one to three dimensions from the windows that were cut out of them: an invocation adds up what all windows
// have at one pixel.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"

layout(local_size_x = 256) in;
struct Args {
  uint64_t x, y;  // columns, [images, channels, taps of a window, places of it]; both compact
  uint count;     // elements of y
  uint places;
  uint size[3];   // of an image
  Divider per_size[3], per_stride[3];
  int out_size[3];  // places of a window
  int kernel[3], stride[3], dilation[3], pad[3];
};
LEAT_ARGS

// The place along dimension `d` of the window whose tap `tap` is at pixel `at`, or -1.
int place_of(int at, int tap, int d) {
  const int from = at + args.pad[d] - tap * args.dilation[d];
  const int place = int(divide(uint(max(from, 0)), args.per_stride[d]));
  return from >= 0 && place * args.stride[d] == from && place < args.out_size[d] ? place : -1;
}

void main() {
  const uint i = leat_linear_group() * 256 + gl_LocalInvocationIndex;
  if (i >= args.count) {
    return;
  }
  uint rest = divide(i, args.per_size[2]);
  const int x = int(i - rest * args.size[2]);
  uint next = divide(rest, args.per_size[1]);
  const int y = int(rest - next * args.size[1]);
  rest = divide(next, args.per_size[0]);
  const int z = int(next - rest * args.size[0]);
  // From here on columns are those of one channel of an image.
  uint column = rest * uint(args.kernel[0] * args.kernel[1] * args.kernel[2]);
  float sum = 0;
  for (int kz = 0; kz < args.kernel[0]; ++kz) {
    const int place_z = place_of(z, kz, 0);
    for (int ky = 0; ky < args.kernel[1]; ++ky) {
      const int place_y = place_of(y, ky, 1);
      for (int kx = 0; kx < args.kernel[2]; ++kx, ++column) {
        const int place_x = place_of(x, kx, 2);
        if (place_z >= 0 && place_y >= 0 && place_x >= 0) {
          const int place = (place_z * args.out_size[1] + place_y) * args.out_size[2] + place_x;
          sum += ELEMENT(args.x, column * args.places + uint(place));
        }
      }
    }
  }
  REALS(args.y).v[i] = NARROW(sum);
}
