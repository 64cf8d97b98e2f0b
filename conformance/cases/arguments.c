/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_op_api with arguments that break the contract, and about what the operator list says.
 */
#include <string.h>

#include "cases/sources.h"
#include "cases/subject.h"
#include "fixture.h"

/* The broken call is refused; then everything is put right again. */
#define REFUSED(s)                                                                     \
  do {                                                                                 \
    LEAT_CHECK_EITHER((s)->ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED, \
                      leati_subject_invoke(s, LEAT_ERR));                              \
    leati_subject_reset(s);                                                            \
  } while (0)
#define INVALID(s)                                                                               \
  do {                                                                                           \
    LEAT_CHECK_STATUS((s)->ctx, LEAT_ERROR_INVALID_ARGUMENT, leati_subject_invoke(s, LEAT_ERR)); \
    leati_subject_reset(s);                                                                      \
  } while (0)

/* Whether the output looks like an input: what is wrong with one is wrong with the other then. */
static bool output_is_like_inputs(leati_subject *s) {
  return s->shape.ndim == s->form.ndim &&
         memcmp(s->shape.dims, s->form.dims, (size_t)s->form.ndim * sizeof(s->form.dims[0])) == 0;
}

/* Views that a case breaks one after the other: the inputs, and the output where it is like them. */
static uint32_t views_alike(leati_subject *s) {
  return s->form.inputs + (output_is_like_inputs(s) ? 1 : 0);
}

/* A type of as many bits as another. */
static DLDataType other_type(DLDataType dtype) {
  return leati_dtype(dtype.code == kDLInt ? kDLUInt : kDLInt, dtype.bits);
}

static bool is_same_shape(const leat_shape *a, const leat_shape *b) {
  return memcmp(&a->dtype, &b->dtype, sizeof(a->dtype)) == 0 && a->ndim == b->ndim &&
         memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(a->dims[0])) == 0;
}

/* What was broken of an input is refused if the operator's own rule does not allow it: infer() says whether it does,
 * and gives what the call was made for. */
static void check_unless_legal(leati_subject *s) {
  leat_shape shape;
  const int32_t status = leati_subject_infer(s, &shape, NULL);
  if (status == LEAT_OK && is_same_shape(&shape, &s->shape)) {
    LEAT_CHECK_MESSAGE(s->ctx, !leati_form_is_add(&s->form), "infer() takes operands of Add that do not go together");
    leati_subject_reset(s);
  } else {
    REFUSED(s);
  }
}

/* ---- invoke() ---- */

static void invoke_null(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  const uint32_t n = s->form.inputs;
  const DLTensor *inputs[LEATI_FORM_INPUTS];
  const DLTensor *outputs[1] = {&leati_subject_output(s)->tensor};
  const DLTensor *nothing[1] = {NULL};
  (void)data;
  for (uint32_t i = 0; i < n; ++i) {
    inputs[i] = &s->views[i].tensor;
  }
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(NULL, s->stream, n, inputs, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->invoke(s->op, NULL, n, inputs, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->invoke(s->op, s->stream, n, NULL, 1, outputs, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->invoke(s->op, s->stream, n, inputs, 1, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->invoke(s->op, s->stream, n, inputs, 1, nothing, LEAT_ERR));
  for (uint32_t i = 0; i < s->form.info->min_inputs; ++i) {
    const DLTensor *const kept = inputs[i];
    inputs[i] = NULL;
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                      ctx->op->invoke(s->op, s->stream, n, inputs, 1, outputs, LEAT_ERR));
    inputs[i] = kept;
  }
  leati_subject_free(s);
}

static void invoke_counts(leat_case_context *ctx, const void *data) {
  enum { MANY = 32 };
  leati_subject *s = leati_subject_new(ctx);
  const leat_op_info *info = s->form.info;
  const DLTensor *inputs[MANY];
  const DLTensor *outputs[MANY];
  (void)data;
  for (uint32_t i = 0; i < MANY; ++i) {
    inputs[i] = &s->views[i % s->form.inputs].tensor;
    outputs[i] = &leati_subject_output(s)->tensor;
  }
#define COUNTS_INVALID(input_count, output_count)     \
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, \
                    ctx->op->invoke(s->op, s->stream, input_count, inputs, output_count, outputs, LEAT_ERR))
  for (uint32_t count = 0; count < info->min_inputs; ++count) {
    COUNTS_INVALID(count, 1);
  }
  COUNTS_INVALID(s->form.inputs, 0);
  if (info->max_inputs < MANY) {
    COUNTS_INVALID(info->max_inputs + 1, 1);
    COUNTS_INVALID(UINT32_MAX, 1);
  }
  if (info->max_outputs < MANY) {
    COUNTS_INVALID(s->form.inputs, info->max_outputs + 1);
    COUNTS_INVALID(s->form.inputs, UINT32_MAX);
  }
#undef COUNTS_INVALID
  leati_subject_free(s);
}

/* An output that lies partly over an operand would read what it has written. */
static void invoke_overlap(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  const uint64_t item = s->shape.dtype.bits / 8u;
  const uint64_t offsets[] = {item, (s->sizes[0] / item - 1) * item};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(offsets); ++i) {
    leati_case_tensor_device(ctx, leati_subject_output(s), s->block + offsets[i], s->shape.dtype, s->shape.ndim,
                             s->shape.dims);
    INVALID(s);
  }
  leati_subject_free(s);
}

