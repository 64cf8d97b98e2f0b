/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_op_api with arguments that break the contract, and about what the operator list says.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

enum { ROWS = 4, COLUMNS = 6, COUNT = ROWS * COLUMNS };

static const int64_t matrix[2] = {ROWS, COLUMNS};

/* An Add of two ROWS x COLUMNS matrices that is right in every way; cases break one thing of it at a time. */
typedef struct {
  leat_case_context *ctx;
  leat_stream *stream;
  leat_op *add;
  uint64_t block;            /* three matrices, one after the other */
  leat_case_tensor views[3]; /* a, b, sum */
} addition;

static void reset(addition *sum) {
  for (uint64_t i = 0; i < 3; ++i) {
    leati_tensor_device(sum->ctx, &sum->views[i], sum->block + i * COUNT * sizeof(float), LEAT_F32, 2, matrix);
  }
}

static addition *addition_new(leat_case_context *ctx) {
  addition *sum = g_new0(addition, 1);
  float values[2 * COUNT];
  sum->ctx = ctx;
  sum->add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 2);
  sum->stream = leati_stream_new(ctx);
  sum->block = leati_alloc(ctx, 3 * COUNT * sizeof(float), sum->stream);
  for (int i = 0; i < COUNT; ++i) {
    values[i] = (float)i;
    values[COUNT + i] = (float)(1000 + i);
  }
  leati_upload(ctx, sum->stream, sum->block, values, sizeof values);
  reset(sum);
  return sum;
}

static int32_t invoke(addition *sum, leat_error *err) {
  const DLTensor *inputs[2] = {&sum->views[0].tensor, &sum->views[1].tensor};
  const DLTensor *outputs[1] = {&sum->views[2].tensor};
  return sum->ctx->op->invoke(sum->add, sum->stream, 2, inputs, 1, outputs, err);
}

/* The broken addition is refused; then everything is put right again. */
#define REFUSED(sum)                                                                                             \
  do {                                                                                                           \
    LEAT_CHECK_EITHER((sum)->ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED, invoke(sum, LEAT_ERR)); \
    reset(sum);                                                                                                  \
  } while (0)
#define INVALID(sum)                                                                   \
  do {                                                                                 \
    LEAT_CHECK_STATUS((sum)->ctx, LEAT_ERROR_INVALID_ARGUMENT, invoke(sum, LEAT_ERR)); \
    reset(sum);                                                                        \
  } while (0)

