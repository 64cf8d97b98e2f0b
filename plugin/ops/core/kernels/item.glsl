// SPDX-License-Identifier: BSD-3-Clause
// Items of BITS bits that a kernel moves without looking at them, and positions in strided tensors.
#ifndef LEAT_ITEM_GLSL_
#define LEAT_ITEM_GLSL_

#include "types.glsl"

#if BITS == 128
#define Item uvec4
Item item_load(uint64_t p) { return U32x4(p).v[0]; }
void item_store(uint64_t p, Item x) { U32x4(p).v[0] = x; }
#else
#define Item LEAT_JOIN(T_U, BITS)
#define item_load LEAT_JOIN(load_U, BITS)
#define item_store LEAT_JOIN(store_U, BITS)
#endif

// Address of item `offset` counted from `base`.
uint64_t item_at(uint64_t base, int offset) { return base + uint64_t(int64_t(offset) * int64_t(BITS / 8)); }
uint64_t item_at(uint64_t base, int64_t offset) { return base + uint64_t(offset * int64_t(BITS / 8)); }

#endif
