/* SPDX-License-Identifier: BSD-3-Clause */
#include "latency.h"

#include <stdlib.h>

struct leati_latency {
  int64_t *kept;  /* nanoseconds */
  int64_t room;   /* elements of kept */
  int64_t seen;   /* durations recorded so far; min(seen, room) are kept */
  uint64_t state; /* of the random numbers that choose which duration gives way */
};

/* A duration and how many it stands for. */
typedef struct weighted {
  int64_t nanoseconds;
  double weight;
} weighted;

leati_latency *leati_latency_new(int64_t runs) {
  leati_latency *latency = g_new0(leati_latency, 1);
  latency->room = CLAMP(runs, 1, LEATI_LATENCY_KEPT);
  latency->kept = g_new(int64_t, latency->room);
  latency->state = UINT64_C(0x9e3779b97f4a7c15);
  return latency;
}

void leati_latency_free(leati_latency *latency) {
  if (latency != NULL) {
    g_free(latency->kept);
    g_free(latency);
  }
}

/* A linear congruential step; the high bits, which alone are used, are random enough to choose a sample. */
static int64_t random_below(leati_latency *latency, int64_t bound) {
  latency->state = latency->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((latency->state >> 11) % (uint64_t)bound);
}

void leati_latency_add(leati_latency *latency, int64_t nanoseconds) {
  ++latency->seen;
  if (latency->seen <= latency->room) {
    latency->kept[latency->seen - 1] = nanoseconds;
    return;
  }
  /* Reservoir sampling: the n-th duration is kept with chance room/n, so every one seen is kept with the same chance.
   */
  const int64_t place = random_below(latency, latency->seen);
  if (place < latency->room) {
    latency->kept[place] = nanoseconds;
  }
}

static int by_duration(const void *a, const void *b) {
  const int64_t x = ((const weighted *)a)->nanoseconds;
  const int64_t y = ((const weighted *)b)->nanoseconds;
  return (x > y) - (x < y);
}

void leati_latency_percentiles(leati_latency *const *recorders, size_t count, const double *percents,
                               size_t percent_count, double *out) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(weighted));
  double total = 0.0;
  for (size_t r = 0; r < count; ++r) {
    const int64_t kept = MIN(recorders[r]->seen, recorders[r]->room);
    for (int64_t i = 0; i < kept; ++i) {
      const weighted one = {recorders[r]->kept[i], (double)recorders[r]->seen / (double)kept};
      g_array_append_val(all, one);
      total += one.weight;
    }
  }
  if (all->len > 0) {
    qsort(all->data, all->len, sizeof(weighted), by_duration);
  }
  double passed = 0.0;
  guint next = 0;
  for (size_t p = 0; p < percent_count; ++p) {
    /* The smallest duration that this share of all do not exceed; the slack is for the rounding of the weights. */
    while (next < all->len && (next == 0 || passed < total * percents[p] / 100.0 - 1e-6 * total)) {
      passed += g_array_index(all, weighted, next).weight;
      ++next;
    }
    out[p] = next == 0 ? 0.0 : (double)g_array_index(all, weighted, next - 1).nanoseconds * 1e-9;
  }
  g_array_free(all, TRUE);
}
