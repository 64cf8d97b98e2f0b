/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The registry: the entries of all families, which are the list of operators that the ABI shows.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_REGISTRY_H_
#define LEAT_PLUGIN_OPS_CORE_REGISTRY_H_

#include "ops/core/op.h"

/** All families: the build makes this table of those that the rooms list. */
extern const leati_op_family *const leati_families[];
extern const uint32_t leati_family_count;

uint32_t leati_registry_count(void);
/** Entry `index` of the list, or NULL. */
const leati_op_def *leati_registry_get(uint32_t index);
/** The entry of an operator of this domain for `since_version`.
 * @errors NOT_SUPPORTED */
int32_t leati_registry_find(const char *domain, const char *name, uint32_t since_version, const leati_op_def **out,
                            leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_REGISTRY_H_ */
