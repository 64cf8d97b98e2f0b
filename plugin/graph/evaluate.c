/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ops/core/op_state.h"

/* ---- Elements --------------------------------------------------------------------------------------------------- */

static int64_t get(const leati_elements *from, uint64_t i) {
  if (from->view->type == LEAT_TYPE_INT64) {
    return ((const int64_t *)from->bytes)[i];
  }
  return from->view->type == LEAT_TYPE_INT32 ? ((const int32_t *)from->bytes)[i]
                                             : ((const unsigned char *)from->bytes)[i] != 0;
}

/* What does not fit into int32 wraps, as on the device. */
static void put(uint64_t type, void *bytes, uint64_t i, int64_t value) {
  if (type == LEAT_TYPE_INT64) {
    ((int64_t *)bytes)[i] = value;
  } else if (type == LEAT_TYPE_INT32) {
    ((uint32_t *)bytes)[i] = (uint32_t)value;
  } else if (type == LEAT_TYPE_FLOAT32) {
    ((float *)bytes)[i] = (float)value;
  } else {
    ((unsigned char *)bytes)[i] = value != 0;
  }
}

/* Moves an element, of any type. */
static void move(const leati_elements *from, uint64_t i, void *to, uint64_t at) {
  const uint32_t size = from->view->item_size;
  memcpy((unsigned char *)to + at * size, (const unsigned char *)from->bytes + i * size, size);
}

/* The same of an element that an index says; one that is out of range reads 0. */
static void move_indexed(const leati_elements *from, bool within, uint64_t i, void *to, uint64_t at) {
  if (within) {
    move(from, i, to, at);
  } else {
    memset((unsigned char *)to + at * from->view->item_size, 0, from->view->item_size);
  }
}

/* Which element of an input stands, by broadcasting or repetition, for the one at `position` of the output. */
static uint64_t element_at(const leati_view *input, const leati_view *out, const int64_t *position) {
  uint64_t index = 0;
  for (int32_t d = 0; d < input->ndim; ++d) {
    const int64_t at = position[out->ndim - input->ndim + d] % input->shape[d];
    index = index * (uint64_t)input->shape[d] + (uint64_t)at;
  }
  return index;
}

/* Moves on to the next position in row-major order. */
static void advance(const leati_view *out, int64_t *position) {
  int32_t d = out->ndim - 1;
  while (d >= 0 && ++position[d] == out->shape[d]) {
    position[d--] = 0;
  }
}

/* ---- Operators -------------------------------------------------------------------------------------------------- */

/* Each gives one element from those of up to three operands. Sums and products wrap. */
static int64_t do_add(const int64_t *x) {
  return (int64_t)((uint64_t)x[0] + (uint64_t)x[1]);
}
static int64_t do_sub(const int64_t *x) {
  return (int64_t)((uint64_t)x[0] - (uint64_t)x[1]);
}
static int64_t do_mul(const int64_t *x) {
  return (int64_t)((uint64_t)x[0] * (uint64_t)x[1]);
}
static int64_t do_neg(const int64_t *x) {
  return (int64_t)(0 - (uint64_t)x[0]);
}
static int64_t do_abs(const int64_t *x) {
  return x[0] < 0 ? do_neg(x) : x[0];
}
/* The most negative number by -1 is itself, and what is divided by 0 is 0. */
static int64_t do_div(const int64_t *x) {
  return x[1] == 0 ? 0 : x[1] == -1 ? do_neg(x) : x[0] / x[1];
}
/* With the sign of the dividend, as Mod with fmod = 1 has it. */
static int64_t do_remainder(const int64_t *x) {
  return x[1] == 0 || x[1] == -1 ? 0 : x[0] % x[1];
}
/* With the sign of the divisor. */
static int64_t do_mod(const int64_t *x) {
  const int64_t rest = do_remainder(x);
  return rest != 0 && (rest < 0) != (x[1] < 0) ? rest + x[1] : rest;
}
static int64_t do_min(const int64_t *x) {
  return x[0] < x[1] ? x[0] : x[1];
}
static int64_t do_max(const int64_t *x) {
  return x[0] > x[1] ? x[0] : x[1];
}
static int64_t do_equal(const int64_t *x) {
  return x[0] == x[1];
}
static int64_t do_less(const int64_t *x) {
  return x[0] < x[1];
}
static int64_t do_greater(const int64_t *x) {
  return x[0] > x[1];
}
static int64_t do_less_or_equal(const int64_t *x) {
  return x[0] <= x[1];
}
static int64_t do_greater_or_equal(const int64_t *x) {
  return x[0] >= x[1];
}
static int64_t do_not(const int64_t *x) {
  return x[0] == 0;
}
static int64_t do_and(const int64_t *x) {
  return x[0] != 0 && x[1] != 0;
}
static int64_t do_or(const int64_t *x) {
  return x[0] != 0 || x[1] != 0;
}

