/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of attention. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/refusal.h"

#define ATTENTION(version, named, views, attributes_given, ...)                                                       \
  {                                                                                                                   \
    .name = "Attention", .label = named, .since_version = version, .variants = views, .attributes = attributes_given, \
    .inputs = {                                                                                                       \
      __VA_ARGS__                                                                                                     \
    }                                                                                                                 \
  }
/* With keys and values of earlier positions, or none, which it gives with the new ones behind them. */
#define CACHED(version, named, views, attributes_given, ...)                                        \
  {                                                                                                 \
    .name = "Attention", .label = named, .since_version = version, .outputs = 3, .variants = views, \
    .attributes = attributes_given, .inputs = {                                                     \
      __VA_ARGS__                                                                                   \
    }                                                                                               \
  }
/* With scores as output 3, keys and values given back or not. */
#define SCORED(named, presents, attributes_given, ...)                                                      \
  {                                                                                                         \
    .name = "Attention", .label = named, .since_version = 24, .outputs = 4, .unwanted = (presents) ? 0 : 6, \
    .attributes = attributes_given, .inputs = {                                                             \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }
#define WINDOWS(before, after) A_INT("left_window_size", before), A_INT("right_window_size", after)
#define SCORES(mode) A_INT("qk_matmul_output_mode", mode)
#define MULTI_HEAD(named, views, attributes_given, ...)                                                            \
  {                                                                                                                \
    .name = "MultiHeadAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .attributes = attributes_given, .inputs = {                                                                    \
      __VA_ARGS__                                                                                                  \
    }                                                                                                              \
  }
/* With keys and values given back. */
#define MULTI_HEAD_CACHED(named, views, attributes_given, ...)                                                \
  {                                                                                                           \
    .name = "MultiHeadAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = 3, \
    .variants = views, .attributes = attributes_given, .inputs = {                                            \
      __VA_ARGS__                                                                                             \
    }                                                                                                         \
  }
/* With scores given back, and keys and values unless these are unwanted: bits of outputs. */
#define MULTI_HEAD_SCORES(named, unwanted_given, views, attributes_given, ...)                                \
  {                                                                                                           \
    .name = "MultiHeadAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = 4, \
    .unwanted = unwanted_given, .variants = views, .attributes = attributes_given, .inputs = {                \
      __VA_ARGS__                                                                                             \
    }                                                                                                         \
  }
/* Attention that projects its input: of com.microsoft. */
#define PROJECTED_CACHED(named, views, attributes_given, ...)                                                     \
  {                                                                                                               \
    .name = "Attention", .label = "projected_" named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = 2, \
    .variants = views, .attributes = attributes_given, .inputs = {                                                \
      __VA_ARGS__                                                                                                 \
    }                                                                                                             \
  }
#define Q_ATTENTION(named, outputs_given, views, attributes_given, ...)                                           \
  {                                                                                                               \
    .name = "QAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = outputs_given, \
    .variants = views, .attributes = attributes_given, .inputs = {                                                \
      __VA_ARGS__                                                                                                 \
    }                                                                                                             \
  }
/* Bytes, and scales that make numbers about 1 of them. */
#define X_BYTES(...) U8_RANGE(0, 255, __VA_ARGS__)
#define W_BYTES(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define PROJECTED(named, views, attributes_given, ...)                                                                 \
  {                                                                                                                    \
    .name = "Attention", .label = "projected_" named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .attributes = attributes_given, .inputs = {                                                                        \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }
#define GROUP(named, views, attributes_given, ...)                                                             \
  {                                                                                                            \
    .name = "GroupQueryAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = 3, \
    .variants = views, .attributes = attributes_given, .inputs = {                                             \
      __VA_ARGS__                                                                                              \
    }                                                                                                          \
  }
/* What attention of groups needs: heads; how many keys each batch and the longest has; angles of a type. */
#define GROUPS(q, kv) A_INT("num_heads", q), A_INT("kv_num_heads", kv)
/* Codes of so many bits, that one scale is for, or one for each element of a head. */
#define CODES(bits, k, v) A_STRING("k_quant_type", k), A_STRING("v_quant_type", v), A_INT("kv_cache_bit_width", bits)
#define BY_TENSOR "PER_TENSOR"
#define BY_CHANNEL "PER_CHANNEL"
#define INT8S(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define NO_ANGLES ABSENT, ABSENT
#define NO_BIAS ABSENT, ABSENT, ABSENT
/* With scores as output 3, and keys and values unless these are unwanted: bits of outputs. */
#define GROUP_SCORES(named, unwanted_given, views, attributes_given, ...)                                      \
  {                                                                                                            \
    .name = "GroupQueryAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = 4, \
    .unwanted = unwanted_given, .variants = views, .attributes = attributes_given, .inputs = {                 \
      __VA_ARGS__                                                                                              \
    }                                                                                                          \
  }
/* Blocks of two tables, whose queries have some of those before them, or for one row none, */
#define SPARSE(named, views, attributes_given, ...)                                                        \
  {                                                                                                        \
    .name = "SparseAttention", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = 3, \
    .variants = views, .attributes = attributes_given, .inputs = {                                         \
      __VA_ARGS__                                                                                          \
    }                                                                                                      \
  }
#define TABLES                                      \
  I32_IS(DIMS(2, 5), 0, 1, 3, 5, 8, 0, 1, 3, 6, 9), \
      I32_IS(DIMS(2, 9), 0, 0, 1, 1, 2, 1, 2, 3, -1, 0, 0, 1, 0, 1, 2, 0, 2, 3)
/* and numbers that lists and tables do not have. */
#define HOSTILE_TABLES                                                       \
  I32_IS(DIMS(2, 5), -7, 1, INT32_MAX, 2, INT32_MIN, 0, 1, 1, INT32_MAX, 0), \
      I32_IS(DIMS(2, 9), 0, -1, 1, INT32_MAX, 2, 1, INT32_MIN, 3, -1, 0, 0, 900, 0, 1, 2, 0, 2, 3)
#define TOTALS(total, batches, ...) I32_IS(DIMS(1), total), I32_IS(DIMS(batches), __VA_ARGS__)
#define SPARSE_HEADS(block) GROUPS(4, 2), A_INT("sparse_block_size", block)
#define WINDOW(size) A_INT("local_window_size", size), A_INT("sliding_window_cache", 1)
#define ENDS(total, batches, ...) I32_IS(DIMS(batches), __VA_ARGS__), I32_IS(DIMS(1), total)
#define ANGLES(t, positions, pairs) RANGE_OF(t, -1, 1, positions, pairs), RANGE_OF(t, -1, 1, positions, pairs)
#define FUSED(named, views, attributes_given, ...)                                                     \
  {                                                                                                    \
    .name = "FusedAttention", .label = named, .since_version = 1, .domain = "leat", .variants = views, \
    .attributes = attributes_given, .inputs = {                                                        \
      __VA_ARGS__                                                                                      \
    }                                                                                                  \
  }
#define LAYOUTS(q, k, v, y) \
  A_STRING("q_layout", q), A_STRING("k_layout", k), A_STRING("v_layout", v), A_STRING("y_layout", y)
/* Turned by the angles of positions. */
#define ROTARY(named, views, attributes_given, ...)                                                                    \
  {                                                                                                                    \
    .name = "RotaryEmbedding", .label = named, .since_version = 23, .variants = views, .attributes = attributes_given, \
    .inputs = {                                                                                                        \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }
#define ROTARY_OF_MICROSOFT(named, views, attributes_given, ...)                                          \
  {                                                                                                       \
    .name = "RotaryEmbedding", .label = "microsoft_" named, .since_version = 1, .domain = LEAT_MICROSOFT, \
    .variants = views, .attributes = attributes_given, .inputs = {                                        \
      __VA_ARGS__                                                                                         \
    }                                                                                                     \
  }
#define FUSED_ROTARY(named, views, ...)                                                                      \
  {                                                                                                          \
    .name = "FusedRotaryEmbedding", .label = named, .since_version = 1, .domain = "leat", .variants = views, \
    .threads = THREADS_8, .inputs = {                                                                        \
      __VA_ARGS__                                                                                            \
    }                                                                                                        \
  }
/* One head of so many elements, longer than one tile of queries and of keys. */
#define HEAD(size)                                                                                      \
  ATTENTION(23, "head_of_" #size, VIEW_OFFSET, NO_ATTRIBUTES, F32(1, 2, 19, size), F32(1, 2, 35, size), \
            F32(1, 2, 35, size))
#define HEADS(q, kv) ATTRIBUTES(A_INT("q_num_heads", q), A_INT("kv_num_heads", kv))
/* Given numbers of a type of floats: the shape's dimensions in parentheses, then the elements. */
#define GIVEN(t, shape, ...)                                                      \
  {                                                                               \
    .fill = LEATI_FILL_FLOATS, .type = t, DIMS shape, .floats = (const float[]) { \
      __VA_ARGS__                                                                 \
    }                                                                             \
  }
/* A type of 16 bits: heads of whole fours and others, as many as fill a large device, many keys and few; each kind of
 * mask, with keys that are taken out; scores that float16 cannot hold; and numbers that are none. Sizes are such that
 * few pipelines do. */
#define HALVES(type_label, t)                                                                                          \
  {.name = "Attention",                                                                                                \
   .label = type_label,                                                                                                \
   .since_version = 23,                                                                                                \
   .variants = VIEW_TRANSPOSED | VIEW_SLICED | VIEW_OFFSET,                                                            \
   .threads = THREADS_8,                                                                                               \
   .inputs = {RANGE_OF(t, -2, 2, 2, 3, 17, 32), RANGE_OF(t, -2, 2, 2, 3, 133, 32), RANGE_OF(t, -2, 2, 2, 3, 133, 32),  \
              RANGE_OF(t, -2, 2, 17, 133)}},                                                                           \
      ATTENTION(24, "head_of_48_" type_label, VIEW_OFFSET, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 2, 19, 48),            \
                RANGE_OF(t, -2, 2, 1, 2, 135, 48), RANGE_OF(t, -2, 2, 1, 2, 135, 48)),                                 \
      ATTENTION(23, "grouped_" type_label, 0,                                                                          \
                ATTRIBUTES(A_INT("q_num_heads", 6), A_INT("kv_num_heads", 3), A_INT("is_causal", 1)),                  \
                RANGE_OF(t, -2, 2, 2, 140, 48), RANGE_OF(t, -2, 2, 2, 140, 24), RANGE_OF(t, -2, 2, 2, 140, 60),        \
                BOOLS(2, 1, 1, 140)),                                                                                  \
      ATTENTION(25, "window_" type_label, 0, ATTRIBUTES(WINDOWS(40, 21)), RANGE_OF(t, -2, 2, 1, 3, 140, 48),           \
                RANGE_OF(t, -2, 2, 1, 3, 190, 48), RANGE_OF(t, -2, 2, 1, 3, 190, 48)),                                 \
      SCORED("scores_" type_label, false, ATTRIBUTES(SCORES(2), A_FLOAT("softcap", 2.0f)),                             \
             RANGE_OF(t, -2, 2, 2, 4, 3, 20), RANGE_OF(t, -2, 2, 2, 2, 70, 20), RANGE_OF(t, -2, 2, 2, 2, 70, 8),       \
             RANGE_OF(t, -2, 2, 3, 70)),                                                                               \
      SCORED("weights_" type_label, false, ATTRIBUTES(SCORES(3)), RANGE_OF(t, -2, 2, 2, 4, 3, 20),                     \
             RANGE_OF(t, -2, 2, 2, 2, 70, 20), RANGE_OF(t, -2, 2, 2, 2, 70, 8), BOOLS(3, 70)),                         \
      ATTENTION(23, "large_scores_" type_label, 0, ATTRIBUTES(A_FLOAT("scale", 1.0f)),                                 \
                RANGE_OF(t, 50, 60, 1, 2, 5, 32), RANGE_OF(t, 50, 60, 1, 2, 140, 32),                                  \
                RANGE_OF(t, -2, 2, 1, 2, 140, 32)),                                                                    \
      ATTENTION(23, "masked_rows_" type_label, 0, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 1, 4, 4),                       \
                RANGE_OF(t, -2, 2, 1, 1, 4, 4), RANGE_OF(t, -2, 2, 1, 1, 4, 4),                                        \
                GIVEN(t, (4, 4), 0, -INFINITY, 1, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -65504,       \
                      -65504, -65504, -65504, -65504, 0, -65504, 0)),                                                  \
      ATTENTION(23, "few_keys_" type_label, 0, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 3, 17, 32),                        \
                RANGE_OF(t, -2, 2, 2, 3, 33, 32), RANGE_OF(t, -2, 2, 2, 3, 33, 32)),                                   \
      ATTENTION(23, "many_heads_" type_label, 0, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 144, 50, 16),                    \
                RANGE_OF(t, -2, 2, 1, 144, 130, 16), RANGE_OF(t, -2, 2, 1, 144, 130, 16)),                             \
      ATTENTION(23, "rows_of_no_key_" type_label, 0, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 1, 4, 32),                   \
                RANGE_OF(t, -2, 2, 1, 1, 133, 32), RANGE_OF(t, -2, 2, 1, 1, 133, 32),                                  \
                GIVEN(t, (4, 1), -INFINITY, 0, 1, -INFINITY)),                                                         \
      ATTENTION(23, "special_" type_label, 0, NO_ATTRIBUTES,                                                           \
                GIVEN(t, (1, 1, 4, 2), NAN, 0, INFINITY, 1, 1, -INFINITY, 1, 2), RANGE_OF(t, 1, 2, 1, 1, 133, 2),      \
                RANGE_OF(t, -2, 2, 1, 1, 133, 2)),                                                                     \
      CACHED(23, "past_" type_label, VIEW_SLICED, ATTRIBUTES(A_INT("is_causal", 1)), RANGE_OF(t, -2, 2, 2, 3, 17, 32), \
             RANGE_OF(t, -2, 2, 2, 3, 17, 32), RANGE_OF(t, -2, 2, 2, 3, 17, 32), ABSENT,                               \
             RANGE_OF(t, -2, 2, 2, 3, 130, 32), RANGE_OF(t, -2, 2, 2, 3, 130, 32)),                                    \
      CACHED(23, "decoding_" type_label, 0, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 6, 1, 32),                            \
             RANGE_OF(t, -2, 2, 2, 3, 1, 32), RANGE_OF(t, -2, 2, 2, 3, 1, 32), ABSENT,                                 \
             RANGE_OF(t, -2, 2, 2, 3, 140, 32), RANGE_OF(t, -2, 2, 2, 3, 140, 32)),                                    \
      GROUP(type_label, VIEW_OFFSET, ATTRIBUTES(GROUPS(6, 2), A_INT("do_rotary", 1)), RANGE_OF(t, -2, 2, 2, 1, 192),   \
            RANGE_OF(t, -2, 2, 2, 1, 64), RANGE_OF(t, -2, 2, 2, 1, 64), RANGE_OF(t, -2, 2, 2, 2, 150, 32),             \
            RANGE_OF(t, -2, 2, 2, 2, 150, 32), ENDS(140, 2, 135, 139), ANGLES(t, 150, 16)),                            \
      GROUP("prompt_" type_label, 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), A_INT("local_window_size", 40)),  \
            RANGE_OF(t, -2, 2, 2, 133, 256), ABSENT, ABSENT, ABSENT, ABSENT, ENDS(133, 2, 132, 9),                     \
            ANGLES(t, 140, 12)),                                                                                       \
      GROUP("sinks_" type_label, 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1)), RANGE_OF(t, -2, 2, 2, 133, 256),  \
            ABSENT, ABSENT, ABSENT, ABSENT, ENDS(133, 2, 132, 9), ANGLES(t, 140, 12), I64_RANGE(0, 139, 2, 133),       \
            RANGE_OF(t, -2, 2, 1, 1, 133, 133), RANGE_OF(t, -2, 2, 4)),                                                \
      GROUP("smooth_" type_label, 0, ATTRIBUTES(GROUPS(4, 2), A_INT("smooth_softmax", 1)),                             \
            RANGE_OF(t, -2, 2, 2, 133, 256), ABSENT, ABSENT, ABSENT, ABSENT, ENDS(133, 2, 132, 132)),                  \
      GROUP("norms_" type_label, VIEW_SLICED, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1)),                         \
            RANGE_OF(t, -2, 2, 2, 3, 256), ABSENT, ABSENT, RANGE_OF(t, -2, 2, 2, 2, 20, 32),                           \
            RANGE_OF(t, -2, 2, 2, 2, 20, 32), ENDS(12, 2, 11, 7), ANGLES(t, 20, 16), ABSENT, ABSENT, ABSENT, ABSENT,   \
            ABSENT, RANGE_OF(t, 0, 2, 32), RANGE_OF(t, 0, 2, 32)),                                                     \
      MULTI_HEAD(type_label, 0, ATTRIBUTES(A_INT("num_heads", 3)), RANGE_OF(t, -2, 2, 2, 17, 96),                      \
                 RANGE_OF(t, -2, 2, 2, 133, 96), RANGE_OF(t, -2, 2, 2, 133, 60), ABSENT, ABSENT,                       \
                 RANGE_OF(t, -2, 2, 2, 3, 17, 133)),                                                                   \
      MULTI_HEAD("keys_and_bias_" type_label, VIEW_OFFSET, ATTRIBUTES(A_INT("num_heads", 3)),                          \
                 RANGE_OF(t, -2, 2, 2, 17, 96), RANGE_OF(t, -2, 2, 2, 33, 96), RANGE_OF(t, -2, 2, 2, 33, 60),          \
                 RANGE_OF(t, -1, 1, 252), I32_RANGE(-1, 1, 2, 33), RANGE_OF(t, -2, 2, 2, 1, 17, 33)),                  \
      MULTI_HEAD_CACHED("beams_" type_label, 0, ATTRIBUTES(A_INT("num_heads", 2)), RANGE_OF(t, -2, 2, 4, 1, 32),       \
                        RANGE_OF(t, -2, 2, 4, 1, 32), RANGE_OF(t, -2, 2, 4, 1, 32), RANGE_OF(t, -1, 1, 96), ABSENT,    \
                        ABSENT, RANGE_OF(t, -2, 2, 4, 2, 12, 16), RANGE_OF(t, -2, 2, 4, 2, 12, 16),                    \
                        I32_IS(DIMS(1), 9), I32_RANGE(0, 1, 2, 2, 12)),                                                \
      PROJECTED(type_label, VIEW_SLICED, ATTRIBUTES(A_INT("num_heads", 3)), RANGE_OF(t, -1, 1, 2, 17, 40),             \
                RANGE_OF(t, -1, 1, 40, 144), RANGE_OF(t, -1, 1, 144), I32_RANGE(-1, 1, 2, 17)),                        \
      FUSED(type_label, 0,                                                                                             \
            ATTRIBUTES(LAYOUTS("bsx", "bhds", "bhsd", "bsx"), A_INT("q_num_heads", 3), A_FLOAT("scale", 0.3f)),        \
            RANGE_OF(t, -2, 2, 2, 17, 96), RANGE_OF(t, -2, 2, 2, 3, 32, 133), RANGE_OF(t, -2, 2, 2, 3, 133, 20),       \
            RANGE_OF(t, -2, 2, 2, 1, 1, 133))

