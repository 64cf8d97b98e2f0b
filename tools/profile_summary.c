/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_summary.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include "fault.h"
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

/* A node's name, or its number where it has none. */
static char *node_text(JsonObject *arguments) {
  const char *name = json_object_get_string_member_with_default(arguments, "node name", "");
  return *name != '\0' ? g_strdup(name)
                       : g_strdup_printf("node %" G_GINT64_FORMAT, json_object_get_int_member(arguments, "node"));
}

static void add_event(JsonObject *event, GHashTable *operators, GHashTable *nodes) {
  const char *kind = json_object_get_string_member_with_default(event, "cat", "");
  if (!g_str_equal(kind, "kernel") && !g_str_equal(kind, "copy")) {
    return;
  }
  const char *op = json_object_get_string_member_with_default(event, "name", "");
  const double us = json_object_get_double_member_with_default(event, "dur", 0.0);
  JsonObject *arguments = json_object_get_object_member(event, "args");
  add(operators, op, NULL, us);
  if (arguments != NULL && json_object_has_member(arguments, "node")) {
    add(nodes, op, node_text(arguments), us);
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

/* The sums as a table, `most` rows of it. */
static char *table_text(GHashTable *sums, const char *const *heading, double all, guint most) {
  leati_table *table = leati_table_new(heading);
  GPtrArray *sorted = g_ptr_array_new();
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, sums);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    g_ptr_array_add(sorted, value);
  }
  g_ptr_array_sort(sorted, compare);
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

/* Both tables of what was summed up. */
static char *summary(const char *path, GHashTable *operators, GHashTable *nodes) {
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
  return g_string_free(text, FALSE);
}

char *leati_profile_summary_text(const char *path, GError **error) {
  JsonParser *parser = json_parser_new();
  char *text = NULL;
  if (json_parser_load_from_file(parser, path, error)) {
    JsonNode *root = json_parser_get_root(parser);
    JsonObject *object = root != NULL && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
    JsonNode *events = object != NULL ? json_object_get_member(object, "traceEvents") : NULL;
    if (events != NULL && JSON_NODE_HOLDS_ARRAY(events)) {
      GHashTable *operators = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, sum_free);
      GHashTable *nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, sum_free);
      JsonArray *array = json_node_get_array(events);
      for (guint i = 0; i < json_array_get_length(array); ++i) {
        add_event(json_array_get_object_element(array, i), operators, nodes);
      }
      text = summary(path, operators, nodes);
      g_hash_table_unref(operators);
      g_hash_table_unref(nodes);
    } else {
      LEATI_FAULT_SET(error, "%s: no trace: it has no list of events", path);
    }
  }
  g_object_unref(parser);
  return text;
}
