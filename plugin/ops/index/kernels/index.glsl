// SPDX-License-Identifier: BSD-3-Clause
// Indices that come as tensor data. Nothing becomes an address before it was checked.
#ifndef LEAT_INDEX_GLSL_
#define LEAT_INDEX_GLSL_

#include "core/kernels/finding.glsl"

LEAT_CONSTANT(bool, index_is_32, false);
LEAT_CONSTANT(bool, reports_bad_index, false);  // if it is out of range

// Index number `i` of a compact tensor, counted from the end if negative; -1 if it is outside [0, size), which is told
// at `finding` where that is asked for.
int64_t index_load(uint64_t indices, uint i, uint size, uint64_t finding) {
  int64_t x, given;
  bool inside;
  if (index_is_32) {
    // Compared before it is widened, and negated for that: Mesa 22.3's lavapipe widens a negative number that it has
    // just loaded without its sign.
    int k = load_I32(indices + uint64_t(i) * 4u);
    int wrapped = k < 0 ? k + int(size) : k;
    inside = wrapped >= 0 && uint(wrapped) < size;
    x = int64_t(wrapped);
    given = k < 0 ? -int64_t(uint(-k)) : int64_t(k);
  } else {
    given = load_I64(indices + uint64_t(i) * 8u);
    x = given < int64_t(0) ? given + int64_t(size) : given;
    inside = x >= int64_t(0) && x < int64_t(size);
  }
  if (reports_bad_index && !inside) finding_tell(finding, given, size);
  return inside ? x : int64_t(-1);
}

#endif
