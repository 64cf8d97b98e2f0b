/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The tensor of the CPU reference: elements in a wide type, with a bound on the error that an implementation may have.
 *
 * Floating-point elements are held as doubles and are not rounded to the tensor's type: an input is exactly what the
 * device got, an output is what exact arithmetic would give, up to rounding far below the bounds. Integers and booleans
 * are held as int64, those of uint64 by two's complement: what depends on their order asks leati_ref_type_less().
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_REF_TENSOR_H_
#define LEAT_CONFORMANCE_OPS_CORE_REF_TENSOR_H_

#include <leat/backend.h>
#include <stdbool.h>

/** Element types that the reference knows: LEAT_TYPE_<type>, name, bytes, DLPack's code, what kind of number it is
 * (ref_tensor.c), ONNX's number. One that is only moved may stand as bytes without a sign. */
#define LEATI_REF_TYPES(X)                                                                             \
  X(FLOAT32, "float32", 4, kDLFloat, .is_float = true, .fraction = 23, .exponent = -126, .onnx = 1)    \
  X(FLOAT16, "float16", 2, kDLFloat, .is_float = true, .fraction = 10, .exponent = -14, .onnx = 10)    \
  X(BFLOAT16, "bfloat16", 2, kDLBfloat, .is_float = true, .fraction = 7, .exponent = -126, .onnx = 16) \
  X(FLOAT64, "float64", 8, kDLFloat, .is_float = true, .fraction = 52, .exponent = -1022, .onnx = 11)  \
  X(INT64, "int64", 8, kDLInt, .onnx = 7, .low = INT64_MIN, .high = INT64_MAX)                         \
  X(INT32, "int32", 4, kDLInt, .onnx = 6, .low = INT32_MIN, .high = INT32_MAX)                         \
  X(INT16, "int16", 2, kDLInt, .onnx = 5, .low = INT16_MIN, .high = INT16_MAX)                         \
  X(INT8, "int8", 1, kDLInt, .onnx = 3, .low = INT8_MIN, .high = INT8_MAX)                             \
  X(UINT64, "uint64", 8, kDLUInt, .is_unsigned = true, .onnx = 13, .high = -1)                         \
  X(UINT32, "uint32", 4, kDLUInt, .is_unsigned = true, .onnx = 12, .high = UINT32_MAX)                 \
  X(UINT16, "uint16", 2, kDLUInt, .is_unsigned = true, .onnx = 4, .high = UINT16_MAX)                  \
  X(UINT8, "uint8", 1, kDLUInt, .is_unsigned = true, .onnx = 2, .high = UINT8_MAX)                     \
  X(BOOL, "bool", 1, LEAT_DL_BOOL, .onnx = 9, .high = 1)

typedef enum leati_ref_type {
#define LEATI_REF_TYPE(type, ...) LEATI_REF_##type,
  LEATI_REF_TYPES(LEATI_REF_TYPE)
#undef LEATI_REF_TYPE
      LEATI_REF_TYPE_COUNT
} leati_ref_type;

/** A compact tensor. All zero is an empty one that owns nothing. */
typedef struct leati_ref_tensor {
  leati_ref_type type;
  int32_t rank;
  int64_t dims[LEAT_MAX_RANK];
  int64_t count; /**< elements */
  double *f;     /**< `count` elements of a floating type, else NULL; owned */
  double *bound; /**< largest absolute error allowed by element of a floating type; of another type NULL, or how much
                    larger an element may be, where rounding decides; owned */
  int64_t *i;    /**< `count` elements of an integer type or 0 and 1 of a boolean one, else NULL; owned */
} leati_ref_tensor;

/** Gives a tensor its type and shape and allocates its elements, all zero with bound zero.
 * @threads owner
 * @param tensor [out] holds nothing before; release with leati_ref_tensor_clear()
 * @param type element type
 * @param rank 0 to LEAT_MAX_RANK
 * @param dims [in] `rank` numbers of elements, none negative; may be NULL when rank is 0 */
void leati_ref_tensor_init(leati_ref_tensor *tensor, leati_ref_type type, int32_t rank, const int64_t *dims);

/** Frees the elements and makes the tensor all zero.
 * @threads owner
 * @param tensor [inout] a tensor */
void leati_ref_tensor_clear(leati_ref_tensor *tensor);

/** Whether the type is a floating-point one. */
bool leati_ref_type_is_float(leati_ref_type type);