static void invoke_rank(leat_case_context *ctx, const void *data) {
  static const int32_t ranks[] = {-1, INT32_MIN, LEAT_MAX_RANK + 1, 1000, INT32_MAX};
  leati_subject *s = leati_subject_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(ranks); ++i) {
    for (uint32_t view = 0; view <= s->form.inputs; ++view) {
      s->views[view].tensor.ndim = ranks[i];
      REFUSED(s);
    }
  }
  leati_subject_free(s);
}

static void invoke_dims(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  const int32_t last = s->form.ndim - 1;
  (void)data;
  for (uint32_t view = 0; view < views_alike(s); ++view) {
    s->views[view].shape[0] *= -1;
    INVALID(s);
    s->views[view].shape[last] = INT64_MIN;
    INVALID(s);
    s->views[view].tensor.shape = NULL;
    INVALID(s);
  }
  /* The same everywhere, so that only the size is wrong: the products overflow 64 bits, with and without bytes. */
  static const int64_t huge[][2] = {{INT64_C(1) << 32, INT64_C(1) << 32},
                                    {INT64_MAX, INT64_MAX},
                                    {INT64_C(1) << 31, INT64_C(1) << 31},
                                    {1, INT64_MAX},
                                    {INT64_C(1) << 62, 4},
                                    {(INT64_C(1) << 61) + 3, 8}};
  for (size_t i = 0; i < G_N_ELEMENTS(huge); ++i) {
    for (uint32_t view = 0; view < views_alike(s); ++view) {
      s->views[view].shape[last - 1] = huge[i][0];
      s->views[view].shape[last] = huge[i][1];
    }
    INVALID(s);
  }
  leati_subject_free(s);
}

static void invoke_outside(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  uint64_t dead = leati_case_alloc(ctx, s->size, s->stream);
  (void)data;
  leati_case_free(ctx, dead);
  for (uint32_t view = 0; view <= s->form.inputs; ++view) {
    const uint64_t behind = s->size - s->sizes[view] + s->item; /* in the block, so that the last element is not */
    const uint64_t offsets[] = {behind - s->starts[view], s->size,        UINT64_C(1) << 32,
                                UINT64_MAX - 3,           UINT64_MAX / 2, 0 - s->block};
    for (size_t i = 0; i < G_N_ELEMENTS(offsets); ++i) {
      s->views[view].tensor.byte_offset = offsets[i];
      INVALID(s);
    }
    s->views[view].tensor.data = (void *)(uintptr_t)(s->block + behind);
    INVALID(s);
    s->views[view].tensor.data = (void *)(uintptr_t)(s->block - s->item);
    INVALID(s);
    s->views[view].tensor.data = (void *)(uintptr_t)dead;
    INVALID(s);
    s->views[view].tensor.data = NULL;
    INVALID(s);
    s->views[view].tensor.data = s;
    INVALID(s);
  }
  leati_subject_free(s);
}

static void invoke_strides(leat_case_context *ctx, const void *data) {
  /* Of all dimensions but the last, and of the last. */
  static const int64_t strides[][2] = {{100, 1},
                                       {6, 100},
                                       {INT64_MAX, 1},
                                       {INT64_MAX / 4, INT64_MAX / 4},
                                       {INT64_C(1) << 61, 1},
                                       {INT64_C(1) << 62, 0},
                                       {-200, 1},
                                       {6, -100},
                                       {INT64_MIN, 1},
                                       {INT64_MIN, INT64_MIN}};
  leati_subject *s = leati_subject_new(ctx);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(strides); ++i) {
    for (uint32_t view = 0; view < views_alike(s); ++view) {
      for (int32_t d = 0; d < s->form.ndim; ++d) {
        s->views[view].strides[d] = strides[i][d == s->form.ndim - 1];
      }
      s->views[view].tensor.strides = s->views[view].strides;
      REFUSED(s);
    }
  }
  leati_subject_free(s);
}

