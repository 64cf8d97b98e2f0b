/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/subjects.h"

#include "fault.h"

#define PRODUCTS                                                                                                    \
  "model-matmul-64x*,model-matmul-197x*,model-matmul-12x*,model-matmul-6x*,large-matmul-512x*,large-matmul-1024x*," \
  "model-conv-*,cold-matmul-*"
#define HALF_PRODUCTS                                                                                           \
  "half-matmul-64x*,half-matmul-197x*,half-matmul-12x*,half-matmul-128x*,half-matmul-512x*,half-matmul-2048x*," \
  "half-matmul-8x*,half-cold-*"
#define HALF_CONVOLUTIONS "half-conv-*"
#define HALF_ATTENTION "half-attention-*"
#define ATTENTION "model-attention-*,rule-attention-*,half-attention-1x32x12x*"
#define FEW_QUERIES "decode-*,half-decode-*"
#define SOME_QUERIES FEW_QUERIES ",rule-attention-*,half-attention-1x32x12x*"
#define FEW_ROWS                                                         \
  "model-matmul-1x*,model-matmul-2x*,model-matmul-4x*,model-matmul-8x*," \
  "half-matmul-1x*,half-matmul-2x16*,half-matmul-4x*,rule-matmul-*"
#define FEW_HALF_ROWS "half-matmul-2x16*,half-matmul-4x*,half-matmul-8x*"
#define FEW_BITS "*nbits-1x*,*nbits-8x*"
#define SUMS "small-sum-*,rule-sum-*,rule-sumdown-*"
#define LAYERS "lstm-*"
#define COPIES "rule-transpose-*x12,rule-transpose-*x24"

#define OF(need, rows, name, ...) \
  { name, rows, LEATI_TUNE_##need, {__VA_ARGS__}, sizeof((const guint[]){__VA_ARGS__}) / sizeof(guint), }

/* Values lie as far apart as it takes to cut some row of the table in another way, on a device of some hundred
 * processors. */
const leati_tune_subject leati_tune_subjects[] = {
    OF(ASSUMED, PRODUCTS, "processors_assumed", 4, 8, 16, 32, 64, 128, 256),
    OF(ALWAYS, PRODUCTS, "gemm_fill_128_quarters", 1, 2, 3, 4, 6, 8),
    OF(ALWAYS, PRODUCTS, "gemm_fill_64_quarters", 2, 4, 6, 8, 12),
    OF(ALWAYS, PRODUCTS, "gemm_fill_16_quarters", 0, 2, 4, 6, 8, 12),
    OF(ALWAYS, PRODUCTS, "gemm_split_fill", 1, 2, 3, 4, 6, 8),
    OF(ALWAYS, PRODUCTS, "gemm_split_min", 64, 128, 192, 256, 384, 512),
    OF(MATRICES, HALF_PRODUCTS, "matrix_fill_128_quarters", 1, 2, 3, 4, 6),
    OF(MATRICES, HALF_PRODUCTS, "matrix_fill_64_quarters", 1, 2, 3, 4, 6),
    OF(MATRICES, HALF_PRODUCTS, "matrix_split_fill", 1, 2, 3, 4, 6),
    OF(MATRICES, HALF_PRODUCTS, "matrix_split_min", 128, 192, 256, 384, 512, 768),
    OF(MATRICES, HALF_CONVOLUTIONS, "conv_last_min", 64, 256, 384, 640, 1024, 4096),
    OF(MATRICES, HALF_CONVOLUTIONS, "conv_last_each", 1, 192, 384, 512, 1024),
    OF(MATRICES, HALF_ATTENTION, "attention_matrix_keys", 64, 128, 160, 512),
    OF(ALWAYS, ATTENTION, "attention_split_min", 32, 64, 128, 256, 512),
    OF(ALWAYS, SOME_QUERIES, "attention_few_queries", 0, 8, 16, 32),
    OF(ALWAYS, FEW_QUERIES, "attention_few_flight", 1, 2, 4, 8, 16),
    OF(ALWAYS, FEW_QUERIES, "attention_few_threads", 64, 128, 256, 512),
    OF(ALWAYS, FEW_ROWS, "gemv_split_min", 128, 256, 512, 1024, 2048),
    OF(ALWAYS, FEW_ROWS, "gemv_rows", 1, 2, 4, 8),
    OF(MATRICES, FEW_HALF_ROWS, "matrix_gemv_rows", 1, 2, 4, 8),
    OF(ALWAYS, FEW_BITS, "nbits_fill", 1, 2, 3, 4, 6, 8),
    OF(ALWAYS, SUMS, "reduce_fill", 1, 2, 4, 8),
    OF(ALWAYS, SUMS, "reduce_chunk_min", 4, 8, 16, 32, 64),
    OF(ALWAYS, LAYERS, "recurrent_threads", 256, 512, 1024),
    OF(ALWAYS, COPIES, "copy_items_many", 32768, 131072, 262144, 1048576),
};

const guint leati_tune_subject_count = G_N_ELEMENTS(leati_tune_subjects);

GPtrArray *leati_tune_subjects_find(const char *patterns, GError **error) {
  g_auto(GStrv) parts = g_strsplit(patterns == NULL ? "*" : patterns, ",", -1);
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  for (char **part = parts; *part != NULL; ++part) {
    gboolean fits = FALSE;
    for (guint i = 0; i < leati_tune_subject_count; ++i) {
      fits = fits || g_pattern_match_simple(*part, leati_tune_subjects[i].name);
    }
    if (!fits) {
      LEATI_FAULT_SET(error, "--tune: no constant fits \"%s\"; --list lists them", *part);
      return NULL;
    }
  }
  for (guint i = 0; i < leati_tune_subject_count; ++i) {
    gboolean fits = FALSE;
    for (char **part = parts; *part != NULL; ++part) {
      fits = fits || g_pattern_match_simple(*part, leati_tune_subjects[i].name);
    }
    if (fits) {
      g_ptr_array_add(found, (gpointer)&leati_tune_subjects[i]);
    }
  }
  if (found->len == 0) {
    LEATI_FAULT_SET(error, "--tune: names no constant; --list lists them");
    return NULL;
  }
  return g_steal_pointer(&found);
}
