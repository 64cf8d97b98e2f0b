/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/earlier.h"

#include <stddef.h>
#include <string.h>

static const leati_earlier all[] = {
    {"Clip", 6, 6, {{"min", 1}, {"max", 2}}},
    {"Pad", 2, 2, {{"pads", 1}, {"value", 2}}},
    {"Reshape", 1, 1, {{"shape", 1}}},
    {"Slice", 1, 1, {{"starts", 1}, {"ends", 2}, {"axes", 3}}},
    {"Split", 2, 11, {{"split", 1}}},
    {"Squeeze", 1, 11, {{"axes", 1}}},
    {"TopK", 1, 1, {{"k", 1}}},
    {"Unsqueeze", 1, 11, {{"axes", 1}}},
    {"Upsample", 7, 7, {{"scales", 1}}},
    {NULL, 0, 0, {{NULL, 0}}},
};

const leati_earlier *leati_earlier_of(const char *name, uint32_t since_version) {
  const leati_earlier *earlier = all;
  while (earlier->name != NULL &&
         (strcmp(earlier->name, name) != 0 || since_version < earlier->first || since_version > earlier->last)) {
    earlier++;
  }
  return earlier->name != NULL ? earlier : NULL;
}
