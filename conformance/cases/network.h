/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Small networks: chains of operators as models have them, run by many threads and checked in every operator's output.
 *
 * A network is made once: its operators, and its weights on the device. Any number of threads run it at once, each run
 * with an input and with blocks of its own. Every operator's output comes back, and is compared with what the CPU
 * reference makes, in double precision, of the operator's inputs as they came back: within the operator's own bound
 * (ops/core/bound.h), some units in the last place. The input is known, so if every step is right, the whole is. A
 * bound for the whole against the reference of the whole would be worst cases multiplied by worst cases, ten thousand
 * times as wide after a transformer block, and hide what this finds.
 */
#ifndef LEAT_CONFORMANCE_CASES_NETWORK_H_
#define LEAT_CONFORMANCE_CASES_NETWORK_H_

#include <stdbool.h>

#include "fixture.h"

/** Operators and weights. Constant once it is made. */
typedef struct leati_network leati_network;

/** One run of a network. */
typedef struct leati_network_run leati_network_run;

/** Which one, and how large. */
typedef struct leati_network_shape {
  enum {
    LEATI_NETWORK_LINEAR,      /**< Gemm: `rows` x `width` to `rows` x `hidden` */
    LEATI_NETWORK_MLP,         /**< Gemm, Relu, Gemm, Tanh, Gemm */
    LEATI_NETWORK_CONV1D,      /**< Conv, Relu, Conv over `width` places in `rows` channels, then Gemm */
    LEATI_NETWORK_BATCHED,     /**< MatMul of `heads` matrices, all three views strided */
    LEATI_NETWORK_NORM,        /**< LayerNormalization */
    LEATI_NETWORK_ATTENTION,   /**< self-attention; queries, keys and values are strided views of one product */
    LEATI_NETWORK_TRANSFORMER, /**< attention and an MLP, each with LayerNormalization before and a bypass */
  } kind;
  int64_t rows;   /**< rows, tokens or channels */
  int64_t width;  /**< elements of a row, places */
  int64_t hidden; /**< elements of a row inside of an MLP, features */
  int64_t heads;  /**< heads of the attention, which divide `width`; matrices of a batch */
} leati_network_shape;

/** A network, and how often threads run it. Constant. */
typedef struct leati_network_load {
  leati_network_shape shape;
  uint32_t threads; /**< 0: as many as there are worker streams */
  uint32_t runs;    /**< of each thread */
} leati_network_load;
#define LEATI_NETWORK_LOAD(n, t, ...)                     \
  &(const leati_network_load) {                           \
    .threads = (n), .runs = (t), .shape = { __VA_ARGS__ } \
  }

/** Makes a network. Ends the case as not supported if the plugin says so of an operator. Any thread. Release it with
 * leati_network_free(). */
leati_network *leati_network_new(leat_case_context *ctx, leati_network_shape shape);
void leati_network_free(leat_case_context *ctx, leati_network *network);

/** Puts a run into the stream: upload, operators, downloads. The input depends on `seed` alone. */
leati_network_run *leati_network_begin(leat_case_context *ctx, const leati_network *network, leat_stream *stream,
                                       uint32_t seed);

/** The network as one graph, which gives what its operators make, or what the last one makes alone. Its views are
 * Reshape and Gather there. Ends the case as not supported if the plugin says so. Any thread. Destroy it with
 * leati_graph_destroy(). */
leat_graph *leati_network_graph(leat_case_context *ctx, const leati_network *network, bool all);

/** As leati_network_begin(), by a launch of such a graph. */
leati_network_run *leati_network_launch(leat_case_context *ctx, const leati_network *network, const leat_graph *graph,
                                        bool all, leat_stream *stream, uint32_t seed);

/** Checks the last output of a run that a wait has covered, of which nothing else need be known: it is as near to what
 * the reference makes of the input as what the operators make one by one, up to a factor. */
void leati_network_check_last(leat_case_context *ctx, const leati_network_run *run);

/** Checks all outputs of a run that a wait has covered. */
void leati_network_check(leat_case_context *ctx, const leati_network_run *run);

/** What the last operator wrote, and how many bytes. The run's. */
const void *leati_network_result(const leati_network_run *run, size_t *out_size);

/** Releases a run that a wait has covered. */
void leati_network_end(leati_network_run *run);

/** One run from begin to end. */
void leati_network_once(leat_case_context *ctx, const leati_network *network, leat_stream *stream, uint32_t seed);

#endif /* LEAT_CONFORMANCE_CASES_NETWORK_H_ */
