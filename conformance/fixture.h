/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What most cases need: a device, streams, blocks, copies, tensors, threads. Everything here fails the case if the
 * plugin refuses, and may be called from any thread of the case unless said otherwise.
 */
#ifndef LEAT_CONFORMANCE_FIXTURE_H_
#define LEAT_CONFORMANCE_FIXTURE_H_

#include "case.h"

/** A DLTensor with room for its shape and strides. `tensor` points into the struct: do not copy it by value. */
typedef struct leat_case_tensor {
  DLTensor tensor;                /**< pass `&t.tensor` */
  int64_t shape[LEAT_MAX_RANK];   /**< elements */
  int64_t strides[LEAT_MAX_RANK]; /**< elements; `tensor.strides` is NULL until one sets it to this */
} leat_case_tensor;

/** Short names of element types: leati_dtype(kDLFloat, 32). */
DLDataType leati_dtype(uint32_t code, uint32_t bits);
#define LEAT_F32 leati_dtype(kDLFloat, 32)
#define LEAT_I64 leati_dtype(kDLInt, 64)
#define LEAT_I32 leati_dtype(kDLInt, 32)
#define LEAT_U8 leati_dtype(kDLUInt, 8)
#define LEAT_BOOL leati_dtype(LEAT_DL_BOOL, 8)

/** Bytes in front of and behind what an operator may touch, a multiple of the alignment that alloc() gives; and what
 * they hold. */
#define LEAT_GUARD 256u
#define LEAT_GUARD_BYTE 0xC3
/** What lies between the elements of an input: NaN as a float, -1 as an integer. */
#define LEAT_GAP_BYTE 0xFF

/** Fills in a compact view of device memory at `address` on the chosen device. */
void leati_case_tensor_device(const leat_case_context *ctx, leat_case_tensor *out, uint64_t address, DLDataType dtype,
                              int32_t ndim, const int64_t *shape);

/** Fills in a compact view of host memory. */
void leati_case_tensor_host(leat_case_tensor *out, void *data, DLDataType dtype, int32_t ndim, const int64_t *shape);

/** The chosen device, opened at the first call in the case. Closed by the runner after the case. */
leat_device *leati_fixture_device(leat_case_context *ctx);

/** A new stream of the chosen device; destroy it with leati_stream_destroy(). */
leat_stream *leati_stream_new(leat_case_context *ctx);
void leati_stream_destroy(leat_case_context *ctx, leat_stream *stream);

/** A new event of the chosen device; destroy it with leati_event_destroy(). */
leat_event *leati_event_new(leat_case_context *ctx);
void leati_event_destroy(leat_case_context *ctx, leat_event *event);

/** A block of device memory; `stream` as in leat_memory_api::alloc. Free it with leati_case_free(). */
uint64_t leati_case_alloc(leat_case_context *ctx, uint64_t size, leat_stream *stream);
void leati_case_free(leat_case_context *ctx, uint64_t address);

/** Puts a copy of bytes into the stream: host to device, device to host (arrives with the next wait), device to device.
 */
void leati_upload(leat_case_context *ctx, leat_stream *stream, uint64_t address, const void *bytes, uint64_t size);
/** The same without a check: the status of the copy. */
int32_t leati_try_upload(leat_case_context *ctx, leat_stream *stream, uint64_t address, const void *bytes,
                         uint64_t size);
void leati_download(leat_case_context *ctx, leat_stream *stream, uint64_t address, void *bytes, uint64_t size);
void leati_copy(leat_case_context *ctx, leat_stream *stream, uint64_t from, uint64_t to, uint64_t size);

/** Flushes the stream and waits for it. */
void leati_synchronize(leat_case_context *ctx, leat_stream *stream);

/** Operator `name` of domain "" without attributes for inputs of one type and rank. Ends the case as not supported if
 * the plugin says so. Destroy it with leati_op_destroy(). */
leat_op *leati_op_new(leat_case_context *ctx, const char *name, uint32_t since_version, uint32_t inputs,
                      DLDataType dtype, int32_t ndim);
void leati_op_destroy(leat_case_context *ctx, leat_op *op);

