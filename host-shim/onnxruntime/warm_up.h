/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Compiling what Runs of a session will need before its first one.
 */
#ifndef LEAT_ONNXRUNTIME_WARM_UP_H_
#define LEAT_ONNXRUNTIME_WARM_UP_H_

#include "model_inputs.h"
#include "shared_device.h"

/** Pipelines that a session compiles before its first Run, at most. Larger: fewer are compiled inside of Runs; a
 * session takes longer to be made. From: reasoning (a GPU's driver takes some 15 ms for each, so that it is a second).
 */
#define LEATI_WARM_PIPELINES_MAX 64

/** Prepares the fused subgraphs of a graph for Runs: for the sets of sizes that the option lists, or for probes of
 * sizes of the model's open dimensions. Devices in software are only prepared if the option says so. What cannot be
 * prepared is compiled by Runs: only the log tells.
 * @threads one at a time per session
 * @param device [in] the device, which is open
 * @param inputs [in] the inputs of the model; none, of a body: nothing is done
 * @param option [in] value of the option warm_shapes, which is valid; NULL: it was not given
 * @param logger [in] the session's logger
 * @param subgraphs [in] the fused subgraphs
 * @param fused [in] the node in the place of each
 * @param count elements of `subgraphs` and `fused`
 * @return NULL, or what is wrong with the option for this model */
OrtStatus *leati_warm_up(leati_shared_device *device, const leati_model_inputs *inputs, const char *option,
                         const OrtLogger *logger, OrtNodeComputeInfo *const *subgraphs, const OrtNode *const *fused,
                         size_t count);

#endif /* LEAT_ONNXRUNTIME_WARM_UP_H_ */
