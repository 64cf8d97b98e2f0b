/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Finding and loading a Leat backend. A host that links libleat_host needs no dlopen(), no negotiation and no check for
 * missing slots: what the backend lacks is filled with functions that return LEAT_ERROR_NOT_SUPPORTED.
 */
#ifndef LEAT_HOST_H_
#define LEAT_HOST_H_

#include <leat/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Loads a backend and gives its table, complete. Loading the same file again gives the same table. Never unloads.
 * @threads any
 * @param path [in] the library; NULL: $LEAT_PLUGIN_PATH (a file, or a folder that holds libleat_vulkan.so), else the
 * folder of the library that holds this function, else the folder it was installed to
 * @param out [out] the table, a constant that lives as long as the process; NULL on failure
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_UNAVAILABLE: no such file, or not a backend; LEAT_ERROR_VERSION: no ABI version in common */
LEAT_EXPORT int32_t leat_host_load(const char *path, const leat_backend_api **out, leat_error *err);

/** Name of a status code, such as "LEAT_ERROR_TIMEOUT".
 * @threads any
 * @param code any number */
LEAT_EXPORT const char *leat_host_status_name(int32_t code);

#ifdef __cplusplus
}
#endif

#endif /* LEAT_HOST_H_ */