static void invoke_output(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  const uint32_t n = s->form.inputs;
  const int32_t last = s->form.ndim - 1;
  const uint64_t items = s->sizes[n] / (s->shape.dtype.bits / 8u);
  leat_case_tensor *output = leati_subject_output(s);
  (void)data;
  if (s->shape.ndim > 0) {
    output->shape[0] -= 1;
    INVALID(s);
  }
  for (int32_t d = 1; d < s->shape.ndim; ++d) {
    output->shape[d - 1] = s->shape.dims[d];
    output->shape[d] = s->shape.dims[d - 1];
    if (s->shape.dims[d] != s->shape.dims[d - 1]) {
      INVALID(s);
    }
    leati_subject_reset(s);
  }
  if (s->shape.ndim != 1) {
    output->shape[0] = (int64_t)items;
    output->tensor.ndim = 1;
    INVALID(s);
  }
  output->tensor.dtype = other_type(s->shape.dtype);
  INVALID(s);
  /* Inputs that do not go together. */
  if (n > 1) {
    s->views[n - 1].shape[last] -= 1;
    check_unless_legal(s);
  }
  leati_subject_free(s);
}

static void invoke_dtype(leat_case_context *ctx, const void *data) {
  /* No type of any operator. */
  static const DLDataType types[] = {{kDLFloat, 32, 2}, {kDLFloat, 32, 0},       {kDLFloat, 32, 65535},
                                     {kDLFloat, 7, 1},  {kDLFloat, 0, 1},        {255, 32, 1},
                                     {kDLInt, 3, 1},    {kDLOpaqueHandle, 64, 1}};
  leati_subject *s = leati_subject_new(ctx);
  const uint32_t n = s->form.inputs;
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(types); ++i) {
    s->views[n - 1].tensor.dtype = types[i];
    REFUSED(s);
    for (uint32_t view = 0; view <= n; ++view) {
      s->views[view].tensor.dtype = types[i];
    }
    REFUSED(s);
  }
  /* Good types that do not agree. */
  for (uint32_t view = 0; view < n; ++view) {
    s->views[view].tensor.dtype = other_type(s->form.dtype);
    check_unless_legal(s);
  }
  leati_subject_output(s)->tensor.dtype = other_type(s->shape.dtype);
  REFUSED(s);
  leati_subject_free(s);
}

#define AXIS_0 \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = "axis", .i = 0 }
/* Of an operator that has none of that name. */
#define NO_ATTRIBUTE AXIS_0

/* An operator, what it is made for, and a call that it is not for. */
static const struct {
  const char *domain, *op;
  uint32_t since_version;
  leat_attribute attribute;
  uint32_t input_count, calls_with;
  DLDataType types[3], called[3];
} others[] = {
    {"",
     "BitCast",
     26,
     {.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 6},
     1,
     1,
     {{kDLFloat, 32, 1}},
     {{kDLUInt, 8, 1}}},
    {"",
     "ScatterElements",
     18,
     {.struct_size = sizeof(leat_attribute),
      .type = LEAT_ATTRIBUTE_STRING,
      .name = "reduction",
      .string = "add",
      .count = 3},
     3,
     3,
     {{kDLFloat, 32, 1}, {kDLInt, 64, 1}, {kDLFloat, 32, 1}},
     {{LEAT_DL_BOOL, 8, 1}, {kDLInt, 64, 1}, {LEAT_DL_BOOL, 8, 1}}},
    {"leat",
     "ForeachAdd",
     1,
     {.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = "alpha", .f = 2},
     2,
     16,
     {{kDLFloat, 32, 1}},
     {{kDLFloat, 32, 1}}},
    {"", "Add", 14, NO_ATTRIBUTE, 2, 2, {{kDLFloat, 32, 1}}, {{kDLInt, 32, 1}}},
    {"", "Sum", 13, NO_ATTRIBUTE, 2, 3, {{kDLFloat, 32, 1}}, {{kDLFloat, 32, 1}}},
    {"", "LayerNormalization", 17, AXIS_0, 2, 3, {{kDLFloat, 32, 1}}, {{kDLFloat, 32, 1}}},
};
enum { CALLED_MOST = 16, CALLED_BYTES = 64 };

