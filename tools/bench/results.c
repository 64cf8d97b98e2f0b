/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/results.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

static GArray *doubles(void) {
  return g_array_new(FALSE, FALSE, sizeof(double));
}

static void point_free(gpointer data) {
  leati_result_point *point = data;
  g_free(point->variant);
  g_free(point->setting);
  g_array_unref(point->values);
  g_array_unref(point->p50_us);
  g_array_unref(point->p99_us);
  g_array_unref(point->cpu_us);
  g_array_unref(point->thread_cpu_us);
  g_array_unref(point->ratios);
  json_object_unref(point->facts);
  g_free(point);
}

void leati_results_init(leati_results *results) {
  results->points = g_ptr_array_new_with_free_func(point_free);
}

void leati_results_clear(leati_results *results) {
  g_ptr_array_unref(results->points);
}

leati_result_point *leati_results_point(leati_results *results, const char *measurement, const char *variant,
                                        const char *setting, guint threads, const char *unit) {
  for (guint i = 0; i < results->points->len; ++i) {
    leati_result_point *point = g_ptr_array_index(results->points, i);
    if (g_str_equal(point->measurement, measurement) && g_str_equal(point->variant, variant) &&
        g_strcmp0(point->setting, setting) == 0 && point->threads == threads) {
      return point;
    }
  }
  leati_result_point *point = g_new0(leati_result_point, 1);
  *point = (leati_result_point){.measurement = measurement,
                                .variant = g_strdup(variant),
                                .setting = g_strdup(setting),
                                .threads = threads,
                                .unit = unit,
                                .values = doubles(),
                                .p50_us = doubles(),
                                .p99_us = doubles(),
                                .cpu_us = doubles(),
                                .thread_cpu_us = doubles(),
                                .ratios = doubles(),
                                .facts = json_object_new()};
  g_ptr_array_add(results->points, point);
  return point;
}

void leati_result_point_add_value(leati_result_point *point, double value) {
  g_array_append_val(point->values, value);
}

void leati_result_point_add(leati_result_point *point, const leati_sample *sample) {
  g_array_append_val(point->values, sample->rate);
  g_array_append_val(point->p50_us, sample->p50_us);
  g_array_append_val(point->p99_us, sample->p99_us);
  g_array_append_val(point->cpu_us, sample->cpu_us);
  g_array_append_val(point->thread_cpu_us, sample->thread_cpu_us);
}

void leati_result_point_compare(leati_result_point *point, const char *base, double value) {
  leati_result_point_add_ratio(point, base, g_array_index(point->values, double, point->values->len - 1) / value);
}

