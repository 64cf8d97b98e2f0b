/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/draw_call.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ops/core/draw_derive.h"
#include "ops/core/earlier.h"
#include "ops/core/ref_run.h"

/* The draws of each family that has some: the build makes lines "LIST(family)". */
#define LIST(family) extern const leati_draw_entry leati_draws_##family[];
#include "draws_lists.inc"
#undef LIST
#define LIST(family) leati_draws_##family,
static const leati_draw_entry *const lists[] = {
#include "draws_lists.inc"
};
#undef LIST

/* Puts special numbers among those of a tensor. */
static void draw_specials(leati_draw *draw, leati_draw_tensor *tensor) {
  static const double specials[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1, -1, 0.5, 2.5, 1e30, -1e30, 1e-30};
  const int64_t last = (int64_t)G_N_ELEMENTS(specials) - (draw->summed ? 4 : 1);
  /* One alone leaves most of a sum or a maximum as it was. */
  const int percent = leati_draw_chance(draw, 50) ? 20 : 2;
  const size_t choices = draw->choice_count;
  draw->choice_count = 0;
  for (int64_t k = 0; k < tensor->count; ++k) {
    if (leati_draw_chance(draw, percent)) {
      leati_draw_set(tensor, k, specials[leati_draw_int(draw, 0, last)]);
    }
  }
  draw->choice_count = choices;
}

/* Makes all elements along dimension 0 equal. */
static void repeat(leati_draw_tensor *tensor) {
  const int64_t bytes = tensor->count / tensor->dims[0] * leati_draw_size(tensor->type);
  tensor->repeated = true;
  for (int64_t k = 1; k < tensor->dims[0]; ++k) {
    memcpy(tensor->bytes + k * bytes, tensor->bytes, (size_t)bytes);
  }
}

/* Whether a name is one of some that are separated by spaces. */
static bool is_among(const char *name, const char *names) {
  const size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
    if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

#define KIND_NAME(kind) kind,
static const char *const kinds[] = {LEATI_DRAW_KINDS(KIND_NAME)};

/* What draws an operator: what a family's list says, or nothing but the operator list for one of ONNX's that the
 * reference has; that is of the case that its family has, or else of the products'. */
static bool find_entry(const leat_op_info *info, leati_draw_entry *out) {
  for (size_t f = 0; f < G_N_ELEMENTS(lists); ++f) {
    for (const leati_draw_entry *entry = lists[f]; entry->kind != NULL; ++entry) {
      if (is_among(info->name, entry->names) && strcmp(entry->domain, info->domain) == 0) {
        *out = *entry;
        return true;
      }
    }
  }
  const char *const family = info->domain[0] == '\0' ? leati_ref_family(info->name) : NULL;
  *out = (leati_draw_entry){.kind = "matmul"};
  for (size_t k = 0; family != NULL && k < G_N_ELEMENTS(kinds); ++k) {
    if (strcmp(kinds[k], family) == 0) {
      out->kind = kinds[k];
    }
  }
  return family != NULL;
}

bool leati_draw_knows(const leat_op_info *info, const char *kind) {
  leati_draw_entry entry;
  bool known = false;
  for (size_t k = 0; find_entry(info, &entry) && k < G_N_ELEMENTS(kinds) && !known; ++k) {
    known = strcmp(entry.kind, kinds[k]) == 0 && (kind == NULL || strcmp(kind, kinds[k]) == 0);
  }
  return known;
}

/* Makes an input the attribute that it was. */
static void move_to_attribute(leati_draw *draw, const char *name, leati_draw_tensor *tensor) {
  leat_attribute *added = NULL;
  for (uint32_t type = LEAT_ATTRIBUTE_INT; added == NULL && type <= LEAT_ATTRIBUTE_FLOATS; ++type) {
    added = leati_draw_attribute(draw, name, type);
  }
  g_assert(added != NULL);
  int64_t *const ints = draw->ints[added - draw->attributes];
  leati_ref_tensor numbers;
  leati_draw_reference(tensor, &numbers);
  g_assert(numbers.count <= LEAT_DRAW_RANK);
  if (added->type == LEAT_ATTRIBUTE_FLOAT) {
    added->f = (float)numbers.f[0];
  } else if (added->type == LEAT_ATTRIBUTE_FLOATS) {
    for (int64_t k = 0; k < numbers.count; ++k) {
      draw->floats[added - draw->attributes][k] = (float)numbers.f[k];
    }
    added->floats = draw->floats[added - draw->attributes];
    added->count = (uint64_t)numbers.count;
  } else {
    for (int64_t k = 0; k < numbers.count; ++k) {
      ints[k] = numbers.i[k];
    }
    added->i = added->type == LEAT_ATTRIBUTE_INT ? ints[0] : 0;
    added->ints = added->type == LEAT_ATTRIBUTE_INTS ? ints : NULL;
    added->count = added->type == LEAT_ATTRIBUTE_INTS ? (uint64_t)numbers.count : 0;
  }
  leati_ref_tensor_clear(&numbers);
  g_free(tensor->bytes);
  memset(tensor, 0, sizeof(*tensor));
}

/* A recipe draws today's form of an operator: puts what was an attribute in this version there. */
static void make_earlier(leati_draw *draw) {
  const leati_earlier *earlier =
      draw->info->domain[0] == '\0' ? leati_earlier_of(draw->info->name, draw->since_version) : NULL;
  for (uint32_t k = 0; earlier != NULL && k < LEATI_EARLIER_MAX && earlier->moved[k].attribute != NULL; ++k) {
    leati_draw_tensor *tensor = &draw->inputs[earlier->moved[k].input];
    if (tensor->present) {
      move_to_attribute(draw, earlier->moved[k].attribute, tensor);
    }
  }
  draw->input_count = earlier != NULL ? 1 : draw->input_count;
}

void leati_draw_make(leati_draw *draw, const leat_op_info *info, uint32_t seed, int empty, bool faults,
                     const uint8_t *choices, size_t choice_count) {
  *draw = (leati_draw){.info = info,
                       .output_count = 1,
                       .faults = faults,
                       .choices = choices,
                       .choice_count = choice_count,
                       .rand = g_rand_new_with_seed(seed)};
  draw->empty = leati_draw_chance(draw, empty);
  /* Any number will do as an upper end: no form newer than the entry's is known. */
  const int64_t last = info->since_version_max < 64 ? info->since_version_max : info->since_version_min;
  draw->since_version =
      (uint32_t)(leati_draw_chance(draw, 60) ? last : leati_draw_int(draw, info->since_version_min, last));
  leati_draw_entry entry;
  find_entry(info, &entry);
  draw->summed = strcmp(entry.kind, "elementwise") != 0 && strcmp(entry.kind, "movement") != 0;
  if (entry.form != NULL || entry.recipe == NULL) {
    leati_draw_inputs(draw, entry.form);
  }
  if (entry.recipe != NULL) {
    entry.recipe(draw);
  }
  make_earlier(draw);
  if (entry.form != NULL || entry.recipe == NULL) {
    leati_draw_attributes(draw);
  }
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    leati_draw_tensor *tensor = &draw->inputs[k];
    const bool host = (info->host_inputs >> k & 1) != 0;
    if (tensor->present && !host && leati_draw_is_float(tensor->type) && !tensor->plain &&
        leati_draw_chance(draw, 15)) {
      draw_specials(draw, tensor);
    }
    if (tensor->present && !host && tensor->rank > 0 && tensor->dims[0] > 1 && tensor->count > 0 &&
        (tensor->type & LEAT_TYPE_FLOAT32) != 0 && leati_draw_chance(draw, 15)) {
      repeat(tensor);
    }
  }
}

