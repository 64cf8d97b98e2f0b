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
 * folder of the library that holds this function, else leat/ in that folder, else the folder it was installed to
 * @param out [out] the table, a constant that lives as long as the process; NULL on failure
 * @param err [out] what went wrong, may be NULL
 * @errors LEAT_ERROR_UNAVAILABLE: no such file, or not a backend; LEAT_ERROR_VERSION: no ABI version in common */
LEAT_EXPORT int32_t leat_host_load(const char *path, const leat_backend_api **out, leat_error *err);

/** Name of a status code, such as "LEAT_ERROR_TIMEOUT".
 * @threads any
 * @param code any number */
LEAT_EXPORT const char *leat_host_status_name(int32_t code);

/** A stream bound to a thread for a while: between leat_stream_guard_begin() and leat_stream_guard_end(). Belongs to
 * the thread that began it. Guards may be nested; those of one device end last begun first. */
typedef struct leat_stream_guard {
  const leat_backend_api *api; /**< NULL: the guard is empty, there is nothing to restore */
  leat_device *device;         /**< whose current stream was bound */
  leat_stream *previous;       /**< bound before; NULL: none, and the thread's own was its current one */
} leat_stream_guard;

/** Binds a stream as the calling thread's current one (leat_pool_api::set_current) until leat_stream_guard_end().
 * Acquires, releases and waits for nothing.
 * @threads any
 * @param api [in] the table of leat_host_load()
 * @param device [in] an open device
 * @param stream [in] any live stream of the device, or NULL for the thread's own. Neither it nor what was bound before
 *   may be destroyed until the end of the guard
 * @param guard [out] what to restore; empty after an error
 * @param err [out] what went wrong, may be NULL
 * @errors those of leat_pool_api::set_current; LEAT_ERROR_NOT_SUPPORTED: the backend has no pool. What was bound stays
 *   bound */
static inline int32_t leat_stream_guard_begin(const leat_backend_api *api, leat_device *device, leat_stream *stream,
                                              leat_stream_guard *guard, leat_error *err) {
  leat_stream *previous = NULL;
  const int32_t status = api->pool->set_current(device, stream, &previous, err);
  guard->api = status == LEAT_OK ? api : NULL;
  guard->device = device;
  guard->previous = previous;
  return status;
}

/** Binds again what was bound before leat_stream_guard_begin(). An empty guard does nothing, and any guard is empty
 * afterwards, so a second end does no harm.
 * @threads any
 * @param guard [inout] what leat_stream_guard_begin() filled in, on this thread
 * @errors those of leat_pool_api::set_current, among them LEAT_ERROR_INVALID_ARGUMENT: what was bound before has been
 *   destroyed. The binding then stays as it is */
static inline int32_t leat_stream_guard_end(leat_stream_guard *guard) {
  const leat_backend_api *const api = guard->api;
  guard->api = NULL;
  return api == NULL ? LEAT_OK : api->pool->set_current(guard->device, guard->previous, NULL, NULL);
}

#if defined(__GNUC__)
/** Where the compiler can, a guard ends with the block that declares it, on every way out:
 * `leat_stream_guard guard LEAT_STREAM_GUARD_SCOPED = {0};`. The status of that end is lost. */
#define LEAT_STREAM_GUARD_SCOPED __attribute__((cleanup(leat_stream_guard_end)))
#endif

#ifdef __cplusplus
}
#endif

#endif /* LEAT_HOST_H_ */
