/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A text table whose columns are as wide as they need to be.
 */
#ifndef LEAT_TOOLS_TABLE_H_
#define LEAT_TOOLS_TABLE_H_

#include <glib.h>

/** A table. One thread at a time. */
typedef struct leati_table leati_table;

/** Starts a table with its heading. The first column is flush left, the others flush right.
 * @param heading [borrowed: until return] NULL-terminated
 * @return [owned: release with leati_table_free] */
leati_table *leati_table_new(const char *const *heading);

/** Adds a row.
 * @param cells [owned: taken] as many as the heading has, each released with g_free */
void leati_table_add(leati_table *table, char **cells);

/** The table as text, each line with a line feed. Columns are measured in characters of UTF-8.
 * @return [owned: release with g_free] */
char *leati_table_text(const leati_table *table);

/** Frees a table; NULL is allowed. */
void leati_table_free(leati_table *table);

#endif /* LEAT_TOOLS_TABLE_H_ */
