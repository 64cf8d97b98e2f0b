/* SPDX-License-Identifier: BSD-3-Clause */
#include "tuning_value.h"

#include <stdio.h>

gboolean leati_tuning_value_read(const char *text, leati_tuning_value *out) {
  int end = 0;
  return sscanf(text, "%u (%u to %u, by itself %u)%n", &out->value, &out->least, &out->most, &out->standard, &end) ==
             4 &&
         end > 0 && text[end] == '\0';
}
