/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A drawn tensor has no more elements, so that a call takes microseconds. */
#define ELEMENTS_MAX 600

#define FLOATS (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64)

static const struct {
  uint64_t type;
  const char *name;
  DLDataType dtype;
} types[] = {
    {LEAT_TYPE_FLOAT32, "float32", {kDLFloat, 32, 1}},
    {LEAT_TYPE_FLOAT16, "float16", {kDLFloat, 16, 1}},
    {LEAT_TYPE_BFLOAT16, "bfloat16", {kDLBfloat, 16, 1}},
    {LEAT_TYPE_FLOAT64, "float64", {kDLFloat, 64, 1}},
    {LEAT_TYPE_INT8, "int8", {kDLInt, 8, 1}},
    {LEAT_TYPE_INT16, "int16", {kDLInt, 16, 1}},
    {LEAT_TYPE_INT32, "int32", {kDLInt, 32, 1}},
    {LEAT_TYPE_INT64, "int64", {kDLInt, 64, 1}},
    {LEAT_TYPE_UINT8, "uint8", {kDLUInt, 8, 1}},
    {LEAT_TYPE_UINT16, "uint16", {kDLUInt, 16, 1}},
    {LEAT_TYPE_UINT32, "uint32", {kDLUInt, 32, 1}},
    {LEAT_TYPE_UINT64, "uint64", {kDLUInt, 64, 1}},
    {LEAT_TYPE_BOOL, "bool", {LEAT_DL_BOOL, 8, 1}},
};

static size_t type_index(uint64_t type) {
  size_t at = 0;
  while (at + 1 < G_N_ELEMENTS(types) && types[at].type != type)
    at++;
  return at;
}

DLDataType leati_draw_dlpack(uint64_t type) {
  return types[type_index(type)].dtype;
}

int64_t leati_draw_size(uint64_t type) {
  return leati_draw_dlpack(type).bits / 8;
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

int64_t leati_draw_int(leati_draw *draw, int64_t low, int64_t high) {
  return low >= high ? low : low + (int64_t)(g_rand_double(draw->rand) * (double)(high - low + 1));
}

bool leati_draw_chance(leati_draw *draw, int percent) {
  return leati_draw_int(draw, 0, 99) < percent;
}

/* Near enough to the normal distribution, and never far from 0. */
static double number(leati_draw *draw) {
  double sum = 0;
  for (int i = 0; i < 4; i++)
    sum += g_rand_double_range(draw->rand, -1, 1);
  return sum;
}

uint64_t leati_draw_type(leati_draw *draw, const char *parameter) {
  const leat_op_info *info = draw->info;
  uint64_t all = info->types[0]->types;
  uint64_t known[64];
  int64_t count = 0;
  for (uint32_t k = 0; k < info->type_count; k++) {
    if (strcmp(info->types[k]->name, parameter) == 0)
      all = info->types[k]->types;
  }
  for (size_t k = 0; k < G_N_ELEMENTS(types); k++) {
    if ((all & types[k].type) != 0)
      known[count++] = types[k].type;
  }
  return count == 0 || ((all & LEAT_TYPE_FLOAT32) != 0 && leati_draw_chance(draw, 40))
             ? LEAT_TYPE_FLOAT32
             : known[leati_draw_int(draw, 0, count - 1)];
}

int64_t leati_draw_count(int32_t rank, const int64_t *dims) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; d++) {
    if (dims[d] == 0)
      return 0;
  }
  for (int32_t d = 0; d < rank; d++)
    count *= dims[d];
  return count;
}

