/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/draw_derive.h"

#include <stdlib.h>
#include <string.h>

/* Inputs of an operator that takes any number of them. */
#define SOME_INPUTS 4

/* ---- Inputs ----------------------------------------------------------------------------------------------------- */

/* A word of a form, taken apart. */
typedef struct word {
  char constraint[32];
  char shape;
  int32_t low, high; /* ranks */
} word;

/* Reads the word at `*form`, and goes on to the next one if there is one. */
static word read_word(const char **form) {
  const char *text = *form, *const space = strchr(text, ' ');
  const char *const colon = memchr(text, ':', space != NULL ? (size_t)(space - text) : strlen(text));
  word w = {.constraint = "T", .high = LEAT_MAX_RANK};
  if (colon != NULL) {
    g_strlcpy(w.constraint, text, MIN(sizeof(w.constraint), (size_t)(colon - text) + 1));
    text = colon + 1;
  }
  w.shape = *text++;
  if (g_ascii_isdigit(*text)) {
    char *end;
    w.low = (int32_t)strtol(text, &end, 10);
    if (*end == '-') {
      w.high = (int32_t)strtol(end + 1, NULL, 10);
    }
  }
  *form = space != NULL ? space + 1 : *form;
  return w;
}

/* Of the inputs that there may be. */
static uint32_t draw_count(leati_draw *d, const char *form) {
  const leat_op_info *info = d->info;
  if (info->max_inputs == LEAT_VARIADIC) {
    return (uint32_t)leati_draw_int(d, info->min_inputs > 0 ? info->min_inputs : 1, SOME_INPUTS);
  }
  uint32_t words = 1;
  for (const char *at = form; at != NULL && *at != '\0'; ++at) {
    words += *at == ' ';
  }
  return form != NULL ? words : MIN(info->max_inputs, LEAT_DRAW_INPUTS);
}

/* Whether the operator works along a dimension, of which there must be one then. */
static bool has_axis(const leat_op_info *info) {
  uint32_t k = 0;
  while (k < info->attribute_count && strcmp(info->attributes[k]->name, "axis") != 0) {
    k++;
  }
  return k < info->attribute_count;
}

