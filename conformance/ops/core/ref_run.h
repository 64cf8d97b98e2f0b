/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The CPU reference of all operators that it has.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_REF_RUN_H_
#define LEAT_CONFORMANCE_OPS_CORE_REF_RUN_H_

#include "ops/core/node.h"

/** Computes the outputs of a node.
 * @threads any
 * @param node [inout] `outputs` all zero; release with leati_ref_node_clear()
 * @return whether it could; otherwise `error` says why */
bool leati_ref_run(leati_ref_node *node);

/** The family that an operator is of, "norm" of leati_ref_norm; NULL: the reference has no operator of the name. */
const char *leati_ref_family(const char *name);

#endif /* LEAT_CONFORMANCE_OPS_CORE_REF_RUN_H_ */