static void invoke_other(leat_case_context *ctx, const void *data) {
  static const int64_t dims[] = {8};
  uint32_t tried = 0;
  leat_stream *stream = leati_stream_new(ctx);
  const uint64_t block = leati_case_alloc(ctx, (CALLED_MOST + 1) * CALLED_BYTES, stream);
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(others); ++i) {
    leat_value_info infos[3];
    const leat_value_info *inputs[3];
    const leat_attribute *attributes[] = {&others[i].attribute};
    for (uint32_t k = 0; k < others[i].input_count; ++k) {
      infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                   .ndim = 1,
                                   .shape = dims,
                                   .dtype = others[i].types[k].bits != 0 ? others[i].types[k] : others[i].types[0]};
      inputs[k] = &infos[k];
    }
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .since_version = others[i].since_version,
                               .name = others[i].op,
                               .domain = others[i].domain,
                               .attribute_count = 1,
                               .attributes = attributes,
                               .input_count = others[i].input_count,
                               .inputs = inputs,
                               .output_count = 1};
    if (ctx->op->supports(leati_fixture_device(ctx), &desc, LEAT_ERR) != LEAT_OK) {
      continue;
    }
    leat_op *op = NULL;
    leat_case_tensor views[CALLED_MOST + 1];
    const DLTensor *tensors[CALLED_MOST + 1];
    LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &op, LEAT_ERR));
    for (uint32_t k = 0; k <= CALLED_MOST; ++k) {
      const DLDataType type = k < 3 && others[i].called[k].bits != 0 ? others[i].called[k] : others[i].called[0];
      leati_case_tensor_device(ctx, &views[k], block + k * CALLED_BYTES, k == CALLED_MOST && i == 0 ? LEAT_I32 : type,
                               1, dims);
      tensors[k] = &views[k].tensor;
    }
    const int32_t status =
        ctx->op->invoke(op, stream, others[i].calls_with, tensors, 1, &tensors[CALLED_MOST], LEAT_ERR);
    LEAT_CHECK_MESSAGE(ctx, status == LEAT_ERROR_INVALID_ARGUMENT || status == LEAT_ERROR_NOT_SUPPORTED,
                       "%s took a call that it was not made for: %s", others[i].op, leati_case_status_name(status));
    LEAT_CHECK_OK(ctx, ctx->op->destroy(op, LEAT_ERR));
    ++tried;
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  if (tried == 0) {
    leati_case_skip(ctx, "the operator list has none of these");
  }
}

static void invoke_device(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  uint8_t *host = g_malloc0(s->size);
  (void)data;
  for (uint32_t view = 0; view <= s->form.inputs; ++view) {
    s->views[view].tensor.device = (DLDevice){.device_type = kDLCPU};
    s->views[view].tensor.data = host;
    INVALID(s);
    s->views[view].tensor.device.device_type = kDLCUDA;
    REFUSED(s);
    s->views[view].tensor.device.device_id = 1000;
    REFUSED(s);
    s->views[view].tensor.device.device_id = -1;
    REFUSED(s);
  }
  g_free(host);
  leati_subject_free(s);
}

/* ---- supports() and create() ---- */

/* supports() and create() both refuse; then the description is put right again. */
static void check_refused(leat_case_context *ctx, const char *file, int line, const leati_form *form,
                          leati_form_desc *wrong, int32_t first, int32_t second) {
  leat_device *device = leati_fixture_device(ctx);
  leat_op *op = NULL;
  leati_case_check_status(ctx, file, line, "op.supports()", first, second,
                          ctx->op->supports(device, &wrong->desc, LEAT_ERR));
  leati_case_check_status(ctx, file, line, "op.create()", first, second,
                          ctx->op->create(device, &wrong->desc, &op, LEAT_ERR));
  leati_form_describe(form, wrong);
}
/* Of the case's `form` and `wrong`. */
#define DESC_INVALID() \
  check_refused(ctx, __FILE__, __LINE__, &form, &wrong, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT)
#define DESC_UNSUPPORTED() \
  check_refused(ctx, __FILE__, __LINE__, &form, &wrong, LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_NOT_SUPPORTED)
#define DESC_REFUSED() \
  check_refused(ctx, __FILE__, __LINE__, &form, &wrong, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED)

static void create_good(leat_case_context *ctx, const void *data) {
  const leati_form form = leati_form_any(ctx);
  leati_form_desc good;
  leat_op *op = NULL;
  (void)data;
  leati_form_describe(&form, &good);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &good.desc, &op, LEAT_ERR));
  /* Everything was copied. */
  memset(&good, 0x77, sizeof(good));
  leati_op_destroy(ctx, op);
  /* Of the inputs only the types need to be known. A domain that is NULL is ONNX's. */
  leati_form_describe(&form, &good);
  good.info.ndim = -1;
  good.info.shape = NULL;
  if (form.info->domain[0] == '\0') {
    good.desc.domain = NULL;
  }
  good.desc.attribute_count = 0;
  good.desc.attributes = NULL;
  LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->op->supports(leati_fixture_device(ctx), &good.desc, LEAT_ERR));
  good.info.ndim = form.ndim;
  good.info.shape = good.dims;
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &good.desc, &op, LEAT_ERR));
  leati_op_destroy(ctx, op);
}

