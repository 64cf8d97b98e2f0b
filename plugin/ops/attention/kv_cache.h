/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Caches of the keys and values of earlier positions, behind which new ones are put.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_KV_CACHE_H_
#define LEAT_PLUGIN_OPS_ATTENTION_KV_CACHE_H_

#include "ops/attention/heads.h"
#include "ops/core/planner.h"

/** How many positions each batch has. */
typedef struct leati_lengths {
  const leati_view
      *view;           /**< a number for each batch, of one dimension, that kernels can walk; NULL: all have `most` */
  int32_t added;       /**< to each of them, 0 or 1 */
  int64_t least, most; /**< numbers beyond are taken for these */
} leati_lengths;

/** In argument records; Lengths of kernels/lengths.glsl. */
typedef struct leati_lengths_args {
  uint64_t at;
  int32_t stride;
  uint32_t wide;
  int32_t added;
  int32_t least, most;
} leati_lengths_args;

/** Fills in the record, but for the address. */
leati_lengths_args leati_lengths_fill(const leati_lengths *lengths);

/** By what pairs of elements are turned. */
typedef struct leati_rotation {
  const leati_view *cosines, *sines; /**< of angles, by position and pair; that kernels can walk; NULL: nothing turns */
  /** By which position, of 64 bits, each new one of each batch is turned, that kernels can walk; NULL: by that where it
   * goes. What is out of range is taken for the nearest that there are angles for. */
  const leati_view *position_ids;
  bool counted;     /**< only the first of them counts, and all batches go on from there */
  bool interleaved; /**< neighbours are a pair; else an element of the first half and of the second */
} leati_rotation;

/** In argument records; Rotation of kernels/rotary.glsl. */
typedef struct leati_rotation_args {
  uint64_t cosines, sines, position_ids;
  int32_t cosine_strides[2], sine_strides[2], id_strides[2];
  uint32_t id_step;
  uint32_t pairs;
  uint32_t interleaved;
  int32_t positions;
} leati_rotation_args;

/** Fills in the record, but for addresses; all 0 where nothing is turned. */
leati_rotation_args leati_rotation_fill(const leati_rotation *rotation);

/** A cache, with the new positions that go behind its own; or new positions by themselves, as those of queries are. */
typedef struct leati_append_part {
  const leati_operand *past; /**< NULL: none */
  const leati_operand *fresh;
  const leati_view *to; /**< compact: batch, head, position, element; may be exactly `past` if that has its shape */
  bool alone;
  bool rotates;
  const leati_view *bias; /**< is added to `fresh`, which is not rotated: one number for each of all elements of a
                               position, head by head, that kernels can walk; NULL: none */
} leati_append_part;

#define LEATI_APPEND_PARTS 3

/** What goes behind what; behind both, zeros up to the end of the result. Only what goes by itself may have other
 * positions than the first part. */
typedef struct leati_append {
  uint32_t count;
  leati_append_part parts[LEATI_APPEND_PARTS]; /**< of one type, with the same batches and new positions */
  leati_lengths lengths;                       /**< of earlier and new positions together, if it has a view; */
  int64_t past;                                /**< else: earlier positions */
  leati_rotation rotation;
  /** Which of the `beams` neighbouring batches had an earlier position of a batch: numbers of 32 bits by batch and
   * position, compact, for as many positions as `past` has; what is out of range is taken for the nearest. NULL: its
   * own. */
  const leati_view *origins;
  int64_t beams;
} leati_append;

/** Plans it, as one dispatch.
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: a result of 2^31 elements or more */
int32_t leati_plan_append(leati_planner *planner, const leati_append *append, leat_error *err);

/** Fails unless the two are both given or both absent, and have the batches, heads and elements of the new keys and
 * values, and as many positions. `*out` is how many.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_kv_check(const char *name, const leati_view *past_key, const leati_view *past_value,
                       const leati_heads *keys, const leati_heads *values, int64_t *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_KV_CACHE_H_ */
