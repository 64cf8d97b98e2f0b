/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: texts that a user writes. */
#include "core/config.c"

#include "outside.h"

/* Characters of a text. */
#define LENGTH 8

size_t strspn(const char *text, const char *accepted) {
  /* The digits, which are all that is asked for here. */
  PROVE(accepted[0] == '0' && accepted[9] == '9');
  size_t length = 0;
  while (text[length] >= '0' && text[length] <= '9') {
    ++length;
  }
  return length;
}

long long strtoll(const char *text, char **end, int base) {
  PROVE(end == NULL && base == 10);
  long long value = 0;
  for (const char *c = text + (text[0] == '-'); *c >= '0' && *c <= '9'; ++c) {
    value = value * 10 + (*c - '0');
  }
  return text[0] == '-' ? -value : value;
}

/* Any text of so many characters at most, at the end of its memory. */
static void any_text(char text[LENGTH + 1]) {
  text[LENGTH] = '\0';
}

/* A number is taken if it is nothing but digits, with or without a minus, and within its limits.
 * UNWIND 11
 * MISTAKE plugin/core/config.c: `digits[0] == '\0' || digits[strspn` becomes `digits[strspn`
 * MISTAKE plugin/core/config.c: `(double)value > self->most` becomes `(double)value > self->most + 1` */
void prove_a_number_is_what_it_looks_like(void) {
  char text[LENGTH + 1];
  any_text(text);
  const variable self = {.least = -1, .most = 100};
  int64_t value = 1000;
  if (parse_whole(&self, text, &value)) {
    PROVE(value >= -1 && value <= 100);
    PROVE((text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && text[1] >= '0' && text[1] <= '9'));
  } else {
    PROVE(value == 1000);
  }
}

/* A folder is an absolute path that fits its field, and does not end with a slash unless it is one.
 * UNWIND 10
 * MISTAKE plugin/core/config.c: `length > 1 && path[length - 1] == '/'` becomes `path[length - 1] == '/'`
 * MISTAKE plugin/core/config.c: `if ((double)length > self->most)` becomes `if ((double)length > self->most + 1)` */
void prove_a_folder_fits_its_field(void) {
  char text[LENGTH + 1], *const field = malloc(LENGTH);
  any_text(text);
  ASSUME(field != NULL);
  const variable self = {.most = LENGTH - 1};
  if (parse_folder(&self, text, field)) {
    const size_t length = strlen(field);
    PROVE(length <= LENGTH - 1 && (length == 0 || field[0] == '/'));
    PROVE(length < 2 || field[length - 1] != '/');
    PROVE(text[0] != '/' || field[0] == '/');
  }
}

/* A message shows whole characters of UTF-8, and no more than there is room for.
 * UNWIND 10
 * MISTAKE plugin/core/config.c: `for (length = room; length > 0 &&` becomes `for (length = room; length > 1 &&`
 * MISTAKE plugin/core/config.c: `if (length > room) { for (length = room;` becomes
 * `if (length > room + 1) { for (length = room;` */
void prove_a_message_cuts_between_characters(void) {
  char text[LENGTH + 1];
  any_text(text);
  const size_t room = ANY(uint32_t) % LENGTH, length = strlen(text);
  const int shown = shown_length(text, room);
  PROVE(shown >= 0 && (size_t)shown <= room && (size_t)shown <= length);
  PROVE((size_t)shown == length || ((unsigned char)text[shown] & 0xc0u) != 0x80u || shown == 0);
}
