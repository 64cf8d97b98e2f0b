/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The two libraries that the provider stands between: ONNX Runtime, which loaded it, and the Leat backend, which it
 * loads. Neither is linked: both come as tables of functions.
 *
 * Everything here is constant once made and may be used from any thread.
 */
#ifndef LEAT_ONNXRUNTIME_RUNTIME_H_
#define LEAT_ONNXRUNTIME_RUNTIME_H_

#include <leat/backend.h>
#include <onnxruntime_c_api.h>
#include <stdbool.h>

/** The name that sessions and options know the provider by. */
#define LEATI_PROVIDER_NAME "LeatExecutionProvider"
/** The oldest ONNX Runtime API that has everything the provider cannot do without (kernel registries of plugins). */
#define LEATI_API_MIN 24u

/** The tables, and what was negotiated. Immutable once leati_runtime_init() has returned. */
typedef struct leati_runtime {
  const OrtApi *ort;            /**< ONNX Runtime, in version `version` */
  const OrtEpApi *ep;           /**< its half for execution providers */
  const leat_backend_api *leat; /**< the backend, complete: no slot is missing */
  const OrtLogger *logger;      /**< for what happens outside of sessions; ONNX Runtime's */
  uint32_t release;             /**< N of ONNX Runtime 1.N; 0: of unknown form */
  uint32_t version;             /**< API version of every struct we give: the smaller of header and runtime */
} leati_runtime;

/** Negotiates with ONNX Runtime and loads the backend.
 * @threads any
 * @param out [out] the tables; `ort` is set whenever a status is returned, so that it can be released
 * @param base [in] what ONNX Runtime handed in
 * @param logger [in] ONNX Runtime's default logger
 * @return NULL, or why not: the runtime is too old, or there is no usable backend */
OrtStatus *leati_runtime_init(leati_runtime *out, const OrtApiBase *base, const OrtLogger *logger);

/** Makes a status of our own words.
 * @threads any
 * @param runtime [in] the tables
 * @param code ONNX Runtime's code
 * @param format [in] printf() format and its arguments */
OrtStatus *leati_status(const leati_runtime *runtime, OrtErrorCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Makes a status of what the backend said, with our words before it: "words: message".
 * @threads any
 * @param runtime [in] the tables
 * @param code what the backend's function returned
 * @param error [in] what it filled in
 * @param format [in] printf() format and its arguments
 * @return NULL when `code` is LEAT_OK */
OrtStatus *leati_status_from(const leati_runtime *runtime, int32_t code, const leat_error *error, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));

/** Puts words before the message of a status: "words: message". Consumes the status.
 * @threads any
 * @param runtime [in] the tables
 * @param status [owned] a failure, or NULL, which stays NULL
 * @param format [in] printf() format and its arguments */
OrtStatus *leati_status_prefix(const leati_runtime *runtime, OrtStatus *status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Forgets a status, for calls whose failure is an answer.
 * @threads any
 * @param runtime [in] the tables
 * @param status [owned] any status, or NULL
 * @return whether it was a success (NULL) */
bool leati_status_drop(const leati_runtime *runtime, OrtStatus *status);

/** Writes a line to a logger of ONNX Runtime, if its level asks for it.
 * @threads any
 * @param runtime [in] the tables
 * @param logger [in] the logger; NULL: the default one
 * @param level how bad it is
 * @param format [in] printf() format and its arguments */
void leati_ort_log(const leati_runtime *runtime, const OrtLogger *logger, OrtLoggingLevel level, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/** Tells whether leati_ort_log() would write, for lines that cost something to make.
 * @threads any
 * @param runtime [in] the tables
 * @param logger [in] the logger; NULL: the default one
 * @param level how bad the line would be */
bool leati_ort_log_wanted(const leati_runtime *runtime, const OrtLogger *logger, OrtLoggingLevel level);

#endif /* LEAT_ONNXRUNTIME_RUNTIME_H_ */
