/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Memory as the ABI shows it: allocation tied to streams, copies, figures, and the exchange of tensors
 * (streams/dlpack_exchange.h).
 */
#ifndef LEAT_PLUGIN_STREAMS_MEMORY_TABLE_H_
#define LEAT_PLUGIN_STREAMS_MEMORY_TABLE_H_

#include <leat/backend.h>

extern const leat_memory_api leati_memory_table;

#endif /* LEAT_PLUGIN_STREAMS_MEMORY_TABLE_H_ */
