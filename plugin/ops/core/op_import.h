/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Descriptions of operators as hosts give them, checked against the entry that they name.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_OP_IMPORT_H_
#define LEAT_PLUGIN_OPS_CORE_OP_IMPORT_H_

#include "ops/core/op.h"

/** A leat_op_desc after import, with the arrays that it points to. */
typedef struct leati_imported_op {
  const leati_op_def *def;
  leati_op_desc desc;
  uint64_t types[LEATI_TYPE_CONSTRAINTS_MAX]; /**< by type constraint, of the inputs; 0: no input has it */
  void *memory; /**< of attributes and inputs; leati_free() it, whatever came of the import */
} leati_imported_op;

/** Finds the entry and checks counts, attributes, types, ranks and constants.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED, OUT_OF_MEMORY */
int32_t leati_op_import(const leat_op_desc *from, leati_imported_op *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_OP_IMPORT_H_ */
