/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Options of a session ("ep.leatexecutionprovider.KEY" among its configuration entries). Each stands for a setting of
 * the backend and beats it: for this session where that can be, else for the process, which the first session decides.
 */
#ifndef LEAT_ONNXRUNTIME_SESSION_OPTIONS_H_
#define LEAT_ONNXRUNTIME_SESSION_OPTIONS_H_

#include "runtime.h"

/** What a session was asked for. */
typedef struct leati_session_options {
  char *device;      /**< number, UUID or part of the name of the device it expects; NULL: any; owned */
  char *warm_shapes; /**< what Runs are prepared for: "probe", "none" or sets of sizes (probe_shapes.h); NULL: it is
                        left to Leat; owned */
  int64_t pool_timeout_ms; /**< how long a Run waits to be admitted: milliseconds, 0: not at all, -1: for ever, or
                              LEAT_POOL_TIMEOUT_CONFIGURED */
  bool graph_path;         /**< nodes that can run as one do, as a graph of the backend */
  bool fallback_bans;      /**< it must not use the CPU provider at all (session.disable_cpu_ep_fallback) */
} leati_session_options;

/** Reads the options of a session, brings those of the whole process into effect, and warns of what is asked for in
 * vain.
 * @threads any
 * @param out [out] the options; release with leati_session_options_clear(), also on failure
 * @param runtime [in] the tables
 * @param session [in] the session's options
 * @param logger [in] the session's logger
 * @return NULL, or which option is unknown, has a value that cannot be, and what can, or contradicts what is in effect
 * for the process and cannot change while a device is open */
OrtStatus *leati_session_options_read(leati_session_options *out, const leati_runtime *runtime,
                                      const OrtSessionOptions *session, const OrtLogger *logger);

/** Frees what options hold.
 * @threads any
 * @param options [inout] the options */
void leati_session_options_clear(leati_session_options *options);

#endif /* LEAT_ONNXRUNTIME_SESSION_OPTIONS_H_ */
