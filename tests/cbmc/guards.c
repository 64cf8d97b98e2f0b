/* SPDX-License-Identifier: BSD-3-Clause */
/* Guards of programs: shapes for which what was relied on is another are told from those for which it is the same. */
#include "graph/guards.c"

#define OWN_MEMORY
#include "outside.h"

#define GUARDS 4
#define PLACES 8

static bool places_run_out, list_runs_out;

/* The places of a table, once, or no memory for them. */
void *leati_calloc(size_t count, size_t size) {
  static uint32_t places[PLACES];
  PROVE(count == PLACES && size == sizeof(places[0]));
  return places_run_out ? NULL : places;
}

void leati_free(void *memory) {
  (void)memory;
}

/* Two guards are equal if all fields are: the only two things that are compared. */
int memcmp(const void *left, const void *right, size_t size) {
  const struct leati_guard *const a = left, *const b = right;
  bool same = a->question == b->question && a->with == b->with && a->answer == b->answer && a->count == b->count;
  PROVE(size == sizeof(*a));
  for (uint32_t i = 0; i < LEATI_QUESTION_VALUES_MAX; ++i) {
    same = same && a->values[i] == b->values[i];
  }
  return same ? 0 : 1;
}

/* All guards have one hash, which is the worst that it can be. */
uint64_t leati_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  (void)hash;
  (void)bytes;
  PROVE(size == sizeof(struct leati_guard));
  return 5;
}

/* Room for all guards of a harness, or none. */
int32_t leati_array_grow(void *items_at, uint32_t *inout_capacity, size_t item_size, uint32_t first, const char *what,
                         leat_error *err) {
  static struct leati_guard list[GUARDS];
  (void)first;
  (void)what;
  PROVE(item_size == sizeof(list[0]) && *inout_capacity == 0);
  if (list_runs_out) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no memory");
  }
  *(struct leati_guard **)items_at = list;
  *inout_capacity = GUARDS;
  return LEAT_OK;
}

bool leati_inference_same_since_fit(const leati_inference *inference, uint32_t count, const uint32_t *values) {
  (void)inference;
  (void)count;
  (void)values;
  return false;
}

static bool first_is_larger(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                            uint64_t with) {
  (void)device;
  PROVE(count == 1);
  return (uint64_t)values[0]->view.shape[0] > with;
}

/* What is known of one value. */
static leati_known_value value;
static leat_graph graph = {.value_count = 1};
static const leati_inference inference = {.graph = &graph, .values = &value};

/* Makes two dimensions, and an element of 1 to 8 bytes, any that there are. */
static void change(uint64_t *element) {
  value.view.shape[0] = ANY(int64_t);
  value.view.shape[1] = ANY(int64_t);
  *element = ANY(uint64_t);
}

/* A dimension, the element and what a rule asked were relied on: the guards hold for other inputs just if all of it is
 * the same there.
 * UNWIND 9 LOOPS place_of.0:4
 * SMALLER plugin/graph/guards.c: `2 * guards->place_count : 64` becomes `2 * guards->place_count : 8`
 * MISTAKE plugin/graph/guards.c: `while (guards->places[at] != 0 && memcmp` becomes
 * `while (guards->places[at] == 1 && memcmp`
 * MISTAKE plugin/graph/guards.c: `if (now != guard->answer)` becomes `if (now > guard->answer)`
 * MISTAKE plugin/graph/guards.c: `guard.with = with; guard.count = count;` becomes `guard.count = count;` */
void prove_other_inputs_are_told(void) {
  uint64_t element;
  const uint32_t number = 0;
  const uint64_t limit = ANY(uint64_t);
  value.bytes = &element;
  value.view.count = 1;
  value.view.item_size = sizeof(element);
  change(&element);
  leati_guards guards = {.count = 0};
  const bool answer = leati_guards_ask(&guards, &inference, first_is_larger, 1, &number, limit);
  leati_guards_dimension(&guards, &inference, 0, 1);
  leati_guards_elements(&guards, &inference, 0);
  const int64_t size = value.view.shape[1];
  const uint64_t old = element;
  change(&element);
  const bool same = ((uint64_t)value.view.shape[0] > limit) == answer && value.view.shape[1] == size && element == old;
  PROVE(!guards.full && guards.count == 3);
  PROVE(leati_guards_hold(&guards, &inference, false, NULL) == same);
}

