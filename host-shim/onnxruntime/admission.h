/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The places in the devices' pools of streams that this thread's Runs hold, so that the pool bounds how many Runs are
 * on a device. The pool's stream itself is not used: ONNX Runtime brings its own.
 */
#ifndef LEAT_ONNXRUNTIME_ADMISSION_H_
#define LEAT_ONNXRUNTIME_ADMISSION_H_

#include "shared_device.h"

/** Takes a place on a device for this thread, unless the backend has no pool. A thread that has one already shares it
 * with itself.
 * @threads any, inside of the gate, which a thread that has to wait leaves meanwhile
 * @param device [inout] the device, which is opened if need be
 * @param timeout_ms milliseconds to wait for a place; 0: not at all; -1: for ever; LEAT_POOL_TIMEOUT_CONFIGURED
 * @param err [out] what went wrong
 * @return LEAT_OK; LEAT_ERROR_EXHAUSTED: no place came free in time; or the code of another failure.
 * leati_admission_give_back() must follow on LEAT_OK only */
int32_t leati_admission_take(leati_shared_device *device, int64_t timeout_ms, leat_error *err);

/** Gives this thread's place on a device back, with the last of those who share it.
 * @threads any
 * @param device [in] what leati_admission_take() was given
 * @return false: this thread has none there */
bool leati_admission_give_back(const leati_shared_device *device);

#endif /* LEAT_ONNXRUNTIME_ADMISSION_H_ */