/* Shows that the refusals left the stream, the operator and the inputs as they were. */
static void addition_free(addition *sum) {
  leat_case_context *ctx = sum->ctx;
  float out[COUNT] = {0};
  reset(sum);
  LEAT_CHECK_OK(ctx, ctx->stream->error(sum->stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, invoke(sum, LEAT_ERR));
  leati_download(ctx, sum->stream, sum->block + 2 * COUNT * sizeof(float), out, sizeof out);
  leati_synchronize(ctx, sum->stream);
  for (int i = 0; i < COUNT; ++i) {
    LEAT_CHECK_MESSAGE(ctx, out[i] == (float)(1000 + 2 * i),
                       "after the refusals, element %d of a good sum is %g, expected %d", i, (double)out[i],
                       1000 + 2 * i);
  }
  leati_free(ctx, sum->block);
  leati_stream_destroy(ctx, sum->stream);
  leati_op_destroy(ctx, sum->add);
  g_free(sum);
}

/* ---- invoke() ---- */

static void invoke_null(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  const DLTensor *inputs[2] = {&sum->views[0].tensor, &sum->views[1].tensor};
  const DLTensor *outputs[1] = {&sum->views[2].tensor};
  const DLTensor *missing[2] = {&sum->views[0].tensor, NULL};
  const DLTensor *nothing[1] = {NULL};
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(NULL, sum->stream, 2, inputs, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->invoke(sum->add, NULL, 2, inputs, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(sum->add, sum->stream, 2, NULL, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(sum->add, sum->stream, 2, inputs, 1, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(sum->add, sum->stream, 2, missing, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(sum->add, sum->stream, 2, inputs, 1, nothing, LEAT_ERR));
  addition_free(sum);
}

static void invoke_counts(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  const DLTensor *inputs[3] = {&sum->views[0].tensor, &sum->views[1].tensor, &sum->views[0].tensor};
  const DLTensor *outputs[2] = {&sum->views[2].tensor, &sum->views[2].tensor};
  static const struct {
    uint32_t inputs;
    uint32_t outputs;
  } counts[] = {{0, 1}, {1, 1}, {3, 1}, {2, 2}, {UINT32_MAX, 1}, {2, UINT32_MAX}};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(counts); ++i) {
    LEAT_CHECK_STATUS(
        ctx, LEAT_ERROR_INVALID_ARGUMENT,
        ctx->op->invoke(sum->add, sum->stream, counts[i].inputs, inputs, counts[i].outputs, outputs, LEAT_ERR));
  }
  addition_free(sum);
}

/* A sum that lies partly over an operand would read what it has written. */
static void invoke_overlap(leat_case_context *ctx, const void *data) {
  static const uint64_t offsets[] = {sizeof(float), (COUNT - 1) * sizeof(float)};
  addition *sum = addition_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(offsets); ++i) {
    leati_tensor_device(ctx, &sum->views[2], sum->block + offsets[i], LEAT_F32, 2, matrix);
    INVALID(sum);
  }
  addition_free(sum);
}

static void invoke_rank(leat_case_context *ctx, const void *data) {
  static const int32_t ranks[] = {-1, INT32_MIN, LEAT_MAX_RANK + 1, 1000, INT32_MAX};
  addition *sum = addition_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(ranks); ++i) {
    for (int view = 0; view < 3; ++view) {
      sum->views[view].tensor.ndim = ranks[i];
      REFUSED(sum);
    }
  }
  addition_free(sum);
}

static void invoke_dims(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  (void)data;
  for (int view = 0; view < 3; ++view) {
    sum->views[view].shape[0] = -ROWS;
    INVALID(sum);
    sum->views[view].shape[1] = INT64_MIN;
    INVALID(sum);
    sum->views[view].tensor.shape = NULL;
    INVALID(sum);
  }
  /* The same everywhere, so that only the size is wrong: the products overflow 64 bits, with and without bytes. */
  static const int64_t huge[][2] = {{INT64_C(1) << 32, INT64_C(1) << 32},
                                    {INT64_MAX, INT64_MAX},
                                    {INT64_C(1) << 31, INT64_C(1) << 31},
                                    {1, INT64_MAX},
                                    {INT64_C(1) << 62, 4},
                                    {(INT64_C(1) << 61) + 3, 8}};
  for (size_t i = 0; i < G_N_ELEMENTS(huge); ++i) {
    for (int view = 0; view < 3; ++view) {
      sum->views[view].shape[0] = huge[i][0];
      sum->views[view].shape[1] = huge[i][1];
    }
    INVALID(sum);
  }
  addition_free(sum);
}

static void invoke_outside(leat_case_context *ctx, const void *data) {
  const uint64_t bytes = COUNT * sizeof(float);
  addition *sum = addition_new(ctx);
  uint64_t dead = leati_alloc(ctx, 3 * bytes, sum->stream);
  (void)data;
  leati_free(ctx, dead);
  for (int view = 0; view < 3; ++view) {
    const uint64_t offsets[] = {
        (uint64_t)(2 - view) * bytes + 4, 3 * bytes, UINT64_C(1) << 32, UINT64_MAX - 3, UINT64_MAX / 2, 0 - sum->block};
    for (size_t i = 0; i < G_N_ELEMENTS(offsets); ++i) {
      sum->views[view].tensor.byte_offset = offsets[i];
      INVALID(sum);
    }
    sum->views[view].tensor.data = (void *)(uintptr_t)(sum->block + 2 * bytes + 4);
    INVALID(sum);
    sum->views[view].tensor.data = (void *)(uintptr_t)(sum->block - 4);
    INVALID(sum);
    sum->views[view].tensor.data = (void *)(uintptr_t)dead;
    INVALID(sum);
    sum->views[view].tensor.data = NULL;
    INVALID(sum);
    sum->views[view].tensor.data = sum;
    INVALID(sum);
  }
  addition_free(sum);
}

static void invoke_strides(leat_case_context *ctx, const void *data) {
  static const int64_t strides[][2] = {
      {COLUMNS * 10, 1},     {COLUMNS, 100},        {INT64_MAX, 1},     {INT64_MAX / 4, INT64_MAX / 4},
      {INT64_C(1) << 61, 1}, {INT64_C(1) << 62, 0}, {-COLUMNS * 20, 1}, {COLUMNS, -100},
      {INT64_MIN, 1},        {INT64_MIN, INT64_MIN}};
  addition *sum = addition_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(strides); ++i) {
    for (int view = 0; view < 3; ++view) {
      sum->views[view].strides[0] = strides[i][0];
      sum->views[view].strides[1] = strides[i][1];
      sum->views[view].tensor.strides = sum->views[view].strides;
      REFUSED(sum);
    }
  }
  addition_free(sum);
}

static void invoke_output(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  (void)data;
  sum->views[2].shape[0] = ROWS - 1;
  INVALID(sum);
  sum->views[2].shape[0] = COLUMNS;
  sum->views[2].shape[1] = ROWS;
  INVALID(sum);
  sum->views[2].shape[0] = COUNT;
  sum->views[2].tensor.ndim = 1;
  INVALID(sum);
  sum->views[2].tensor.dtype = LEAT_I32;
  INVALID(sum);
  /* Inputs that do not broadcast. */
  sum->views[1].shape[1] = COLUMNS - 1;
  INVALID(sum);
  addition_free(sum);
}

static void invoke_dtype(leat_case_context *ctx, const void *data) {
  /* No type of any operator. */
  static const DLDataType types[] = {{kDLFloat, 32, 2}, {kDLFloat, 32, 0},       {kDLFloat, 32, 65535},
                                     {kDLFloat, 7, 1},  {kDLFloat, 0, 1},        {255, 32, 1},
                                     {kDLInt, 3, 1},    {kDLOpaqueHandle, 64, 1}};
  addition *sum = addition_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(types); ++i) {
    sum->views[1].tensor.dtype = types[i];
    REFUSED(sum);
    for (int view = 0; view < 3; ++view)
      sum->views[view].tensor.dtype = types[i];
    REFUSED(sum);
  }
  /* Good types that do not agree. */
  for (int view = 0; view < 3; ++view) {
    sum->views[view].tensor.dtype = LEAT_I32;
    REFUSED(sum);
  }
  addition_free(sum);
}

