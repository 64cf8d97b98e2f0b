/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The shim's own copy of a backend's tables: checked, at full size, with no slot empty.
 */
#ifndef LEAT_HOST_SHIM_STUBS_H_
#define LEAT_HOST_SHIM_STUBS_H_

#include <leat/backend.h>

/** Everything that leat_host_load() gives out for one backend. */
typedef struct leati_tables {
  leat_backend_api backend; /**< points at the tables below */
  leat_device_api device;
  leat_memory_api memory;
  leat_stream_api stream;
  leat_event_api event;
  leat_op_api op;
  leat_pool_api pool;
  leat_graph_api graph;
  leat_profiler_api profiler;
  leat_external_api external;
} leati_tables;

/** Checks what a backend gave and copies it. A slot that the backend may leave out, and did, gets a function that
 * returns LEAT_ERROR_NOT_SUPPORTED and names the slot. Memory is probed before it is read, so that a wild pointer to a
 * table or string is an error and no crash; function pointers cannot be probed.
 * @param tables [out] the copy; undefined on failure
 * @param given [in] the backend's table of tables, may be NULL
 * @param abi_min, abi_max the range that the backend was asked for
 * @param path [in] the library's name, for messages
 * @param err [out] what is wrong, may be NULL
 * @errors LEAT_ERROR_VERSION: not in the range; LEAT_ERROR_INTERNAL: the table breaks the contract */
int32_t leati_tables_complete(leati_tables *tables, const leat_backend_api *given, uint32_t abi_min, uint32_t abi_max,
                              const char *path, leat_error *err);

#endif /* LEAT_HOST_SHIM_STUBS_H_ */
