/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#define WIDTH 110 /* columns of a line */

void leati_words_append(GString *out, glong column, guint indent, const char *text) {
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  for (char **word = words; *word; ++word) {
    const glong length = g_utf8_strlen(*word, -1);
    if (word != words && column + 1 + length > WIDTH) {
      g_string_append_printf(out, "\n%*s", (int)indent, "");
      column = (glong)indent;
    } else {
      g_string_append_c(out, ' ');
      ++column;
    }
    g_string_append(out, *word);
    column += length;
  }
  g_string_append_c(out, '\n');
}