/* A type of RotaryEmbedding: both operators, heads side by side and apart, all of them turned and a part. */
#define ROTARY_OF(type_label, t)                                                                                       \
  ROTARY(type_label "_numbered", VIEWS | VIEW_OFFSET, ATTRIBUTES(A_INT("num_heads", 3)), RANGE_OF(t, -2, 2, 2, 5, 96), \
         ANGLES(t, 9, 16), I64_IS(DIMS(2, 5), 0, 1, 2, 3, 4, 8, 7, 0, -1, 12)),                                        \
      ROTARY_OF_MICROSOFT(type_label, VIEWS | VIEW_OFFSET, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 3, 5, 32),             \
                          I64_IS(DIMS(1), 3), ANGLES(t, 9, 16)),                                                       \
      ROTARY_OF_MICROSOFT(type_label "_part", 0, ATTRIBUTES(A_INT("num_heads", 3), A_INT("rotary_embedding_dim", 20)), \
                          RANGE_OF(t, -2, 2, 2, 5, 96), I64_RANGE(0, 8, 2, 5), ANGLES(t, 9, 10))

/* Few queries of heads of whole pieces of 16 bytes, as decoders have them: sizes of heads and how many share keys, odd
 * numbers of keys that several workgroups of a device might share, caches that go on where they are or elsewhere, and
 * views that do not begin at whole pieces. */
#define FEW(type_label, t)                                                                                         \
  GROUP("few_of_128_" type_label, VIEW_IN_PLACE | VIEW_OFFSET, ATTRIBUTES(GROUPS(8, 2), A_INT("do_rotary", 1)),    \
        RANGE_OF(t, -2, 2, 1, 1, 1024), RANGE_OF(t, -2, 2, 1, 1, 256), RANGE_OF(t, -2, 2, 1, 1, 256),              \
        RANGE_OF(t, -2, 2, 1, 2, 75, 128), RANGE_OF(t, -2, 2, 1, 2, 75, 128), ENDS(75, 1, 74), ANGLES(t, 75, 64)), \
      GROUP("few_of_64_" type_label, VIEW_IN_PLACE,                                                                \
            ATTRIBUTES(GROUPS(16, 2), A_INT("do_rotary", 1), A_INT("rotary_interleaved", 1),                       \
                       A_INT("local_window_size", 131)),                                                           \
            RANGE_OF(t, -2, 2, 2, 2, 1280), ABSENT, ABSENT, RANGE_OF(t, -2, 2, 2, 2, 201, 64),                     \
            RANGE_OF(t, -2, 2, 2, 2, 201, 64), ENDS(201, 2, 200, 200), ANGLES(t, 201, 24)),                        \
      ATTENTION(23, "few_of_256_" type_label, 0, ATTRIBUTES(A_FLOAT("softcap", 2.0f), A_INT("is_causal", 1)),      \
                RANGE_OF(t, -2, 2, 1, 2, 3, 256), RANGE_OF(t, -2, 2, 1, 1, 41, 256),                               \
                RANGE_OF(t, -2, 2, 1, 1, 41, 256), BOOLS(3, 41)),                                                  \
      CACHED(24, "few_of_40_" type_label, VIEW_SLICED, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 3, 1, 40),             \
             RANGE_OF(t, -2, 2, 2, 3, 1, 40), RANGE_OF(t, -2, 2, 2, 3, 1, 40), RANGE_OF(t, -2, 2, 3, 1, 90),       \
             RANGE_OF(t, -2, 2, 2, 3, 100, 40), RANGE_OF(t, -2, 2, 2, 3, 100, 40))

/* Queries that are guarded: what has no key, or a score that is NaN or +infinity, of one key or of all, and others
 * between them. Few queries, as many as fill a tile, and scores that no mask makes such. */
#define GUARD ATTRIBUTES(A_INT("nan_to_zero", 1))
#define TIMES_12(x) x, x, x, x, x, x, x, x, x, x, x, x
#define TIMES_36(x) TIMES_12(x), TIMES_12(x), TIMES_12(x)
#define KEYS_133_OF(first, others) \
  first, TIMES_36(others), TIMES_36(others), TIMES_36(others), TIMES_12(others), TIMES_12(others)
#define KEYS_133(first) KEYS_133_OF(first, 0)
#define GUARDED(type_label, t)                                                                                         \
  FUSED("guarded_" type_label, 0, GUARD, RANGE_OF(t, -2, 2, 1, 2, 6, 32), RANGE_OF(t, -2, 2, 1, 2, 6, 32),             \
        RANGE_OF(t, -2, 2, 1, 2, 6, 32),                                                                               \
        GIVEN(t, (6, 6), -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, 1, 0, -1, 0, 1, NAN, 0,  \
              0, 0, 0, -INFINITY, 0, 0, 0, INFINITY, 0, 0, -INFINITY, 0, 1, 0, 0, -INFINITY, 0, 0, -INFINITY,          \
              INFINITY, NAN, 0)),                                                                                      \
      FUSED("guarded_tiles_" type_label, 0, GUARD, RANGE_OF(t, -2, 2, 1, 2, 17, 32),                                   \
            RANGE_OF(t, -2, 2, 1, 2, 133, 32), RANGE_OF(t, -2, 2, 1, 2, 133, 32),                                      \
            GIVEN(t, (17, 133), KEYS_133(0), KEYS_133(NAN), KEYS_133(1), KEYS_133(INFINITY), KEYS_133(-INFINITY),      \
                  KEYS_133(0), KEYS_133(-1), KEYS_133(0), KEYS_133(NAN), KEYS_133(0), KEYS_133(INFINITY), KEYS_133(0), \
                  KEYS_133(0), KEYS_133(-INFINITY), KEYS_133(0), KEYS_133(INFINITY), KEYS_133(NAN))),                  \
      FUSED("guarded_rows_" type_label, 0, GUARD, RANGE_OF(t, -2, 2, 1, 2, 17, 32), RANGE_OF(t, -2, 2, 1, 2, 133, 32), \
            RANGE_OF(t, -2, 2, 1, 2, 133, 32),                                                                         \
            GIVEN(t, (17, 1), -INFINITY, 0, 1, NAN, 0, INFINITY, 0, -INFINITY, -INFINITY, 0, 0, NAN, NAN, 1, 0, 0,     \
                  -INFINITY)),                                                                                         \
      FUSED("guarded_special_" type_label, 0, GUARD, GIVEN(t, (1, 1, 4, 2), NAN, 0, INFINITY, 1, 1, -INFINITY, 1, 2),  \
            RANGE_OF(t, 1, 2, 1, 1, 133, 2), RANGE_OF(t, -2, 2, 1, 1, 133, 2))

/* Scores that are -infinity: of all keys of a query, or of those that a mask, or a later position, leaves; of one key
 * of many; beside scores that are NaN, and queries without a key. As many queries as fill a tile, and few of keys that
 * a device might share out. */
