/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The graphs whose launches are measured.
 */
#ifndef LEAT_TOOLS_BENCH_GRAPHS_H_
#define LEAT_TOOLS_BENCH_GRAPHS_H_

#include "bench/rig.h"

/** Rows of one request, and columns of all. */
#define LEATI_REQUEST_ROWS 4
#define LEATI_REQUEST_COLUMNS 384

/** A chain of running sums of int32 along axis 0, of a matrix of any size: as the chain of operators, in one launch.
 * @return NULL with the error set if it cannot be built; else release it with leat_graph_api::destroy() */
leat_graph *leati_graph_chain(const leati_rig *rig, guint length, GError **error);

/** A perceptron of twelve layers, each LEATI_REQUEST_COLUMNS wide, of float32 and any number of rows. */
leat_graph *leati_graph_perceptron(const leati_rig *rig, GError **error);

/** What the perceptron makes of a row. Its weights, of which three to an output are not 0, and inputs are whole numbers
 * below 16: no sum is rounded. */
void leati_perceptron_row(const float *input, float *output);

#endif /* LEAT_TOOLS_BENCH_GRAPHS_H_ */
