/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A dense tensor in host memory, row-major.
 */
#ifndef LEAT_TOOLS_NDARRAY_H_
#define LEAT_TOOLS_NDARRAY_H_

#include "element.h"

/** Most dimensions that the tools handle; NumPy's own limit has long been the same. */
#define LEATI_NDARRAY_RANK_MAX 32

/** Fields are constant while more than one thread reads the array. */
typedef struct leati_ndarray {
  leati_element element;
  size_t rank;
  int64_t dims[LEATI_NDARRAY_RANK_MAX]; /**< the first rank are in use, none is negative */
  size_t count;                         /**< elements: product of dims, 1 for rank 0 */
  size_t bytes;                         /**< count elements of the type */
  void *data;                           /**< never NULL, even for 0 bytes */
} leati_ndarray;

/** Allocates an array of zeros.
 * @threads any
 * @param dims [borrowed: until return] sizes, each at least 0
 * @return [owned: release with leati_ndarray_free] NULL with @p error set if the rank exceeds LEATI_NDARRAY_RANK_MAX,
 * the size does not fit the machine, or there is no memory */
leati_ndarray *leati_ndarray_new(leati_element element, size_t rank, const int64_t *dims, GError **error);

/** Makes @p out a view of memory that stays the caller's; it must not be freed with leati_ndarray_free().
 * @threads any
 * @param data [borrowed: as long as the view is used] the elements
 * @return FALSE with @p error set where leati_ndarray_new() would fail for the shape */
gboolean leati_ndarray_wrap(leati_element element, size_t rank, const int64_t *dims, void *data, leati_ndarray *out,
                            GError **error);

/** Frees an array; NULL is allowed. */
void leati_ndarray_free(leati_ndarray *array);

/** A shape as text, such as "[1,64]"; a negative size prints as "?".
 * @threads any
 * @return [owned: release with g_free] */
char *leati_shape_text(const int64_t *dims, size_t rank);

#endif /* LEAT_TOOLS_NDARRAY_H_ */
