/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The program of a graph: its nodes as rules rewrote them (graph/fusion_rules.h), for all shapes of inputs for which
 * rules would do the same (graph/guards.h). Plans are made of programs, one for each set of shapes; a graph has few
 * programs, which differ where a size is 0 or 1, or a rule asked for more than that.
 */
#ifndef LEAT_PLUGIN_GRAPH_PROGRAM_H_
#define LEAT_PLUGIN_GRAPH_PROGRAM_H_

#include "common/lru_table.h"
#include "core/fusions.h"
#include "graph/guards.h"

struct leati_fused_op;

typedef struct leati_program {
  leati_lru_entry entry; /**< of the graph's cache; by the hash of the pattern */
  uint64_t number;       /**< no other program of the process has, or had, the same */
  leati_shape_pattern pattern;
  leati_guards guards;
  leati_node *nodes; /**< as many as the graph has, */
  bool *live;        /**< and which of them run */
  struct leati_fused_op *made;
  uint32_t counts[LEATI_FUSION_COUNT]; /**< how often rules rewrote nodes */
} leati_program;

/** Rewrites the nodes of a graph for the shapes of an inference. Release with leati_program_free().
 * @param live by node, whether the graph's own is needed
 * @param pattern becomes the program's, also when it fails
 * @errors OUT_OF_MEMORY */
int32_t leati_program_make(const leati_inference *inference, const bool *live, const leati_shape_pattern *pattern,
                           leati_program **out, leat_error *err);
/** NULL: nothing. */
void leati_program_free(leati_program *program);

/** Whether a program is for the shapes of an inference, of this pattern. */
bool leati_program_fits(const leati_program *program, const leati_inference *inference,
                        const leati_shape_pattern *pattern);
/** Says why it is not, for people: `out` has LEAT_ERROR_MESSAGE_SIZE characters. */
void leati_program_difference(const leati_program *program, const leati_inference *inference,
                              const leati_shape_pattern *pattern, char *out);

#endif /* LEAT_PLUGIN_GRAPH_PROGRAM_H_ */
