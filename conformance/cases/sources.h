/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The sources of cases, one per area or family of operators. A new one gets one line here and one in sources.c; CMake
 * takes every .c file of this folder and every rows.c.
 */
#ifndef LEAT_CONFORMANCE_CASES_SOURCES_H_
#define LEAT_CONFORMANCE_CASES_SOURCES_H_

#include "case.h"

void leati_cases_query(leat_case_list *list);
void leati_cases_configure(leat_case_list *list);
void leati_cases_device(leat_case_list *list);
void leati_cases_memory(leat_case_list *list);
void leati_cases_host_memory(leat_case_list *list);
void leati_cases_stream(leat_case_list *list);
void leati_cases_event(leat_case_list *list);
void leati_cases_dlpack(leat_case_list *list);
void leati_cases_arguments(leat_case_list *list);
void leati_cases_types(leat_case_list *list);
void leati_cases_asked(leat_case_list *list);
void leati_cases_threads(leat_case_list *list);
void leati_cases_workload(leat_case_list *list);
void leati_cases_pool(leat_case_list *list);
void leati_cases_graph(leat_case_list *list);
void leati_cases_graph_arguments(leat_case_list *list);
void leati_cases_graph_views(leat_case_list *list);
void leati_cases_profiler(leat_case_list *list);
void leati_cases_external(leat_case_list *list);
void leati_cases_op_elementwise(leat_case_list *list);
void leati_cases_op_reduce(leat_case_list *list);
void leati_cases_op_quantize(leat_case_list *list);
void leati_cases_op_matmul(leat_case_list *list);
void leati_cases_op_einsum(leat_case_list *list);
void leati_cases_op_fused(leat_case_list *list);
void leati_cases_op_pointwise(leat_case_list *list);
void leati_cases_op_qlinear(leat_case_list *list);
void leati_cases_op_attention(leat_case_list *list);
void leati_cases_op_conv(leat_case_list *list);
void leati_cases_op_norm(leat_case_list *list);
void leati_cases_op_movement(leat_case_list *list);
void leati_cases_op_index(leat_case_list *list);
void leati_cases_random(leat_case_list *list);

#endif /* LEAT_CONFORMANCE_CASES_SOURCES_H_ */