/* The same of float32. */
static float real_add(const float *x) {
  return x[0] + x[1];
}
static float real_sub(const float *x) {
  return x[0] - x[1];
}
static float real_mul(const float *x) {
  return x[0] * x[1];
}
static float real_div(const float *x) {
  return x[0] / x[1];
}
static float real_neg(const float *x) {
  return -x[0];
}
static float real_sqrt(const float *x) {
  return sqrtf(x[0]);
}
static float real_floor(const float *x) {
  return floorf(x[0]);
}
static float real_ceil(const float *x) {
  return ceilf(x[0]);
}
static float real_reciprocal(const float *x) {
  return 1.0f / x[0];
}
static float real_abs(const float *x) {
  return fabsf(x[0]);
}
static float real_min(const float *x) {
  return isnan(x[0]) || x[0] < x[1] ? x[0] : x[1];
}
static float real_max(const float *x) {
  return isnan(x[0]) || x[0] > x[1] ? x[0] : x[1];
}
static float real_equal(const float *x) {
  return x[0] == x[1];
}
static float real_less(const float *x) {
  return x[0] < x[1];
}
static float real_greater(const float *x) {
  return x[0] > x[1];
}
static float real_less_or_equal(const float *x) {
  return x[0] <= x[1];
}
static float real_greater_or_equal(const float *x) {
  return x[0] >= x[1];
}

/* Towards zero; what does not fit becomes the nearest number that the type holds, and NaN 0, as on the device. */
static int64_t whole(float x, uint64_t type) {
  const int64_t least = type == LEAT_TYPE_INT32 ? INT32_MIN : INT64_MIN;
  const int64_t most = type == LEAT_TYPE_INT32 ? INT32_MAX : INT64_MAX;
  /* Both ends are powers of two as float32, so that all numbers below the upper one fit. */
  return isnan(x) ? 0 : x >= (float)most ? most : x <= (float)least ? least : (int64_t)x;
}

static void cast(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  (void)node;
  for (uint64_t i = 0; i < out->count; ++i) {
    if (in[0].view->type != LEAT_TYPE_FLOAT32) {
      put(out->type, bytes, i, get(&in[0], i));
    } else if (out->type == LEAT_TYPE_FLOAT32) {
      move(&in[0], i, bytes, i);
    } else {
      const float x = ((const float *)in[0].bytes)[i];
      put(out->type, bytes, i, out->type == LEAT_TYPE_BOOL ? x != 0 : whole(x, out->type));
    }
  }
}

/* Expand and Tile. */
static void repeat(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  (void)node;
  int64_t position[LEAT_MAX_RANK] = {0};
  for (uint64_t i = 0; i < out->count; ++i) {
    move(&in[0], element_at(in[0].view, out, position), bytes, i);
    advance(out, position);
  }
}

static void where(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  (void)node;
  int64_t position[LEAT_MAX_RANK] = {0};
  for (uint64_t i = 0; i < out->count; ++i) {
    const leati_elements *const taken = get(&in[0], element_at(in[0].view, out, position)) != 0 ? &in[1] : &in[2];
    move(taken, element_at(taken->view, out, position), bytes, i);
    advance(out, position);
  }
}