#define INFINITE(type_label, t)                                                                                       \
  FUSED("infinite_scores_" type_label, 0, NO_ATTRIBUTES,                                                              \
        GIVEN(t, (1, 1, 17, 2), -INFINITY, 1, 1, 2, 1, -INFINITY, NAN, 1, -INFINITY, -INFINITY, TIMES_12(1),          \
              TIMES_12(-INFINITY)),                                                                                   \
        RANGE_OF(t, 1, 2, 1, 1, 133, 2), RANGE_OF(t, -2, 2, 1, 1, 133, 2)),                                           \
      ATTENTION(23, "infinite_scores_causal_" type_label, 0, ATTRIBUTES(A_INT("is_causal", 1)),                       \
                GIVEN(t, (1, 1, 17, 1), 1, TIMES_12(2), -INFINITY, 1, INFINITY, 1),                                   \
                GIVEN(t, (1, 1, 133, 1), KEYS_133_OF(-INFINITY, 1)), RANGE_OF(t, -2, 2, 1, 1, 133, 2)),               \
      FUSED("infinite_scores_masked_" type_label, 0, NO_ATTRIBUTES,                                                   \
            GIVEN(t, (1, 1, 17, 1), TIMES_12(1), 1, 1, 1, 1, 1), GIVEN(t, (1, 1, 133, 1), KEYS_133_OF(-INFINITY, 1)), \
            RANGE_OF(t, -2, 2, 1, 1, 133, 2),                                                                         \
            GIVEN(t, (17, 133), KEYS_133(0), KEYS_133_OF(0, -INFINITY), KEYS_133_OF(-INFINITY, -INFINITY),            \
                  KEYS_133(-INFINITY), KEYS_133_OF(1, -65504), KEYS_133_OF(NAN, -INFINITY), KEYS_133(0), KEYS_133(0), \
                  KEYS_133(0), KEYS_133_OF(0, -INFINITY), KEYS_133(0), KEYS_133(0), KEYS_133(0), KEYS_133(0),         \
                  KEYS_133(0), KEYS_133(0), KEYS_133_OF(1, -INFINITY))),                                              \
      ATTENTION(23, "infinite_scores_bool_" type_label, 0, NO_ATTRIBUTES, GIVEN(t, (1, 1, 4, 1), 1, -INFINITY, 2, 2), \
                GIVEN(t, (1, 1, 4, 1), -INFINITY, 1, -INFINITY, -INFINITY), RANGE_OF(t, -2, 2, 1, 1, 4, 3),           \
                BOOLS_ARE(DIMS(4, 4), 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1)),                               \
      ATTENTION(23, "infinite_scores_of_few_" type_label, 0, NO_ATTRIBUTES,                                           \
                GIVEN(t, (1, 2, 1, 8), -INFINITY, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),                       \
                RANGE_OF(t, 1, 2, 1, 2, 700, 8), RANGE_OF(t, -2, 2, 1, 2, 700, 8)),                                   \
      FUSED("guarded_infinite_scores_" type_label, 0, GUARD,                                                          \
            GIVEN(t, (1, 1, 17, 2), -INFINITY, 1, 1, 2, 1, -INFINITY, NAN, 1, -INFINITY, -INFINITY, TIMES_12(1),      \
                  TIMES_12(-INFINITY)),                                                                               \
            RANGE_OF(t, 1, 2, 1, 1, 133, 2), RANGE_OF(t, -2, 2, 1, 1, 133, 2)),                                       \
      MULTI_HEAD("infinite_scores_" type_label, 0, ATTRIBUTES(A_INT("num_heads", 1)),                                 \
                 GIVEN(t, (1, 3, 2), -INFINITY, 1, 1, 2, 1, -INFINITY), RANGE_OF(t, 1, 2, 1, 40, 2),                  \
                 RANGE_OF(t, -2, 2, 1, 40, 2)),                                                                       \
      GROUP("infinite_scores_" type_label, 0, ATTRIBUTES(GROUPS(4, 1)),                                               \
            GIVEN(t, (1, 1, 8), -INFINITY, 1, 1, 2, NAN, 1, -INFINITY, 0), RANGE_OF(t, 1, 2, 1, 1, 2),                \
            RANGE_OF(t, -2, 2, 1, 1, 2), RANGE_OF(t, 1, 2, 1, 1, 40, 2), RANGE_OF(t, -2, 2, 1, 1, 40, 2),             \
            ENDS(41, 1, 40))

#define TAKEN_OUT_8 -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY

