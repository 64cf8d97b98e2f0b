/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a person types after an option: NAME=VALUE, whole numbers, ranges and shapes. Strict: the whole text must match.
 */
#ifndef LEAT_TOOLS_OPTION_VALUE_H_
#define LEAT_TOOLS_OPTION_VALUE_H_

#include <glib.h>
#include <stdint.h>

/** NAME=VALUE as typed. */
typedef struct leati_named_value {
  char *name;    /**< not empty */
  char *value;   /**< may be empty */
  gboolean used; /**< set by whoever finds the thing named, so that a name that fits nothing can be told */
} leati_named_value;

/** Splits at the first "=".
 * @threads any
 * @return [owned: release with leati_named_value_free] NULL with @p error set if there is no name or no "=" */
leati_named_value *leati_named_value_parse(const char *text, GError **error);

/** Frees one; NULL is allowed. */
void leati_named_value_free(leati_named_value *named);

/** A whole number from @p low to @p high.
 * @threads any
 * @return FALSE with @p error set, saying what is allowed */
gboolean leati_parse_whole(const char *text, int64_t low, int64_t high, int64_t *out, GError **error);

/** An option of one whole number. */
typedef struct leati_whole_option {
  const char *name; /**< without dashes */
  char *text;       /**< [owned] as typed, or NULL */
  int64_t low, high;
  int64_t *out;
} leati_whole_option;

/** Reads what was typed into `*out`, which stays as it is if nothing was.
 * @threads any
 * @return FALSE with @p error set, naming the option and what is allowed */
gboolean leati_whole_option_read(const leati_whole_option *option, GError **error);

/** A finite number of at least @p low.
 * @threads any */
gboolean leati_parse_number(const char *text, double low, double *out, GError **error);

/** LOW:HIGH, both finite, LOW not above HIGH.
 * @threads any */
gboolean leati_parse_range(const char *text, double *low, double *high, GError **error);

/** Sizes with commas between, each from 0 to 2^31.
 * @threads any
 * @param dims [out] room for @p most sizes
 * @param rank [out] how many there are, at least 1 */
gboolean leati_parse_shape(const char *text, int64_t *dims, size_t most, size_t *rank, GError **error);

#endif /* LEAT_TOOLS_OPTION_VALUE_H_ */
