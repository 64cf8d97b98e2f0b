/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The provider of one session.
 */
#ifndef LEAT_ONNXRUNTIME_EP_H_
#define LEAT_ONNXRUNTIME_EP_H_

#include "kernel_registry.h"
#include "session_options.h"
#include "shared_device.h"

/** Makes the provider of a session.
 * @threads any
 * @param device [in] the device, which must outlive the provider
 * @param registry [in] the operators, which must outlive the provider
 * @param options [owned] what the session asks for; cleared also on failure
 * @param logger [in] the session's logger, which outlives the provider
 * @param out [out] the provider; release with leati_ep_destroy()
 * @return NULL, or what went wrong */
OrtStatus *leati_ep_create(leati_shared_device *device, leati_kernel_registry *registry, leati_session_options *options,
                           const OrtLogger *logger, OrtEp **out);

/** Frees a provider whose session has no Run left.
 * @threads owner
 * @param ep [owned] what leati_ep_create() gave */
void leati_ep_destroy(OrtEp *ep);

#endif /* LEAT_ONNXRUNTIME_EP_H_ */