#define RELATIVE(named, views, used_threads, both, most, ...)                                                          \
  {                                                                                                                    \
    .name = "RelativePositionBias", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views,   \
    .threads = used_threads, .attributes = {A_INT("is_bidirectional", both), A_INT("max_distance", most)}, .inputs = { \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }

static const leati_op_spec specs[] = {
    RELATIVE("float32", ALL_VIEWS, THREADS_16, 1, 128, F32(32, 3), I64_IS(DIMS(1), 150), I64_IS(NO_DIMS, 150)),
    RELATIVE("float16", VIEW_SLICED, 0, 0, 128, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 32, 3), I64_IS(DIMS(1), 40),
             I64_IS(DIMS(1), 40)),
    RELATIVE("one_direction", 0, 0, 0, 128, F32(32, 2), I64_IS(NO_DIMS, 200), I64_IS(NO_DIMS, 170)),
    RELATIVE("many_buckets", 0, 0, 0, 1000, F32(128, 1), I64_IS(NO_DIMS, 1200), I64_IS(NO_DIMS, 9)),
    RELATIVE("few_buckets", 0, 0, 1, 9, F32(4, 1), I64_IS(NO_DIMS, 20), I64_IS(NO_DIMS, 20)),
    RELATIVE("nothing", 0, 0, 1, 9, F32(4, 1), I64_IS(NO_DIMS, 0), I64_IS(NO_DIMS, 20)),
    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),
    {.name = "Attention",
     .label = "float32",
     .since_version = 23,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .inputs = {F32(2, 3, 17, 32), F32(2, 3, 33, 32), F32(2, 3, 33, 32), F32(17, 33)}},
    {.name = "Attention",
     .label = "flat",
     .since_version = 23,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("q_num_heads", 3), A_INT("kv_num_heads", 3)},
     .inputs = {F32(2, 17, 96), F32(2, 33, 96), F32(2, 33, 96)}},
    HEAD(1),
    HEAD(3),
    HEAD(5),
    HEAD(8),
    HEAD(16),
    HEAD(32),
    HEAD(36),
    HEAD(64),
    HEAD(65),
    HEAD(80),
    HEAD(128),
    HEAD(130),
    HEAD(192),
    HEAD(255),
    HEAD(256),
    ATTENTION(23, "values_narrower", VIEW_TRANSPOSED, NO_ATTRIBUTES, F32(1, 2, 7, 80), F32(1, 2, 9, 80),
              F32(1, 2, 9, 20)),
    ATTENTION(23, "values_wider", VIEW_TRANSPOSED, NO_ATTRIBUTES, F32(1, 2, 7, 5), F32(1, 2, 9, 5), F32(1, 2, 9, 200)),
    ATTENTION(23, "values_of_another_kernel", 0, NO_ATTRIBUTES, F32(1, 2, 7, 16), F32(1, 2, 9, 16), F32(1, 2, 9, 68)),
    ATTENTION(23, "one_query", VIEW_SLICED, NO_ATTRIBUTES, F32(2, 4, 1, 64), F32(2, 4, 77, 64), F32(2, 4, 77, 64)),
    ATTENTION(23, "one_key", 0, NO_ATTRIBUTES, F32(2, 4, 5, 64), F32(2, 4, 1, 64), F32(2, 4, 1, 64)),
    ATTENTION(23, "many_keys", VIEW_TRANSPOSED, NO_ATTRIBUTES, F32(1, 2, 5, 32), F32(1, 2, 600, 32), F32(1, 2, 600, 32),
              F32(1, 1, 600)),
    ATTENTION(23, "many_keys_of_130", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(1, 1, 19, 130), F32(1, 1, 600, 130),
              F32(1, 1, 600, 130)),
    ATTENTION(23, "many_masked_keys", 0, NO_ATTRIBUTES, F32(1, 1, 19, 32), F32(1, 1, 600, 32), F32(1, 1, 600, 32),
              BOOLS(19, 1)),
    ATTENTION(23, "many_queries", 0, NO_ATTRIBUTES, F32(1, 2, 129, 32), F32(1, 2, 64, 32), F32(1, 2, 64, 32)),
    ATTENTION(23, "whole_tiles", VIEW_TRANSPOSED, NO_ATTRIBUTES, F32(1, 2, 64, 64), F32(1, 2, 128, 64),
              F32(1, 2, 128, 64)),
    ATTENTION(23, "a_key_behind_two_tiles", VIEW_SLICED, NO_ATTRIBUTES, F32(1, 2, 17, 64), F32(1, 2, 65, 64),
              F32(1, 2, 65, 64)),
    ATTENTION(23, "scale", 0, ATTRIBUTES(A_FLOAT("scale", 0.7f)), F32(1, 2, 9, 16), F32(1, 2, 9, 16), F32(1, 2, 9, 16)),
    ATTENTION(23, "scale_zero", 0, ATTRIBUTES(A_FLOAT("scale", 0.0f)), F32(1, 2, 9, 16), F32(1, 2, 9, 16),
              F32(1, 2, 9, 16)),
    ATTENTION(23, "softcap", 0, ATTRIBUTES(A_FLOAT("softcap", 2.0f)), F32(1, 2, 9, 16), F32(1, 2, 40, 16),
              F32(1, 2, 40, 16)),
    ATTENTION(23, "softcap_and_mask", 0, ATTRIBUTES(A_FLOAT("softcap", 0.5f)), F32(1, 2, 9, 16), F32(1, 2, 40, 16),
              F32(1, 2, 40, 16), BOOLS(9, 40)),
    ATTENTION(23, "large_scores", VIEW_OFFSET, ATTRIBUTES(A_FLOAT("scale", 1.0f)), F32_RANGE(-30, 30, 1, 2, 19, 16),
              F32_RANGE(-30, 30, 1, 2, 100, 16), F32(1, 2, 100, 16)),
    /* Each score is larger than all before, or smaller: what was summed up is scaled down with every tile, or never. */
    ATTENTION(23, "rising_scores", 0, ATTRIBUTES(A_FLOAT("scale", 100.0f)), F32_IS(DIMS(1, 1, 2, 1), 1, -1),
              F32_RANGE(1, 2, 1, 1, 130, 1), F32(1, 1, 130, 7)),
    ATTENTION(23, "causal", ALL_VIEWS, ATTRIBUTES(A_INT("is_causal", 1)), F32(2, 2, 70, 32), F32(2, 2, 70, 32),
              F32(2, 2, 70, 32)),
    ATTENTION(23, "causal_more_keys", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(1, 2, 20, 32), F32(1, 2, 70, 32),
              F32(1, 2, 70, 32)),
    ATTENTION(23, "causal_more_queries", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(1, 2, 70, 32), F32(1, 2, 20, 32),
              F32(1, 2, 20, 32)),
    ATTENTION(23, "causal_and_mask", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(2, 2, 40, 32), F32(2, 2, 40, 32),
              F32(2, 2, 40, 32), BOOLS(2, 1, 1, 40)),
    ATTENTION(23, "grouped", ALL_VIEWS, NO_ATTRIBUTES, F32(2, 6, 7, 16), F32(2, 2, 9, 16), F32(2, 2, 9, 16)),
    ATTENTION(23, "grouped_flat", VIEW_TRANSPOSED, HEADS(6, 3), F32(2, 7, 48), F32(2, 9, 24), F32(2, 9, 30)),
    ATTENTION(23, "one_head_of_keys", 0, HEADS(4, 1), F32(2, 7, 48), F32(2, 9, 12), F32(2, 9, 12)),
    ATTENTION(23, "added_mask", ALL_VIEWS, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              F32(2, 3, 9, 40)),
    ATTENTION(23, "added_mask_by_batch", 0, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              F32(2, 1, 1, 40)),
    ATTENTION(23, "added_mask_by_head", 0, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              F32(3, 9, 1)),
    ATTENTION(23, "added_mask_scalar", 0, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              F32_SCALAR),
    ATTENTION(23, "bool_mask", ALL_VIEWS, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              BOOLS(2, 3, 9, 40)),
    ATTENTION(23, "bool_mask_of_keys", 0, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              BOOLS(40)),
    /* The second query has no key by the mask, the third one far below zero by all of its keys. */
    ATTENTION(23, "masked_rows", 0, NO_ATTRIBUTES, F32(1, 1, 3, 4), F32(1, 1, 4, 4), F32(1, 1, 4, 4),
              F32_IS(DIMS(3, 4), 0, -INFINITY, 1, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -3e38f, -3e38f,
                     -3e38f, -3e38f)),
    ATTENTION(23, "no_key_by_bool", 0, NO_ATTRIBUTES, F32(1, 1, 2, 4), F32(1, 1, 3, 4), F32(1, 1, 3, 4),
              BOOLS_ARE(DIMS(2, 3), 0, 0, 0, 0, 1, 0)),
    ATTENTION(23, "special", 0, NO_ATTRIBUTES, F32_IS(DIMS(1, 1, 4, 2), NAN, 0, INFINITY, 1, 1, -INFINITY, 1, 2),
              F32_RANGE(1, 2, 1, 1, 3, 2), F32(1, 1, 3, 2)),
    ATTENTION(23, "no_batch", 0, NO_ATTRIBUTES, F32(0, 2, 7, 16), F32(0, 2, 9, 16), F32(0, 2, 9, 16)),
    ATTENTION(23, "no_queries", 0, NO_ATTRIBUTES, F32(1, 2, 0, 16), F32(1, 2, 9, 16), F32(1, 2, 9, 16)),
    ATTENTION(23, "no_keys", 0, NO_ATTRIBUTES, F32(1, 2, 7, 16), F32(1, 2, 0, 16), F32(1, 2, 0, 16)),
    ATTENTION(24, "later", VIEW_DYNAMIC, HEADS(3, 3), F32(2, 17, 96), F32(2, 33, 96), F32(2, 33, 96), ABSENT),
    ATTENTION(24, "short_mask", VIEW_TRANSPOSED, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              F32(9, 21)),
    ATTENTION(24, "short_bool_mask", 0, NO_ATTRIBUTES, F32(2, 3, 9, 16), F32(2, 3, 40, 16), F32(2, 3, 40, 16),
              BOOLS(2, 1, 9, 1)),
    {.name = "Attention",
     .label = "past",
     .since_version = 23,
     .outputs = 3,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("is_causal", 1)},
     .inputs = {F32(2, 3, 7, 32), F32(2, 3, 7, 32), F32(2, 3, 7, 32), ABSENT, F32(2, 3, 30, 32), F32(2, 3, 30, 32)}},
    CACHED(23, "past_flat", VIEW_TRANSPOSED, HEADS(6, 3), F32(2, 7, 48), F32(2, 5, 24), F32(2, 5, 30), F32(2, 1, 7, 16),
           F32(2, 3, 11, 8), F32(2, 3, 11, 10)),
    CACHED(24, "past_and_short_mask", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(1, 2, 3, 16), F32(1, 2, 3, 16),
           F32(1, 2, 3, 16), BOOLS(3, 8), F32(1, 2, 7, 16), F32(1, 2, 7, 16)),
    CACHED(23, "decoding", VIEW_OFFSET | VIEW_REVERSED, ATTRIBUTES(A_INT("is_causal", 1)), F32(2, 6, 1, 32),
           F32(2, 2, 1, 32), F32(2, 2, 1, 32), F32(2, 6, 1, 70), F32(2, 2, 69, 32), F32(2, 2, 69, 32)),
    CACHED(23, "decoding_flat", VIEW_SLICED, HEADS(20, 1), F32(2, 1, 640), F32(2, 1, 32), F32(2, 1, 32),
           BOOLS(20, 1, 40), F32(2, 1, 39, 32), F32(2, 1, 39, 32)),
    CACHED(23, "no_past", VIEW_TRANSPOSED, HEADS(3, 3), F32(2, 7, 96), F32(2, 9, 96), F32(2, 9, 96)),
    CACHED(23, "empty_past", 0, NO_ATTRIBUTES, F32(2, 3, 7, 32), F32(2, 3, 7, 32), F32(2, 3, 7, 32), ABSENT,
           F32(2, 3, 0, 32), F32(2, 3, 0, 32)),
    CACHED(23, "past_alone", 0, NO_ATTRIBUTES, F32(2, 3, 7, 32), F32(2, 3, 0, 32), F32(2, 3, 0, 32), ABSENT,
           F32(2, 3, 9, 32), F32(2, 3, 9, 32)),
    CACHED(23, "past_without_queries", 0, NO_ATTRIBUTES, F32(2, 3, 0, 32), F32(2, 3, 4, 32), F32(2, 3, 4, 32), ABSENT,
           F32(2, 3, 9, 32), F32(2, 3, 9, 32)),
    {.name = "Attention",
     .label = "present_values_alone",
     .since_version = 23,
     .outputs = 3,
     .unwanted = 1u << 1,
     .inputs = {F32(2, 3, 7, 32), F32(2, 3, 7, 32), F32(2, 3, 7, 32), ABSENT, F32(2, 3, 30, 32), F32(2, 3, 30, 32)}},
    ATTENTION(23, "present_unwanted", 0, NO_ATTRIBUTES, F32(2, 3, 7, 32), F32(2, 3, 7, 32), F32(2, 3, 7, 32), ABSENT,
              F32(2, 3, 30, 32), F32(2, 3, 30, 32)),
    ATTENTION(24, "lengths", ALL_VIEWS, NO_ATTRIBUTES, F32(3, 2, 7, 32), F32(3, 2, 40, 32), F32(3, 2, 40, 32), ABSENT,
              ABSENT, ABSENT, I64_IS(DIMS(3), 9, 40, 33)),
    /* Of the second batch the first queries come before all keys. */
    ATTENTION(24, "lengths_causal", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(3, 4, 7, 32), F32(3, 2, 40, 32),
              F32(3, 2, 40, 32), F32(7, 40), ABSENT, ABSENT, I64_IS(DIMS(3), 9, 4, 40)),
    ATTENTION(24, "lengths_of_decoding", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(3, 4, 1, 32), F32(3, 2, 40, 32),
              F32(3, 2, 40, 32), ABSENT, ABSENT, ABSENT, I64_IS(DIMS(3), 1, 33, 40)),
    ATTENTION(24, "lengths_out_of_range", 0, NO_ATTRIBUTES, F32(4, 2, 7, 32), F32(4, 2, 40, 32), F32(4, 2, 40, 32),
              ABSENT, ABSENT, ABSENT, I64_IS(DIMS(4), -1, 0, 41, INT64_MAX)),
    /* The keys are given back whole, though the last query stands at the last that its batch has of them. */
    CACHED(24, "lengths_of_few_given_back", 0, ATTRIBUTES(A_INT("is_causal", 1)), F32(3, 4, 2, 32), F32(3, 2, 6, 32),
           F32(3, 2, 6, 32), ABSENT, ABSENT, ABSENT, I64_IS(DIMS(3), 4, 1, 6)),
    ATTENTION(25, "no_window", VIEW_DYNAMIC, ATTRIBUTES(WINDOWS(-1, -1)), F32(2, 2, 9, 16), F32(2, 2, 40, 16),
              F32(2, 2, 40, 16)),
    ATTENTION(25, "window", ALL_VIEWS, ATTRIBUTES(WINDOWS(3, 1)), F32(2, 2, 70, 32), F32(2, 2, 70, 32),
              F32(2, 2, 70, 32)),
    ATTENTION(25, "window_of_own", 0, ATTRIBUTES(WINDOWS(0, 0)), F32(1, 2, 20, 8), F32(1, 2, 20, 8), F32(1, 2, 20, 8)),
    ATTENTION(25, "window_before", 0, ATTRIBUTES(WINDOWS(34, -1)), F32(1, 2, 90, 32), F32(1, 2, 70, 32),
              F32(1, 2, 70, 32)),
    ATTENTION(25, "window_behind", 0, ATTRIBUTES(WINDOWS(-1, 34)), F32(1, 2, 70, 32), F32(1, 2, 190, 32),
              F32(1, 2, 190, 32), BOOLS(70, 190)),
    /* Queries from 22 on have no key. */
    ATTENTION(25, "window_beyond_keys", 0, ATTRIBUTES(WINDOWS(2, 2)), F32(1, 2, 70, 32), F32(1, 2, 20, 32),
              F32(1, 2, 20, 32)),
    ATTENTION(25, "window_causal", 0, ATTRIBUTES(WINDOWS(5, 7), A_INT("is_causal", 1)), F32(1, 2, 40, 16),
              F32(1, 2, 50, 16), F32(1, 2, 50, 16)),
    ATTENTION(25, "windows_of_any_size", 0, ATTRIBUTES(WINDOWS(INT64_MAX, INT64_MAX - 1)), F32(1, 2, 4, 16),
              F32(1, 2, 50, 16), F32(1, 2, 50, 16)),
    ATTENTION(25, "window_of_few", VIEW_SLICED, ATTRIBUTES(WINDOWS(2, 30)), F32(1, 6, 4, 32), F32(1, 2, 300, 32),
              F32(1, 2, 300, 32)),
    ATTENTION(25, "window_of_many_keys", 0, ATTRIBUTES(WINDOWS(-1, 560)), F32(1, 1, 19, 130), F32(1, 1, 600, 130),
              F32(1, 1, 600, 130)),
    ATTENTION(25, "window_and_lengths", 0, ATTRIBUTES(WINDOWS(3, 2)), F32(3, 4, 7, 32), F32(3, 2, 40, 32),
              F32(3, 2, 40, 32), ABSENT, ABSENT, ABSENT, I64_IS(DIMS(3), 9, 4, 40)),
    CACHED(25, "window_and_past", VIEW_OFFSET, ATTRIBUTES(WINDOWS(6, 1)), F32(2, 6, 5, 32), F32(2, 2, 5, 32),
           F32(2, 2, 5, 32), ABSENT, F32(2, 2, 69, 32), F32(2, 2, 69, 32)),
    CACHED(25, "window_decoding", 0, ATTRIBUTES(WINDOWS(6, 0)), F32(2, 6, 1, 32), F32(2, 2, 1, 32), F32(2, 2, 1, 32),
           ABSENT, F32(2, 2, 69, 32), F32(2, 2, 69, 32)),
    {.name = "Attention",
     .label = "scores",
     .since_version = 23,
     .outputs = 4,
     .unwanted = 6,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {SCORES(0), A_FLOAT("softcap", 1.5f), A_INT("is_causal", 1)},
     .inputs = {F32(2, 3, 7, 30), F32(2, 3, 70, 30), F32(2, 3, 70, 30)}},
    SCORED("scores_capped", false, ATTRIBUTES(SCORES(1), A_FLOAT("softcap", 1.5f)), F32(2, 3, 7, 30), F32(2, 3, 70, 30),
           F32(2, 3, 70, 30), BOOLS(7, 70)),
    SCORED("scores_masked", false, ATTRIBUTES(SCORES(2), A_FLOAT("softcap", 1.5f), A_INT("is_causal", 1)),
           F32(2, 3, 7, 30), F32(2, 3, 70, 30), F32(2, 3, 70, 30), F32(2, 1, 7, 60)),
    SCORED("scores_flat", true, ATTRIBUTES(SCORES(0), A_INT("q_num_heads", 6), A_INT("kv_num_heads", 3)), F32(2, 7, 48),
           F32(2, 9, 24), F32(2, 9, 30)),
    SCORED("weights", true, ATTRIBUTES(SCORES(3)), F32(2, 6, 7, 32), F32(2, 2, 5, 32), F32(2, 2, 5, 32), ABSENT,
           F32(2, 2, 69, 32), F32(2, 2, 69, 32)),
    SCORED("weights_decoding", false, ATTRIBUTES(SCORES(3), A_INT("is_causal", 1)), F32(2, 6, 1, 32), F32(2, 2, 1, 32),
           F32(2, 2, 1, 32), ABSENT, F32(2, 2, 300, 32), F32(2, 2, 300, 32)),
    /* The first queries of the second batch have no key. */
    SCORED("weights_of_lengths", false, ATTRIBUTES(SCORES(3), A_INT("is_causal", 1)), F32(3, 4, 7, 32),
           F32(3, 2, 40, 32), F32(3, 2, 40, 32), ABSENT, ABSENT, ABSENT, I64_IS(DIMS(3), 9, 4, 40)),
    SCORED("scores_of_lengths", false, ATTRIBUTES(SCORES(2)), F32(3, 4, 7, 32), F32(3, 2, 40, 32), F32(3, 2, 40, 32),
           ABSENT, ABSENT, ABSENT, I64_IS(DIMS(3), 9, 4, 40)),
    SCORED("weights_special", false, ATTRIBUTES(SCORES(3)),
           F32_IS(DIMS(1, 1, 4, 2), NAN, 0, INFINITY, 1, 1, -INFINITY, 1, 2), F32_RANGE(1, 2, 1, 1, 3, 2),
           F32(1, 1, 3, 2)),
    /* Keys that come later have no weight, but where those before have NaN. */
    SCORED("weights_special_causal", false, ATTRIBUTES(SCORES(3), A_INT("is_causal", 1)),
           F32_IS(DIMS(1, 1, 4, 2), NAN, 0, INFINITY, 1, 1, -INFINITY, 1, 2), F32_RANGE(1, 2, 1, 1, 5, 2),
           F32(1, 1, 5, 2)),
    SCORED("weights_of_rising_scores", false, ATTRIBUTES(SCORES(3), A_FLOAT("scale", 100.0f)),
           F32_IS(DIMS(1, 1, 2, 1), 1, -1), F32_RANGE(1, 2, 1, 1, 130, 1), F32(1, 1, 130, 7)),
    SCORED("scores_of_no_keys", true, ATTRIBUTES(SCORES(3)), F32(1, 2, 7, 16), F32(1, 2, 0, 16), F32(1, 2, 0, 16)),

    {.name = "MultiHeadAttention",
     .label = "float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("num_heads", 3)},
     .inputs = {F32(2, 17, 96), F32(2, 33, 96), F32(2, 33, 60)}},
    MULTI_HEAD("bias", VIEW_BROADCAST, ATTRIBUTES(A_INT("num_heads", 2), A_FLOAT("scale", 0.3f)), F32(2, 9, 32),
               F32(2, 40, 32), F32(2, 40, 32), ABSENT, ABSENT, F32(2, 2, 9, 40)),
    MULTI_HEAD("unidirectional", 0, ATTRIBUTES(A_INT("num_heads", 2), A_INT("unidirectional", 1)), F32(2, 40, 32),
               F32(2, 40, 32), F32(2, 40, 32), ABSENT, ABSENT, F32(1, 1, 40, 40)),
    {.name = "MultiHeadAttention",
     .label = "past",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .outputs = 3,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("num_heads", 3), A_INT("unidirectional", 1)},
     .inputs = {F32(2, 7, 96), F32(2, 7, 96), F32(2, 7, 60), ABSENT, ABSENT, F32(2, 3, 7, 26), F32(2, 3, 19, 32),
                F32(2, 3, 19, 20)}},
    /* Masks of whole numbers in all forms, biases, packed operands, and numbers that are out of range. */
    MULTI_HEAD("keys_and_bias", VIEW_SLICED | VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 17, 96),
               F32(2, 33, 96), F32(2, 33, 60), F32(252), I32_RANGE(-1, 1, 2, 33)),
    MULTI_HEAD("bias_of_odd_heads", VIEW_REVERSED, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 5, 15), F32(2, 9, 15),
               F32(2, 9, 9), F32(39)),
    MULTI_HEAD("ends", VIEW_REVERSED, ATTRIBUTES(A_INT("num_heads", 2), A_FLOAT("mask_filter_value", -3.0f)),
               F32(4, 9, 32), F32(4, 40, 32), F32(4, 40, 32), ABSENT, I32_IS(DIMS(4), 7, -9, 40, INT32_MAX)),
    MULTI_HEAD("ends_of_3b2", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 9, 32), F32(2, 40, 32), F32(2, 40, 32),
               ABSENT, I32_IS(DIMS(8), 0, 21, 0, 9, 18, 0, 40, 80)),
    MULTI_HEAD("mask_of_scores", VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 2), A_INT("unidirectional", 1)),
               F32(2, 9, 32), F32(2, 9, 32), F32(2, 9, 32), ABSENT, I32_RANGE(0, 1, 2, 9, 9), F32(1, 2, 9, 9)),
    MULTI_HEAD("apart", VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 7, 96), F32(2, 3, 19, 32),
               F32(2, 3, 19, 20)),
    MULTI_HEAD_SCORES("scores", 3u << 1, ALL_VIEWS, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 17, 96), F32(2, 33, 96),
                      F32(2, 33, 60)),
    MULTI_HEAD_SCORES("scores_of_encoder", 3u << 1, VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 1, 96),
                      F32(2, 3, 19, 32), F32(2, 3, 19, 20), F32(252), ABSENT, ABSENT, ABSENT, ABSENT,
                      I32_IS(DIMS(1), 4), I32_RANGE(0, 1, 1, 2, 9)),
    MULTI_HEAD_SCORES("scores_of_past", 3u << 1, 0, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 1, 96), F32(2, 1, 96),
                      F32(2, 1, 60), ABSENT, ABSENT, ABSENT, F32(2, 3, 19, 32), F32(2, 3, 19, 20)),
    MULTI_HEAD_SCORES("scores_masked", 0, VIEW_REVERSED, ATTRIBUTES(A_INT("num_heads", 2), A_FLOAT("scale", 0.3f)),
                      F32(2, 5, 32), F32(2, 7, 32), F32(2, 7, 32), F32(96), I32_RANGE(0, 1, 2, 16), F32(1, 2, 5, 16),
                      F32(2, 2, 9, 16), F32(2, 2, 9, 16)),
    MULTI_HEAD_SCORES("scores_of_beams", 0, 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(4, 1, 32), F32(4, 1, 32),
                      F32(4, 1, 32), ABSENT, ABSENT, F32(1, 2, 1, 8), F32(4, 2, 12, 16), F32(4, 2, 12, 16),
                      I32_IS(DIMS(1), 7), I32_RANGE(0, 1, 2, 2, 12)),
    MULTI_HEAD_CACHED("apart_with_bias", 0, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 1, 96), F32(2, 3, 19, 32),
                      F32(2, 3, 19, 20), F32(252)),
    MULTI_HEAD("packed", VIEW_SLICED | VIEW_OFFSET, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 17, 3, 3, 32)),
    MULTI_HEAD_CACHED("packed_with_bias", 0, ATTRIBUTES(A_INT("num_heads", 3), A_INT("unidirectional", 1)),
                      F32(2, 17, 3, 3, 20), ABSENT, ABSENT, F32(180), ABSENT, ABSENT, F32(2, 3, 5, 20),
                      F32(2, 3, 5, 20)),
    MULTI_HEAD("packed_keys", VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 5, 96), F32(2, 33, 3, 2, 32)),
    MULTI_HEAD_CACHED("past_and_mask", 0, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 1, 96), F32(2, 1, 96),
                      F32(2, 1, 96), ABSENT, I32_RANGE(0, 1, 2, 20), ABSENT, F32(2, 3, 19, 32), F32(2, 3, 19, 32)),
    MULTI_HEAD_CACHED("shared", VIEW_OFFSET, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 2, 96), F32(2, 2, 96),
                      F32(2, 2, 96), F32(288), ABSENT, F32(1, 1, 2, 21), F32(2, 3, 30, 32), F32(2, 3, 30, 32),
                      I32_IS(DIMS(1), 19)),
    MULTI_HEAD_CACHED("shared_none", 0, ATTRIBUTES(A_INT("num_heads", 3)), F32(2, 2, 96), F32(2, 2, 96), F32(2, 2, 96),
                      ABSENT, ABSENT, ABSENT, F32(2, 3, 2, 32), F32(2, 3, 2, 32), I32_IS(DIMS(1), 0)),
    MULTI_HEAD_CACHED("beams", VIEW_REVERSED, ATTRIBUTES(A_INT("num_heads", 2)), F32(6, 1, 32), F32(6, 1, 32),
                      F32(6, 1, 32), F32(96), ABSENT, ABSENT, F32(6, 2, 12, 16), F32(6, 2, 12, 16), I32_IS(DIMS(1), 9),
                      I32_RANGE(-1, 3, 2, 3, 12)),
    MULTI_HEAD("beams_alone", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(4, 1, 10), F32(4, 1, 10), F32(4, 1, 10), ABSENT,
               ABSENT, ABSENT, F32(4, 2, 12, 5), F32(4, 2, 12, 5), I32_IS(DIMS(1), 9), I32_RANGE(0, 3, 1, 4, 9)),
    MULTI_HEAD("no_queries", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 0, 32), F32(2, 9, 32), F32(2, 9, 32), F32(96),
               I32_RANGE(0, 1, 2, 9)),
    MULTI_HEAD("no_keys", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 3, 32), F32(2, 0, 32), F32(2, 0, 32), F32(96),
               I32_RANGE(0, 1, 2, 0)),

    {.name = "Attention",
     .label = "projected_float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("num_heads", 3)},
     .inputs = {F32(2, 17, 40), F32(40, 144), F32(144), I32_RANGE(-1, 1, 2, 17)}},
    PROJECTED("no_bias", 0, ATTRIBUTES(A_INT("num_heads", 2), A_FLOAT("scale", 0.3f)), F32(2, 5, 7), F32(7, 30)),
    PROJECTED("ends", VIEW_REVERSED, ATTRIBUTES(A_INT("num_heads", 2)), F32(4, 9, 16), F32(16, 96), F32(96),
              I32_IS(DIMS(4), 7, -9, 40, INT32_MAX)),
    PROJECTED("ends_and_starts", VIEW_REVERSED, ATTRIBUTES(A_INT("num_heads", 2)), F32(3, 9, 16), F32(16, 96), F32(96),
              I32_IS(DIMS(6), 7, 9, 5, 3, -1, INT32_MAX)),
    PROJECTED("ends_of_3b2", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 9, 16), F32(16, 96), F32(96),
              I32_IS(DIMS(8), 0, 5, 0, 9, 18, 0, 9, 18)),
    PROJECTED("mask_of_scores", VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 2), A_INT("unidirectional", 1)),
              F32(2, 9, 16), F32(16, 96), F32(96), I32_RANGE(0, 1, 2, 9, 9), ABSENT, F32(2, 1, 9, 9)),
    PROJECTED("mask_of_positions", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 9, 16), F32(16, 96), F32(96),
              I32_RANGE(0, 1, 2, 1, 12, 12)),
    PROJECTED("mask_of_one", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 9, 16), F32(16, 96), F32(96),
              I32_RANGE(0, 1, 1, 1)),
    PROJECTED("qkv_hidden_sizes", VIEW_SLICED,
              ATTRIBUTES(A_INT("num_heads", 2), A_INTS("qkv_hidden_sizes", 32, 32, 10)), F32(2, 9, 16), F32(16, 74),
              F32(74)),
    PROJECTED_CACHED("past", VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 2), A_INT("unidirectional", 1)),
                     F32(2, 5, 16), F32(16, 96), F32(96), ABSENT, F32(2, 2, 2, 7, 16)),
    PROJECTED_CACHED("past_and_mask", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 1, 16), F32(16, 96), F32(96),
                     I32_RANGE(0, 1, 2, 1, 12, 12), F32(2, 2, 2, 7, 16), F32(1, 2, 1, 8)),
    PROJECTED_CACHED("shared", 0, ATTRIBUTES(A_INT("num_heads", 2), A_INT("past_present_share_buffer", 1)),
                     F32(2, 1, 16), F32(16, 96), F32(96), I32_RANGE(0, 1, 2, 8), F32(2, 2, 2, 20, 16), ABSENT,
                     I32_IS(DIMS(1), 7)),
    PROJECTED_CACHED("no_past", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 5, 16), F32(16, 96), F32(96)),
    PROJECTED("nothing_to_project", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 5, 0), F32(0, 96), F32(96)),
    {.name = "QAttention",
     .label = "uint8_int8",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("num_heads", 3)},
     .inputs = {X_BYTES(2, 17, 40), W_BYTES(40, 144), F32(144), F32_IS(NO_DIMS, 0.012f), F32_IS(DIMS(1), 0.02f),
                I32_RANGE(-1, 1, 2, 17), INTS_OF(LEATI_REF_UINT8, NO_DIMS, 131), INTS_OF(LEATI_REF_INT8, DIMS(1), 3)}},
    Q_ATTENTION("int8_uint8_by_column", 1, VIEWS, ATTRIBUTES(A_INT("num_heads", 2), A_INT("unidirectional", 1)),
                W_BYTES(3, 9, 16), X_BYTES(16, 96), F32(96), F32_IS(DIMS(1), 0.012f), F32_RANGE(0.01, 0.02, 96), ABSENT,
                INTS_OF(LEATI_REF_INT8, NO_DIMS, -7), U8_RANGE(100, 160, 96)),
    Q_ATTENTION("uint8_uint8_no_zeros", 1, VIEW_SLICED,
                ATTRIBUTES(A_INT("num_heads", 2), A_FLOAT("scale", 0.1f), A_FLOAT("mask_filter_value", -500.0f)),
                U8_RANGE(0, 20, 2, 9, 16), U8_RANGE(0, 9, 16, 96), F32(96), F32_IS(NO_DIMS, 0.05f),
                F32_IS(NO_DIMS, 0.04f), I32_RANGE(0, 1, 2, 1, 12, 12)),
    Q_ATTENTION("int8_int8_one_zero", 1, 0, ATTRIBUTES(A_INT("num_heads", 2)), W_BYTES(4, 9, 20), W_BYTES(20, 30),
                F32(30), F32_IS(NO_DIMS, 0.012f), F32_RANGE(0.01, 0.02, 30), I32_IS(DIMS(4), 7, -9, 40, INT32_MAX),
                ABSENT, INTS_OF(LEATI_REF_INT8, NO_DIMS, 5)),
    Q_ATTENTION("past", 2, VIEW_TRANSPOSED, ATTRIBUTES(A_INT("num_heads", 2), A_INT("unidirectional", 1)),
                X_BYTES(2, 5, 16), W_BYTES(16, 96), F32(96), F32_IS(NO_DIMS, 0.012f), F32_IS(NO_DIMS, 0.02f), ABSENT,
                INTS_OF(LEATI_REF_UINT8, NO_DIMS, 128), ABSENT, F32(2, 2, 2, 7, 16)),
    Q_ATTENTION("no_past", 2, 0, ATTRIBUTES(A_INT("num_heads", 2)), X_BYTES(2, 1, 16), W_BYTES(16, 96), F32(96),
                F32_IS(NO_DIMS, 0.012f), F32_IS(NO_DIMS, 0.02f)),
    Q_ATTENTION("float16", 2, VIEW_SLICED, ATTRIBUTES(A_INT("num_heads", 3)), X_BYTES(2, 17, 40), W_BYTES(40, 144),
                RANGE_OF(LEATI_REF_FLOAT16, -1, 1, 144), RANGE_OF(LEATI_REF_FLOAT16, 0.01, 0.012, 1),
                RANGE_OF(LEATI_REF_FLOAT16, 0.01, 0.02, 144), I32_RANGE(-1, 1, 2, 17),
                INTS_OF(LEATI_REF_UINT8, NO_DIMS, 131), RANGE_OF(LEATI_REF_INT8, -5, 5, 144)),
    Q_ATTENTION("nothing_to_project", 1, 0, ATTRIBUTES(A_INT("num_heads", 2)), X_BYTES(2, 5, 0), W_BYTES(0, 96),
                F32(96), F32_IS(NO_DIMS, 0.012f), F32_IS(NO_DIMS, 0.02f)),
    PROJECTED("no_positions", 0, ATTRIBUTES(A_INT("num_heads", 2)), F32(2, 0, 16), F32(16, 96), F32(96)),

    {.name = "GroupQueryAttention",
     .label = "float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .outputs = 3,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {GROUPS(6, 2), A_INT("do_rotary", 1)},
     .inputs = {F32(2, 1, 192), F32(2, 1, 64), F32(2, 1, 64), F32(2, 2, 40, 32), F32(2, 2, 40, 32), ENDS(41, 2, 35, 40),
                ANGLES(LEATI_REF_FLOAT32, 64, 16)}},
    GROUP("whole_cache", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(6, 2), A_INT("do_rotary", 1)), F32(2, 1, 192), F32(2, 1, 64),
          F32(2, 1, 64), F32(2, 2, 40, 32), F32(2, 2, 40, 32), ENDS(40, 2, 39, 39), ANGLES(LEATI_REF_FLOAT32, 64, 16)),
    GROUP("prompt", VIEW_TRANSPOSED, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1)), F32(2, 7, 128), F32(2, 7, 64),
          F32(2, 7, 64), F32(2, 2, 0, 32), F32(2, 2, 0, 32), ENDS(7, 2, 6, 4), ANGLES(LEATI_REF_FLOAT32, 7, 8)),
    GROUP("prompt_with_room", 0, ATTRIBUTES(GROUPS(4, 2)), F32(2, 7, 128), F32(2, 7, 64), F32(2, 7, 64),
          F32(2, 2, 20, 32), F32(2, 2, 20, 32), ENDS(7, 2, 6, 4)),
    GROUP("no_past", 0, ATTRIBUTES(GROUPS(2, 2), A_FLOAT("scale", 0.3f)), F32(2, 7, 64), F32(2, 7, 64), F32(2, 7, 64),
          ABSENT, ABSENT, ENDS(7, 2, 6, 6)),
    GROUP("continued", VIEW_SLICED, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1)), F32(2, 3, 128), F32(2, 3, 64),
          F32(2, 3, 64), F32(2, 2, 20, 32), F32(2, 2, 20, 32), ENDS(12, 2, 11, 7), ANGLES(LEATI_REF_FLOAT32, 20, 16)),
    GROUP("interleaved", VIEW_REVERSED, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), A_INT("rotary_interleaved", 1)),
          F32(2, 1, 256), ABSENT, ABSENT, F32(2, 2, 20, 32), F32(2, 2, 20, 32), ENDS(12, 2, 11, 7),
          ANGLES(LEATI_REF_FLOAT32, 20, 8)),
    GROUP("odd_heads", VIEW_SLICED, ATTRIBUTES(GROUPS(3, 1), A_INT("do_rotary", 1)), F32(2, 2, 25), ABSENT, ABSENT,
          F32(2, 1, 11, 5), F32(2, 1, 11, 5), ENDS(12, 2, 11, 7), ANGLES(LEATI_REF_FLOAT32, 20, 2)),
    GROUP("window", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("local_window_size", 37)), F32(1, 20, 128), F32(1, 20, 64),
          F32(1, 20, 64), F32(1, 2, 80, 32), F32(1, 2, 80, 32), ENDS(100, 1, 99)),
    GROUP("window_of_decoding", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("local_window_size", 1), A_FLOAT("softcap", 2.0f)),
          F32(2, 1, 128), F32(2, 1, 64), F32(2, 1, 64), F32(2, 2, 80, 32), F32(2, 2, 80, 32), ENDS(81, 2, 80, 40)),
    /* Caches with room for a window: of more positions than that, at once or one by one, and of fewer. */
    GROUP("evicting", VIEWS, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(4)), F32(2, 1, 64), F32(2, 1, 32),
          F32(2, 1, 32), F32(2, 2, 7, 16), F32(2, 2, 7, 16), ENDS(23, 2, 22, 5), ANGLES(LEATI_REF_FLOAT32, 30, 8)),
    GROUP("evicting_one", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(7)), F32(1, 1, 64),
          F32(1, 1, 32), F32(1, 1, 32), F32(1, 2, 7, 16), F32(1, 2, 7, 16), ENDS(8, 1, 7),
          ANGLES(LEATI_REF_FLOAT32, 30, 8)),
    GROUP("evicting_nothing", VIEWS, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(4)), F32(3, 1, 64),
          F32(3, 1, 32), F32(3, 1, 32), F32(3, 2, 9, 16), F32(3, 2, 9, 16), ENDS(8, 3, 7, 2, INT32_MAX),
          ANGLES(LEATI_REF_FLOAT32, 30, 8)),
    GROUP("evicting_nothing_yet", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(4, 2), WINDOW(4)), F32(2, 1, 64), F32(2, 1, 32),
          F32(2, 1, 32), F32(2, 2, 9, 16), F32(2, 2, 9, 16), ENDS(9, 2, 8, 8)),
    GROUP("evicting_from_now_on", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(4)),
          F32(2, 2, 64), F32(2, 2, 32), F32(2, 2, 32), F32(2, 2, 9, 16), F32(2, 2, 9, 16), ENDS(10, 2, 9, 3),
          ANGLES(LEATI_REF_FLOAT32, 30, 8)),
    GROUP("evicting_several", 0, ATTRIBUTES(GROUPS(4, 2), WINDOW(3), A_FLOAT("softcap", 2.0f)), F32(2, 11, 64),
          F32(2, 11, 32), F32(2, 11, 32), F32(2, 2, 5, 16), F32(2, 2, 5, 16), ENDS(20, 2, 19, 13)),
    GROUP("evicting_prompt", VIEW_TRANSPOSED, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(4)), F32(2, 9, 64),
          F32(2, 9, 32), F32(2, 9, 32), F32(2, 2, 6, 16), F32(2, 2, 6, 16), ENDS(9, 2, 8, 2),
          ANGLES(LEATI_REF_FLOAT32, 9, 8)),
    GROUP("evicting_short_prompt", 0, ATTRIBUTES(GROUPS(4, 2), WINDOW(4)), F32(1, 3, 64), F32(1, 3, 32), F32(1, 3, 32),
          F32(1, 2, 6, 16), F32(1, 2, 6, 16), ENDS(3, 1, 2)),
    GROUP("evicting_positions", 0, ATTRIBUTES(GROUPS(3, 1), A_INT("do_rotary", 1), WINDOW(4)), F32(2, 2, 25), ABSENT,
          ABSENT, F32(2, 1, 6, 5), F32(2, 1, 6, 5), ENDS(14, 2, 13, 9), ANGLES(LEATI_REF_FLOAT32, 20, 2),
          I64_IS(DIMS(2, 2), 3, 9, 1, 25), ABSENT, F32(3)),
    GROUP("evicting_float16", 0, ATTRIBUTES(GROUPS(4, 2), WINDOW(4)), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 72),
          RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 36), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 36),
          RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 18), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 18),
          ENDS(7, 1, 6)),
    GROUP("evicting_bfloat16", 0, ATTRIBUTES(GROUPS(4, 2), WINDOW(4)), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 68),
          RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 34), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 34),
          RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 4, 17), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 4, 17),
          ENDS(6, 1, 5)),
    /* Caches of codes: of one query and several, of prompts, by each kind of scale, some of which are no numbers. */
    GROUP("codes_int8", VIEWS | VIEW_REVERSED,
          ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), CODES(8, BY_TENSOR, BY_TENSOR)), F32(2, 1, 128),
          F32(2, 1, 64), F32(2, 1, 64), INT8S(2, 2, 20, 32), INT8S(2, 2, 20, 32), ENDS(12, 2, 11, 7),
          ANGLES(LEATI_REF_FLOAT32, 20, 16), NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_IS(DIMS(1, 1, 1, 1), 0.015f)),
    GROUP("codes_int8_by_channel", 0, ATTRIBUTES(GROUPS(3, 1), CODES(8, BY_CHANNEL, BY_TENSOR)), F32(2, 3, 25), ABSENT,
          ABSENT, INT8S(2, 1, 9, 5), INT8S(2, 1, 9, 5), ENDS(12, 2, 11, 7), NO_ANGLES, NO_BIAS,
          F32_RANGE(0.01, 0.03, 5), F32_IS(NO_DIMS, 0.02f)),
    GROUP("codes_int8_whole_cache", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(4, 2), CODES(8, BY_TENSOR, BY_CHANNEL)),
          F32(2, 2, 64), F32(2, 2, 32), F32(2, 2, 32), INT8S(2, 2, 11, 16), INT8S(2, 2, 11, 16), ENDS(11, 2, 10, 10),
          NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_RANGE(0.01, 0.03, 1, 2, 1, 16)),
    GROUP("codes_int4", VIEWS, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), CODES(4, BY_CHANNEL, BY_CHANNEL)),
          F32(2, 3, 64), F32(2, 3, 32), F32(2, 3, 32), U8_RANGE(0, 255, 2, 2, 20, 8), U8_RANGE(0, 255, 2, 2, 20, 8),
          ENDS(12, 2, 11, 7), ANGLES(LEATI_REF_FLOAT32, 20, 8), NO_BIAS, F32_RANGE(0.1, 0.3, 2, 1, 16),
          F32_RANGE(0.1, 0.3, 32)),
    GROUP("codes_int4_whole_cache", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(2, 2), CODES(4, BY_TENSOR, BY_TENSOR)),
          F32(2, 1, 12), F32(2, 1, 12), F32(2, 1, 12), U8_RANGE(0, 255, 2, 2, 7, 3), U8_RANGE(0, 255, 2, 2, 7, 3),
          ENDS(7, 2, 6, 6), NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.2f), F32_IS(DIMS(1), 0.3f)),
    GROUP("codes_of_prompt", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), CODES(8, BY_TENSOR, BY_CHANNEL)),
          F32(2, 7, 64), F32(2, 7, 32), F32(2, 7, 32), INT8S(2, 2, 0, 16), INT8S(2, 2, 0, 16), ENDS(7, 2, 6, 4),
          ANGLES(LEATI_REF_FLOAT32, 7, 8), NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_RANGE(0.01, 0.03, 2, 16)),
    GROUP("codes_of_prompt_int4", 0, ATTRIBUTES(GROUPS(4, 2), CODES(4, BY_TENSOR, BY_TENSOR)), F32(1, 5, 64),
          F32(1, 5, 32), F32(1, 5, 32), U8_RANGE(0, 255, 1, 2, 9, 8), U8_RANGE(0, 255, 1, 2, 9, 8), ENDS(5, 1, 4),
          NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.3f), F32_IS(DIMS(1), 0.2f)),
    GROUP("codes_of_no_scale", 0, ATTRIBUTES(GROUPS(2, 1), CODES(8, BY_TENSOR, BY_CHANNEL)), F32(1, 1, 10),
          F32(1, 1, 5), F32(1, 1, 5), INT8S(1, 1, 6, 5), INT8S(1, 1, 6, 5), ENDS(6, 1, 5), NO_ANGLES, NO_BIAS,
          F32_IS(DIMS(1), 0.02f), F32_IS(DIMS(5), NAN, 0, -0.02f, 1e36f, 1e-36f)),
    GROUP("codes_lengths_out_of_range", 0, ATTRIBUTES(GROUPS(4, 2), CODES(8, BY_TENSOR, BY_TENSOR)), F32(4, 1, 64),
          F32(4, 1, 32), F32(4, 1, 32), INT8S(4, 2, 9, 16), INT8S(4, 2, 9, 16), ENDS(10, 4, -7, 0, 10, INT32_MAX),
          NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_IS(DIMS(1), 0.02f)),
    GROUP("codes_float16", VIEW_OFFSET, ATTRIBUTES(GROUPS(4, 2), CODES(8, BY_CHANNEL, BY_CHANNEL)),
          RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 64), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 32),
          RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 32), INT8S(1, 2, 7, 16), INT8S(1, 2, 7, 16), ENDS(8, 1, 7),
          NO_ANGLES, NO_BIAS, F32_RANGE(0.01, 0.03, 32), F32_RANGE(0.01, 0.03, 32)),
    GROUP("codes_bfloat16", VIEW_OFFSET, ATTRIBUTES(GROUPS(4, 2), CODES(4, BY_TENSOR, BY_TENSOR)),
          RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 64), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 32),
          RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 32), U8_RANGE(0, 255, 1, 2, 7, 8), U8_RANGE(0, 255, 1, 2, 7, 8),
          ENDS(8, 1, 7), NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.2f), F32_IS(DIMS(1), 0.3f)),
    {.name = "GroupQueryAttention",
     .label = "codes_unwanted",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .attributes = {GROUPS(4, 2), CODES(8, BY_TENSOR, BY_TENSOR)},
     .inputs = {F32(2, 1, 64), F32(2, 1, 32), F32(2, 1, 32), INT8S(2, 2, 9, 16), INT8S(2, 2, 9, 16), ENDS(9, 2, 8, 3),
                NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_IS(DIMS(1), 0.02f)}},
    /* New positions of which each batch has some, all, none, or a number out of range. */
    GROUP("padded", VIEWS, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1)), F32(3, 4, 128), F32(3, 4, 64),
          F32(3, 4, 64), F32(3, 2, 20, 32), F32(3, 2, 20, 32), ENDS(20, 3, 11, 3, 8), ANGLES(LEATI_REF_FLOAT32, 20, 16),
          NO_BIAS, NO_ANGLES, NO_ANGLES, I32_IS(DIMS(3), 2, 4, 0)),
    GROUP("padded_one", VIEW_IN_PLACE, ATTRIBUTES(GROUPS(4, 2)), F32(2, 1, 128), F32(2, 1, 64), F32(2, 1, 64),
          F32(2, 2, 9, 32), F32(2, 2, 9, 32), ENDS(9, 2, 8, 8), NO_ANGLES, NO_BIAS, NO_ANGLES, NO_ANGLES,
          I32_IS(DIMS(2), 1, 1)),
    GROUP("padded_out_of_range", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), A_INT("local_window_size", 5)),
          F32(5, 3, 64), F32(5, 3, 32), F32(5, 3, 32), F32(5, 2, 9, 16), F32(5, 2, 9, 16),
          ENDS(9, 5, 8, -9, INT32_MAX, 0, 5), ANGLES(LEATI_REF_FLOAT32, 9, 8), NO_BIAS, NO_ANGLES, NO_ANGLES,
          I32_IS(DIMS(5), -1, 2, 4, 3, INT32_MAX)),
    GROUP("padded_nothing_new", 0, ATTRIBUTES(GROUPS(4, 2)), F32(2, 0, 64), F32(2, 0, 32), F32(2, 0, 32),
          F32(2, 2, 9, 16), F32(2, 2, 9, 16), ENDS(0, 2, 4, -1), NO_ANGLES, NO_BIAS, NO_ANGLES, NO_ANGLES,
          I32_IS(DIMS(2), 0, 0)),
    GROUP("padded_codes", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), CODES(8, BY_TENSOR, BY_TENSOR)),
          F32(2, 3, 64), F32(2, 3, 32), F32(2, 3, 32), INT8S(2, 2, 12, 16), INT8S(2, 2, 12, 16), ENDS(12, 2, 8, 4),
          ANGLES(LEATI_REF_FLOAT32, 12, 8), NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_IS(DIMS(1), 0.02f), NO_ANGLES,
          I32_IS(DIMS(2), 2, 3)),
    GROUP("padded_evicting", VIEW_SLICED, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(4)), F32(4, 5, 64),
          F32(4, 5, 32), F32(4, 5, 32), F32(4, 2, 7, 16), F32(4, 2, 7, 16), ENDS(23, 4, 22, 3, 7, 9),
          ANGLES(LEATI_REF_FLOAT32, 30, 8), NO_BIAS, NO_ANGLES, NO_ANGLES, I32_IS(DIMS(4), 3, 4, 0, 1)),
    GROUP("padded_evicting_out_of_range", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), WINDOW(4)), F32(3, 3, 64),
          F32(3, 3, 32), F32(3, 3, 32), F32(3, 2, 7, 16), F32(3, 2, 7, 16), ENDS(9, 3, 0, -5, 1),
          ANGLES(LEATI_REF_FLOAT32, 9, 8), NO_BIAS, NO_ANGLES, NO_ANGLES, I32_IS(DIMS(3), 2, 3, 9)),
    GROUP("padded_evicting_small_total", 0, ATTRIBUTES(GROUPS(4, 2), WINDOW(2)), F32(1, 5, 64), F32(1, 5, 32),
          F32(1, 5, 32), F32(1, 2, 3, 16), F32(1, 2, 3, 16), ENDS(4, 1, 3), NO_ANGLES, NO_BIAS, NO_ANGLES, NO_ANGLES,
          I32_IS(DIMS(1), 2)),
    /* Scores before the softmax and weights, with all that may go into them. */
    GROUP_SCORES("scores", 0, VIEWS, ATTRIBUTES(GROUPS(6, 2), A_INT("do_rotary", 1), A_INT("qk_output", 1)),
                 F32(2, 2, 192), F32(2, 2, 64), F32(2, 2, 64), F32(2, 2, 40, 32), F32(2, 2, 40, 32),
                 ENDS(31, 2, 25, 30), ANGLES(LEATI_REF_FLOAT32, 64, 16), ABSENT, F32(2, 1, 2, 31), F32(6)),
    GROUP_SCORES(
        "scores_of_prompt", 6, 0,
        ATTRIBUTES(GROUPS(4, 2), A_INT("qk_output", 1), A_FLOAT("softcap", 2.0f), A_INT("local_window_size", 3)),
        F32(2, 7, 64), F32(2, 7, 32), F32(2, 7, 32), F32(2, 2, 0, 16), F32(2, 2, 0, 16), ENDS(7, 2, 6, 4)),
    GROUP_SCORES("scores_taken_out", 6, 0, ATTRIBUTES(GROUPS(2, 1), A_INT("qk_output", 1)), F32(1, 1, 16), F32(1, 1, 8),
                 F32(1, 1, 8), F32(1, 1, 3, 8), F32(1, 1, 3, 8), ENDS(4, 1, 3), NO_ANGLES, ABSENT,
                 F32_IS(DIMS(1, 1, 1, 4), 0, -INFINITY, 1, 2)),
    GROUP_SCORES("weights", 0, VIEW_OFFSET, ATTRIBUTES(GROUPS(4, 1), A_INT("qk_output", 2)), F32(2, 1, 128),
                 F32(2, 1, 32), F32(2, 1, 32), F32(2, 1, 150, 32), F32(2, 1, 150, 32), ENDS(140, 2, 20, 139), NO_ANGLES,
                 ABSENT, ABSENT, F32_IS(DIMS(4), 200, -200, 1, -INFINITY)),
    GROUP_SCORES("weights_smooth", 6, 0,
                 ATTRIBUTES(GROUPS(4, 2), A_INT("qk_output", 2), A_INT("smooth_softmax", 1), A_INT("causal", 0)),
                 F32(2, 3, 64), F32(2, 3, 32), F32(2, 3, 32), ABSENT, ABSENT, ENDS(3, 2, 2, 1)),
    GROUP_SCORES("weights_of_codes", 0, 0,
                 ATTRIBUTES(GROUPS(4, 2), A_INT("qk_output", 2), CODES(8, BY_TENSOR, BY_TENSOR)),
                 RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 2, 64), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 2, 32),
                 RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 2, 32), INT8S(2, 2, 9, 16), INT8S(2, 2, 9, 16), ENDS(9, 2, 8, 3),
                 NO_ANGLES, NO_BIAS, F32_IS(DIMS(1), 0.02f), F32_IS(DIMS(1), 0.02f)),
    {.name = "SparseAttention",
     .label = "float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .outputs = 3,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {SPARSE_HEADS(16), A_INT("do_rotary", 1)},
     .inputs = {F32(2, 1, 128), F32(2, 1, 64), F32(2, 1, 64), F32(2, 2, 64, 32), F32(2, 2, 64, 32), TABLES,
                TOTALS(60, 2, 41, 60), ANGLES(LEATI_REF_FLOAT32, 64, 16)}},
    SPARSE("prompt", VIEW_TRANSPOSED,
           ATTRIBUTES(SPARSE_HEADS(16), A_INT("do_rotary", 1), A_INT("rotary_interleaved", 1)), F32(2, 50, 64),
           F32(2, 50, 32), F32(2, 50, 32), F32(2, 2, 70, 16), F32(2, 2, 70, 16), TABLES, TOTALS(50, 2, 50, 50),
           ANGLES(LEATI_REF_FLOAT32, 64, 8)),
    SPARSE("packed", VIEW_IN_PLACE, ATTRIBUTES(SPARSE_HEADS(16), A_FLOAT("scale", 0.3f)), F32(1, 3, 128), ABSENT,
           ABSENT, F32(1, 2, 64, 16), F32(1, 2, 64, 16), TABLES, TOTALS(64, 1, 64)),
    SPARSE("one_table", VIEW_SLICED, ATTRIBUTES(SPARSE_HEADS(32)), F32(2, 1, 20), F32(2, 1, 10), F32(2, 1, 10),
           F32(2, 2, 70, 5), F32(2, 2, 70, 5), I32_IS(DIMS(1, 4), 0, 1, 3, 5), I32_IS(DIMS(1, 5), 0, 0, 1, 0, 2),
           TOTALS(70, 2, 70, 33)),
    SPARSE("no_block", 0, ATTRIBUTES(SPARSE_HEADS(16)), F32(1, 20, 64), F32(1, 20, 32), F32(1, 20, 32),
           F32(1, 2, 32, 16), F32(1, 2, 32, 16), I32_IS(DIMS(1, 3), 0, 1, 1), I32_IS(DIMS(1, 1), 0), TOTALS(20, 1, 20)),
    SPARSE("no_columns", 0, ATTRIBUTES(SPARSE_HEADS(16)), F32(1, 1, 64), F32(1, 1, 32), F32(1, 1, 32),
           F32(1, 2, 32, 16), F32(1, 2, 32, 16), I32_IS(DIMS(1, 3), 0, 1, 2), I32_RANGE(0, 1, 1, 0), TOTALS(20, 1, 20)),
    SPARSE("hostile_tables", 0, ATTRIBUTES(SPARSE_HEADS(16)), F32(1, 50, 64), F32(1, 50, 32), F32(1, 50, 32),
           F32(1, 2, 64, 16), F32(1, 2, 64, 16), HOSTILE_TABLES, TOTALS(50, 1, 50)),
    SPARSE("lengths_out_of_range", 0, ATTRIBUTES(SPARSE_HEADS(16)), F32(5, 2, 64), F32(5, 2, 32), F32(5, 2, 32),
           F32(5, 2, 64, 16), F32(5, 2, 64, 16), HOSTILE_TABLES, TOTALS(64, 5, -7, 0, INT32_MAX, INT32_MIN, 65)),
    SPARSE("float16", VIEW_OFFSET, ATTRIBUTES(SPARSE_HEADS(16)), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 64),
           RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 32), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 1, 32),
           RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 64, 16), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 64, 16), TABLES,
           TOTALS(50, 1, 50)),
    SPARSE("bfloat16", VIEW_OFFSET, ATTRIBUTES(SPARSE_HEADS(16)), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 64),
           RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 32), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 1, 32),
           RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 64, 16), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 64, 16), TABLES,
           TOTALS(50, 1, 50)),
    /* The keys of one batch lie in the first of those tiles that a device might share out. */
    GROUP("many_keys", VIEW_OFFSET, ATTRIBUTES(GROUPS(4, 1), A_INT("local_window_size", 500)), F32(2, 1, 128),
          F32(2, 1, 32), F32(2, 1, 32), F32(2, 1, 700, 32), F32(2, 1, 700, 32), ENDS(700, 2, 20, 699)),
    GROUP("lengths_out_of_range", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1)), F32(4, 1, 128), F32(4, 1, 64),
          F32(4, 1, 64), F32(4, 2, 9, 32), F32(4, 2, 9, 32), ENDS(10, 4, -7, 0, 10, INT32_MAX),
          ANGLES(LEATI_REF_FLOAT32, 10, 16)),
    GROUP("not_causal", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("causal", 0)), F32(2, 3, 128), F32(2, 3, 64), F32(2, 3, 64),
          F32(2, 2, 20, 32), F32(2, 2, 20, 32), ENDS(12, 2, 11, 7)),
    GROUP("prompt_not_causal", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("causal", 0)), F32(2, 7, 128), F32(2, 7, 64),
          F32(2, 7, 64), F32(2, 2, 0, 32), F32(2, 2, 0, 32), ENDS(7, 2, 6, 4)),
    /* Norms of queries and keys, before they are rotated. */
    GROUP("norms_float32", VIEW_TRANSPOSED | VIEW_REVERSED, ATTRIBUTES(GROUPS(6, 2), A_INT("do_rotary", 1)),
          F32(2, 1, 192), F32(2, 1, 64), F32(2, 1, 64), F32(2, 2, 40, 32), F32(2, 2, 40, 32), ENDS(41, 2, 35, 40),
          ANGLES(LEATI_REF_FLOAT32, 64, 16), ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, F32(32), F32(32)),
    GROUP("norms_of_prompt", 0,
          ATTRIBUTES(GROUPS(4, 2), A_FLOAT("qk_norm_epsilon", 0.5f), A_FLOAT("k_norm_epsilon", 0.25f)), F32(2, 7, 40),
          ABSENT, ABSENT, ABSENT, ABSENT, ENDS(7, 2, 6, 4), ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT,
          F32(5), F32(5)),
    /* What is added to scores, by batch or by head, of keys up to total_sequence_length alone: one batch says that it
     * has more. Positions of angles in some order, also such that there are none for. */
    GROUP("bias_float32", VIEW_TRANSPOSED | VIEW_REVERSED, ATTRIBUTES(GROUPS(6, 2), A_INT("do_rotary", 1)),
          F32(2, 1, 192), F32(2, 1, 64), F32(2, 1, 64), F32(2, 2, 60, 32), F32(2, 2, 60, 32), ENDS(41, 2, 35, 50),
          ANGLES(LEATI_REF_FLOAT32, 64, 16), I64_IS(DIMS(2, 1), 9, 70), F32(2, 1, 1, 41), F32(6)),
    GROUP("bias_of_prompt", 0, ATTRIBUTES(GROUPS(4, 2), A_INT("do_rotary", 1), A_INT("smooth_softmax", 1)),
          F32(2, 7, 128), F32(2, 7, 64), F32(2, 7, 64), F32(2, 2, 0, 32), F32(2, 2, 0, 32), ENDS(7, 2, 6, 4),
          ANGLES(LEATI_REF_FLOAT32, 7, 8), I64_RANGE(-1, 7, 2, 7), F32(1, 4, 7, 7)),
    GROUP(
        "smooth", 0,
        ATTRIBUTES(GROUPS(4, 2), A_INT("local_window_size", 37), A_INT("smooth_softmax", 1), A_FLOAT("softcap", 2.0f)),
        F32(1, 20, 128), F32(1, 20, 64), F32(1, 20, 64), F32(1, 2, 80, 32), F32(1, 2, 80, 32), ENDS(100, 1, 99)),
    /* Sinks far above all scores, far below them, between them, and none; with keys that are shared out. */
    GROUP("sinks_of_many_keys", VIEW_OFFSET, ATTRIBUTES(GROUPS(4, 1)), F32(2, 1, 128), F32(2, 1, 32), F32(2, 1, 32),
          F32(2, 1, 700, 32), F32(2, 1, 700, 32), ENDS(700, 2, 20, 699), ABSENT, ABSENT, ABSENT, ABSENT,
          F32_IS(DIMS(4), 200, -200, 1, -INFINITY)),
    GROUP("sinks_of_no_key", 0, ATTRIBUTES(GROUPS(4, 2)), F32(1, 1, 128), F32(1, 1, 64), F32(1, 1, 64),
          F32(1, 2, 2, 32), F32(1, 2, 2, 32), ENDS(3, 1, 2), ABSENT, ABSENT, ABSENT,
          F32_IS(DIMS(1, 1, 1, 3), -INFINITY, -INFINITY, -INFINITY), F32_IS(DIMS(4), -INFINITY, 0, 200, -200)),
    /* Heads of one query that a kernel has side by side as queries. */
    GROUP("sinks_of_odd_heads", 0, ATTRIBUTES(GROUPS(3, 1)), F32(2, 1, 25), ABSENT, ABSENT, F32(2, 1, 11, 5),
          F32(2, 1, 11, 5), ENDS(12, 2, 11, 7), ABSENT, ABSENT, ABSENT, F32(2, 3, 1, 12), F32(3)),
    GROUP("no_new_positions", 0, ATTRIBUTES(GROUPS(4, 2)), F32(2, 0, 128), F32(2, 0, 64), F32(2, 0, 64),
          F32(2, 2, 9, 32), F32(2, 2, 9, 32), ENDS(9, 2, 8, 4)),
    {.name = "GroupQueryAttention",
     .label = "present_unwanted",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .attributes = {GROUPS(6, 2), A_INT("do_rotary", 1)},
     .inputs = {F32(2, 1, 192), F32(2, 1, 64), F32(2, 1, 64), F32(2, 2, 40, 32), F32(2, 2, 40, 32), ENDS(41, 2, 35, 40),
                ANGLES(LEATI_REF_FLOAT32, 64, 16)}},
    /* Large scores, none of them of the first keys: who has those has nothing that others might be relative to. */
    ATTENTION(23, "few_of_last_keys", 0, ATTRIBUTES(A_FLOAT("scale", 1.0f)), F32_RANGE(5, 6, 1, 1, 1, 64),
              F32_RANGE(5, 6, 1, 1, 36, 64), F32(1, 1, 36, 64),
              F32_IS(DIMS(1, 36), TAKEN_OUT_8, TAKEN_OUT_8, TAKEN_OUT_8, TAKEN_OUT_8, 0, 1, 0, -1)),
    {.name = "RotaryEmbedding",
     .label = "float32",
     .since_version = 23,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 3, 7, 32), F32_RANGE(-1, 1, 2, 7, 16), F32_RANGE(-1, 1, 2, 7, 16)}},
    ROTARY("interleaved", VIEWS, ATTRIBUTES(A_INT("interleaved", 1), A_INT("num_heads", 5)), F32(2, 7, 90),
           F32_RANGE(-1, 1, 2, 7, 9), F32_RANGE(-1, 1, 2, 7, 9)),
    ROTARY("part", VIEW_TRANSPOSED, ATTRIBUTES(A_INT("interleaved", 1), A_INT("rotary_embedding_dim", 4)),
           F32(2, 3, 7, 11), ANGLES(LEATI_REF_FLOAT32, 6, 2), I64_RANGE(-2, 9, 2, 7)),
    ROTARY("long", 0, NO_ATTRIBUTES, F32(1, 4, 300, 64), F32_RANGE(-1, 1, 1, 300, 32), F32_RANGE(-1, 1, 1, 300, 32)),
    ROTARY("no_positions", 0, NO_ATTRIBUTES, F32(2, 3, 0, 32), F32(2, 0, 16), F32(2, 0, 16)),
    ROTARY("special", 0, NO_ATTRIBUTES, F32_SPECIAL(1, 1, 1, 4, 32), F32_RANGE(-1, 1, 1, 4, 16),
           F32_RANGE(-1, 1, 1, 4, 16)),
    ROTARY_OF("float32", LEATI_REF_FLOAT32),
    ROTARY_OF_MICROSOFT("packed_and_scale", 0,
                        ATTRIBUTES(A_INT("num_heads", 3), A_INT("is_packed_batching", 1), A_FLOAT("scale", 0.5f)),
                        F32(1, 12, 96), I64_IS(DIMS(1, 12), 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5),
                        ANGLES(LEATI_REF_FLOAT32, 6, 16)),
    ROTARY_OF("float16", LEATI_REF_FLOAT16),
    ROTARY_OF("bfloat16", LEATI_REF_BFLOAT16),
    FUSED_ROTARY("float32", ALL_VIEWS, F32(2, 3, 7, 32), F32_RANGE(-1, 1, 2, 1, 7, 32), F32_RANGE(-1, 1, 2, 1, 7, 32)),
    FUSED_ROTARY("rows", VIEW_TRANSPOSED | VIEW_SLICED, F32(5, 7, 10), F32_RANGE(-1, 1, 7, 10), F32_RANGE(-1, 1, 10)),
    FUSED_ROTARY("one_row", 0, F32(34), F32_RANGE(-1, 1, 1), F32_RANGE(-1, 1, 34)),
    FUSED_ROTARY("no_positions", 0, F32(2, 3, 0, 8), F32(2, 1, 0, 8), F32(1, 1, 1, 8)),
    FUSED_ROTARY("float16", VIEW_OFFSET, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 3, 5, 16),
                 ANGLES(LEATI_REF_FLOAT16, 5, 16)),
    FUSED_ROTARY("bfloat16", VIEW_OFFSET, RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 2, 3, 5, 16),
                 ANGLES(LEATI_REF_BFLOAT16, 5, 16)),
    /* From one number on, past the last of the angles. */
    ROTARY_OF_MICROSOFT("counted", VIEWS, ATTRIBUTES(A_INT("interleaved", 1), A_INT("num_heads", 2)), F32(3, 7, 16),
                        I64_IS(DIMS(1), 5), ANGLES(LEATI_REF_FLOAT32, 9, 4)),
    FEW("float32", LEATI_REF_FLOAT32),
    FEW("float16", LEATI_REF_FLOAT16),
    FEW("bfloat16", LEATI_REF_BFLOAT16),

    {.name = "FusedAttention",
     .label = "float32",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {LAYOUTS("bsx", "bshd", "bhsd", "bsx"), A_INT("q_num_heads", 3), A_INT("kv_num_heads", 3)},
     .inputs = {F32(2, 17, 96), F32(2, 33, 3, 32), F32(2, 3, 33, 20), F32(2, 1, 1, 33)}},
    FUSED("plain", VIEW_DYNAMIC, NO_ATTRIBUTES, F32(2, 3, 7, 16), F32(2, 3, 9, 16), F32(2, 3, 9, 16)),
    FUSED("columns", VIEW_TRANSPOSED, ATTRIBUTES(LAYOUTS("bhsd", "bhds", "hdbs", "bshd"), A_FLOAT("scale", 0.3f)),
          F32(2, 3, 17, 32), F32(2, 3, 32, 40), F32(3, 20, 2, 40), F32(17, 40)),
    FUSED("one_head", VIEW_BROADCAST, ATTRIBUTES(LAYOUTS("bsd", "bds", "bsd", "bsd")), F32(3, 7, 16), F32(3, 16, 9),
          F32(3, 9, 8), F32(3, 1, 9)),
    FUSED("matrices", 0, ATTRIBUTES(LAYOUTS("sd", "sd", "sd", "ds")), F32(7, 16), F32(9, 16), F32(9, 8), BOOLS(7, 9)),
    FUSED("one_batch", 0, ATTRIBUTES(LAYOUTS("hsd", "shd", "sx", "sx"), A_INT("kv_num_heads", 2)), F32(4, 7, 16),
          F32(9, 2, 16), F32(9, 10), F32(4, 1, 9)),
    GUARDED("float32", LEATI_REF_FLOAT32),
    GUARDED("float16", LEATI_REF_FLOAT16),
    GUARDED("bfloat16", LEATI_REF_BFLOAT16),
    FUSED("guarded_head_of_80", 0, GUARD, F32(1, 2, 17, 80), F32(1, 2, 35, 80), F32(1, 2, 35, 80),
          F32_IS(DIMS(17, 1), 0, NAN, -INFINITY, INFINITY, 1, 0, NAN, 0, 0, 0, 0, 0, 0, 0, 0, -INFINITY, NAN)),
    /* Keys that a device might share out. */
    FUSED("guarded_many_keys", 0, GUARD, F32(1, 1, 17, 32), F32(1, 1, 600, 32), F32(1, 1, 600, 32),
          F32_IS(DIMS(17, 1), 0, NAN, -INFINITY, INFINITY, 1, 0, NAN, 0, 0, 0, 0, 0, 0, 0, 0, -INFINITY, NAN)),
    FUSED("guarded_few_of_many_keys", 0, GUARD, F32(1, 1, 4, 64), F32(1, 1, 700, 64), F32(1, 1, 700, 64),
          F32_IS(DIMS(4, 1), NAN, 0, -INFINITY, INFINITY)),
    INFINITE("float32", LEATI_REF_FLOAT32),
    INFINITE("float16", LEATI_REF_FLOAT16),
    INFINITE("bfloat16", LEATI_REF_BFLOAT16),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_q_attention = Q_ATTENTION(
    "sound", 2, 0, ATTRIBUTES(A_INT("num_heads", 2)), X_BYTES(2, 5, 16), W_BYTES(16, 96), F32(96), F32(1), F32(96),
    I32_RANGE(0, 1, 2, 12), U8_RANGE(0, 9, 1), RANGE_OF(LEATI_REF_INT8, 0, 9, 96), F32(2, 2, 2, 7, 16));
