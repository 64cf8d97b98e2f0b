/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Planning: what an operator's `plan` function writes its steps with.
 *
 * While it plans, an operator sees tensors as views whose addresses stand for those to come: each binding lies at an
 * origin of its own that agrees with its real address modulo LEATI_PLAN_ALIGNMENT bytes, and that is all that may be
 * relied upon. A planner belongs to one thread.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_PLANNER_H_
#define LEAT_PLUGIN_OPS_CORE_PLANNER_H_

#include <stddef.h>

#include "memory/tensor.h"
#include "record/plan.h"

/** Bytes modulo which a plan knows the addresses of its tensors. */
#define LEATI_PLAN_ALIGNMENT 16u
/** Inputs and outputs of an operator at most, all together: 16 bits of an origin say which it is of. */
#define LEATI_ARGUMENTS_MAX 65000u
/** Outputs on the host of one operator at most. */
#define LEATI_ANSWER_MAX 4

/** Bytes of the rows of a dispatch at most. */
#define LEATI_ROWS_MAX 16384
/** Counters of a dispatch at most. */
#define LEATI_COUNTERS_MAX 128

/** Of each kind so many are kept in the planner itself; more come from the heap. */
#define LEATI_INLINE_STEPS 4
#define LEATI_INLINE_ACCESSES 16
#define LEATI_INLINE_ARGS 2048

typedef struct leati_planner {
  leat_device *device;
  const char *op; /**< leati_plan::op of the plan; NULL at first: steps of a graph are of its nodes */
  bool guarded;   /**< kernels that can shall tell of faults: LEAT_MEMORY_GUARD is on */
  uint32_t binding_count;
  uint32_t step_count, step_capacity;
  uint32_t access_count, access_capacity;
  uint32_t args_size, args_capacity;
  uint32_t answer_count, temporary_count;
  leati_plan_step *steps; /**< these three: the arrays below, or from the heap */
  leati_plan_access *accesses;
  unsigned char *args;
  leati_plan_step inline_steps[LEATI_INLINE_STEPS];
  leati_plan_access inline_accesses[LEATI_INLINE_ACCESSES];
  _Alignas(8) unsigned char inline_args[LEATI_INLINE_ARGS];
  leati_plan_answer answers[LEATI_ANSWER_MAX];
  leati_temporary temporaries[LEATI_TEMP_MAX];
} leati_planner;

/** An access of a dispatch. */
typedef struct leati_access {
  const leati_view *view; /**< NULL and views without elements: there is none, and the field is 0 */
  const uint64_t *field;  /**< in the argument record: takes the address of the view; NULL: none does */
} leati_access;

/** One dispatch. */
typedef struct leati_dispatch_desc {
  leati_pipeline_key pipeline;
  const void *args;   /**< argument record, std430; copied */
  uint32_t args_size; /**< bytes, at most LEATI_ARGS_MAX */
  /** For kernels of more tensors than a record has room for: bytes behind it that a kernel reads by their address,
   * which goes where `rows_at` says in `args`. `field` of an access may point there too, and there are up to
   * LEATI_ROW_ACCESSES_MAX accesses then. Copied. NULL: there are none. */
  const void *rows;
  uint32_t rows_size; /**< bytes, at most LEATI_ROWS_MAX */
  const uint64_t *rows_at;
  uint32_t groups[3]; /**< workgroups; a zero count makes the dispatch a no-op */
  uint32_t read_count, write_count;
  const leati_access *reads;  /**< what the kernel may read */
  const leati_access *writes; /**< what it may write (what it reads and writes stands here alone) */
  /** Numbers of 32 bits that are 0 when the kernel begins, and that it leaves so, with the address of the first in
   * `args`: for workgroups to find out which of them is the last. They lie behind the argument record. 0: none. */
  uint32_t counter_count;
  const uint64_t *counters;
  uint64_t multiplications; /**< of pairs that are added up, if there are more than the tensors have elements; else 0 */
  const uint64_t *draws;    /**< NULL, or where in `args` a number goes that is another one each time that the plan is
                               recorded, and that no other step on the device has had */
  const uint64_t *finding;  /**< NULL, or where in `args` the address goes at which the kernel tells of `fault` */
  leati_fault fault;
  const char *name; /**< with `finding`: of the operator; constant */
} leati_dispatch_desc;

/** `reads` and `writes` of a dispatch, from a list of accesses: LEATI_READS({&x, &args.x}, {bias, &args.bias}). */
#define LEATI_READS(...)                        \
  .reads = (const leati_access[]){__VA_ARGS__}, \
  .read_count = sizeof((const leati_access[]){__VA_ARGS__}) / sizeof(leati_access)
#define LEATI_WRITES(...)                        \
  .writes = (const leati_access[]){__VA_ARGS__}, \
  .write_count = sizeof((const leati_access[]){__VA_ARGS__}) / sizeof(leati_access)

/** Begins a plan for so many inputs and outputs. leati_planner_end() must follow. */
void leati_planner_begin(leati_planner *planner, leat_device *device, uint32_t input_count, uint32_t output_count);
/** Makes a view that of a binding: inputs come first, then outputs. That of a tensor on the device gets an address that
 * stands for those to come. */
void leati_planner_place(leati_view *view, uint32_t binding);
/** The plan as far as it has got; good until the planner goes on or ends. */
leati_plan leati_planner_plan(const leati_planner *planner);
/** A copy of the plan with a life of its own, in one piece of host memory of `*out_size` bytes behind `header` bytes
 * that are zeroed; NULL: there is none. leati_free() the piece. */
void *leati_planner_keep(const leati_planner *planner, size_t header, leati_plan *out, size_t *out_size);
/** Frees what belongs to the planner. */
void leati_planner_end(leati_planner *planner);

/** Appends a dispatch. Compiles its pipeline if nobody has, which may take long: hold no lock.
 * @errors NOT_SUPPORTED if the device allows fewer workgroups; OUT_OF_MEMORY, INTERNAL; EXHAUSTED of leati_compile() */
int32_t leati_plan_dispatch(leati_planner *planner, const leati_dispatch_desc *dispatch, leat_error *err);

/** Appends a copy of the bytes of `dst`, which lie side by side from its address on, from those at the address of
 * `src`.
 * @errors OUT_OF_MEMORY */
int32_t leati_plan_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err);

/** Makes a compact temporary tensor. `out->type`, `ndim` and `shape` are set by the caller; the rest is filled in.
 * @errors OUT_OF_MEMORY, INTERNAL: there are LEATI_TEMP_MAX already */
int32_t leati_plan_temporary(leati_planner *planner, leati_view *out, leat_error *err);

/** Says what an output on the host will hold: `size` bytes, which are copied.
 * @errors OUT_OF_MEMORY, INTERNAL: there are LEATI_ANSWER_MAX already */
int32_t leati_plan_answer_host(leati_planner *planner, const leati_view *output, const void *bytes, uint32_t size,
                               leat_error *err);

/** Rounds that every device gives the loops of one invocation, all together: lavapipe leaves loops after 65535, and
 * counts some that a kernel does not. */
#define LEATI_ROUNDS_MAX 64000u
/** Fails if an invocation of a kernel takes more rounds than the device gives it, which would be wrong without a word.
 * @errors NOT_SUPPORTED */
int32_t leati_check_rounds(const leat_device *device, uint64_t rounds, const char *what, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_PLANNER_H_ */
