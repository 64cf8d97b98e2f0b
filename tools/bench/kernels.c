/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kernels.h"

#include <math.h>

#include "fault.h"

#define FLOAT(bits) \
  { kDLFloat, bits, 1 }

/* Products of matrices repeat with the same inputs, because values that go round grow or vanish. A product of small m
 * reads the whole second matrix for little arithmetic, so that memory bounds it. */
#define PRODUCT_AS(name, op, code, bits, kind, link, ...)                                           \
  {                                                                                                 \
    name, op, 13, {code, bits, 1}, LEATI_KERNEL_MATMUL, LEATI_KERNEL_##kind, LEATI_KERNEL_##link, { \
      __VA_ARGS__                                                                                   \
    }                                                                                               \
  }
#define PRODUCT_OF(name, code, bits, kind, batch, m, n, k) \
  PRODUCT_AS(name, "MatMul", code, bits, kind, REWRITE, batch, m, n, k)
#define PRODUCT(name, bits, kind, batch, m, n, k) PRODUCT_OF(name, kDLFloat, bits, kind, batch, m, n, k)
#define MATMUL(group, kind, m, n, k) PRODUCT(#group "-matmul-" #m "x" #n "x" #k, 32, kind, 1, m, n, k)
#define BATCHED(b, m, n, k) PRODUCT("model-matmul-" #b "x" #m "x" #n "x" #k, 32, COMPUTE, b, m, n, k)
#define HALF_MATMUL(kind, m, n, k) PRODUCT("half-matmul-" #m "x" #n "x" #k, 16, kind, 1, m, n, k)
/* The second matrix lies along k, as a linear layer's weights do. */
#define GEMM(m, n, k) PRODUCT_AS("model-gemm-" #m "x" #n "x" #k, "Gemm", kDLFloat, 32, COMPUTE, REWRITE, 1, m, n, k, 1)
#define HALF_GEMM(kind, m, n, k) \
  PRODUCT_AS("half-gemm-" #m "x" #n "x" #k, "Gemm", kDLFloat, 16, kind, REWRITE, 1, m, n, k, 1)
/* Each run has weights of its own. */
#define COLD_MATMUL(m, n, k) \
  PRODUCT_AS("cold-matmul-" #m "x" #n "x" #k, "MatMul", kDLFloat, 32, COMPUTE, COLD, 1, m, n, k)
#define HALF_COLD(m, n, k) PRODUCT_AS("half-cold-" #m "x" #n "x" #k, "MatMul", kDLFloat, 16, COMPUTE, COLD, 1, m, n, k)
#define BFLOAT16_MATMUL(kind, m, n, k) PRODUCT_OF("bfloat16-matmul-" #m "x" #n "x" #k, kDLBfloat, 16, kind, 1, m, n, k)
#define HALF_BATCHED(b, m, n, k) PRODUCT("half-matmul-" #b "x" #m "x" #n "x" #k, 16, COMPUTE, b, m, n, k)

/* The name says batch, channels in and out, side, kernel and stride. */
#define CONV_OF(name, version, code, bits, kind, batch, in, out, side, kernel, stride, pad, groups)         \
  {                                                                                                         \
    name, "Conv", version, {code, bits, 1}, LEATI_KERNEL_CONV, LEATI_KERNEL_##kind, LEATI_KERNEL_REWRITE, { \
      batch, in, out, side, kernel, stride, pad, groups                                                     \
    }                                                                                                       \
  }
#define CONV_AS(group, version, code, bits, batch, in, out, side, kernel, stride, pad)                                \
  CONV_OF(#group "-conv-b" #batch "-" #in "to" #out "-" #side "-k" #kernel "s" #stride, version, code, bits, COMPUTE, \
          batch, in, out, side, kernel, stride, pad, 1)
#define CONV(group, batch, in, out, side, kernel, stride, pad) \
  CONV_AS(group, 11, kDLFloat, 32, batch, in, out, side, kernel, stride, pad)
#define HALF_CONV(batch, in, out, side, kernel, stride, pad) \
  CONV_AS(half, 11, kDLFloat, 16, batch, in, out, side, kernel, stride, pad)
#define BFLOAT16_CONV(batch, in, out, side, kernel, stride, pad) \
  CONV_AS(bfloat16, 22, kDLBfloat, 16, batch, in, out, side, kernel, stride, pad)
#define DEPTHWISE(channels, side, kernel, stride, pad)                                                            \
  CONV_OF("model-depthwise-" #channels "-" #side "-k" #kernel "s" #stride, 11, kDLFloat, 32, MEMORY, 1, channels, \
          channels, side, kernel, stride, pad, channels)

/* The name says batch, channels in and out, side and kernel, which is the stride. */
#define HALF_TRANSPOSED(kind, batch, in, out, side, kernel)                                                      \
  {                                                                                                              \
    "half-transposed-b" #batch "-" #in "to" #out "-" #side "-k" #kernel, "ConvTranspose", 11, {kDLFloat, 16, 1}, \
        LEATI_KERNEL_TRANSPOSED, LEATI_KERNEL_##kind, LEATI_KERNEL_REWRITE, {                                    \
      batch, in, out, side, kernel                                                                               \
    }                                                                                                            \
  }

