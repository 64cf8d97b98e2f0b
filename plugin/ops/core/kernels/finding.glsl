// SPDX-License-Identifier: BSD-3-Clause
// What a kernel tells of a number that it should not have met: leati_finding of plugin/device/finding.h.
#ifndef LEAT_FINDING_GLSL_
#define LEAT_FINDING_GLSL_

#include "leat.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Finding {
  uint met;
  uint size;
  int64_t value;
};

// Of all invocations that meet one, the first tells.
void finding_tell(uint64_t p, int64_t value, uint size) {
  Finding finding = Finding(p);
  if (atomicExchange(finding.met, 1u) == 0u) {
    finding.size = size;
    finding.value = value;
  }
}

#endif
