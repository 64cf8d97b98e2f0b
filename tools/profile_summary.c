/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_summary.h"

#include <errno.h>
#include <glib/gstdio.h>

#include "fault.h"
#include "member.h"
#include "table.h"

/* Nodes that are listed. */
#define NODES_MAX 10u

gboolean leati_profile_summary_begin(const char *path, GError **error) {
  FILE *const file = g_fopen(path, "we");
  if (file == NULL) {
    LEATI_FAULT_SET(error, "--profile %s: cannot be written: %s", path, g_strerror(errno));
    return FALSE;
  }
  fclose(file);
  return TRUE;
}

/* What steps of one operator, or of one node, took together. */
typedef struct sum {
  char *op;
  char *node; /* number and name; NULL: of an operator, or of no node */
  guint64 count;
  double us;
} sum;

static void sum_free(gpointer data) {
  sum *const it = data;
  g_free(it->op);
  g_free(it->node);
  g_free(it);
}

/* Adds a step to the sum of its key; `node` is [owned: taken]. */
static void add(GHashTable *sums, const char *op, char *node, double us) {
  char *key = g_strdup_printf("%s\n%s", op, node != NULL ? node : "");
  sum *it = g_hash_table_lookup(sums, key);
  if (it == NULL) {
    it = g_new0(sum, 1);
    it->op = g_strdup(op);
    it->node = g_strdup(node);
    g_hash_table_insert(sums, g_strdup(key), it);
  }
  it->count += 1;
  it->us += us;
  g_free(key);
  g_free(node);
}

/* What a step ran for: its node's name, or its number where it has none; NULL: for no node. */
static char *node_of(JsonObject *event) {
  JsonObject *arguments = json_object_get_object_member(event, "args");
  if (arguments == NULL || !json_object_has_member(arguments, "node")) {
    return NULL;
  }
  const char *name = json_object_get_string_member_with_default(arguments, "node name", "");
  return *name != '\0' ? g_strdup(name)
                       : g_strdup_printf("node %" G_GINT64_FORMAT, json_object_get_int_member(arguments, "node"));
}

static gboolean is_step(JsonObject *event) {
  const char *kind = json_object_get_string_member_with_default(event, "cat", "");
  return g_str_equal(kind, "kernel") || g_str_equal(kind, "copy");
}

static const char *op_of(JsonObject *event) {
  return json_object_get_string_member_with_default(event, "name", "");
}

static double us_of(JsonObject *event) {
  return json_object_get_double_member_with_default(event, "dur", 0.0);
}

/* Pipelines that calls had to compile. */
typedef struct compiled {
  guint64 count;
  double us;
} compiled;

static void add_event(JsonObject *event, GHashTable *operators, GHashTable *nodes, compiled *pipelines) {
  if (g_str_equal(json_object_get_string_member_with_default(event, "cat", ""), "host") &&
      g_str_equal(op_of(event), "compile")) {
    pipelines->count += 1;
    pipelines->us += us_of(event);
  }
  if (!is_step(event)) {
    return;
  }
  add(operators, op_of(event), NULL, us_of(event));
  char *node = node_of(event);
  if (node != NULL) {
    add(nodes, op_of(event), node, us_of(event));
  }
}

/* Longest first; equal ones by name, so that the order is always the same. */
static gint compare(gconstpointer a, gconstpointer b) {
  const sum *const left = *(const sum *const *)a, *const right = *(const sum *const *)b;
  if (left->us != right->us) {
    return left->us < right->us ? 1 : -1;
  }
  const int by_op = g_strcmp0(left->op, right->op);
  return by_op != 0 ? by_op : g_strcmp0(left->node, right->node);
}

/* [owned: release with g_ptr_array_unref] The sums in order; they stay the table's. */
static GPtrArray *sort(GHashTable *sums) {
  GPtrArray *sorted = g_ptr_array_new();
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, sums);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    g_ptr_array_add(sorted, value);
  }
  g_ptr_array_sort(sorted, compare);
  return sorted;
}

