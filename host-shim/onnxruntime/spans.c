/* SPDX-License-Identifier: BSD-3-Clause */
#include "spans.h"

#include <stdlib.h>

/* The end of a span whose event has not ended. */
#define OPEN UINT64_MAX

/* The spans of one thread, in the order in which they began. */
typedef struct leati_span_thread {
  struct leati_span_thread *next;
  uint32_t thread;
  uint32_t depth; /* of the next span */
  size_t count, capacity;
  leati_span *spans;
} span_thread;

/* The place of a thread in its list: where it is, or the NULL at the end. */
static span_thread **place_of(leati_spans *spans, uint32_t thread) {
  span_thread **at = &spans->lists[thread % LEATI_SPAN_LISTS];
  while (*at != NULL && (*at)->thread != thread) {
    at = &(*at)->next;
  }
  return at;
}

/* Makes room for one more span of a thread. */
static bool reserve(span_thread *own) {
  if (own->count < own->capacity) {
    return true;
  }
  const size_t capacity = own->capacity != 0 ? 2 * own->capacity : 16;
  leati_span *grown = realloc(own->spans, capacity * sizeof(*grown));
  if (grown != NULL) {
    own->spans = grown;
    own->capacity = capacity;
  }
  return grown != NULL;
}

bool leati_spans_begin(leati_spans *spans, uint32_t thread, const void *profile, uint64_t id, uint64_t now_ns) {
  if (spans->count == spans->most) {
    return false;
  }
  span_thread **at = place_of(spans, thread);
  if (*at == NULL) {
    *at = calloc(1, sizeof(**at));
    if (*at == NULL) {
      return false;
    }
    (*at)->thread = thread;
  }
  span_thread *own = *at;
  if (!reserve(own)) {
    return false;
  }
  own->spans[own->count++] =
      (leati_span){.profile = profile, .id = id, .begin_ns = now_ns, .end_ns = OPEN, .depth = own->depth++};
  spans->count++;
  return true;
}

void leati_spans_end(leati_spans *spans, uint32_t thread, const void *profile, uint64_t id, uint64_t now_ns,
                     char *name) {
  span_thread *own = *place_of(spans, thread);
  size_t i = own != NULL ? own->count : 0;
  while (i != 0 &&
         !(own->spans[i - 1].end_ns == OPEN && own->spans[i - 1].profile == profile && own->spans[i - 1].id == id)) {
    --i;
  }
  if (i == 0) {
    free(name);
    return;
  }
  own->depth = own->spans[i - 1].depth;
  if (name == NULL && i == own->count) {
    own->count--;
    spans->count--;
    return;
  }
  own->spans[i - 1].name = name;
  for (; i <= own->count; ++i) {
    leati_span *span = &own->spans[i - 1];
    span->end_ns = span->end_ns == OPEN ? now_ns : span->end_ns;
  }
}

const leati_span *leati_spans_find(const leati_spans *spans, uint32_t thread, uint64_t moment_ns) {
  const span_thread *own = spans->lists[thread % LEATI_SPAN_LISTS];
  while (own != NULL && own->thread != thread) {
    own = own->next;
  }
  /* How many have begun by then. The last of these, or one that it lies in, is the one: their depths lead there. One of
   * depth 0 lies in none, and a thread may have had any number of those. */
  size_t low = 0;
  size_t high = own != NULL ? own->count : 0;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (own->spans[middle].begin_ns <= moment_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const leati_span *found = low != 0 ? &own->spans[low - 1] : NULL;
  while (found != NULL && found->end_ns < moment_ns) {
    const uint32_t depth = found->depth;
    do {
      found = depth == 0 || found == own->spans ? NULL : found - 1;
    } while (found != NULL && found->depth >= depth);
  }
  return found;
}

/* Takes the spans of a profile out of a thread's. */
static void forget(leati_spans *spans, span_thread *own, const void *profile) {
  size_t kept = 0;
  for (size_t i = 0; i < own->count; ++i) {
    if (own->spans[i].profile != profile) {
      own->spans[kept++] = own->spans[i];
    } else {
      free(own->spans[i].name);
    }
  }
  spans->count -= own->count - kept;
  own->count = kept;
}

void leati_spans_forget(leati_spans *spans, const void *profile) {
  for (size_t i = 0; i < LEATI_SPAN_LISTS; ++i) {
    span_thread **at = &spans->lists[i];
    while (*at != NULL) {
      span_thread *own = *at;
      forget(spans, own, profile);
      if (own->count == 0) {
        *at = own->next;
        free(own->spans);
        free(own);
      } else {
        at = &own->next;
      }
    }
  }
}
