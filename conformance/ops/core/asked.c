/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about what a description tells before anything runs: constants that are broken, and what is known to fail. A
 * host that is refused when it asks can run the operator elsewhere; later it cannot.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

#define INPUTS_MAX 4

/* An operator with inputs of given types and shapes. */
typedef struct {
  leat_value_info infos[INPUTS_MAX];
  const leat_value_info *inputs[INPUTS_MAX];
  leat_attribute attribute;
  const leat_attribute *attributes[1];
  leat_op_desc desc;
} question;

static void ask_about(question *out, const char *name, uint32_t since_version) {
  memset(out, 0, sizeof(*out));
  out->attributes[0] = &out->attribute;
  out->desc = (leat_op_desc){.struct_size = sizeof(out->desc),
                             .since_version = since_version,
                             .name = name,
                             .domain = "",
                             .output_count = 1,
                             .attributes = out->attributes,
                             .inputs = out->inputs};
}

/* Adds an input. `shape` and `value` are borrowed. */
static void add_input(question *q, DLDataType dtype, int32_t ndim, const int64_t *shape, const DLTensor *value) {
  const uint32_t i = q->desc.input_count++;
  q->infos[i] = (leat_value_info){
      .struct_size = sizeof(q->infos[i]), .ndim = ndim, .dtype = dtype, .shape = shape, .value = value};
  q->inputs[i] = &q->infos[i];
}

static void set_int(question *q, const char *name, int64_t value) {
  q->attribute =
      (leat_attribute){.struct_size = sizeof(q->attribute), .type = LEAT_ATTRIBUTE_INT, .name = name, .i = value};
  q->desc.attribute_count = 1;
}

/* supports() and create() give the same answer, and it is a refusal. */
static void check_refused(leat_case_context *ctx, int line, const question *q) {
  leat_device *device = leati_fixture_device(ctx);
  leat_op *op = NULL;
  leati_case_check_status(ctx, __FILE__, line, "op.supports()", LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                          ctx->op->supports(device, &q->desc, LEAT_ERR));
  leati_case_check_status(ctx, __FILE__, line, "op.create()", LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                          ctx->op->create(device, &q->desc, &op, LEAT_ERR));
}
#define REFUSED(ctx, q) check_refused(ctx, __LINE__, q)

/* An operator for the question, which must be a good one. */
static leat_op *create_op(leat_case_context *ctx, const question *q) {
  leat_op *op = NULL;
  leati_case_require_op(ctx, &q->desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &q->desc, &op, LEAT_ERR));
  return op;
}

/* ---- Constants ---- */

