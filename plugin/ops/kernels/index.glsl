// SPDX-License-Identifier: BSD-3-Clause
// Indices that come as tensor data. Nothing becomes an address before it was checked.
#ifndef LEAT_INDEX_GLSL_
#define LEAT_INDEX_GLSL_

layout(constant_id = 0) const bool index_is_32 = false;

// Index number `i` of a compact tensor, counted from the end if negative; -1 if it is outside [0, size).
int64_t index_load(uint64_t indices, uint i, uint size) {
  int64_t x;
  if (index_is_32) {
    // Wrapped before it is widened: Mesa 22.3's lavapipe widens a negative number that it has just loaded without its
    // sign.
    int k = load_I32(indices + uint64_t(i) * 4u);
    x = int64_t(k < 0 ? k + int(size) : k);
  } else {
    x = load_I64(indices + uint64_t(i) * 8u);
    if (x < int64_t(0)) x += int64_t(size);
  }
  return x >= int64_t(0) && x < int64_t(size) ? x : int64_t(-1);
}

#endif