static void invoke_device(leat_case_context *ctx, const void *data) {
  float host[COUNT] = {0};
  addition *sum = addition_new(ctx);
  (void)data;
  for (int view = 0; view < 3; ++view) {
    sum->views[view].tensor.device = (DLDevice){.device_type = kDLCPU};
    sum->views[view].tensor.data = host;
    INVALID(sum);
    sum->views[view].tensor.device.device_type = kDLCUDA;
    REFUSED(sum);
    sum->views[view].tensor.device.device_id = 1000;
    REFUSED(sum);
    sum->views[view].tensor.device.device_id = -1;
    REFUSED(sum);
  }
  addition_free(sum);
}

/* ---- supports() and create() ---- */

/* A desc of Add that is right; cases break one thing of it. */
typedef struct {
  int64_t dims[2];
  leat_value_info info;
  const leat_value_info *infos[2];
  leat_attribute attribute;
  const leat_attribute *attributes[1];
  leat_op_desc desc;
} description;

static void describe(description *out) {
  memset(out, 0, sizeof *out);
  out->dims[0] = ROWS;
  out->dims[1] = COLUMNS;
  out->info = (leat_value_info){.struct_size = sizeof out->info, .ndim = 2, .dtype = LEAT_F32, .shape = out->dims};
  out->infos[0] = &out->info;
  out->infos[1] = &out->info;
  /* Unknown attributes are ignored, so that this one is right for any operator. */
  out->attribute = (leat_attribute){
      .struct_size = sizeof out->attribute, .type = LEAT_ATTRIBUTE_INT, .name = "leat_conformance", .i = 1};
  out->attributes[0] = &out->attribute;
  out->desc = (leat_op_desc){.struct_size = sizeof out->desc,
                             .opset = 14,
                             .name = "Add",
                             .domain = "",
                             .attribute_count = 1,
                             .input_count = 2,
                             .output_count = 1,
                             .attributes = out->attributes,
                             .inputs = out->infos};
}

