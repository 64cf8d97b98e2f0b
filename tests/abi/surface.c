/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A library with nothing but the entry symbol. All types of the ABI hang on its parameters, so its debug information is
 * the ABI as abidiff sees it.
 */
#include <leat/backend.h>

int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  (void)host;
  (void)err;
  *out = NULL;
  return LEAT_ERROR_UNAVAILABLE;
}
