/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases/sources.h"

const leat_case_source leati_case_sources[] = {
    {LEAT_PROFILE_CORE, leati_cases_query},
    {LEAT_PROFILE_CORE, leati_cases_configure},
    {LEAT_PROFILE_CORE, leati_cases_device},
    {LEAT_PROFILE_CORE, leati_cases_memory},
    {LEAT_PROFILE_CORE, leati_cases_host_memory},
    {LEAT_PROFILE_CORE, leati_cases_stream},
    {LEAT_PROFILE_CORE, leati_cases_event},
    {LEAT_PROFILE_CORE, leati_cases_dlpack},
    {LEAT_PROFILE_CORE, leati_cases_arguments},
    {LEAT_PROFILE_CORE, leati_cases_types},
    {LEAT_PROFILE_CORE, leati_cases_threads},
    {LEAT_PROFILE_CORE, leati_cases_workload},
    {LEAT_PROFILE_CORE, leati_cases_pool},
    {LEAT_PROFILE_CORE, leati_cases_graph},
    {LEAT_PROFILE_CORE, leati_cases_graph_arguments},
    {LEAT_PROFILE_CORE, leati_cases_graph_views},
    {LEAT_PROFILE_CORE, leati_cases_flags},
    {LEAT_PROFILE_CORE, leati_cases_profiler},
    {LEAT_PROFILE_CORE, leati_cases_external},
    {LEAT_PROFILE_OPERATORS, leati_cases_asked},
    {LEAT_PROFILE_OPERATORS, leati_cases_same_bits},
/* Rows of each family: the build makes lines "LIST(family)". */
#define LIST(family) {LEAT_PROFILE_OPERATORS, leati_rows_##family},
#include "rows_lists.inc"
#undef LIST
    {LEAT_PROFILE_OPERATORS, leati_cases_random},
    {0, NULL},
};
