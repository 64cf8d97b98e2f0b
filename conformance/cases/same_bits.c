/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases of kinds of operators that a backend may be tempted to run one at a time: from 1 to 16 threads, as calls and as
 * launches of one graph, all give the bits that one call alone gives.
 */
#include <stdbool.h>
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

#define INPUTS_MAX 6
#define OUTPUTS_MAX 3

typedef enum contents {
  CONTENTS_NUMBERS,  /* from -1 to 1 */
  CONTENTS_SQUARES,  /* from 0 to 1 */
  CONTENTS_DOMINANT, /* of each last two dimensions: the same, and a larger number on the diagonal */
  CONTENTS_PLACES,   /* int32: 1, 2... along the last dimension */
  CONTENTS_INDICES,  /* int64: 0, 3, 6... modulo 7 */
  CONTENTS_STEPS     /* int64: 3 */
} contents;

typedef struct input {
  contents contents;
  int32_t ndim;
  int64_t dims[4];
  bool transposed; /* the last two dimensions lie the other way round */
} input;

typedef struct kind {
  const char *domain, *op;
  uint32_t since_version, attribute_count, input_count, output_count;
  leat_attribute attributes[2];
  input inputs[INPUTS_MAX];
} kind;

static DLDataType dtype_of(contents c) {
  return c == CONTENTS_PLACES ? LEAT_I32 : c == CONTENTS_INDICES || c == CONTENTS_STEPS ? LEAT_I64 : LEAT_F32;
}

static int64_t count_of(int32_t ndim, const int64_t *dims) {
  int64_t count = 1;
  for (int32_t d = 0; d < ndim; ++d) {
    count *= dims[d];
  }
  return count;
}

static void fill(const input *in, void *bytes, GRand *rand) {
  const int64_t count = count_of(in->ndim, in->dims), last = in->ndim > 0 ? in->dims[in->ndim - 1] : 1;
  for (int64_t e = 0; e < count; ++e) {
    const bool diagonal = in->contents == CONTENTS_DOMINANT && e / last % last == e % last;
    switch (in->contents) {
      case CONTENTS_PLACES:
        ((int32_t *)bytes)[e] = (int32_t)(e % last) + 1;
        break;
      case CONTENTS_INDICES:
        ((int64_t *)bytes)[e] = e * 3 % 7;
        break;
      case CONTENTS_STEPS:
        ((int64_t *)bytes)[e] = 3;
        break;
      default:
        ((float *)bytes)[e] =
            diagonal ? (float)last : (float)g_rand_double_range(rand, in->contents == CONTENTS_SQUARES ? 0 : -1, 1);
        break;
    }
  }
}

/* What all threads share: inputs, which nobody writes, the operator, the graph, and the bits that one call gave. */
typedef struct job {
  const kind *kind;
  leat_case_tensor inputs[INPUTS_MAX];
  const DLTensor *in[INPUTS_MAX];
  leat_shape shapes[OUTPUTS_MAX];
  uint64_t places[OUTPUTS_MAX], size; /* of outputs in a block */
  leat_op *op;
  leat_graph *graph; /* NULL: the backend has no graphs */
  uint8_t *want;
} job;

/* One call or launch into memory of its own, and its bytes. */
static void run_once(leat_case_context *ctx, const job *j, leat_stream *stream, bool launch, uint8_t *out) {
  const kind *k = j->kind;
  const uint64_t block = leati_case_alloc(ctx, j->size, stream);
  leat_case_tensor outputs[OUTPUTS_MAX];
  const DLTensor *wanted[OUTPUTS_MAX];
  memset(out, LEAT_GAP_BYTE, j->size);
  leati_upload(ctx, stream, block, out, j->size);
  for (uint32_t o = 0; o < k->output_count; ++o) {
    leati_case_tensor_device(ctx, &outputs[o], block + j->places[o], j->shapes[o].dtype, j->shapes[o].ndim,
                             j->shapes[o].dims);
    wanted[o] = &outputs[o].tensor;
  }
  if (launch) {
    LEAT_CHECK_OK(ctx,
                  ctx->api->graph->launch(j->graph, stream, k->input_count, j->in, k->output_count, wanted, LEAT_ERR));
  } else {
    LEAT_CHECK_OK(ctx, ctx->op->invoke(j->op, stream, k->input_count, j->in, k->output_count, wanted, LEAT_ERR));
  }
  leati_download(ctx, stream, block, out, j->size);
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, block);
}

