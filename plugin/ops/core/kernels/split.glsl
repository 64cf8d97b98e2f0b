// SPDX-License-Identifier: BSD-3-Clause
// The end of matrix products whose k is split over workgroups: each puts its piece of a tile into memory, and the one
// that comes last adds up the pieces of all, in the order of the splits. Nobody waits for another workgroup.
#ifndef LEAT_SPLIT_GLSL_
#define LEAT_SPLIT_GLSL_

layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer Pieces { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer IntegerPieces { ivec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer Counters { uint v[]; };

shared uint split_before;

// Counts this workgroup among the `splits` of a tile; all its threads call it when they have put their pieces. True in
// the last one, for which the pieces of all are there. `counters` holds a number for each tile, which is 0 before the
// dispatch and afterwards.
bool split_last(uint64_t counters, uint tile, uint splits) {
  memoryBarrierBuffer(); // the pieces are there before they are counted
  barrier();
  if (gl_LocalInvocationIndex == 0) {
    split_before = atomicAdd(Counters(counters).v[tile], 1);
    if (split_before == splits - 1) {
      Counters(counters).v[tile] = 0;
    }
  }
  barrier();
  memoryBarrierBuffer(); // nor is any of them read before
  return split_before == splits - 1;
}

#endif
