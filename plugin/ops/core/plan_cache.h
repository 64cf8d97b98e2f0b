/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The plans that an operator has been invoked with, so that a call like an earlier one infers and plans nothing.
 *
 * A plan fits a call if types, shapes, strides, values of host inputs (of some the range that they lie in), and
 * addresses modulo LEATI_PLAN_ALIGNMENT are the same. The least recently used go out for what comes
 * (common/lru_table.h). Of a call with more than LEATI_CACHED_ARGUMENTS_MAX inputs and outputs no plan is kept.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_PLAN_CACHE_H_
#define LEAT_PLUGIN_OPS_CORE_PLAN_CACHE_H_

#include "ops/core/op_state.h"

/** `cache` is all zero, and is not moved from then on. */
void leati_plan_cache_begin(leati_plan_cache *cache);

/** The plan that fits a call, and the bindings of its inputs and outputs; NULL: there is none, or something is wrong
 * with the arguments, which were checked for all that fits. `bindings` has room for LEATI_BINDINGS_MAX. For a thread
 * that is counted in, as long as it is. */
const leati_plan *leati_plan_cache_find(const leati_plan_cache *cache, const leat_op *op, uint32_t input_count,
                                        const DLTensor *const *inputs, uint32_t output_count,
                                        const DLTensor *const *outputs, leati_binding *bindings);
#define LEATI_CACHED_ARGUMENTS_MAX 32
#define LEATI_BINDINGS_MAX (LEATI_CACHED_ARGUMENTS_MAX + LEATI_TEMP_MAX)

/** The shapes of all outputs if a plan fits the inputs, else NULL. Memory on the device is not looked at. For a thread
 * that is counted in, as long as it is. */
const leat_shape *leati_plan_cache_shapes(const leati_plan_cache *cache, const leat_op *op, uint32_t input_count,
                                          const DLTensor *const *inputs, uint32_t output_count);

/** The output that may be exactly the memory of input `i` of so many, by flags alone, or LEATI_NO_ALIAS. */
uint32_t leati_alias_of(const leat_op_info *info, uint32_t i, uint32_t input_count, uint32_t output_count);
#define LEATI_NO_ALIAS UINT32_MAX

/** Whether output `o` may be exactly the memory of input `i`, by flags, types and shapes. */
bool leati_may_alias(const leat_op_info *info, const leati_call *call, uint32_t i, uint32_t o);

/** Adds what was planned for a call whose views are placed, and whose outputs have these shapes; or not, if there is no
 * memory, values on the host are large, or another thread adds. For a thread that is not counted in by `readers`, by
 * which those are that look. */
void leati_plan_cache_add(leati_plan_cache *cache, const leati_lru_readers *readers, const leati_planner *planner,
                          const leat_op *op, const leati_call *call, const DLTensor *const *inputs,
                          const DLTensor *const *outputs, const leat_shape *shapes);

#endif /* LEAT_PLUGIN_OPS_CORE_PLAN_CACHE_H_ */
