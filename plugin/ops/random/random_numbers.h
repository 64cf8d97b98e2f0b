/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which random numbers an operator takes.
 *
 * Numbers are a function of a key, a stream and a counter (kernels/philox.glsl): nothing is kept between calls, and
 * nobody waits for anybody. With a seed key and stream are the operator's, so each launch has the same numbers. Without
 * one the key is the device's and the stream a number that each step takes when it is recorded
 * (leati_dispatch_desc::draws), so no two launches share numbers, whatever their threads.
 */
#ifndef LEAT_PLUGIN_OPS_RANDOM_RANDOM_NUMBERS_H_
#define LEAT_PLUGIN_OPS_RANDOM_RANDOM_NUMBERS_H_

#include "ops/core/attribute.h"

/** What the attributes say. */
typedef struct leati_random {
  bool seeded;
  uint64_t key, stream; /**< with a seed */
} leati_random;

/** What the argument record of a kernel holds of it. */
typedef struct leati_random_args {
  uint64_t key, stream;
  uint64_t offset; /**< address of an int64 that is added to `stream`; 0: none is */
} leati_random_args;

/** "seed" as ONNX has it of most operators; */
extern const leat_op_attribute leati_attribute_seed_float;
/** as Dropout has it and domain "leat", with the stream. */
extern const leat_op_attribute leati_attribute_seed, leati_attribute_offset;
extern const leat_op_attribute leati_attribute_dtype;

/** Reads "seed" and "offset". The key is the seed if that is an integer, or the bits of a float. */
leati_random leati_random_read(const leati_op_desc *desc);

/** What goes into the argument record; `offset` is still 0. */
leati_random_args leati_random_args_of(const leat_op *op, const leati_random *random);

/** leati_dispatch_desc::draws of a dispatch with `args` in its argument record. */
static inline const uint64_t *leati_random_draws(const leati_random *random, const leati_random_args *args) {
  return random->seeded ? NULL : &args->stream;
}

/** The optional input `i` that is added to the stream; NULL: it is not there, or not read for want of a seed. */
static inline const leati_view *leati_random_offset(const leati_random *random, const leati_call *call, uint32_t i) {
  return random->seeded ? leati_input(call, i) : NULL;
}
/** Fails unless it has one element.
 * @errors INVALID_ARGUMENT */
int32_t leati_random_check_offset(const leat_op *op, const leati_call *call, uint32_t i, leat_error *err);

/** Workgroups for `count` elements, four to a thread of 256. */
void leati_random_groups(const leat_op *op, uint64_t count, uint32_t groups[3]);

/** Reads the attribute "dtype", whose type must be one of `types`: LEAT_TYPE_*, `otherwise` where it is absent.
 * @errors NOT_SUPPORTED */
int32_t leati_random_type(const leati_op_def *def, const leati_op_desc *desc, uint64_t types, uint64_t otherwise,
                          uint64_t *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_RANDOM_RANDOM_NUMBERS_H_ */
