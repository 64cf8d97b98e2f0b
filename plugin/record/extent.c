/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/extent.h"

#include "core/status.h"

int32_t leati_extent_find(leat_device *device, uint64_t address, leati_extent *out, leat_error *err) {
  leati_block *const block = leati_memory_find(device, address);
  if (block != NULL) {
    const uint64_t base = leati_block_address(block);
    const uint64_t size = leati_block_size(block);
    if (address == base || address - base < size) {
      *out = (leati_extent){.block = block, .base = base, .size = size};
      return LEAT_OK;
    }
  }
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "0x%llx is not in a live block of the device",
                    (unsigned long long)address);
}