/* supports() and create() both refuse; then the description is put right again. */
static void check_refused(leat_case_context *ctx, const char *file, int line, description *wrong, int32_t first,
                          int32_t second) {
  leat_device *device = leati_fixture_device(ctx);
  leat_op *op = NULL;
  leati_case_check_status(ctx, file, line, "op.supports()", first, second,
                          ctx->op->supports(device, &wrong->desc, LEAT_ERR));
  leati_case_check_status(ctx, file, line, "op.create()", first, second,
                          ctx->op->create(device, &wrong->desc, &op, LEAT_ERR));
  describe(wrong);
}
#define DESC_INVALID(ctx, wrong) \
  check_refused(ctx, __FILE__, __LINE__, wrong, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT)
#define DESC_UNSUPPORTED(ctx, wrong) \
  check_refused(ctx, __FILE__, __LINE__, wrong, LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_NOT_SUPPORTED)
#define DESC_REFUSED(ctx, wrong) \
  check_refused(ctx, __FILE__, __LINE__, wrong, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED)

static void create_good(leat_case_context *ctx, const void *data) {
  description good;
  leat_op *op = NULL;
  (void)data;
  describe(&good);
  leati_case_require_op(ctx, &good.desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &good.desc, &op, LEAT_ERR));
  /* Everything was copied. */
  memset(&good, 0x77, sizeof good);
  leati_op_destroy(ctx, op);
  /* Of the inputs only the types need to be known. A domain that is NULL is ONNX's. */
  describe(&good);
  good.info.ndim = -1;
  good.info.shape = NULL;
  good.desc.domain = NULL;
  good.desc.attribute_count = 0;
  good.desc.attributes = NULL;
  LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->op->supports(leati_fixture_device(ctx), &good.desc, LEAT_ERR));
  good.info.ndim = 2;
  good.info.shape = good.dims;
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &good.desc, &op, LEAT_ERR));
  leati_op_destroy(ctx, op);
}