static void run_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const job *const j = data;
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t *const have = g_malloc(j->size);
  for (uint32_t i = 0; i < 4; ++i) {
    run_once(ctx, j, stream, j->graph != NULL && (index + i) % 2 == 1, have);
    LEAT_CHECK_BYTES(ctx, j->want, have, j->size);
  }
  g_free(have);
  leati_stream_destroy(ctx, stream);
}

static void describe(const kind *k, const leat_case_tensor *inputs, leat_value_info *infos) {
  for (uint32_t i = 0; i < k->input_count; ++i) {
    const DLTensor *const tensor = &inputs[i].tensor;
    infos[i] = (leat_value_info){
        .struct_size = sizeof(infos[i]), .ndim = tensor->ndim, .dtype = tensor->dtype, .shape = tensor->shape};
  }
}

static void make_op(leat_case_context *ctx, job *j, const leat_attribute *const *attributes,
                    const leat_value_info *const *infos) {
  const kind *k = j->kind;
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = k->since_version,
                             .name = k->op,
                             .domain = k->domain,
                             .attribute_count = k->attribute_count,
                             .attributes = attributes,
                             .input_count = k->input_count,
                             .output_count = k->output_count,
                             .inputs = infos};
  leat_shape *shapes[OUTPUTS_MAX];
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &j->op, LEAT_ERR));
  for (uint32_t o = 0; o < k->output_count; ++o) {
    j->shapes[o].struct_size = sizeof(j->shapes[o]);
    shapes[o] = &j->shapes[o];
  }
  LEAT_CHECK_OK(ctx, ctx->op->infer(j->op, k->input_count, j->in, k->output_count, shapes, LEAT_ERR));
  for (uint32_t o = 0; o < k->output_count; ++o) {
    const int64_t count = count_of(j->shapes[o].ndim, j->shapes[o].dims);
    j->places[o] = j->size;
    j->size += ((uint64_t)count * j->shapes[o].dtype.bits / 8 + LEAT_GUARD) / LEAT_GUARD * LEAT_GUARD;
  }
}

static void make_graph(leat_case_context *ctx, job *j, const leat_attribute *const *attributes,
                       const leat_value_info *const *infos) {
  const kind *k = j->kind;
  const leat_value_info made = {.struct_size = sizeof(made), .ndim = -1};
  const leat_value_info *values[INPUTS_MAX + OUTPUTS_MAX];
  uint32_t numbers[INPUTS_MAX + OUTPUTS_MAX];
  for (uint32_t v = 0; v < k->input_count + k->output_count; ++v) {
    numbers[v] = v;
    values[v] = v < k->input_count ? infos[v] : &made;
  }
  const leat_graph_node node = {.struct_size = sizeof(node),
                                .since_version = k->since_version,
                                .op = k->op,
                                .domain = k->domain,
                                .attribute_count = k->attribute_count,
                                .attributes = attributes,
                                .input_count = k->input_count,
                                .inputs = numbers,
                                .output_count = k->output_count,
                                .outputs = numbers + k->input_count};
  const leat_graph_node *const nodes[] = {&node};
  const leat_graph_desc desc = {.struct_size = sizeof(desc),
                                .value_count = k->input_count + k->output_count,
                                .node_count = 1,
                                .input_count = k->input_count,
                                .output_count = k->output_count,
                                .values = values,
                                .nodes = nodes,
                                .inputs = numbers,
                                .outputs = numbers + k->input_count};
  LEAT_CHECK_OK(ctx, ctx->api->graph->build(leati_fixture_device(ctx), &desc, &j->graph, LEAT_ERR));
}

