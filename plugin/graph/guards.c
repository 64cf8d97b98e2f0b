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

/* The mark of a value that is known, from the lowest bit: its rank, whether its elements are known, its type, and for
 * each dimension whether it is 0, 1 or more. */
#define UNKNOWN_VALUE UINT32_MAX
#define ELEMENTS_KNOWN 16u
#define TYPE_SHIFT 5
#define SIZES_SHIFT 10
_Static_assert(LEAT_MAX_RANK < 16 && SIZES_SHIFT + 2 * LEAT_MAX_RANK <= 32, "a mark has room for all dimensions");

static uint32_t mark_of(const leati_known_value *value) {
  if (!value->known) {
    return UNKNOWN_VALUE;
  }
  uint32_t sizes = 0;
  for (int32_t d = 0; d < value->view.ndim; ++d) {
    const int64_t size = value->view.shape[d];
    sizes |= (uint32_t)(size < 2 ? size : 2) << 2 * d;
  }
  return (uint32_t)value->view.ndim | (value->bytes != NULL ? ELEMENTS_KNOWN : 0u) |
         (uint32_t)__builtin_ctzll(value->view.type) << TYPE_SHIFT | sizes << SIZES_SHIFT;
}

int32_t leati_shape_pattern_make(const leati_inference *inference, const leati_view *outputs, leati_shape_pattern *out,
                                 leat_error *err) {
  const leat_graph *const graph = inference->graph;
  out->count = graph->output_count + graph->value_count;
  out->marks = leati_realloc(NULL, ((size_t)out->count + 1) * sizeof(*out->marks));
  if (out->marks == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the shapes of %u values", graph->value_count);
  }
  uint32_t *to = out->marks;
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    *to++ = !outputs[o].present ? 0 : 1u + outputs[o].host;
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    *to++ = mark_of(&inference->values[v]);
  }
  out->hash = leati_hash_bytes(0, out->marks, out->count * sizeof(*out->marks));
  return LEAT_OK;
}

bool leati_shape_pattern_differs(const leat_graph *graph, const leati_shape_pattern *a, const leati_shape_pattern *b,
                                 char *out) {
  uint32_t at = 0;
  while (at < a->count && a->marks[at] == b->marks[at]) {
    ++at;
  }
  if (at == a->count) {
    return false;
  }
  if (at < graph->output_count) {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "output %u is wanted elsewhere", at);
  } else {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE,
                   "value %u has another rank or type, is known otherwise, or a dimension of it is 0 or 1 that was not",
                   at - graph->output_count);
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
  leati_free(guards->places);
}

uint64_t leati_guards_bytes(const leati_guards *guards) {
  return guards->capacity * sizeof(*guards->list) + guards->place_count * sizeof(*guards->places);
}

/* Where a guard is in the table of places, or is to be. */
static uint32_t *place_of(const leati_guards *guards, const struct leati_guard *guard) {
  uint32_t at = (uint32_t)leati_hash_bytes(0, guard, sizeof(*guard)) & (guards->place_count - 1);
  while (guards->places[at] != 0 && memcmp(&guards->list[guards->places[at] - 1], guard, sizeof(*guard)) != 0) {
    at = (at + 1) & (guards->place_count - 1);
  }
  return &guards->places[at];
}

/* Has at least two places for each guard, and for one more. */
static bool has_places(leati_guards *guards) {
  if (2 * (guards->count + 1) <= guards->place_count) {
    return true;
  }
  const uint32_t count = guards->place_count != 0 ? 2 * guards->place_count : 64;
  uint32_t *const places = leati_calloc(count, sizeof(*places));
  if (places == NULL) {
    return false;
  }
  leati_free(guards->places);
  guards->places = places;
  guards->place_count = count;
  for (uint32_t i = 0; i < guards->count; ++i) {
    *place_of(guards, &guards->list[i]) = i + 1;
  }
  return true;
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
  if (!has_places(guards) || leati_array_room(&guards->list, guards->count, &guards->capacity, sizeof(*guards->list),
                                              16, "", NULL) != LEAT_OK) {
    guards->full = true;
    return guard->answer;
  }
  uint32_t *const place = place_of(guards, guard);
  if (*place == 0) {
    guards->list[guards->count++] = *guard;
    *place = guards->count;
  }
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
