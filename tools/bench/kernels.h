/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The rows of "kernels": single operators with the sizes that are measured. The one table of them: peers.py reads what
 * leati_kernels_json() makes of it.
 */
#ifndef LEAT_TOOLS_BENCH_KERNELS_H_
#define LEAT_TOOLS_BENCH_KERNELS_H_

#include <glib.h>
#include <json-glib/json-glib.h>
#include <leat/host.h>

/** Dimensions of an operand at most. */
#define LEATI_KERNEL_RANK 4
/** Inputs of an operator at most. */
#define LEATI_KERNEL_INPUTS 3
/** Outputs of an operator behind its first, at most. */
#define LEATI_KERNEL_MORE 2
/** Attributes of an operator at most. */
#define LEATI_KERNEL_ATTRIBUTES 4
/** Numbers in what a row's `size` says. */
#define LEATI_KERNEL_SIZES 9

/** What bounds a row on a device that does nothing badly, and so the unit of its rate. */
typedef enum leati_kernel_kind {
  LEATI_KERNEL_COMPUTE, /**< TFLOP/s */
  LEATI_KERNEL_MEMORY,  /**< GB/s */
} leati_kernel_kind;

/** How a run depends on the one before it. */
typedef enum leati_kernel_link {
  /** It reads what the one before has written: two tensors take turns. For operators whose values stay within bounds
   * when they are applied over and over. */
  LEATI_KERNEL_READ,
  /** It writes the same output again, from the same inputs. */
  LEATI_KERNEL_REWRITE,
  /** It writes the same output again, with the second input at another place each time: there are as many of it as no
   * cache holds, like the weights of a model. */
  LEATI_KERNEL_COLD,
} leati_kernel_link;

/** What operators have in common: how `size` is read, what a run takes, what is right. */
typedef enum leati_kernel_family {
  LEATI_KERNEL_MATMUL,     /**< size: batch, m, n, k, whether the second matrix lies along k */
  LEATI_KERNEL_CONV,       /**< size: batch, channels in, out, height = width, kernel, stride, pad, groups */
  LEATI_KERNEL_TRANSPOSED, /**< a convolution; size: batch, channels in, out, height = width, kernel = stride */
  LEATI_KERNEL_UNARY,      /**< size: rows, columns; likewise all that follow */
  LEATI_KERNEL_SOFTMAX,    /**< along the columns */
  LEATI_KERNEL_LAYER_NORM, /**< along the columns, with scale and bias */
  LEATI_KERNEL_SUM,        /**< along the columns; 1 behind them: along the rows */
  LEATI_KERNEL_TRANSPOSE,
  /** size: batch, heads, tokens, elements of a head, keys, heads of keys and values; each token with all keys */
  LEATI_KERNEL_ATTENTION,
  LEATI_KERNEL_NBITS,   /**< size: bits of a weight, m, n, k, weights of a block */
  LEATI_KERNEL_INTEGER, /**< of bytes; size: m, n, k */
  LEATI_KERNEL_DYNAMIC, /**< size: rows, columns; at least 16,384 elements */
  LEATI_KERNEL_LSTM,    /**< size: steps, batch, elements of an input and of a state */
} leati_kernel_family;

/** A row. */
typedef struct leati_kernel {
  const char *name;
  const char *op;         /**< ONNX's name, or ONNX Runtime's */
  uint32_t since_version; /**< its "since version" */
  DLDataType type;        /**< of all operands that are not of bytes: float32, float16 or int32 */
  leati_kernel_family family;
  leati_kernel_kind kind;
  leati_kernel_link link;
  int64_t size[LEATI_KERNEL_SIZES];
} leati_kernel;

/** A tensor's shape. */
typedef struct leati_kernel_shape {
  int32_t rank;
  int64_t dims[LEATI_KERNEL_RANK];
  gboolean is_bytes; /**< of uint8 rather than of the row's type */
} leati_kernel_shape;

/** An attribute of whole numbers. */
typedef struct leati_kernel_attribute {
  const char *name;
  guint count; /**< 0: one number that is no list */
  int64_t values[LEATI_KERNEL_RANK];
} leati_kernel_attribute;

/** A row in full. */
typedef struct leati_kernel_form {
  guint input_count;
  leati_kernel_shape inputs[LEATI_KERNEL_INPUTS];
  guint copies; /**< of the second input, which take turns; 1: it is always the same */
  leati_kernel_shape output;
  guint more_count;
  leati_kernel_shape more[LEATI_KERNEL_MORE]; /**< outputs behind it, which nobody looks at */
  guint attribute_count;
  leati_kernel_attribute attributes[LEATI_KERNEL_ATTRIBUTES];
  double flops;        /**< a run, multiplications and additions counted each, those of whole numbers too; 0 where they
                          do not matter */
  double bytes;        /**< a run has to move at least: each operand once */
  const char *formula; /**< of what the row's kind counts */
} leati_kernel_form;

/** The table and its length. */
extern const leati_kernel leati_kernels[];
extern const guint leati_kernel_count;

/** Spells a row out.
 * @param out [out] always filled */
void leati_kernel_expand(const leati_kernel *kernel, leati_kernel_form *out);

/** Elements of a tensor. */
int64_t leati_kernel_elements(const leati_kernel_shape *shape);

/** Element type of a tensor of a row. */
DLDataType leati_kernel_type(const leati_kernel *kernel, const leati_kernel_shape *shape);

/** Bytes of a tensor of a row. */
uint64_t leati_kernel_bytes(const leati_kernel *kernel, const leati_kernel_shape *shape);

/** Domain of a row's operator. */
const char *leati_kernel_domain(const leati_kernel *kernel);

/** What a run does, in the unit of the row's rate times a second: 1e12 floating-point operations, or 1e9 bytes. */
double leati_kernel_work(const leati_kernel *kernel, const leati_kernel_form *form);

/** "TFLOP/s" or "GB/s". */
const char *leati_kernel_unit(const leati_kernel *kernel);

/** The rows whose names fit one of the patterns ("*" and "?"), in the table's order.
 * @param patterns with commas between; NULL: all rows
 * @return [owned: release with g_ptr_array_unref] of const leati_kernel; NULL with the error set if a pattern fits none
 */
GPtrArray *leati_kernels_find(const char *patterns, GError **error);

/** Rows as JSON, for programs that measure the same elsewhere.
 * @param kernels [borrowed: until return] of const leati_kernel
 * @return [owned: release with g_free] */
char *leati_kernels_json(const GPtrArray *kernels);

#endif /* LEAT_TOOLS_BENCH_KERNELS_H_ */
