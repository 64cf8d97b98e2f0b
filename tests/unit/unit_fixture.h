/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * An open device for unit tests of the plugin, through the plugin's own table. Without a usable device a test is
 * skipped.
 */
#ifndef LEAT_TESTS_UNIT_UNIT_FIXTURE_H_
#define LEAT_TESTS_UNIT_UNIT_FIXTURE_H_

#include <leat/backend.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <stdlib.h>

/** Fails the test with the message of a call that did not return LEAT_OK, or did and left an error all the same. */
#define assert_ok(call)                                                \
  do {                                                                 \
    leat_error err = {.struct_size = sizeof(err)};                     \
    const int32_t status_ = (call);                                    \
    if (status_ != LEAT_OK || err.code != LEAT_OK) {                   \
      fail_msg("%s: status %d: %s", #call, (int)status_, err.message); \
    }                                                                  \
  } while (0)

typedef struct fixture {
  const leat_backend_api *api;
  leat_device *device;
} fixture;

static inline int fixture_open(void **state) {
  fixture *const f = calloc(1, sizeof(*f));
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  uint32_t count = 0;
  *state = f;
  if (f == NULL || leat_backend_query(&info, &f->api, NULL) != LEAT_OK ||
      f->api->device->count(&count, NULL) != LEAT_OK) {
    return -1;
  }
  return count == 0 ? 0 : f->api->device->open(0, &f->device, NULL);
}

static inline int fixture_close(void **state) {
  fixture *const f = *state;
  const int status = f->device == NULL ? 0 : f->api->device->close(f->device, NULL);
  free(f);
  return status;
}

/** The fixture of a test, or the end of it. */
static inline fixture *fixture_of(void **state) {
  fixture *const f = *state;
  if (f->device == NULL) {
    print_message("no usable Vulkan device\n");
    skip();
  }
  return f;
}

/** Opens the fixture's device anew with a setting; NULL: as it was. */
static inline void reopen(fixture *f, const char *name, const char *value) {
  assert_ok(f->api->device->close(f->device, &err));
  f->device = NULL;
  assert_ok(f->api->shutdown(&err));
  assert_ok(f->api->configure(name, value, &err));
  assert_ok(f->api->device->open(0, &f->device, &err));
}

/** What the classes say of the one with blocks of so many bytes. */
static inline leat_memory_class class_of_size(fixture *f, uint64_t block_size) {
  leat_memory_class all[128], found = {.block_size = 0};
  uint32_t count = 128;
  for (uint32_t i = 0; i < count; ++i) {
    all[i] = (leat_memory_class){.struct_size = sizeof(all[i])};
  }
  assert_ok(f->api->memory->classes(f->device, &count, all, &err));
  for (uint32_t i = 0; i < count; ++i) {
    found = all[i].block_size == block_size ? all[i] : found;
  }
  return found;
}

#endif /* LEAT_TESTS_UNIT_UNIT_FIXTURE_H_ */
