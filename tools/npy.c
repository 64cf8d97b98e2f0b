/* SPDX-License-Identifier: BSD-3-Clause */
#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "user_file.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6

/* Longer headers exist only for structured types, which are not read. */
#define HEADER_MAX 65535

typedef struct type_code {
  const char *code; /* without the byte order */
  leati_element element;
} type_code;

static const type_code kTypes[] = {
    {"f4", LEATI_FLOAT32}, {"f8", LEATI_FLOAT64}, {"f2", LEATI_FLOAT16}, {"i1", LEATI_INT8},
    {"i2", LEATI_INT16},   {"i4", LEATI_INT32},   {"i8", LEATI_INT64},   {"u1", LEATI_UINT8},
    {"u2", LEATI_UINT16},  {"u4", LEATI_UINT32},  {"u8", LEATI_UINT64},  {"b1", LEATI_BOOL},
};

/* A place in the header; the header itself is not terminated by a zero. */
typedef struct cursor {
  const char *at;
  const char *end;
} cursor;

typedef struct header {
  gboolean has_type, has_order, has_shape;
  leati_element element;
  size_t rank;
  int64_t dims[LEATI_NDARRAY_RANK_MAX];
} header;

static void skip_spaces(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n')) {
    ++c->at;
  }
}

static gboolean take(cursor *c, char wanted) {
  skip_spaces(c);
  if (c->at == c->end || *c->at != wanted) {
    return FALSE;
  }
  ++c->at;
  return TRUE;
}

static gboolean take_word(cursor *c, const char *word) {
  const size_t length = strlen(word);
  skip_spaces(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) {
    return FALSE;
  }
  c->at += length;
  return TRUE;
}

/* A quoted string without escapes, up to 31 characters of printable ASCII: more than any key or type code needs. */
static gboolean take_string(cursor *c, char out[32]) {
  skip_spaces(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) {
    return FALSE;
  }
  const char quote = *c->at++;
  size_t length = 0;
  while (c->at < c->end && *c->at != quote) {
    if (length == 31 || !g_ascii_isprint(*c->at) || *c->at == '\\') {
      return FALSE;
    }
    out[length++] = *c->at++;
  }
  out[length] = '\0';
  return c->at < c->end && *c->at++ == quote;
}

static gboolean take_size(cursor *c, int64_t *out) {
  skip_spaces(c);
  uint64_t value = 0;
  const char *first = c->at;
  while (c->at < c->end && g_ascii_isdigit(*c->at)) {
    if (value > (uint64_t)(G_MAXINT64 - 9) / 10) {
      return FALSE;
    }
    value = value * 10 + (uint64_t)(*c->at++ - '0');
  }
  *out = (int64_t)value;
  return c->at != first;
}

static gboolean parse_type(cursor *c, header *out, GError **error) {
  char code[32];
  if (!take_string(c, code)) {
    LEATI_FAULT_SET(error, "the header's 'descr' is not a plain type (structured types are not read)");
    return FALSE;
  }
  if (code[0] == '>') {
    LEATI_FAULT_SET(error, "the elements are big-endian (%s); save them as array.astype(array.dtype.newbyteorder('<'))",
                    code);
    return FALSE;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(kTypes); ++i) {
    const gboolean order_is_right = code[0] == '<' || (code[0] == '|' && leati_element_size(kTypes[i].element) == 1);
    if (order_is_right && strcmp(code + 1, kTypes[i].code) == 0) {
      out->element = kTypes[i].element;
      out->has_type = TRUE;
      return TRUE;
    }
  }
  LEATI_FAULT_SET(error,
                  "elements of type '%s' are not read; bool, int8 to int64, uint8 to uint64 and float16 to "
                  "float64 are",
                  code);
  return FALSE;
}

static gboolean parse_order(cursor *c, header *out, GError **error) {
  if (take_word(c, "False")) {
    out->has_order = TRUE;
    return TRUE;
  }
  if (take_word(c, "True")) {
    LEATI_FAULT_SET(error, "the array is in Fortran order; save numpy.ascontiguousarray(array)");
  } else {
    LEATI_FAULT_SET(error, "the header's 'fortran_order' is neither True nor False");
  }
  return FALSE;
}

static gboolean parse_shape(cursor *c, header *out, GError **error) {
  gboolean right = take(c, '(');
  gboolean comma = TRUE;
  out->rank = 0;
  while (right && !take(c, ')')) {
    /* Python writes (3,) for one dimension: a comma after each but, from two on, the last. */
    right = comma && out->rank < LEATI_NDARRAY_RANK_MAX && take_size(c, &out->dims[out->rank]);
    out->rank += right ? 1 : 0;
    comma = take(c, ',');
  }
  if (!right || (out->rank == 1 && !comma)) {
    LEATI_FAULT_SET(error, "the header's 'shape' is not a tuple of at most %d whole numbers", LEATI_NDARRAY_RANK_MAX);
    return FALSE;
  }
  out->has_shape = TRUE;
  return TRUE;
}

