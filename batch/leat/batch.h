/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A queue that turns single requests of many threads into batches. Link libleat_batch.
 *
 * User threads submit requests: input tensors of n rows each, a row being one index of axis 0. Worker threads of the
 * queue put requests one behind the other into one tensor for each input, call the user's function once for the whole
 * batch, and cut its outputs apart again. Each request gets exactly its own rows. The queue knows nothing of devices:
 * tensors are in host memory (kDLCPU), and the user's function may run ONNX Runtime, a Leat backend or anything else.
 *
 * **Axis 0 is the batch**, of every input and output, and no row depends on another. The queue cannot see that of the
 * user's function: one whose axis 0 is something else, such as a recurrent model of [time, batch, features], gives each
 * request as many rows as it should have, and wrong ones, without an error. Who wraps a model checks what it declares.
 *
 * **When a batch runs.** When a worker is free, and the batch holds leat_batch_config::max_rows rows, or its oldest
 * request has waited for `max_delay_ns`, or nothing more can join it. A lone request thus runs after the delay.
 *
 * **What goes together.** Requests whose inputs have the same types, ranks and sizes, but for axis 0 and for the axes
 * that leat_batch_config::pads names. Where sizes differ on a padded axis, the shorter inputs are filled up.
 *
 * **Order.** Requests that can go together run in the order in which they were admitted. With one worker that holds for
 * all requests, strictly: a batch ends where a request follows that cannot join it, and no two batches run at once.
 *
 * **Ownership.** Inputs are copied before leat_batch_submit() returns. Results are kept by the ticket until
 * leat_batch_release(), whatever becomes of the queue. The queue writes to memory of the caller only inside of a call
 * of that caller, so a caller that stops waiting leaves nothing behind.
 *
 * **Threads.** As in `leat/backend.h`, including `@threads`, the tags of pointers, `struct_size`, `@errors` and
 * fork(). No lock is held while the user's function runs, and no thread that waits takes processor time. Calls that
 * would wait fail with LEAT_ERROR_BUSY inside the user's function, whose return is what they would wait for. That is
 * seen of the function's own queue alone: functions that wait for requests to each other's queues, in a circle of any
 * length, may all wait for ever. A process shuts its queues down before it exits.
 */
#ifndef LEAT_BATCH_H_
#define LEAT_BATCH_H_

#include <leat/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_BATCH_MAX_TENSORS 256u             /**< inputs, and outputs, at most */
#define LEAT_BATCH_MAX_WORKERS 256u             /**< workers at most */
#define LEAT_BATCH_MAX_CAPACITY 16777216u       /**< waiting requests at most, 2^24 */
#define LEAT_BATCH_MAX_ROWS INT64_C(2147483648) /**< rows of a batch at most, 2^31 */
#define LEAT_BATCH_SIZE_CLASSES 24u             /**< classes of batches by size, see leat_batch_stats::sizes */

typedef struct leat_batch_queue leat_batch_queue;   /**< requests, and the workers that run them */
typedef struct leat_batch_ticket leat_batch_ticket; /**< one request */

/** One batch, as the user's function sees it. */
typedef struct leat_batch_call {
  uint32_t struct_size;   /**< size that the queue filled in */
  uint32_t worker;        /**< number of the calling worker; batches that run at once have different ones */
  uint32_t input_count;   /**< elements of `inputs` */
  uint32_t output_count;  /**< elements of `outputs` */
  uint32_t request_count; /**< requests in the batch */
  uint32_t reserved;      /**< zero */
  int64_t rows;           /**< rows that are somebody's; behind them come those of leat_batch_config::row_multiple */
  const DLTensor *const *inputs; /**< compact, aligned to 64 bytes; valid until the function returns */
  /** The function fills these in: tensors in host memory, of any strides, with as many rows as the inputs have. They
   * may overlap the inputs. They and their shapes stay valid until leat_batch_config::release. */
  DLTensor *outputs;
  void *owner; /**< the function may leave something here for leat_batch_config::release */
} leat_batch_call;

