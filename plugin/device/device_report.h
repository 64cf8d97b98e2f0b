/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The report: what leat_device_api::report says of the machine, the settings and the devices.
 */
#ifndef LEAT_PLUGIN_DEVICE_DEVICE_REPORT_H_
#define LEAT_PLUGIN_DEVICE_DEVICE_REPORT_H_

#include <leat/backend.h>

/** Writes as many properties as there is room for, and sets how many there are. The devices are known, and the
 * backend's lock is held. */
void leati_device_report_write(uint32_t *inout_count, leat_property *out);

#endif /* LEAT_PLUGIN_DEVICE_DEVICE_REPORT_H_ */
