/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tables of live segments, which find the block behind an address.
 */
#ifndef LEAT_PLUGIN_MEMORY_SEGMENT_TABLE_H_
#define LEAT_PLUGIN_MEMORY_SEGMENT_TABLE_H_

#include <leat/backend.h>

#include "memory/memory_state.h"

/** Prepares a table that is all zeros: of segments by the device's addresses, or by the host's. */
void leati_segment_table_create(leati_segment_table *table, bool by_host);
/** Frees what the table holds, not the segments. */
void leati_segment_table_destroy(leati_segment_table *table);
/** Adds a segment, whose address is known.
 * @errors OUT_OF_MEMORY */
int32_t leati_segment_table_insert(leati_segment_table *table, leati_segment *added, leat_error *err);
/** Takes out all segments that are leaving. `trim_lock` held. */
void leati_segment_table_remove_leaving(leati_segment_table *table);
/** The live block that holds `address`, or NULL. Takes no lock. */
leati_block *leati_segment_table_find(leati_segment_table *table, uint64_t address);

#endif /* LEAT_PLUGIN_MEMORY_SEGMENT_TABLE_H_ */
