#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Sorts what tokens take by experts, in blocks of up to LEAT_MOE_TOGETHER of one expert. In which order those of an
// expert stand is left open: each is computed by itself. One workgroup.
#extension GL_GOOGLE_include_directive : require
#include "core/kernels/leat.glsl"
#include "moe_codes.glsl"

layout(local_size_x = 256) in;
LEAT_CONSTANT(uint, EXPERTS, 1);
struct Args {
  uint64_t experts;        // of each number that is sorted
  uint64_t sorted, blocks; // of each block: its expert, its first place in `sorted`, and how many it has
  uint count, block_count; // block_count: as many as there can be; the last ones have nothing
};
LEAT_ARGS

shared uint counts[LEAT_MOE_SORTED_MAX];
shared uint next[LEAT_MOE_SORTED_MAX];

void main() {
  const uint own = gl_LocalInvocationIndex;
  for (uint e = own; e < EXPERTS; e += 256) {
    counts[e] = 0;
  }
  barrier();
  for (uint i = own; i < args.count; i += 256) {
    atomicAdd(counts[min(U32(args.experts).v[i], EXPERTS - 1)], 1);
  }
  barrier();
  if (own == 0) {
    uint place = 0, block = 0;
    for (uint e = 0; e < EXPERTS; ++e) {
      next[e] = place;
      for (uint n = 0; n < counts[e] && block < args.block_count; n += LEAT_MOE_TOGETHER) {
        U32(args.blocks).v[3 * block] = e;
        U32(args.blocks).v[3 * block + 1] = place + n;
        U32(args.blocks).v[3 * block + 2] = min(counts[e] - n, LEAT_MOE_TOGETHER);
        ++block;
      }
      place += counts[e];
    }
    for (; block < args.block_count; ++block) {
      U32(args.blocks).v[3 * block + 2] = 0;
    }
  }
  barrier();
  for (uint i = own; i < args.count; i += 256) {
    const uint place = atomicAdd(next[min(U32(args.experts).v[i], EXPERTS - 1)], 1);
    U32(args.sorted).v[min(place, args.count - 1)] = i;
  }
}
