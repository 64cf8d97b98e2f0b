/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/guards.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/hash.h"
#include "core/array.h"
#include "core/status.h"
#include "core/sync.h"

/* ---- Patterns --------------------------------------------------------------------------------------------------- */

/* The mark of a value: its rank, whether its elements are known, its type. */
#define UNKNOWN_VALUE UINT32_MAX
#define RANK_MASK 15u
#define ELEMENTS_KNOWN 16u
#define TYPE_SHIFT 5

/* Sizes in the order in which they come, by a table of twice as many places at least. */
typedef struct sizes {
  uint32_t *places; /* 0: free; else the number of a size, and 1 */
  int64_t *list;
  uint32_t mask, count;
} sizes;

/* What stands for a size: 0 and 1 for themselves, and each other one for its first place. */
static uint32_t mark_of(sizes *s, int64_t size) {
  if (size == 0 || size == 1) {
    return (uint32_t)size;
  }
  uint32_t at = (uint32_t)leati_hash_word(0, (uint64_t)size) & s->mask;
  while (s->places[at] != 0 && s->list[s->places[at] - 1] != size) {
    at = (at + 1) & s->mask;
  }
  if (s->places[at] == 0) {
    s->list[s->count] = size;
    s->places[at] = ++s->count;
  }
  return 1 + s->places[at];
}

static uint32_t mark_of_value(const leati_known_value *value) {
  return !value->known ? UNKNOWN_VALUE
                       : (uint32_t)value->view.ndim | (value->bytes != NULL ? ELEMENTS_KNOWN : 0u) |
                             (uint32_t)__builtin_ctzll(value->view.type) << TYPE_SHIFT;
}

/* Writes the marks, whose number is known. */
static void write_marks(const leati_inference *inference, const leati_view *outputs, sizes *s,
                        leati_shape_pattern *out) {
  const leat_graph *const graph = inference->graph;
  uint32_t *to = out->marks;
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    *to++ = !outputs[o].present ? 0 : 1u + outputs[o].host;
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_known_value *const value = &inference->values[v];
    *to++ = mark_of_value(value);
    for (int32_t d = 0; value->known && d < value->view.ndim; ++d) {
      *to++ = mark_of(s, value->view.shape[d]);
    }
  }
  out->hash = leati_hash_bytes(0, out->marks, out->count * sizeof(*out->marks));
}

int32_t leati_shape_pattern_make(const leati_inference *inference, const leati_view *outputs, leati_shape_pattern *out,
                                 leat_error *err) {
  const leat_graph *const graph = inference->graph;
  uint32_t dimensions = 0, places = 2;
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    dimensions += inference->values[v].known ? (uint32_t)inference->values[v].view.ndim : 0;
  }
  while (places < 2 * dimensions) {
    places *= 2;
  }
  out->count = graph->output_count + graph->value_count + dimensions;
  out->marks = leati_calloc((size_t)out->count + 1, sizeof(*out->marks));
  sizes s = {.mask = places - 1};
  s.list = leati_calloc(1, ((size_t)dimensions + 1) * sizeof(*s.list) + places * sizeof(*s.places));
  if (out->marks == NULL || s.list == NULL) {
    leati_free(s.list);
    leati_free(out->marks);
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the shapes of %u values", graph->value_count);
  }
  s.places = (uint32_t *)(void *)(s.list + dimensions + 1);
  write_marks(inference, outputs, &s, out);
  leati_free(s.list);
  return LEAT_OK;
}

bool leati_shape_pattern_differs(const leat_graph *graph, const leati_shape_pattern *a, const leati_shape_pattern *b,
                                 char *out) {
  const uint32_t count = a->count < b->count ? a->count : b->count;
  uint32_t at = 0, value = 0, dimension = 0;
  while (at < count && a->marks[at] == b->marks[at]) {
    ++at;
  }
  if (at == count && a->count == b->count) {
    return false;
  }
  if (at < graph->output_count) {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "output %u is wanted elsewhere", at);
    return true;
  }
  /* Each value has a mark and one for each dimension; before the difference all are the same. */
  for (uint32_t first = graph->output_count; first <= at; ++value) {
    dimension = at - first;
    first += 1 + (a->marks[first] == UNKNOWN_VALUE ? 0 : a->marks[first] & RANK_MASK);
  }
  if (dimension == 0) {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "value %u has another rank or type, or is known otherwise", value - 1);
  } else {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "dimension %u of value %u equals others than it did", dimension - 1,
                   value - 1);
  }
  return true;
}

