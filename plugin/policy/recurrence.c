/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/recurrence.h"

/* Threads of a workgroup where each step is a dispatch. */
#define RECURRENT_ROUND_THREADS 256u

/* Bytes of four float32, which a thread puts aside for each row of a pass. */
#define FOUR_SIZE 16u
/* Bytes of a piece of memory that is brought in at once, on most devices. */
#define SECTOR 32u

static uint32_t div_up(uint32_t a, uint32_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

static uint32_t least_of(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* Shares out the k of each round to the threads that a workgroup has for it. */
static void share_k(const leati_recurrent_shape *shape, uint32_t threads, leati_recurrent_cut *cut) {
  const uint32_t all = div_up(shape->units, 4);
  for (uint32_t r = 0; r < 2; ++r) {
    const uint32_t columns = shape->round_gates[r] * cut->fours;
    const uint32_t most = columns != 0 ? threads / columns : 1;
    cut->part_fours[r] = div_up(all, most != 0 ? most : 1);
    cut->parts[r] = columns != 0 ? div_up(all, cut->part_fours[r]) : 0;
  }
}

/* Bytes of shared memory beside sums that are put together. */
static uint32_t other_of(const leati_recurrent_shape *shape, const leati_recurrent_cut *cut) {
  return (cut->vectors + (shape->quantized ? cut->rows : 0)) * FOUR_SIZE;
}

static uint32_t widest_round(const leati_recurrent_shape *shape) {
  return shape->round_gates[0] > shape->round_gates[1] ? shape->round_gates[0] : shape->round_gates[1];
}

/* Most rows whose sums fit at once, as owners and in shared memory, beside what else is there. */
static uint32_t pass_of(const leati_traits *traits, const leati_recurrent_cut *cut, uint32_t other) {
  uint32_t pass = cut->rows;
  while (pass > 1 &&
         (pass * cut->fours * 4 > cut->threads || pass * cut->threads * FOUR_SIZE + other > traits->shared)) {
    pass /= 2;
  }
  return pass;
}

/* Rows of a workgroup at most: kernels that read their weights one by one are long as it is. */
static uint32_t rows_most(const leati_recurrent_shape *shape) {
  return shape->units % 4 == 0 ? LEATI_RECURRENT_ROWS_MOST : LEATI_RECURRENT_ROWS_MOST / 4;
}

/* Fours of shared memory for so many: few numbers, because each makes a pipeline. */
static uint32_t vectors_for(uint32_t n) {
  uint32_t power = 64;
  while (power < n) {
    power *= 2;
  }
  return power;
}

/* All units to a workgroup; false: they do not fit. */
static bool cut_whole(const leati_traits *traits, const leati_recurrent_shape *shape, leati_recurrent_cut *cut) {
  const leati_tuning *const tuning = &traits->tuning;
  const uint64_t weights = (uint64_t)shape->gates * shape->units * shape->units * shape->item_size;
  const uint32_t most = least_of(traits->threads, tuning->recurrent_threads);
  if (shape->steps < LEATI_RECURRENT_WHOLE_STEPS || weights > LEATI_RECURRENT_WHOLE_MAX) {
    return false;
  }
  const uint32_t all = div_up(shape->units, 4), columns = widest_round(shape) * all;
  if (columns > most || 4 * all > most) {
    return false;
  }
  /* As many parts of k as leave each thread what it can keep. */
  const uint32_t wanted = columns * div_up(all, LEATI_RECURRENT_HELD_MOST);
  cut->whole = true;
  cut->fours = all;
  cut->threads = least_of(wanted > 4 * all ? div_up(wanted, 32) * 32 : div_up(4 * all, 32) * 32, most);
  cut->rows = 1;
  while (cut->rows < rows_most(shape) &&
         (uint64_t)shape->directions * div_up(shape->batch, cut->rows) > traits->processors) {
    cut->rows *= 4;
  }
  cut->vectors = vectors_for(cut->rows * all);
  while (cut->rows > 1 && other_of(shape, cut) + cut->threads * FOUR_SIZE > traits->shared) {
    cut->rows /= 4;
    cut->vectors = vectors_for(cut->rows * all);
  }
  cut->pass = pass_of(traits, cut, other_of(shape, cut));
  share_k(shape, cut->threads, cut);
  cut->held = shape->round_gates[1] == 0 && cut->rows == 1 ? LEATI_RECURRENT_HELD_MOST : 0;
  return other_of(shape, cut) + cut->pass * cut->threads * FOUR_SIZE <= traits->shared;
}

/* A dispatch a round. */
static void cut_round(const leati_traits *traits, const leati_recurrent_shape *shape, leati_recurrent_cut *cut) {
  const uint32_t all = div_up(shape->units, 4), columns = widest_round(shape);
  *cut = (leati_recurrent_cut){.threads = least_of(traits->threads, RECURRENT_ROUND_THREADS), .rows = 1, .vectors = 1};
  while (cut->rows < rows_most(shape) && cut->rows < shape->batch) {
    cut->rows *= 4;
  }
  const uint64_t rows = (uint64_t)shape->directions * div_up(shape->batch, cut->rows);
  /* The fewest whose weights for one element of k fill what is brought in at once. */
  const uint32_t least = SECTOR / (4 * shape->item_size);
  uint32_t fours = 16;
  while (fours > least &&
         (fours * columns > cut->threads ||
          rows * div_up(all, fours) * 4 < (uint64_t)traits->processors * LEATI_RECURRENT_FILL_QUARTERS)) {
    fours /= 2;
  }
  cut->fours = fours;
  cut->pass = pass_of(traits, cut, other_of(shape, cut));
  share_k(shape, cut->threads, cut);
}

leati_recurrent_cut leati_recurrent_cut_of(const leati_traits *traits, const leati_recurrent_shape *shape) {
  leati_recurrent_cut cut = {0};
  if (!cut_whole(traits, shape, &cut)) {
    cut_round(traits, shape, &cut);
  }
  return cut;
}
