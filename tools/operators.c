/* SPDX-License-Identifier: BSD-3-Clause */
#include "operators.h"

#include <string.h>

#include "words.h"

/* Names of LEAT_TYPE_*, in the order of the bits. */
static const char *const type_names[] = {
    "float32",        "float16",    "bfloat16",   "float64", "int8",  "int16",        "int32",          "int64",
    "uint8",          "uint16",     "uint32",     "uint64",  "bool",  "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
    "float8e5m2fnuz", "float8e8m0", "float4e2m1", "int4",    "uint4", "int2",         "uint2"};

static const struct {
  uint64_t first, types;
  const char *name;
} type_ranges[] = {
    {LEAT_TYPE_INT8, LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64, "int8 to int64"},
    {LEAT_TYPE_UINT8, LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64, "uint8 to uint64"},
};

/* The name of type `bit`; one that a later header has is told by its number. */
static char *type_name(guint bit) {
  return bit < G_N_ELEMENTS(type_names) ? g_strdup(type_names[bit]) : g_strdup_printf("type %u", bit);
}

static gint compare(gconstpointer a, gconstpointer b) {
  const leat_op_info *const x = *(const leat_op_info *const *)a, *const y = *(const leat_op_info *const *)b;
  const int domain = strcmp(x->domain, y->domain), name = strcmp(x->name, y->name);
  return domain != 0 ? domain
         : name != 0 ? name
                     : (x->since_version_min > y->since_version_min) - (x->since_version_min < y->since_version_min);
}

GPtrArray *leati_operators_new(const leat_backend_api *api, leat_error *err) {
  uint32_t count;
  if (api->op->count(&count, err)) {
    return NULL;
  }
  GPtrArray *operators = g_ptr_array_new();
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info;
    if (api->op->info(i, &info, err)) {
      g_ptr_array_unref(operators);
      return NULL;
    }
    g_ptr_array_add(operators, (gpointer)info);
  }
  g_ptr_array_sort(operators, compare);
  return operators;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void list_append(GString *list, const char *item) {
  g_string_append_printf(list, "%s%s", list->len ? ", " : "", item);
}

/* The types of a constraint; those of a family that are all there are told as a range. */
static char *types_text(uint64_t types) {
  GString *text = g_string_new(NULL);
  for (guint bit = 0; bit < 64; ++bit) {
    const uint64_t type = UINT64_C(1) << bit;
    for (size_t i = 0; i < G_N_ELEMENTS(type_ranges); ++i) {
      const uint64_t range = type_ranges[i].types;
      if (type_ranges[i].first == type && (types & range) == range) {
        list_append(text, type_ranges[i].name);
        types &= ~range;
      }
    }
    if (types & type) {
      g_autofree char *name = type_name(bit);
      list_append(text, name);
    }
  }
  return g_string_free(text, FALSE);
}

/* "; input 1 on the host", "; inputs 1, 2 on the host", or nothing. */
static void host_append(GString *text, const char *what, uint64_t mask) {
  GString *numbers = g_string_new(NULL);
  for (guint i = 0; i < 64; ++i) {
    if (mask >> i & 1) {
      g_autofree char *number = g_strdup_printf("%u", i);
      list_append(numbers, number);
    }
  }
  if (mask) {
    g_string_append_printf(text, "; %s%s %s on the host", what, mask & (mask - 1) ? "s" : "", numbers->str);
  }
  g_string_free(numbers, TRUE);
}

static char *versions_text(const leat_op_info *info) {
  return info->since_version_max == UINT32_MAX ? g_strdup_printf("%u and later", info->since_version_min)
         : info->since_version_min == info->since_version_max
             ? g_strdup_printf("%u", info->since_version_min)
             : g_strdup_printf("%u-%u", info->since_version_min, info->since_version_max);
}

static char *entry_text(const leat_op_info *info) {
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < info->type_count; ++i) {
    g_autofree char *types = types_text(info->types[i]->types);
    /* Where the specification fixes a type, the constraint's name says it. */
    const gboolean fixed = g_str_has_prefix(info->types[i]->name, "tensor(");
    g_string_append_printf(text, "%s%s%s%s", text->len ? "; " : "", info->types[i]->name, fixed ? "" : ": ",
                           fixed ? "" : types);
  }
  host_append(text, "input", info->host_inputs);
  host_append(text, "output", info->host_outputs);
  char *valid = g_utf8_make_valid(text->str, -1);
  g_string_free(text, TRUE);
  return valid;
}

