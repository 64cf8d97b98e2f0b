/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which event of ONNX Runtime each thread was in, and when. What a thread gives the device to do is so told apart by
 * thread and time: it belongs to the innermost event around it, and to the profile that the event is of.
 *
 * Events of one thread lie in each other or beside each other. Nothing here takes a lock: the owner of the spans has
 * one.
 */
#ifndef LEAT_ONNXRUNTIME_SPANS_H_
#define LEAT_ONNXRUNTIME_SPANS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Lists that threads are spread over. */
#define LEATI_SPAN_LISTS 64u

/** The time of one event on its thread. */
typedef struct leati_span {
  const void *profile; /**< whose event it is */
  uint64_t id;         /**< ONNX Runtime's of the event */
  uint64_t begin_ns;   /**< CLOCK_MONOTONIC */
  uint64_t end_ns;     /**< likewise; UINT64_MAX: the event has not ended */
  uint32_t depth;      /**< greater than that of what it lies in */
  char *name;          /**< the event's; owned; NULL until it has ended */
} leati_span;

struct leati_span_thread;

/** The spans of all threads; all zero is none, of which `most` may be kept. */
typedef struct leati_spans {
  struct leati_span_thread *lists[LEATI_SPAN_LISTS]; /**< by number of the thread */
  size_t count;                                      /**< spans */
  size_t most;                                       /**< spans that are kept at most */
} leati_spans;

/** Begins a span on a thread. False: it is not kept, because there are too many or there is no memory. */
bool leati_spans_begin(leati_spans *spans, uint32_t thread, const void *profile, uint64_t id, uint64_t now_ns);
/** Ends a span, and all that have begun in it. `name` is [owned: freed if the span is not kept]; NULL: the span is of
 * interest only for what lies in it, and goes if nothing does. */
void leati_spans_end(leati_spans *spans, uint32_t thread, const void *profile, uint64_t id, uint64_t now_ns,
                     char *name);
/** The innermost span around a moment of a thread, valid until the spans change; NULL: there is none. */
const leati_span *leati_spans_find(const leati_spans *spans, uint32_t thread, uint64_t moment_ns);
/** Forgets the spans of a profile. */
void leati_spans_forget(leati_spans *spans, const void *profile);

#endif /* LEAT_ONNXRUNTIME_SPANS_H_ */
