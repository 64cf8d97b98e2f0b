/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors of requests to a batch queue: their bytes, and what their strides reach. */
#include <stdarg.h>

#include "batch_tensor.c"

#include "outside.h"

int32_t leati_error_set(leat_error *err, int32_t code, int32_t native_code, const char *format, ...) {
  (void)err;
  (void)native_code;
  (void)format;
  PROVE(code != LEAT_OK);
  return code;
}

/* The bytes of a shape are told if they are within the limit, and not if they are beyond it or beyond any number.
 * UNWIND 3
 * MISTAKE batch/batch_tensor.c: `fits && !__builtin_mul_overflow(bytes, (size_t)shape[i], &bytes)` becomes
 * `!__builtin_mul_overflow(bytes, (size_t)shape[i], &bytes)`
 * MISTAKE batch/batch_tensor.c: `!__builtin_mul_overflow(bytes, (size_t)shape[i], &bytes)` becomes
 * `(bytes *= (size_t)shape[i], true)` */
void prove_bytes_do_not_overflow(void) {
  const int64_t shape[2] = {ANY(int64_t), ANY(int64_t) & 3};
  ASSUME(shape[0] >= 0);
  const DLDataType dtype = {kDLFloat, 32, 1};
  const size_t limit = ANY(uint64_t);
  ASSUME(limit <= SIZE_MAX / 4);
  size_t bytes;
  if (leati_batch_tensor_bytes(dtype, 2, shape, limit, &bytes)) {
    PROVE(bytes <= limit);
    PROVE(shape[1] == 0 || bytes / 4 >= (uint64_t)shape[0]);
  }
}

/* Strides that are taken reach no element beyond the addresses that there are.
 * UNWIND 3
 * MISTAKE batch/batch_tensor.c: `origin >= (uint64_t)0 - (uint64_t)low` becomes `true`
 * MISTAKE batch/batch_tensor.c: `__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)`
 * becomes
 * `__builtin_add_overflow(reach < 0 ? low : high, reach, &high)` */
void prove_strides_reach_addresses(void) {
  int64_t shape[2] = {1 + (ANY(int64_t) & 1), 1 + (ANY(int64_t) & 1)}, strides[2];
  DLTensor tensor;
  tensor.ndim = 2;
  tensor.shape = shape;
  tensor.strides = strides;
  tensor.data = NULL;
  if (strides_fit(&tensor, 4)) {
    /* The far corner, in numbers that do not wrap. */
    __int128 at = tensor.byte_offset;
    at += shape[0] == 1 ? 0 : (__int128)strides[0] * 4;
    at += shape[1] == 1 ? 0 : (__int128)strides[1] * 4;
    PROVE(at >= 0 && at + 4 <= (__int128)UINT64_MAX);
  }
}