/* The name says batch, heads, tokens and elements of a head, and how many keys there are where those are others. */
#define ATTENTION_OF(name, code, bits, kind, batch, heads, shared, tokens, head, keys)                           \
  {                                                                                                              \
    name, "Attention", 23, {code, bits, 1}, LEATI_KERNEL_ATTENTION, LEATI_KERNEL_##kind, LEATI_KERNEL_REWRITE, { \
      batch, heads, tokens, head, keys, shared                                                                   \
    }                                                                                                            \
  }
#define ATTENTION_AS(group, code, bits, batch, heads, tokens, head)                                                    \
  ATTENTION_OF(#group "-attention-" #batch "x" #heads "x" #tokens "x" #head, code, bits, COMPUTE, batch, heads, heads, \
               tokens, head, tokens)
#define ATTENTION(group, batch, heads, tokens, head) ATTENTION_AS(group, kDLFloat, 32, batch, heads, tokens, head)
#define HALF_ATTENTION(batch, heads, tokens, head) ATTENTION_AS(half, kDLFloat, 16, batch, heads, tokens, head)
#define BFLOAT16_ATTENTION(batch, heads, tokens, head) ATTENTION_AS(bfloat16, kDLBfloat, 16, batch, heads, tokens, head)
/* Some queries, with more keys. */
#define ATTENTION_KEYS(group, bits, heads, tokens, head, keys)                                                         \
  ATTENTION_OF(#group "-attention-1x" #heads "x" #tokens "x" #head "-" #keys, kDLFloat, bits, MEMORY, 1, heads, heads, \
               tokens, head, keys)
/* One query, as a decoder has it, which reads all keys and values for little arithmetic. The name says heads, those of
 * keys and values, elements of a head and keys. */
#define DECODE_AS(prefix, bits, heads, shared, head, keys)                                                            \
  ATTENTION_OF(prefix "decode-" #heads "of" #shared "x" #head "x" #keys, kDLFloat, bits, MEMORY, 1, heads, shared, 1, \
               head, keys)
#define DECODE(heads, shared, head, keys) DECODE_AS("", 32, heads, shared, head, keys)
#define HALF_DECODE(heads, shared, head, keys) DECODE_AS("half-", 16, heads, shared, head, keys)

/* The name says rows, columns and k; weights are of 4 bits. */
#define NBITS_OF(name, code, bits, kind, m, n, k)                                                             \
  {                                                                                                           \
    name, "MatMulNBits", 1, {code, bits, 1}, LEATI_KERNEL_NBITS, LEATI_KERNEL_##kind, LEATI_KERNEL_REWRITE, { \
      4, m, n, k, 32                                                                                          \
    }                                                                                                         \
  }
#define NBITS(kind, m, n, k) NBITS_OF("nbits-" #m "x" #n "x" #k, kDLFloat, 32, kind, m, n, k)
#define HALF_NBITS(kind, m, n, k) NBITS_OF("half-nbits-" #m "x" #n "x" #k, kDLFloat, 16, kind, m, n, k)
#define BFLOAT16_NBITS(kind, m, n, k) NBITS_OF("bfloat16-nbits-" #m "x" #n "x" #k, kDLBfloat, 16, kind, m, n, k)

/* The name says rows, columns and k. */
#define INTEGER(kind, m, n, k)                                                                                    \
  {                                                                                                               \
    "integer-" #m "x" #n "x" #k, "MatMulInteger", 10, {kDLInt, 32, 1}, LEATI_KERNEL_INTEGER, LEATI_KERNEL_##kind, \
        LEATI_KERNEL_REWRITE, {                                                                                   \
      m, n, k                                                                                                     \
    }                                                                                                             \
  }

/* The name says rows and columns. */
#define DYNAMIC(rows, columns)                                                                                        \
  {                                                                                                                   \
    "dynamic-" #rows "x" #columns, "DynamicQuantizeLinear", 11, FLOAT(32), LEATI_KERNEL_DYNAMIC, LEATI_KERNEL_MEMORY, \
        LEATI_KERNEL_REWRITE, {                                                                                       \
      rows, columns                                                                                                   \
    }                                                                                                                 \
  }

/* The name says steps, batch, and the size of inputs and states. */
#define LSTM(steps, batch, units)                                                                         \
  {                                                                                                       \
    "lstm-" #steps "x" #batch "x" #units, "LSTM", 14, FLOAT(32), LEATI_KERNEL_LSTM, LEATI_KERNEL_COMPUTE, \
        LEATI_KERNEL_REWRITE, {                                                                           \
      steps, batch, units                                                                                 \
    }                                                                                                     \
  }

#define LINES_AS(bits, group, name, op, since_version, family, link, rows, columns)                \
  {                                                                                                \
#group "-" name "-" #rows "x" #columns, op, since_version, FLOAT(bits), LEATI_KERNEL_##family, \
        LEATI_KERNEL_MEMORY, LEATI_KERNEL_##link, {                                                \
      rows, columns                                                                                \
    }                                                                                              \
  }
#define LINES(group, name, op, since_version, family, link, rows, columns) \
  LINES_AS(32, group, name, op, since_version, family, link, rows, columns)
