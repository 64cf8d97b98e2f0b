/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Static C++ objects that own things of Leat and release them in their destructors.
 */
#ifndef LEAT_TESTS_LIFE_HOLDER_H_
#define LEAT_TESTS_LIFE_HOLDER_H_

#include <leat/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What an object owns; NULL and 0 are nothing. `address` and `device` go together. */
typedef struct holder {
  const leat_backend_api *api;
  leat_device *device;
  leat_stream *stream;
  leat_event *event;
  leat_op *op;
  uint64_t address;
} holder;

/** What the object owns that was made before main(). */
holder *holder_early(void);
/** What the object owns that is made by the first call of this. */
holder *holder_late(void);

#ifdef __cplusplus
}
#endif

#endif /* LEAT_TESTS_LIFE_HOLDER_H_ */