void leati_draw_clear(leati_draw *draw) {
  for (uint32_t k = 0; k < LEAT_DRAW_INPUTS; ++k) {
    g_free(draw->inputs[k].bytes);
  }
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
  while (at < draw->attribute_count && strcmp(draw->attributes[at].name, chosen->name) != 0) {
    at++;
  }
  if (at == draw->attribute_count) {
    if (chosen->type == LEAT_ATTRIBUTE_TENSOR || leati_draw_attribute(draw, chosen->name, chosen->type) == NULL) {
      return;
    }
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
    case LEAT_ATTRIBUTE_STRINGS:
      if (attribute->count > 0 && leati_draw_chance(draw, 60)) {
        const int64_t which = leati_draw_int(draw, 0, (int64_t)attribute->count - 1);
        draw->strings[which] = strings[leati_draw_int(draw, 0, G_N_ELEMENTS(strings) - 1)];
        draw->lengths[which] = strlen(draw->strings[which]);
      } else {
        for (uint64_t k = attribute->count; k < LEAT_DRAW_RANK; ++k) {
          draw->strings[k] = "";
          draw->lengths[k] = 0;
        }
        attribute->count = (uint64_t)leati_draw_int(draw, 0, LEAT_DRAW_RANK);
      }
      attribute->strings = draw->strings;
      attribute->lengths = draw->lengths;
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
  memcpy(dims, tensor->dims, sizeof(dims));
  switch (leati_draw_int(draw, 0, 5)) {
    case 0:
      while (rank < LEAT_MAX_RANK + 1) {
        dims[rank++] = 1;
      }
      break;
    case 1:
      rank = 0;
      break;
    case 2:
      type = leati_draw_any_type(draw);
      break;
    case 3:
      if (rank > 0) {
        dims[leati_draw_int(draw, 0, rank - 1)] = leati_draw_int(draw, indices ? 1 : 0, 3);
      }
      break;
    case 4:
      /* No elements, and more of them than can be counted. */
      if (!indices) {
        rank = rank > 2 ? rank : 3;
        for (int32_t d = 0; d < rank; ++d) {
          dims[d] = extremes[leati_draw_int(draw, 0, 1)];
        }
        dims[leati_draw_int(draw, 0, rank - 1)] = 0;
      }
      break;
    default:
      if (rank < LEAT_MAX_RANK) {
        dims[rank++] = leati_draw_int(draw, 1, 3);
      }
      break;
  }
  leati_draw_reshape(tensor, type, rank, dims);
  tensor->repeated = false;
  for (int64_t k = 0; k < tensor->count; ++k) {
    leati_draw_set(tensor, k, indices ? 0 : 1);
  }
}

void leati_draw_spoil(leati_draw *draw) {
  const bool indices = leati_draw_knows(draw->info, "index");
  const uint32_t which = (uint32_t)leati_draw_int(draw, 0, (int64_t)draw->input_count - 1);
  leati_draw_tensor *tensor = &draw->inputs[which];
  const bool host = (draw->info->host_inputs >> which & 1) != 0;
  for (uint32_t k = 0; indices && !draw->faults && k < draw->input_count; ++k) {
    /* Of a dimension without elements there is no index, whatever is spoilt. */
    if (draw->inputs[k].count == 0) {
      return;
    }
  }
  draw->spoilt = true;
  /* Of two indices that come to mean the same element, either may win. */
  draw->ordered = indices;
  if (indices && !draw->faults) {
    /* Whatever becomes of axes and shapes, 0 is an index. */
    for (uint32_t k = 0; k < draw->input_count; ++k) {
      if ((draw->inputs[k].type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0) {
        memset(draw->inputs[k].bytes, 0, (size_t)(draw->inputs[k].count * leati_draw_size(draw->inputs[k].type)));
      }
    }
  }
  switch (leati_draw_int(draw, 0, 9)) {
    case 0:
      if (draw->input_count > 0) {
        tensor->present = false;
      }
      break;
    case 1:
      if (draw->input_count > 0) {
        draw->input_count--;
      }
      break;
    case 2:
      if (draw->input_count < LEAT_DRAW_INPUTS && draw->input_count > 0 && tensor->present) {
        leati_draw_input(draw, tensor->type, tensor->rank, tensor->dims);
      }
      break;
    case 3:
      draw->output_count = (uint32_t)leati_draw_int(draw, 0, LEAT_DRAW_OUTPUTS);
      break;
    case 4:
    case 5:
      if (draw->input_count > 0 && tensor->present) {
        spoil_tensor(draw, tensor, indices);
      }
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
      if (draw->info->attribute_count > 0) {
        spoil_attribute(draw);
      }
      break;
  }
}

/* ---- In words --------------------------------------------------------------------------------------------------- */

static void add_tensor(GString *out, const leati_draw_tensor *tensor, bool host) {
  if (!tensor->present) {
    g_string_append(out, "absent");
    return;
  }
  g_string_append_printf(out, "%s[", leati_draw_type_name(tensor->type));
  for (int32_t d = 0; d < tensor->rank; ++d) {
    g_string_append_printf(out, "%s%" PRId64, d == 0 ? "" : ",", tensor->dims[d]);
  }
  g_string_append_c(out, ']');
  if (host && (tensor->type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0) {
    g_string_append(out, tensor->constant ? " constant(" : " (");
    for (int64_t k = 0; k < tensor->count; ++k) {
      int64_t value = 0;
      int32_t narrow = 0;
      memcpy(&narrow, tensor->bytes + k * leati_draw_size(tensor->type), sizeof(narrow));
      value = narrow;
      if (tensor->type == LEAT_TYPE_INT64) {
        memcpy(&value, tensor->bytes + k * (int64_t)sizeof(value), sizeof(value));
      }
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
      for (uint64_t k = 0; k < attribute->count; ++k) {
        g_string_append_printf(out, "%s%" PRId64, k == 0 ? "(" : ",", attribute->ints[k]);
      }
      g_string_append(out, attribute->count == 0 ? "()" : ")");
      break;
    case LEAT_ATTRIBUTE_FLOATS:
      for (uint64_t k = 0; k < attribute->count; ++k) {
        g_string_append_printf(out, "%s%g", k == 0 ? "(" : ",", (double)attribute->floats[k]);
      }
      g_string_append(out, attribute->count == 0 ? "()" : ")");
      break;
    case LEAT_ATTRIBUTE_STRINGS:
      for (uint64_t k = 0; k < attribute->count; ++k) {
        g_string_append_c(out, k == 0 ? '(' : ',');
        g_string_append_len(out, attribute->strings[k], (gssize)attribute->lengths[k]);
      }
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
  for (uint32_t k = 0; k < draw->attribute_count; ++k) {
    add_attribute_text(out, &draw->attributes[k]);
  }
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    g_string_append(out, k == 0 ? " of " : ", ");
    add_tensor(out, &draw->inputs[k], (info->host_inputs >> k & 1) != 0);
  }
  g_string_append_printf(out, " gives %" PRIu32 "%s", draw->output_count, draw->spoilt ? " (spoilt)" : "");
  return g_string_free(out, FALSE);
}
