/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Files that a person names. Neither opening one nor reading it waits for somebody or goes on for ever.
 */
#ifndef LEAT_CONFORMANCE_FILE_H_
#define LEAT_CONFORMANCE_FILE_H_

#include <glib.h>
#include <stdio.h>

/** Reads the lines of a text file.
 * @return [owned: release with g_strfreev()] NULL with @p error set: no such file, no regular one (a pipe or a device
 *   may have no end), or longer than any list of cases */
char **leati_file_lines(const char *path, GError **error);

/** Opens something that is there, such as a pipe, a device or what a link leads to, to be written from its beginning.
 * @return [owned: release with fclose()] NULL with @p error set; also for a pipe that nobody reads from */
FILE *leati_file_open(const char *path, GError **error);

/** Says whether a shared library has been cut off: the dynamic loader does not look, and a process that loads one ends
 * by SIGBUS. FALSE for what is no library of this machine's kind, which the loader refuses. */
gboolean leati_file_cut_off(const char *path);

#endif /* LEAT_CONFORMANCE_FILE_H_ */
