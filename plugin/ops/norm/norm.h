/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Normalisation of rows: what layer, RMS, instance and group normalisation come down to, and operators that begin with
 * one.
 */
#ifndef LEAT_PLUGIN_OPS_NORM_NORM_H_
#define LEAT_PLUGIN_OPS_NORM_NORM_H_

#include "ops/core/op.h"

extern const leat_op_attribute leati_attribute_epsilon, leati_attribute_stash_type;

/** leati_op_def::supports of operators that have the attribute stash_type: of which type means and deviations are. */
int32_t leati_norm_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err);

/** Argument record of kernels/norm.comp. */
typedef struct leati_norm_args {
  uint64_t x, y;
  uint64_t scale, bias;
  uint32_t rows, count;
  float epsilon;
  uint32_t period, step, spread;
  uint32_t skip_rows;
  uint64_t mean, deviation;
  uint64_t skip, addend, total;
  uint64_t gate;
} leati_norm_args;

/** What each element of a result is multiplied by. */
typedef enum leati_norm_gate {
  LEATI_NORM_NO_GATE,
  LEATI_NORM_SILU,   /**< its gate times the sigmoid of that */
  LEATI_NORM_SIGMOID /**< the sigmoid of its gate */
} leati_norm_gate;

/** What is normalised. Views are compact; NULL ones are not there. Counts and mapping come in args. */
typedef struct leati_norm_job {
  const leati_view *x, *scale, *bias, *skip, *addend;
  const leati_view *gate; /**< of the shape of x, if `gates` says that there is one */
  const leati_view *y, *mean, *deviation, *total;
  bool rms;
  leati_norm_gate gates;
  leati_norm_args args;
} leati_norm_job;

/** Plans it, as one dispatch.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_plan_norm(leati_planner *planner, leati_norm_job *job, leat_error *err);

/** Plans RMSNormalization of the last dimension of `x`, with a scale of one row; y is compact and has x's shape.
 * `name`: of the operator that it is for.
 * @errors NOT_SUPPORTED: x has 2^31 elements or more, or rows that are too long */
int32_t leati_plan_rms_norm(leati_planner *planner, const char *name, const leati_view *x, const leati_view *scale,
                            float epsilon, const leati_view *y, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_NORM_NORM_H_ */