void leati_draw_dims(leati_draw *draw, int32_t rank, int64_t *dims) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; d++) {
    if (leati_draw_chance(draw, draw->empty ? 30 : 1)) {
      dims[d] = 0;
    } else if (leati_draw_chance(draw, 20)) {
      dims[d] = 1;
    } else {
      dims[d] = leati_draw_chance(draw, 4) ? leati_draw_int(draw, 30, 70) : leati_draw_int(draw, 2, 7);
    }
    if (count * dims[d] > ELEMENTS_MAX)
      dims[d] = 1;
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
    memcpy(to, &narrow, sizeof narrow);
  } else if (tensor->type == LEAT_TYPE_FLOAT64) {
    memcpy(to, &value, sizeof value);
  } else if (tensor->type == LEAT_TYPE_FLOAT16 || tensor->type == LEAT_TYPE_BFLOAT16) {
    /* Of the sign and some bits: a number of magnitude 1 to 2. Or an infinity, or NaN. */
    const bool brain = tensor->type == LEAT_TYPE_BFLOAT16;
    const uint32_t fraction = brain ? 0x7fu : 0x3ffu;
    const uint32_t finite = (brain ? 0x3f80u : 0x3c00u) | ((uint32_t)whole * 37 & fraction);
    const uint32_t infinite = brain ? 0x7f80u : 0x7c00u;
    const uint16_t bits = (uint16_t)((signbit(value) ? 0x8000u : 0u) | (isnan(value)   ? infinite | (fraction + 1) / 2
                                                                        : isinf(value) ? infinite
                                                                                       : finite));
    memcpy(to, &bits, sizeof bits);
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
  for (int64_t k = 0; k < tensor->count; k++) {
    leati_draw_set(tensor, k,
                   is_float                         ? number(draw)
                   : tensor->type == LEAT_TYPE_BOOL ? (double)leati_draw_int(draw, 0, 1)
                                                    : (double)leati_draw_int(draw, is_unsigned ? 0 : -9, 9));
  }
}

/* Puts special numbers among those of a tensor. */
static void draw_specials(leati_draw *draw, leati_draw_tensor *tensor) {
  static const double specials[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1, -1, 0.5, 2.5, 1e30, -1e30, 1e-30};
  const int64_t last = (int64_t)G_N_ELEMENTS(specials) - (draw->summed ? 4 : 1);
  /* One alone leaves most of a sum or a maximum as it was. */
  const int percent = leati_draw_chance(draw, 50) ? 20 : 2;
  for (int64_t k = 0; k < tensor->count; k++) {
    if (leati_draw_chance(draw, percent))
      leati_draw_set(tensor, k, specials[leati_draw_int(draw, 0, last)]);
  }
}

static void set_shape(leati_draw_tensor *tensor, uint64_t type, int32_t rank, const int64_t *dims) {
  g_free(tensor->bytes);
  tensor->present = true;
  tensor->type = type;
  tensor->rank = rank;
  for (int32_t d = 0; d < rank; d++)
    tensor->dims[d] = dims[d];
  tensor->count = leati_draw_count(rank, tensor->dims);
  tensor->bytes = g_malloc0((gsize)(tensor->count * leati_draw_size(type)) + 1);
}

/* Makes all elements along dimension 0 equal. */
static void repeat(leati_draw_tensor *tensor) {
  const int64_t bytes = tensor->count / tensor->dims[0] * leati_draw_size(tensor->type);
  tensor->repeated = true;
  for (int64_t k = 1; k < tensor->dims[0]; k++)
    memcpy(tensor->bytes + k * bytes, tensor->bytes, (size_t)bytes);
}

leati_draw_tensor *leati_draw_input(leati_draw *draw, uint64_t type, int32_t rank, const int64_t *dims) {
  g_assert(draw->input_count < LEAT_DRAW_INPUTS);
  leati_draw_tensor *tensor = &draw->inputs[draw->input_count++];
  set_shape(tensor, type, rank, dims);
  draw_elements(draw, tensor);
  return tensor;
}

leati_draw_tensor *leati_draw_list(leati_draw *draw, uint64_t type, int32_t count, const int64_t *numbers) {
  const int64_t dims[1] = {count};
  leati_draw_tensor *tensor = leati_draw_input(draw, type, count < 0 ? 0 : 1, dims);
  /* A scalar has one element and no dimension. */
  for (int64_t k = 0; k < tensor->count; k++)
    memcpy(tensor->bytes + k * leati_draw_size(type), &numbers[k], (size_t)leati_draw_size(type));
  tensor->constant = leati_draw_chance(draw, 50);
  return tensor;
}

