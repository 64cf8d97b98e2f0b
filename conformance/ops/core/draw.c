/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A drawn tensor has no more elements, so that a call takes microseconds. */
#define ELEMENTS_MAX 600

DLDataType leati_draw_dlpack(uint64_t type) {
  return leati_ref_type_dlpack(leati_ref_type_from_leat(type));
}

const char *leati_draw_type_name(uint64_t type) {
  return leati_ref_type_name(leati_ref_type_from_leat(type));
}

int64_t leati_draw_size(uint64_t type) {
  return leati_draw_dlpack(type).bits / 8;
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

/* One of a range that is not empty, whatever choices there are. */
static int64_t any_int(leati_draw *draw, int64_t low, int64_t high) {
  return low + (int64_t)(g_rand_double(draw->rand) * (double)(high - low + 1));
}

int64_t leati_draw_int(leati_draw *draw, int64_t low, int64_t high) {
  if (low < high && draw->choice_count != 0) {
    /* Few choices need one byte; nothing here has more than two bytes' of them. */
    uint64_t number = *draw->choices++;
    if (--draw->choice_count != 0 && high - low > UINT8_MAX) {
      number = number << 8 | *draw->choices++;
      --draw->choice_count;
    }
    return low + (int64_t)(number % (uint64_t)(high - low + 1));
  }
  return low >= high ? low : any_int(draw, low, high);
}

bool leati_draw_chance(leati_draw *draw, int percent) {
  return leati_draw_int(draw, 0, 99) < percent;
}

/* Near enough to the normal distribution, and never far from 0. */
static double number(leati_draw *draw) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += g_rand_double_range(draw->rand, -1, 1);
  }
  return sum;
}

/* Those of a set of types that the reference knows, in the order of their bits; how many. */
static int64_t types_of(uint64_t set, uint64_t known[64]) {
  int64_t count = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t type = UINT64_C(1) << bit;
    if ((set & type) != 0 && leati_ref_type_from_leat(type) != LEATI_REF_TYPE_COUNT) {
      known[count++] = type;
    }
  }
  return count;
}

uint64_t leati_draw_type(leati_draw *draw, const char *parameter) {
  const leat_op_info *info = draw->info;
  uint64_t all = info->types[0]->types;
  uint64_t known[64];
  for (uint32_t k = 0; k < info->type_count; ++k) {
    if (strcmp(info->types[k]->name, parameter) == 0) {
      all = info->types[k]->types;
    }
  }
  const int64_t count = types_of(all, known);
  return count == 0 || ((all & LEAT_TYPE_FLOAT32) != 0 && leati_draw_chance(draw, 40))
             ? LEAT_TYPE_FLOAT32
             : known[leati_draw_int(draw, 0, count - 1)];
}

uint64_t leati_draw_any_type(leati_draw *draw) {
  uint64_t known[64];
  const int64_t count = types_of(UINT64_MAX, known);
  return known[leati_draw_int(draw, 0, count - 1)];
}

int64_t leati_draw_count(int32_t rank, const int64_t *dims) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; ++d) {
    if (dims[d] == 0) {
      return 0;
    }
  }
  for (int32_t d = 0; d < rank; ++d) {
    count *= dims[d];
  }
  return count;
}

void leati_draw_dims(leati_draw *draw, int32_t rank, int64_t *dims) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; ++d) {
    if (leati_draw_chance(draw, draw->empty ? 30 : 1)) {
      dims[d] = 0;
    } else if (leati_draw_chance(draw, 20)) {
      dims[d] = 1;
    } else {
      dims[d] = leati_draw_chance(draw, 4) ? leati_draw_int(draw, 30, 70) : leati_draw_int(draw, 2, 7);
    }
    if (count * dims[d] > ELEMENTS_MAX) {
      dims[d] = 1;
    }
    count *= dims[d] > 0 ? dims[d] : 1;
  }
}

/* ---- Tensors ---------------------------------------------------------------------------------------------------- */