/* The sums as a table, `most` rows of it. */
static char *table_text(GHashTable *sums, const char *const *heading, double all, guint most) {
  leati_table *table = leati_table_new(heading);
  GPtrArray *sorted = sort(sums);
  for (guint i = 0; i < MIN(sorted->len, most); ++i) {
    const sum *const it = g_ptr_array_index(sorted, i);
    char *cells[6];
    guint count = 0;
    if (it->node != NULL) {
      /* A name may hold anything, and a line is a line. */
      cells[count++] = g_strdup(it->node);
      for (char *c = cells[0]; *c != '\0'; ++c) {
        *c = g_ascii_iscntrl(*c) ? ' ' : *c;
      }
    }
    cells[count++] = g_strdup(it->op);
    cells[count++] = g_strdup_printf("%" G_GUINT64_FORMAT, it->count);
    cells[count++] = g_strdup_printf("%.3f", it->us / 1e3);
    cells[count++] = g_strdup_printf("%.1f", it->us / (double)it->count);
    cells[count++] = g_strdup_printf("%.1f", all > 0.0 ? 100.0 * it->us / all : 0.0);
    leati_table_add(table, cells);
  }
  char *text = leati_table_text(table);
  g_ptr_array_unref(sorted);
  leati_table_free(table);
  return text;
}

/* All that was summed up. */
static char *summary(const char *path, GHashTable *operators, GHashTable *nodes, const compiled *pipelines) {
  static const char *const by_operator[] = {"operator", "steps", "ms", "us each", "%", NULL};
  static const char *const by_node[] = {"node", "operator", "steps", "ms", "us each", "%", NULL};
  double all = 0.0;
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, operators);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    all += ((const sum *)value)->us;
  }
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "\ndevice time by operator, warm-ups included (%s has all of it)\n", path);
  char *table = table_text(operators, by_operator, all, G_MAXUINT);
  g_string_append(text, table);
  g_free(table);
  if (g_hash_table_size(nodes) != 0) {
    table = table_text(nodes, by_node, all, NODES_MAX);
    g_string_append(text, "\nnodes of graphs that took longest\n");
    g_string_append(text, table);
    g_free(table);
  }
  g_string_append_printf(text, "\nruns compiled %" G_GUINT64_FORMAT " pipelines, warm-ups included: %.3f ms\n",
                         pipelines->count, pipelines->us / 1e3);
  return g_string_free(text, FALSE);
}

/* The events of a trace; NULL with @p error set if the file has none. They live as long as @p parser. */
static JsonArray *load(JsonParser *parser, const char *path, GError **error) {
  if (!json_parser_load_from_file(parser, path, error)) {
    return NULL;
  }
  JsonNode *root = json_parser_get_root(parser);
  JsonObject *object = root != NULL && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
  JsonNode *events = object != NULL ? json_object_get_member(object, "traceEvents") : NULL;
  if (events == NULL || !JSON_NODE_HOLDS_ARRAY(events)) {
    LEATI_FAULT_SET(error, "%s: no trace: it has no list of events", path);
    return NULL;
  }
  return json_node_get_array(events);
}

static GHashTable *new_sums(void) {
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, sum_free);
}

char *leati_profile_summary_text(const char *path, GError **error) {
  JsonParser *parser = json_parser_new();
  JsonArray *events = load(parser, path, error);
  char *text = NULL;
  if (events != NULL) {
    GHashTable *operators = new_sums();
    GHashTable *nodes = new_sums();
    compiled pipelines = {0};
    for (guint i = 0; i < json_array_get_length(events); ++i) {
      add_event(json_array_get_object_element(events, i), operators, nodes, &pipelines);
    }
    text = summary(path, operators, nodes, &pipelines);
    g_hash_table_unref(operators);
    g_hash_table_unref(nodes);
  }
  g_object_unref(parser);
  return text;
}

JsonNode *leati_profile_summary_steps(const char *path, double from_us, double runs, GError **error) {
  JsonParser *parser = json_parser_new();
  JsonArray *events = load(parser, path, error);
  JsonNode *steps = NULL;
  if (events != NULL) {
    GHashTable *sums = new_sums();
    for (guint i = 0; i < json_array_get_length(events); ++i) {
      JsonObject *event = json_array_get_object_element(events, i);
      if (is_step(event) && json_object_get_double_member_with_default(event, "ts", 0.0) >= from_us) {
        add(sums, op_of(event), node_of(event), us_of(event));
      }
    }
    GPtrArray *sorted = sort(sums);
    JsonBuilder *json = json_builder_new();
    json_builder_begin_array(json);
    for (guint i = 0; i < sorted->len; ++i) {
      const sum *const it = g_ptr_array_index(sorted, i);
      json_builder_begin_array(json);
      leati_member_element(json, it->op);
      leati_member_element(json, it->node);
      json_builder_add_double_value(json, it->us / runs);
      json_builder_end_array(json);
    }
    json_builder_end_array(json);
    steps = json_builder_get_root(json);
    g_object_unref(json);
    g_ptr_array_unref(sorted);
    g_hash_table_unref(sums);
  }
  g_object_unref(parser);
  return steps;
}
