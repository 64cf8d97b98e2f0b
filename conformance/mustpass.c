/* SPDX-License-Identifier: BSD-3-Clause */
#include "mustpass.h"

#include <string.h>

#include "file.h"

char **leati_mustpass_built_in(const GPtrArray *cases) {
  /* CMake writes the names of mustpass/1.*.txt as string literals. */
  static const char *const core[] = {
#include "mustpass_core.inc"
  };
  GPtrArray *names = g_ptr_array_new();
  for (size_t i = 0; i < G_N_ELEMENTS(core); ++i) {
    g_ptr_array_add(names, g_strdup(core[i]));
  }
  for (guint i = 0; i < cases->len; ++i) {
    const leat_case *one = cases->pdata[i];
    if (one->profile == LEAT_PROFILE_OPERATORS) {
      g_ptr_array_add(names, g_strdup(one->name));
    }
  }
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

char **leati_mustpass_read(const char *path, GError **error) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  char **lines = leati_file_lines(path, error);
  if (lines == NULL) {
    g_ptr_array_unref(names);
    return NULL;
  }
  for (char **line = lines; *line != NULL; ++line) {
    char *comment = strchr(*line, '#');
    if (comment != NULL) {
      *comment = '\0';
    }
    g_strstrip(*line);
    if (**line != '\0') {
      g_ptr_array_add(names, g_strdup(*line));
    }
  }
  g_strfreev(lines);
  if (names->len == 0) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: names no case; write one name a line", path);
    g_ptr_array_unref(names);
    return NULL;
  }
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}
