/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/overlap.h"

#include <stdlib.h>

#include "core/sync.h"

/* A tensor with elements, in the order of where they begin; those on the host come behind all others. */
typedef struct span {
  uint64_t begin, end;
  uint32_t number;
  bool host;
} span;

static int by_begin(const void *a, const void *b) {
  const span *const x = a, *const y = b;
  if (x->host != y->host) {
    return x->host ? 1 : -1;
  }
  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* What has begun and may not have ended. Written tensors do not overlap each other, so there is one of these at most.
 */
typedef struct sweep {
  uint32_t *reads; /* numbers of spans */
  uint32_t read_count;
  const span *written;
} sweep;

/* Whether a span that is written next meets none of those that have not ended; what has is forgotten. */
static bool write_is_apart(sweep *s, const span *spans, const span *next, leati_may_share *may, const void *context) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < s->read_count; ++i) {
    const span *const read = &spans[s->reads[i]];
    if (read->end <= next->begin || read->host != next->host) {
      continue;
    }
    if (!may(context, next->number, read->number)) {
      return false;
    }
    s->reads[left++] = s->reads[i];
  }
  s->read_count = left;
  const bool apart = s->written == NULL || s->written->end <= next->begin || s->written->host != next->host;
  s->written = next;
  return apart;
}

static bool are_apart(const span *spans, uint32_t count, uint32_t first_written, sweep *s, leati_may_share *may,
                      const void *context) {
  for (uint32_t i = 0; i < count; ++i) {
    const span *const next = &spans[i], *const written = s->written;
    if (next->number >= first_written) {
      if (!write_is_apart(s, spans, next, may, context)) {
        return false;
      }
      continue;
    }
    if (written != NULL && written->end > next->begin && written->host == next->host &&
        !may(context, written->number, next->number)) {
      return false;
    }
    s->reads[s->read_count++] = i;
  }
  return true;
}

bool leati_views_are_apart(const leati_view *views, uint32_t count, uint32_t first_written, leati_may_share *may,
                           const void *context) {
  span *const spans = leati_calloc(count, sizeof(*spans));
  sweep s = {.reads = leati_calloc(count, sizeof(*s.reads))};
  uint32_t used = 0;
  bool apart = false;
  if (spans != NULL && s.reads != NULL) {
    for (uint32_t i = 0; i < count; ++i) {
      if (views[i].count != 0) {
        spans[used++] = (span){.begin = views[i].begin, .end = views[i].end, .number = i, .host = views[i].host};
      }
    }
    qsort(spans, used, sizeof(*spans), by_begin);
    apart = are_apart(spans, used, first_written, &s, may, context);
  }
  leati_free(spans);
  leati_free(s.reads);
  return apart;
}
