/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

struct leati_table {
  guint columns;
  GPtrArray *rows; /* char **, each of columns cells; the heading is the first */
};

leati_table *leati_table_new(const char *const *heading) {
  leati_table *table = g_new0(leati_table, 1);
  table->columns = g_strv_length((char **)heading);
  table->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  g_ptr_array_add(table->rows, g_strdupv((char **)heading));
  return table;
}

void leati_table_add(leati_table *table, char **cells) {
  char **row = g_new0(char *, table->columns + 1);
  for (guint i = 0; i < table->columns; ++i) {
    row[i] = g_utf8_make_valid(cells[i], -1);
    g_free(cells[i]);
  }
  g_ptr_array_add(table->rows, row);
}

char *leati_table_text(const leati_table *table) {
  glong *widths = g_new0(glong, table->columns);
  for (guint r = 0; r < table->rows->len; ++r) {
    char **row = g_ptr_array_index(table->rows, r);
    for (guint c = 0; c < table->columns; ++c) {
      widths[c] = MAX(widths[c], g_utf8_strlen(row[c], -1));
    }
  }
  GString *text = g_string_new(NULL);
  for (guint r = 0; r < table->rows->len; ++r) {
    char **row = g_ptr_array_index(table->rows, r);
    for (guint c = 0; c < table->columns; ++c) {
      const int padding = (int)(widths[c] - g_utf8_strlen(row[c], -1));
      if (c == 0) {
        g_string_append_printf(text, "%s%*s", row[c], padding, "");
      } else {
        g_string_append_printf(text, "  %*s%s", padding, "", row[c]);
      }
    }
    g_string_append_c(text, '\n');
  }
  g_free(widths);
  return g_string_free(text, FALSE);
}

void leati_table_free(leati_table *table) {
  if (table != NULL) {
    g_ptr_array_unref(table->rows);
    g_free(table);
  }
}
