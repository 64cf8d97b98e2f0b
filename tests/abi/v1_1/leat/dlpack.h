/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * DLPack as Leat uses it: the header of the system, and the declarations that older copies of it lack.
 *
 * Debian 12 ships DLPack 0.6, which knows neither DLManagedTensorVersioned nor kDLBool. What is missing is declared
 * here, in this one place, with the layout that DLPack 1.0 fixed.
 */
#ifndef LEAT_DLPACK_H_
#define LEAT_DLPACK_H_

#include <dlpack/dlpack.h>

/** DLPack's code for booleans of 8 bits (kDLBool of DLPack 1.0; an enumerator there, hence a name of our own). */
#define LEAT_DL_BOOL 6

/* Codes of DLPack 1.1 for floats of 8 and 4 bits (kDLFloat8_e4m3fn and its kind), under names of our own likewise. */
#define LEAT_DL_FLOAT8_E4M3FN 10
#define LEAT_DL_FLOAT8_E4M3FNUZ 11
#define LEAT_DL_FLOAT8_E5M2 12
#define LEAT_DL_FLOAT8_E5M2FNUZ 13
#define LEAT_DL_FLOAT8_E8M0FNU 14
#define LEAT_DL_FLOAT4_E2M1FN 17

/* DLPack 1.1's flag of a tensor whose elements of fewer than 8 bits take a byte each. Without it they are packed. */
#ifndef DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)
#endif

/* DLPACK_MAJOR_VERSION came with 1.0, and with it everything below. */
#ifndef DLPACK_MAJOR_VERSION
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

#ifdef __cplusplus
extern "C" {
#endif

/** A version of DLPack: `major` changes the layout, `minor` adds codes. */
typedef struct {
  uint32_t major; /**< layout version */
  uint32_t minor; /**< code version */
} DLPackVersion;

/** A tensor that owns its memory until `deleter` is called, with the version of its layout. */
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;                                     /**< layout of what follows */
  void *manager_ctx;                                         /**< the producer's own */
  void (*deleter)(struct DLManagedTensorVersioned *managed); /**< releases it; may be NULL */
  uint64_t flags;                                            /**< DLPACK_FLAG_BITMASK_* */
  DLTensor dl_tensor;                                        /**< the tensor */
} DLManagedTensorVersioned;

#ifdef __cplusplus
}
#endif
#endif /* DLPACK_MAJOR_VERSION */

#endif /* LEAT_DLPACK_H_ */
