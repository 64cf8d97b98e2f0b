/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the primes of probes begin, and what they are multiplied by: a step for each magnitude that kernels treat in
 * another way, the most usual ones first, and one for what they read four elements at a time. */
typedef struct magnitude {
  int64_t from, times;
} magnitude;
static const magnitude steps[] = {{37, 1}, {127, 1}, {11, 1}, {2, 1}, {3, 1}, {5, 1}, {499, 1}, {23, 1}, {11, 4}};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* ---- Names --------------------------------------------------------------------------------------------------------
 */

static int find(const leati_dimensions *dimensions, const char *name, size_t length) {
  for (size_t i = 0; i < dimensions->count; ++i) {
    if (strncmp(dimensions->names[i], name, length) == 0 && dimensions->names[i][length] == '\0') {
      return (int)i;
    }
  }
  return -1;
}

/* Reads a whole number of up to ten digits, and no more than 2^31 - 1, that takes up `length` bytes. */
static bool read_size(const char *text, size_t length, int64_t *out) {
  *out = 0;
  for (size_t i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') {
      return false;
    }
    *out = 10 * *out + (text[i] - '0');
  }
  return length != 0 && length <= 10 && *out <= INT32_MAX;
}

/* Cuts spaces off both ends. */
static const char *trim(const char *text, size_t *inout_length) {
  while (*inout_length != 0 && *text == ' ') {
    text++;
    --*inout_length;
  }
  while (*inout_length != 0 && text[*inout_length - 1] == ' ') {
    --*inout_length;
  }
  return text;
}

int64_t leati_dimensions_size(const leati_dimensions *dimensions, const char *name) {
  const int whole = find(dimensions, name, strlen(name));
  int64_t sum = 0;
  if (whole >= 0) {
    return dimensions->sizes[whole];
  }
  for (const char *at = name; at != NULL; at = strchr(at, '+') != NULL ? strchr(at, '+') + 1 : NULL) {
    size_t length = strcspn(at, "+");
    const char *term = trim(at, &length);
    int64_t size;
    if (!read_size(term, length, &size)) {
      const int index = find(dimensions, term, length);
      size = index >= 0 ? dimensions->sizes[index] : -1;
    }
    if (size < 0 || sum > INT32_MAX) {
      return -1;
    }
    sum += size;
  }
  return sum;
}

void leati_dimensions_add(leati_dimensions *dimensions, const char *name) {
  if (dimensions->count == 0) {
    dimensions->sum = -1;
  }
  if (dimensions->count < LEATI_DIMENSIONS_MAX && leati_dimensions_size(dimensions, name) < 0) {
    dimensions->names[dimensions->count] = name;
    dimensions->sizes[dimensions->count++] = 0;
  }
}

void leati_dimensions_list(const leati_dimensions *dimensions, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < dimensions->count && used < size; ++i) {
    used += (size_t)snprintf(text + used, size - used, "%s%s", i != 0 ? ", " : "", dimensions->names[i]);
  }
}

/* ---- Probes -------------------------------------------------------------------------------------------------------
 */

static bool has_sum(const leati_dimensions *dimensions) {
  return dimensions->count != 0 && dimensions->sum >= 0;
}

static bool is_sum(const leati_dimensions *dimensions, size_t index) {
  return has_sum(dimensions) && dimensions->sum == (int)index;
}

static bool is_prime(int64_t number) {
  bool is = number > 1;
  for (int64_t divisor = 2; divisor * divisor <= number && is; ++divisor) {
    is = number % divisor != 0;
  }
  return is;
}

/* The size of a name in a step: no two names have the same, and none but those of the last step is a multiple of what
 * kernels compute at once. */
static int64_t size_in(const magnitude *step, size_t name) {
  int64_t prime = step->from;
  while (!is_prime(prime) || name-- != 0) {
    prime++;
  }
  return prime * step->times;
}

/* How many names have 1 in some probes. */
static size_t probed(const leati_dimensions *dimensions) {
  const size_t count = dimensions->count - has_sum(dimensions);
  return count < LEATI_PROBED_MAX ? count : LEATI_PROBED_MAX;
}