static void broken_constants(leat_case_context *ctx, const void *data) {
  static const int64_t shape[1] = {4};
  static int64_t dims[LEAT_MAX_RANK + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  uint8_t no = 0;
  const DLTensor good = {.data = &no, .device = {kDLCPU, 0}, .ndim = 0, .dtype = LEAT_BOOL, .shape = dims};
  DLTensor value = good;
  float ratio = 0.5f;
  const DLTensor half = {.data = &ratio, .device = {kDLCPU, 0}, .ndim = 0, .dtype = LEAT_F32, .shape = dims};
  question q;
  (void)data;
  ask_about(&q, "Dropout", 13);
  add_input(&q, LEAT_F32, 1, shape, NULL);
  add_input(&q, LEAT_F32, 0, NULL, &half);
  add_input(&q, LEAT_BOOL, 0, NULL, &value);
  leati_op_destroy(ctx, create_op(ctx, &q));
#define BROKEN()      \
  do {                \
    REFUSED(ctx, &q); \
    value = good;     \
  } while (0)
  /* An address of the device is none of the host. */
  value.device.device_type = kDLVulkan;
  value.data = (void *)(uintptr_t)4096;
  BROKEN();
  value.data = NULL;
  BROKEN();
  value.byte_offset = UINT64_MAX - (uintptr_t)&no + 1;
  BROKEN();
  value.ndim = -1;
  BROKEN();
  value.ndim = LEAT_MAX_RANK + 1;
  BROKEN();
  value.dtype.lanes = 2;
  BROKEN();
  /* Not what the description says of the input. */
  value.dtype = LEAT_U8;
  BROKEN();
  value.ndim = 1;
  BROKEN();
  /* As many elements as training_mode cannot have: none, and two. */
  q.infos[2].ndim = -1;
  dims[0] = 0;
  value.ndim = 1;
  value.data = NULL;
  BROKEN();
  dims[0] = 2;
  value.ndim = 1;
  BROKEN();
  dims[0] = 1;
#undef BROKEN
}

/* ---- Tensors on the host ---- */

/* A Reshape whose shape is given by `shape`. */
static int32_t infer_reshape(leat_case_context *ctx, const leat_op *op, const DLTensor *shape) {
  static const int64_t six[1] = {6};
  leat_case_tensor in;
  leat_shape out = {.struct_size = sizeof(out)};
  leat_shape *outs[1] = {&out};
  leati_case_tensor_device(ctx, &in, 0, LEAT_F32, 1, six);
  const DLTensor *inputs[2] = {&in.tensor, shape};
  return ctx->op->infer(op, 2, inputs, 1, outs, LEAT_ERR);
}

static void wrapping_host_views(leat_case_context *ctx, const void *data) {
  static const int64_t unknown[1] = {-1};
  static const int64_t two[1] = {2};
  int64_t sizes[3] = {2, 3, 2};
  leat_case_tensor view;
  question q;
  (void)data;
  ask_about(&q, "Reshape", 14);
  add_input(&q, LEAT_F32, 1, unknown, NULL);
  add_input(&q, LEAT_I64, 1, two, NULL);
  leat_op *op = create_op(ctx, &q);
  leati_case_tensor_host(&view, sizes, LEAT_I64, 1, two);
  LEAT_CHECK_OK(ctx, infer_reshape(ctx, op, &view.tensor));
  /* Around the end of all addresses to the elements before. */
  view.tensor.data = &sizes[1];
  view.tensor.byte_offset = UINT64_MAX - 7;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, infer_reshape(ctx, op, &view.tensor));
  view.tensor.byte_offset = 0;
  view.strides[0] = INT64_MAX / 4;
  view.tensor.strides = view.strides;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, infer_reshape(ctx, op, &view.tensor));
  view.strides[0] = INT64_MIN / 16;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, infer_reshape(ctx, op, &view.tensor));
  /* Backwards is fine. */
  view.tensor.data = &sizes[2];
  view.strides[0] = -1;
  LEAT_CHECK_OK(ctx, infer_reshape(ctx, op, &view.tensor));
  leati_op_destroy(ctx, op);
}

static void host_output_of_nothing(leat_case_context *ctx, const void *data) {
  static const int64_t none[1] = {0};
  leat_case_tensor in, out;
  question q;
  (void)data;
  ask_about(&q, "Shape", 13);
  add_input(&q, LEAT_F32, 0, NULL, NULL);
  leat_op *op = create_op(ctx, &q);
  leat_stream *stream = leati_stream_new(ctx);
  const uint64_t block = leati_case_alloc(ctx, sizeof(float), stream);
  leati_case_tensor_device(ctx, &in, block, LEAT_F32, 0, NULL);
  leati_case_tensor_host(&out, NULL, LEAT_I64, 1, none);
  const leat_case_tensor *inputs[1] = {&in};
  leati_op_invoke(ctx, op, stream, 1, inputs, &out);
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, op);
}

/* ---- Sizes ---- */

