/* SPDX-License-Identifier: BSD-3-Clause */
/* Unique: the elements of a flattened tensor, or its slices along an axis, each once; where each is first; which one
 * each of all is; and how often each is there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/index/host_selection.h"

static LEATI_ATTRIBUTE(attribute_sorted, "sorted", INT);

enum { VALUES, FIRSTS, INVERSE, COUNTS, OUTPUTS };

typedef struct unique_state {
  int64_t axis;
  bool flattens, sorts;
} unique_state;

static int32_t unique_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  unique_state *const state = leati_op_state(op);
  state->flattens = leati_attr(desc, "axis") == NULL;
  state->axis = leati_attr_int(desc, "axis", 0);
  state->sorts = leati_attr_int(desc, "sorted", 1) != 0;
  return LEAT_OK;
}

/* The slices that are compared: `count` of them, each of `outer` times `inner` elements, by what orders them. */
typedef struct slices {
  const leati_view *x;
  int64_t count;
  uint64_t outer, inner;
  const uint64_t *orders; /* slice by slice */
} slices;

static int compare(const slices *all, int64_t a, int64_t b) {
  const uint64_t size = all->outer * all->inner;
  const uint64_t *const left = all->orders + (uint64_t)a * size, *const right = all->orders + (uint64_t)b * size;
  for (uint64_t i = 0; i < size; ++i) {
    if (left[i] != right[i]) {
      return left[i] < right[i] ? -1 : 1;
    }
  }
  return 0;
}

static bool is_less(const void *data, int64_t a, int64_t b) {
  return compare(data, a, b) < 0;
}

static bool is_earlier(const void *data, int64_t a, int64_t b) {
  const int64_t *const firsts = data;
  return firsts[a] < firsts[b];
}

/* The element of a slice: number `i` of it, from the first dimension on. */
static const void *element_of(const slices *all, int64_t slice, uint64_t i) {
  const uint64_t outer = i / all->inner, inner = i - outer * all->inner;
  return (const unsigned char *)all->x->data +
         ((outer * (uint64_t)all->count + (uint64_t)slice) * all->inner + inner) * all->x->item_size;
}

/* Room for what is found, each for as many as there are slices. */
typedef struct found {
  uint64_t *orders;
  int64_t *sorted, *scratch;
  int64_t *group;  /* of each slice */
  int64_t *firsts; /* of each group, in ascending order of what it has */
  int64_t *counts;
  int64_t *places; /* groups in the order in which they are given */
  int64_t *rank;   /* of each group in that order */
} found;

static void found_free(found *f) {
  void *const all[] = {f->orders, f->sorted, f->scratch, f->group, f->firsts, f->counts, f->places, f->rank};
  for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    free(all[i]);
  }
}

static int32_t found_alloc(found *f, const slices *all, leat_error *err) {
  int64_t **const each[] = {&f->sorted, &f->scratch, &f->group, &f->firsts, &f->counts, &f->places, &f->rank};
  bool good = (f->orders = calloc(all->x->count + 1, sizeof(uint64_t))) != NULL;
  for (uint32_t i = 0; i < sizeof(each) / sizeof(each[0]); ++i) {
    *each[i] = calloc((size_t)all->count + 1, sizeof(int64_t));
    good = good && *each[i] != NULL;
  }
  return good ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "Unique: no memory on the host for %" PRIu64 " elements",
                           all->x->count);
}

/* Groups slices that are equal, and gives how many groups there are. */
static int64_t find_groups(const unique_state *state, slices *all, found *f) {
  const uint64_t size = all->outer * all->inner;
  int64_t groups = 0;
  for (int64_t s = 0; s < all->count; ++s) {
    f->sorted[s] = s;
    for (uint64_t i = 0; i < size; ++i) {
      f->orders[(uint64_t)s * size + i] = leati_order_of(all->x->type, element_of(all, s, i));
    }
  }
  all->orders = f->orders;
  leati_sort_indices(f->sorted, f->scratch, all->count, is_less, all);
  for (int64_t s = 0; s < all->count; ++s) {
    if (s == 0 || compare(all, f->sorted[s - 1], f->sorted[s]) != 0) {
      f->places[groups] = groups;
      f->firsts[groups++] = f->sorted[s];
    }
    f->group[f->sorted[s]] = groups - 1;
    ++f->counts[groups - 1];
  }
  if (!state->sorts) {
    leati_sort_indices(f->places, f->scratch, groups, is_earlier, f->firsts);
  }
  for (int64_t g = 0; g < groups; ++g) {
    f->rank[f->places[g]] = g;
  }
  return groups;
}

