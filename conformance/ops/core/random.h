/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A drawn call of an operator on trial, for programs beside the suite that draw in another way.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_RANDOM_H_
#define LEAT_CONFORMANCE_OPS_CORE_RANDOM_H_

#include <stdbool.h>

#include "case.h"

/** Draws a call and does with it what the cases random.* do: in several layouts, against the CPU reference, with views
 * that must be refused. Fails the case if something is wrong.
 * @threads any
 * @param ctx [inout] with a fixture (leati_fixture_begin())
 * @param stream [in] a stream of the chosen device
 * @param info [in] an entry of the operator list that leati_draw_knows()
 * @param number of the call, which what is not chosen follows from
 * @param computes whether results are worth looking at: those of a device that only seems to run kernels are not
 * @param choices [in] leati_draw::choices
 * @param choice_count bytes of them */
void leati_random_call(leat_case_context *ctx, leat_stream *stream, const leat_op_info *info, uint32_t number,
                       bool computes, const uint8_t *choices, size_t choice_count);

#endif /* LEAT_CONFORMANCE_OPS_CORE_RANDOM_H_ */