static void create_null(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  const leati_form form = leati_form_of_add();
  leati_form_desc good;
  leat_op *op = NULL;
  (void)data;
  leati_form_describe(&form, &good);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->supports(device, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->supports(NULL, &good.desc, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->create(device, NULL, &op, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->create(NULL, &good.desc, &op, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->create(device, &good.desc, NULL, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->op->destroy(NULL, LEAT_ERR));
}

static void create_structs(leat_case_context *ctx, const void *data) {
  const leati_form form = leati_form_any(ctx);
  leati_form_desc wrong;
  struct {
    leat_op_desc known;
    uint64_t tail[2];
  } longer;
  (void)data;
  leati_form_describe(&form, &wrong);
  wrong.desc.struct_size = sizeof(wrong.desc) - 1;
  DESC_INVALID();
  wrong.desc.struct_size = 0;
  DESC_INVALID();
  wrong.desc.reserved = 1;
  DESC_INVALID();
  wrong.desc.name = NULL;
  DESC_INVALID();
  wrong.desc.inputs = NULL;
  DESC_INVALID();
  wrong.desc.attributes = NULL;
  DESC_INVALID();
  wrong.attributes[0] = NULL;
  DESC_INVALID();
  wrong.attribute.struct_size = sizeof(wrong.attribute) - 1;
  DESC_INVALID();
  wrong.attribute.reserved = 1;
  DESC_INVALID();
  wrong.attribute.name = NULL;
  DESC_INVALID();
  wrong.info.struct_size = 4;
  DESC_INVALID();
  wrong.info.reserved = 1;
  DESC_INVALID();
  wrong.info.shape = NULL;
  DESC_INVALID();
  wrong.info.ndim = -2;
  DESC_INVALID();
  wrong.dims[1] = -2;
  DESC_INVALID();
  /* A later host's description: fine if what is not known is zero. */
  memset(&longer, 0, sizeof(longer));
  longer.known = wrong.desc;
  longer.known.struct_size = sizeof(longer);
  LEAT_CHECK_OK(ctx, ctx->op->supports(leati_fixture_device(ctx), &longer.known, LEAT_ERR));
  longer.tail[1] = 1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->op->supports(leati_fixture_device(ctx), &longer.known, LEAT_ERR));
}

static void create_unknown(leat_case_context *ctx, const void *data) {
  char long_name[5000];
  const leati_form form = leati_form_of_add();
  leati_form_desc wrong;
  (void)data;
  memset(long_name, 'x', sizeof(long_name));
  long_name[sizeof(long_name) - 1] = '\0';
  leati_form_describe(&form, &wrong);
  wrong.desc.name = "NoSuchOperator";
  DESC_UNSUPPORTED();
  wrong.desc.name = "";
  DESC_REFUSED();
  wrong.desc.name = "add";
  DESC_UNSUPPORTED();
  wrong.desc.name = long_name;
  DESC_UNSUPPORTED();
  wrong.desc.domain = "no.such.domain";
  DESC_UNSUPPORTED();
  wrong.desc.domain = long_name;
  DESC_UNSUPPORTED();
  wrong.desc.since_version = 0;
  DESC_REFUSED();
}

static void create_unsupported(leat_case_context *ctx, const void *data) {
  const leati_form form = leati_form_any(ctx);
  leati_form_desc wrong;
  (void)data;
  leati_form_describe(&form, &wrong);
  for (uint32_t count = 0; count < form.info->min_inputs; ++count) {
    wrong.desc.input_count = count;
    DESC_REFUSED();
    wrong.infos[count] = NULL;
    DESC_REFUSED();
  }
  wrong.desc.output_count = 0;
  DESC_REFUSED();
  if (form.info->max_outputs < UINT32_MAX) {
    wrong.desc.output_count = form.info->max_outputs + 1;
    DESC_REFUSED();
  }
  wrong.info.dtype = leati_dtype(kDLComplex, 64);
  DESC_UNSUPPORTED();
  wrong.info.dtype = leati_dtype(200, 32);
  DESC_REFUSED();
  wrong.info.dtype = leati_dtype(kDLFloat, 24);
  DESC_REFUSED();
  wrong.info.dtype.lanes = 4;
  DESC_REFUSED();
  wrong.info.dtype.lanes = 0;
  DESC_REFUSED();
  wrong.info.ndim = LEAT_MAX_RANK + 1;
  DESC_REFUSED();
  /* An attribute type of a later version, on an operator that reads none: ignored or not supported, no crash. */
  wrong.attribute.type = 99;
  {
    int32_t status = ctx->op->supports(leati_fixture_device(ctx), &wrong.desc, LEAT_ERR);
    LEAT_CHECK(ctx, status == LEAT_OK || status == LEAT_ERROR_NOT_SUPPORTED || status == LEAT_ERROR_INVALID_ARGUMENT);
  }
}

/* A value that an attribute of a type cannot have: another type, or none where there should be some. */
static void break_attribute(leat_attribute *attribute, uint32_t type, bool missing) {
  attribute->count = 3;
  attribute->type = missing ? type : type == LEAT_ATTRIBUTE_FLOAT ? LEAT_ATTRIBUTE_INT : LEAT_ATTRIBUTE_FLOAT;
}

/* Of every operator that can be called, each attribute that it reads. Returns how many there were. */
static uint32_t wrong_attributes(leat_case_context *ctx) {
  uint32_t tried = 0;
  uint32_t count = 0;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    leati_form form;
    LEAT_CHECK_OK(ctx, ctx->op->info(i, &info, LEAT_ERR));
    for (uint32_t k = 0; k < info->attribute_count && (k > 0 || leati_form_of(ctx, info, &form)); ++k) {
      const leat_op_attribute *read = info->attributes[k];
      leati_form_desc wrong;
      leati_form_describe(&form, &wrong);
      wrong.attribute.name = read->name;
      break_attribute(&wrong.attribute, read->type, false);
      DESC_REFUSED();
      if (read->type != LEAT_ATTRIBUTE_INT && read->type != LEAT_ATTRIBUTE_FLOAT) {
        wrong.attribute.name = read->name;
        break_attribute(&wrong.attribute, read->type, true);
        DESC_REFUSED();
      }
      ++tried;
    }
  }
  return tried;
}

static void create_attribute(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static const int64_t good_permutation[2] = {1, 0};
  static const int64_t wrong_permutations[][2] = {{0, 0}, {0, 2}, {-1, 0}, {INT64_MAX, 0}};
  const leati_form form = leati_form_of_add();
  leati_form_desc transpose;
  leat_op *op = NULL;
  (void)data;
  const uint32_t tried = wrong_attributes(ctx);
  leati_form_describe(&form, &transpose);
  transpose.desc.name = "Transpose";
  transpose.desc.since_version = 13;
  transpose.desc.input_count = 1;
  transpose.attribute.name = "perm";
  transpose.attribute.type = LEAT_ATTRIBUTE_INTS;
  transpose.attribute.count = 2;
  transpose.attribute.ints = good_permutation;
  if (tried > 0 && ctx->op->supports(device, &transpose.desc, NULL) == LEAT_ERROR_NOT_SUPPORTED) {
    return;
  }
  leati_case_require_op(ctx, &transpose.desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &transpose.desc, &op, LEAT_ERR));
  leati_op_destroy(ctx, op);
  /* Values that are no permutation. */
  for (size_t i = 0; i < G_N_ELEMENTS(wrong_permutations); ++i) {
    transpose.attribute.ints = wrong_permutations[i];
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->op->create(device, &transpose.desc, &op, LEAT_ERR));
  }
}

