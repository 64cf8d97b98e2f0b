/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Guard pages (LEAT_MEMORY_GUARD=pages): host memory between pages that nobody may touch. A device that works in it, as
 * one of software can, is stopped by the processor where it leaves it.
 */
#ifndef LEAT_PLUGIN_CORE_PAGES_H_
#define LEAT_PLUGIN_CORE_PAGES_H_

#include <stdbool.h>
#include <stdint.h>

/** Whole pages of the host, with one before and one behind them that may not be touched. */
typedef struct leati_pages {
  unsigned char *begin; /**< NULL: none */
  uint64_t size;        /**< bytes */
} leati_pages;

/** Bytes of a page. */
uint64_t leati_page_size(void);
/** Takes pages for at least `size` bytes. False: there is no memory. */
bool leati_pages_take(uint64_t size, leati_pages *out);
/** From now on nobody may touch these either. */
void leati_pages_close(const leati_pages *pages);
/** Releases them; does nothing for none. */
void leati_pages_release(leati_pages *pages);

#endif /* LEAT_PLUGIN_CORE_PAGES_H_ */