/** An axis on which requests of different sizes may go together. */
typedef struct leat_batch_pad {
  uint32_t struct_size; /**< sizeof(leat_batch_pad) */
  uint32_t input;       /**< number of the input */
  uint32_t axis;        /**< the axis, 1 or more */
  uint32_t multiple;    /**< the size is the largest of the batch, rounded up to a multiple of this; at least 1 */
  uint8_t fill[16];     /**< one element as it lies in memory; bytes beyond its size are zero. One value an input. */
} leat_batch_pad;

/** An axis of an output that has the size of an axis of an input, and is cut back to the request's own. */
typedef struct leat_batch_follow {
  uint32_t struct_size; /**< sizeof(leat_batch_follow) */
  uint32_t output;      /**< number of the output */
  uint32_t output_axis; /**< its axis, 1 or more */
  uint32_t input;       /**< number of the input */
  uint32_t input_axis;  /**< the axis that is followed, 1 or more */
  uint32_t reserved;    /**< zero */
} leat_batch_follow;

/** How a queue works. */
typedef struct leat_batch_config {
  uint32_t struct_size;              /**< sizeof(leat_batch_config) */
  uint32_t workers;                  /**< batches that run at once, 1 to LEAT_BATCH_MAX_WORKERS; 1: strict order */
  uint32_t input_count;              /**< inputs of a request, 1 to LEAT_BATCH_MAX_TENSORS; fixed at creation */
  uint32_t output_count;             /**< outputs, 1 to LEAT_BATCH_MAX_TENSORS; fixed at creation */
  uint32_t capacity;                 /**< requests that wait for a worker, 1 to LEAT_BATCH_MAX_CAPACITY */
  uint32_t pad_count;                /**< elements of `pads` */
  uint32_t follow_count;             /**< elements of `follows` */
  uint32_t reserved;                 /**< zero */
  int64_t max_rows;                  /**< rows of a batch at most, and of a request; a multiple of
                                      *   `row_multiple`, to LEAT_BATCH_MAX_ROWS. A request of none counts as one */
  int64_t row_multiple;              /**< a batch is filled up to a multiple of so many rows, with copies of its
                                      *   first; at least 1 */
  int64_t max_delay_ns;              /**< nanoseconds from admission until a batch that is not full runs; -1: it
                                      *   runs when it is full, or the queue is, or is shut down */
  int64_t max_bytes;                 /**< bytes of one input of a batch at most, padding included; 0: what a
                                      *   process can address */
  const leat_batch_pad *const *pads; /**< in any order, one an axis; copied */
  const leat_batch_follow *const *follows; /**< in any order, one an axis of an output; copied */
  /** Runs a batch. Called by a worker, by several at once if there are several workers; must return, not end the
   * thread.
   * @threads any
   * @param user [in] leat_batch_config::user
   * @param call [inout] the batch
   * @param err [out] what went wrong: every request of this batch, and no other, fails with the status and this message
   * @errors whatever the function likes to report */
  int32_t (*run)(void *user, leat_batch_call *call, leat_error *err);
  /** Called by the worker after each run() that returned LEAT_OK, once its outputs have been copied. May be NULL.
   * @threads any
   * @param user [in] leat_batch_config::user
   * @param owner [in] leat_batch_call::owner */
  void (*release)(void *user, void *owner);
  void *user; /**< passed to the functions. They and it are fixed at creation, and used until the queue is shut down */
} leat_batch_config;

/** What a queue has done. Each request that was submitted is in exactly one of the fields up to `cancelled`. */
typedef struct leat_batch_stats {
  uint32_t struct_size;   /**< sizeof(leat_batch_stats) */
  uint32_t workers;       /**< as configured */
  uint64_t blocked;       /**< requests whose leat_batch_submit() waits for room */
  uint64_t waiting;       /**< requests that were admitted and wait for a worker */
  uint64_t running;       /**< requests in batches that run */
  uint64_t done;          /**< requests that ran rightly */
  uint64_t failed;        /**< requests that failed with their batch, or because the queue was shut down */
  uint64_t refused;       /**< requests for which there was no room in time */
  uint64_t cancelled;     /**< requests that were cancelled, or released before a worker took them */
  uint64_t batches;       /**< batches that were run, rightly or not */
  uint64_t batch_rows;    /**< rows in them, without those that filled them up */
  uint64_t largest_batch; /**< requests in the largest batch */
  /** Batches by requests in them: element k counts those of 2^k to 2^(k+1)-1, the last one all that are larger. */
  uint64_t sizes[LEAT_BATCH_SIZE_CLASSES];
} leat_batch_stats;

