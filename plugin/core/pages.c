/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pages.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t leati_page_size(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

bool leati_pages_take(uint64_t size, leati_pages *out) {
  const uint64_t page = leati_page_size();
  const uint64_t inside = (size + page - 1) & ~(page - 1);
  void *const all = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) {
    return false;
  }
  *out = (leati_pages){.begin = (unsigned char *)all + page, .size = inside};
  if (mprotect(out->begin, inside, PROT_READ | PROT_WRITE) != 0) {
    leati_pages_release(out);
    return false;
  }
  return true;
}

void leati_pages_close(const leati_pages *pages) {
  (void)mprotect(pages->begin, pages->size, PROT_NONE);
}

void leati_pages_release(leati_pages *pages) {
  if (pages->begin != NULL) {
    const uint64_t page = leati_page_size();
    (void)munmap(pages->begin - page, pages->size + 2 * page);
    *pages = (leati_pages){.begin = NULL};
  }
}