static const leati_refusal wrong_q_attention[] = {{A_INT("num_heads", 0)},
                                                  {A_INT("num_heads", -2)},
                                                  {A_INT("num_heads", 5)},
                                                  {A_INT("num_heads", 64)},
                                                  {A_INT("num_heads", INT64_MAX)},
                                                  {A_INT("do_rotary", 1)},
                                                  {A_INT("past_present_share_buffer", 1)},
                                                  {A_INT("scale", 1)}};
static const leati_refusals refusals_of_q_attention = {
    .sound = &sound_q_attention, .wrong = wrong_q_attention, .wrong_count = G_N_ELEMENTS(wrong_q_attention)};

static const leati_op_spec sound_evicting =
    GROUP("sound", 0, ATTRIBUTES(GROUPS(4, 2), WINDOW(4)), F32(1, 1, 64), F32(1, 1, 32), F32(1, 1, 32),
          F32(1, 2, 6, 16), F32(1, 2, 6, 16), ENDS(7, 1, 6));
static const leati_refusal wrong_evicting[] = {{A_INT("local_window_size", -1)},
                                               {A_INT("local_window_size", 0)},
                                               {A_INT("local_window_size", 7)},
                                               {A_INT("local_window_size", INT64_MAX)},
                                               {A_INT("sliding_window_cache", 2)},
                                               {A_INT("sliding_window_cache", -1)},
                                               {A_INT("causal", 0)}};