/** Puts an operator with `count` inputs and one output into a stream. */
void leati_op_invoke(leat_case_context *ctx, const leat_op *op, leat_stream *stream, uint32_t count,
                     const leat_case_tensor *const *inputs, const leat_case_tensor *output);

/** Bytes that depend on `tag` and on each position, so that a misplaced or stale byte shows. */
void leati_pattern(uint8_t *out, size_t size, uint32_t tag);

/** Sleeps between two looks at something that is waited for: twice as long each time, up to 20 ms, so that a process
 * whose wait never ends uses next to no processor time, by which the runner knows it. `*inout_us`: 0 at first. */
void leati_pause(guint *inout_us);

/** Asks a stream, an event, until it has finished, and checks that nothing failed. The case's deadline ends one that
 * never does. */
void leati_stream_poll(leat_case_context *ctx, leat_stream *stream);
void leati_event_poll(leat_case_context *ctx, leat_event *event);

/** Bytes that go to the device and back through one stream. What the cases about waiting are made of: nothing that was
 * put has arrived before a wait covers it. */
typedef struct leat_case_trip {
  leat_stream *stream; /**< what the bytes go through */
  uint64_t block;      /**< where they are on the device */
  size_t size;         /**< how many */
  uint8_t *in;         /**< what was sent last */
  uint8_t *out;        /**< what has arrived; zero until it has */
  gboolean own;        /**< the stream was made by leati_trip_begin() */
} leat_case_trip;

/** Takes what a trip needs; `stream` NULL: a new stream. End it with leati_trip_end(). */
void leati_trip_begin(leat_case_context *ctx, leat_case_trip *trip, leat_stream *stream, size_t size);
void leati_trip_end(leat_case_context *ctx, leat_case_trip *trip);

/** Puts a round trip of a new pattern into the stream. Nothing that was put before may still be under way. */
void leati_trip_put(leat_case_context *ctx, leat_case_trip *trip, uint32_t tag);

/** The same behind slow work (leati_stream_load()). */
void leati_trip_put_slow(leat_case_context *ctx, leat_case_trip *trip, uint32_t tag);

/** What was sent has arrived. */
void leati_trip_check(const leat_case_context *ctx, const leat_case_trip *trip);

/** Numbers to which one is added again and again, each time from what the time before wrote. What the cases about the
 * order of operators are made of: a step that comes too early, or not at all, shows. */
typedef struct leat_case_sum {
  leat_op *add;
  uint64_t block;            /**< holds all of it */
  leat_case_tensor views[2]; /**< the numbers after an even and after an odd number of steps */
  leat_case_tensor ones;
  float *values;  /**< what was sent */
  uint32_t count; /**< numbers */
  uint32_t steps; /**< done so far */
} leat_case_sum;

/** Takes what a sum of `count` numbers needs and sends them through the stream. End it with leati_sum_end(). */
void leati_sum_begin(leat_case_context *ctx, leat_case_sum *sum, leat_stream *stream, uint32_t count);
void leati_sum_end(leat_case_context *ctx, leat_case_sum *sum);

/** Puts the next step into a stream, which must come behind the one of the step before. */
void leati_sum_step(leat_case_context *ctx, leat_case_sum *sum, leat_stream *stream);

/** All steps have been done, as seen from a stream that comes behind the last one. */
void leati_sum_check(leat_case_context *ctx, const leat_case_sum *sum, leat_stream *stream);

/** Runs `run(ctx, index, data)` for index 0 to `count`-1 in `count` threads that start together; returns when all of
 * them have ended (what a thread releases at its end has been released). Checks in them end the case as anywhere
 * else. */
typedef void (*leat_case_thread_fn)(leat_case_context *ctx, uint32_t index, void *data);
void leati_threads_run(leat_case_context *ctx, uint32_t count, leat_case_thread_fn run, void *data);

/** Puts work into the stream that takes the device a while (many copies and additions, some milliseconds on a slow
 * device), so that what follows it is likely still in flight when the caller goes on. No check may depend on that. */
void leati_stream_load(leat_case_context *ctx, leat_stream *stream);

/** Private to runner.c: begins and ends the fixture of a case. */
void leati_fixture_begin(leat_case_context *ctx);
void leati_fixture_end(leat_case_context *ctx);

#endif /* LEAT_CONFORMANCE_FIXTURE_H_ */
