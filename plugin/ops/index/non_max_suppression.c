/* SPDX-License-Identifier: BSD-3-Clause */
/* NonMaxSuppression: of each batch and class the boxes in the order of their scores, but for those that overlap one
 * that was taken before. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/host_kernel.h"
#include "ops/index/host_selection.h"

static LEATI_ATTRIBUTE(attribute_center_point_box, "center_point_box", INT);

static LEATI_TYPE(type_boxes, "tensor(float)", LEAT_TYPE_FLOAT32);

enum { BOXES, SCORES, MOST, OVERLAP, LEAST_SCORE };

typedef struct suppression_state {
  bool centred; /* boxes are x and y of the centre, width and height; else y and x of two opposite corners */
} suppression_state;

static int32_t suppression_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                    leat_error *err) {
  (void)device;
  const int64_t centred = leati_attr_int(desc, "center_point_box", 0);
  return centred == 0 || centred == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: center_point_box is %" PRId64 "; it is 0 or 1",
                          def->info.name, centred);
}

static int32_t suppression_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  suppression_state *const state = leati_op_state(op);
  state->centred = leati_attr_int(desc, "center_point_box", 0) != 0;
  return LEAT_OK;
}

/* What a call is about. */
typedef struct suppression {
  const float *boxes, *scores; /* of this batch, and of this class in it */
  int64_t count;               /* boxes of a batch */
  int64_t most;                /* that are taken of each class */
  float overlap;               /* that two boxes may have, of what they cover together */
  const float *least;          /* what scores are above; NULL: any */
  bool centred;
} suppression;

/* A box as the space between two corners. */
typedef struct box {
  float low[2], high[2];
} box;

static box box_of(const suppression *s, int64_t i) {
  const float *const b = s->boxes + 4 * i;
  box out;
  for (uint32_t d = 0; d < 2; ++d) {
    const float half = b[d + 2] / 2;
    const float first = s->centred ? b[d] - half : b[d], second = s->centred ? b[d] + half : b[d + 2];
    out.low[d] = !s->centred && second < first ? second : first;
    out.high[d] = !s->centred && second < first ? first : second;
  }
  return out;
}

/* Whether two boxes overlap by more than is allowed. */
static bool overlap(const suppression *s, int64_t i, int64_t j) {
  const box a = box_of(s, i), b = box_of(s, j);
  float shared = 1, of_a = 1, of_b = 1;
  for (uint32_t d = 0; d < 2; ++d) {
    const float low = a.low[d] > b.low[d] ? a.low[d] : b.low[d];
    const float high = a.high[d] < b.high[d] ? a.high[d] : b.high[d];
    if (!(high > low)) {
      return false;
    }
    shared *= high - low;
    of_a *= a.high[d] - a.low[d];
    of_b *= b.high[d] - b.low[d];
  }
  const float together = of_a + of_b - shared;
  return shared > 0 && together > 0 && shared / together > s->overlap;
}

static bool scores_more(const void *data, int64_t a, int64_t b) {
  const float *const scores = data;
  return scores[a] > scores[b];
}

/* Takes boxes of a class: their numbers go to `taken`, and how many there are is given. `order` and `scratch` are room
 * for all. */
static int64_t suppress(const suppression *s, int64_t *order, int64_t *scratch, int64_t *taken) {
  int64_t candidates = 0, count = 0;
  for (int64_t i = 0; i < s->count; ++i) {
    if (!isnan(s->scores[i]) && (s->least == NULL || s->scores[i] > *s->least)) {
      order[candidates++] = i;
    }
  }
  leati_sort_indices(order, scratch, candidates, scores_more, s->scores);
  for (int64_t c = 0; c < candidates && count < s->most; ++c) {
    bool free_of_all = true;
    for (int64_t k = 0; k < count && free_of_all; ++k) {
      free_of_all = !overlap(s, order[c], taken[k]);
    }
    if (free_of_all) {
      taken[count++] = order[c];
    }
  }
  return count;
}

/* The one number of an input, or NULL if it is absent. */
static int32_t read_one(const leati_call *call, uint32_t i, const char *what, const leati_view **out, leat_error *err) {
  *out = leati_input(call, i);
  return *out == NULL || (*out)->count == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "NonMaxSuppression: %s has %" PRIu64 " elements; it has 1",
                          what, (*out)->count);
}

