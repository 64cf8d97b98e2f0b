/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The sources of cases, one per area. A new area gets one line here and one in sources.c; rows of operators get none.
 * CMake takes every .c file of this folder, and every rows.c and <noun>_rows.c of a family of operators.
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
void leati_cases_same_bits(leat_case_list *list);
void leati_cases_pool(leat_case_list *list);
void leati_cases_graph(leat_case_list *list);
void leati_cases_graph_arguments(leat_case_list *list);
void leati_cases_graph_views(leat_case_list *list);
void leati_cases_flags(leat_case_list *list);
void leati_cases_profiler(leat_case_list *list);
void leati_cases_external(leat_case_list *list);
/* Those of a family of operators, of each rows.c and <noun>_rows.c: the build makes lines "LIST(family)". */
#define LIST(family) void leati_rows_##family(leat_case_list *list);
#include "rows_lists.inc"
#undef LIST
void leati_cases_random(leat_case_list *list);

#endif /* LEAT_CONFORMANCE_CASES_SOURCES_H_ */