static void gather(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  const leati_view *const data = in[0].view;
  const int64_t axis = node->axis < 0 ? node->axis + data->ndim : node->axis;
  const int64_t size = data->shape[axis];
  uint64_t inner = 1;
  for (int32_t d = (int32_t)axis + 1; d < data->ndim; ++d) {
    inner *= (uint64_t)data->shape[d];
  }
  for (uint64_t i = 0; i < out->count; ++i) {
    const uint64_t outer = i / inner / in[1].view->count;
    int64_t index = get(&in[1], i / inner % in[1].view->count);
    index = index < 0 ? index + size : index;
    const uint64_t at = (outer * (uint64_t)size + (uint64_t)index) * inner + i % inner;
    move_indexed(&in[0], index >= 0 && index < size, at, bytes, i);
  }
}

static void gather_elements(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  const leati_view *const data = in[0].view;
  const int64_t axis = node->axis < 0 ? node->axis + data->ndim : node->axis;
  int64_t position[LEAT_MAX_RANK] = {0};
  for (uint64_t i = 0; i < out->count; ++i) {
    const int64_t given = get(&in[1], i), size = data->shape[axis], index = given < 0 ? given + size : given;
    const bool within = index >= 0 && index < size;
    uint64_t at = 0;
    for (int32_t d = 0; d < data->ndim && within; ++d) {
      at = at * (uint64_t)data->shape[d] + (uint64_t)(d == axis ? index : position[d]);
    }
    move_indexed(&in[0], within, at, bytes, i);
    advance(out, position);
  }
}

static void concat(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  const int64_t axis = node->axis < 0 ? node->axis + out->ndim : node->axis;
  uint64_t row = 1, begin = 0; /* elements of the output from one step along the dimension before the axis */
  for (int32_t d = (int32_t)axis; d < out->ndim; ++d) {
    row *= (uint64_t)out->shape[d];
  }
  for (uint32_t k = 0; k < node->input_count; ++k) {
    const uint64_t part =
        out->shape[axis] == 0 ? 0 : row / (uint64_t)out->shape[axis] * (uint64_t)in[k].view->shape[axis];
    for (uint64_t i = 0; i < in[k].view->count; ++i) {
      move(&in[k], i, bytes, i / part * row + begin + i % part);
    }
    begin += part;
  }
}

/* Output `o` of Split. */
static void split(const leati_node *node, uint32_t o, const leati_elements *in, const leati_view *out, void *bytes) {
  const leati_view *const data = in[0].view;
  const int64_t axis = node->axis < 0 ? node->axis + data->ndim : node->axis;
  const int64_t total = data->shape[axis], count = node->output_count;
  uint64_t inner = 1, begin = 0;
  for (int32_t d = (int32_t)axis + 1; d < data->ndim; ++d) {
    inner *= (uint64_t)data->shape[d];
  }
  if (node->input_count > 1 && in[1].view != NULL) {
    for (uint32_t k = 0; k < o; ++k) {
      begin += (uint64_t)get(&in[1], k);
    }
  } else {
    begin = (uint64_t)((total + count - 1) / count) * o;
  }
  const uint64_t part = (uint64_t)out->shape[axis] * inner;
  for (uint64_t i = 0; i < out->count; ++i) {
    move(&in[0], i / part * (uint64_t)total * inner + begin * inner + i % part, bytes, i);
  }
}

/* What the modes of Pad put outside of `size` elements, of which there is one at least: the element there, or -1 for
 * the constant. */
typedef int64_t padding(int64_t at, int64_t size);
static int64_t pad_constant(int64_t at, int64_t size) {
  (void)at;
  (void)size;
  return -1;
}
static int64_t pad_edge(int64_t at, int64_t size) {
  return at < 0 ? 0 : size - 1;
}
static int64_t pad_wrap(int64_t at, int64_t size) {
  return do_mod((const int64_t[]){at, size});
}
static int64_t pad_reflect(int64_t at, int64_t size) {
  const int64_t period = size > 1 ? 2 * size - 2 : 1, within = pad_wrap(at, period);
  return within < size ? within : period - within;
}

