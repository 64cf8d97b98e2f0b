/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The values that the operands of a row of "kernels" hold, and what each element of its output has to be.
 */
#ifndef LEAT_TOOLS_BENCH_ANSWER_H_
#define LEAT_TOOLS_BENCH_ANSWER_H_

#include "bench/kernels.h"

/** Values of an operand before they repeat: a prime number, so that no line of a tensor is like the one before. */
#define LEATI_ANSWER_PERIOD 1000003

/** Whether products and convolutions of float32 may be as inexact as the backend's setting LEAT_FLOAT32_MATMUL=fast has
 * them; set before any is measured. */
extern gboolean leati_answer_fast_float32;

/** The value of an element of an input: a multiple of 2^-10 from -1 to 1, which float16 has too,
 * without order. Operands of bfloat16 hold it rounded.
 * @param input number of the input
 * @param index of the element, in the order of memory */
float leati_answer_value(guint input, int64_t index);

/** The same of an input of bytes: from 0 to 255. */
guint8 leati_answer_byte(guint input, int64_t index);

/** What an element of the output is, in double precision, and how far a right result of the row's type
 * may be from it.
 * @param index of the element, in the order of memory
 * @param bound [out] the largest difference; the definition derives it for each operator */
double leati_answer(const leati_kernel *kernel, const leati_kernel_form *form, int64_t index, double *bound);

#endif /* LEAT_TOOLS_BENCH_ANSWER_H_ */