size_t leati_probe_count(const leati_dimensions *dimensions) {
  const size_t subsets = (size_t)1 << probed(dimensions);
  return (subsets - 1) * STEPS + 1;
}

/* Each step has all subsets of the names that are 1 but the whole one, which comes behind the first step. */
void leati_probe_set(leati_dimensions *dimensions, size_t index) {
  const size_t varying = probed(dimensions), parts = ((size_t)1 << varying) - 1;
  const bool whole = index == parts;
  const size_t behind = index - (index > parts);
  const size_t ones = whole ? parts : behind % parts;
  const magnitude *step = &steps[whole ? 0 : behind / parts];
  size_t bit = 0;
  for (size_t i = 0; i < dimensions->count; ++i) {
    const bool varies = !is_sum(dimensions, i) && bit < varying;
    dimensions->sizes[i] = varies && (ones >> bit & 1) != 0 ? 1 : size_in(step, i);
    bit += varies;
  }
  if (has_sum(dimensions)) {
    const int *of = dimensions->sum_of;
    dimensions->sizes[dimensions->sum] = dimensions->sizes[of[0]] + (of[1] >= 0 ? dimensions->sizes[of[1]] : 0);
  }
}

/* ---- The option ---------------------------------------------------------------------------------------------------
 */

/* One NAME=SIZE: a name may have any characters but '=', ',' and ';'. */
typedef struct pair {
  const char *name;
  size_t length;
  int64_t size;
} pair;

/* Reads one; the rest begins with ',' or ';', or is empty. NULL: there is none. */
static const char *read_pair(const char *text, pair *out) {
  const size_t name = strcspn(text, "=,;");
  if (text[name] != '=') {
    return NULL;
  }
  const char *number = text + name + 1;
  const size_t whole = strcspn(number, "=,;");
  size_t digits = whole;
  out->length = name;
  out->name = trim(text, &out->length);
  const char *trimmed = trim(number, &digits);
  if (out->length == 0 || number[whole] == '=' || !read_size(trimmed, digits, &out->size)) {
    return NULL;
  }
  return number + whole;
}

bool leati_warm_shapes_valid(const char *text) {
  size_t sets = 1;
  if (strcmp(text, "probe") == 0 || strcmp(text, "none") == 0) {
    return true;
  }
  for (const char *at = text; at != NULL;) {
    pair it;
    at = read_pair(at, &it);
    if (at == NULL) {
      return false;
    }
    if (*at == '\0') {
      return sets <= LEATI_WARM_SETS_MAX;
    }
    sets += *at++ == ';';
  }
  return false;
}

const char *leati_warm_shapes_next(const char *text, leati_dimensions *dimensions, char *why, size_t size) {
  char known[256];
  leati_dimensions_list(dimensions, known, sizeof(known));
  for (size_t i = 0; i < dimensions->count; ++i) {
    dimensions->sizes[i] = -1;
  }
  for (const char *at = text;;) {
    pair it;
    at = read_pair(at, &it);
    const int index = find(dimensions, it.name, it.length);
    if (index < 0 || dimensions->sizes[index] >= 0) {
      snprintf(why, size,
               index < 0 ? "the model has no dimension '%.*s'; it has %s" : "dimension '%.*s' is there twice%s",
               (int)it.length, it.name,
               index >= 0    ? ""
               : *known != 0 ? known
                             : "none that is open");
      return NULL;
    }
    dimensions->sizes[index] = it.size;
    const char end = *at;
    at += end != '\0';
    if (end == ',') {
      continue;
    }
    for (size_t i = 0; i < dimensions->count; ++i) {
      if (dimensions->sizes[i] < 0) {
        snprintf(why, size, "the set '%.*s' leaves out dimension '%s'; the model has %s", (int)strcspn(text, ";"), text,
                 dimensions->names[i], known);
        return NULL;
      }
    }
    return at;
  }
}