/* ---- Guards ----------------------------------------------------------------------------------------------------- */

/* One thing that was relied on. A dimension is a question with the size as its answer; elements are one with their
 * bytes. */
struct leati_guard {
  leati_question *question; /* NULL: of one value, dimension `with`, or ELEMENTS */
  uint64_t with, answer;
  uint32_t count;
  uint32_t values[LEATI_QUESTION_VALUES_MAX];
};

#define ELEMENTS UINT64_MAX

void leati_guards_end(leati_guards *guards) {
  leati_free(guards->list);
}

uint64_t leati_guards_bytes(const leati_guards *guards) {
  return guards->capacity * sizeof(*guards->list);
}

/* The answer to a guard, for these shapes. */
static uint64_t answer_of(const leati_inference *inference, const struct leati_guard *guard) {
  const leati_known_value *values[LEATI_QUESTION_VALUES_MAX];
  for (uint32_t i = 0; i < guard->count; ++i) {
    values[i] = &inference->values[guard->values[i]];
  }
  uint64_t answer = 0;
  if (guard->question != NULL) {
    answer = guard->question(inference->graph->device, guard->count, values, guard->with);
  } else if (guard->with != ELEMENTS) {
    answer = (uint64_t)values[0]->view.shape[guard->with];
  } else {
    memcpy(&answer, values[0]->bytes, values[0]->view.count * values[0]->view.item_size);
  }
  return answer;
}

/* Notes a guard once, with its answer. */
static uint64_t note(leati_guards *guards, const leati_inference *inference, struct leati_guard *guard) {
  guard->answer = answer_of(inference, guard);
  for (uint32_t i = guards->count; i-- > 0;) {
    if (memcmp(&guards->list[i], guard, sizeof(*guard)) == 0) {
      return guard->answer;
    }
  }
  if (leati_array_room(&guards->list, guards->count, &guards->capacity, sizeof(*guards->list), 16, "", NULL) !=
      LEAT_OK) {
    guards->full = true;
    return guard->answer;
  }
  guards->list[guards->count++] = *guard;
  return guard->answer;
}

/* A guard of one value. All of it is cleared, so that guards can be compared. */
static void note_value(leati_guards *guards, const leati_inference *inference, uint32_t v, uint64_t with) {
  struct leati_guard guard;
  memset(&guard, 0, sizeof(guard));
  guard.with = with;
  guard.count = 1;
  guard.values[0] = v;
  (void)note(guards, inference, &guard);
}

void leati_guards_dimension(leati_guards *guards, const leati_inference *inference, uint32_t v, int32_t d) {
  note_value(guards, inference, v, (uint64_t)d);
}

void leati_guards_elements(leati_guards *guards, const leati_inference *inference, uint32_t v) {
  note_value(guards, inference, v, ELEMENTS);
}

bool leati_guards_ask(leati_guards *guards, const leati_inference *inference, leati_question *question, uint32_t count,
                      const uint32_t *values, uint64_t with) {
  struct leati_guard guard;
  memset(&guard, 0, sizeof(guard));
  guard.question = question;
  guard.with = with;
  guard.count = count;
  memcpy(guard.values, values, count * sizeof(*values));
  return note(guards, inference, &guard) != 0;
}

/* Says what a guard is about. */
static void describe(const struct leati_guard *guard, uint64_t now, char *out) {
  if (guard->question != NULL) {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "what a rule asked of the shape of value %u has another answer",
                   guard->values[0]);
  } else if (guard->with != ELEMENTS) {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "dimension %" PRIu64 " of value %u is %" PRIu64 ", and was %" PRIu64,
                   guard->with, guard->values[0], now, guard->answer);
  } else {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "value %u has other elements", guard->values[0]);
  }
}

bool leati_guards_hold(const leati_guards *guards, const leati_inference *inference, bool again, char *out_which) {
  for (uint32_t i = 0; i < guards->count; ++i) {
    const struct leati_guard *const guard = &guards->list[i];
    if (again && leati_inference_same_since_fit(inference, guard->count, guard->values)) {
      continue;
    }
    const uint64_t now = answer_of(inference, guard);
    if (now != guard->answer) {
      if (out_which != NULL) {
        describe(guard, now, out_which);
      }
      return false;
    }
  }
  return true;
}