static int32_t suppression_read(const leat_op *op, const leati_call *call, suppression *out, leat_error *err) {
  const suppression_state *const state = leati_op_state_const(op);
  const leati_view *const boxes = &call->inputs[BOXES], *const scores = &call->inputs[SCORES];
  const leati_view *most, *limit, *least;
  if (boxes->ndim != 3 || scores->ndim != 3 || boxes->shape[2] != 4 || boxes->shape[0] != scores->shape[0] ||
      boxes->shape[1] != scores->shape[2]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "NonMaxSuppression: boxes have shape [batches, boxes, 4], scores [batches, classes, boxes]");
  }
  LEATI_TRY(read_one(call, MOST, "max_output_boxes_per_class", &most, err));
  LEATI_TRY(read_one(call, OVERLAP, "iou_threshold", &limit, err));
  LEATI_TRY(read_one(call, LEAST_SCORE, "score_threshold", &least, err));
  *out = (suppression){.count = boxes->shape[1],
                       .most = most != NULL ? *(const int64_t *)most->data : 0,
                       .overlap = limit != NULL ? *(const float *)limit->data : 0,
                       .least = least != NULL ? least->data : NULL,
                       .centred = state->centred};
  return out->overlap >= 0 && out->overlap <= 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "NonMaxSuppression: iou_threshold is %g; it is 0 to 1",
                          (double)out->overlap);
}

/* What is taken of all batches and classes: rows of batch, class and box. */
typedef struct taken_rows {
  int64_t *rows;
  int64_t count, capacity;
} taken_rows;

static int32_t append_rows(taken_rows *all, int64_t batch, int64_t class, const int64_t *boxes, int64_t count,
                           leat_error *err) {
  if (all->count + count > all->capacity) {
    const int64_t capacity = 2 * all->capacity + count;
    int64_t *const larger = realloc(all->rows, (size_t)capacity * 3 * sizeof(int64_t));
    if (larger == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "NonMaxSuppression: no memory on the host for %" PRId64 " boxes",
                        capacity);
    }
    all->rows = larger;
    all->capacity = capacity;
  }
  for (int64_t k = 0; k < count; ++k) {
    memcpy(all->rows + 3 * all->count++, (const int64_t[]){batch, class, boxes[k]}, 3 * sizeof(int64_t));
  }
  return LEAT_OK;
}

/* `room`: for three times as many numbers as a batch has boxes. */
static int32_t suppress_all(suppression *s, const leati_call *call, int64_t *room, taken_rows *out, leat_error *err) {
  const leati_view *const boxes = &call->inputs[BOXES], *const scores = &call->inputs[SCORES];
  int64_t *const order = room, *const scratch = room + s->count, *const taken = room + 2 * s->count;
  int32_t status = LEAT_OK;
  for (int64_t b = 0; b < scores->shape[0]; ++b) {
    for (int64_t c = 0; c < scores->shape[1] && status == LEAT_OK; ++c) {
      s->boxes = (const float *)boxes->data + b * s->count * 4;
      s->scores = (const float *)scores->data + (b * scores->shape[1] + c) * s->count;
      status = append_rows(out, b, c, taken, suppress(s, order, scratch, taken), err);
    }
  }
  return status;
}

static int32_t suppression_select(const leat_op *op, const leati_call *call, leati_selection *out, leat_error *err) {
  suppression s;
  LEATI_TRY(suppression_read(op, call, &s, err));
  void *given = NULL;
  if (call->inputs[SCORES].count == 0) {
    return leati_selection_place(out, 0, 2, (const int64_t[]){0, 3}, LEAT_TYPE_INT64, &given, err);
  }
  int64_t *const room = calloc((size_t)s.count + 1, 3 * sizeof(int64_t));
  if (room == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "NonMaxSuppression: no memory on the host for %" PRId64 " boxes",
                      s.count);
  }
  taken_rows taken = {.rows = NULL};
  int32_t status = suppress_all(&s, call, room, &taken, err);
  if (status == LEAT_OK) {
    status = leati_selection_place(out, 0, 2, (const int64_t[]){taken.count, 3}, LEAT_TYPE_INT64, &given, err);
  }
  if (given != NULL) {
    memcpy(given, taken.rows, (size_t)taken.count * 3 * sizeof(int64_t));
  }
  free(taken.rows);
  free(room);
  return status;
}

static int32_t suppression_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return leati_selection_infer(op, call, suppression_select, out, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("NonMaxSuppression", "", (10, 11), (2, 5), (1, 1), .info.host_inputs = 31, .info.host_outputs = 1,
             LEATI_TYPES(&type_boxes, &leati_type_int64), LEATI_ATTRIBUTES(&attribute_center_point_box),
             LEATI_INPUT_TYPES(0, 0, 1, 0, 0), LEATI_OUTPUT_TYPES(1), .state_size = sizeof(suppression_state),
             .supports = suppression_supports, .create = suppression_create, .infer = suppression_infer,
             .plan = leati_selection_plan),
};

const leati_op_family leati_non_max_suppression_family = LEATI_FAMILY(ops);