static void create_null(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  description good;
  leat_op *op = NULL;
  (void)data;
  describe(&good);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->supports(device, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->supports(NULL, &good.desc, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->create(device, NULL, &op, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->create(NULL, &good.desc, &op, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->create(device, &good.desc, NULL, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->op->destroy(NULL, LEAT_ERR));
}

static void create_structs(leat_case_context *ctx, const void *data) {
  description wrong;
  struct {
    leat_op_desc known;
    uint64_t tail[2];
  } longer;
  (void)data;
  describe(&wrong);
  leati_case_require_op(ctx, &wrong.desc);
  wrong.desc.struct_size = sizeof wrong.desc - 1;
  DESC_INVALID(ctx, &wrong);
  wrong.desc.struct_size = 0;
  DESC_INVALID(ctx, &wrong);
  wrong.desc.reserved = 1;
  DESC_INVALID(ctx, &wrong);
  wrong.desc.name = NULL;
  DESC_INVALID(ctx, &wrong);
  wrong.desc.inputs = NULL;
  DESC_INVALID(ctx, &wrong);
  wrong.desc.attributes = NULL;
  DESC_INVALID(ctx, &wrong);
  wrong.attributes[0] = NULL;
  DESC_INVALID(ctx, &wrong);
  wrong.attribute.struct_size = sizeof wrong.attribute - 1;
  DESC_INVALID(ctx, &wrong);
  wrong.attribute.reserved = 1;
  DESC_INVALID(ctx, &wrong);
  wrong.attribute.name = NULL;
  DESC_INVALID(ctx, &wrong);
  wrong.info.struct_size = 4;
  DESC_INVALID(ctx, &wrong);
  wrong.info.reserved = 1;
  DESC_INVALID(ctx, &wrong);
  wrong.info.shape = NULL;
  DESC_INVALID(ctx, &wrong);
  wrong.info.ndim = -2;
  DESC_INVALID(ctx, &wrong);
  wrong.dims[1] = -2;
  DESC_INVALID(ctx, &wrong);
  /* A later host's description: fine if what is not known is zero. */
  memset(&longer, 0, sizeof longer);
  longer.known = wrong.desc;
  longer.known.struct_size = sizeof longer;
  LEAT_CHECK_OK(ctx, ctx->op->supports(leati_fixture_device(ctx), &longer.known, LEAT_ERR));
  longer.tail[1] = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->supports(leati_fixture_device(ctx), &longer.known, LEAT_ERR));
}

static void create_unknown(leat_case_context *ctx, const void *data) {
  char long_name[5000];
  description wrong;
  (void)data;
  memset(long_name, 'x', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  describe(&wrong);
  wrong.desc.name = "NoSuchOperator";
  DESC_UNSUPPORTED(ctx, &wrong);
  wrong.desc.name = "";
  DESC_REFUSED(ctx, &wrong);
  wrong.desc.name = "add";
  DESC_UNSUPPORTED(ctx, &wrong);
  wrong.desc.name = long_name;
  DESC_UNSUPPORTED(ctx, &wrong);
  wrong.desc.domain = "no.such.domain";
  DESC_UNSUPPORTED(ctx, &wrong);
  wrong.desc.domain = long_name;
  DESC_UNSUPPORTED(ctx, &wrong);
  wrong.desc.opset = 0;
  DESC_REFUSED(ctx, &wrong);
}

static void create_unsupported(leat_case_context *ctx, const void *data) {
  description wrong;
  (void)data;
  describe(&wrong);
  leati_case_require_op(ctx, &wrong.desc);
  wrong.desc.input_count = 1;
  DESC_REFUSED(ctx, &wrong);
  wrong.desc.input_count = 0;
  DESC_REFUSED(ctx, &wrong);
  wrong.desc.output_count = 2;
  DESC_REFUSED(ctx, &wrong);
  wrong.infos[1] = NULL;
  DESC_REFUSED(ctx, &wrong);
  wrong.info.dtype = leati_dtype(kDLComplex, 64);
  DESC_UNSUPPORTED(ctx, &wrong);
  wrong.info.dtype = leati_dtype(200, 32);
  DESC_REFUSED(ctx, &wrong);
  wrong.info.dtype = leati_dtype(kDLFloat, 24);
  DESC_REFUSED(ctx, &wrong);
  wrong.info.dtype.lanes = 4;
  DESC_REFUSED(ctx, &wrong);
  wrong.info.dtype.lanes = 0;
  DESC_REFUSED(ctx, &wrong);
  wrong.info.ndim = LEAT_MAX_RANK + 1;
  DESC_REFUSED(ctx, &wrong);
  /* An attribute type of a later version, on an operator that reads none: ignored or not supported, no crash. */
  wrong.attribute.type = 99;
  {
    int32_t status = ctx->op->supports(leati_fixture_device(ctx), &wrong.desc, LEAT_ERR);
    LEAT_CHECK(ctx, status == LEAT_OK || status == LEAT_ERROR_NOT_SUPPORTED || status == LEAT_ERROR_INVALID_ARGUMENT);
  }
}

static void create_attribute(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static const int64_t good_permutation[2] = {1, 0};
  static const int64_t wrong_permutations[][2] = {{0, 0}, {0, 2}, {-1, 0}, {INT64_MAX, 0}};
  description transpose;
  leat_op *op = NULL;
  (void)data;
  describe(&transpose);
  transpose.desc.name = "Transpose";
  transpose.desc.opset = 13;
  transpose.desc.input_count = 1;
  transpose.attribute.name = "perm";
  transpose.attribute.type = LEAT_ATTRIBUTE_INTS;
  transpose.attribute.count = 2;
  transpose.attribute.ints = good_permutation;
  leati_case_require_op(ctx, &transpose.desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &transpose.desc, &op, LEAT_ERR));
  leati_op_destroy(ctx, op);
#define REFUSED_HERE()                                                          \
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED, \
                    ctx->op->create(device, &transpose.desc, &op, LEAT_ERR))
  /* The right name with another type, with no values, and with values that are no permutation. */
  transpose.attribute.type = LEAT_ATTRIBUTE_FLOAT;
  REFUSED_HERE();
  transpose.attribute.type = LEAT_ATTRIBUTE_INTS;
  transpose.attribute.ints = NULL;
  REFUSED_HERE();
  for (size_t i = 0; i < G_N_ELEMENTS(wrong_permutations); ++i) {
    transpose.attribute.ints = wrong_permutations[i];
    REFUSED_HERE();
  }
#undef REFUSED_HERE
}

/* A tensor attribute that is no tensor of one element on the host. */
static void create_tensor_attribute(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static int64_t rank9[9] = {1, 1, 1, 1, 1, 1, 1, 1, 3};
  static int64_t overflow[4] = {INT64_C(1) << 32, INT64_C(1) << 32, INT64_MAX, 2};
  static int64_t one[1] = {1};
  static float element = 3;
  const DLTensor good = {.data = &element, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = one};
  DLTensor value = good;
  description constant;
  leat_op *op = NULL;
  (void)data;
  describe(&constant);
  constant.desc.name = "ConstantOfShape";
  constant.desc.opset = 9;
  constant.desc.input_count = 1;
  constant.info.dtype = LEAT_I64;
  constant.info.ndim = 1;
  constant.attribute.name = "value";
  constant.attribute.type = LEAT_ATTRIBUTE_TENSOR;
  constant.attribute.tensor = &value;
  leati_case_require_op(ctx, &constant.desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &constant.desc, &op, LEAT_ERR));
  leati_op_destroy(ctx, op);
#define REFUSED_HERE()                                                            \
  do {                                                                            \
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED, \
                      ctx->op->create(device, &constant.desc, &op, LEAT_ERR));    \
    value = good;                                                                 \
  } while (0)
  value.shape = NULL;
  REFUSED_HERE();
  value.data = NULL;
  REFUSED_HERE();
  value.ndim = 9;
  value.shape = rank9;
  REFUSED_HERE();
  value.ndim = 4;
  value.shape = overflow;
  REFUSED_HERE();
  value.ndim = -1;
  REFUSED_HERE();
  value.dtype.lanes = 2;
  REFUSED_HERE();
  value.device.device_type = kDLVulkan;
  REFUSED_HERE();
#undef REFUSED_HERE
}

