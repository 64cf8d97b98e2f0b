/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How matrix products, convolutions, attention and reductions are cut into workgroups, by their shape and the device.
 * Pure functions; counts in elements.
 */
#ifndef LEAT_PLUGIN_POLICY_TILING_H_
#define LEAT_PLUGIN_POLICY_TILING_H_

#include "policy/constants.h"
#include "policy/traits.h"

/** LEATI_GEMV_COLUMNS_MIN for matrices of bytes (memory is read 32 bytes at a time). */
#define LEATI_BYTES_COLUMNS_MIN 32u
/** Threads of a workgroup of DynamicQuantizeLinear, each with four elements of a block. */
#define LEATI_DYNAMIC_THREADS 512u
/** Elements up to which it is one dispatch, each workgroup of which reads all of them for their range (a processor of
 * an H200 reads 64 bytes a cycle; a dispatch that waits for another takes 4 us). */
#define LEATI_DYNAMIC_WHOLE_MAX 131072u
/** Workgroups for each processor that it has where it is two. */
#define LEATI_DYNAMIC_FILL 2u

/* ---- Matrix products ----------------------------------------------------------------------------------------------
 */

/** A tile of the tiled kernels; the smallest, of products of reals alone. */
typedef enum leati_tile { LEATI_TILE_128, LEATI_TILE_64, LEATI_TILE_32, LEATI_TILE_16, LEATI_TILE_COUNT } leati_tile;

/** Its rows, and as many columns. */
static inline uint32_t leati_tile_extent(leati_tile tile) {
  return 128u >> tile;
}
/** Its elements. */
static inline uint32_t leati_tile_size(leati_tile tile) {
  return leati_tile_extent(tile) * leati_tile_extent(tile);
}

/** What the kernels take of k at once, or half of it; a split begins at a multiple of it. And what those for tiles of
 * 16 take. */
#define LEATI_GEMM_K_STEP 64u
#define LEATI_MATRIX_K_STEP_16 256u
/** Subgroups of a workgroup of the kernels for matrix hardware, of that for attention at most; and of those that have
 * most. */
#define LEATI_MATRIX_SUBGROUPS 4u
#define LEATI_MATRIX_SUBGROUPS_MOST 8u
/** Threads of a workgroup of the kernels for small m, or twice as many, and those that columns are shared out to, at
 * most. */
#define LEATI_GEMV_THREADS 256u
#define LEATI_GEMV_LANES 16u
/** Of a workgroup of the kernel for small m and weights of few bits: threads times the columns that each has a part
 * of, and bytes of one that a thread takes at once. */
#define LEATI_NBITS_COLUMNS 1024u
#define LEATI_NBITS_BYTES 16u
/** Threads that share a column: at least, and times rows at most. */
#define LEATI_NBITS_LANES_MIN 8u
#define LEATI_NBITS_LANES_MAX 64u

/** A product of m x k by k x n, `batch` times. */
typedef struct leati_gemm_shape {
  uint32_t m, n, k, batch;
} leati_gemm_shape;

/** How it is cut: `tiles_m` x `tiles_n` tiles, and k into `splits` of `k_chunk`. */
typedef struct leati_gemm_cut {
  uint32_t tiles_m, tiles_n, splits, k_chunk;
} leati_gemm_cut;

/** The same for the kernels for small m: threads of a workgroup, and those of them that share out its columns
 * (kernels/gemv.comp) or share a column (kernels/gemv_nbits.comp). */
typedef struct leati_gemv_cut {
  leati_gemm_cut gemm;
  uint32_t threads, lanes;
} leati_gemv_cut;

