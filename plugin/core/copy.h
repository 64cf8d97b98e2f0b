/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Copies of large results to memory of the host.
 */
#ifndef LEAT_PLUGIN_CORE_COPY_H_
#define LEAT_PLUGIN_CORE_COPY_H_

#include <stddef.h>

/** As memcpy(), for more than the caches of a processor hold: where there are such, by stores that go past them, so
 * that no line of the destination is read before it is written. Other threads see all of it as they would after
 * memcpy().
 * @param to [out] `size` bytes, of any alignment
 * @param from [in] `size` bytes, of any alignment, apart from those */
void leati_copy_past_caches(void *to, const void *from, size_t size);

#endif /* LEAT_PLUGIN_CORE_COPY_H_ */
