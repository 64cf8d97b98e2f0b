/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Files of one array in NumPy's .npy format, versions 1.0 to 3.0: a magic number, a header that is a Python dictionary
 * of "descr", "fortran_order" and "shape", and the elements. Read: little-endian, row-major, plain types. Everything in
 * the file is checked; nothing in it can make the reader touch memory outside the file.
 */
#ifndef LEAT_TOOLS_NPY_H_
#define LEAT_TOOLS_NPY_H_

#include "ndarray.h"

/** TRUE if the bytes begin with the magic number of .npy files.
 * @threads any */
gboolean leati_npy_is(const void *bytes, size_t size);

/** Reads an array from the bytes of a .npy file.
 * @threads any
 * @param bytes [borrowed: until return] the whole file
 * @return [owned: release with leati_ndarray_free] NULL with @p error set: not the format, a type or order that is not
 *   read, or fewer or more bytes than the shape needs */
leati_ndarray *leati_npy_parse(const void *bytes, size_t size, GError **error);

/** Writes an array as version 1.0. NumPy has no bfloat16, so that is written as float32, which holds every one exactly.
 * @threads any, for different paths
 * @return FALSE with @p error set if the file cannot be written */
gboolean leati_npy_write(const char *path, const leati_ndarray *array, GError **error);

#endif /* LEAT_TOOLS_NPY_H_ */
