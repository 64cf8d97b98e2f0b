/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Memory as the ABI shows it: allocation tied to streams, copies, and exchange of tensors by DLPack.
 */
#ifndef LEAT_PLUGIN_STREAMS_TRANSFER_H_
#define LEAT_PLUGIN_STREAMS_TRANSFER_H_

#include <leat/backend.h>

extern const leat_memory_api leati_memory_table;

/** Cuts the tensors that were exported from a device off it, before it closes: their deleters then free nothing. */
void leati_exports_close(leat_device *device);

#endif /* LEAT_PLUGIN_STREAMS_TRANSFER_H_ */