/* A body is what an operator does: it is not ignored, as other attributes that are not known are, and lists of strings
 * among them. */
static void create_graph(leat_case_context *ctx, const void *data) {
  static const char *const words[2] = {"forward", ""};
  static const uint64_t lengths[2] = {7, 0};
  leat_device *device = leati_fixture_device(ctx);
  const leati_form form = leati_form_any(ctx);
  leati_form_desc d;
  leat_op *op = NULL;
  (void)data;
  leati_form_describe(&form, &d);
  d.attribute.type = LEAT_ATTRIBUTE_STRINGS;
  d.attribute.count = 2;
  d.attribute.strings = words;
  d.attribute.lengths = lengths;
  LEAT_CHECK_OK(ctx, ctx->op->supports(device, &d.desc, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &d.desc, &op, LEAT_ERR));
  leati_op_destroy(ctx, op);
  for (int creates = 0; creates < 2; ++creates) {
    leat_error err = {.struct_size = sizeof(err)};
    leati_form_describe(&form, &d);
    d.attribute.type = LEAT_ATTRIBUTE_GRAPH;
    const int32_t status =
        creates ? ctx->op->create(device, &d.desc, &op, &err) : ctx->op->supports(device, &d.desc, &err);
    /* There is no description behind it, which a backend that runs bodies may tell instead. */
    const bool refused =
        status == LEAT_ERROR_NOT_SUPPORTED || (status == LEAT_ERROR_INVALID_ARGUMENT && ctx->api->graph != NULL);
    LEAT_CHECK_MESSAGE(ctx, refused && strstr(err.message, d.attribute.name) != NULL,
                       "an operator with a graph '%s' that is not there: %s (%.300s)", d.attribute.name,
                       leati_case_status_name(status), err.message);
  }
}