#define HALF_SOFTMAX(rows, columns) LINES_AS(16, half, "softmax", "Softmax", 13, SOFTMAX, READ, rows, columns)
#define HALF_LAYER_NORM(rows, columns) \
  LINES_AS(16, half, "layernorm", "LayerNormalization", 17, LAYER_NORM, READ, rows, columns)
#define HALF_GELU(rows, columns) LINES_AS(16, half, "gelu", "Gelu", 20, UNARY, REWRITE, rows, columns)
#define SOFTMAX(group, rows, columns) LINES(group, "softmax", "Softmax", 13, SOFTMAX, READ, rows, columns)
#define LAYER_NORM(group, rows, columns) \
  LINES(group, "layernorm", "LayerNormalization", 17, LAYER_NORM, READ, rows, columns)
#define RELU(group, rows, columns) LINES(group, "relu", "Relu", 14, UNARY, READ, rows, columns)
#define ERF(group, rows, columns) LINES(group, "erf", "Erf", 13, UNARY, READ, rows, columns)
/* Gelu halves what is small, until nothing is left. */
#define GELU(group, rows, columns) LINES(group, "gelu", "Gelu", 20, UNARY, REWRITE, rows, columns)
#define COPY(group, rows, columns) LINES(group, "copy", "Identity", 14, UNARY, READ, rows, columns)
#define SUM(group, rows, columns) LINES(group, "sum", "ReduceSum", 11, SUM, REWRITE, rows, columns)
/* Of the rows, for each column. */
#define SUM_DOWN(group, rows, columns)                                                                        \
  {                                                                                                           \
#group "-sumdown-" #rows "x" #columns, "ReduceSum", 11, FLOAT(32), LEATI_KERNEL_SUM, LEATI_KERNEL_MEMORY, \
        LEATI_KERNEL_REWRITE, {                                                                               \
      rows, columns, 1                                                                                        \
    }                                                                                                         \
  }
#define TRANSPOSE(group, side) LINES(group, "transpose", "Transpose", 13, TRANSPOSE, READ, side, side)
/* Of any sides, so that a run cannot read what the last one wrote. */
#define TRANSPOSE_OF(group, rows, columns) LINES(group, "transpose", "Transpose", 13, TRANSPOSE, REWRITE, rows, columns)

