#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Fourier transforms as they are defined: a thread sums up the elements of a line times the powers of a root of unity,
// which it finds in a table. Lines may overlap, as pieces of a signal do.
#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"

layout(local_size_x = 64) in;
struct Args {
  uint64_t x, window, table, y; // the window is read where there is one; y is compact but for what strides say
  uint first, end;              // elements of the result, each of one number or two, that this dispatch gives
  uint bins;                    // of a line
  uint terms;                   // elements of a line that are summed up
  uint size;                    // of the table: steps of a turn
  uint inner;                   // lines that lie side by side
  Divider per_bins, per_inner;
  int x_outer, x_inner, x_step; // from one line, and one element of it, to the next; in numbers
  int y_outer, y_inner, y_step;
  uint numbers;                 // of an element: 1 is real, 2 are complex
  uint given;                   // of one of the result
  uint has_window;
  uint halved; // 1: the elements are those up to the middle of a line that has the others by symmetry
  float turn;  // -1: forward, 1: backward
  float scale;
};
LEAT_ARGS

void main() {
  const uint at = args.first + leat_linear_group() * 64 + gl_LocalInvocationIndex;
  if (at >= args.end) {
    return;
  }
  const uint line = divide(at, args.per_bins), bin = at - line * args.bins;
  const uint outer = divide(line, args.per_inner), inner = line - outer * args.inner;
  int from = int(outer) * args.x_outer + int(inner) * args.x_inner;
  uint place = 0;
  vec2 sum = vec2(0);
  for (uint n = 0; n < args.terms; ++n) {
    const float factor = args.has_window != 0 ? ELEMENT(args.window, int(n)) : 1;
    const float real = factor * ELEMENT(args.x, from);
    const float imaginary = args.numbers == 2 ? factor * ELEMENT(args.x, from + 1) : 0;
    const float cosine = F32(args.table).v[2 * place], sine = args.turn * F32(args.table).v[2 * place + 1];
    vec2 term = vec2(real * cosine - imaginary * sine, real * sine + imaginary * cosine);
    // Those that come by symmetry have the same real part; of the first and of the middle there is no other.
    if (args.halved != 0 && n != 0 && 2 * n != args.size) {
      term *= 2;
    }
    sum += term;
    from += args.x_step;
    place += bin;
    place = place >= args.size ? place - args.size : place;
  }
  const int to = int(outer) * args.y_outer + int(inner) * args.y_inner + int(bin) * args.y_step;
  REALS(args.y).v[to] = NARROW(sum.x * args.scale);
  if (args.given == 2) {
    REALS(args.y).v[to + 1] = NARROW(sum.y * args.scale);
  }
}