/* ---- infer() ---- */

/* Sizes whose products no number holds, also where another size is 0. */
static void infer_sizes(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  leat_shape shape = {.struct_size = sizeof shape};
  leat_shape *out[1] = {&shape};
  const DLTensor *inputs[2] = {&sum->views[0].tensor, &sum->views[1].tensor};
  static const int64_t wrong[][2] = {
      {INT64_MAX, INT64_MAX}, {INT64_MAX, 2}, {INT64_C(1) << 32, INT64_C(1) << 32}, {INT64_MIN, 0}};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); ++i) {
    for (int view = 0; view < 2; ++view) {
      memcpy(sum->views[view].shape, wrong[i], sizeof wrong[i]);
    }
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  }
  addition_free(sum);
}

/* Of an operator that takes any number of inputs, none may be left out. */
static void invoke_variadic(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  leat_op *max = leati_op_new(ctx, "Max", 13, 3, LEAT_F32, 2);
  const DLTensor *outputs[1] = {&sum->views[2].tensor};
  (void)data;
  for (uint32_t absent = 0; absent < 3; ++absent) {
    const DLTensor *inputs[3] = {&sum->views[0].tensor, &sum->views[1].tensor, &sum->views[0].tensor};
    inputs[absent] = NULL;
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->op->invoke(max, sum->stream, 3, inputs, 1, outputs, LEAT_ERR));
  }
  leati_op_destroy(ctx, max);
  addition_free(sum);
}

static void infer_shapes(leat_case_context *ctx, const void *data) {
  addition *sum = addition_new(ctx);
  leat_shape shape = {.struct_size = sizeof shape};
  leat_shape *out[1] = {&shape};
  const DLTensor *inputs[2] = {&sum->views[0].tensor, &sum->views[1].tensor};
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 2, (uint64_t)shape.ndim);
  LEAT_CHECK_U64(ctx, ROWS, (uint64_t)shape.dims[0]);
  LEAT_CHECK_U64(ctx, COLUMNS, (uint64_t)shape.dims[1]);
  LEAT_CHECK_U64(ctx, kDLFloat, shape.dtype.code);
  LEAT_CHECK_U64(ctx, 32, shape.dtype.bits);
  LEAT_CHECK_U64(ctx, 1, shape.dtype.lanes);
  /* Data of device inputs is not read: it may be missing. */
  sum->views[0].tensor.data = NULL;
  sum->views[1].tensor.data = NULL;
  sum->views[1].shape[0] = 1;
  LEAT_CHECK_OK(ctx, ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  LEAT_CHECK_U64(ctx, ROWS, (uint64_t)shape.dims[0]);
  reset(sum);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(NULL, 2, inputs, 1, out, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 1, inputs, 1, out, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 2, NULL, 1, out, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 2, inputs, 1, NULL, LEAT_ERR));
  shape.struct_size = sizeof shape - 8;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  shape.struct_size = sizeof shape;
  sum->views[1].shape[1] = COLUMNS + 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  sum->views[1].shape[1] = -1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  reset(sum);
  sum->views[0].tensor.ndim = 9;
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->op->infer(sum->add, 2, inputs, 1, out, LEAT_ERR));
  addition_free(sum);
}

