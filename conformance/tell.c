/* SPDX-License-Identifier: BSD-3-Clause */
#include "tell.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

/* Set once before any case runs. */
static int result_fd = -1;

void leati_tell_to(int fd) {
  result_fd = fd;
}

static void write_all(int fd, const char *text, size_t size) {
  while (size > 0) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return; /* The runner is gone, and with it everyone who would read this. */
    }
    text += written;
    size -= (size_t)written;
  }
}

/* Says how a case ended, or why none can run, to a person: the words of a line for the runner. */
static void tell_person(const char *kind, char *const *words) {
  static const char *const kinds[][2] = {
      {"pass", "Pass"}, {"fail", "Fail"}, {"skip", "NotSupported"}, {"lack", "NotSupported"}};
  const guint count = g_strv_length((char **)words);
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); ++i) {
    if (g_str_equal(kind, kinds[i][0])) {
      g_printerr("%s %s%s%s\n", kinds[i][1], words[0], count > 1 ? ": " : "", count > 1 ? words[count - 1] : "");
      return;
    }
  }
  if (g_str_equal(kind, "error") || g_str_equal(kind, "defect")) {
    g_printerr("leat-conformance: %s\n", words[0]);
  }
}

void leati_tell(const char *kind, ...) {
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  GString *line = g_string_new(kind);
  va_list args;
  const char *word;
  va_start(args, kind);
  while ((word = va_arg(args, const char *)) != NULL) {
    char *valid = g_utf8_make_valid(word, -1);
    /* Bytes above 0x7f are kept: the text is UTF-8 and stays readable. */
    char *escaped = g_strescape(valid, NULL);
    g_string_append_printf(line, "\t%s", escaped);
    g_free(escaped);
    g_ptr_array_add(words, valid);
  }
  va_end(args);
  g_string_append_c(line, '\n');
  g_ptr_array_add(words, NULL);
  if (result_fd >= 0) {
    write_all(result_fd, line->str, line->len);
  } else {
    tell_person(kind, (char *const *)words->pdata);
  }
  g_ptr_array_unref(words);
  g_string_free(line, TRUE);
}

char **leati_tell_parse(const char *line) {
  char **words = g_strsplit(line, "\t", -1);
  for (char **word = words; *word != NULL; ++word) {
    char *plain = g_strcompress(*word);
    g_free(*word);
    *word = plain;
  }
  return words;
}
