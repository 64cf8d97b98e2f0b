/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A file that keeps bytes from one process to the next: bytes that only save time, and so may be missing at any moment.
 * A key says whom they are for, and is in the file in full; a checksum covers all of it, so that whoever is given the
 * bytes is given those that were written.
 *
 * Reading takes nothing but a regular file of this user that nobody else may write, and follows no link to it. Writing
 * goes to a file of its own beside it, which then takes its place: readers and writers of any process see one file or
 * the other, whole. A folder keeps LEATI_CACHE_FILES_KEPT such files, those that were used last.
 *
 * No failure is an error of a caller: each is a line of LEAT_LOG=info, as what goes well is of LEAT_LOG=debug. Files of
 * other names are not touched.
 */
#ifndef LEAT_PLUGIN_CORE_CACHE_FILE_H_
#define LEAT_PLUGIN_CORE_CACHE_FILE_H_

#include <stdbool.h>
#include <stddef.h>

#include "core/config.h"

/** Which file. */
typedef struct leati_cache_file {
  const char *folder; /**< absolute path of LEATI_PATH_MAX characters at most; writing makes it, and the one above */
  const void *key;    /**< whom the bytes are for */
  size_t key_size;    /**< bytes */
} leati_cache_file;

/** What a file holds. */
typedef struct leati_cache_content {
  const void *data; /**< NULL: there is no such file, or it does not fit */
  size_t size;      /**< bytes; above 0 if there is any */
  void *memory;     /**< what leati_free() frees */
} leati_cache_content;

/** Reads a file, and notes that it was used. Any thread. Free `memory` afterwards, whatever came of it. */
leati_cache_content leati_cache_file_read(const leati_cache_file *file);

/** Writes a file, in place of what has its name. Any thread; the last one to write counts. False: it was not written,
 * and what was there is there yet. */
bool leati_cache_file_write(const leati_cache_file *file, const void *data, size_t size);

#endif /* LEAT_PLUGIN_CORE_CACHE_FILE_H_ */