/* ---- The list ---- */

static void list_consistent(leat_case_context *ctx, const void *data) {
  const uint64_t known_types = (LEAT_TYPE_BOOL << 1) - 1;
  uint32_t count = 0;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    const leat_op_info *again = NULL;
    LEAT_CHECK_OK(ctx, ctx->op->info(i, &info, LEAT_ERR));
    LEAT_CHECK_OK(ctx, ctx->op->info(i, &again, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, info != NULL && info == again, "entry %u is not a constant", i);
    LEAT_CHECK_MESSAGE(ctx, info->struct_size >= LEAT_SIZE_THROUGH(leat_op_info, attributes), "entry %u is too short",
                       i);
    LEAT_CHECK_MESSAGE(ctx, info->name != NULL && info->name[0] != '\0' && info->domain != NULL, "entry %u has no name",
                       i);
    LEAT_CHECK_MESSAGE(ctx, info->reserved == 0, "%s: reserved is not zero", info->name);
    LEAT_CHECK_MESSAGE(ctx, info->opset_min >= 1 && info->opset_min <= info->opset_max, "%s: opsets %u to %u",
                       info->name, info->opset_min, info->opset_max);
    LEAT_CHECK_MESSAGE(ctx, info->min_inputs <= info->max_inputs && info->min_outputs <= info->max_outputs,
                       "%s: inputs %u to %u, outputs %u to %u", info->name, info->min_inputs, info->max_inputs,
                       info->min_outputs, info->max_outputs);
    LEAT_CHECK_MESSAGE(ctx, info->max_outputs >= 1, "%s: has no output", info->name);
    LEAT_CHECK_MESSAGE(
        ctx,
        info->max_inputs == LEAT_VARIADIC || info->max_inputs >= 64 || (info->host_inputs >> info->max_inputs) == 0,
        "%s: a host input that it does not have", info->name);
    LEAT_CHECK_MESSAGE(ctx, info->type_count >= 1 && info->types != NULL, "%s: has no types", info->name);
    for (uint32_t j = 0; j < info->type_count; ++j) {
      const leat_op_type *type = info->types[j];
      LEAT_CHECK_MESSAGE(ctx, type != NULL && type->name != NULL && type->name[0] != '\0', "%s: type %u has no name",
                         info->name, j);
      LEAT_CHECK_MESSAGE(ctx, type->types != 0 && (type->types & ~known_types) == 0,
                         "%s: type %s is the set 0x%" G_GINT64_MODIFIER "x", info->name, type->name, type->types);
      for (uint32_t k = 0; k < j; ++k) {
        LEAT_CHECK_MESSAGE(ctx, strcmp(type->name, info->types[k]->name) != 0, "%s: type %s is there twice", info->name,
                           type->name);
      }
    }
    for (uint32_t j = 0; j < info->attribute_count; ++j) {
      const leat_op_attribute *attribute = info->attributes[j];
      LEAT_CHECK_MESSAGE(ctx, attribute != NULL && attribute->name != NULL && attribute->name[0] != '\0',
                         "%s: attribute %u has no name", info->name, j);
      LEAT_CHECK_MESSAGE(ctx, attribute->type >= LEAT_ATTRIBUTE_INT && attribute->type <= LEAT_ATTRIBUTE_TENSOR,
                         "%s: attribute %s has type %u", info->name, attribute->name, attribute->type);
    }
    /* An operator of one name and domain has one entry for each opset. */
    for (uint32_t k = 0; k < i; ++k) {
      const leat_op_info *other = NULL;
      LEAT_CHECK_OK(ctx, ctx->op->info(k, &other, LEAT_ERR));
      if (strcmp(other->name, info->name) != 0 || strcmp(other->domain, info->domain) != 0)
        continue;
      LEAT_CHECK_MESSAGE(ctx, other->opset_max < info->opset_min || info->opset_max < other->opset_min,
                         "%s: two entries for opset %u", info->name, MAX(other->opset_min, info->opset_min));
    }
  }
}