/** Whether the type is an integer one without a sign. */
bool leati_ref_type_is_unsigned(leati_ref_type type);

/** Whether an integer of the type is less than another one. */
bool leati_ref_type_less(leati_ref_type type, int64_t a, int64_t b);

/** Bytes of an element on the device. */
int64_t leati_ref_type_size(leati_ref_type type);

/** What a floating-point type can round a number to: the nearest, and of two the even one. */
double leati_ref_type_round(leati_ref_type type, double value);

/** One ULP relative to a normal number of a floating-point type, its smallest normal number and its largest finite one.
 */
double leati_ref_type_ulp(leati_ref_type type);
double leati_ref_type_smallest(leati_ref_type type);
double leati_ref_type_largest(leati_ref_type type);

/** The type of a LEAT_TYPE_* bit, or LEATI_REF_TYPE_COUNT. */
leati_ref_type leati_ref_type_from_leat(uint64_t bit);

/** The LEAT_TYPE_* bit and the name of a type, "float32". */
uint64_t leati_ref_type_leat(leati_ref_type type);
const char *leati_ref_type_name(leati_ref_type type);

/** The type that DLPack says so, or LEATI_REF_TYPE_COUNT. */
leati_ref_type leati_ref_type_from_dlpack(DLDataType dtype);

/** The type as DLPack says it. */
DLDataType leati_ref_type_dlpack(leati_ref_type type);

/** The type of an ONNX TensorProto.DataType number, or LEATI_REF_TYPE_COUNT. */
leati_ref_type leati_ref_type_from_onnx(int64_t data_type);

/** The smallest and the largest number of an integer type. */
int64_t leati_ref_type_low(leati_ref_type type);
int64_t leati_ref_type_high(leati_ref_type type);

/** Reduces an integer to what the type holds, by two's complement; booleans become 0 or 1. */
int64_t leati_ref_type_wrap(leati_ref_type type, int64_t value);

/** Writes the elements as the device holds them. Floating-point elements must be representable.
 * @threads any
 * @param tensor [in] the tensor
 * @param bytes [out] count times the element's size */
void leati_ref_tensor_store(const leati_ref_tensor *tensor, void *bytes);

/** Reads the elements from where they are as the device holds them.
 * @threads any
 * @param tensor [inout] the tensor
 * @param bytes [in] count times the element's size */
void leati_ref_tensor_load(leati_ref_tensor *tensor, const void *bytes);

/** Compares what a device wrote with the expected tensor: NaN where NaN is expected, the same infinity where one is
 * expected, and else within the bound. Integers are the same or, where there is a bound, larger by it at most. An
 * element may be an infinity if there is a bound and the largest finite number lies within its reach. The bound of a
 * type of 16 bits is that of computing in float32; what lies within it is rounded to the type once, to the nearest and
 * of two to the even number.
 * @threads any
 * @param expected [in] what the reference computed
 * @param bytes [in] `expected->count` elements as the device wrote them
 * @param message [out] where the first difference is and how many there are; terminated
 * @param message_size bytes of `message`, at least 1
 * @return whether everything agrees */
bool leati_ref_tensor_match(const leati_ref_tensor *expected, const void *bytes, char *message, size_t message_size);

/** Copies one element, with its bound, between tensors of the same type. */
void leati_ref_tensor_copy_element(leati_ref_tensor *to, int64_t to_at, const leati_ref_tensor *from, int64_t from_at);

/** Splits a row-major element number into one index by dimension.
 * @threads any
 * @param rank dimensions
 * @param dims [in] elements by dimension, none zero
 * @param at element number
 * @param index [out] `rank` indices */
void leati_ref_unravel(int32_t rank, const int64_t *dims, int64_t at, int64_t *index);

/** The row-major element number of an index. */
int64_t leati_ref_ravel(int32_t rank, const int64_t *dims, const int64_t *index);

/** The element of a tensor that stands at `index` when the tensor is broadcast, numpy's way, to `rank` dimensions. */
int64_t leati_ref_broadcast_at(const leati_ref_tensor *tensor, int32_t rank, const int64_t *index);

/** Allocates zeroed memory, or ends the process: a test that has no memory has no result. */
void *leati_ref_alloc(int64_t count, size_t size);

#endif /* LEAT_CONFORMANCE_OPS_CORE_REF_TENSOR_H_ */
