/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A file that is to be loaded as a shared library.
 */
#ifndef LEAT_HOST_SHIM_LIBRARY_H_
#define LEAT_HOST_SHIM_LIBRARY_H_

#include <leat/backend.h>
#include <sys/stat.h>

/** Says what is wrong with a file before the dynamic loader has to: its words for a folder or a text file help nobody,
 * and it ends the process with SIGBUS where a library has been cut off.
 * @threads any
 * @param name what such a library is called, for the messages
 * @param out_info [out] the file's identity, on success
 * @return LEAT_OK, or LEAT_ERROR_UNAVAILABLE: no such file, no regular one, not to be read, no ELF file, cut off */
int32_t leati_library_check(const char *path, const char *name, struct stat *out_info, leat_error *err);

#endif /* LEAT_HOST_SHIM_LIBRARY_H_ */
