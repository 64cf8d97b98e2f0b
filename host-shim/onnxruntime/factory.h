/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The library's two entries, and the factory behind them.
 */
#ifndef LEAT_ONNXRUNTIME_FACTORY_H_
#define LEAT_ONNXRUNTIME_FACTORY_H_

#include <leat/backend.h>
#include <onnxruntime_c_api.h>

/** What ONNX Runtime calls when the library is registered.
 * @threads any
 * @param registered_name [in] what the application calls the library
 * @param base [in] the way to ONNX Runtime's tables
 * @param logger [in] the logger for what happens outside of sessions
 * @param factories [out] the factory; release with ReleaseEpFactory()
 * @param max_factories elements of `factories`
 * @param out_count [out] 1
 * @return NULL, or what went wrong; that there is no device is no failure */
LEAT_EXPORT OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                                         OrtEpFactory **factories, size_t max_factories, size_t *out_count);

/** What ONNX Runtime calls when the library is unregistered, after the last session.
 * @threads owner
 * @param factory [owned] what CreateEpFactories() gave
 * @return NULL */
LEAT_EXPORT OrtStatus *ReleaseEpFactory(OrtEpFactory *factory);

#endif /* LEAT_ONNXRUNTIME_FACTORY_H_ */