const leati_kernel leati_kernels[] = {
    MATMUL(large, COMPUTE, 512, 512, 512),
    MATMUL(large, COMPUTE, 1024, 1024, 1024),
    MATMUL(large, COMPUTE, 2048, 2048, 2048),
    MATMUL(large, COMPUTE, 4096, 4096, 4096),
    MATMUL(large, COMPUTE, 8192, 8192, 8192),
    MATMUL(large, COMPUTE, 512, 4096, 4096),
    MATMUL(model, COMPUTE, 64, 384, 384),
    MATMUL(model, COMPUTE, 64, 1536, 384),
    MATMUL(model, COMPUTE, 64, 384, 1536),
    MATMUL(model, COMPUTE, 197, 384, 384),
    MATMUL(model, COMPUTE, 197, 1536, 384),
    MATMUL(model, COMPUTE, 197, 384, 1536),
    MATMUL(model, COMPUTE, 64, 50257, 384),
    GEMM(64, 1536, 384),
    GEMM(197, 384, 384),
    GEMM(197, 1536, 384),
    GEMM(197, 384, 1536),
    COLD_MATMUL(64, 384, 384),
    COLD_MATMUL(64, 1536, 384),
    COLD_MATMUL(64, 384, 1536),
    COLD_MATMUL(64, 768, 768),
    COLD_MATMUL(64, 3072, 768),
    COLD_MATMUL(64, 768, 3072),
    COLD_MATMUL(197, 384, 384),
    COLD_MATMUL(197, 1536, 384),
    COLD_MATMUL(197, 384, 1536),
    MATMUL(model, MEMORY, 1, 1000, 1024),
    MATMUL(model, MEMORY, 1, 4096, 4096),
    MATMUL(model, MEMORY, 8, 4096, 4096),
    MATMUL(model, MEMORY, 1, 16384, 4096),
    MATMUL(model, MEMORY, 2, 16384, 4096),
    MATMUL(model, MEMORY, 4, 16384, 4096),
    MATMUL(model, MEMORY, 8, 16384, 4096),
    BATCHED(12, 64, 64, 32),
    BATCHED(12, 64, 32, 64),
    BATCHED(6, 197, 197, 64),
    BATCHED(6, 197, 64, 197),
    BATCHED(128, 512, 512, 64),
    NBITS(MEMORY, 1, 4096, 4096),
    NBITS(MEMORY, 1, 16384, 4096),
    NBITS(MEMORY, 8, 16384, 4096),
    NBITS(COMPUTE, 512, 4096, 4096),
    INTEGER(MEMORY, 1, 4096, 4096),
    INTEGER(MEMORY, 1, 16384, 4096),
    INTEGER(MEMORY, 8, 16384, 4096),
    INTEGER(COMPUTE, 64, 384, 384),
    INTEGER(COMPUTE, 64, 1536, 384),
    INTEGER(COMPUTE, 64, 384, 1536),
    INTEGER(COMPUTE, 2048, 2048, 2048),
    INTEGER(COMPUTE, 512, 4096, 4096),
    INTEGER(COMPUTE, 4096, 4096, 4096),
    DYNAMIC(64, 384),
    DYNAMIC(64, 1536),
    DYNAMIC(2048, 384),
    DYNAMIC(512, 12544),
    LSTM(1, 1, 128),
    LSTM(128, 1, 64),
    LSTM(128, 1, 128),
    LSTM(128, 1, 256),
    LSTM(128, 1, 1024),
    LSTM(128, 32, 64),
    LSTM(128, 32, 256),
    LSTM(128, 32, 1024),
    ATTENTION(model, 1, 12, 64, 32),
    ATTENTION(model, 1, 6, 197, 64),
    DECODE(32, 8, 128, 4096),
    DECODE(32, 8, 128, 512),
    DECODE(12, 12, 64, 1024),
    DECODE(16, 16, 64, 8192),
    DECODE(32, 4, 64, 256),
    CONV(model, 1, 3, 64, 224, 7, 2, 3),
    CONV(model, 1, 3, 16, 224, 3, 2, 1),
    CONV(model, 1, 64, 64, 56, 3, 1, 1),
    CONV(model, 1, 128, 128, 28, 3, 1, 1),
    CONV(model, 1, 256, 256, 14, 3, 1, 1),
    CONV(model, 1, 512, 512, 7, 3, 1, 1),
    CONV(model, 1, 64, 128, 56, 3, 2, 1),
    CONV(model, 1, 96, 576, 14, 1, 1, 0),
    CONV(model, 1, 576, 96, 7, 1, 1, 0),
    CONV(model, 1, 3, 384, 224, 16, 16, 0),
    CONV(large, 32, 256, 256, 56, 3, 1, 1),
    DEPTHWISE(240, 14, 5, 1, 2),
    DEPTHWISE(88, 28, 3, 1, 1),
    DEPTHWISE(576, 7, 5, 1, 2),
    COPY(large, 65536, 4096),
    SOFTMAX(large, 65536, 4096),
    GELU(large, 65536, 4096),
    RELU(large, 65536, 4096),
    ERF(large, 65536, 4096),
    SUM(large, 65536, 4096),
    LAYER_NORM(large, 65536, 4096),
    LAYER_NORM(large, 4096, 1024),
    TRANSPOSE(large, 4096),
    TRANSPOSE(large, 16384),
    SOFTMAX(small, 768, 64),
    SOFTMAX(small, 1182, 197),
    LAYER_NORM(small, 64, 384),
    LAYER_NORM(small, 197, 384),
    RELU(small, 64, 384),
    GELU(small, 64, 1536),
    ERF(small, 64, 1536),
    COPY(small, 64, 384),
    SUM(small, 64, 384),
    TRANSPOSE(small, 512),
    HALF_MATMUL(COMPUTE, 2048, 2048, 2048),
    HALF_MATMUL(COMPUTE, 4096, 4096, 4096),
    HALF_MATMUL(COMPUTE, 8192, 8192, 8192),
    HALF_MATMUL(COMPUTE, 512, 4096, 4096),
    HALF_MATMUL(COMPUTE, 64, 384, 384),
    HALF_MATMUL(COMPUTE, 64, 1536, 384),
    HALF_MATMUL(COMPUTE, 64, 384, 1536),
    HALF_MATMUL(COMPUTE, 197, 384, 384),
    HALF_MATMUL(COMPUTE, 197, 1536, 384),
    HALF_MATMUL(COMPUTE, 197, 384, 1536),
    HALF_MATMUL(COMPUTE, 64, 50257, 384),
    HALF_MATMUL(COMPUTE, 64, 768, 768),
    HALF_MATMUL(COMPUTE, 64, 768, 3072),
    HALF_MATMUL(COMPUTE, 128, 768, 768),
    HALF_MATMUL(COMPUTE, 128, 768, 3072),
    HALF_MATMUL(COMPUTE, 8, 384, 384),
    HALF_MATMUL(COMPUTE, 8, 1536, 384),
    HALF_MATMUL(COMPUTE, 8, 384, 1536),
    HALF_GEMM(COMPUTE, 4096, 4096, 4096),
    HALF_GEMM(COMPUTE, 512, 4096, 4096),
    HALF_GEMM(COMPUTE, 64, 384, 384),
    HALF_GEMM(COMPUTE, 64, 1536, 384),
    HALF_GEMM(COMPUTE, 64, 384, 1536),
    HALF_GEMM(COMPUTE, 197, 384, 1536),
    HALF_GEMM(COMPUTE, 64, 768, 768),
    HALF_GEMM(COMPUTE, 64, 768, 3072),
    HALF_GEMM(COMPUTE, 128, 768, 3072),
    HALF_GEMM(COMPUTE, 8, 384, 1536),
    HALF_COLD(64, 384, 384),
    HALF_COLD(64, 1536, 384),
    HALF_COLD(64, 384, 1536),
    HALF_COLD(64, 768, 768),
    HALF_COLD(64, 3072, 768),
    HALF_COLD(64, 768, 3072),
    HALF_COLD(197, 384, 384),
    HALF_COLD(197, 1536, 384),
    HALF_COLD(197, 384, 1536),
    HALF_GEMM(MEMORY, 8, 2048, 5632),
    HALF_GEMM(MEMORY, 1, 16384, 4096),
    HALF_MATMUL(MEMORY, 1, 16384, 4096),
    HALF_MATMUL(MEMORY, 8, 16384, 4096),
    HALF_NBITS(MEMORY, 1, 4096, 4096),
    HALF_NBITS(MEMORY, 1, 16384, 4096),
    HALF_NBITS(MEMORY, 8, 16384, 4096),
    HALF_NBITS(COMPUTE, 512, 4096, 4096),
    HALF_BATCHED(12, 64, 64, 32),
    HALF_BATCHED(128, 512, 512, 64),
    HALF_ATTENTION(1, 12, 64, 32),
    HALF_ATTENTION(1, 6, 197, 64),
    HALF_ATTENTION(8, 16, 2048, 64),
    HALF_DECODE(32, 8, 128, 4096),
    HALF_DECODE(32, 8, 128, 512),
    HALF_DECODE(12, 12, 64, 1024),
    HALF_DECODE(16, 16, 64, 8192),
    HALF_DECODE(32, 4, 64, 256),
    HALF_CONV(1, 64, 64, 56, 3, 1, 1),
    HALF_CONV(1, 256, 256, 14, 3, 1, 1),
    HALF_CONV(1, 512, 512, 7, 3, 1, 1),
    HALF_CONV(1, 64, 128, 56, 3, 2, 1),
    HALF_CONV(1, 96, 576, 14, 1, 1, 0),
    HALF_CONV(1, 64, 64, 224, 3, 1, 1),
    HALF_CONV(1, 512, 512, 28, 3, 1, 1),
    HALF_CONV(8, 32, 32, 112, 3, 1, 1),
    HALF_CONV(8, 64, 64, 56, 3, 1, 1),
    HALF_CONV(8, 128, 128, 28, 3, 1, 1),
    HALF_CONV(8, 256, 256, 14, 3, 1, 1),
    HALF_CONV(8, 512, 512, 7, 3, 1, 1),
    HALF_CONV(8, 128, 256, 28, 3, 2, 1),
    HALF_CONV(32, 64, 64, 56, 3, 1, 1),
    HALF_CONV(32, 512, 512, 7, 3, 1, 1),
    HALF_CONV(32, 256, 256, 56, 3, 1, 1),
    HALF_TRANSPOSED(COMPUTE, 4, 512, 256, 16, 2),
    HALF_TRANSPOSED(MEMORY, 4, 64, 32, 128, 2),
    HALF_SOFTMAX(65536, 4096),
    HALF_SOFTMAX(768, 64),
    HALF_LAYER_NORM(65536, 4096),
    HALF_LAYER_NORM(64, 384),
    HALF_GELU(65536, 4096),
    HALF_GELU(64, 1536),
    BFLOAT16_MATMUL(COMPUTE, 4096, 4096, 4096),
    BFLOAT16_MATMUL(COMPUTE, 512, 4096, 4096),
    BFLOAT16_MATMUL(COMPUTE, 197, 1536, 384),
    BFLOAT16_NBITS(COMPUTE, 512, 4096, 4096),
    BFLOAT16_ATTENTION(1, 6, 197, 64),
    BFLOAT16_ATTENTION(8, 16, 2048, 64),
    BFLOAT16_CONV(1, 256, 256, 14, 3, 1, 1),
    BFLOAT16_CONV(32, 256, 256, 56, 3, 1, 1),
    /* Sizes about which a rule of plugin/policy decides. */
    MATMUL(rule, MEMORY, 4, 128, 256),
    MATMUL(rule, MEMORY, 1, 768, 3072),
    HALF_MATMUL(MEMORY, 1, 2048, 2048),
    HALF_MATMUL(MEMORY, 2, 16384, 4096),
    HALF_MATMUL(MEMORY, 4, 16384, 4096),
    HALF_MATMUL(MEMORY, 4, 2048, 2048),
    HALF_MATMUL(MEMORY, 8, 2048, 2048),
    HALF_MATMUL(MEMORY, 8, 2048, 5632),
    ATTENTION_KEYS(rule, 32, 8, 8, 64, 1024),
    ATTENTION_KEYS(rule, 32, 8, 12, 128, 512),
    ATTENTION_KEYS(rule, 32, 8, 12, 128, 4096),
    ATTENTION_KEYS(half, 16, 32, 12, 128, 4096),
    HALF_ATTENTION(1, 12, 128, 64),
    SUM(rule, 16, 65536),
    SUM(rule, 4096, 384),
    SUM(rule, 576, 49),
    SUM(rule, 65536, 8),
    SUM_DOWN(rule, 12, 65536),
    SUM_DOWN(rule, 100, 4096),
    SUM_DOWN(rule, 100, 32768),
    SUM_DOWN(rule, 4096, 384),
    TRANSPOSE(rule, 1024),
    TRANSPOSE(rule, 2048),
    TRANSPOSE_OF(rule, 4096, 12),
    TRANSPOSE_OF(rule, 65536, 12),
    TRANSPOSE_OF(rule, 65536, 24),
};

