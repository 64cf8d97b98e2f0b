/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases/sources.h"

const leat_case_source leati_case_sources[] = {
    leati_cases_query,          leati_cases_configure, leati_cases_device,
    leati_cases_memory,         leati_cases_stream,    leati_cases_event,
    leati_cases_dlpack,         leati_cases_arguments, leati_cases_asked,
    leati_cases_threads,        leati_cases_workload,  leati_cases_pool,
    leati_cases_op_elementwise, leati_cases_op_reduce, leati_cases_op_matmul,
    leati_cases_op_conv,        leati_cases_op_norm,   leati_cases_op_movement,
    leati_cases_op_index,       leati_cases_random,    NULL,
};
