/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_value.h"

#include <math.h>
#include <string.h>

#include "fault.h"

leati_named_value *leati_named_value_parse(const char *text, GError **error) {
  const char *sign = strchr(text, '=');
  if (sign == NULL || sign == text) {
    LEATI_FAULT_SET(error, "'%s' is not NAME=VALUE", text);
    return NULL;
  }
  leati_named_value *named = g_new0(leati_named_value, 1);
  named->name = g_strndup(text, (size_t)(sign - text));
  named->value = g_strdup(sign + 1);
  return named;
}

void leati_named_value_free(leati_named_value *named) {
  if (named != NULL) {
    g_free(named->name);
    g_free(named->value);
    g_free(named);
  }
}

gboolean leati_parse_whole(const char *text, int64_t low, int64_t high, int64_t *out, GError **error) {
  gint64 value = 0;
  if (!g_ascii_string_to_signed(text, 10, low, high, &value, NULL)) {
    LEATI_FAULT_SET(error, "'%s' is not a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, text, low,
                    high);
    return FALSE;
  }
  *out = value;
  return TRUE;
}

gboolean leati_whole_option_read(const leati_whole_option *option, GError **error) {
  if (option->text != NULL && !leati_parse_whole(option->text, option->low, option->high, option->out, error)) {
    g_prefix_error(error, "--%s: ", option->name);
    return FALSE;
  }
  return TRUE;
}

/* g_ascii_strtod() skips leading spaces, which nobody means to type. */
static gboolean read_finite(const char *text, const char **end, double *out) {
  char *stop = NULL;
  *out = g_ascii_strtod(text, &stop);
  *end = stop;
  return stop != text && !g_ascii_isspace(*text) && isfinite(*out);
}

gboolean leati_parse_number(const char *text, double low, double *out, GError **error) {
  const char *end = NULL;
  if (!read_finite(text, &end, out) || *end != '\0' || *out < low) {
    LEATI_FAULT_SET(error, "'%s' is not a number of at least %g", text, low);
    return FALSE;
  }
  return TRUE;
}

gboolean leati_parse_range(const char *text, double *low, double *high, GError **error) {
  const char *end = NULL;
  if (!read_finite(text, &end, low) || *end != ':' || !read_finite(end + 1, &end, high) || *end != '\0' ||
      *low > *high) {
    LEATI_FAULT_SET(error, "'%s' is not LOW:HIGH with two numbers, the lower one first, such as 0:99", text);
    return FALSE;
  }
  return TRUE;
}

gboolean leati_parse_shape(const char *text, int64_t *dims, size_t most, size_t *rank, GError **error) {
  char **parts = g_strsplit(text, ",", -1);
  const size_t count = g_strv_length(parts);
  gboolean right = count > 0 && count <= most;
  for (size_t i = 0; right && i < count; ++i) {
    right = leati_parse_whole(parts[i], 0, INT64_C(1) << 31, &dims[i], NULL);
  }
  g_strfreev(parts);
  if (!right) {
    LEATI_FAULT_SET(error, "'%s' is not a shape: at most %" G_GSIZE_FORMAT " sizes with commas between, such as 1,64",
                    text, most);
    return FALSE;
  }
  *rank = count;
  return TRUE;
}