static void same_bits(leat_case_context *ctx, const void *data) {
  static const uint32_t thread_counts[] = {1, 2, 4, 8, 16};
  job j = {.kind = data};
  const kind *k = j.kind;
  leat_stream *stream = leati_stream_new(ctx);
  GRand *const rand = g_rand_new_with_seed(ctx->seed);
  uint64_t blocks[INPUTS_MAX];
  leat_value_info infos[INPUTS_MAX];
  const leat_value_info *info_list[INPUTS_MAX];
  const leat_attribute *attributes[2] = {&k->attributes[0], &k->attributes[1]};
  for (uint32_t i = 0; i < k->input_count; ++i) {
    const input *in = &k->inputs[i];
    const DLDataType dtype = dtype_of(in->contents);
    const uint64_t size = (uint64_t)count_of(in->ndim, in->dims) * dtype.bits / 8;
    void *const bytes = g_malloc(size);
    fill(in, bytes, rand);
    blocks[i] = leati_case_alloc(ctx, size, stream);
    leati_upload(ctx, stream, blocks[i], bytes, size);
    leati_synchronize(ctx, stream);
    g_free(bytes);
    leati_case_tensor_device(ctx, &j.inputs[i], blocks[i], dtype, in->ndim, in->dims);
    if (in->transposed) {
      int64_t stride = 1, *const strides = j.inputs[i].strides;
      const int32_t last = in->ndim - 1;
      strides[last - 1] = 1;
      strides[last] = in->dims[last - 1];
      stride = in->dims[last] * in->dims[last - 1];
      for (int32_t d = last - 2; d >= 0; stride *= in->dims[d--]) {
        strides[d] = stride;
      }
      j.inputs[i].tensor.strides = strides;
    }
    j.in[i] = &j.inputs[i].tensor;
    info_list[i] = &infos[i];
  }
  describe(k, j.inputs, infos);
  make_op(ctx, &j, attributes, info_list);
  if (ctx->api->graph != NULL) {
    make_graph(ctx, &j, attributes, info_list);
  }
  j.want = g_malloc(j.size);
  run_once(ctx, &j, stream, false, j.want);
  for (size_t n = 0; n < G_N_ELEMENTS(thread_counts); ++n) {
    leati_threads_run(ctx, thread_counts[n], run_thread, &j);
  }
  if (j.graph != NULL) {
    LEAT_CHECK_OK(ctx, ctx->api->graph->destroy(j.graph, LEAT_ERR));
  }
  leati_op_destroy(ctx, j.op);
  for (uint32_t i = 0; i < k->input_count; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
  leati_stream_destroy(ctx, stream);
  g_rand_free(rand);
  g_free(j.want);
}

#define INT_OF(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = n, .i = v }
#define FLOAT_OF(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = n, .f = v }
#define INTS_OF(n, ...)                                                                            \
  {                                                                                                \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INTS, .name = n,                 \
    .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .ints = (const int64_t[]) { \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define NUMBERS(rank, ...) \
  { CONTENTS_NUMBERS, rank, {__VA_ARGS__}, false }
#define STRIDED(rank, ...) \
  { CONTENTS_NUMBERS, rank, {__VA_ARGS__}, true }
#define SQUARES(rank, ...) \
  { CONTENTS_SQUARES, rank, {__VA_ARGS__}, false }
#define MATRICES(...) \
  { CONTENTS_DOMINANT, 3, {__VA_ARGS__}, false }
#define PLACES(rank, ...) \
  { CONTENTS_PLACES, rank, {__VA_ARGS__}, false }
#define INDICES(rank, ...) \
  { CONTENTS_INDICES, rank, {__VA_ARGS__}, false }
#define SCALAR(of) \
  { of, 0, {0}, false }

/* The name of a case, and what it is about; then the kind's members. */
#define KIND(named, what, ...)                                                                                     \
  {                                                                                                                \
    .name = "threads.kinds." named, .summary = what " gives 1 to 16 threads, called and launched, the same bits.", \
    .run = same_bits, .data = &(const kind) {                                                                      \
      __VA_ARGS__                                                                                                  \
    }                                                                                                              \
  }

static const leat_case cases[] = {
    KIND("batched_product", "A batched product of strided views", .op = "MatMul", .since_version = 13, .input_count = 2,
         .output_count = 1, .inputs = {NUMBERS(3, 5, 33, 40), STRIDED(3, 5, 40, 17)}),
    KIND("linear", "A linear layer", .op = "Gemm", .since_version = 13, .attribute_count = 1,
         .attributes = {INT_OF("transB", 1)}, .input_count = 3, .output_count = 1,
         .inputs = {NUMBERS(2, 37, 64), NUMBERS(2, 50, 64), NUMBERS(1, 50)}),
    KIND("layer_norm", "LayerNormalization", .op = "LayerNormalization", .since_version = 17, .input_count = 3,
         .output_count = 1, .inputs = {NUMBERS(2, 37, 131), NUMBERS(1, 131), NUMBERS(1, 131)}),
    KIND("convolution", "A convolution", .op = "Conv", .since_version = 11, .input_count = 2, .output_count = 1,
         .inputs = {NUMBERS(4, 2, 5, 13, 11), NUMBERS(4, 7, 5, 3, 3)}),
    KIND("lu", "LU", .domain = "leat", .op = "LU", .since_version = 1, .input_count = 1, .output_count = 3,
         .inputs = {MATRICES(3, 70, 70)}),
    KIND("lu_solve", "A solution with LU's factors", .domain = "leat", .op = "LUSolve", .since_version = 1,
         .input_count = 3, .output_count = 2, .inputs = {MATRICES(3, 70, 70), PLACES(2, 3, 70), NUMBERS(3, 3, 70, 9)}),
    KIND("triangular_solve", "TriangularSolve", .domain = "leat", .op = "TriangularSolve", .since_version = 1,
         .input_count = 2, .output_count = 2, .inputs = {MATRICES(3, 70, 70), NUMBERS(3, 3, 70, 9)}),
    KIND("cholesky", "Cholesky", .domain = "leat", .op = "Cholesky", .since_version = 1, .input_count = 1,
         .output_count = 2, .inputs = {MATRICES(3, 70, 70)}),
    KIND("inverse", "Inverse", .domain = "com.microsoft", .op = "Inverse", .since_version = 1, .input_count = 1,
         .output_count = 1, .inputs = {MATRICES(3, 40, 40)}),
    KIND("determinant", "Det", .op = "Det", .since_version = 11, .input_count = 1, .output_count = 1,
         .inputs = {MATRICES(3, 40, 40)}),
    KIND("normal_numbers", "RandomNormal with a seed", .domain = "leat", .op = "RandomNormal", .since_version = 1,
         .attribute_count = 2, .attributes = {INT_OF("seed", 54), INTS_OF("shape", 50, 41)}, .output_count = 1),
    KIND("gamma_numbers", "RandomGamma with a seed", .domain = "leat", .op = "RandomGamma", .since_version = 1,
         .attribute_count = 1, .attributes = {INT_OF("seed", 54)}, .input_count = 1, .output_count = 1,
         .inputs = {SQUARES(2, 50, 41)}),
    KIND("scatter", "ScatterElements", .op = "ScatterElements", .since_version = 18, .input_count = 3,
         .output_count = 1, .inputs = {NUMBERS(2, 7, 41), INDICES(2, 1, 41), NUMBERS(2, 1, 41)}),
    KIND("bits", "BitwiseXor", .op = "BitwiseXor", .since_version = 18, .input_count = 2, .output_count = 1,
         .inputs = {PLACES(2, 50, 41), PLACES(1, 41)}),
    KIND("as_strided", "AsStrided with overlapping elements", .domain = "leat", .op = "AsStrided", .since_version = 1,
         .attribute_count = 2, .attributes = {INTS_OF("shape", 100, 41), INTS_OF("strides", 3, 1)}, .input_count = 1,
         .output_count = 1, .inputs = {NUMBERS(1, 400)}),
    KIND("clip_by_norm", "ForeachClipByNorm", .domain = "leat", .op = "ForeachClipByNorm", .since_version = 1,
         .input_count = 2, .output_count = 3, .inputs = {NUMBERS(2, 70, 131), NUMBERS(1, 77)}),
    KIND("adam", "ForeachAdam", .domain = "leat", .op = "ForeachAdam", .since_version = 1, .input_count = 6,
         .output_count = 3,
         .inputs = {SCALAR(CONTENTS_SQUARES), SCALAR(CONTENTS_STEPS), NUMBERS(2, 70, 131), NUMBERS(2, 70, 131),
                    NUMBERS(2, 70, 131), SQUARES(2, 70, 131)}),
};

void leati_cases_same_bits(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
