/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The gate that every call of ONNX Runtime into the provider passes, for two moments at which a call must not go on:
 *
 * - **The process exits while threads are inside a Run.** exit() destroys the static objects of ONNX Runtime and of
 *   the driver under them. So an exit handler closes the gate, and threads stop at it, for good, on their way in or
 *   out; the handler waits for those that are still on their way, at most two seconds. Nothing is freed. The thread
 *   that called exit() is not stopped: it gets LEATI_GATE_CLOSED, and what it wants to destroy is left alone.
 * - **The process is a child of fork().** The device and other threads' locks stayed with the parent, so the child
 *   must touch neither: it gets LEATI_GATE_FORKED.
 */
#ifndef LEAT_ONNXRUNTIME_EP_GATE_H_
#define LEAT_ONNXRUNTIME_EP_GATE_H_

#include "common/inside.h"
#include "runtime.h"

/** Registers the exit handler. Handlers run last registered first, and drivers register theirs while they load and
 * while they first compile; so this is called again after such moments, and the first run of the handler counts.
 * @threads any */
void leati_ep_gate_register(void);

/** Goes in. May be nested. Does not return in a process that is exiting, except on the thread that ends it.
 * @threads any; no lock may be held that the thread that calls exit() could want
 * @return LEATI_GATE_OPEN: leati_ep_gate_leave() must follow; or what to do instead */
leati_gate leati_ep_gate_enter(void);

/** Goes out again: once for each leati_ep_gate_enter() that gave LEATI_GATE_OPEN. A thread that entered at the start of
 * a Run and leaves at its end is waited for in between, wherever it is.
 * @threads any; no lock may be held that the thread that calls exit() could want */
void leati_ep_gate_leave(void);

/** As leati_ep_gate_enter(), with a status for calls that can fail.
 * @threads any
 * @param runtime [in] the tables
 * @param call [in] what was called, for the message
 * @return NULL: go in; else why not */
OrtStatus *leati_ep_gate_enter_or_fail(const leati_runtime *runtime, const char *call);

#endif /* LEAT_ONNXRUNTIME_EP_GATE_H_ */