static void list_bad(leat_case_context *ctx, const void *data) {
  const leat_op_info *info = NULL;
  uint32_t count = 0;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->count(NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->info(count, &info, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->info(UINT32_MAX, &info, LEAT_ERR));
  if (count > 0)
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->info(0, NULL, LEAT_ERR));
}

static const leat_case cases[] = {
    {.name = "arguments.invoke.null_is_invalid",
     .summary = "NULL for operator, stream, lists or a required input is invalid.",
     .run = invoke_null},
    {.name = "arguments.invoke.wrong_counts_are_invalid",
     .summary = "Too few or too many inputs or outputs are invalid.",
     .run = invoke_counts},
    {.name = "arguments.invoke.absent_variadic_inputs_are_refused",
     .summary = "NULL anywhere in a list of any length is refused.",
     .run = invoke_variadic},
    {.name = "arguments.invoke.impossible_ranks_are_refused",
     .summary = "Ranks below 0 or above 8 are refused for each operand.",
     .run = invoke_rank},
    {.name = "arguments.invoke.impossible_dimensions_are_invalid",
     .summary = "Negative dimensions, missing shapes and products that overflow are invalid.",
     .run = invoke_dims},
    {.name = "arguments.invoke.views_outside_blocks_are_invalid",
     .summary = "Offsets and addresses that leave the block, freed blocks and foreign addresses are invalid.",
     .run = invoke_outside},
    {.name = "arguments.invoke.strides_outside_blocks_are_refused",
     .summary = "Strides that leave the block in either direction, or overflow, are refused.",
     .run = invoke_strides},
    {.name = "arguments.invoke.wrong_output_shape_is_invalid",
     .summary = "An output of another shape or type, and inputs that do not broadcast, are invalid.",
     .run = invoke_output},
    {.name = "arguments.invoke.overlapping_output_is_invalid",
     .summary = "An output that lies partly over an input is invalid.",
     .run = invoke_overlap},
    {.name = "arguments.invoke.wrong_types_are_refused",
     .summary = "Lanes, odd widths, unknown codes and operands of different types are refused.",
     .run = invoke_dtype},
    {.name = "arguments.invoke.wrong_devices_are_refused",
     .summary = "Host tensors where device ones are due, other kinds and other numbers are refused.",
     .run = invoke_device},
    {.name = "arguments.create.description_is_copied",
     .summary = "A description may be overwritten after create(); unknown attributes are ignored.",
     .run = create_good},
    {.name = "arguments.create.null_is_invalid",
     .summary = "NULL is invalid for supports() and create(); destroying NULL does nothing.",
     .run = create_null},
    {.name = "arguments.create.broken_structs_are_invalid",
     .summary = "Short structs, non-zero reserved fields, tails and missing pointers are invalid.",
     .run = create_structs},
    {.name = "arguments.create.unknown_operator_is_not_supported",
     .summary = "Names and domains that are not in the list are not supported.",
     .run = create_unknown},
    {.name = "arguments.create.unsupported_forms_are_refused",
     .summary = "Wrong counts, types, lanes and ranks are refused before anything is created.",
     .run = create_unsupported},
    {.name = "arguments.create.wrong_attributes_are_refused",
     .summary = "Attributes of a wrong type or with values that cannot be are refused.",
     .run = create_attribute},
    {.name = "arguments.create.broken_tensor_attributes_are_refused",
     .summary = "A tensor attribute without shape or data, or with sizes that overflow, is refused.",
     .run = create_tensor_attribute},
    {.name = "arguments.infer.impossible_sizes_are_invalid",
     .summary = "Sizes whose product overflows are invalid before any memory is asked for.",
     .run = infer_sizes},
    {.name = "arguments.infer.tells_shapes_and_refuses",
     .summary = "Shapes are inferred without reading device data; wrong inputs are refused.",
     .run = infer_shapes},
    {.name = "arguments.list.is_consistent",
     .summary = "Every entry of the operator list is complete, legal and the only one for its opsets.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = list_consistent},
    {.name = "arguments.list.bad_arguments_are_refused",
     .summary = "An index out of range and NULL are invalid for the operator list.",
     .flags = LEAT_CASE_WITHOUT_DEVICE,
     .run = list_bad},
};

void leati_cases_arguments(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
