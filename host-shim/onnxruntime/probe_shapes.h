/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Sizes of a model's named dimensions for which a session compiles before its first Run: those that the option
 * warm_shapes lists, or probes.
 */
#ifndef LEAT_ONNXRUNTIME_PROBE_SHAPES_H_
#define LEAT_ONNXRUNTIME_PROBE_SHAPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Names of dimensions at most; those of further ones have no size. */
#define LEATI_DIMENSIONS_MAX 16
/** Sets of sizes at most that the option lists. */
#define LEATI_WARM_SETS_MAX 64
/** Names of dimensions that probes give 1 in all combinations with primes. */
#define LEATI_PROBED_MAX 3

/** What each dimension name of a model's inputs stands for. All zero is none. */
typedef struct leati_dimensions {
  size_t count;
  const char *names[LEATI_DIMENSIONS_MAX]; /**< borrowed */
  int64_t sizes[LEATI_DIMENSIONS_MAX];     /**< -1: not known */
  /** A dimension that is the sum of two others, or the same as one (`sum_of[1]` is -1); `sum` is -1: none is. */
  int sum, sum_of[2];
} leati_dimensions;

/** Adds a name, unless it is there or there is no room. A name that says how it follows from others ("past + 1") is
 * only added where one of these is not there, so names without a sum come first.
 * @threads one at a time per struct
 * @param dimensions [inout] the names
 * @param name [borrowed] the name */
void leati_dimensions_add(leati_dimensions *dimensions, const char *name);

/** Gives the size of a dimension: that of its name, or the sum that the name is of.
 * @threads any
 * @param dimensions [in] names with sizes
 * @param name [in] the name
 * @return the size, or -1: it is not known */
int64_t leati_dimensions_size(const leati_dimensions *dimensions, const char *name);

/** Lists the names.
 * @threads any
 * @param dimensions [in] the names
 * @param text [out] "a, b", cut if it is too long
 * @param size bytes of `text` */
void leati_dimensions_list(const leati_dimensions *dimensions, char *text, size_t size);

/** Tells how many probes there are: of each magnitude all combinations of 1 and a prime for the first LEATI_PROBED_MAX
 * names, and a prime for the rest. Each name has primes of its own.
 * @threads any
 * @param dimensions [in] the names
 * @return the number; 1 without names */
size_t leati_probe_count(const leati_dimensions *dimensions);

/** Sets the sizes of a probe. What is a sum follows from the others.
 * @threads one at a time per struct
 * @param dimensions [inout] names, and their sizes
 * @param index number of the probe; 0 is the one of primes alone */
void leati_probe_set(leati_dimensions *dimensions, size_t index);

/** Tells whether a value of the option has the form "NAME=SIZE,NAME=SIZE;NAME=SIZE...", or is "probe" or "none".
 * @threads any
 * @param text [in] the value
 * @return whether it has */
bool leati_warm_shapes_valid(const char *text);

/** Reads one set of sizes of a value that is valid, and lists sets.
 * @threads one at a time per struct
 * @param text [in] the rest of the value
 * @param dimensions [inout] names, and their sizes
 * @param why [out] what is wrong with the set for a model with these dimensions
 * @param size bytes of `why`
 * @return the rest behind the set, empty: it was the last; NULL: the set names a dimension that there is not, or names
 *   one twice, or leaves one out */
const char *leati_warm_shapes_next(const char *text, leati_dimensions *dimensions, char *why, size_t size);

#endif /* LEAT_ONNXRUNTIME_PROBE_SHAPES_H_ */
