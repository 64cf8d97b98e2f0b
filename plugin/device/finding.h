/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Findings: what a kernel tells under LEAT_MEMORY_GUARD of the numbers it meets. Without guard an index out of range
 * reads 0 or writes nothing, an integer divided by zero gives 0, and nobody is told.
 *
 * A kernel that may meet such a number is given the address of a record, one for each dispatch, that lies with the
 * downloads of its list: the device writes it, and the host looks at it when the list has run (timeline/timeline.c).
 *
 * What is found where nobody reads a message, here or in memory, the device keeps until somebody is told.
 */
#ifndef LEAT_PLUGIN_DEVICE_FINDING_H_
#define LEAT_PLUGIN_DEVICE_FINDING_H_

#include <leat/backend.h>

/** The record as kernels/finding.glsl has it. All of it is 0 as long as nothing was found. */
typedef struct leati_finding {
  uint32_t met;  /**< not 0: the rest tells of the first that was met */
  uint32_t size; /**< of an index: what it should be below; of where writing begins: the last place, UINT32_MAX: any */
  int64_t value; /**< the index */
} leati_finding;

/** What may be found. */
typedef enum leati_fault {
  LEATI_FAULT_INDEX,   /**< an index is out of range */
  LEATI_FAULT_DIVISOR, /**< an integer is divided by zero */
  LEATI_FAULT_BEGIN,   /**< what is written from an index on does not fit */
} leati_fault;

/** A record that the host looks at when the list of its dispatch has run. */
typedef struct leati_check {
  const leati_finding *at; /**< mapped */
  const char *name;        /**< of the operator; constant */
  leati_fault fault;
} leati_check;

/** Looks whether the kernel has found something.
 * @errors INVALID_ARGUMENT: it has; the message names the operator */
int32_t leati_check_look(const leati_check *check, leat_error *err);

/** Keeps what was found until leati_finding_tell(), unless something is kept already, and says it on the log. Other
 * locks may be held. */
void leati_finding_keep(leat_device *device, const leat_error *failure);
/** Tells what is kept, once.
 * @errors what leati_finding_keep() was given */
int32_t leati_finding_tell(leat_device *device, leat_error *err);

#endif /* LEAT_PLUGIN_DEVICE_FINDING_H_ */