static padding *padding_of(const leati_node *node) {
  static const struct {
    const char *mode;
    padding *padding;
  } modes[] = {{"reflect", pad_reflect}, {"edge", pad_edge}, {"wrap", pad_wrap}};
  const leat_attribute *const mode = leati_attributes_find(&node->attributes, "mode");
  padding *found = pad_constant;
  for (size_t i = 0; mode != NULL && i < sizeof(modes) / sizeof(modes[0]); ++i) {
    const size_t length = strlen(modes[i].mode);
    found = mode->count == length && memcmp(mode->string, modes[i].mode, length) == 0 ? modes[i].padding : found;
  }
  return found;
}

/* How many elements Pad adds before and behind each dimension; negative: takes away. */
static void read_pads(const leati_node *node, const leati_elements *in, int64_t *begins, int64_t *ends) {
  const bool has_axes = node->input_count > 3 && in[3].view != NULL;
  const uint64_t count = in[1].view->count / 2;
  for (uint64_t k = 0; k < count; ++k) {
    int64_t axis = has_axes ? get(&in[3], k) : (int64_t)k;
    axis = axis < 0 ? axis + in[0].view->ndim : axis;
    begins[axis] = get(&in[1], k);
    ends[axis] = get(&in[1], k + count);
  }
}

static void pad(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  static const int64_t zero;
  const leati_view *const data = in[0].view;
  const bool has_value = node->input_count > 2 && in[2].view != NULL;
  const leati_elements value = {.view = data, .bytes = has_value ? in[2].bytes : &zero};
  padding *const outside = padding_of(node);
  int64_t begins[LEAT_MAX_RANK] = {0}, ends[LEAT_MAX_RANK] = {0}, position[LEAT_MAX_RANK] = {0};
  read_pads(node, in, begins, ends);
  for (uint64_t i = 0; i < out->count; ++i) {
    uint64_t index = 0;
    bool inside = true;
    for (int32_t d = 0; d < data->ndim; ++d) {
      const int64_t first = begins[d] < 0 ? -begins[d] : 0;
      const int64_t last = data->shape[d] + (ends[d] < 0 ? ends[d] : 0); /* what is taken away pads nothing */
      const int64_t at = position[d] - (begins[d] < 0 ? 0 : begins[d]), size = last < first ? 0 : last - first;
      const int64_t from = at >= 0 && at < size ? at : outside(at, size);
      inside = inside && from >= 0;
      index = index * (uint64_t)data->shape[d] + (uint64_t)(first + from);
    }
    move(inside ? &in[0] : &value, inside ? index : 0, bytes, i);
    advance(out, position);
  }
}

static void slice(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  const leati_view *const data = in[0].view;
  const bool has_axes = node->input_count > 3 && in[3].view != NULL,
             has_steps = node->input_count > 4 && in[4].view != NULL;
  int64_t start[LEAT_MAX_RANK] = {0}, step[LEAT_MAX_RANK], position[LEAT_MAX_RANK] = {0};
  for (int32_t d = 0; d < LEAT_MAX_RANK; ++d) {
    step[d] = 1;
  }
  for (uint64_t k = 0; k < in[1].view->count; ++k) {
    int64_t axis = has_axes ? get(&in[3], k) : (int64_t)k;
    axis = axis < 0 ? axis + data->ndim : axis;
    const int64_t size = data->shape[axis];
    int64_t first = get(&in[1], k);
    step[axis] = has_steps ? get(&in[4], k) : 1;
    const int64_t last = step[axis] < 0 ? size - 1 : size;
    first = first < 0 ? first + size : first;
    start[axis] = first < 0 ? 0 : first > last ? last : first;
  }
  for (uint64_t i = 0; i < out->count; ++i) {
    uint64_t index = 0;
    for (int32_t d = 0; d < data->ndim; ++d) {
      index = index * (uint64_t)data->shape[d] + (uint64_t)(start[d] + position[d] * step[d]);
    }
    move(&in[0], index, bytes, i);
    advance(out, position);
  }
}

