/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A constant by which the backend cuts kernels, as its report tells it under "tuning.".
 */
#ifndef LEAT_TOOLS_TUNING_VALUE_H_
#define LEAT_TOOLS_TUNING_VALUE_H_

#include <glib.h>

/** What it is, what it may be, and what it is where nobody says anything. */
typedef struct leati_tuning_value {
  guint value, least, most, standard;
} leati_tuning_value;

/** Reads the value of such a property; FALSE: it has another form. */
gboolean leati_tuning_value_read(const char *text, leati_tuning_value *out);

#endif /* LEAT_TOOLS_TUNING_VALUE_H_ */