const guint leati_kernel_count = G_N_ELEMENTS(leati_kernels);

/* ---- A row in full ----------------------------------------------------------------------------------------------- */

int64_t leati_kernel_elements(const leati_kernel_shape *shape) {
  int64_t count = 1;
  for (int32_t i = 0; i < shape->rank; ++i) {
    count *= shape->dims[i];
  }
  return count;
}

DLDataType leati_kernel_type(const leati_kernel *kernel, const leati_kernel_shape *shape) {
  return shape->is_bytes ? (DLDataType){kDLUInt, 8, 1} : kernel->type;
}

const char *leati_kernel_domain(const leati_kernel *kernel) {
  return kernel->family == LEATI_KERNEL_NBITS ? "com.microsoft" : "";
}

static leati_kernel_shape matrix(int64_t rows, int64_t columns) {
  return (leati_kernel_shape){.rank = 2, .dims = {rows, columns}};
}

uint64_t leati_kernel_bytes(const leati_kernel *kernel, const leati_kernel_shape *shape) {
  return (uint64_t)leati_kernel_elements(shape) * (leati_kernel_type(kernel, shape).bits / 8u);
}

static void expand_matmul(const int64_t *size, leati_kernel_form *out) {
  const int64_t batch = size[0], m = size[1], n = size[2], k = size[3];
  const gboolean plain = batch == 1, along_k = size[4] != 0;
  out->input_count = 2;
  if (along_k) {
    out->attribute_count = 1;
    out->attributes[0] = (leati_kernel_attribute){"transB", 0, {1}};
  }
  out->inputs[0] = plain ? matrix(m, k) : (leati_kernel_shape){.rank = 3, .dims = {batch, m, k}};
  out->inputs[1] = along_k ? matrix(n, k)
                   : plain ? matrix(k, n)
                           : (leati_kernel_shape){.rank = 3, .dims = {batch, k, n}};
  out->output = plain ? matrix(m, n) : (leati_kernel_shape){.rank = 3, .dims = {batch, m, n}};
  out->flops = 2.0 * (double)batch * (double)m * (double)n * (double)k;
}

