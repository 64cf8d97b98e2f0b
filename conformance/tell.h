/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a process that runs cases tells the runner, line by line, through a pipe. Without a pipe (a person re-runs a
 * case, perhaps under a debugger) it is printed.
 *
 * Lines are words separated by tabs, each escaped as a C string:
 *   error MESSAGE | defect MESSAGE | plugin NAME VERSION BUILD-ID ABI HEADER CAPABILITIES |
 *   device INDEX NAME DRIVER UUID FLAGS | no-device REASON | begin CASE |
 *   accuracy CASE TYPE ERROR BOUND | pass CASE | fail CASE MESSAGE |
 *   skip CASE REASON | lack CASE OPERATOR REASON | done
 * How it ended its exit status says too.
 */
#ifndef LEAT_CONFORMANCE_TELL_H_
#define LEAT_CONFORMANCE_TELL_H_

#include <glib.h>

#define LEAT_CHILD_FAILED 3     /**< exit status: the case failed */
#define LEAT_CHILD_SKIPPED 4    /**< exit status: the case is not supported */
#define LEAT_CHILD_BAD_PLUGIN 5 /**< exit status: not a plugin */
#define LEAT_CHILD_NO_DEVICE 6  /**< exit status: no such device */

/** Where lines go; -1, as at first: they are printed for a person. Call it before any case runs. */
void leati_tell_to(int fd);

/** Tells one line, from any thread: its kind and its words, ended by NULL. */
void leati_tell(const char *kind, ...) G_GNUC_NULL_TERMINATED;

/** Splits a line into unescaped words. Free with g_strfreev(). */
char **leati_tell_parse(const char *line);

#endif /* LEAT_CONFORMANCE_TELL_H_ */