static void sums_of_sizes(leat_case_context *ctx, const void *data) {
  enum { COUNT = 130 };
  static const int64_t unknown[2] = {-1, -1};
  static const int64_t empty[2] = {INT64_C(1) << 56, 0};
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 2, .dtype = LEAT_F32, .shape = unknown};
  const leat_value_info *infos[COUNT];
  const DLTensor *inputs[COUNT];
  leat_case_tensor view;
  leat_shape shape = {.struct_size = sizeof(shape)};
  leat_shape *out[1] = {&shape};
  question q;
  (void)data;
  leati_case_tensor_device(ctx, &view, 0, LEAT_F32, 2, empty);
  for (int i = 0; i < COUNT; ++i) {
    infos[i] = &info;
    inputs[i] = &view.tensor;
  }
  ask_about(&q, "Concat", 13);
  set_int(&q, "axis", 0);
  q.desc.input_count = COUNT;
  q.desc.inputs = infos;
  leat_op *op = create_op(ctx, &q);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(op, COUNT, inputs, 1, out, LEAT_ERR));
  leati_op_destroy(ctx, op);
}

/* ---- What is known to fail ---- */

static void large_ranks(leat_case_context *ctx, const void *data) {
  static const int64_t unknown[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
  static const int64_t pairs[5] = {-1, -1, -1, -1, 2};
  static const int64_t nine[1] = {LEAT_MAX_RANK + 1};
  static int64_t dims[1] = {LEAT_MAX_RANK + 1};
  static int64_t ones[LEAT_MAX_RANK + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const DLTensor constant = {.data = ones, .device = {kDLCPU, 0}, .ndim = 1, .dtype = LEAT_I64, .shape = dims};
  question q;
  (void)data;
  ask_about(&q, "Gather", 13);
  add_input(&q, LEAT_F32, 5, unknown, NULL);
  add_input(&q, LEAT_I64, 5, unknown, NULL);
  REFUSED(ctx, &q);
  ask_about(&q, "GatherND", 13);
  add_input(&q, LEAT_F32, 7, unknown, NULL);
  add_input(&q, LEAT_I64, 5, pairs, NULL);
  REFUSED(ctx, &q);
  ask_about(&q, "Unsqueeze", 13);
  add_input(&q, LEAT_F32, LEAT_MAX_RANK, unknown, NULL);
  add_input(&q, LEAT_I64, 0, NULL, NULL);
  REFUSED(ctx, &q);
  /* As many sizes as there are dimensions: known by their number, and by themselves. */
  for (int known = 0; known < 2; ++known) {
    const DLTensor *value = known ? &constant : NULL;
    const int32_t ndim = known ? -1 : 1;
    ask_about(&q, "Reshape", 14);
    add_input(&q, LEAT_F32, 1, unknown, NULL);
    add_input(&q, LEAT_I64, ndim, nine, value);
    REFUSED(ctx, &q);
    ask_about(&q, "Expand", 13);
    add_input(&q, LEAT_F32, 1, unknown, NULL);
    add_input(&q, LEAT_I64, ndim, nine, value);
    REFUSED(ctx, &q);
    ask_about(&q, "ConstantOfShape", 9);
    add_input(&q, LEAT_I64, ndim, nine, value);
    REFUSED(ctx, &q);
  }
}

static void known_failures(leat_case_context *ctx, const void *data) {
  static const int64_t unknown[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
  static const int64_t square[2] = {3, 3};
  static const int64_t row[2] = {1, 4};
  static const int64_t none[2] = {3, 0};
  static const int64_t two[1] = {2};
  static int64_t dims[1] = {2};
  static int64_t sizes[2] = {4, 4};
  const DLTensor constant = {.data = sizes, .device = {kDLCPU, 0}, .ndim = 1, .dtype = LEAT_I64, .shape = dims};
  question q;
  (void)data;
  /* Ranks that an operator cannot have. */
  static const struct {
    const char *name;
    uint32_t since_version;
    int32_t ndim;
    uint32_t inputs;
  } ranks[] = {{"Concat", 13, 0, 2},
               {"Split", 13, 0, 1},
               {"ArgMax", 13, 0, 1},
               {"MatMul", 13, 0, 2},
               {"Gemm", 13, 3, 2},
               {"Conv", 11, 2, 2},
               {"MaxPool", 12, 2, 1},
               {"GlobalAveragePool", 1, 1, 1},
               {"DepthToSpace", 13, 3, 1},
               {"SpaceToDepth", 13, 5, 1},
               {"InstanceNormalization", 6, 2, 3}};
  for (size_t i = 0; i < G_N_ELEMENTS(ranks); ++i) {
    ask_about(&q, ranks[i].name, ranks[i].since_version);
    for (uint32_t k = 0; k < ranks[i].inputs; ++k) {
      add_input(&q, LEAT_F32, ranks[i].ndim, unknown, NULL);
    }
    REFUSED(ctx, &q);
  }
  /* Shapes that do not go together. */
  ask_about(&q, "Add", 14);
  add_input(&q, LEAT_F32, 2, square, NULL);
  add_input(&q, LEAT_F32, 2, row, NULL);
  REFUSED(ctx, &q);
  ask_about(&q, "MatMul", 13);
  add_input(&q, LEAT_F32, 2, square, NULL);
  add_input(&q, LEAT_F32, 2, row, NULL);
  REFUSED(ctx, &q);
  ask_about(&q, "Reshape", 14);
  add_input(&q, LEAT_F32, 2, square, NULL);
  add_input(&q, LEAT_I64, 1, two, &constant);
  REFUSED(ctx, &q);
  ask_about(&q, "ArgMax", 13);
  set_int(&q, "axis", 1);
  add_input(&q, LEAT_F32, 2, none, NULL);
  REFUSED(ctx, &q);
  static const struct {
    uint32_t since_version;
    int32_t ndim;
    int64_t x[5], grid[5];
  } sampled[] = {
      {20, 3, {1, 2, 5}, {1, 3, 1}},             /* no image */
      {16, 5, {1, 2, 5, 4, 3}, {1, 2, 2, 2, 3}}, /* volumes came later */
      {20, 4, {1, 2, 5, 4}, {1, 3, 3, 3}},       /* a number too many for a place */
      {20, 5, {1, 2, 5, 4, 3}, {1, 2, 2, 2, 2}}, /* one too few */
      {22, 4, {3, 2, 5, 4}, {1, 3, 3, 2}},       /* other images */
      {22, 4, {1, 2, 5, 0}, {1, 3, 3, 2}},       /* nothing to sample */
  };
  for (size_t i = 0; i < G_N_ELEMENTS(sampled); ++i) {
    ask_about(&q, "GridSample", sampled[i].since_version);
    add_input(&q, LEAT_F32, sampled[i].ndim, sampled[i].x, NULL);
    add_input(&q, LEAT_F32, sampled[i].ndim, sampled[i].grid, NULL);
    REFUSED(ctx, &q);
  }
  for (int32_t i = 0; i < 4; ++i) {
    static const int64_t matrix[2] = {2, 5};
    static const int64_t wrong[] = {6, -1, 1, 1};
    sizes[0] = wrong[i];
    sizes[1] = 1;
    dims[0] = i == 2 ? 2 : 1; /* k has two numbers; and one, of a scalar */
    ask_about(&q, "TopK", 11);
    q.desc.output_count = 2;
    add_input(&q, LEAT_F32, i == 3 ? 0 : 2, matrix, NULL);
    add_input(&q, LEAT_I64, 1, dims, &constant);
    REFUSED(ctx, &q);
  }
  dims[0] = 2;
  /* Axes that are named twice. */
  static const struct {
    const char *name;
    uint32_t since_version;
    uint32_t before;
  } axes[] = {{"Slice", 13, 2}, {"Squeeze", 13, 0}, {"Unsqueeze", 13, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS(axes); ++i) {
    static const int64_t ones[3] = {1, 1, 1};
    sizes[0] = 0;
    sizes[1] = 0;
    ask_about(&q, axes[i].name, axes[i].since_version);
    add_input(&q, LEAT_F32, 3, ones, NULL);
    for (uint32_t k = 0; k <= axes[i].before; ++k) {
      add_input(&q, LEAT_I64, 1, two, &constant);
    }
    REFUSED(ctx, &q);
  }
  /* A way to do it that there is not. */
  static const int64_t image[4] = {1, 4, 2, 2};
  ask_about(&q, "DepthToSpace", 13);
  add_input(&q, LEAT_F32, 4, image, NULL);
  set_int(&q, "blocksize", 2);
  const leat_attribute mode = {.struct_size = sizeof(mode),
                               .type = LEAT_ATTRIBUTE_STRING,
                               .name = "mode",
                               .string = "RCD",
                               .count = strlen("RCD")};
  const leat_attribute *both[2] = {&q.attribute, &mode};
  q.desc.attributes = both;
  q.desc.attribute_count = G_N_ELEMENTS(both);
  REFUSED(ctx, &q);
  /* An axis that is not there. */
  ask_about(&q, "Softmax", 13);
  set_int(&q, "axis", 2);
  add_input(&q, LEAT_F32, 2, square, NULL);
  REFUSED(ctx, &q);
}

/* Of an operator that was made when no rank was known, infer() refuses those that it cannot have. */
static void late_ranks(leat_case_context *ctx, const void *data) {
  int64_t image[LEAT_MAX_RANK] = {1, 2, 3, 3, 3, 3, 3, 3}, grid[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  leat_shape shape = {.struct_size = sizeof(shape)};
  leat_shape *out[1] = {&shape};
  question q;
  (void)data;
  ask_about(&q, "GridSample", 20);
  add_input(&q, LEAT_F32, -1, NULL, NULL);
  add_input(&q, LEAT_F32, -1, NULL, NULL);
  leat_op *op = create_op(ctx, &q);
  for (int32_t rank = 0; rank <= LEAT_MAX_RANK; ++rank) {
    const DLTensor x = {.device = {kDLVulkan, 0}, .ndim = rank, .dtype = LEAT_F32, .shape = image};
    const DLTensor places = {.device = {kDLVulkan, 0}, .ndim = rank, .dtype = LEAT_F32, .shape = grid};
    const DLTensor *const inputs[2] = {&x, &places};
    if (rank > 2) {
      grid[rank - 2] = 1;
      grid[rank - 1] = rank - 2; /* numbers of a place */
    }
    if (rank == 4 || rank == 5) {
      LEAT_CHECK_OK(ctx, ctx->op->infer(op, 2, inputs, 1, out, LEAT_ERR));
    } else {
      LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                        ctx->op->infer(op, 2, inputs, 1, out, LEAT_ERR));
    }
  }
  leati_op_destroy(ctx, op);
}

static const leat_case cases[] = {
    {.name = "asked.constants.broken_values_are_refused",
     .summary = "A constant that is not on the host, has no memory, wraps or is not what its input is said to be is "
                "refused.",
     .run = broken_constants},
    {.name = "asked.host.views_that_wrap_are_invalid",
     .summary = "A host tensor whose offset or strides lead around the end of all addresses is invalid.",
     .run = wrapping_host_views},
    {.name = "asked.host.output_of_nothing_needs_no_memory",
     .summary = "A host output without elements may have NULL data.",
     .run = host_output_of_nothing},
    {.name = "asked.sizes.sums_that_overflow_are_invalid",
     .summary = "Empty inputs whose sizes together cannot be counted are invalid.",
     .run = sums_of_sizes},
    {.name = "asked.ranks.results_above_8_are_refused",
     .summary = "An operator whose result is known to have more dimensions than a tensor may have is refused.",
     .run = large_ranks},
    {.name = "asked.ranks.those_told_late_are_checked",
     .summary = "infer() refuses the ranks that an operator made without knowing any cannot have.",
     .run = late_ranks},
    {.name = "asked.known.what_cannot_run_is_refused",
     .summary = "Ranks, shapes and constants that are known and that no run takes are refused.",
     .run = known_failures},
};

void leati_cases_asked(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