#define LEAT_BATCH_DRAIN 0u /**< requests that wait are run first, without delay */
#define LEAT_BATCH_FAIL \
  1u /**< requests that wait fail with LEAT_ERROR_UNAVAILABLE; batches that run end as they would */

/** Creates a queue and starts its workers.
 * @threads any
 * @param config [in] how it works; copied
 * @param out [out] the queue; release with leat_batch_queue_destroy(); NULL on failure
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_EXHAUSTED: no more threads can be made */
LEAT_EXPORT int32_t leat_batch_queue_create(const leat_batch_config *config, leat_batch_queue **out, leat_error *err);

/** Changes how a queue works, for all batches that begin after the call, also of requests that wait already. A request
 * that was admitted and is now too large for a batch runs alone. Batches that run go on; a worker too many leaves after
 * its batch, and a single one begins after that. On failure nothing changes.
 * @threads any
 * @param queue [in] the queue
 * @param config [in] all of it; what is fixed at creation must be the same as there; copied
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_OUT_OF_MEMORY, LEAT_ERROR_EXHAUSTED: no more threads can be made; LEAT_ERROR_UNAVAILABLE: the
 * queue was shut down; LEAT_ERROR_BUSY: called from run() or release() */
LEAT_EXPORT int32_t leat_batch_queue_configure(leat_batch_queue *queue, const leat_batch_config *config,
                                               leat_error *err);

/** Counts what a queue has done.
 * @threads any
 * @param queue [in] the queue
 * @param out [inout] `struct_size` in, the rest out; all of one moment
 * @param err [out] what went wrong, may be NULL
 * @errors none beside the common ones */
LEAT_EXPORT int32_t leat_batch_queue_stats(leat_batch_queue *queue, leat_batch_stats *out, leat_error *err);

/** Ends a queue: from the call on nothing is admitted, and threads blocked in leat_batch_submit() return. Returns when
 * the last batch has ended and the workers are gone. A second call with LEAT_BATCH_FAIL cuts a draining one short.
 * @threads any
 * @param queue [in] the queue
 * @param how LEAT_BATCH_DRAIN or LEAT_BATCH_FAIL
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_BUSY: called from run() or release() */
LEAT_EXPORT int32_t leat_batch_queue_shutdown(leat_batch_queue *queue, uint32_t how, leat_error *err);

/** Shuts a queue down, as leat_batch_queue_shutdown() does, and gives up its handle. Tickets stay valid.
 * @threads owner
 * @param queue [in] the queue; NULL does nothing
 * @param how LEAT_BATCH_DRAIN or LEAT_BATCH_FAIL
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_BUSY: called from run() or release(); the handle stays valid */
LEAT_EXPORT int32_t leat_batch_queue_destroy(leat_batch_queue *queue, uint32_t how, leat_error *err);

/** Submits a request. Threads that wait for room are admitted in the order in which they came.
 * @threads any
 * @param queue [in] the queue
 * @param input_count elements of `inputs`, as configured
 * @param inputs [in] tensors in host memory of 1 to LEAT_MAX_RANK dimensions and any strides, all with the same number
 * of rows, which may be 0; elements of 1, 2, 4, 8 or 16 bytes. Copied.
 * @param timeout_ns nanoseconds to wait for room; 0 does not wait, -1 waits as long as it takes
 * @param out [out] the ticket; release with leat_batch_release(); NULL on failure
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_EXHAUSTED: there is no room, and the timeout was 0; LEAT_ERROR_TIMEOUT: nor was there in time;
 *   LEAT_ERROR_BUSY: there is no room, and it was called from run() or release(); LEAT_ERROR_UNAVAILABLE: the queue was
 *   shut down; LEAT_ERROR_OUT_OF_MEMORY. More rows than leat_batch_config::max_rows are LEAT_ERROR_INVALID_ARGUMENT. */