void leati_draw_absent(leati_draw *draw) {
  g_assert(draw->input_count < LEAT_DRAW_INPUTS);
  draw->input_count++;
}

bool leati_draw_reference(const leati_draw_tensor *tensor, leati_ref_tensor *out) {
  const leati_ref_type type = leati_ref_type_from_leat(tensor->type);
  if (type == LEATI_REF_TYPE_COUNT)
    return false;
  leati_ref_tensor_init(out, type, tensor->rank, tensor->dims);
  leati_ref_tensor_load(out, tensor->bytes);
  return true;
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static leat_attribute *add_attribute(leati_draw *draw, const char *name, uint32_t type) {
  for (uint32_t k = 0; k < draw->info->attribute_count; k++) {
    if (strcmp(draw->info->attributes[k]->name, name) == 0 && draw->info->attributes[k]->type == type) {
      g_assert(draw->attribute_count < LEAT_DRAW_ATTRIBUTES);
      leat_attribute *added = &draw->attributes[draw->attribute_count++];
      *added = (leat_attribute){.struct_size = sizeof *added, .type = type, .name = name};
      return added;
    }
  }
  return NULL;
}

void leati_draw_attribute_int(leati_draw *draw, const char *name, int64_t value) {
  leat_attribute *added = add_attribute(draw, name, LEAT_ATTRIBUTE_INT);
  if (added != NULL)
    added->i = value;
}

void leati_draw_attribute_float(leati_draw *draw, const char *name, double value) {
  leat_attribute *added = add_attribute(draw, name, LEAT_ATTRIBUTE_FLOAT);
  if (added != NULL)
    added->f = (float)value;
}

void leati_draw_attribute_string(leati_draw *draw, const char *name, const char *value) {
  leat_attribute *added = add_attribute(draw, name, LEAT_ATTRIBUTE_STRING);
  if (added != NULL) {
    added->string = value;
    added->count = strlen(value);
  }
}

void leati_draw_attribute_ints(leati_draw *draw, const char *name, int32_t count, const int64_t *values) {
  leat_attribute *added = add_attribute(draw, name, LEAT_ATTRIBUTE_INTS);
  if (added != NULL) {
    int64_t *copy = draw->ints[added - draw->attributes];
    for (int32_t k = 0; k < count; k++)
      copy[k] = values[k];
    added->ints = copy;
    added->count = (uint64_t)count;
  }
}

void leati_draw_attribute_floats(leati_draw *draw, const char *name, int32_t count, const double *values) {
  leat_attribute *added = add_attribute(draw, name, LEAT_ATTRIBUTE_FLOATS);
  if (added != NULL) {
    float *copy = draw->floats[added - draw->attributes];
    for (int32_t k = 0; k < count; k++)
      copy[k] = (float)values[k];
    added->floats = copy;
    added->count = (uint64_t)count;
  }
}

void leati_draw_attribute_tensor(leati_draw *draw, const char *name, const DLTensor *value) {
  leat_attribute *added = add_attribute(draw, name, LEAT_ATTRIBUTE_TENSOR);
  if (added != NULL)
    added->tensor = value;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

static const leati_draw_entry *find_entry(const leat_op_info *info) {
  for (const leati_draw_entry *entry = leati_draw_entries; entry->name != NULL; entry++) {
    if (strcmp(entry->name, info->name) == 0 && strcmp(entry->domain, info->domain) == 0)
      return entry;
  }
  return NULL;
}

bool leati_draw_knows(const leat_op_info *info, const char *kind) {
  const leati_draw_entry *entry = find_entry(info);
  return entry != NULL && (kind == NULL || strcmp(entry->kind, kind) == 0);
}

void leati_draw_make(leati_draw *draw, const leat_op_info *info, uint32_t seed, int empty, bool faults) {
  *draw = (leati_draw){.info = info, .output_count = 1, .faults = faults, .rand = g_rand_new_with_seed(seed)};
  draw->empty = leati_draw_chance(draw, empty);
  /* Any number will do as an upper end: no form newer than the entry's is known. */
  const int64_t last = info->since_version_max < 64 ? info->since_version_max : info->since_version_min;
  draw->since_version =
      (uint32_t)(leati_draw_chance(draw, 60) ? last : leati_draw_int(draw, info->since_version_min, last));
  const leati_draw_entry *entry = find_entry(info);
  draw->summed = strcmp(entry->kind, "elementwise") != 0 && strcmp(entry->kind, "movement") != 0;
  entry->recipe(draw);
  for (uint32_t k = 0; k < draw->input_count; k++) {
    leati_draw_tensor *tensor = &draw->inputs[k];
    const bool host = (info->host_inputs >> k & 1) != 0;
    if (tensor->present && !host && (tensor->type & FLOATS) != 0 && !tensor->plain && leati_draw_chance(draw, 15))
      draw_specials(draw, tensor);
    if (tensor->present && !host && tensor->rank > 0 && tensor->dims[0] > 1 && tensor->count > 0 &&
        (tensor->type & LEAT_TYPE_FLOAT32) != 0 && leati_draw_chance(draw, 15)) {
      repeat(tensor);
    }
  }
}

void leati_draw_clear(leati_draw *draw) {
  for (uint32_t k = 0; k < LEAT_DRAW_INPUTS; k++)
    g_free(draw->inputs[k].bytes);
  g_free(draw->value.bytes);
  g_rand_free(draw->rand);
}

static const int64_t extremes[] = {INT64_MAX, INT64_C(1) << 56, INT64_MIN, INT32_MIN, INT32_MAX, -1, 0, 1, 2, 9, -9,
                                   1000,      INT64_C(1) << 40};

static int64_t extreme(leati_draw *draw) {
  return extremes[leati_draw_int(draw, 0, G_N_ELEMENTS(extremes) - 1)];
}

static void spoil_attribute(leati_draw *draw) {
  static const double floats[] = {0, -1, NAN, INFINITY, -INFINITY, 1e30, 1e-30};
  static const char *const strings[] = {"", "nonsense", "SAME_UPPER", "reflect", "linear", "align_corners", "cubic"};
  const leat_op_info *info = draw->info;
  const leat_op_attribute *chosen = info->attributes[leati_draw_int(draw, 0, (int64_t)info->attribute_count - 1)];
  uint32_t at = 0;
  while (at < draw->attribute_count && strcmp(draw->attributes[at].name, chosen->name) != 0)
    at++;
  if (at == draw->attribute_count) {
    if (chosen->type == LEAT_ATTRIBUTE_TENSOR || add_attribute(draw, chosen->name, chosen->type) == NULL)
      return;
  }
  leat_attribute *attribute = &draw->attributes[at];
  switch (chosen->type) {
    case LEAT_ATTRIBUTE_INT:
      attribute->i = extreme(draw);
      break;
    case LEAT_ATTRIBUTE_FLOAT:
      attribute->f = (float)floats[leati_draw_int(draw, 0, G_N_ELEMENTS(floats) - 1)];
      break;
    case LEAT_ATTRIBUTE_STRING:
      attribute->string = strings[leati_draw_int(draw, 0, G_N_ELEMENTS(strings) - 1)];
      attribute->count = strlen(attribute->string);
      break;
    case LEAT_ATTRIBUTE_INTS:
      attribute->ints = draw->ints[at];
      if (attribute->count > 0 && leati_draw_chance(draw, 60)) {
        draw->ints[at][leati_draw_int(draw, 0, (int64_t)attribute->count - 1)] = extreme(draw);
      } else {
        attribute->count = (uint64_t)leati_draw_int(draw, 0, LEAT_DRAW_RANK);
      }
      break;
    case LEAT_ATTRIBUTE_FLOATS:
      attribute->floats = draw->floats[at];
      if (attribute->count > 0 && leati_draw_chance(draw, 60)) {
        draw->floats[at][leati_draw_int(draw, 0, (int64_t)attribute->count - 1)] =
            (float)floats[leati_draw_int(draw, 0, G_N_ELEMENTS(floats) - 1)];
      } else {
        attribute->count = (uint64_t)leati_draw_int(draw, 0, LEAT_DRAW_RANK);
      }
      break;
    default:
      attribute->tensor = NULL;
      break;
  }
}

/* Gives an input another shape or type. Its elements are 1 then, or 0 where they may be indices. */
static void spoil_tensor(leati_draw *draw, leati_draw_tensor *tensor, bool indices) {
  int64_t dims[LEAT_DRAW_RANK];
  int32_t rank = tensor->rank;
  uint64_t type = tensor->type;
  memcpy(dims, tensor->dims, sizeof dims);
  switch (leati_draw_int(draw, 0, 5)) {
    case 0:
      while (rank < LEAT_MAX_RANK + 1)
        dims[rank++] = 1;
      break;
    case 1:
      rank = 0;
      break;
    case 2:
      type = types[leati_draw_int(draw, 0, G_N_ELEMENTS(types) - 1)].type;
      break;
    case 3:
      if (rank > 0)
        dims[leati_draw_int(draw, 0, rank - 1)] = leati_draw_int(draw, indices ? 1 : 0, 3);
      break;
    case 4:
      /* No elements, and more of them than can be counted. */
      if (!indices) {
        rank = rank > 2 ? rank : 3;
        for (int32_t d = 0; d < rank; d++)
          dims[d] = extremes[leati_draw_int(draw, 0, 1)];
        dims[leati_draw_int(draw, 0, rank - 1)] = 0;
      }
      break;
    default:
      if (rank < LEAT_MAX_RANK)
        dims[rank++] = leati_draw_int(draw, 1, 3);
      break;
  }
  set_shape(tensor, type, rank, dims);
  tensor->repeated = false;
  for (int64_t k = 0; k < tensor->count; k++)
    leati_draw_set(tensor, k, indices ? 0 : 1);
}

void leati_draw_spoil(leati_draw *draw) {
  const bool indices = leati_draw_knows(draw->info, "index");
  const uint32_t which = (uint32_t)leati_draw_int(draw, 0, (int64_t)draw->input_count - 1);
  leati_draw_tensor *tensor = &draw->inputs[which];
  const bool host = (draw->info->host_inputs >> which & 1) != 0;
  for (uint32_t k = 0; indices && !draw->faults && k < draw->input_count; k++) {
    /* Of a dimension without elements there is no index, whatever is spoilt. */
    if (draw->inputs[k].count == 0)
      return;
  }
  draw->spoilt = true;
  /* Of two indices that come to mean the same element, either may win. */
  draw->ordered = indices;
  if (indices && !draw->faults) {
    /* Whatever becomes of axes and shapes, 0 is an index. */
    for (uint32_t k = 0; k < draw->input_count; k++) {
      if ((draw->inputs[k].type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0)
        memset(draw->inputs[k].bytes, 0, (size_t)(draw->inputs[k].count * leati_draw_size(draw->inputs[k].type)));
    }
  }
  switch (leati_draw_int(draw, 0, 9)) {
    case 0:
      if (draw->input_count > 0)
        tensor->present = false;
      break;
    case 1:
      if (draw->input_count > 0)
        draw->input_count--;
      break;
    case 2:
      if (draw->input_count < LEAT_DRAW_INPUTS && draw->input_count > 0 && tensor->present)
        leati_draw_input(draw, tensor->type, tensor->rank, tensor->dims);
      break;
    case 3:
      draw->output_count = (uint32_t)leati_draw_int(draw, 0, LEAT_DRAW_OUTPUTS);
      break;
    case 4:
    case 5:
      if (draw->input_count > 0 && tensor->present)
        spoil_tensor(draw, tensor, indices);
      break;
    case 6:
    case 7:
      if (draw->input_count > 0 && host && tensor->present && tensor->count > 0 &&
          (tensor->type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0) {
        const int64_t value = extreme(draw);
        memcpy(tensor->bytes + leati_draw_int(draw, 0, tensor->count - 1) * leati_draw_size(tensor->type), &value,
               (size_t)leati_draw_size(tensor->type));
        break;
      }
      /* Falls through where there is none. */
      G_GNUC_FALLTHROUGH;
    default:
      if (draw->info->attribute_count > 0)
        spoil_attribute(draw);
      break;
  }
}

/* ---- In words --------------------------------------------------------------------------------------------------- */

static void add_tensor(GString *out, const leati_draw_tensor *tensor, bool host) {
  if (!tensor->present) {
    g_string_append(out, "absent");
    return;
  }
  g_string_append_printf(out, "%s[", types[type_index(tensor->type)].name);
  for (int32_t d = 0; d < tensor->rank; d++)
    g_string_append_printf(out, "%s%" PRId64, d == 0 ? "" : ",", tensor->dims[d]);
  g_string_append_c(out, ']');
  if (host && (tensor->type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0) {
    g_string_append(out, tensor->constant ? " constant(" : " (");
    for (int64_t k = 0; k < tensor->count; k++) {
      int64_t value = 0;
      int32_t narrow = 0;
      memcpy(&narrow, tensor->bytes + k * leati_draw_size(tensor->type), sizeof narrow);
      value = narrow;
      if (tensor->type == LEAT_TYPE_INT64)
        memcpy(&value, tensor->bytes + k * (int64_t)sizeof value, sizeof value);
      g_string_append_printf(out, "%s%" PRId64, k == 0 ? "" : ",", value);
    }
    g_string_append_c(out, ')');
  }
}

static void add_attribute_text(GString *out, const leat_attribute *attribute) {
  g_string_append_printf(out, " %s=", attribute->name);
  switch (attribute->type) {
    case LEAT_ATTRIBUTE_INT:
      g_string_append_printf(out, "%" PRId64, attribute->i);
      break;
    case LEAT_ATTRIBUTE_FLOAT:
      g_string_append_printf(out, "%g", (double)attribute->f);
      break;
    case LEAT_ATTRIBUTE_STRING:
      g_string_append_len(out, attribute->string, (gssize)attribute->count);
      break;
    case LEAT_ATTRIBUTE_INTS:
      for (uint64_t k = 0; k < attribute->count; k++)
        g_string_append_printf(out, "%s%" PRId64, k == 0 ? "(" : ",", attribute->ints[k]);
      g_string_append(out, attribute->count == 0 ? "()" : ")");
      break;
    case LEAT_ATTRIBUTE_FLOATS:
      for (uint64_t k = 0; k < attribute->count; k++)
        g_string_append_printf(out, "%s%g", k == 0 ? "(" : ",", (double)attribute->floats[k]);
      g_string_append(out, attribute->count == 0 ? "()" : ")");
      break;
    default:
      g_string_append(out, attribute->tensor == NULL ? "NULL" : "tensor");
      break;
  }
}

char *leati_draw_text(const leati_draw *draw) {
  const leat_op_info *info = draw->info;
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "%s%s%s %" PRIu32, info->domain, info->domain[0] != '\0' ? ":" : "", info->name,
                         draw->since_version);
  for (uint32_t k = 0; k < draw->attribute_count; k++)
    add_attribute_text(out, &draw->attributes[k]);
  for (uint32_t k = 0; k < draw->input_count; k++) {
    g_string_append(out, k == 0 ? " of " : ", ");
    add_tensor(out, &draw->inputs[k], (info->host_inputs >> k & 1) != 0);
  }
  g_string_append_printf(out, " gives %" PRIu32 "%s", draw->output_count, draw->spoilt ? " (spoilt)" : "");
  return g_string_free(out, FALSE);
}
