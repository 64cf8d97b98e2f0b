/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <errno.h>
#include <report_html.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "user_file.h"

/* Where the data goes in the page. */
#define MARK "@DATA@"

/* The file that a path leads to, over links; as it is, if there is none.
 * @return [owned: release with g_free] */
static char *resolve(const char *path) {
  char *real = realpath(path, NULL);
  char *target = g_strdup(real != NULL ? real : path);
  free(real);
  return target;
}

/* A pipe or a device, which is written to and not replaced. */
static gboolean is_special(const char *path) {
  return g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

gboolean leati_page_check(const char *path, GError **error) {
  char *target = resolve(path);
  char *folder = g_path_get_dirname(target);
  const char *reason = NULL;
  if (*path == '\0') {
    reason = "it has no name";
  } else if (g_file_test(path, G_FILE_TEST_IS_DIR) || g_str_has_suffix(path, "/")) {
    reason = "it is a folder; the name of a file in it was expected";
  } else if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
    reason = "the folder that it is to be in does not exist";
  } else if ((g_file_test(target, G_FILE_TEST_EXISTS) && access(target, W_OK) != 0) ||
             (!is_special(target) && access(folder, W_OK) != 0)) {
    reason = g_strerror(errno);
  }
  if (reason != NULL) {
    LEATI_FAULT_SET(error, "--report %s: cannot be written: %s", path, reason);
  }
  g_free(folder);
  g_free(target);
  return reason == NULL;
}

/* The page with its data. No text in that may end the script that it stands in. */
static char *fill_in(const char *json) {
  const char *mark = strstr(leati_report_html, MARK);
  char **parts = g_strsplit(json, "<", -1);
  char *data = g_strjoinv("\\u003c", parts);
  char *before = g_strndup(leati_report_html, (gsize)(mark - leati_report_html));
  char *text = g_strconcat(before, data, mark + strlen(MARK), NULL);
  g_free(before);
  g_free(data);
  g_strfreev(parts);
  return text;
}

static gboolean write_to(const char *path, const char *text, GError **error) {
  FILE *file = leati_user_file_create(path, error);
  if (file == NULL) {
    return FALSE;
  }
  const gboolean written = fputs(text, file) >= 0 && fflush(file) == 0;
  const int reason = errno;
  fclose(file);
  if (!written) {
    LEATI_FAULT_SET(error, "%s", g_strerror(reason));
  }
  return written;
}

gboolean leati_page_write(const char *path, const char *json, GError **error) {
  char *text = fill_in(json);
  char *target = resolve(path);
  /* A new file takes the place of the old one when it is whole; a link stays one. */
  const gboolean right = is_special(target)
                             ? write_to(target, text, error)
                             : g_file_set_contents_full(target, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0666, error);
  if (!right) {
    g_prefix_error(error, "--report %s: cannot be written: ", path);
  }
  g_free(target);
  g_free(text);
  return right;
}
