/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The entries of all families: the list of operators that the ABI shows.
 */
#ifndef LEAT_PLUGIN_OPS_ENTRIES_H_
#define LEAT_PLUGIN_OPS_ENTRIES_H_

#include "ops/op.h"

uint32_t leati_entries_count(void);
/** Entry `index` of the list, or NULL. */
const leati_op_def *leati_entries_get(uint32_t index);
/** The entry of an operator of this operator set for `opset`.
 * @errors NOT_SUPPORTED */
int32_t leati_entries_find(const char *domain, const char *name, uint32_t opset, const leati_op_def **out,
                           leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ENTRIES_H_ */
