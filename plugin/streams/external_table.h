/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Memory and semaphores of other APIs as the ABI shows them.
 */
#ifndef LEAT_PLUGIN_STREAMS_EXTERNAL_TABLE_H_
#define LEAT_PLUGIN_STREAMS_EXTERNAL_TABLE_H_

#include <leat/backend.h>

extern const leat_external_api leati_external_table;

#endif /* LEAT_PLUGIN_STREAMS_EXTERNAL_TABLE_H_ */
