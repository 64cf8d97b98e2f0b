#version 460
// SPDX-License-Identifier: BSD-3-Clause
// CausalConvWithState: each channel is convolved along the positions by weights of its own, over the positions of a
// state and then those of the input. Elements of the result come first, then those of the next state, which are moved.
#include "core/kernels/reals.glsl"
#include "core/kernels/math.glsl"

#define THREADS 256
#define EACH 4 // elements of a thread
layout(local_size_x = THREADS) in;

LEAT_CONSTANT(uint, SILU, 0); // 1: the result is multiplied by its sigmoid
struct Args {
  uint64_t x, weights, bias, past; // bias and past: 0 for none
  uint64_t y, present;             // compact, as x and past
  uint count, present_count;       // elements of y and present
  uint channels, positions, held;  // held: positions of the state
  uint taps, dilation;
  uint channels_last;              // 1: dimensions are batch, position, channel; 0: batch, channel, position
};
LEAT_ARGS

uint element_at(uint batch, uint channel, uint position, uint positions) {
  return args.channels_last != 0 ? (batch * positions + position) * args.channels + channel
                                 : (batch * args.channels + channel) * positions + position;
}

// The element of a position of the input, or if it is negative of the state.
float element_of(uint batch, uint channel, int position) {
  if (position >= 0) {
    return ELEMENT(args.x, element_at(batch, channel, uint(position), args.positions));
  }
  return args.past != 0 ? ELEMENT(args.past, element_at(batch, channel, uint(int(args.held) + position), args.held))
                        : 0.0;
}

void main() {
  uint item = leat_linear_group() * (THREADS * EACH) + gl_LocalInvocationIndex;
  for (uint n = 0; n < EACH && item < args.count + args.present_count; ++n, item += THREADS) {
    const bool moved = item >= args.count;
    const uint at = moved ? item - args.count : item, positions = moved ? args.held : args.positions;
    const uint inner = args.channels_last != 0 ? args.channels : positions;
    const uint outer = args.channels_last != 0 ? positions : args.channels;
    const uint above = at / inner, within = at - above * inner, batch = above / outer, beside = above - batch * outer;
    const uint channel = args.channels_last != 0 ? within : beside;
    const int position = int(args.channels_last != 0 ? beside : within);
    if (moved) {
      REALS(args.present).v[at] = NARROW(element_of(batch, channel, position + int(args.positions) - int(args.held)));
      continue;
    }
    float sum = args.bias != 0 ? ELEMENT(args.bias, channel) : 0.0;
    for (uint k = 0; k < args.taps; ++k) {
      sum = fma(ELEMENT(args.weights, channel * args.taps + k),
                element_of(batch, channel, position - int((args.taps - 1 - k) * args.dilation)), sum);
    }
    REALS(args.y).v[at] = NARROW(SILU != 0 ? sum * leat_sigmoid(sum) : sum);
  }
}