void leati_result_point_add_ratio(leati_result_point *point, const char *base, double ratio) {
  point->base = base;
  g_array_append_val(point->ratios, ratio);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static GArray *sorted(const GArray *values) {
  GArray *copy = doubles();
  g_array_append_vals(copy, values->data, values->len);
  if (copy->len > 0) {
    qsort(copy->data, copy->len, sizeof(double), by_value);
  }
  return copy;
}

double leati_median(const GArray *values) {
  GArray *order = sorted(values);
  const guint n = order->len;
  const double *v = (const double *)(const void *)order->data;
  const double median = n == 0 ? 0.0 : (v[(n - 1) / 2] + v[n / 2]) / 2.0;
  g_array_unref(order);
  return median;
}

static double extreme(const GArray *values, gboolean highest) {
  GArray *order = sorted(values);
  const double value = order->len == 0 ? 0.0 : g_array_index(order, double, highest ? order->len - 1 : 0);
  g_array_unref(order);
  return value;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* A number with about four digits that count, and thousands apart. */
static char *readable(double value) {
  if (value == 0) {
    return g_strdup("0");
  }
  if (value < 0) {
    g_autofree char *rest = readable(-value);
    return g_strdup_printf("-%s", rest);
  }
  if (value < 999.95) {
    return g_strdup_printf(value >= 99.95 ? "%.1f" : value >= 9.995 ? "%.2f" : "%.3f", value);
  }
  g_autofree char *digits = g_strdup_printf("%.0f", value);
  GString *out = g_string_new(NULL);
  for (const char *c = digits; *c != '\0'; ++c) {
    g_string_append_c(out, *c);
    const gsize left = strlen(c) - 1;
    if (left > 0 && left % 3 == 0) {
      g_string_append_c(out, ',');
    }
  }
  return g_string_free(out, FALSE);
}

/* The median where there is one, else nothing. */
static char *median_or_none(const GArray *values) {
  return values->len == 0 || extreme(values, TRUE) == 0.0 ? g_strdup("") : readable(leati_median(values));
}

static char *full_name(const leati_result_point *point) {
  return point->setting == NULL ? g_strdup(point->variant) : g_strdup_printf("%s, %s", point->variant, point->setting);
}

static char *facts_text(const leati_result_point *point) {
  GString *out = g_string_new(NULL);
  GList *names = json_object_get_members(point->facts);
  for (GList *name = names; name != NULL; name = name->next) {
    JsonNode *node = json_object_get_member(point->facts, name->data);
    if (!JSON_NODE_HOLDS_VALUE(node)) {
      continue;
    }
    g_string_append_printf(out, "%s%s ", out->len > 0 ? ", " : "", (const char *)name->data);
    if (json_node_get_value_type(node) == G_TYPE_STRING) {
      g_string_append(out, json_node_get_string(node));
    } else {
      g_autofree char *number = readable(json_node_get_double(node));
      g_string_append(out, number);
    }
  }
  g_list_free(names);
  return g_string_free(out, FALSE);
}

static void add_row(leati_table *table, const leati_result_point *point) {
  char *ratio =
      point->base == NULL ? g_strdup("") : g_strdup_printf("%.2f of %s", leati_median(point->ratios), point->base);
  const gboolean measured = point->values->len > 0;
  char *cells[] = {full_name(point),
                   g_strdup_printf("%u", point->threads),
                   measured ? readable(leati_median(point->values)) : g_strdup("-"),
                   measured ? readable(extreme(point->values, FALSE)) : g_strdup("-"),
                   measured ? readable(extreme(point->values, TRUE)) : g_strdup("-"),
                   g_strdup(point->unit),
                   median_or_none(point->p50_us),
                   median_or_none(point->p99_us),
                   median_or_none(point->cpu_us),
                   ratio,
                   facts_text(point)};
  leati_table_add(table, cells);
}

static const leati_result_point *find(const GPtrArray *points, const leati_result_point *like, guint threads) {
  for (guint i = 0; i < points->len; ++i) {
    const leati_result_point *point = g_ptr_array_index(points, i);
    if (g_str_equal(point->variant, like->variant) && g_strcmp0(point->setting, like->setting) == 0 &&
        point->threads == threads) {
      return point;
    }
  }
  return NULL;
}

static int by_number(const void *a, const void *b) {
  const guint x = *(const guint *)a, y = *(const guint *)b;
  return (x > y) - (x < y);
}

/* Medians with a column for each number of threads; NULL where there is only one number. */
static char *pivot(const GPtrArray *points) {
  GArray *counts = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < points->len; ++i) {
    const leati_result_point *point = g_ptr_array_index(points, i);
    gboolean known = FALSE;
    for (guint k = 0; k < counts->len; ++k) {
      known = known || g_array_index(counts, guint, k) == point->threads;
    }
    if (!known) {
      g_array_append_val(counts, point->threads);
    }
  }
  if (counts->len < 2) {
    g_array_unref(counts);
    return NULL;
  }
  qsort(counts->data, counts->len, sizeof(guint), by_number);
  g_autoptr(GPtrArray) heading = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(heading, g_strdup("median, by threads"));
  for (guint k = 0; k < counts->len; ++k) {
    g_ptr_array_add(heading, g_strdup_printf("%u", g_array_index(counts, guint, k)));
  }
  g_ptr_array_add(heading, NULL);
  leati_table *table = leati_table_new((const char *const *)heading->pdata);
  for (guint i = 0; i < points->len; ++i) {
    const leati_result_point *point = g_ptr_array_index(points, i);
    gboolean first = TRUE;
    for (guint k = 0; first && k < i; ++k) {
      first = find(points, point, ((const leati_result_point *)g_ptr_array_index(points, k))->threads) !=
              g_ptr_array_index(points, k);
    }
    if (!first) {
      continue;
    }
    g_autofree char **cells = g_new0(char *, counts->len + 1);
    cells[0] = full_name(point);
    for (guint k = 0; k < counts->len; ++k) {
      const leati_result_point *other = find(points, point, g_array_index(counts, guint, k));
      cells[k + 1] = other == NULL ? g_strdup("-") : readable(leati_median(other->values));
    }
    leati_table_add(table, cells);
  }
  char *text = leati_table_text(table);
  leati_table_free(table);
  g_array_unref(counts);
  return text;
}

char *leati_results_text(const leati_results *results, const char *measurement) {
  g_autoptr(GPtrArray) points = g_ptr_array_new();
  g_autoptr(GPtrArray) rates = g_ptr_array_new();
  for (guint i = 0; i < results->points->len; ++i) {
    leati_result_point *point = g_ptr_array_index(results->points, i);
    if (g_str_equal(point->measurement, measurement)) {
      g_ptr_array_add(points, point);
      if (point->p50_us->len > 0) {
        g_ptr_array_add(rates, point);
      }
    }
  }
  const char *const columns[] = {measurement, "threads", "median", "lowest",        "highest", "unit",
                                 "p50 us",    "p99 us",  "cpu us", "in proportion", "also",    NULL};
  leati_table *table = leati_table_new(columns);
  for (guint i = 0; i < points->len; ++i) {
    add_row(table, g_ptr_array_index(points, i));
  }
  g_autofree char *rows = leati_table_text(table);
  leati_table_free(table);
  g_autofree char *medians = pivot(rates);
  return medians == NULL ? g_steal_pointer(&rows) : g_strdup_printf("%s\n%s", rows, medians);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void member_array(JsonBuilder *json, const char *name, const GArray *values) {
  json_builder_set_member_name(json, name);
  json_builder_begin_array(json);
  for (guint i = 0; i < values->len; ++i) {
    json_builder_add_double_value(json, g_array_index(values, double, i));
  }
  json_builder_end_array(json);
}

static void member_double(JsonBuilder *json, const char *name, double value) {
  json_builder_set_member_name(json, name);
  json_builder_add_double_value(json, value);
}

static void member_string(JsonBuilder *json, const char *name, const char *value) {
  json_builder_set_member_name(json, name);
  if (value != NULL) {
    json_builder_add_string_value(json, value);
  } else {
    json_builder_add_null_value(json);
  }
}

static void add_fact(JsonObject *object, const gchar *name, JsonNode *node, gpointer json) {
  (void)object;
  json_builder_set_member_name(json, name);
  json_builder_add_value(json, json_node_copy(node));
}

static void add_point(JsonBuilder *json, const leati_result_point *point) {
  json_builder_begin_object(json);
  member_string(json, "measurement", point->measurement);
  member_string(json, "variant", point->variant);
  member_string(json, "setting", point->setting);
  json_builder_set_member_name(json, "threads");
  json_builder_add_int_value(json, point->threads);
  member_string(json, "unit", point->unit);
  if (point->values->len > 0) {
    member_double(json, "median", leati_median(point->values));
    member_double(json, "lowest", extreme(point->values, FALSE));
    member_double(json, "highest", extreme(point->values, TRUE));
  }
  member_array(json, "samples", point->values);
  if (point->p50_us->len > 0) {
    member_double(json, "p50_us", leati_median(point->p50_us));
    member_double(json, "p99_us", leati_median(point->p99_us));
    member_double(json, "cpu_us", leati_median(point->cpu_us));
    member_double(json, "thread_cpu_us", leati_median(point->thread_cpu_us));
    member_array(json, "p50_us_samples", point->p50_us);
    member_array(json, "p99_us_samples", point->p99_us);
    member_array(json, "cpu_us_samples", point->cpu_us);
    member_array(json, "thread_cpu_us_samples", point->thread_cpu_us);
  }
  if (point->base != NULL) {
    member_string(json, "ratio_to", point->base);
    member_double(json, "ratio", leati_median(point->ratios));
    member_array(json, "ratio_samples", point->ratios);
  }
  json_builder_set_member_name(json, "facts");
  json_builder_begin_object(json);
  json_object_foreach_member(point->facts, add_fact, json);
  json_builder_end_object(json);
  json_builder_end_object(json);
}

void leati_results_json(const leati_results *results, JsonBuilder *json) {
  json_builder_begin_array(json);
  for (guint i = 0; i < results->points->len; ++i) {
    add_point(json, g_ptr_array_index(results->points, i));
  }
  json_builder_end_array(json);
}
