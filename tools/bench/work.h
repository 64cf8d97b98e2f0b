/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The work that is measured, through Leat's ABI: each a task for a team, whose context is a leati_work.
 */
#ifndef LEAT_TOOLS_BENCH_WORK_H_
#define LEAT_TOOLS_BENCH_WORK_H_

#include <stdatomic.h>

#include "bench/rig.h"
#include "bench/team.h"

/** Elements of the tensor of a trivial operator. */
#define LEATI_OP_ELEMENTS 1024
/** Operators or events that one thread may have outstanding at most. */
#define LEATI_DEPTH_MAX 64
/** Dependent operators of a chain. */
#define LEATI_CHAIN_LENGTH 12
/** Columns of a chain's tensors. */
#define LEATI_CHAIN_COLUMNS 256
/** Rows of a chain's tensors at least, so that its result tells how often it ran. */
#define LEATI_CHAIN_ROWS_MIN 2

/** What a task works on. Constant while a team runs, but for the atomics. */
typedef struct leati_work {
  const leati_rig *rig;
  gboolean pool;     /**< each run asks the pool for the thread's current stream; else a thread makes one stream */
  guint depth;       /**< operators for each wait, or events outstanding; 1 to LEATI_DEPTH_MAX */
  gint32 pause_ns;   /**< op, chain: before each run the thread is busy for up to this, drawn evenly; 0: never */
  gboolean resident; /**< linear, request: inputs and outputs stay on the device */
  gint64 rows;       /**< chain: rows to sum, which says how long an operator takes */
  guint length;      /**< chain: operators, an even number */
  leat_graph *graph; /**< chain: the same as a graph, or NULL; request: the perceptron */
  guint batch;       /**< request: how many go in one launch */
  guint64 size;      /**< allocation, download: bytes */
  gboolean direct;   /**< download: into memory of alloc_host() */
  gint64 mark;       /**< flat: the run after which `marked` is called, once, by the thread that did it */
  void (*marked)(gpointer context); /**< may be NULL */
  gpointer marked_context;
  atomic_llong done; /**< flat: runs so far, of all threads */
} leati_work;

/** Puts `depth` Relus on 1,024 floats into the stream and waits for all. */
extern const leati_task leati_op_task;
/** Puts `depth` Relus into the stream and waits for those of the run before. */
extern const leati_task leati_pipeline_task;
/** Waits for the event of `depth` runs ago, puts one Relu into the stream and records the event. */
extern const leati_task leati_event_task;
/** A linear layer 256 to 128, batch 4, float32; unless resident, input and output are in host memory. */
extern const leati_task leati_linear_task;
/** A chain of dependent operators on 256 columns of 32-bit numbers (4 workgroups), and a wait. */
extern const leati_task leati_chain_task;
/** A launch of the perceptron (bench/graphs.h) and a wait; unless resident, input and output are in host memory. */
extern const leati_task leati_request_task;
/** Allocates, uploads, computes, downloads, frees and waits. */
extern const leati_task leati_flat_task;
/** Allocates a block and frees it. */
extern const leati_task leati_allocation_task;
/** Downloads a tensor of `size` bytes, a multiple of 4, to memory of the host, or to such that the device writes to,
 * and waits. */
extern const leati_task leati_download_task;

#endif /* LEAT_TOOLS_BENCH_WORK_H_ */
