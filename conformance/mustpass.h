/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Lists of cases that a plugin must pass to be called conformant: one a line, `#` begins a comment.
 */
#ifndef LEAT_CONFORMANCE_MUSTPASS_H_
#define LEAT_CONFORMANCE_MUSTPASS_H_

#include <glib.h>

/** Name of the list that is built in. */
#define LEAT_MUSTPASS_BUILT_IN "1.0"

/** The list of this ABI version, as it stands in mustpass/1.0.txt. Free with g_strfreev(). */
char **leati_mustpass_built_in(void);

/** Names in a file; NULL, with an error, if it cannot be read or holds none. Free with g_strfreev(). */
char **leati_mustpass_read(const char *path, GError **error);

#endif /* LEAT_CONFORMANCE_MUSTPASS_H_ */
