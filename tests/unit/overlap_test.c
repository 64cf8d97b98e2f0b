/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlaps among many tensors (plugin/memory/overlap.c): whether there are some is what comparing each with each
 * says. */
#include "unit_fixture.h"

#include <stdlib.h>

#include "memory/overlap.h"

enum { VIEWS = 12, ROUNDS = 20000 };

/* A written tensor may be exactly the memory of the one so many places before it. */
typedef struct rule {
  const leati_view *views;
  uint32_t before;
} rule;

static bool may_share(const void *context, uint32_t written, uint32_t other) {
  const rule *const r = context;
  return other + r->before == written && r->views[written].begin == r->views[other].begin &&
         r->views[written].end == r->views[other].end;
}

static bool each_with_each(const leati_view *views, uint32_t first_written, const rule *r) {
  for (uint32_t w = first_written; w < VIEWS; ++w) {
    for (uint32_t i = 0; i < w; ++i) {
      const leati_view *const a = &views[i], *const b = &views[w];
      const bool meet = a->count != 0 && b->count != 0 && a->host == b->host && a->begin < b->end && b->begin < a->end;
      if (meet && (i >= first_written || !may_share(r, w, i))) {
        return false;
      }
    }
  }
  return true;
}

static void agrees_with_each_against_each(void **state) {
  (void)state;
  uint32_t apart = 0;
  srand(54);
  for (int round = 0; round < ROUNDS; ++round) {
    leati_view views[VIEWS] = {0};
    const uint32_t first_written = (uint32_t)rand() % (VIEWS + 1), range = round % 2 == 0 ? 30 : 300;
    const rule r = {.views = views, .before = 1 + (uint32_t)rand() % VIEWS};
    for (uint32_t i = 0; i < VIEWS; ++i) {
      leati_view *const view = &views[i];
      view->count = (uint64_t)rand() % 5;
      view->host = rand() % 4 == 0;
      view->begin = (uint64_t)rand() % range;
      view->end = view->begin + view->count;
      if (i >= first_written && i >= r.before && rand() % 2 == 0) {
        *view = views[i - r.before];
      }
    }
    const bool expected = each_with_each(views, first_written, &r);
    apart += expected;
    assert_int_equal(leati_views_are_apart(views, VIEWS, first_written, may_share, &r), expected);
  }
  /* Both answers came often. */
  assert_in_range(apart, ROUNDS / 20, ROUNDS - ROUNDS / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_each_against_each)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
