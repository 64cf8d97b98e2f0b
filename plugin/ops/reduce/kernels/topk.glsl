// SPDX-License-Identifier: BSD-3-Clause
// What both kernels of TopK know: how elements are ordered, and where results go. Includers say TYPE, ACCUMULATOR, and
// REAL for floating point.
#ifndef LEAT_TOPK_GLSL_
#define LEAT_TOPK_GLSL_

#include "core/kernels/divider.glsl"
#include "core/kernels/reals.glsl"

struct Args {
  uint64_t x, values, indices; // compact, of one shape but for the dimension that is ranked
  uint64_t from, to;           // uint32: places along that dimension, in lists of the best, row by row
  uint size, k, inner;         // of that dimension before and after; elements from one along it to the next
  uint largest;                // 1: the largest come first
  uint last;                   // 1: this dispatch writes values and indices, 0: `to`
  // Of the lists in `from`, and in the first dispatch of those in `to`: elements of x that one is of, lists of a row,
  // places of a list and of a row. A row's last list may be shorter.
  uint span, lists, each, row;
  uint next_each, next_row;    // of the lists in `to`, in dispatches behind the first
  uint total;                  // the first dispatch: lists of all rows; the others: places in `from`
  uint block, per_group;       // the first dispatch: slots of a list, a power of two, and lists of a workgroup
  Divider per_lists, per_inner, per_row, per_each;
};
LEAT_ARGS

// What is compared: whole numbers in the order of the elements.
#define KEY_F32 uint
#define KEY_I32 uint
#define KEY_U32 uint
#define KEY_I64 uint64_t
#define KEY_U64 uint64_t
#define KEY LEAT_JOIN(KEY_, ACCUMULATOR)

// Both zeros are equal, and so are all NaNs, which are above infinity.
uint ordered_F32(float x) {
  const uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return 0xffffffffu;
  }
  return bits > 0x80000000u ? ~bits : magnitude | 0x80000000u;
}
uint ordered_I32(int x) { return uint(x) ^ 0x80000000u; }
uint ordered_U32(uint x) { return x; }
uint64_t ordered_U64(uint64_t x) { return x; }
uint64_t ordered_I64(int64_t x) { return uint64_t(x) ^ 0x8000000000000000UL; }

#ifdef REAL
#define ELEMENTS REALS
#else
#define ELEMENTS TYPE
#endif

// An element's number in x, or in the results, by that of its row and its place there.
uint number_of(uint row, uint place, uint size) {
  const uint outer = divide(row, args.per_inner);
  return (outer * size + place) * args.inner + (row - outer * args.inner);
}

// Of two elements the one with the smaller key comes first, of equal ones the one with the lower place.
struct Ranked {
  KEY key;
  uint place;
};
bool is_before(Ranked a, Ranked b) {
  return a.key < b.key || a.key == b.key && a.place < b.place;
}

Ranked ranked(uint row, uint place) {
  const uint64_t p = args.x + uint64_t(number_of(row, min(place, args.size - 1), args.size)) * LEAT_JOIN(SIZE_, TYPE);
  const KEY key = LEAT_JOIN(ordered_, ACCUMULATOR)(LEAT_JOIN(load_, TYPE)(p));
  Ranked result;
  result.key = args.largest != 0 ? ~key : key;
  result.place = place;
  return result;
}

// Writes what is number `rank` of its row.
void give(uint row, uint rank, uint place) {
  const uint to = number_of(row, rank, args.k);
  ELEMENTS(args.values).v[to] = ELEMENTS(args.x).v[number_of(row, min(place, args.size - 1), args.size)];
  I64(args.indices).v[to] = int64_t(place);
}

#endif