static void expand_conv(const int64_t *size, leati_kernel_form *out) {
  const int64_t batch = size[0], in = size[1], features = size[2], side = size[3], kernel = size[4], stride = size[5],
                pad = size[6], groups = size[7], end = (side + 2 * pad - kernel) / stride + 1;
  out->input_count = 2;
  out->inputs[0] = (leati_kernel_shape){.rank = 4, .dims = {batch, in, side, side}};
  out->inputs[1] = (leati_kernel_shape){.rank = 4, .dims = {features, in / groups, kernel, kernel}};
  out->output = (leati_kernel_shape){.rank = 4, .dims = {batch, features, end, end}};
  out->attribute_count = 3;
  out->attributes[0] = (leati_kernel_attribute){"strides", 2, {stride, stride}};
  out->attributes[1] = (leati_kernel_attribute){"pads", 4, {pad, pad, pad, pad}};
  out->attributes[2] = (leati_kernel_attribute){"group", 0, {groups}};
  out->flops = 2.0 * (double)leati_kernel_elements(&out->output) * (double)(in / groups * kernel * kernel);
}

static void expand_transposed(const int64_t *size, leati_kernel_form *out) {
  const int64_t batch = size[0], in = size[1], features = size[2], side = size[3], kernel = size[4];
  out->input_count = 2;
  out->inputs[0] = (leati_kernel_shape){.rank = 4, .dims = {batch, in, side, side}};
  out->inputs[1] = (leati_kernel_shape){.rank = 4, .dims = {in, features, kernel, kernel}};
  out->output = (leati_kernel_shape){.rank = 4, .dims = {batch, features, side * kernel, side * kernel}};
  out->attribute_count = 1;
  out->attributes[0] = (leati_kernel_attribute){"strides", 2, {kernel, kernel}};
  out->flops = 2.0 * (double)leati_kernel_elements(&out->output) * (double)in;
}

static void expand_attention(const int64_t *size, leati_kernel_form *out) {
  const int64_t batch = size[0], heads = size[1], tokens = size[2], head = size[3], keys = size[4], shared = size[5];
  out->input_count = 3;
  out->inputs[0] = out->output = (leati_kernel_shape){.rank = 4, .dims = {batch, heads, tokens, head}};
  out->inputs[1] = out->inputs[2] = (leati_kernel_shape){.rank = 4, .dims = {batch, shared, keys, head}};
  out->flops = 4.0 * (double)(batch * heads) * (double)(tokens * keys) * (double)head;
}

static void expand_nbits(const int64_t *size, leati_kernel_form *out) {
  const int64_t bits = size[0], m = size[1], n = size[2], k = size[3], block = size[4],
                blocks = (k + block - 1) / block;
  out->input_count = 3;
  out->inputs[0] = matrix(m, k);
  out->inputs[1] = (leati_kernel_shape){.rank = 3, .dims = {n, blocks, block * bits / 8}, .is_bytes = TRUE};
  out->inputs[2] = matrix(n, blocks);
  out->output = matrix(m, n);
  out->attribute_count = 4;
  out->attributes[0] = (leati_kernel_attribute){"K", 0, {k}};
  out->attributes[1] = (leati_kernel_attribute){"N", 0, {n}};
  out->attributes[2] = (leati_kernel_attribute){"bits", 0, {bits}};
  out->attributes[3] = (leati_kernel_attribute){"block_size", 0, {block}};
  out->flops = 2.0 * (double)m * (double)n * (double)k;
}

