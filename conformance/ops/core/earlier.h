/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Earlier versions of operators, in which inputs of today's were attributes: the reference computes them, and random
 * calls draw them, as today's operator.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_EARLIER_H_
#define LEAT_CONFORMANCE_OPS_CORE_EARLIER_H_

#include <stdint.h>

#define LEATI_EARLIER_MAX 3

/** What was an attribute. */
typedef struct leati_earlier {
  const char *name;     /**< operator; NULL ends a list */
  uint32_t first, last; /**< since-versions */
  struct {
    const char
        *attribute; /**< NULL: no more. INT and INTS are int64 now, FLOATS float32, FLOAT of the type of input 0 */
    uint32_t input;
  } moved[LEATI_EARLIER_MAX];
} leati_earlier;

/** What a version of an operator of ONNX's has as attributes; NULL: what today's has.
 * @threads any */
const leati_earlier *leati_earlier_of(const char *name, uint32_t since_version);

#endif /* LEAT_CONFORMANCE_OPS_CORE_EARLIER_H_ */