/** How an operand's tile is brought in; the numbers of kernels/gemm_tile.glsl. */
enum { LEATI_MODE_QUADS_K = 0, LEATI_MODE_QUADS_I = 1, LEATI_MODE_SINGLES_K = 2, LEATI_MODE_SINGLES_I = 3 };
/** How the kernel for small m goes through b; the numbers of kernels/gemv.comp. */
enum {
  LEATI_ALONG_COLUMNS = 0,
  LEATI_ALONG_K = 1,
  LEATI_ALONG_K_QUADS = 2,
  LEATI_ALONG_COLUMNS_QUADS = 3,
  LEATI_ALONG_COLUMNS_EIGHTS = 4
};

/** What a kernel of tiles computes, which decides them: those of 16 are of products of reals alone. */
typedef enum leati_tile_work {
  LEATI_WORK_PRODUCT,     /**< a product of reals, */
  LEATI_WORK_OTHER,       /**< of bytes, of weights of few bits, or a convolution whose channels are neighbours */
  LEATI_WORK_CONVOLUTION, /**< a convolution that gathers */
} leati_tile_work;

/** Cuts a product for the tiled kernels, and chooses their tile. */
leati_tile leati_gemm_cut_tiled(const leati_traits *traits, const leati_gemm_shape *shape, leati_tile_work work,
                                leati_gemm_cut *out);
/** Cuts a product for a kernel for matrix hardware, and chooses its tile. */
leati_tile leati_gemm_cut_matrices(const leati_traits *traits, const leati_gemm_shape *shape, leati_tile_work work,
                                   leati_gemm_cut *out);
/** Whether half of the rows (or columns) of each such tile, or more, are missing if a product has `count`. */
static inline bool leati_tile_is_hollow(leati_tile tile, int64_t count) {
  return count <= leati_tile_extent(tile) / 2;
}
/** Subgroups of a workgroup of those kernels that has a tile, each of which computes a part of it. Of the tile of 16,
 * and of that of 32 by kernels that share out k, they have a part of what is added up; the kernels' BM, BN, WM, WN and
 * K_PARTS say so too. Those for bytes and convolutions that gather do not. */
static inline uint32_t leati_matrix_subgroups(leati_tile tile, bool shares_k) {
  return tile == LEATI_TILE_64 || (tile == LEATI_TILE_32 && shares_k) ? LEATI_MATRIX_SUBGROUPS_MOST
                                                                      : LEATI_MATRIX_SUBGROUPS;
}
/** Whether a product of float32 takes less time by parts of bfloat16 on matrix hardware than by the tiled kernels: with
 * the largest tile alone, where each part that is brought in is used most often. */
bool leati_gemm_parts_pay(const leati_traits *traits, const leati_gemm_shape *shape);
/** Whether a product without matrix hardware that is cut so takes less time by the kernel whose workgroups have more
 * slices of k. */
bool leati_gemm_more_slices_pay(const leati_traits *traits, const leati_gemm_shape *shape, leati_tile tile,
                                uint32_t splits);
/** Whether a convolution on matrix hardware, as such a product, takes less time if the channels of images and weights,
 * `moved` elements in all, are converted to NHWC first. */
bool leati_conv_last_pays(const leati_traits *traits, const leati_gemm_shape *shape, uint64_t moved);
/** Whether a product there whose tiles have so many elements takes less time if a second copy is kept of its constant
 * operand, k x n, that lies along k. */
bool leati_gemm_along_k_pays(uint32_t tile_size, const leati_gemm_shape *shape);
/** Subgroups of a workgroup of the kernel for attention on matrix hardware, each of which has `rows` queries of one of
 * `heads`, those of all batches. */
uint32_t leati_attention_subgroups(const leati_traits *traits, uint64_t heads, uint32_t queries, uint32_t rows);
/** Workgroups that share so many keys of the same queries, where there are `groups` without sharing. */
uint32_t leati_attention_splits(const leati_traits *traits, uint64_t groups, uint32_t keys);
/** What kernels/attention_few.comp has room for: rows of a workgroup, which are queries of heads; fours of results,
 * pieces of keys, keys and scores of a thread; threads of a team; threads and subgroups of a workgroup. */