/* The value of an input that is told beforehand, on the host, of the type and shape that are told. */
static void create_constant(leat_case_context *ctx, const void *data) {
  const leati_form form = leati_form_any(ctx);
  leati_form_desc wrong;
  leat_case_tensor value;
  uint8_t *bytes = g_malloc0(1024);
  (void)data;
#define BREAK_CONSTANT(statement)                                            \
  do {                                                                       \
    leati_form_describe(&form, &wrong);                                      \
    leati_case_tensor_host(&value, bytes, form.dtype, form.ndim, form.dims); \
    wrong.info.value = &value.tensor;                                        \
    statement;                                                               \
    DESC_REFUSED();                                                          \
  } while (0)
  BREAK_CONSTANT(value.tensor.device.device_type = kDLVulkan);
  BREAK_CONSTANT(value.tensor.data = NULL);
  BREAK_CONSTANT(value.tensor.byte_offset = UINT64_MAX - (uintptr_t)bytes + 1);
  BREAK_CONSTANT(value.tensor.ndim = -1);
  BREAK_CONSTANT(value.tensor.ndim = LEAT_MAX_RANK + 1);
  BREAK_CONSTANT(value.tensor.shape = NULL);
  BREAK_CONSTANT(value.tensor.dtype.lanes = 2);
  BREAK_CONSTANT(value.tensor.dtype = other_type(form.dtype));
  BREAK_CONSTANT(value.tensor.ndim = 1);
  BREAK_CONSTANT(value.shape[0] += 1);
#undef BREAK_CONSTANT
  g_free(bytes);
}

/* A tensor attribute that is no tensor of one element on the host. */
static void create_tensor_attribute(leat_case_context *ctx, const void *data) {
  leat_device *device = leati_fixture_device(ctx);
  static int64_t rank9[9] = {1, 1, 1, 1, 1, 1, 1, 1, 3};
  static int64_t overflow[4] = {INT64_C(1) << 32, INT64_C(1) << 32, INT64_MAX, 2};
  static int64_t one[1] = {1};
  static float element = 3;
  const DLTensor good = {.data = &element, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = one};
  const leati_form form = leati_form_of_add();
  DLTensor value = good;
  leati_form_desc constant;
  leat_op *op = NULL;
  (void)data;
  leati_form_describe(&form, &constant);
  constant.desc.name = "ConstantOfShape";
  constant.desc.since_version = 9;
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
  leati_subject *s = leati_subject_new(ctx);
  leat_shape shape;
  static const int64_t wrong[][2] = {
      {INT64_MAX, INT64_MAX}, {INT64_MAX, 2}, {INT64_C(1) << 32, INT64_C(1) << 32}, {INT64_MIN, 0}};
  (void)data;
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); ++i) {
    for (uint32_t view = 0; view < s->form.inputs; ++view) {
      memcpy(&s->views[view].shape[s->form.ndim - 2], wrong[i], sizeof(wrong[i]));
    }
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, leati_subject_infer(s, &shape, LEAT_ERR));
  }
  leati_subject_free(s);
}

/* Of an operator that takes any number of inputs, none may be left out. */
static void invoke_variadic(leat_case_context *ctx, const void *data) {
  const leati_form form = leati_form_variadic(ctx);
  leati_subject *s = leati_subject_of(ctx, &form);
  const DLTensor *outputs[1] = {&leati_subject_output(s)->tensor};
  (void)data;
  for (uint32_t absent = 0; absent < form.inputs; ++absent) {
    const DLTensor *inputs[LEATI_FORM_INPUTS];
    for (uint32_t i = 0; i < form.inputs; ++i) {
      inputs[i] = i == absent ? NULL : &s->views[i].tensor;
    }
    LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->op->invoke(s->op, s->stream, form.inputs, inputs, 1, outputs, LEAT_ERR));
  }
  leati_subject_free(s);
}

