/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of .npy files, of any bytes. */
#include <stdbool.h>

#include "tools/ndarray.h"

/* A shape has fewer sizes here, so that there are too many in a short text. */
#undef LEATI_NDARRAY_RANK_MAX
#define LEATI_NDARRAY_RANK_MAX 2
#include "tools/npy.c"

#include "outside.h"

/* Bytes of a header at most, but for that of a shape. */
#define LENGTH 8

/* GLib's table, as far as it is looked at here. */
static guint16 classes[256];
const guint16 *const g_ascii_table = classes;

void g_set_error(GError **error, GQuark domain, gint code, const gchar *format, ...) {
  (void)error;
  (void)domain;
  (void)code;
  (void)format;
}

GQuark g_quark_from_static_string(const gchar *text) {
  (void)text;
  return 1;
}

/* Fills the table. */
static void begin(void) {
  for (int c = ' '; c <= '~'; ++c) {
    classes[c] = c >= '0' && c <= '9' ? G_ASCII_PRINT | G_ASCII_DIGIT : G_ASCII_PRINT;
  }
}

/* Any header of up to so many bytes, at the end of its memory. */
static cursor any_header(const char *text, uint32_t length) {
  const uint32_t first = ANY(uint32_t);
  ASSUME(first <= length);
  begin();
  return (cursor){text + first, text + length};
}

/* A size that is read is what its digits say, and nothing behind the header is read.
 * UNWIND 9 LOOPS begin.0:96
 * MISTAKE tools/npy.c: `while (c->at < c->end && g_ascii_isdigit(*c->at))` becomes `while (g_ascii_isdigit(*c->at))`
 * MISTAKE tools/npy.c: `return c->at != first;` becomes `return TRUE;` */
void prove_a_size_is_read_to_the_end_of_its_header(void) {
  char text[LENGTH];
  cursor c = any_header(text, sizeof(text));
  int64_t size;
  if (take_size(&c, &size)) {
    PROVE(size >= 0 && c.at > text && c.at <= c.end && c.at[-1] >= '0' && c.at[-1] <= '9');
    PROVE(size % 10 == c.at[-1] - '0');
  }
}

/* A size is what its digits say up to the largest that there is, and no larger one is taken.
 * UNWIND 21 LOOPS begin.0:96
 * MISTAKE tools/npy.c: `(G_MAXINT64 - 9) / 10` becomes `(G_MAXINT64 - 9) / 10 + 1`
 * MISTAKE tools/npy.c: `value = value * 10 + (uint64_t)(*c->at++ - '0');` becomes
 * `value = value * 10 + (uint64_t)(*c->at++ - '0') % 9;` */
void prove_a_size_does_not_overflow(void) {
  /* The last four digits of the largest, 9223372036854775807, are open. */
  char digits[20] = "9223372036854770000";
  uint64_t value = UINT64_C(922337203685477);
  for (int i = 15; i < 19; ++i) {
    digits[i] = (char)('0' + (ANY(uint8_t) & 15));
    ASSUME(digits[i] <= '9');
    value = value * 10 + (uint64_t)(digits[i] - '0');
  }
  begin();
  cursor c = {digits, digits + 19};
  int64_t size;
  if (take_size(&c, &size)) {
    PROVE(size >= 0 && (uint64_t)size == value);
  } else {
    PROVE(value > INT64_MAX - 9);
  }
}

/* A word in quotes ends with a zero, has no quote and no backslash in it, and ends before its header does.
 * UNWIND 9 LOOPS begin.0:96
 * MISTAKE tools/npy.c: `while (c->at < c->end && *c->at != quote)` becomes `while (*c->at != quote)`
 * MISTAKE tools/npy.c: `return c->at < c->end && *c->at++ == quote;` becomes `return *c->at++ == quote;` */
void prove_a_word_ends_before_its_header(void) {
  char text[LENGTH], word[32];
  cursor c = any_header(text, sizeof(text));
  if (take_string(&c, word)) {
    const size_t length = strlen(word);
    PROVE(c.at <= c.end && length + 2 <= LENGTH && (c.at[-1] == '"' || c.at[-1] == '\''));
    PROVE(length == 0 || (word[0] >= ' ' && word[0] <= '~' && word[0] != '\\' && word[0] != c.at[-1]));
  }
}

/* A shape has no more sizes than there is room for, none of them negative, and a comma between each two.
 * UNWIND 7 LOOPS begin.0:96
 * MISTAKE tools/npy.c: `comma && out->rank < LEATI_NDARRAY_RANK_MAX && take_size` becomes `comma && take_size`
 * MISTAKE tools/npy.c: `right = comma && out->rank` becomes `right = out->rank` */
void prove_a_shape_has_room(void) {
  char text[6];
  cursor c = any_header(text, sizeof(text));
  header head;
  if (parse_shape(&c, &head, NULL)) {
    PROVE(head.rank <= LEATI_NDARRAY_RANK_MAX && c.at <= c.end && c.at[-1] == ')');
    size_t commas = 0;
    for (size_t i = 0; i < sizeof(text); ++i) {
      commas += text + i < c.at && text[i] == ',';
    }
    PROVE(head.rank <= commas + 1 && (head.rank == 0 || head.dims[0] >= 0));
  }
}
