/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The table of live segments, which finds the block behind an address.
 */
#ifndef LEAT_PLUGIN_MEMORY_SEGMENT_TABLE_H_
#define LEAT_PLUGIN_MEMORY_SEGMENT_TABLE_H_

#include <leat/backend.h>

#include "memory/memory_state.h"

/** Prepares a table that is all zeros. */
void leati_segment_table_create(leati_segment_table *table);
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