#define LEATI_ATTENTION_FEW_ROWS_MOST 8u
#define LEATI_ATTENTION_FEW_RESULTS_MOST 16u
#define LEATI_ATTENTION_FEW_PIECES_MOST 16u
#define LEATI_ATTENTION_FEW_FLIGHT_MOST 8u
#define LEATI_ATTENTION_FEW_SCORES_MOST 32u
#define LEATI_ATTENTION_FEW_LANES_LEAST 4u
#define LEATI_ATTENTION_FEW_LANES_MOST 32u
#define LEATI_ATTENTION_FEW_THREADS_LEAST 64u
#define LEATI_ATTENTION_FEW_SUBGROUPS_MOST 32u

/** Attention of few queries: heads of keys and values, those of all batches; rows of each; keys of each; and pieces of
 * 16 bytes of a head, which has 256 elements at most, each of so many fours of elements. */
typedef struct leati_attention_few_shape {
  uint64_t heads;
  uint64_t rows;
  uint32_t keys;
  uint32_t pieces, fours;
} leati_attention_few_shape;

/** How the kernel does it: its constants, all powers of two, and how many workgroups share keys. */
typedef struct leati_attention_few_cut {
  uint32_t threads;
  uint32_t rows;   /**< of a workgroup */
  uint32_t lanes;  /**< threads that have a key among them, */
  uint32_t chunks; /**< each of them so many pieces of it, */
  uint32_t flight; /**< of so many keys at once */
  uint32_t splits;
} leati_attention_few_cut;

/** Whether attention of so many queries goes to that kernel, if it can. */
static inline bool leati_attention_is_few(const leati_traits *traits, int64_t queries) {
  return queries <= traits->tuning.attention_few_queries;
}
/** Cuts it, on a device with subgroups of `subgroup` invocations. */
leati_attention_few_cut leati_attention_cut_few(const leati_traits *traits, uint32_t subgroup,
                                                const leati_attention_few_shape *shape);
/** Cuts a product for the kernel for small m, which goes through b in the way `along`. */
leati_gemv_cut leati_gemm_cut_skinny(const leati_traits *traits, const leati_gemm_shape *shape, uint32_t along);
/** The same for matrices of bytes (kernels/gemv_integer.comp). */
leati_gemv_cut leati_bytes_cut(const leati_traits *traits, const leati_gemm_shape *shape, uint32_t along);
/** Cuts a product for the kernel for small m, here `rows` of them, and weights of `bits` bits. */
leati_gemv_cut leati_nbits_cut(const leati_traits *traits, const leati_gemm_shape *shape, uint32_t rows, uint32_t bits);

/** Rows or columns up to which a product goes to the kernel for small m. `on_matrices`: else it goes to matrix
 * hardware, which reads its larger operand by fours. */
static inline int64_t leati_gemm_few(const leati_traits *traits, bool on_matrices) {
  return on_matrices ? traits->tuning.matrix_gemv_rows : traits->tuning.gemv_rows;
}
/** Whether a product goes there, as it is or transposed. */
static inline bool leati_gemm_is_skinny(const leati_traits *traits, bool on_matrices, int64_t m, int64_t n) {
  return m <= leati_gemm_few(traits, on_matrices) || n <= leati_gemm_few(traits, on_matrices);
}
/** Whether such a product is transposed: its columns are few, its rows are not. */
static inline bool leati_gemm_is_transposed(const leati_traits *traits, bool on_matrices, int64_t m, int64_t n) {
  return m > leati_gemm_few(traits, on_matrices) && n <= leati_gemm_few(traits, on_matrices);
}
/** The mode of an operand that may be read in quads along k, or along its rows (or columns), or neither: then threads
 * go along the smaller stride. */
