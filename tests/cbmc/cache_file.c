/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of compiled pipelines: what of their bytes reaches the driver. */
#include "core/cache_file.c"
#include "device/pipeline_cache.c"

#include "outside.h"

/* Bytes of the data of a file here at most, and of its key. */
#define DATA 4
#define KEY 2

/* Whatever the bytes of a file are, nothing behind them is read, and they are given to nobody unless they are of the
 * key, of the length that they say and of their own checksum.
 * UNWIND 26
 * MISTAKE plugin/core/cache_file.c: `head.data_size != size - sizeof(head) - file->key_size` becomes
 * `head.data_size > size - sizeof(head)`
 * MISTAKE plugin/core/cache_file.c: `head.key_size != file->key_size || memcmp(key, file->key, file->key_size) != 0`
 * becomes `head.key_size != file->key_size` */
void prove_a_damaged_file_is_refused(void) {
  static const unsigned char key[KEY] = {1, 2};
  const leati_cache_file file = {.folder = "", .key = key, .key_size = KEY};
  const size_t size = sizeof(header) + KEY + 1 + ANY(uint32_t) % DATA;
  unsigned char *const bytes = malloc(size);
  ASSUME(bytes != NULL);
  if (refuse_content(&file, bytes, size) == NULL) {
    header head;
    memcpy(&head, bytes, sizeof(head));
    PROVE(head.data_size == size - sizeof(head) - KEY && head.key_size == KEY);
    PROVE(bytes[sizeof(head)] == key[0] && bytes[sizeof(head) + 1] == key[1]);
  }
}

/* The driver is given no data without Vulkan's header of this device, or with one that says it is longer than the data.
 * UNWIND 17
 * MISTAKE plugin/device/pipeline_cache.c: `header.headerSize <= content->size &&` becomes ``
 * MISTAKE plugin/device/pipeline_cache.c: `if (content->size < sizeof(header))` becomes `if (content->size == 0)` */
void prove_the_driver_gets_a_header_that_fits(void) {
  const leati_pipeline_cache_key cache_key;
  const size_t size = 1 + ANY(uint32_t) % 40;
  unsigned char *const data = malloc(size);
  ASSUME(data != NULL);
  const leati_cache_content content = {.data = data, .size = size};
  if (has_header(&cache_key, &content)) {
    VkPipelineCacheHeaderVersionOne head;
    PROVE(size >= sizeof(head));
    memcpy(&head, data, sizeof(head));
    PROVE(head.headerSize >= sizeof(head) && head.headerSize <= size && head.vendorID == cache_key.vendor);
  }
}
