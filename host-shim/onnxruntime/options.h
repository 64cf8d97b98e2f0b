/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Options of a session ("ep.leatexecutionprovider.KEY" among its configuration entries), and the environment variables
 * that the provider itself reads. An option beats a variable with the prefix LEAT_, and that one without.
 */
#ifndef LEAT_ONNXRUNTIME_OPTIONS_H_
#define LEAT_ONNXRUNTIME_OPTIONS_H_

#include "runtime.h"

/** What a session was asked for. */
typedef struct leati_options {
  char *device;       /**< number, UUID or part of the name of the device it expects; NULL: any; owned */
  bool fallback_bans; /**< it must not use the CPU provider at all (session.disable_cpu_ep_fallback) */
} leati_options;

/** Checks the environment variables, once, when the library is registered.
 * @threads any
 * @param runtime [in] the tables
 * @return NULL, or which variable has a value that cannot be, and what can */
OrtStatus *leati_options_check_environment(const leati_runtime *runtime);

/** Reads the options of a session, and warns of what it asks for in vain.
 * @threads any
 * @param out [out] the options; release with leati_options_clear(), also on failure
 * @param runtime [in] the tables
 * @param session [in] the session's options
 * @param logger [in] the session's logger
 * @return NULL, or which option is unknown or has a value that cannot be, and what can */
OrtStatus *leati_options_read(leati_options *out, const leati_runtime *runtime, const OrtSessionOptions *session,
                              const OrtLogger *logger);

/** Frees what options hold.
 * @threads any
 * @param options [inout] the options */
void leati_options_clear(leati_options *options);

#endif /* LEAT_ONNXRUNTIME_OPTIONS_H_ */
