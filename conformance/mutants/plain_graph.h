/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A graph table in the plainest way, out of a plugin's other tables: a launch creates the operators, invokes them one
 * by one and destroys them. It plans nothing and fuses nothing, so that it shows what the contract asks for and no
 * more: the cases about graphs pass on it, and each of its faults is one that a case must notice. Operators that give
 * or take numbers on the host in the middle of a graph are not supported.
 */
#ifndef LEAT_CONFORMANCE_MUTANTS_PLAIN_GRAPH_H_
#define LEAT_CONFORMANCE_MUTANTS_PLAIN_GRAPH_H_

#include <leat/backend.h>

/** What is wrong with it on purpose. */
typedef enum leati_plain_fault {
  LEATI_PLAIN_RIGHT,
  LEATI_PLAIN_LAST_NODE_DROPPED,        /**< a launch leaves out the last node */
  LEATI_PLAIN_UNWANTED_NODES_DROPPED,   /**< nodes whose outputs are not asked for are left out, though others take them
                                         */
  LEATI_PLAIN_NODES_REVERSED,           /**< a launch invokes the nodes last one first */
  LEATI_PLAIN_TEMPORARIES_SHARED,       /**< all launches put what nodes leave to others into the same blocks */
  LEATI_PLAIN_TEMPORARIES_KEPT,         /**< those blocks are never freed */
  LEATI_PLAIN_DOWNLOAD_TOO_EARLY,       /**< outputs on the host are read before the stream has made them */
  LEATI_PLAIN_STREAM_IGNORED,           /**< a launch goes into another stream */
  LEATI_PLAIN_CONSTANTS_BORROWED,       /**< constants are read at the launch, from the caller's memory */
  LEATI_PLAIN_STRIDES_IGNORED,          /**< inputs are taken for compact */
  LEATI_PLAIN_RESERVED_UNCHECKED,       /**< reserved fields are not looked at */
  LEATI_PLAIN_ORDER_UNCHECKED,          /**< a node may take what a later one makes, and a value may be made twice */
  LEATI_PLAIN_CONSTANTS_UNCHECKED,      /**< a constant may be other than its value is said to be */
  LEATI_PLAIN_OVERLAP_UNCHECKED,        /**< an output may lie over an input */
  LEATI_PLAIN_REFUSED_TOO_LATE,         /**< outputs are checked when inputs were already copied into them */
  LEATI_PLAIN_SHAPES_OF_FIRST_LAUNCH,   /**< all launches are taken for ones of the first one's shapes */
  LEATI_PLAIN_UNWANTED_OUTPUTS_REFUSED, /**< a launch wants all outputs */
  LEATI_PLAIN_NODE_UNNAMED,             /**< a message does not name the node */
  LEATI_PLAIN_TRANSPOSES_DROPPED,       /**< a Transpose leaves the elements in their order */
  LEATI_PLAIN_PARTS_SWAPPED             /**< a Concat takes its inputs last one first */
} leati_plain_fault;

/** The table. Call once, before it is used.
 * @param base [in] a plugin's tables, which live as long as the process
 * @param fault what is to be wrong */
const leat_graph_api *leati_plain_graph(const leat_backend_api *base, leati_plain_fault fault);

#endif /* LEAT_CONFORMANCE_MUTANTS_PLAIN_GRAPH_H_ */