/* Any numbers of positions that the cache has more of. */
static const leati_refusals refusals_of_evicting = {
    .sound = &sound_evicting, .wrong = wrong_evicting, .wrong_count = G_N_ELEMENTS(wrong_evicting)};

static const leati_op_spec sound_codes =
    GROUP_SCORES("sound", 0, 0, ATTRIBUTES(GROUPS(4, 2), A_INT("qk_output", 1), CODES(8, BY_TENSOR, BY_TENSOR)),
                 F32(1, 1, 64), F32(1, 1, 32), F32(1, 1, 32), INT8S(1, 2, 6, 16), INT8S(1, 2, 6, 16), ENDS(7, 1, 6),
                 NO_ANGLES, NO_BIAS, F32(1), F32(1), NO_ANGLES, I32_IS(DIMS(1), 1));
static const leati_refusal wrong_codes[] = {{A_STRING("k_quant_type", "NONE")},
                                            {A_STRING("v_quant_type", "PER_ROW")},
                                            {A_STRING("k_quant_type", "")},
                                            {A_STRING("k_quant_type", BY_CHANNEL)},
                                            {A_INT("k_quant_type", 1)},
                                            {A_INT("kv_cache_bit_width", 4)},
                                            {A_INT("kv_cache_bit_width", 0)},
                                            {A_INT("kv_cache_bit_width", 2)},
                                            {A_INT("kv_cache_bit_width", INT64_MAX)},
                                            {A_INT("qk_output", 0)},
                                            {A_INT("qk_output", 3)},
                                            {A_INT("qk_output", -1)},
                                            {A_INT("causal", 0)}};
