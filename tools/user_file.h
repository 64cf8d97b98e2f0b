/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Files that a person names. Neither opening one nor reading it waits for somebody or goes on for ever.
 */
#ifndef LEAT_TOOLS_USER_FILE_H_
#define LEAT_TOOLS_USER_FILE_H_

#include <glib.h>
#include <stdint.h>
#include <stdio.h>

/** Reads a regular file as a whole.
 * @threads any
 * @param most bytes that it may have
 * @param out_bytes [out, owned: release with g_free] never NULL on success
 * @return FALSE with @p error set: no such file, no regular one (a pipe or a device may have no end), longer than
 *   @p most, or not to be read */
gboolean leati_user_file_read(const char *path, uint64_t most, char **out_bytes, size_t *out_size, GError **error);

/** Opens a file to be written from its beginning, which is made if there is none; a pipe or a device stays what it is.
 * @threads any
 * @return [owned: release with fclose] NULL with @p error set; also for a pipe that nobody reads from */
FILE *leati_user_file_create(const char *path, GError **error);

#endif /* LEAT_TOOLS_USER_FILE_H_ */
