/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A host of the plugin on the null driver: tensors of floats with known contents, and a Relu that computes.
 */
#ifndef LEAT_TESTS_NULLDRIVER_TEST_HOST_H_
#define LEAT_TESTS_NULLDRIVER_TEST_HOST_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "nulldriver/control.h"

/** An open device. */
typedef struct host {
  const leat_backend_api *api;
  leat_device *device;
  leat_op *relu; /**< of float vectors */
} host;

/** Opens device 0 and lets Relu compute. The result is that of the first call that failed. */
int32_t host_open(host *h, leat_error *err);
/** Closes the device, and lets the plugin forget what it knows of devices. */
int32_t host_close(host *h, leat_error *err);

/** Makes another Relu of float vectors; release with destroy(). */
int32_t host_make_relu(const host *h, leat_op **out, leat_error *err);

/** The kernel that host_open() sets: Relu of compact floats, and small downloads where a kernel makes them. All else
 * that is dispatched does nothing. */
void host_compute(const nulldriver_dispatch *dispatch, void *user);

/** Ends the process with the message unless the status is LEAT_OK: for threads, which have no test to fail. */
void host_need(int32_t status, const leat_error *err, const char *what);
#define HOST_NEED(call)                            \
  do {                                             \
    leat_error err = {.struct_size = sizeof(err)}; \
    host_need((call), &err, #call);                \
  } while (0)

/** Tensors of `*count` floats on the host and on the device; `count` must outlive them. */
DLTensor host_tensor(const float *data, int64_t *count);
DLTensor device_tensor(uint64_t address, int64_t *count);

/** Contents: what float i of a tensor with this seed is, and after how many Relus. Some are negative. */
typedef struct host_content {
  uint32_t seed;
  bool rectified;
} host_content;
float host_value(host_content content, int64_t i);
void host_fill(float *data, int64_t count, host_content content);
/** Index of the first float that is not as it should be, or -1. */
int64_t host_compare(const float *data, int64_t count, host_content content);

/** Prints what the driver noted, and returns how much that is. */
uint32_t host_report_violations(void);
/** Prints which objects of a closed device are alive, and returns how many. */
uint32_t host_report_leaks(void);

/** Makes the device a GPU with memory of its own, where small downloads are a kernel's and large ones go in pieces. To
 * be called before it is opened. */
void host_be_discrete(void);

/** Before a test: the driver as it is when loaded, so that the plugin finds the device anew. */
int host_before(void **state);
/** After a test: fails it if a rule was broken or anything is left. */
int host_after(void **state);

#endif /* LEAT_TESTS_NULLDRIVER_TEST_HOST_H_ */
