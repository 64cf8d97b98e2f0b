/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * ONNX Runtime as leat-run uses it: its API table, the one environment of the process, the Leat provider's library
 * and device, and sessions.
 */
#ifndef LEAT_TOOLS_ORT_H_
#define LEAT_TOOLS_ORT_H_

#include <glib.h>
#include <onnxruntime_c_api.h>

/** What ONNX Runtime calls the Leat provider. */
#define LEATI_ORT_PROVIDER "LeatExecutionProvider"

/** The oldest API that says which node went to which provider. */
#define LEATI_ORT_API_MIN 24

/** Open ONNX Runtime. Constant after leati_ort_register(), and then usable from any thread. */
typedef struct leati_ort {
  const OrtApi *api;
  OrtEnv *env;
  uint32_t api_version;
  const char *version;       /**< of the library, such as "1.31.1" */
  const OrtEpDevice *device; /**< of the Leat provider; NULL until one is chosen */
  char *device_text;         /**< [owned] what it is, for people */
  char *library;             /**< [owned] the registered provider library, or NULL */
} leati_ort;

/** How a session is to be made. */
typedef struct leati_session_plan {
  gboolean leat;                       /**< the device of the leati_ort before the CPU provider */
  gboolean no_fallback;                /**< refuse a model of which a node would run on the CPU provider */
  gboolean explain;                    /**< have leati_ort_refusal() say why Leat does not run a node */
  const GraphOptimizationLevel *level; /**< [borrowed: until return] NULL: ONNX Runtime's own */
  int cpu_threads;                     /**< threads inside one run on the CPU provider; 0: one a core */
  GBytes *bytes;                       /**< [borrowed: until return] to be read instead of the file; NULL: the file.
                                        *   Weights in files of their own are looked for beside it in any case */
  const GPtrArray *provider_options;   /**< [borrowed: until return] leati_named_value *, or NULL */
} leati_session_plan;

/** Opens ONNX Runtime. Its own log is silent (what matters comes back as an error), except for lines about Leat.
 * @param verbose show all of its warnings on stderr
 * @param out [out] release with leati_ort_close(), also after a failure
 * @return FALSE with @p error set if the library is too old or will not start */
gboolean leati_ort_open(gboolean verbose, leati_ort *out, GError **error);

/** Registers the Leat provider's library and chooses a device of it.
 * @param library path, or NULL for libleat_onnxruntime.so beside this program or in its library folder
 * @param device number among its devices, or part of a description, or NULL for the first
 * @return FALSE with @p error set: no such file, not a provider, no device, or none that fits */
gboolean leati_ort_register(leati_ort *ort, const char *library, const char *device, GError **error);

/** What the chosen device is called; without one, the CPU provider.
 * @return [borrowed: until leati_ort_close] */
const char *leati_ort_device_name(const leati_ort *ort);

/** Figures of the chosen device's memory, by the names that ONNX Runtime and the provider have for them.
 * @return [owned: release with api->ReleaseKeyValuePairs] NULL: there is no such device, or it tells none */
OrtKeyValuePairs *leati_ort_memory(const leati_ort *ort);

/** Why the Leat provider refused a node of a session that was to explain it.
 * @threads any
 * @param op its operator, without a domain
 * @return [owned: release with g_free] NULL: nothing was said */
char *leati_ort_refusal(const char *op, const char *node);

/** Ends ONNX Runtime. All sessions must be gone. */
void leati_ort_close(leati_ort *ort);

/** Takes a status and frees it.
 * @threads any
 * @return TRUE for success, else FALSE with the message in @p error */
gboolean leati_ort_ok(const leati_ort *ort, OrtStatus *status, GError **error);

/** Makes a session that keeps a record of which node went where.
 * @threads any
 * @param path the model
 * @return [owned: release with api->ReleaseSession] NULL with @p error set, saying what about the file is wrong */
OrtSession *leati_ort_session(const leati_ort *ort, const char *path, const leati_session_plan *plan, GError **error);

#endif /* LEAT_TOOLS_ORT_H_ */
