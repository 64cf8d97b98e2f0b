/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Settings: what the host configured, else the environment, else defaults. The environment is read once, when the host
 * queries the backend and no worker exists; the settings are fixed while devices are known.
 */
#ifndef LEAT_PLUGIN_CORE_CONFIG_H_
#define LEAT_PLUGIN_CORE_CONFIG_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "policy/tuning.h"

/** Levels of LEAT_LOG; each includes those before it. */
typedef enum leati_log_level {
  LEATI_LOG_NONE,
  LEATI_LOG_ERROR,
  LEATI_LOG_WARN,
  LEATI_LOG_INFO,
  LEATI_LOG_DEBUG,
} leati_log_level;

/** What LEAT_MEMORY_GUARD says. */
typedef enum leati_guard_mode {
  LEATI_GUARD_OFF,
  LEATI_GUARD_ZONES, /**< red zones and poison, which are looked at now and then (memory/guard.h) */
  LEATI_GUARD_PAGES, /**< these, and pages that nobody may touch (core/pages.h) */
} leati_guard_mode;

/** What LEAT_MATRICES says. */
typedef enum leati_matrices_mode {
  LEATI_MATRICES_OFF,
  LEATI_MATRICES_ON,
  LEATI_MATRICES_KHR, /**< by VK_KHR_cooperative_matrix alone */
} leati_matrices_mode;

/** What LEAT_FLOAT32_MATMUL says: how sums of products of float32 are computed, those of matrix products and
 * convolutions that are large (leati_gemm_parts_pay()).
 *
 * LEATI_FLOAT32_FAST: on matrix hardware, where the device multiplies matrices of bfloat16 with sums in float32; else
 * as LEATI_FLOAT32_IEEE.
 * - A factor x is high + low + rest: high is x rounded to bfloat16 (8 significant bits), and low is x - high, which
 *   float32 holds, rounded towards zero. With 2^e <= |x| < 2^(e+1), |low| <= 2^(e-8) <= 2^-8 |x| and
 *   |rest| < 2^(e-16) <= 2^-16 |x|.
 * - Of a b, high high, high low and low high are added up, each of which float32 holds. What they lack is
 *   |low_a low_b + rest_a b + (a - rest_a) rest_b| <= (2^-16 + 2^-16 + (1 + 2^-16) 2^-16) |a b| < 3.01 2^-16 |a b|.
 * - A device that takes subnormal numbers for 0 drops less than 2^-125 more of each factor.
 * - So a sum is off by 3.01 2^-16 sum |a b| + 2^-125 sum (|a| + |b|) at most, beside what additions of three times as
 *   many terms in float32 give, whose magnitudes are below 1.02 sum |a b|.
 * - A sum that is not finite, as with a factor that rounds to infinity, is computed again in float32: infinities, NaN
 *   and overflow are those of float32. */
typedef enum leati_float32_matmul {
  LEATI_FLOAT32_IEEE,
  LEATI_FLOAT32_FAST,
} leati_float32_matmul;

/** Characters of a path that is a setting of its own to keep, at most: the report shows it whole. */
#define LEATI_PATH_MAX 200

/** Effective settings. */
typedef struct leati_config {
  char vulkan_device[128];     /**< LEAT_VULKAN_DEVICE: index, UUID or part of a name; empty: all, best first */
  int64_t lanes;               /**< LEAT_LANES: 1 to 8; 0: chosen from what is observed */
  int64_t wait_spin_us;        /**< LEAT_WAIT_SPIN_US: microseconds; -1: adapts */
  int64_t pool_timeout_ms;     /**< LEAT_STREAM_POOL_WAIT_TIMEOUT_MS: 0 not at all, -1 for ever */
  int64_t pool_round_robin;    /**< LEAT_STREAM_POLICY: 1 for round-robin */
  double high_watermark_ratio; /**< LEAT_HIGH_WATERMARK_RATIO: of the heap's budget, above 0 up to 1 */
  double low_watermark_ratio;  /**< LEAT_LOW_WATERMARK_RATIO: likewise, at most the high one; default: 0.8 of that */
  int64_t memory_guard;        /**< LEAT_MEMORY_GUARD: a leati_guard_mode */
  int64_t force_graph_path;    /**< LEAT_FORCE_GRAPH_PATH, FORCE_GRAPH_PATH: 0 or 1 */
  int64_t force_direct_path;   /**< LEAT_FORCE_DIRECT_PATH: 0 or 1 */
  uint64_t fusions_off;        /**< LEAT_FUSIONS_OFF: bits 1 << leati_fusion_number of what is not to be done */
  int64_t graph_plans_mib;     /**< LEAT_GRAPH_PLANS_MIB: 1 to 65536 */
  int64_t matrices;            /**< LEAT_MATRICES: a leati_matrices_mode */
  int64_t float32_matmul;      /**< LEAT_FLOAT32_MATMUL: a leati_float32_matmul */
  int64_t log;                 /**< LEAT_LOG: a leati_log_level */
  leati_tuning tuning;         /**< LEAT_TUNING: what kernels are cut by */
  char cache_dir[LEATI_PATH_MAX + 1]; /**< LEAT_CACHE_DIR: absolute path of a folder for compiled pipelines, without a
                                         slash at its end; empty: nothing is kept on disk */
  char profile[1024];                 /**< LEAT_PROFILE: path of a trace; empty: none */
} leati_config;

/** Takes the environment over, on the first call in the process. Later changes of it have no effect. Libraries of Leat
 * read it by secure_getenv(): in a set-user-ID program nobody may name files or code by it, so nothing is set there. */
void leati_config_read_environment(void);

/** Gives the settings. The backend's lock is held; what was given stays as it is while devices are known.
 * @errors INVALID_ARGUMENT: one that cannot be parsed; the message names it, its value and what is allowed */
int32_t leati_config_get(const leati_config **out, leat_error *err);

/** Tells whether leati_config_set() would take a value. Any thread.
 * @errors NOT_SUPPORTED: no such setting; INVALID_ARGUMENT: the value cannot be parsed */
int32_t leati_config_check(const char *name, const char *value, leat_error *err);

/** leat_backend_api::configure, without the check that no device is known. The backend's lock is held.
 * @errors those of leati_config_check() */
int32_t leati_config_set(const char *name, const char *value, leat_error *err);

/** Setting number `i` as leat-info shows it: name, effective value and where that came from, as "VALUE (ORIGIN)";
 * a value that does not fit is cut. 128 bytes are enough for a name. False when there is none. The backend's lock is
 * held. */
bool leati_config_describe(unsigned i, char *name, size_t name_size, char *value, size_t value_size);

/** Writes one line to stderr if LEAT_LOG admits it. Any thread, with or without locks. */
void leati_log(leati_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* LEAT_PLUGIN_CORE_CONFIG_H_ */