void leati_draw_set(leati_draw_tensor *tensor, int64_t at, double value) {
  const DLDataType dtype = leati_draw_dlpack(tensor->type);
  /* No integer is the whole part of what is not finite. */
  const int64_t whole = fabs(value) < 0x1p63 ? (int64_t)value : INT64_MIN;
  uint8_t *to = tensor->bytes + at * (dtype.bits / 8);
  if (tensor->type == LEAT_TYPE_FLOAT32) {
    const float narrow = (float)value;
    memcpy(to, &narrow, sizeof(narrow));
  } else if (tensor->type == LEAT_TYPE_FLOAT64) {
    memcpy(to, &value, sizeof(value));
  } else if (tensor->type == LEAT_TYPE_FLOAT16 || tensor->type == LEAT_TYPE_BFLOAT16) {
    /* Of the sign and some bits: a number of magnitude 1 to 2. Or an infinity, or NaN. */
    const bool brain = tensor->type == LEAT_TYPE_BFLOAT16;
    const uint32_t fraction = brain ? 0x7fu : 0x3ffu;
    const uint32_t finite = (brain ? 0x3f80u : 0x3c00u) | ((uint32_t)whole * 37 & fraction);
    const uint32_t infinite = brain ? 0x7f80u : 0x7c00u;
    const uint16_t bits = (uint16_t)((signbit(value) ? 0x8000u : 0u) | (isnan(value)   ? infinite | (fraction + 1) / 2
                                                                        : isinf(value) ? infinite
                                                                                       : finite));
    memcpy(to, &bits, sizeof(bits));
  } else if (tensor->type == LEAT_TYPE_BOOL) {
    *to = value != 0;
  } else {
    /* The low bytes come first. */
    memcpy(to, &whole, dtype.bits / 8);
  }
}

static void draw_elements(leati_draw *draw, leati_draw_tensor *tensor) {
  const bool is_unsigned =
      (tensor->type & (LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64)) != 0;
  const bool is_float = (tensor->type & (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT64)) != 0;
  for (int64_t k = 0; k < tensor->count; ++k) {
    leati_draw_set(tensor, k,
                   is_float                         ? number(draw)
                   : tensor->type == LEAT_TYPE_BOOL ? (double)any_int(draw, 0, 1)
                                                    : (double)any_int(draw, is_unsigned ? 0 : -9, 9));
  }
}

void leati_draw_reshape(leati_draw_tensor *tensor, uint64_t type, int32_t rank, const int64_t *dims) {
  g_free(tensor->bytes);
  tensor->present = true;
  tensor->type = type;
  tensor->rank = rank;
  for (int32_t d = 0; d < rank; ++d) {
    tensor->dims[d] = dims[d];
  }
  tensor->count = leati_draw_count(rank, tensor->dims);
  tensor->bytes = g_malloc0((gsize)(tensor->count * leati_draw_size(type)) + 1);
}

leati_draw_tensor *leati_draw_input(leati_draw *draw, uint64_t type, int32_t rank, const int64_t *dims) {
  g_assert(draw->input_count < LEAT_DRAW_INPUTS);
  leati_draw_tensor *tensor = &draw->inputs[draw->input_count++];
  leati_draw_reshape(tensor, type, rank, dims);
  draw_elements(draw, tensor);
  return tensor;
}

leati_draw_tensor *leati_draw_list(leati_draw *draw, uint64_t type, int32_t count, const int64_t *numbers) {
  const int64_t dims[1] = {count};
  leati_draw_tensor *tensor = leati_draw_input(draw, type, count < 0 ? 0 : 1, dims);
  /* A scalar has one element and no dimension. */
  for (int64_t k = 0; k < tensor->count; ++k) {
    memcpy(tensor->bytes + k * leati_draw_size(type), &numbers[k], (size_t)leati_draw_size(type));
  }
  tensor->constant = leati_draw_chance(draw, 50);
  return tensor;
}

void leati_draw_absent(leati_draw *draw) {
  g_assert(draw->input_count < LEAT_DRAW_INPUTS);
  draw->input_count++;
}

bool leati_draw_reference(const leati_draw_tensor *tensor, leati_ref_tensor *out) {
  const leati_ref_type type = leati_ref_type_from_leat(tensor->type);
  if (type == LEATI_REF_TYPE_COUNT) {
    return false;
  }
  leati_ref_tensor_init(out, type, tensor->rank, tensor->dims);
  leati_ref_tensor_load(out, tensor->bytes);
  return true;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

leat_attribute *leati_draw_attribute(leati_draw *draw, const char *name, uint32_t type) {
  for (uint32_t k = 0; k < draw->info->attribute_count; ++k) {
    if (strcmp(draw->info->attributes[k]->name, name) == 0 && draw->info->attributes[k]->type == type) {
      g_assert(draw->attribute_count < LEAT_DRAW_ATTRIBUTES);
      leat_attribute *added = &draw->attributes[draw->attribute_count++];
      *added = (leat_attribute){.struct_size = sizeof(*added), .type = type, .name = name};
      return added;
    }
  }
  return NULL;
}

void leati_draw_attribute_int(leati_draw *draw, const char *name, int64_t value) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_INT);
  if (added != NULL) {
    added->i = value;
  }
}