void leati_draw_inputs(leati_draw *d, const char *form) {
  const uint32_t count = draw_count(d, form);
  const char *at = form != NULL ? form : d->info->max_inputs != 1 ? "~" : has_axis(d->info) ? "*1" : "*";
  char constraints[LEAT_DRAW_INPUTS][sizeof((word){0}).constraint];
  uint64_t types[LEAT_DRAW_INPUTS];
  int64_t common[LEAT_MAX_RANK], dims[LEAT_MAX_RANK];
  int32_t common_rank = -1, rank;
  for (uint32_t k = 0; k < count; ++k) {
    const word w = read_word(&at);
    uint32_t like = 0;
    g_strlcpy(constraints[k], w.constraint, sizeof(constraints[k]));
    while (strcmp(constraints[like], w.constraint) != 0) {
      like++;
    }
    types[k] = like < k ? types[like] : leati_draw_type(d, w.constraint);
    if (w.shape == '*' || (w.shape == '~' && common_rank < 0)) {
      common_rank = leati_draw_rank(d, w.low, w.high);
      leati_draw_dims(d, common_rank, common);
    }
    if (k >= d->info->min_inputs && d->info->max_inputs != LEAT_VARIADIC && !leati_draw_chance(d, 60)) {
      leati_draw_absent(d);
    } else if (w.shape == '*') {
      leati_draw_input(d, types[k], common_rank, common);
    } else if (w.shape == '~') {
      leati_draw_narrow_input(d, types[k], common_rank, common);
    } else {
      rank = w.shape == '?' ? leati_draw_rank(d, 0, 3) : 0;
      leati_draw_dims(d, rank, dims);
      leati_draw_input(d, types[k], rank, dims);
    }
  }
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static void draw_axis(leati_draw *d, const char *name) {
  if (d->inputs[0].rank > 0) {
    leati_draw_attribute_int(d, name, leati_draw_axis(d, d->inputs[0].rank));
  }
}

static void draw_order(leati_draw *d, const char *name) {
  const int32_t rank = d->inputs[0].rank;
  int64_t order[LEAT_MAX_RANK];
  for (int32_t k = 0; k < rank; ++k) {
    const int64_t place = leati_draw_int(d, 0, k);
    order[k] = order[place];
    order[place] = k;
  }
  leati_draw_attribute_ints(d, name, rank, order);
}

/* A type of the constraint of the output, by the number that ONNX has for it (TensorProto.DataType). */
static void draw_type_number(leati_draw *d, const char *name) {
  static const struct {
    uint64_t type;
    int64_t number;
  } numbers[] = {{LEAT_TYPE_FLOAT32, 1},  {LEAT_TYPE_UINT8, 2},    {LEAT_TYPE_INT8, 3},    {LEAT_TYPE_UINT16, 4},
                 {LEAT_TYPE_INT16, 5},    {LEAT_TYPE_INT32, 6},    {LEAT_TYPE_INT64, 7},   {LEAT_TYPE_BOOL, 9},
                 {LEAT_TYPE_FLOAT16, 10}, {LEAT_TYPE_FLOAT64, 11}, {LEAT_TYPE_UINT32, 12}, {LEAT_TYPE_UINT64, 13},
                 {LEAT_TYPE_BFLOAT16, 16}};
  const uint64_t type = leati_draw_type(d, "T2");
  for (size_t k = 0; k < G_N_ELEMENTS(numbers); ++k) {
    if (numbers[k].type == type) {
      leati_draw_attribute_int(d, name, numbers[k].number);
    }
  }
}

/* What a name means, by the first of these that there is: words of a text, or whole numbers, or floats of a range. */
static const struct {
  const char *name;
  int chance;                                    /* in how many of 100 calls it is there */
  uint32_t since;                                /* no form of a lower version has it */
  void (*draw)(leati_draw *d, const char *name); /* what depends on inputs and types */
  const char *words[2];
  int64_t ints[2];
  double floats[2];
} meanings[] = {
    {.name = "alpha", .chance = 50, .floats = {0.1, 2}},
    {.name = "approximate", .chance = 50, .words = {"none", "tanh"}},
    {.name = "axis", .chance = 80, .draw = draw_axis},
    {.name = "beta", .chance = 50, .floats = {0.1, 2}},
    {.name = "bias", .chance = 50, .floats = {0.1, 2}},
    {.name = "ceil_mode", .chance = 40, .ints = {0, 1}},
    {.name = "channels_last", .chance = 30, .ints = {0, 1}},
    {.name = "count_include_pad", .chance = 40, .ints = {0, 1}},
    {.name = "detect_negative", .chance = 50, .ints = {0, 1}},
    {.name = "detect_positive", .chance = 50, .ints = {0, 1}},
    {.name = "end", .chance = 50, .ints = {-9, 9}},
    {.name = "exclusive", .chance = 70, .ints = {0, 1}},
    {.name = "gamma", .chance = 50, .floats = {0.1, 2}},
    {.name = "keepdims", .chance = 60, .ints = {0, 1}},
    {.name = "lambd", .chance = 50, .floats = {0.1, 2}},
    {.name = "noop_with_empty_axes", .chance = 40, .ints = {0, 1}},
    {.name = "perm", .chance = 80, .draw = draw_order},
    {.name = "reverse", .chance = 70, .ints = {0, 1}},
    {.name = "select_last_index", .chance = 60, .since = 12, .ints = {0, 1}},
    {.name = "start", .chance = 50, .ints = {-9, 9}},
    {.name = "to", .chance = 100, .draw = draw_type_number},
    {.name = "upper", .chance = 60, .ints = {0, 1}},
};

static bool is_there(const leati_draw *d, const char *name) {
  for (uint32_t k = 0; k < d->attribute_count; ++k) {
    if (strcmp(d->attributes[k].name, name) == 0) {
      return true;
    }
  }
  return false;
}

static void draw_attribute(leati_draw *d, const char *name) {
  size_t at = 0;
  while (at < G_N_ELEMENTS(meanings) && strcmp(meanings[at].name, name) != 0) {
    at++;
  }
  if (at == G_N_ELEMENTS(meanings) || d->since_version < meanings[at].since ||
      !leati_draw_chance(d, meanings[at].chance)) {
    return;
  }
  if (meanings[at].draw != NULL) {
    meanings[at].draw(d, name);
  } else if (meanings[at].words[0] != NULL) {
    leati_draw_attribute_string(d, name, meanings[at].words[leati_draw_int(d, 0, 1)]);
  } else if (meanings[at].floats[1] > 0) {
    leati_draw_attribute_float(d, name, g_rand_double_range(d->rand, meanings[at].floats[0], meanings[at].floats[1]));
  } else {
    leati_draw_attribute_int(d, name, leati_draw_int(d, meanings[at].ints[0], meanings[at].ints[1]));
  }
}

void leati_draw_attributes(leati_draw *d) {
  for (uint32_t k = 0; k < d->info->attribute_count; ++k) {
    const char *const name = d->info->attributes[k]->name;
    if (!is_there(d, name)) {
      draw_attribute(d, name);
    }
  }
}
