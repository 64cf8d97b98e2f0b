/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The operator table of the ABI over all families, and the operators that a device has.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_OP_TABLE_H_
#define LEAT_PLUGIN_OPS_CORE_OP_TABLE_H_

#include <leat/backend.h>

extern const leat_op_api leati_op_table;

/** Makes the device's list of operators.
 * @errors OUT_OF_MEMORY */
int32_t leati_ops_create(leat_device *device, leat_error *err);
/** Frees the operators that are left, and the list. */
void leati_ops_destroy(leat_device *device);

/** Makes an operator that is not in the device's list, as leat_op_api::create(); leati_op_free() it. */
int32_t leati_op_make(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_OP_TABLE_H_ */