static void transpose(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  int64_t order[LEAT_MAX_RANK], position[LEAT_MAX_RANK] = {0}, from[LEAT_MAX_RANK];
  leati_attributes_order(&node->attributes, out->ndim, order);
  for (uint64_t i = 0; i < out->count; ++i) {
    for (int32_t d = 0; d < out->ndim; ++d) {
      from[order[d]] = position[d];
    }
    move(&in[0], element_at(in[0].view, in[0].view, from), bytes, i);
    advance(out, position);
  }
}

static void range(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  (void)node;
  const uint64_t start = (uint64_t)get(&in[0], 0), delta = (uint64_t)get(&in[2], 0);
  for (uint64_t i = 0; i < out->count; ++i) {
    put(out->type, bytes, i, (int64_t)(start + i * delta));
  }
}

static void fill(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  (void)in;
  for (uint64_t i = 0; i < out->count; ++i) {
    put(out->type, bytes, i, node->fill);
  }
}

/* The dimensions that a reduction goes over, as bits. */
static uint32_t reduced_dims(const leati_node *node, const leati_elements *in) {
  const leat_attribute *const list = leati_attributes_find(&node->attributes, "axes");
  const bool has_input = node->input_count > 1 && in[1].view != NULL;
  const uint64_t count = list != NULL ? list->count : has_input ? in[1].view->count : 0;
  const int32_t rank = in[0].view->ndim;
  uint32_t dims = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t axis = list != NULL ? list->ints[i] : get(&in[1], i);
    dims |= UINT32_C(1) << (axis < 0 ? axis + rank : axis);
  }
  const bool all = count == 0 && leati_attributes_int(&node->attributes, "noop_with_empty_axes", 0) == 0;
  return all ? (UINT32_C(1) << rank) - 1 : dims;
}

/* `start` is what no elements give. */
static void reduce(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes, int64_t start,
                   int64_t (*join)(const int64_t *x)) {
  const leati_view *const data = in[0].view;
  const leati_elements so_far = {.view = out, .bytes = bytes};
  const uint32_t dims = reduced_dims(node, in);
  int64_t position[LEAT_MAX_RANK] = {0};
  for (uint64_t i = 0; i < out->count; ++i) {
    put(out->type, bytes, i, start);
  }
  for (uint64_t i = 0; i < data->count; ++i) {
    uint64_t at = 0;
    for (int32_t d = 0; d < data->ndim; ++d) {
      at = (dims >> d & 1) != 0 ? at : at * (uint64_t)data->shape[d] + (uint64_t)position[d];
    }
    const int64_t x[] = {get(&so_far, at), get(&in[0], i)};
    put(out->type, bytes, at, join(x));
    advance(data, position);
  }
}
static void reduce_sum(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  reduce(node, in, out, bytes, 0, do_add);
}
static void reduce_prod(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  reduce(node, in, out, bytes, 1, do_mul);
}
static void reduce_max(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  reduce(node, in, out, bytes, out->type == LEAT_TYPE_INT32 ? INT32_MIN : INT64_MIN, do_max);
}
static void reduce_min(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes) {
  reduce(node, in, out, bytes, out->type == LEAT_TYPE_INT32 ? INT32_MAX : INT64_MAX, do_min);
}

/* ---- The table -------------------------------------------------------------------------------------------------- */

typedef struct leati_evaluator {
  uint32_t operands;                 /* of `each` and `real`: of more than two the first two, and on from the left */
  int64_t (*each)(const int64_t *x); /* element by element; or */
  void (*all)(const leati_node *node, const leati_elements *in, const leati_view *out, void *bytes);
  /* The same of one of several outputs. */
  void (*part)(const leati_node *node, uint32_t o, const leati_elements *in, const leati_view *out, void *bytes);
  float (*real)(const float *x); /* element by element of float32 */
  bool moves;                    /* elements of float32 too, which stay as they are or are cast */
} leati_evaluator;

/* The entries of these operators have LEAT_OP_EVALUATED, and LEAT_OP_EVALUATED_FLOAT32 where float32 is taken:
 * unit.graph compares them. */
