/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The floor: what the driver alone takes to run a trivial shader and wait for it. Plain Vulkan, nothing of Leat's.
 * No backend can be quicker than the same way of submitting here.
 */
#ifndef LEAT_TOOLS_BENCH_FLOOR_H_
#define LEAT_TOOLS_BENCH_FLOOR_H_

#include "bench/team.h"

/** Threads that one floor serves at most. */
#define LEATI_FLOOR_SEATS 64
/** Submissions that one thread may have outstanding at most. */
#define LEATI_FLOOR_DEPTH 8

/** Floating-point operations of a workgroup that does arithmetic: 64 invocations, 256 rounds, 16 times 8 fused
 * multiplications and additions, counted as two each. */
#define LEATI_FLOOR_GROUP_FLOPS (64.0 * 256 * 16 * 8 * 2)
/** Workgroups of a shader that does arithmetic, at least and at most. */
#define LEATI_FLOOR_GROUPS_MIN 4
#define LEATI_FLOOR_GROUPS_MAX 65535

/** A device, opened for this alone. */
typedef struct leati_floor leati_floor;

/** How threads submit. */
typedef enum leati_floor_way {
  /** A queue for each thread, shared where there are fewer; a waiting thread blocks. */
  LEATI_FLOOR_OWN,
  /** One queue behind a lock; a waiting thread blocks. */
  LEATI_FLOOR_LOCKED,
  /** One queue; at most two submissions are in flight, what comes meanwhile goes together with the next; a waiting
   * thread spins. */
  LEATI_FLOOR_COMBINED,
} leati_floor_way;

/** The context of leati_floor_task. */
typedef struct leati_floor_job {
  leati_floor *floor;
  leati_floor_way way;
  guint depth;      /**< submissions outstanding, 1 to LEATI_FLOOR_DEPTH; 1 waits for each */
  guint arithmetic; /**< workgroups that do arithmetic in registers; 0: the trivial shader */
} leati_floor_job;

/** One run submits one shader, of 4 workgroups unless it does arithmetic, and waits for the one that was submitted
 * `depth - 1` runs ago. The end checks that every one has run exactly once. */
extern const leati_task leati_floor_task;

/** The context of leati_floor_allocation_task. */
typedef struct leati_floor_allocation {
  leati_floor *floor;
  guint64 size; /**< bytes */
} leati_floor_allocation;

/** One run makes a buffer with memory of its own and frees both. */
extern const leati_task leati_floor_allocation_task;

/** Opens the device with this UUID.
 * @param uuid [borrowed: until return] 16 bytes
 * @return [owned: release with leati_floor_close] NULL with the error set: no Vulkan, no such device */
leati_floor *leati_floor_open(const guint8 *uuid, GError **error);

/** Closes it; NULL does nothing. No team may be using it. */
void leati_floor_close(leati_floor *floor);

/** Number of queues that can compute. */
guint leati_floor_queue_count(const leati_floor *floor);

#endif /* LEAT_TOOLS_BENCH_FLOOR_H_ */
