/* SPDX-License-Identifier: BSD-3-Clause */
/* What test_host.c and random_test.c ask of the null driver, for a program that runs on another one: that computes by
 * itself, and of its inside nothing is known. */
#include "nulldriver/control.h"

void nulldriver_reset(void) {
}

void nulldriver_set_mode(nulldriver_mode mode, uint64_t parameter) {
  (void)mode;
  (void)parameter;
}

nulldriver_shape nulldriver_get_shape(void) {
  return (nulldriver_shape){.queue_count = 0};
}

void nulldriver_set_shape(const nulldriver_shape *shape) {
  (void)shape;
}

void nulldriver_set_kernel(nulldriver_kernel kernel, void *user) {
  (void)kernel;
  (void)user;
}

void *nulldriver_at(VkDeviceAddress address, uint64_t size) {
  (void)address;
  (void)size;
  return NULL;
}

uint64_t nulldriver_calls(const char *function) {
  (void)function;
  return 0;
}

uint32_t nulldriver_live(nulldriver_kind kind) {
  (void)kind;
  return 0;
}

uint64_t nulldriver_memory_used(void) {
  return 0;
}

uint32_t nulldriver_violations(void) {
  return 0;
}

const char *nulldriver_violation(uint32_t i) {
  (void)i;
  return "";
}
