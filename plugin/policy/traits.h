/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the rules know of a device: plain numbers, so that a test can make up any device.
 */
#ifndef LEAT_PLUGIN_POLICY_TRAITS_H_
#define LEAT_PLUGIN_POLICY_TRAITS_H_

#include <stdbool.h>
#include <stdint.h>

#include "policy/tuning.h"

/** A device and its host. */
typedef struct leati_traits {
  bool software;             /**< its kernels run on the host's processors */
  bool discrete;             /**< a GPU with memory of its own */
  uint32_t cores;            /**< processors of the host that this process may use, at least 1 */
  uint32_t processors;       /**< of the device, each of which runs workgroups by itself, at least 1 */
  uint32_t processors_least; /**< of the device, at least 1: as many as are known, or fewer than it has */
  uint32_t threads;          /**< of a workgroup in one dimension at most */
  uint32_t shared;           /**< bytes of shared memory that a workgroup may have */
  leati_tuning tuning;       /**< what kernels are cut by */
} leati_traits;

#endif /* LEAT_PLUGIN_POLICY_TRAITS_H_ */