/* Scales of more dimensions. */
static const leati_refusals refusals_of_codes = {.sound = &sound_codes,
                                                 .wrong = wrong_codes,
                                                 .wrong_count = G_N_ELEMENTS(wrong_codes),
                                                 .any_size = {[12] = 1u << 1, [13] = 1u << 1}};

static const leati_op_spec sound_sparse =
    SPARSE("sound", 0, ATTRIBUTES(SPARSE_HEADS(16)), F32(1, 1, 64), F32(1, 1, 32), F32(1, 1, 32), F32(1, 2, 64, 16),
           F32(1, 2, 64, 16), I32_RANGE(0, 9, 2, 5), I32_RANGE(0, 3, 2, 9), TOTALS(50, 1, 50));
static const leati_refusal wrong_sparse[] = {{A_INT("num_heads", 0)},
                                             {A_INT("num_heads", 3)},
                                             {A_INT("num_heads", INT64_MAX)},
                                             {A_INT("kv_num_heads", -2)},
                                             {A_INT("sparse_block_size", 0)},
                                             {A_INT("sparse_block_size", 8)},
                                             {A_INT("sparse_block_size", INT64_MIN)},
                                             {A_INT("do_rotary", 1)},
                                             {A_INT("scale", 1)}};
/* Any number of blocks, of columns, and of positions of caches, if these are as many for both. */
static const leati_refusals refusals_of_sparse = {.sound = &sound_sparse,
                                                  .wrong = wrong_sparse,
                                                  .wrong_count = G_N_ELEMENTS(wrong_sparse),
                                                  .any_size = {[5] = 1u << 1, [6] = 1u << 1}};