static void infer_shapes(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  const uint32_t n = s->form.inputs;
  const int32_t last = s->form.ndim - 1;
  const bool add = leati_form_is_add(&s->form);
  leat_shape shape;
  leat_shape *out[1] = {&shape};
  const DLTensor *inputs[LEATI_FORM_INPUTS];
  (void)data;
  for (uint32_t i = 0; i < n; ++i) {
    inputs[i] = &s->views[i].tensor;
  }
  LEAT_CHECK_OK(ctx, leati_subject_infer(s, &shape, LEAT_ERR));
  if (add) {
    LEAT_CHECK_U64(ctx, 2, (uint64_t)shape.ndim);
    LEAT_CHECK_U64(ctx, (uint64_t)s->form.dims[0], (uint64_t)shape.dims[0]);
    LEAT_CHECK_U64(ctx, (uint64_t)s->form.dims[1], (uint64_t)shape.dims[1]);
    LEAT_CHECK_U64(ctx, kDLFloat, shape.dtype.code);
    LEAT_CHECK_U64(ctx, 32, shape.dtype.bits);
  }
  LEAT_CHECK_U64(ctx, 1, shape.dtype.lanes);
  /* Data of device inputs is not read: it may be missing. */
  for (uint32_t i = 0; i < n; ++i) {
    s->views[i].tensor.data = NULL;
  }
  LEAT_CHECK_OK(ctx, leati_subject_infer(s, &shape, LEAT_ERR));
  LEAT_CHECK(ctx, is_same_shape(&shape, &s->shape));
  if (add) {
    s->views[1].shape[0] = 1;
    LEAT_CHECK_OK(ctx, leati_subject_infer(s, &shape, LEAT_ERR));
    LEAT_CHECK(ctx, is_same_shape(&shape, &s->shape));
  }
  leati_subject_reset(s);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(NULL, n, inputs, 1, out, LEAT_ERR));
  for (uint32_t count = 0; count < s->form.info->min_inputs; ++count) {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(s->op, count, inputs, 1, out, LEAT_ERR));
  }
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(s->op, n, NULL, 1, out, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(s->op, n, inputs, 1, NULL, LEAT_ERR));
  shape.struct_size = sizeof(shape) - 8;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(s->op, n, inputs, 1, out, LEAT_ERR));
  shape.struct_size = sizeof(shape);
  if (add) {
    s->views[1].shape[1] += 1;
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(s->op, n, inputs, 1, out, LEAT_ERR));
  }
  s->views[n - 1].shape[last] = -1;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->infer(s->op, n, inputs, 1, out, LEAT_ERR));
  leati_subject_reset(s);
  s->views[0].tensor.ndim = LEAT_MAX_RANK + 1;
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->op->infer(s->op, n, inputs, 1, out, LEAT_ERR));
  leati_subject_free(s);
}

/* ---- The list ---- */

static void list_consistent(leat_case_context *ctx, const void *data) {
  const uint64_t known_types = (LEAT_TYPE_UINT2 << 1) - 1;
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
    LEAT_CHECK_MESSAGE(ctx, info->since_version_min >= 1 && info->since_version_min <= info->since_version_max,
                       "%s: versions %u to %u", info->name, info->since_version_min, info->since_version_max);
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
      LEAT_CHECK_MESSAGE(ctx, attribute->type >= LEAT_ATTRIBUTE_INT && attribute->type <= LEAT_ATTRIBUTE_STRINGS,
                         "%s: attribute %s has type %u", info->name, attribute->name, attribute->type);
    }
    /* An operator of one name and domain has one entry for each version. */
    for (uint32_t k = 0; k < i; ++k) {
      const leat_op_info *other = NULL;
      LEAT_CHECK_OK(ctx, ctx->op->info(k, &other, LEAT_ERR));
      if (strcmp(other->name, info->name) != 0 || strcmp(other->domain, info->domain) != 0) {
        continue;
      }
      LEAT_CHECK_MESSAGE(
          ctx, other->since_version_max < info->since_version_min || info->since_version_max < other->since_version_min,
          "%s: two entries for version %u", info->name, MAX(other->since_version_min, info->since_version_min));
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
  if (count > 0) {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->op->info(0, NULL, LEAT_ERR));
  }
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
    {.name = "arguments.invoke.other_calls_are_refused",
     .summary = "Types, counts and inputs that an operator was not created for are refused in calls of it.",
     .run = invoke_other},
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
    {.name = "arguments.create.graphs_are_refused_by_name",
     .summary = "A graph as an attribute is refused by its name where no bodies are run; other unknown attributes are "
                "ignored.",
     .run = create_graph},
    {.name = "arguments.create.broken_constants_are_refused",
     .summary = "A constant that is not on the host, has no memory or is not what its input is said to be is refused.",
     .run = create_constant},
    {.name = "arguments.infer.impossible_sizes_are_invalid",
     .summary = "Sizes whose product overflows are invalid before any memory is asked for.",
     .run = infer_sizes},
    {.name = "arguments.infer.tells_shapes_and_refuses",
     .summary = "Shapes are inferred without reading device data; wrong inputs are refused.",
     .run = infer_shapes},
    {.name = "arguments.list.is_consistent",
     .summary = "Every entry of the operator list is complete, legal and the only one for its versions.",
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
