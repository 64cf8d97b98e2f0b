/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tensors as the plugin sees them: DLTensors that were checked once and found in device memory.
 */
#ifndef LEAT_PLUGIN_MEMORY_TENSOR_H_
#define LEAT_PLUGIN_MEMORY_TENSOR_H_

#include <leat/backend.h>
#include <stdbool.h>

struct leati_block;

/** A checked DLTensor. An absent optional input has `present` false and everything else zero. */
typedef struct leati_view {
  bool present;              /**< false: an optional argument that was not given */
  bool host;                 /**< kDLCPU: `data` is a host pointer; else only `address` is good */
  bool compact;              /**< row-major without gaps (also when it has fewer than two elements) */
  int32_t ndim;              /**< 0 to LEAT_MAX_RANK */
  uint64_t type;             /**< one LEAT_TYPE_* bit */
  uint32_t item_size;        /**< bytes of an element */
  DLDataType dtype;          /**< the same as DLPack says it */
  uint64_t count;            /**< elements in all */
  void *data;                /**< host: element [0, 0, ...]. In a graph also elsewhere: compact elements, if known */
  uint64_t address;          /**< address of element [0, 0, ...] */
  uint64_t begin, end;       /**< bytes that the elements touch, [begin, end) */
  struct leati_block *block; /**< device: the block they lie in; NULL when count is 0 */
  uint64_t origin;           /**< while an operator is planned: where its binding lies, */
  uint32_t binding;          /**< and the number of that (ops/core/planner.h) */
  /* Only the first `ndim` of each mean anything: what is behind them is not even cleared, and so they come last. */
  int64_t shape[LEAT_MAX_RANK];   /**< elements */
  int64_t strides[LEAT_MAX_RANK]; /**< elements; may be zero or negative; never NULL */
} leati_view;

/** LEAT_TYPE_* bit of a dtype, 0 if there is none. */
uint64_t leati_type_of(DLDataType dtype);
/** Whether two dtypes are the same. */
static inline bool leati_dtype_same(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
/** dtype of a LEAT_TYPE_* bit. */
DLDataType leati_dtype_of(uint64_t type);
/** The number that host memory holds as a LEAT_TYPE_FLOAT32, _FLOAT16 or _BFLOAT16. */
float leati_real_of(uint64_t type, const void *bytes);
/** Types of which tensors are held, each of whole bytes: kernels and copies know how their elements lie in memory. */
#define LEATI_TYPES_HELD                                                                                               \
  (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64 | LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | \
   LEAT_TYPE_INT32 | LEAT_TYPE_INT64 | LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64 |      \
   LEAT_TYPE_BOOL)
/** Bytes of an element of a LEAT_TYPE_* bit; 0: no tensors of it are held. */
uint32_t leati_type_size(uint64_t type);
/** Name of a LEAT_TYPE_* bit for messages, such as "float32". */
const char *leati_type_name(uint64_t type);

/** Checks a DLTensor against the device's live blocks and fills `out`. `what` names it in messages ("input 1 of Add").
 * @errors INVALID_ARGUMENT: rank, lanes, negative sizes, overflow, wrong device, outside a live block, NULL host data;
 *   NOT_SUPPORTED: an element type of which no tensors are held */
int32_t leati_view_import(leat_device *device, const DLTensor *tensor, const char *what, leati_view *out,
                          leat_error *err);

/** Checks a DLTensor that must be on the host (a constant that a description holds) and fills `out`. `what` names it in
 * messages.
 * @errors INVALID_ARGUMENT: rank, type, negative sizes, overflow, not on the host, NULL data; NOT_SUPPORTED: as there
 */
int32_t leati_view_import_host(const DLTensor *tensor, const char *what, leati_view *out, leat_error *err);

/** The part of leati_view_import() that looks at type, rank and sizes alone, for tensors whose memory need not exist
 * yet: strides are set compact, memory is left out.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED: as there */
int32_t leati_view_import_shape(const DLTensor *tensor, const char *what, leati_view *out, leat_error *err);

/** The same of an element type, a rank and sizes that are not said as a DLTensor. */
int32_t leati_view_of_shape(DLDataType dtype, int32_t ndim, const int64_t *shape, const char *what, leati_view *out,
                            leat_error *err);

/** Sets compact strides, `count` and `compact` from type, rank and shape. */
void leati_view_make_compact(leati_view *view);
/** Sets `count`, `compact` and the bytes that are touched from address, rank, shape and strides, of a view that reaches
 * no further than one that was checked. */
void leati_view_measure(leati_view *view);

#endif /* LEAT_PLUGIN_MEMORY_TENSOR_H_ */