/* Gives output 0, whose axis has a size of `groups`. */
static int32_t give_values(const slices *all, const found *f, int64_t groups, int32_t rank, const int64_t *dims,
                           leati_selection *out, leat_error *err) {
  void *given;
  LEATI_TRY(leati_selection_place(out, VALUES, rank, dims, all->x->type, &given, err));
  unsigned char *to = given;
  for (uint64_t o = 0; o < all->outer && to != NULL; ++o) {
    for (int64_t g = 0; g < groups; ++g) {
      const uint64_t size = all->inner * all->x->item_size;
      memcpy(to, element_of(all, f->firsts[f->places[g]], o * all->inner), size);
      to += size;
    }
  }
  return LEAT_OK;
}

/* Gives the others; `inverse`: room for the group of each slice. */
static int32_t give_numbers(const slices *all, const found *f, int64_t groups, int64_t *inverse, leati_selection *out,
                            leat_error *err) {
  void *firsts, *counts;
  LEATI_TRY(leati_selection_place(out, FIRSTS, 1, &groups, LEAT_TYPE_INT64, &firsts, err));
  LEATI_TRY(leati_selection_place(out, COUNTS, 1, &groups, LEAT_TYPE_INT64, &counts, err));
  for (int64_t g = 0; g < groups; ++g) {
    ((int64_t *)firsts)[g] = f->firsts[f->places[g]];
    ((int64_t *)counts)[g] = f->counts[f->places[g]];
  }
  for (int64_t s = 0; s < all->count; ++s) {
    inverse[s] = f->rank[f->group[s]];
  }
  return LEAT_OK;
}

/* Gives the one group that slices without elements are; where each is in it is zero as it is. */
static int32_t give_empty(const slices *all, int32_t rank, int32_t axis, int64_t *dims, leati_selection *out,
                          leat_error *err) {
  const int64_t groups = all->count > 0 ? 1 : 0;
  void *none, *firsts, *counts;
  dims[axis] = groups;
  LEATI_TRY(leati_selection_place(out, VALUES, rank, dims, all->x->type, &none, err));
  LEATI_TRY(leati_selection_place(out, FIRSTS, 1, &groups, LEAT_TYPE_INT64, &firsts, err));
  LEATI_TRY(leati_selection_place(out, COUNTS, 1, &groups, LEAT_TYPE_INT64, &counts, err));
  if (groups != 0) {
    *(int64_t *)counts = all->count;
  }
  return LEAT_OK;
}

static int32_t unique_select(const leat_op *op, const leati_call *call, leati_selection *out, leat_error *err) {
  const unique_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  int64_t dims[LEAT_MAX_RANK] = {(int64_t)x->count};
  int32_t axis = 0, rank = 1;
  if (!state->flattens) {
    rank = x->ndim;
    LEATI_TRY(leati_axis(state->axis, rank, &axis, err));
    memcpy(dims, x->shape, (size_t)rank * sizeof(dims[0]));
  }
  slices all = {
      .x = x, .count = dims[axis], .outer = leati_product(dims, 0, axis), .inner = leati_product(dims, axis + 1, rank)};
  found f = {.orders = NULL};
  /* The longest of the numbers comes first: it bounds how many slices there are, which without elements are many. */
  void *inverse;
  LEATI_TRY(leati_selection_place(out, INVERSE, 1, &all.count, LEAT_TYPE_INT64, &inverse, err));
  if (all.outer * all.inner == 0) {
    return give_empty(&all, rank, axis, dims, out, err);
  }
  int32_t status = found_alloc(&f, &all, err);
  if (status == LEAT_OK) {
    const int64_t groups = find_groups(state, &all, &f);
    dims[axis] = groups;
    status = give_values(&all, &f, groups, rank, dims, out, err);
    if (status == LEAT_OK) {
      status = give_numbers(&all, &f, groups, inverse, out, err);
    }
  }
  found_free(&f);
  return status;
}

static int32_t unique_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return leati_selection_infer(op, call, unique_select, out, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("Unique", "", (11, 28), (1, 1), (1, OUTPUTS), .info.host_inputs = 1, .info.host_outputs = 15,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_sorted), LEATI_OUTPUT_TYPES(0, 1, 1, 1),
             .state_size = sizeof(unique_state), .create = unique_create, .infer = unique_infer,
             .plan = leati_selection_plan),
};

const leati_op_family leati_unique_family = LEATI_FAMILY(ops);