static void expand_integer(const int64_t *size, leati_kernel_form *out) {
  const int64_t m = size[0], n = size[1], k = size[2];
  out->input_count = 2;
  out->inputs[0] = (leati_kernel_shape){.rank = 2, .dims = {m, k}, .is_bytes = TRUE};
  out->inputs[1] = (leati_kernel_shape){.rank = 2, .dims = {k, n}, .is_bytes = TRUE};
  out->output = matrix(m, n);
  out->flops = 2.0 * (double)m * (double)n * (double)k;
}

static void expand_dynamic(leati_kernel_form *out) {
  out->output.is_bytes = TRUE;
  out->more_count = 2;
  out->more[1].is_bytes = TRUE;
}

static void expand_lstm(const int64_t *size, leati_kernel_form *out) {
  const int64_t steps = size[0], batch = size[1], units = size[2];
  out->input_count = 3;
  out->inputs[0] = (leati_kernel_shape){.rank = 3, .dims = {steps, batch, units}};
  out->inputs[1] = out->inputs[2] = (leati_kernel_shape){.rank = 3, .dims = {1, 4 * units, units}};
  out->output = (leati_kernel_shape){.rank = 4, .dims = {steps, 1, batch, units}};
  out->flops = 2.0 * (double)(steps * batch) * 4 * (double)units * 2 * (double)units;
}

/* ONNX defines MatMul and Conv as sums of products; an algorithm with fewer operations is counted as if it had all of
 * them, as is usual. */
static const char *formula_of(const leati_kernel *kernel) {
  if (kernel->kind == LEATI_KERNEL_MEMORY) {
    return "bytes of each input, read once, and of the output, written once";
  }
  return kernel->family == LEATI_KERNEL_CONV         ? "2 x elements of the output x channels of a group x kernel^2"
         : kernel->family == LEATI_KERNEL_TRANSPOSED ? "2 x elements of the output x channels of the input"
         : kernel->family == LEATI_KERNEL_ATTENTION  ? "4 x batch x heads x tokens x keys x elements of a head"
         : kernel->family == LEATI_KERNEL_LSTM ? "2 x steps x batch x 4 x hidden size x (input size + hidden size)"
                                               : "2 x batch x m x n x k";
}

/* Bytes of all copies of the second input: twice the largest cache of a device, which has 256 MiB. */
#define COLD_BYTES (512.0 * 1024 * 1024)

static guint copies_of(const leati_kernel *kernel, const leati_kernel_form *form) {
  return kernel->link == LEATI_KERNEL_COLD
             ? (guint)ceil(COLD_BYTES / (double)leati_kernel_bytes(kernel, &form->inputs[1]))
             : 1;
}

void leati_kernel_expand(const leati_kernel *kernel, leati_kernel_form *out) {
  const int64_t *size = kernel->size;
  *out =
      (leati_kernel_form){.input_count = 1, .inputs = {matrix(size[0], size[1])}, .output = matrix(size[0], size[1])};
  switch (kernel->family) {
    case LEATI_KERNEL_MATMUL:
      expand_matmul(size, out);
      break;
    case LEATI_KERNEL_CONV:
      expand_conv(size, out);
      break;
    case LEATI_KERNEL_TRANSPOSED:
      expand_transposed(size, out);
      break;
    case LEATI_KERNEL_ATTENTION:
      expand_attention(size, out);
      break;
    case LEATI_KERNEL_NBITS:
      expand_nbits(size, out);
      break;
    case LEATI_KERNEL_INTEGER:
      expand_integer(size, out);
      break;
    case LEATI_KERNEL_DYNAMIC:
      expand_dynamic(out);
      break;
    case LEATI_KERNEL_LSTM:
      expand_lstm(size, out);
      break;
    case LEATI_KERNEL_LAYER_NORM:
      out->input_count = 3;
      out->inputs[1] = out->inputs[2] = (leati_kernel_shape){.rank = 1, .dims = {size[1]}};
      break;
    case LEATI_KERNEL_SUM:
      out->output = size[2] != 0 ? matrix(1, size[1]) : matrix(size[0], 1);
      out->attribute_count = 1;
      out->attributes[0] = (leati_kernel_attribute){"axes", 1, {size[2] != 0 ? 0 : 1}};
      break;
    case LEATI_KERNEL_TRANSPOSE:
      out->output = matrix(size[1], size[0]);
      break;
    case LEATI_KERNEL_UNARY:
    case LEATI_KERNEL_SOFTMAX:
      break;
  }
  out->bytes = (double)leati_kernel_bytes(kernel, &out->output);
  for (guint i = 0; i < out->input_count; ++i) {
    out->bytes += (double)leati_kernel_bytes(kernel, &out->inputs[i]);
  }
  out->formula = formula_of(kernel);
  out->copies = copies_of(kernel, out);
}

