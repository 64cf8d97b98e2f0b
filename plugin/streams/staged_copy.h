/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Copies between host and device, by staging: chunks that a list holds until it has run, or, where there is no memory
 * for these, the one chunk that a device has in reserve.
 */
#ifndef LEAT_PLUGIN_STREAMS_STAGED_COPY_H_
#define LEAT_PLUGIN_STREAMS_STAGED_COPY_H_

#include "streams/recorder.h"

/* ---- As a part of an operation ---------------------------------------------------------------------------------- */

/** Copies the elements of a compact tensor on the host to where kernels of this operation may read them, and binds
 * that.
 */
int32_t leati_record_staged_input(leati_recorder *recorder, const leati_view *src, leati_binding *out, leat_error *err);
/** Binds memory of which kernels of this operation write every element, for a compact tensor on the host that begins at
 * a multiple of LEATI_STAGED_ALIGNMENT: what they write gets there as by leat_memory_api::copy. */
int32_t leati_record_staged_output(leati_recorder *recorder, const leati_view *dst, leati_binding *out,
                                   leat_error *err);

/** Appends a copy of `src` to `dst`, both compact and of the same number of bytes. The host side of a copy is staged:
 * see leat_memory_api::copy. A large download goes in pieces (policy/allocation.h): the first at once, the others in
 * lists of their own when the operation has been recorded, so nothing that the operation records after it may write
 * what it reads. */
int32_t leati_record_copy(leati_recorder *recorder, const leati_view *src, const leati_view *dst, leat_error *err);

/* ---- As an operation of its own --------------------------------------------------------------------------------- */

/** Copies between host and device, for a copy that leati_record_copy() has found no memory for: piece by piece through
 * the reserve, each waited for, with all that was put into the stream before. So both sides are done with when it
 * returns. If the stream fails on the way, a part of the destination may have been written. Hold no lock.
 * @errors those of the stream; OUT_OF_MEMORY, without a message: the device has no reserve */
int32_t leati_copy_by_reserve(leat_stream *stream, const leati_view *src, const leati_view *dst, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_STAGED_COPY_H_ */