void leati_draw_attribute_float(leati_draw *draw, const char *name, double value) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_FLOAT);
  if (added != NULL) {
    added->f = (float)value;
  }
}

void leati_draw_attribute_string(leati_draw *draw, const char *name, const char *value) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_STRING);
  if (added != NULL) {
    added->string = value;
    added->count = strlen(value);
  }
}

void leati_draw_attribute_ints(leati_draw *draw, const char *name, int32_t count, const int64_t *values) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_INTS);
  if (added != NULL) {
    int64_t *copy = draw->ints[added - draw->attributes];
    for (int32_t k = 0; k < count; ++k) {
      copy[k] = values[k];
    }
    added->ints = copy;
    added->count = (uint64_t)count;
  }
}

void leati_draw_attribute_floats(leati_draw *draw, const char *name, int32_t count, const double *values) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_FLOATS);
  if (added != NULL) {
    float *copy = draw->floats[added - draw->attributes];
    for (int32_t k = 0; k < count; ++k) {
      copy[k] = (float)values[k];
    }
    added->floats = copy;
    added->count = (uint64_t)count;
  }
}

void leati_draw_attribute_strings(leati_draw *draw, const char *name, int32_t count, const char *const *values) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_STRINGS);
  if (added != NULL) {
    for (int32_t k = 0; k < count; ++k) {
      draw->strings[k] = values[k];
      draw->lengths[k] = strlen(values[k]);
    }
    added->strings = draw->strings;
    added->lengths = draw->lengths;
    added->count = (uint64_t)count;
  }
}

void leati_draw_attribute_tensor(leati_draw *draw, const char *name, const DLTensor *value) {
  leat_attribute *added = leati_draw_attribute(draw, name, LEAT_ATTRIBUTE_TENSOR);
  if (added != NULL) {
    added->tensor = value;
  }
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

int32_t leati_draw_rank(leati_draw *d, int32_t low, int32_t high) {
  const int32_t usual = high < 4 ? high : 4;
  return (int32_t)leati_draw_int(d, low, leati_draw_chance(d, 80) && usual >= low ? usual : high);
}

int64_t leati_draw_axis(leati_draw *d, int32_t rank) {
  return leati_draw_int(d, -rank, rank - 1);
}

int32_t leati_draw_front(int64_t axis, int32_t rank) {
  return (int32_t)(axis < 0 ? axis + rank : axis);
}

void leati_draw_range(leati_draw *d, leati_draw_tensor *tensor, int64_t low, int64_t high) {
  for (int64_t k = 0; k < tensor->count; ++k) {
    leati_draw_set(tensor, k, (double)(low < high ? any_int(d, low, high) : low));
  }
}

bool leati_draw_is_float(uint64_t type) {
  return (type & (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64)) != 0;
}

leati_draw_tensor *leati_draw_any(leati_draw *d, const char *parameter, int32_t low, int32_t high, int32_t *rank,
                                  int64_t *dims) {
  *rank = leati_draw_rank(d, low, high);
  leati_draw_dims(d, *rank, dims);
  return leati_draw_input(d, leati_draw_type(d, parameter), *rank, dims);
}

int32_t leati_draw_narrowed(leati_draw *d, int32_t rank, const int64_t *dims, int64_t *out) {
  const int32_t cut = leati_draw_chance(d, 30) ? (int32_t)leati_draw_int(d, 0, rank) : 0;
  for (int32_t k = cut; k < rank; ++k) {
    out[k - cut] = leati_draw_chance(d, 25) ? 1 : dims[k];
  }
  return rank - cut;
}

leati_draw_tensor *leati_draw_narrow_input(leati_draw *d, uint64_t type, int32_t rank, const int64_t *dims) {
  int64_t narrow[LEAT_MAX_RANK];
  const int32_t narrow_rank = leati_draw_narrowed(d, rank, dims, narrow);
  return leati_draw_input(d, type, narrow_rank, narrow);
}

int32_t leati_draw_axes(leati_draw *d, int32_t rank, int64_t *axes) {
  int32_t count = 0;
  for (int32_t k = 0; k < rank; ++k) {
    if (leati_draw_chance(d, 50)) {
      axes[count++] = leati_draw_chance(d, 50) ? k : k - rank;
    }
  }
  for (int32_t k = count - 1; k > 0; --k) {
    const int64_t other = leati_draw_int(d, 0, k);
    const int64_t held = axes[k];
    axes[k] = axes[other];
    axes[other] = held;
  }
  return count;
}