static gboolean parse_header(const char *text, size_t size, header *out, GError **error) {
  cursor c = {text, text + size};
  gboolean more = take(&c, '{');
  gboolean closed = FALSE;
  *out = (header){0};
  while (more && !closed) {
    char key[32];
    closed = take(&c, '}');
    if (closed) {
      break;
    }
    more = take_string(&c, key) && take(&c, ':');
    if (!more) {
      break;
    }
    gboolean *const seen = strcmp(key, "descr") == 0           ? &out->has_type
                           : strcmp(key, "fortran_order") == 0 ? &out->has_order
                           : strcmp(key, "shape") == 0         ? &out->has_shape
                                                               : NULL;
    if (seen == NULL || *seen) {
      LEATI_FAULT_SET(error, "the header has the key '%s' %s", key, seen == NULL ? "that it should not have" : "twice");
      return FALSE;
    }
    if (!(seen == &out->has_type    ? parse_type(&c, out, error)
          : seen == &out->has_order ? parse_order(&c, out, error)
                                    : parse_shape(&c, out, error))) {
      return FALSE;
    }
    if (!take(&c, ',')) {
      closed = take(&c, '}');
      more = closed;
    }
  }
  skip_spaces(&c);
  if (!closed || c.at != c.end) {
    LEATI_FAULT_SET(error, "the header is not the dictionary that numpy.save writes");
    return FALSE;
  }
  if (!out->has_type || !out->has_order || !out->has_shape) {
    LEATI_FAULT_SET(error, "the header lacks the key '%s'",
                    !out->has_type    ? "descr"
                    : !out->has_order ? "fortran_order"
                                      : "shape");
    return FALSE;
  }
  return TRUE;
}

gboolean leati_npy_is(const void *bytes, size_t size) {
  return size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

leati_ndarray *leati_npy_parse(const void *bytes, size_t size, GError **error) {
  const unsigned char *file = bytes;
  if (!leati_npy_is(bytes, size)) {
    LEATI_FAULT_SET(error, "not a .npy file: it does not begin with the bytes 93 'NUMPY'");
    return NULL;
  }
  /* Versions 2 and 3 differ from 1 in a header length of four bytes instead of two. */
  const size_t prefix = size > MAGIC_SIZE && file[MAGIC_SIZE] == 1 ? 10 : 12;
  if (size < prefix) {
    LEATI_FAULT_SET(error, "cut short: %" G_GSIZE_FORMAT " bytes do not hold the start of a .npy header", size);
    return NULL;
  }
  if (file[6] < 1 || file[6] > 3 || file[7] != 0) {
    LEATI_FAULT_SET(error, ".npy version %d.%d is not known; 1.0, 2.0 and 3.0 are", file[6], file[7]);
    return NULL;
  }
  size_t length = (size_t)file[8] | (size_t)file[9] << 8;
  if (prefix == 12) {
    length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
  }
  if (length > HEADER_MAX || length > size - prefix) {
    LEATI_FAULT_SET(error, "the header says that it is %" G_GSIZE_FORMAT " bytes long, %s", length,
                    length > HEADER_MAX ? "longer than any header of a plain array"
                                        : "longer than the file: it is cut short or damaged");
    return NULL;
  }
  header head;
  if (!parse_header((const char *)file + prefix, length, &head, error)) {
    return NULL;
  }
  leati_ndarray shape;
  if (!leati_ndarray_wrap(head.element, head.rank, head.dims, NULL, &shape, error)) {
    return NULL;
  }
  const size_t data = size - prefix - length;
  if (data != shape.bytes) {
    char *text = leati_shape_text(head.dims, head.rank);
    LEATI_FAULT_SET(
        error, "%s%s needs %" G_GSIZE_FORMAT " bytes of elements, the file has %" G_GSIZE_FORMAT ": it is %s",
        leati_element_name(head.element), text, shape.bytes, data, data < shape.bytes ? "cut short" : "too long");
    g_free(text);
    return NULL;
  }
  leati_ndarray *array = leati_ndarray_new(head.element, head.rank, head.dims, error);
  if (array != NULL && array->bytes != 0) {
    memcpy(array->data, file + prefix + length, array->bytes);
  }
  return array;
}

static gboolean write_float32(FILE *file, const leati_ndarray *array) {
  for (size_t i = 0; i < array->count; ++i) {
    const float value = (float)leati_element_read(array->element, array->data, i);
    if (fwrite(&value, sizeof(value), 1, file) != 1) {
      return FALSE;
    }
  }
  return TRUE;
}

gboolean leati_npy_write(const char *path, const leati_ndarray *array, GError **error) {
  const leati_element element = array->element == LEATI_BFLOAT16 ? LEATI_FLOAT32 : array->element;
  const char *code = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(kTypes); ++i) {
    code = kTypes[i].element == element ? kTypes[i].code : code;
  }
  GString *head = g_string_new(NULL);
  g_string_append_printf(head, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                         leati_element_size(element) == 1 ? '|' : '<', code);
  for (size_t i = 0; i < array->rank; ++i) {
    g_string_append_printf(head, "%s%" G_GINT64_FORMAT "%s", i == 0 ? "" : " ", array->dims[i],
                           i + 1 < array->rank || array->rank == 1 ? "," : "");
  }
  g_string_append(head, "), }");
  /* The elements begin at a multiple of 64, so that the file can be mapped; the header ends with a line feed. */
  while ((10 + head->len + 1) % 64 != 0) {
    g_string_append_c(head, ' ');
  }
  g_string_append_c(head, '\n');
  const unsigned char prefix[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(head->len & 0xff), (unsigned char)(head->len >> 8)};

  FILE *file = leati_user_file_create(path, error);
  if (file == NULL) {
    g_string_free(head, TRUE);
    return FALSE;
  }
  gboolean right = fwrite(prefix, sizeof(prefix), 1, file) == 1 && fwrite(head->str, head->len, 1, file) == 1 &&
                   (element != array->element ? write_float32(file, array)
                                              : array->bytes == 0 || fwrite(array->data, array->bytes, 1, file) == 1);
  int reason = errno;
  if (fclose(file) != 0) {
    reason = right ? errno : reason;
    right = FALSE;
  }
  if (!right) {
    /* What is there already must not be taken for an output. */
    (void)!truncate(path, 0);
    LEATI_FAULT_SET(error, "cannot write %s: %s", path, g_strerror(reason));
  }
  g_string_free(head, TRUE);
  return right;
}
