#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Index of the largest or smallest element along one dimension. A long dimension with few results is cut into chunks; a
// second dispatch (STAGE 2) finds the best of the chunks' results. Defines: TYPE, ACCUMULATOR; REAL for floating point.
#include "core/kernels/reals.glsl"
#include "rows.glsl"
#include "core/kernels/math.glsl"

LEAT_CONSTANT(uint, SMALLEST, 0); // 1: ArgMin
LEAT_CONSTANT(uint, LAST, 0);     // 1: of equal elements the last
LEAT_CONSTANT(uint, STAGE, 0);    // 0 all at once, 1 chunks, 2 the chunks' results
struct Args {
  uint64_t x, y;          // y: int64; in stage 1 uint32[results][chunks]
  uint64_t values;        // stage 1 writes, stage 2 reads: TYPE[results][chunks]
  uint64_t places;        // stage 2 reads: y of stage 1
  uint results, count;
  uint chunks, chunk;
  int stride;             // along the reduced dimension
  uint kept_rank;
  uint kept_shape[8];
  int kept_stride[8];
};
LEAT_ARGS

#define NONE 0xffffffffu
#define T LEAT_JOIN(T_, ACCUMULATOR)
// The buffer of elements, and an element as it is compared and as it is stored.
#ifdef REAL
#define ELEMENTS REALS
#define TAKEN WIDEN
#define GIVEN NARROW
#else
#define ELEMENTS TYPE
#define TAKEN T
#define GIVEN STORED
#endif

// The best element that a thread knows: its value and its place, NONE before there is one.
struct Best {
  T value;
  uint place;
};
shared Best space[LEAT_ROW_SPACE];

bool is_nan(T value) {
#ifdef REAL
  return leat_isnan(value);
#else
  return false;
#endif
}

// As in NumPy, a NaN wins over every number, and NaNs are equal.
Best better(Best a, Best b) {
  if (b.place == NONE) {
    return a;
  }
  if (a.place == NONE) {
    return b;
  }
  const bool a_nan = is_nan(a.value), b_nan = is_nan(b.value);
  if (a_nan != b_nan) {
    return b_nan ? b : a;
  }
  if (a_nan || a.value == b.value) {
    return (LAST != 0) == (b.place > a.place) ? b : a;
  }
  return (SMALLEST != 0 ? b.value < a.value : b.value > a.value) ? b : a;
}
LEAT_ROW_COMBINE(best_of_line, Best, space, better)

void main() {
  const uint group = leat_linear_group();
  const uint blocks = (args.results + ROWS - 1) / ROWS;
  const uint chunk = group / blocks;
  if (chunk >= args.chunks && STAGE == 1 || chunk >= 1 && STAGE != 1) {
    return;
  }
  const uint result = (group - chunk * blocks) * ROWS + row_own();
  int base = 0;
  uint rest = result;
  for (int d = int(args.kept_rank) - 1; d >= 0; --d) {
    const uint next = rest / args.kept_shape[d];
    base += int(rest - next * args.kept_shape[d]) * args.kept_stride[d];
    rest = next;
  }
  Best best;
  best.value = T(0);
  best.place = NONE;
  if (result < args.results) {
    if (STAGE == 2) {
      for (uint i = row_part(); i < args.chunks; i += PARTS) {
        Best next;
        next.value = TAKEN(ELEMENTS(args.values).v[result * args.chunks + i]);
        next.place = U32(args.places).v[result * args.chunks + i];
        best = better(best, next);
      }
    } else {
      const uint end = min(args.count, (chunk + 1) * args.chunk);
      for (uint i = chunk * args.chunk + row_part(); i < end; i += PARTS) {
        Best next;
        next.value = TAKEN(ELEMENTS(args.x).v[base + int(i) * args.stride]);
        next.place = i;
        best = better(best, next);
      }
    }
  }
  best = best_of_line(best);
  if (row_part() == 0 && result < args.results) {
    if (STAGE == 1) {
      ELEMENTS(args.values).v[result * args.chunks + chunk] = GIVEN(best.value);
      U32(args.y).v[result * args.chunks + chunk] = best.place;
    } else {
      I64(args.y).v[result] = int64_t(best.place);
    }
  }
}
