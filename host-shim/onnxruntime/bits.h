/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Sets of inputs and outputs, as the backend's operator list has them: bit i is number i.
 */
#ifndef LEAT_ONNXRUNTIME_BITS_H_
#define LEAT_ONNXRUNTIME_BITS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether a set has a number.
 * @threads any
 * @param bits the set
 * @param index the number; those from 64 on are in none */
static inline bool leati_bit(uint64_t bits, size_t index) {
  return index < 64 && (bits >> index & 1) != 0;
}

#endif /* LEAT_ONNXRUNTIME_BITS_H_ */
