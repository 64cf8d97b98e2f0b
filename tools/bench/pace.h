/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How fast a device is, roughly, so that a row of "kernels" that it cannot run in reasonable time is known before.
 */
#ifndef LEAT_TOOLS_BENCH_PACE_H_
#define LEAT_TOOLS_BENCH_PACE_H_

#include "bench/kernels.h"
#include "bench/rig.h"

/** Seconds of a run at most: a row whose run takes longer would take some seconds in each round. */
#define LEATI_PACE_RUN_MAX 0.25

/** A device's pace. */
typedef struct leati_pace {
  leati_kernel copy; /**< as large as it takes to see the speed of memory rather than of submitting */
  double copy_rate;  /**< GB/s */
  double flops_rate; /**< of a product of matrices */
} leati_pace;

/** Finds a size with which a copy takes a while, and about how fast the device copies and multiplies.
 * @param out [out] */
gboolean leati_pace_find(const leati_rig *rig, leati_pace *out, GError **error);

/** Whether a run of a row takes too long on this device, as far as one can tell before; the reason then.
 * @return [owned: release with g_free] NULL: it does not */
char *leati_pace_too_long(const leati_pace *pace, const leati_kernel *kernel);

#endif /* LEAT_TOOLS_BENCH_PACE_H_ */