static const leati_evaluator evaluators[] = {
    [LEATI_IS_ADD] = {.operands = 2, .each = do_add, .real = real_add},
    [LEATI_IS_SUB] = {.operands = 2, .each = do_sub, .real = real_sub},
    [LEATI_IS_MUL] = {.operands = 2, .each = do_mul, .real = real_mul},
    [LEATI_IS_DIV] = {.operands = 2, .each = do_div, .real = real_div},
    [LEATI_IS_MOD] = {.operands = 2, .each = do_mod},
    [LEATI_IS_NEG] = {.operands = 1, .each = do_neg, .real = real_neg},
    [LEATI_IS_ABS] = {.operands = 1, .each = do_abs, .real = real_abs},
    [LEATI_IS_MIN] = {.operands = 2, .each = do_min, .real = real_min},
    [LEATI_IS_MAX] = {.operands = 2, .each = do_max, .real = real_max},
    [LEATI_IS_FLOOR] = {.operands = 1, .real = real_floor},
    [LEATI_IS_CEIL] = {.operands = 1, .real = real_ceil},
    [LEATI_IS_SQRT] = {.operands = 1, .real = real_sqrt},
    [LEATI_IS_RECIPROCAL] = {.operands = 1, .real = real_reciprocal},
    [LEATI_IS_EQUAL] = {.operands = 2, .each = do_equal, .real = real_equal},
    [LEATI_IS_LESS] = {.operands = 2, .each = do_less, .real = real_less},
    [LEATI_IS_LESS_OR_EQUAL] = {.operands = 2, .each = do_less_or_equal, .real = real_less_or_equal},
    [LEATI_IS_GREATER] = {.operands = 2, .each = do_greater, .real = real_greater},
    [LEATI_IS_GREATER_OR_EQUAL] = {.operands = 2, .each = do_greater_or_equal, .real = real_greater_or_equal},
    [LEATI_IS_NOT] = {.operands = 1, .each = do_not},
    [LEATI_IS_AND] = {.operands = 2, .each = do_and},
    [LEATI_IS_OR] = {.operands = 2, .each = do_or},
    [LEATI_IS_WHERE] = {.all = where, .moves = true},
    [LEATI_IS_CAST] = {.all = cast, .moves = true},
    [LEATI_IS_EXPAND] = {.all = repeat, .moves = true},
    [LEATI_IS_TILE] = {.all = repeat, .moves = true},
    [LEATI_IS_PAD] = {.all = pad, .moves = true},
    [LEATI_IS_IDENTITY] = {.moves = true},
    [LEATI_IS_RESHAPE] = {.moves = true},
    [LEATI_IS_FLATTEN] = {.moves = true},
    [LEATI_IS_SQUEEZE] = {.moves = true},
    [LEATI_IS_UNSQUEEZE] = {.moves = true},
    [LEATI_IS_GATHER] = {.all = gather, .moves = true},
    [LEATI_IS_GATHER_ELEMENTS] = {.all = gather_elements, .moves = true},
    [LEATI_IS_CONCAT] = {.all = concat, .moves = true},
    [LEATI_IS_SPLIT] = {.part = split, .moves = true},
    [LEATI_IS_SLICE] = {.all = slice, .moves = true},
    [LEATI_IS_TRANSPOSE] = {.all = transpose, .moves = true},
    [LEATI_IS_RANGE] = {.all = range},
    [LEATI_IS_CONSTANT_OF_SHAPE] = {.all = fill},
    [LEATI_IS_REDUCE_SUM] = {.all = reduce_sum},
    [LEATI_IS_REDUCE_PROD] = {.all = reduce_prod},
    [LEATI_IS_REDUCE_MAX] = {.all = reduce_max},
    [LEATI_IS_REDUCE_MIN] = {.all = reduce_min},
};

/* Of Mod with fmod = 1. */
static const leati_evaluator remainder_evaluator = {.operands = 2, .each = do_remainder};

/* Whether all that a node does is to give its first input another shape. */
static bool reshapes(const leati_evaluator *it) {
  return it->moves && it->all == NULL && it->part == NULL;
}