static const leati_op_spec sound_relative =
    RELATIVE("sound", 0, 0, 1, 128, F32(32, 3), I64_IS(NO_DIMS, 5), I64_IS(NO_DIMS, 5));
static const leati_refusal wrong_relative[] = {{A_INT("max_distance", 0)},         {A_INT("max_distance", 8)},
                                               {A_INT("max_distance", -128)},      {A_INT("max_distance", INT64_MAX)},
                                               {A_INT("max_distance", INT64_MIN)}, {A_FLOAT("max_distance", 128)}};
/* Any number of heads. */
static const leati_refusals refusals_of_relative = {.sound = &sound_relative,
                                                    .wrong = wrong_relative,
                                                    .wrong_count = G_N_ELEMENTS(wrong_relative),
                                                    .any_size = {1u << 1}};

static const leati_op_spec sound_attention =
    SCORED("sound", false, ATTRIBUTES(SCORES(3)), F32(2, 2, 7, 16), F32(2, 2, 9, 16), F32(2, 2, 9, 16));
static const leati_refusal wrong_attention[] = {{SCORES(4)},
                                                {SCORES(-1)},
                                                {SCORES(INT64_MAX)},
                                                {A_FLOAT("qk_matmul_output_mode", 1)},
                                                {A_INT("left_window_size", -2)},
                                                {A_INT("left_window_size", INT64_MIN)},
                                                {A_INT("right_window_size", -2)},
                                                {A_FLOAT("right_window_size", 1)}};
/* Any numbers of queries, and elements of a head of values. */
static const leati_refusals refusals_of_attention = {.sound = &sound_attention,
                                                     .wrong = wrong_attention,
                                                     .wrong_count = G_N_ELEMENTS(wrong_attention),
                                                     .any_size = {1u << 2, 0, 1u << 3}};

static const leat_case hostile[] = {{REFUSALS("Attention", "refused", &refusals_of_attention)},
                                    {REFUSALS("QAttention", "refused", &refusals_of_q_attention)},
                                    {REFUSALS("GroupQueryAttention", "evicting_refused", &refusals_of_evicting)},
                                    {REFUSALS("GroupQueryAttention", "codes_refused", &refusals_of_codes)},
                                    {REFUSALS("SparseAttention", "refused", &refusals_of_sparse)},
                                    {REFUSALS("RelativePositionBias", "refused", &refusals_of_relative)}};

void leati_rows_attention(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