static inline uint32_t leati_gemm_mode(bool quads_k, bool quads_i, int64_t stride_k, int64_t stride_i) {
  return quads_k                ? LEATI_MODE_QUADS_K
         : quads_i              ? LEATI_MODE_QUADS_I
         : stride_k <= stride_i ? LEATI_MODE_SINGLES_K
                                : LEATI_MODE_SINGLES_I;
}
/** The way through b, with so many columns and these strides, for operands of these modes; `eights`: b has 16 bits an
 * element and may be read in eights along its columns. */
uint32_t leati_gemv_along(uint32_t mode_a, uint32_t mode_b, bool eights, uint32_t columns, int64_t b_k,
                          int64_t b_column);

/** The same for operands of int8 or uint8, the first of which is read in any way. */
uint32_t leati_gemv_along_bytes(uint32_t mode_b, int64_t b_k, int64_t b_column);

/** Whether so many bytes are read one by one from where they lie apart, rather than copied first. */
static inline bool leati_reads_scattered(uint64_t bytes) {
  return bytes <= LEATI_SCATTERED_MAX;
}

/* ---- Rows --------------------------------------------------------------------------------------------------------
 */

/** Threads of a workgroup that works on rows. */
#define LEATI_ROW_THREADS 256u

/** Threads to a row of a reduction, a power of two up to LEATI_ROW_THREADS, of `rows` rows of `count` elements.
 * `along`: the elements of a row are neighbours in memory; else the rows are. */
uint32_t leati_row_parts(bool along, uint64_t rows, uint64_t count);

/** How rows are shared out over workgroups that keep them in registers, in fours of elements. */
typedef struct leati_row_share {
  uint32_t parts; /**< threads to a row, a power of two up to LEATI_ROW_THREADS */
  uint32_t group; /**< threads to a workgroup, a power of two up to LEATI_ROW_THREADS */
  uint32_t held;  /**< fours that a thread keeps to have its part of the row there; 0: the part is longer */
} leati_row_share;

/** Shares out likewise the rows of a norm or softmax, on a device with subgroups of `subgroup` invocations. */
leati_row_share leati_row_share_of(const leati_traits *traits, uint32_t subgroup, bool along, uint64_t rows,
                                   uint64_t count);
/** Elements of a row that a thread of a reduction takes at most: lavapipe ends a loop after 65535 turns. */
#define LEATI_REDUCE_TURNS_MAX 32768u
/** Elements of a chunk when rows of `count`, each of which has `parts` threads, are cut so that they fill the device;
 * `count` if they are left whole. `groups` workgroups, at least one, have the whole rows. */
uint64_t leati_reduce_chunk(const leati_traits *traits, uint64_t groups, uint32_t parts, uint64_t count);
/** Threads that every device has in a workgroup (maxComputeWorkGroupInvocations of Vulkan). */
#define LEATI_DYNAMIC_THREADS_MIN 128u
/** How DynamicQuantizeLinear is shared out (kernels/dynamic_quantize.comp). */
typedef struct leati_dynamic_cut {
  bool whole;       /**< it is one dispatch, in which each workgroup reads all elements; else two */
  uint32_t threads; /**< of a workgroup, a power of two from 128 to 1024, each with four elements of a block */
  uint32_t groups;  /**< at least one, which share out the blocks */
} leati_dynamic_cut;

/** Shares out so many elements. */
leati_dynamic_cut leati_dynamic_cut_of(const leati_traits *traits, uint64_t count);
/** Threads of a workgroup of kernels/squeeze_excite.comp, and those that a channel has at least. */
#define LEATI_SQUEEZE_THREADS 256u
#define LEATI_SQUEEZE_PARTS_MIN 8u
/** Threads that compute the mean of a channel of so many pixels in squeeze and excitation: a power of two, and not more
 * than a workgroup has. */
uint32_t leati_squeeze_parts(uint64_t pixels);
/** Whether squeeze and excitation takes less time in one dispatch than in three. */
bool leati_squeeze_pays(uint64_t channels, uint64_t squeezed);

#endif /* LEAT_PLUGIN_POLICY_TILING_H_ */
