/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Plans: what an operator does for tensors of given shapes, without their addresses.
 *
 * A plan is a list of steps whose tensors are *bindings*: numbers of the operator's inputs, outputs and temporaries. It
 * is plain data, made once (ops/core/planner.h), never changed, and recorded any number of times by any threads, each
 * time with the addresses of that call. Every access of a kernel to memory stands in it, so ordering, stamps and
 * addresses have one source.
 */
#ifndef LEAT_PLUGIN_RECORD_PLAN_H_
#define LEAT_PLUGIN_RECORD_PLAN_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/finding.h"
#include "device/pipeline.h"
#include "record/ranges.h"

struct leati_block;

/** Accesses of a step that read at most, and likewise that write. Reading more: several steps. */
#define LEATI_ACCESS_MAX 12
/** Accesses of a step with rows at most, all together. */
#define LEATI_ROW_ACCESSES_MAX 512
/** Temporary tensors of one plan at most. */
#define LEATI_TEMP_MAX 18

/** leati_plan_access::field of an access whose address stands nowhere. */
#define LEATI_FIELD_NONE UINT32_MAX

/** One access of a step to a binding. Offsets count from the address that the binding is given. */
typedef struct leati_plan_access {
  uint32_t binding;
  uint32_t field;     /**< where in the argument record the address goes, bytes */
  int64_t offset;     /**< of that address */
  int64_t begin, end; /**< bytes that may be touched, [begin, end), */
  leati_runs runs;    /**< or runs of them */
} leati_plan_access;

/** A step: a dispatch, or a copy of bytes from its only read to its only write. */
typedef struct leati_plan_step {
  bool copies;
  bool tells;            /**< its kernel may tell of a fault, see device/finding.h */
  bool draws;            /**< its kernel takes other random numbers each time that the plan is recorded */
  uint32_t first_access; /**< reads first, then writes (what is read and written stands there alone) */
  uint32_t read_count, write_count;
  leati_pipeline *pipeline;
  uint32_t groups[3];       /**< workgroups */
  uint32_t args, args_size; /**< argument record: where in leati_plan::args, and its bytes, with rows and counters */
  uint32_t counters;        /**< where in the record counters of its kernel lie, which are 0; 0: there are none */
  uint32_t counters_field;  /**< where in the record their address goes, if there are any */
  uint32_t rows;            /**< where in the record rows of its kernel lie (leati_dispatch_desc); 0: there are none */
  uint32_t rows_field;      /**< where in the record their address goes, if there are any */
  uint32_t finding_field;   /**< where in the record the address of a finding goes, if it tells */
  uint32_t draws_field; /**< where in the record a number goes that no other record of the device has, if it draws */
  leati_fault fault;
  uint32_t work_us; /**< of a dispatch: estimate of what it takes the device (policy/submitting.h) */
  uint32_t node;    /**< of leati_plan::nodes, if the plan has some */
  const char *name; /**< of the operator, constant */
} leati_plan_step;

/** Bytes that a call gives to the host at once: they follow from shapes and from what it takes on the host. */
typedef struct leati_plan_answer {
  uint32_t binding;
  uint32_t data, size; /**< where in leati_plan::args, and how many */
} leati_plan_answer;

/** A temporary tensor, and the steps from which to which it is in use. */
typedef struct leati_temporary {
  uint64_t size; /**< bytes */
  uint32_t first_step, last_step;
} leati_temporary;

/** A node of a graph, for those who want to know what a step is of. */
typedef struct leati_plan_node {
  const char *op;   /**< operator, constant */
  const char *name; /**< of the node, or "" */
  uint32_t number;  /**< in leat_graph_desc::nodes, or LEAT_PROFILE_NO_NODE */
} leati_plan_node;

typedef struct leati_plan {
  uint32_t binding_count; /**< inputs, outputs and temporaries, in this order */
  uint32_t step_count, access_count, answer_count, temporary_count;
  const leati_plan_step *steps;
  const leati_plan_access *accesses;
  const leati_plan_answer *answers;
  const leati_temporary *temporaries; /**< those of the last bindings */
  const unsigned char *args;          /**< argument records, with zeros where addresses go */
  const char *op;                     /**< for a profile: the operator, constant; "graph" */
  const leati_plan_node *nodes;       /**< likewise: of a graph; else NULL */
} leati_plan;

/** What a call gives a binding. */
typedef struct leati_binding {
  uint64_t address;          /**< of element [0, 0, ...] */
  struct leati_block *block; /**< device: the block it lies in; NULL: it is staged */
  void *data;                /**< host: element [0, 0, ...] */
} leati_binding;

/** Workgroups for a one-dimensional kernel over `count` items: in one row along x if the device's limit allows it, else
 * in rows of LEATI_GROUPS_ROW, the last of which may have more than there are. Such a kernel finds its number by
 * leat_linear_group() of kernels/leat.glsl. More rows than the device allows are refused by leati_plan_dispatch(). */
void leati_groups_linear(const leat_device *device, uint64_t count, uint32_t per_group, uint32_t groups[3]);

#endif /* LEAT_PLUGIN_RECORD_PLAN_H_ */