LEAT_EXPORT int32_t leat_batch_submit(leat_batch_queue *queue, uint32_t input_count, const DLTensor *const *inputs,
                                      int64_t timeout_ns, leat_batch_ticket **out, leat_error *err);

/** Waits for a request, and says how it ended, as often as it is called.
 * @threads any
 * @param ticket [in] the request
 * @param timeout_ns nanoseconds; 0 asks, -1 waits as long as it takes
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_TIMEOUT: it has not ended; LEAT_ERROR_UNAVAILABLE: it was cancelled, or the queue was shut down
 *   before it ran; LEAT_ERROR_BUSY: it has not ended, and this was called from run() or release() of its queue; or what
 *   run() returned for its batch */
LEAT_EXPORT int32_t leat_batch_wait(leat_batch_ticket *ticket, int64_t timeout_ns, leat_error *err);

/** Withdraws a request that no worker has taken. Its leat_batch_wait() returns LEAT_ERROR_UNAVAILABLE from then on.
 * @threads any
 * @param ticket [in] the request
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_BUSY: too late, its batch runs or has ended */
LEAT_EXPORT int32_t leat_batch_cancel(leat_batch_ticket *ticket, leat_error *err);

/** Gives the results of a request that leat_batch_wait() returned LEAT_OK for.
 * @threads any
 * @param ticket [in] the request
 * @param output_count elements of `out`, as configured
 * @param out [out] compact tensors, aligned to 64 bytes, with their shapes; both belong to the ticket and live as long
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_NOT_READY: it has not ended; or that with which it failed */
LEAT_EXPORT int32_t leat_batch_outputs(leat_batch_ticket *ticket, uint32_t output_count, DLTensor *out,
                                       leat_error *err);

/** Gives up a ticket with its results. A request that no worker has taken is withdrawn; the result of one that runs is
 * dropped.
 * @threads owner
 * @param ticket [in] the request; NULL does nothing
 * @param err [out] what went wrong, may be NULL
 * @errors none beside the common ones */
LEAT_EXPORT int32_t leat_batch_release(leat_batch_ticket *ticket, leat_error *err);

/** Submits a request, waits for it and copies its results out. Nothing is written after it has returned.
 * @threads any
 * @param queue [in] the queue
 * @param input_count elements of `inputs`, as configured
 * @param inputs [in] as in leat_batch_submit()
 * @param output_count elements of `outputs`, as configured
 * @param outputs [in] tensors in host memory that take the results, with exactly their types and shapes, of any strides
 * @param timeout_ns nanoseconds for all of it; 0 and -1 as in leat_batch_submit(), and then as long as it takes
 * @param err [out] what went wrong, may be NULL
 * @errors those of leat_batch_submit() and leat_batch_wait(); LEAT_ERROR_INVALID_ARGUMENT also where an output has
 *   another type or shape than the result, and then nothing was written */
LEAT_EXPORT int32_t leat_batch_run(leat_batch_queue *queue, uint32_t input_count, const DLTensor *const *inputs,
                                   uint32_t output_count, const DLTensor *const *outputs, int64_t timeout_ns,
                                   leat_error *err);

LEAT_ASSERT_NO_TAIL(leat_batch_call, owner);
LEAT_ASSERT_NO_TAIL(leat_batch_pad, fill);
LEAT_ASSERT_NO_TAIL(leat_batch_follow, reserved);
LEAT_ASSERT_NO_TAIL(leat_batch_config, user);
LEAT_ASSERT_NO_TAIL(leat_batch_stats, sizes);

#ifdef __cplusplus
}
#endif

#endif /* LEAT_BATCH_H_ */