double leati_kernel_work(const leati_kernel *kernel, const leati_kernel_form *form) {
  return kernel->kind == LEATI_KERNEL_COMPUTE ? form->flops * 1e-12 : form->bytes * 1e-9;
}

const char *leati_kernel_unit(const leati_kernel *kernel) {
  return kernel->kind == LEATI_KERNEL_COMPUTE ? "TFLOP/s" : "GB/s";
}

/* ---- Selection --------------------------------------------------------------------------------------------------- */

GPtrArray *leati_kernels_find(const char *patterns, GError **error) {
  g_auto(GStrv) parts = g_strsplit(patterns == NULL ? "*" : patterns, ",", -1);
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  for (guint i = 0; i < leati_kernel_count; ++i) {
    for (char **part = parts; *part != NULL; ++part) {
      if (g_pattern_match_simple(*part, leati_kernels[i].name)) {
        g_ptr_array_add(found, (gpointer)&leati_kernels[i]);
        break;
      }
    }
  }
  for (char **part = parts; *part != NULL; ++part) {
    gboolean fits = FALSE;
    for (guint i = 0; i < found->len; ++i) {
      fits = fits || g_pattern_match_simple(*part, ((const leati_kernel *)g_ptr_array_index(found, i))->name);
    }
    if (!fits) {
      LEATI_FAULT_SET(error, "--rows: no row of \"kernels\" fits \"%s\"; --list lists them", *part);
      return NULL;
    }
  }
  if (found->len == 0) {
    LEATI_FAULT_SET(error, "--rows: names no row of \"kernels\"; --list lists them");
    return NULL;
  }
  return g_steal_pointer(&found);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void add_whole_numbers(JsonBuilder *json, const char *name, const int64_t *values, guint count) {
  if (name != NULL) {
    json_builder_set_member_name(json, name);
  }
  json_builder_begin_array(json);
  for (guint i = 0; i < count; ++i) {
    json_builder_add_int_value(json, values[i]);
  }
  json_builder_end_array(json);
}

static void add_string(JsonBuilder *json, const char *name, const char *value) {
  json_builder_set_member_name(json, name);
  json_builder_add_string_value(json, value);
}

static void add_row(JsonBuilder *json, const leati_kernel *kernel) {
  leati_kernel_form form;
  leati_kernel_expand(kernel, &form);
  const uint8_t code = kernel->type.code;
  g_autofree char *type = g_strdup_printf("%s%u",
                                          code == kDLInt      ? "int"
                                          : code == kDLBfloat ? "bfloat"
                                                              : "float",
                                          kernel->type.bits);
  json_builder_begin_object(json);
  add_string(json, "name", kernel->name);
  add_string(json, "op", kernel->op);
  json_builder_set_member_name(json, "since_version");
  json_builder_add_int_value(json, kernel->since_version);
  add_string(json, "type", type);
  json_builder_set_member_name(json, "inputs");
  json_builder_begin_array(json);
  for (guint i = 0; i < form.input_count; ++i) {
    add_whole_numbers(json, NULL, form.inputs[i].dims, (guint)form.inputs[i].rank);
  }
  json_builder_end_array(json);
  json_builder_set_member_name(json, "input_types");
  json_builder_begin_array(json);
  for (guint i = 0; i < form.input_count; ++i) {
    json_builder_add_string_value(json, form.inputs[i].is_bytes ? "uint8" : type);
  }
  json_builder_end_array(json);
  add_whole_numbers(json, "output", form.output.dims, (guint)form.output.rank);
  add_string(json, "output_type", form.output.is_bytes ? "uint8" : type);
  json_builder_set_member_name(json, "attributes");
  json_builder_begin_object(json);
  for (guint i = 0; i < form.attribute_count; ++i) {
    const leati_kernel_attribute *a = &form.attributes[i];
    if (a->count > 0) {
      add_whole_numbers(json, a->name, a->values, a->count);
    } else {
      json_builder_set_member_name(json, a->name);
      json_builder_add_int_value(json, a->values[0]);
    }
  }
  json_builder_end_object(json);
  add_string(json, "link", kernel->link == LEATI_KERNEL_READ ? "read" : "rewrite");
  json_builder_set_member_name(json, "copies");
  json_builder_add_int_value(json, form.copies);
  add_string(json, "kind", kernel->kind == LEATI_KERNEL_COMPUTE ? "compute" : "memory");
  json_builder_set_member_name(json, "work");
  json_builder_add_double_value(json, leati_kernel_work(kernel, &form));
  add_string(json, "unit", leati_kernel_unit(kernel));
  add_string(json, "formula", form.formula);
  json_builder_end_object(json);
}

char *leati_kernels_json(const GPtrArray *kernels) {
  g_autoptr(JsonBuilder) json = json_builder_new();
  json_builder_begin_array(json);
  for (guint i = 0; i < kernels->len; ++i) {
    add_row(json, g_ptr_array_index(kernels, i));
  }
  json_builder_end_array(json);
  g_autoptr(JsonNode) root = json_builder_get_root(json);
  return json_to_string(root, TRUE);
}
