/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A node as the backend wants to hear of it: from the graph, while nodes are being chosen, and from the kernel info,
 * while the chosen ones are made. Both say the same of a node.
 */
#ifndef LEAT_ONNXRUNTIME_DESCRIPTION_H_
#define LEAT_ONNXRUNTIME_DESCRIPTION_H_

#include "runtime.h"
#include "scratch.h"

/** A node's description and what it points to. All zero is an empty one. For one thread at a time. */
typedef struct leati_description {
  leat_op_desc op;       /**< the description itself */
  leati_scratch scratch; /**< what `op` points to */
  OrtValue **values;     /**< tensors of attributes, owned */
  uint32_t value_count;  /**< elements of `values` */
} leati_description;

/** Describes a node of a graph.
 * @threads one at a time per description
 * @param out [inout] an empty description; clear it also on failure
 * @param runtime [in] the tables
 * @param node [in] the node, whose names the description borrows
 * @param info [in] the operator, which says which attributes and host inputs to read
 * @param out_sayable [out] false: it has an input that Leat has no words for (no tensor, or strange elements), which
 * the backend hence cannot support
 * @return NULL, or what went wrong */
OrtStatus *leati_description_of_node(leati_description *out, const leati_runtime *runtime, const OrtNode *node,
                                     const leat_op_info *info, bool *out_sayable);

/** Describes no more than the attributes of a node of a graph.
 * @threads one at a time per description
 * @param out [inout] an empty description; clear it also on failure
 * @param runtime [in] the tables
 * @param node [in] the node, whose names the description borrows
 * @param info [in] the operator, which says which attributes to read
 * @return NULL, or what went wrong */
OrtStatus *leati_description_of_attributes(leati_description *out, const leati_runtime *runtime, const OrtNode *node,
                                           const leat_op_info *info);

/** Describes a value of a graph: its element type, and its shape as far as ONNX Runtime knows it.
 * @threads one at a time per description
 * @param out [inout] what the result points to lies in here
 * @param runtime [in] the tables
 * @param from [in] the value; NULL: an optional one that is absent
 * @param constants whether to give the elements, too, if it is a constant whose elements the host has
 * @param to [out] the value
 * @param out_present [out] false: it is absent, and nothing else is filled in
 * @param out_sayable [out] set to false if Leat has no words for it, and left alone otherwise
 * @return NULL, or what went wrong */
OrtStatus *leati_description_of_value(leati_description *out, const leati_runtime *runtime, const OrtValueInfo *from,
                                      bool constants, leat_value_info *to, bool *out_present, bool *out_sayable);

/** Describes a node whose kernel is being made.
 * @threads one at a time per description
 * @param out [inout] an empty description; clear it also on failure
 * @param runtime [in] the tables
 * @param kernel [in] what ONNX Runtime knows of the node
 * @param info [in] the operator, which says which attributes and host inputs to read
 * @return NULL, or what went wrong */
OrtStatus *leati_description_of_kernel(leati_description *out, const leati_runtime *runtime,
                                       const OrtKernelInfo *kernel, const leat_op_info *info);

/** Frees what a description holds; it is empty then.
 * @threads one at a time per description
 * @param description [inout] the description
 * @param runtime [in] the tables */
void leati_description_clear(leati_description *description, const leati_runtime *runtime);

#endif /* LEAT_ONNXRUNTIME_DESCRIPTION_H_ */
