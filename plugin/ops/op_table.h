/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The operator table of the ABI over all families, and the operators that a device has.
 */
#ifndef LEAT_PLUGIN_OPS_OP_TABLE_H_
#define LEAT_PLUGIN_OPS_OP_TABLE_H_

#include <leat/backend.h>

extern const leat_op_api leati_op_table;

/** Makes the device's list of operators.
 * @errors OUT_OF_MEMORY */
int32_t leati_ops_create(leat_device *device, leat_error *err);
/** Frees the operators that are left, and the list. */
void leati_ops_destroy(leat_device *device);

#endif /* LEAT_PLUGIN_OPS_OP_TABLE_H_ */
