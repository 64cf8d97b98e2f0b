/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Exchange of tensors by DLPack: blocks that go out with a deleter, and come in again. As in leat_memory_api.
 */
#ifndef LEAT_PLUGIN_STREAMS_DLPACK_EXCHANGE_H_
#define LEAT_PLUGIN_STREAMS_DLPACK_EXCHANGE_H_

#include <leat/backend.h>

/** leat_memory_api::export_dlpack. */
int32_t leati_dlpack_export(leat_stream *stream, const DLTensor *view, leat_event *ready,
                            DLManagedTensorVersioned **out, leat_error *err);
/** leat_memory_api::export_dlpack_unversioned. */
int32_t leati_dlpack_export_unversioned(leat_stream *stream, const DLTensor *view, leat_event *ready,
                                        DLManagedTensor **out, leat_error *err);
/** leat_memory_api::import_dlpack. */
int32_t leati_dlpack_import(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready, leat_view *out,
                            leat_error *err);
/** leat_memory_api::import_dlpack_unversioned. */
int32_t leati_dlpack_import_unversioned(leat_stream *stream, DLManagedTensor *managed, leat_event *ready,
                                        leat_view *out, leat_error *err);

/** Cuts the tensors that were exported from a device off it, before it closes: their deleters then free nothing. */
void leati_dlpack_close(leat_device *device);

#endif /* LEAT_PLUGIN_STREAMS_DLPACK_EXCHANGE_H_ */