static const leati_evaluator *find(const leati_node *node) {
  const leati_evaluator *const it =
      node->known < sizeof(evaluators) / sizeof(evaluators[0]) ? &evaluators[node->known] : NULL;
  return it != NULL && (it->each != NULL || it->all != NULL || it->real != NULL || it->moves) ? it : NULL;
}

static bool has_name(const leat_attribute *attribute, const char *name, uint32_t type) {
  return attribute->type == type && strcmp(attribute->name, name) == 0;
}

/* Whether a node computes what its operator does here: by the types of its operands. */
static bool takes(const leati_evaluator *it, const leat_graph *graph, const leati_node *node) {
  bool can = node->output_count == 1 || it->part != NULL;
  for (uint32_t i = 0; i < node->input_count && can; ++i) {
    const uint32_t v = node->inputs[i];
    const uint64_t type = v != LEAT_GRAPH_NO_VALUE ? graph->values[v].type : LEAT_TYPE_INT64;
    can = type == LEAT_TYPE_FLOAT32 ? it->real != NULL || it->moves : (type & LEATI_EVALUATED_TYPES) != 0;
  }
  return can;
}

void leati_evaluate_prepare(const leat_graph *graph, leati_node *node, const leat_graph_node *from) {
  const leati_evaluator *it = find(node);
  for (uint32_t i = 0; i < from->attribute_count; ++i) {
    const leat_attribute *const attribute = from->attributes[i];
    leati_view view;
    if (has_name(attribute, "axis", LEAT_ATTRIBUTE_INT)) {
      node->axis = attribute->i;
    } else if (has_name(attribute, "value", LEAT_ATTRIBUTE_TENSOR) &&
               leati_view_import_host(attribute->tensor, "", &view, NULL) == LEAT_OK && view.count == 1 &&
               (view.type & LEATI_EVALUATED_TYPES) != 0) {
      node->fill = get(&(leati_elements){.view = &view, .bytes = view.data}, 0);
    } else if (has_name(attribute, "fmod", LEAT_ATTRIBUTE_INT) && node->known == LEATI_IS_MOD && attribute->i != 0) {
      it = &remainder_evaluator;
    }
  }
  node->evaluator = it != NULL && takes(it, graph, node) ? it : NULL;
}

bool leati_can_evaluate(const leati_node *node, uint64_t type) {
  const leati_evaluator *const it = node->evaluator;
  /* ConstantOfShape makes float32 of what is not read here. */
  return it != NULL &&
         (type == LEAT_TYPE_FLOAT32 ? it->real != NULL || it->moves : (type & LEATI_EVALUATED_TYPES) != 0);
}

void leati_evaluate(const leati_node *node, uint32_t o, const leati_elements *inputs, const leati_view *out,
                    void *out_bytes) {
  const leati_evaluator *const it = node->evaluator;
  if (it->all != NULL) {
    it->all(node, inputs, out, out_bytes);
    return;
  }
  if (it->part != NULL) {
    it->part(node, o, inputs, out, out_bytes);
    return;
  }
  if (reshapes(it)) {
    memcpy(out_bytes, inputs[0].bytes, out->count * out->item_size);
    return;
  }
  const bool real = inputs[0].view->type == LEAT_TYPE_FLOAT32;
  int64_t position[LEAT_MAX_RANK] = {0}, operands[2] = {0};
  float reals[2] = {0};
  for (uint64_t i = 0; i < out->count; ++i) {
    for (uint32_t k = 0; k < node->input_count; ++k) {
      const uint64_t at = element_at(inputs[k].view, out, position);
      const bool complete = k != 0 || it->operands == 1;
      if (real) {
        reals[k != 0] = ((const float *)inputs[k].bytes)[at];
        reals[0] = complete ? it->real(reals) : reals[0];
      } else {
        operands[k != 0] = get(&inputs[k], at);
        operands[0] = complete ? it->each(operands) : operands[0];
      }
    }
    if (real && out->type == LEAT_TYPE_FLOAT32) {
      ((float *)out_bytes)[i] = reals[0];
    } else {
      put(out->type, out_bytes, i, real ? reals[0] != 0 : operands[0]);
    }
    advance(out, position);
  }
}