/* What is noted twice is one guard, and one for which host memory ran out is told.
 * UNWIND 9 LOOPS place_of.0:4
 * SMALLER plugin/graph/guards.c: `2 * guards->place_count : 64` becomes `2 * guards->place_count : 8`
 * MISTAKE plugin/graph/guards.c: `if (*place == 0) {` becomes `if (true) {`
 * MISTAKE plugin/graph/guards.c: `guards->full = true;` becomes `` */
void prove_a_guard_is_noted_once(void) {
  uint64_t element;
  change(&element);
  places_run_out = ANY(bool);
  list_runs_out = ANY(bool);
  leati_guards guards = {.count = 0};
  leati_guards_dimension(&guards, &inference, 0, 1);
  leati_guards_dimension(&guards, &inference, 0, 1);
  PROVE(guards.full == (places_run_out || list_runs_out));
  PROVE(guards.count == (guards.full ? 0 : 1));
}

/* Where the table of places grows, each guard is found in it as before.
 * UNWIND 9 LOOPS place_of.0:4
 * MISTAKE plugin/graph/guards.c: `*place_of(guards, &guards->list[i]) = i + 1;` becomes
 * `*place_of(guards, &guards->list[i]) = i;`
 * MISTAKE plugin/graph/guards.c: `2 * (guards->count + 1) <= guards->place_count` becomes
 * `guards->count + 1 <= guards->place_count` */
void prove_guards_are_found_after_growth(void) {
  static struct leati_guard list[2];
  static uint32_t few[PLACES / 2] = {0, 1, 2, 0};
  for (uint32_t i = 0; i < 2; ++i) {
    list[i].with = i;
    list[i].answer = ANY(uint64_t);
  }
  leati_guards guards = {.list = list, .places = few, .count = 2, .capacity = 2, .place_count = PLACES / 2};
  if (has_places(&guards)) {
    PROVE(guards.place_count == PLACES);
    PROVE(*place_of(&guards, &list[0]) == 1 && *place_of(&guards, &list[1]) == 2);
  } else {
    PROVE(guards.places == few);
  }
}

/* Two values have one mark just if they have one rank and type, are both known on the host or not, and each dimension
 * is 0, 1 or more in both.
 * UNWIND 9
 * MISTAKE plugin/graph/guards.c: `(uint32_t)(size < 2 ? size : 2) << 2 * d` becomes
 * `(uint32_t)(size < 2 ? size : 2) << d`
 * MISTAKE plugin/graph/guards.c: `#define SIZES_SHIFT 10` becomes `#define SIZES_SHIFT 9`
 * MISTAKE plugin/graph/guards.c: `(size < 2 ? size : 2)` becomes `(size < 3 ? size : 3)` */
void prove_a_mark_is_of_a_pattern(void) {
  static leati_known_value values[2];
  bool same = true;
  uint32_t types[2];
  for (int i = 0; i < 2; ++i) {
    types[i] = ANY(uint32_t);
    values[i].known = true;
    values[i].bytes = ANY(bool) ? &same : NULL;
    values[i].view.ndim = ANY(int32_t);
    ASSUME(values[i].view.ndim >= 0 && values[i].view.ndim <= LEAT_MAX_RANK && types[i] < 24);
    values[i].view.type = UINT32_C(1) << types[i];
    for (int32_t d = 0; d < LEAT_MAX_RANK; ++d) {
      values[i].view.shape[d] = ANY(int64_t);
      ASSUME(values[i].view.shape[d] >= 0);
    }
  }
  const leati_view *const a = &values[0].view, *const b = &values[1].view;
  same = a->ndim == b->ndim && types[0] == types[1] && (values[0].bytes == NULL) == (values[1].bytes == NULL);
  for (int32_t d = 0; d < LEAT_MAX_RANK; ++d) {
    const bool alike = a->shape[d] == b->shape[d] || (a->shape[d] > 1 && b->shape[d] > 1);
    same = same && (d >= a->ndim || alike);
  }
  PROVE((mark_of(&values[0]) == mark_of(&values[1])) == same);
}
