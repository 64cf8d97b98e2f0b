/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The environment, read once before any work starts.
 */
#ifndef LEAT_PLUGIN_CONFIG_H_
#define LEAT_PLUGIN_CONFIG_H_

#include <leat/backend.h>
#include <stdbool.h>

/** Levels of LEAT_LOG; each includes those before it. */
typedef enum leati_log_level {
  LEATI_LOG_NONE,
  LEATI_LOG_ERROR,
  LEATI_LOG_WARN,
  LEATI_LOG_INFO,
  LEATI_LOG_DEBUG,
} leati_log_level;

/** Effective settings. Immutable once read. */
typedef struct leati_config {
  char vulkan_device[128]; /**< LEAT_VULKAN_DEVICE: index, UUID or part of a name; empty: all, best first */
  int64_t lanes;           /**< LEAT_LANES: 1 to 8; 0: chosen by the device */
  int64_t wait_spin_us;    /**< LEAT_WAIT_SPIN_US: microseconds; -1: chosen by the device */
  leati_log_level log;     /**< LEAT_LOG */
} leati_config;

/** Reads the environment on the first call and gives the settings.
 * @errors INVALID_ARGUMENT: a variable that cannot be parsed; the message names it, its value and what is allowed */
int32_t leati_config_get(const leati_config **out, leat_error *err);

/** Variable number `i` as leat-info shows it: name, effective value and where that came from. False when there is none.
 */
bool leati_config_describe(unsigned i, char *name, size_t name_size, char *value, size_t value_size);

/** Writes one line to stderr if LEAT_LOG admits it. */
void leati_log(leati_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* LEAT_PLUGIN_CONFIG_H_ */
