/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the rewriting of a graph's nodes relied on. With other shapes of the inputs for which all of it is the same,
 * rewriting would do the same, and is left out.
 *
 * Ranks, types and which dimensions are 0 or 1 are the same for all shapes of one pattern. All else that rules ask is
 * noted here, one by one: a dimension of which the number counts, elements on the host, and questions about shapes with
 * their answers, such as whether two dimensions are equal. Dimensions that are equal by coincidence, and that nobody
 * asked about, so make no other program. Belongs to one thread until it is part of a program, and then does not change.
 */
#ifndef LEAT_PLUGIN_GRAPH_GUARDS_H_
#define LEAT_PLUGIN_GRAPH_GUARDS_H_

#include "graph/inference.h"

/* ---- Patterns --------------------------------------------------------------------------------------------------- */

/** Rank and type of all values, whether their elements are known, and which of their dimensions are 0 or 1; and which
 * outputs of the graph are wanted, and where. Two are equal if their marks are: all patterns of a graph have as many.
 */
typedef struct leati_shape_pattern {
  uint64_t hash;
  uint32_t count;
  uint32_t *marks; /**< leati_free() them */
} leati_shape_pattern;

/** The pattern of all values, which are known, as nodes give them: before they are placed.
 * @param outputs views of the graph's outputs
 * @errors OUT_OF_MEMORY */
int32_t leati_shape_pattern_make(const leati_inference *inference, const leati_view *outputs, leati_shape_pattern *out,
                                 leat_error *err);

/** Says where two patterns of a graph differ first, for people: `out` has LEAT_ERROR_MESSAGE_SIZE characters; false:
 * nowhere. */
bool leati_shape_pattern_differs(const leat_graph *graph, const leati_shape_pattern *a, const leati_shape_pattern *b,
                                 char *out);

/* ---- Guards ----------------------------------------------------------------------------------------------------- */

/** What a rule asks of what is known of some values: a pure function of that, of the device and of `with`. */
typedef bool leati_question(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                            uint64_t with);

/** Values of a question at most. */
#define LEATI_QUESTION_VALUES_MAX 8

struct leati_guard;

/** All zero: none. */
typedef struct leati_guards {
  struct leati_guard *list;
  uint32_t *places; /**< by hash: the number of a guard in the list, and 1; 0: none */
  uint32_t count, capacity, place_count;
  bool full; /**< there was no memory for one */
} leati_guards;

void leati_guards_end(leati_guards *guards);

/** Notes that the size of dimension `d` of value `v` counts, */
void leati_guards_dimension(leati_guards *guards, const leati_inference *inference, uint32_t v, int32_t d);
/** that its elements, at most 8 bytes that are known on the host, do, */
void leati_guards_elements(leati_guards *guards, const leati_inference *inference, uint32_t v);
/** or asks, and notes the answer.
 * @param count at most LEATI_QUESTION_VALUES_MAX */
bool leati_guards_ask(leati_guards *guards, const leati_inference *inference, leati_question *question, uint32_t count,
                      const uint32_t *values, uint64_t with);

/** Whether all of it holds for other shapes, of the same pattern. `again`: it held when leati_inference_fit() was said
 * of these. If it does not, `out_which` says what does not, for people,
 * if it is not NULL: at least LEAT_ERROR_MESSAGE_SIZE characters. */
bool leati_guards_hold(const leati_guards *guards, const leati_inference *inference, bool again, char *out_which);

/** Bytes that they take. */
uint64_t leati_guards_bytes(const leati_guards *guards);

#endif /* LEAT_PLUGIN_GRAPH_GUARDS_H_ */
