/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operators that a backend may be tempted to run one at a time, behind a lock: each as a task for a team.
 */
#ifndef LEAT_TOOLS_BENCH_KINDS_H_
#define LEAT_TOOLS_BENCH_KINDS_H_

#include "bench/rig.h"
#include "bench/team.h"

/** A kind: an operator with sizes that leave most of a device free. Constant. */
typedef struct leati_bench_kind leati_bench_kind;

/** The context of leati_bench_kind_task. */
typedef struct leati_bench_kind_work {
  const leati_rig *rig;
  const leati_bench_kind *kind;
  GMutex mutex;
  GBytes *result; /**< of the first call of all threads, with which each thread's are compared; NULL: none yet */
} leati_bench_kind_work;

/** The kinds, in the order in which they are measured. */
guint leati_bench_kind_count(void);
const leati_bench_kind *leati_bench_kind_at(guint index);
const char *leati_bench_kind_name(const leati_bench_kind *kind);

/** @param out [out] clear with leati_bench_kind_work_clear() */
void leati_bench_kind_work_init(leati_bench_kind_work *out, const leati_rig *rig, const leati_bench_kind *kind);
void leati_bench_kind_work_clear(leati_bench_kind_work *work);

/** A call on a stream of the thread's own, and a wait; operands stay on the device. The bits of the first and of the
 * last call are compared with those of the other threads. */
extern const leati_task leati_bench_kind_task;

#endif /* LEAT_TOOLS_BENCH_KINDS_H_ */