char *leati_operators_text(const GPtrArray *operators) {
  glong widest = 0;
  for (guint i = 0; i < operators->len; ++i) {
    const leat_op_info *const info = operators->pdata[i];
    widest = MAX(widest, g_utf8_strlen(info->name, -1));
  }
  GString *text = g_string_new(NULL);
  const char *domain = NULL;
  for (guint i = 0; i < operators->len; ++i) {
    const leat_op_info *const info = operators->pdata[i];
    if (!domain || !g_str_equal(domain, info->domain)) {
      g_string_append_printf(text, "%sDomain %s\n", domain ? "\n" : "", *info->domain ? info->domain : "\"\" (ONNX)");
      domain = info->domain;
    }
    g_autofree char *versions = versions_text(info);
    g_autofree char *entry = entry_text(info);
    g_autofree char *head = g_strdup_printf("  %-*s  %-5s ", (int)widest, info->name, versions);
    const glong column = g_utf8_strlen(head, -1);
    g_string_append(text, head);
    leati_words_append(text, column, (guint)widest + 11, entry);
  }
  return g_string_free(text, FALSE);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void json_text(JsonBuilder *json, const char *text) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  json_builder_add_string_value(json, valid);
}

/* A number, or null where there is no limit. */
static void json_limit(JsonBuilder *json, const char *name, uint32_t value) {
  json_builder_set_member_name(json, name);
  if (value == UINT32_MAX) {
    json_builder_add_null_value(json);
  } else {
    json_builder_add_int_value(json, value);
  }
}

static void json_bits(JsonBuilder *json, const char *name, uint64_t mask) {
  json_builder_set_member_name(json, name);
  json_builder_begin_array(json);
  for (guint i = 0; i < 64; ++i) {
    if (mask >> i & 1) {
      json_builder_add_int_value(json, i);
    }
  }
  json_builder_end_array(json);
}

static void json_types(JsonBuilder *json, const leat_op_info *info) {
  json_builder_set_member_name(json, "types");
  json_builder_begin_object(json);
  for (uint32_t i = 0; i < info->type_count; ++i) {
    g_autofree char *constraint = g_utf8_make_valid(info->types[i]->name, -1);
    json_builder_set_member_name(json, constraint);
    json_builder_begin_array(json);
    for (guint bit = 0; bit < 64; ++bit) {
      if (info->types[i]->types >> bit & 1) {
        g_autofree char *name = type_name(bit);
        json_builder_add_string_value(json, name);
      }
    }
    json_builder_end_array(json);
  }
  json_builder_end_object(json);
}

static void json_operator(JsonBuilder *json, const leat_op_info *info) {
  json_builder_begin_object(json);
  json_builder_set_member_name(json, "name");
  json_text(json, info->name);
  json_builder_set_member_name(json, "domain");
  json_text(json, info->domain);
  json_limit(json, "since_version_min", info->since_version_min);
  json_limit(json, "since_version_max", info->since_version_max);
  json_limit(json, "min_inputs", info->min_inputs);
  json_limit(json, "max_inputs", info->max_inputs);
  json_limit(json, "min_outputs", info->min_outputs);
  json_limit(json, "max_outputs", info->max_outputs);
  json_types(json, info);
  json_bits(json, "host_inputs", info->host_inputs);
  json_bits(json, "host_outputs", info->host_outputs);
  json_builder_set_member_name(json, "attributes");
  json_builder_begin_array(json);
  for (uint32_t i = 0; i < info->attribute_count; ++i) {
    json_text(json, info->attributes[i]->name);
  }
  json_builder_end_array(json);
  json_builder_end_object(json);
}

void leati_operators_json(const GPtrArray *operators, JsonBuilder *json) {
  json_builder_set_member_name(json, "operators");
  json_builder_begin_array(json);
  for (guint i = 0; i < operators->len; ++i) {
    json_operator(json, operators->pdata[i]);
  }
  json_builder_end_array(json);
}
