// SPDX-License-Identifier: BSD-3-Clause
// Which positions a cache of keys and values holds that has room for a window; ops/attention/window_cache.h says it.
#ifndef LEAT_WINDOW_CACHE_GLSL_
#define LEAT_WINDOW_CACHE_GLSL_

#include "lengths.glsl"

struct Window {
  Lengths totals; // of each batch, new positions included that go into the cache,
  Lengths valid;  // and how many these are
  int fresh;      // new positions
  int capacity, step;
};

// How many of the last positions are in the cache when there have been so many.
int resident(const Window window, int total) {
  const int over = total - window.capacity;
  return over <= 0 ? total : total - window.step * ((over + window.step - 1) / window.step);
}

// How many positions of a batch there are. One that says how many new ones it has, has these at least.
int total_of(const Window window, uint batch) {
  const int total = length_of(window.totals, batch);
  return window.valid.at == 0 ? total : max(total, length_of(window.valid, batch));
}

// How many of them are before its new ones. A batch may have fewer than there are new ones, where nothing was in the cache:
// then it is less than 0.
int earlier(const Window window, uint batch, int total) { return total - length_of(window.valid, batch); }

#endif
