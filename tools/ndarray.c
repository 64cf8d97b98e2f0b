/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndarray.h"

#include <string.h>

#include "fault.h"

gboolean leati_ndarray_wrap(leati_element element, size_t rank, const int64_t *dims, void *data, leati_ndarray *out,
                            GError **error) {
  if (rank > LEATI_NDARRAY_RANK_MAX) {
    LEATI_FAULT_SET(error, "%" G_GSIZE_FORMAT " dimensions are more than the %d that are handled", rank,
                    LEATI_NDARRAY_RANK_MAX);
    return FALSE;
  }
  size_t count = 1;
  gboolean fits = TRUE;
  gboolean empty = FALSE;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) {
      LEATI_FAULT_SET(error, "dimension %" G_GSIZE_FORMAT " is negative", i);
      return FALSE;
    }
    empty = empty || dims[i] == 0;
    /* A zero among huge sizes makes the whole empty, so overflow decides only after all were seen. */
    fits = fits && (dims[i] == 0 || g_size_checked_mul(&count, count, (size_t)dims[i]));
  }
  count = empty ? 0 : count;
  size_t bytes = 0;
  if (!empty && (!fits || !g_size_checked_mul(&bytes, count, leati_element_size(element)) || bytes > G_MAXSSIZE)) {
    char *shape = leati_shape_text(dims, rank);
    LEATI_FAULT_SET(error, "a tensor of %s%s does not fit this machine's address space", leati_element_name(element),
                    shape);
    g_free(shape);
    return FALSE;
  }
  *out = (leati_ndarray){.element = element, .rank = rank, .count = count, .bytes = bytes, .data = data};
  if (rank > 0) {
    memcpy(out->dims, dims, rank * sizeof(*dims));
  }
  return TRUE;
}

leati_ndarray *leati_ndarray_new(leati_element element, size_t rank, const int64_t *dims, GError **error) {
  leati_ndarray array;
  if (!leati_ndarray_wrap(element, rank, dims, NULL, &array, error)) {
    return NULL;
  }
  array.data = g_try_malloc0(array.bytes != 0 ? array.bytes : 1);
  if (array.data == NULL) {
    LEATI_FAULT_SET(error, "no memory for a tensor of %" G_GSIZE_FORMAT " bytes", array.bytes);
    return NULL;
  }
  return g_memdup2(&array, sizeof(array));
}

void leati_ndarray_free(leati_ndarray *array) {
  if (array != NULL) {
    g_free(array->data);
    g_free(array);
  }
}

char *leati_shape_text(const int64_t *dims, size_t rank) {
  GString *text = g_string_new("[");
  for (size_t i = 0; i < rank; ++i) {
    if (i != 0) {
      g_string_append_c(text, ',');
    }
    if (dims[i] < 0) {
      g_string_append_c(text, '?');
    } else {
      g_string_append_printf(text, "%" G_GINT64_FORMAT, dims[i]);
    }
  }
  g_string_append_c(text, ']');
  return g_string_free(text, FALSE);
}
