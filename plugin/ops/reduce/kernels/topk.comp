#version 460
// SPDX-License-Identifier: BSD-3-Clause
// The first dispatch of TopK, and the only one for short rows: a workgroup sorts one list of SLOTS elements in shared
// memory, or several shorter ones side by side, by a bitonic network.
#include "topk.glsl"

#define THREADS 256
#define SLOTS 2048 // of a list at most; topk.c has it too
layout(local_size_x = THREADS) in;

shared KEY keys[SLOTS];
shared uint places[SLOTS];

Ranked slot(uint i) {
  Ranked result;
  result.key = keys[i];
  result.place = places[i];
  return result;
}

void put(uint i, Ranked element) {
  keys[i] = element.key;
  places[i] = element.place;
}

// Swaps two slots if they are in the wrong order.
void order(uint low, uint high, bool ascending) {
  const Ranked a = slot(low), b = slot(high);
  if (is_before(b, a) == ascending) {
    put(low, b);
    put(high, a);
  }
}

void main() {
  const uint first = leat_linear_group() * args.per_group, slots = args.per_group * args.block;
  const int bits = findMSB(args.block);
  for (uint i = gl_LocalInvocationIndex; i < slots; i += THREADS) {
    const uint list = first + (i >> bits), row = divide(list, args.per_lists);
    const uint place = (list - row * args.lists) * args.span + (i & (args.block - 1));
    // What is not there comes last.
    Ranked element;
    element.key = ~KEY(0);
    element.place = 0xffffffffu;
    if (list < args.total && place < args.size) {
      element = ranked(row, place);
    }
    put(i, element);
  }
  barrier();
  for (uint size = 2; size <= args.block; size *= 2) {
    for (uint apart = size / 2; apart > 0; apart /= 2) {
      for (uint pair = gl_LocalInvocationIndex; pair < slots / 2; pair += THREADS) {
        const uint low = 2 * pair - (pair & (apart - 1));
        // In the end each list ascends.
        order(low, low + apart, (low & size & (args.block - 1)) == 0);
      }
      barrier();
    }
  }
  for (uint i = gl_LocalInvocationIndex; i < slots; i += THREADS) {
    const uint list = first + (i >> bits), row = divide(list, args.per_lists), rank = i & (args.block - 1);
    if (list < args.total && rank < args.k && places[i] < args.size) {
      if (args.last != 0) {
        give(row, rank, places[i]);
      } else {
        U32(args.to).v[row * args.row + (list - row * args.lists) * args.each + rank] = places[i];
      }
    }
  }
}
