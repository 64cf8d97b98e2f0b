/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases/subject.h"

#include <string.h>

/* Shapes and types that are tried, the usual ones first. An operator that takes none of them is not taken. */
static const struct {
  int32_t ndim;
  int64_t dims[4];
} shapes[] = {{2, {4, 6}}, {2, {4, 4}}, {3, {2, 4, 6}}, {4, {1, 2, 4, 6}}};
static const DLDataType dtypes[] = {{kDLFloat, 32, 1},   {kDLFloat, 16, 1}, {kDLBfloat, 16, 1}, {kDLFloat, 64, 1},
                                    {kDLInt, 32, 1},     {kDLInt, 64, 1},   {kDLInt, 8, 1},     {kDLUInt, 8, 1},
                                    {kDLInt, 16, 1},     {kDLUInt, 16, 1},  {kDLUInt, 32, 1},   {kDLUInt, 64, 1},
                                    {LEAT_DL_BOOL, 8, 1}};

static uint64_t bytes_of(DLDataType dtype, int32_t ndim, const int64_t *dims) {
  uint64_t bytes = dtype.bits / 8u;
  for (int32_t d = 0; d < ndim; ++d) {
    bytes *= (uint64_t)dims[d];
  }
  return bytes;
}

/* Writes the number `value` as an element, or where a type has not the room one that depends on it. Integers are from 1
 * to 3: no division by zero, and mostly in range if they are taken for indices. */
static void store(DLDataType dtype, uint32_t value, uint8_t *to) {
  const float f = (float)value;
  const double d = value;
  const uint16_t half = (uint16_t)(0x3c00 + value);
  const uint64_t whole = dtype.code == LEAT_DL_BOOL ? value & 1 : 1 + value % 3;
  if (dtype.code == kDLFloat && dtype.bits == 32) {
    memcpy(to, &f, sizeof(f));
  } else if (dtype.code == kDLFloat && dtype.bits == 64) {
    memcpy(to, &d, sizeof(d));
  } else if (dtype.bits == 16 && (dtype.code == kDLFloat || dtype.code == kDLBfloat)) {
    memcpy(to, &half, sizeof(half));
  } else {
    for (int byte = 0; byte < dtype.bits / 8; ++byte) {
      to[byte] = (uint8_t)(whole >> (8 * byte));
    }
  }
}

/* ---- Forms ------------------------------------------------------------------------------------------------------ */

leati_form leati_form_of_add(void) {
  static const leat_op_info add = {.struct_size = sizeof(add), .name = "Add", .domain = "", .min_inputs = 2};
  return (leati_form){
      .info = &add, .since_version = 14, .inputs = 2, .dtype = dtypes[0], .ndim = shapes[0].ndim, .dims = {4, 6}};
}

bool leati_form_is_add(const leati_form *form) {
  return strcmp(form->info->name, "Add") == 0 && form->info->domain[0] == '\0' && form->inputs == 2 &&
         form->dtype.code == kDLFloat && form->dtype.bits == 32;
}

void leati_form_describe(const leati_form *form, leati_form_desc *out) {
  memset(out, 0, sizeof(*out));
  memcpy(out->dims, form->dims, sizeof(out->dims));
  out->info =
      (leat_value_info){.struct_size = sizeof(out->info), .ndim = form->ndim, .dtype = form->dtype, .shape = out->dims};
  for (uint32_t i = 0; i < form->inputs; ++i) {
    out->infos[i] = &out->info;
  }
  /* Unknown attributes are ignored, so that this one is right for any operator. */
  out->attribute = (leat_attribute){
      .struct_size = sizeof(out->attribute), .type = LEAT_ATTRIBUTE_INT, .name = "leat_conformance", .i = 1};
  out->attributes[0] = &out->attribute;
  out->desc = (leat_op_desc){.struct_size = sizeof(out->desc),
                             .since_version = form->since_version,
                             .name = form->info->name,
                             .domain = form->info->domain,
                             .attribute_count = 1,
                             .input_count = form->inputs,
                             .output_count = 1,
                             .attributes = out->attributes,
                             .inputs = out->infos};
}

static leati_subject *make(leat_case_context *ctx, const leati_form *form);
static int32_t run(leati_subject *s, uint8_t *out);
static void end(leati_subject *s);

/* Whether the form can be called with such numbers, and gives the same when called again: an operator may draw random
 * ones, and what is wrong with numbers is told where guarding is on. */
static bool repeats(leat_case_context *ctx, const leati_form *form) {
  leati_subject *s = make(ctx, form);
  if (s == NULL) {
    return false;
  }
  uint8_t *again = g_malloc0(s->sizes[form->inputs]);
  const bool same = run(s, s->expected) == LEAT_OK && run(s, again) == LEAT_OK &&
                    memcmp(s->expected, again, s->sizes[form->inputs]) == 0;
  g_free(again);
  end(s);
  return same;
}

/* Whether what comes out is of the type and shape of what goes in. */
static bool keeps_shape(leat_case_context *ctx, const leati_form *form) {
  leati_subject *s = make(ctx, form);
  const bool same = s != NULL && memcmp(&s->shape.dtype, &form->dtype, sizeof(form->dtype)) == 0 &&
                    s->shape.ndim == form->ndim &&
                    memcmp(s->shape.dims, form->dims, (size_t)form->ndim * sizeof(form->dims[0])) == 0;
  if (s != NULL) {
    end(s);
  }
  return same;
}

static bool is_exact(leat_case_context *ctx, const leati_form *form) {
  const bool whole = form->dtype.code == kDLInt || form->dtype.code == kDLUInt || form->dtype.code == LEAT_DL_BOOL;
  return (whole || leati_form_is_add(form)) && keeps_shape(ctx, form);
}

static bool find_form(leat_case_context *ctx, const leat_op_info *info, uint32_t inputs, bool exact, leati_form *out) {
  if (inputs > LEATI_FORM_INPUTS || (info->host_inputs & ((UINT64_C(1) << inputs) - 1)) != 0 ||
      (info->host_outputs & 1) != 0 || info->min_outputs != 1) {
    return false;
  }
  *out = (leati_form){
      .info = info,
      .since_version = info->since_version_max == UINT32_MAX ? info->since_version_min : info->since_version_max,
      .inputs = inputs};
  for (size_t shape = 0; shape < G_N_ELEMENTS(shapes); ++shape) {
    for (size_t type = 0; type < G_N_ELEMENTS(dtypes); ++type) {
      leati_form_desc d;
      out->dtype = dtypes[type];
      out->ndim = shapes[shape].ndim;
      memcpy(out->dims, shapes[shape].dims, sizeof(out->dims));
      leati_form_describe(out, &d);
      if (ctx->op->supports(leati_fixture_device(ctx), &d.desc, NULL) == LEAT_OK && (!exact || is_exact(ctx, out)) &&
          repeats(ctx, out)) {
        return true;
      }
    }
  }
  return false;
}

bool leati_form_of(leat_case_context *ctx, const leat_op_info *info, leati_form *out) {
  return find_form(ctx, info, MAX(info->min_inputs, 1), false, out);
}

/* The first form in the list, but for the named operator's, which comes before all others. */
static leati_form first_form(leat_case_context *ctx, const char *first, bool variadic, bool exact) {
  uint32_t count = 0;
  leati_form form;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (int named = 1; named >= 0; --named) {
    for (uint32_t i = 0; i < count; ++i) {
      const leat_op_info *info = NULL;
      LEAT_CHECK_OK(ctx, ctx->op->info(i, &info, LEAT_ERR));
      if ((strcmp(info->name, first) == 0) == (named != 0) && (!variadic || info->max_inputs == LEAT_VARIADIC) &&
          find_form(ctx, info, variadic ? 3 : MAX(info->min_inputs, 1), exact, &form)) {
        return form;
      }
    }
  }
  if (exact) {
    leati_case_lack(ctx, "any exact operator",
                    "the operator list has neither Add of float32 nor one that takes and gives integers of one shape");
  }
  leati_case_lack(ctx, variadic ? "any operator of many inputs" : "any operator",
                  "the operator list has none that takes %sdevice tensors of one shape and type and no attributes",
                  variadic ? "any number of " : "");
}

leati_form leati_form_any(leat_case_context *ctx) {
  /* The list is a constant of the backend; looking through it takes a while where there is no Add. */
  static leati_form found;
  if (found.info == NULL) {
    found = first_form(ctx, "Add", false, false);
  }
  return found;
}

leati_form leati_form_exact(leat_case_context *ctx) {
  static leati_form found;
  if (found.info == NULL) {
    found = first_form(ctx, "Add", false, true);
  }
  return found;
}

leati_form leati_form_variadic(leat_case_context *ctx) {
  return first_form(ctx, "Max", true, false);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

leat_case_tensor *leati_subject_output(leati_subject *s) {
  return &s->views[s->form.inputs];
}

void leati_subject_reset(leati_subject *s) {
  for (uint32_t i = 0; i < s->form.inputs; ++i) {
    leati_case_tensor_device(s->ctx, &s->views[i], s->block + s->starts[i], s->form.dtype, s->form.ndim, s->form.dims);
  }
  leati_case_tensor_device(s->ctx, leati_subject_output(s), s->block + s->starts[s->form.inputs], s->shape.dtype,
                           s->shape.ndim, s->shape.dims);
}

int32_t leati_subject_infer(leati_subject *s, leat_shape *out, leat_error *err) {
  const DLTensor *inputs[LEATI_FORM_INPUTS];
  *out = (leat_shape){.struct_size = sizeof(*out)};
  for (uint32_t i = 0; i < s->form.inputs; ++i) {
    inputs[i] = &s->views[i].tensor;
  }
  return s->ctx->op->infer(s->op, s->form.inputs, inputs, 1, &out, err);
}

int32_t leati_subject_invoke(leati_subject *s, leat_error *err) {
  const DLTensor *inputs[LEATI_FORM_INPUTS];
  const DLTensor *outputs[1] = {&leati_subject_output(s)->tensor};
  for (uint32_t i = 0; i < s->form.inputs; ++i) {
    inputs[i] = &s->views[i].tensor;
  }
  return s->ctx->op->invoke(s->op, s->stream, s->form.inputs, inputs, 1, outputs, err);
}

/* NULL: the output cannot be told beforehand, or has no bytes. */
static leati_subject *make(leat_case_context *ctx, const leati_form *form) {
  leati_subject *s = g_new0(leati_subject, 1);
  const uint32_t n = form->inputs;
  leati_form_desc d;
  s->ctx = ctx;
  s->form = *form;
  leati_form_describe(form, &d);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &d.desc, &s->op, LEAT_ERR));
  /* No address yet: infer() reads no data of device inputs. */
  for (uint32_t i = 0; i < n; ++i) {
    leati_case_tensor_device(ctx, &s->views[i], 0, form->dtype, form->ndim, form->dims);
  }
  const int32_t status = leati_subject_infer(s, &s->shape, NULL);
  const uint64_t out = status == LEAT_OK ? bytes_of(s->shape.dtype, s->shape.ndim, s->shape.dims) : 0;
  if (out == 0) {
    leati_op_destroy(ctx, s->op);
    g_free(s);
    return NULL;
  }
  s->item = form->dtype.bits / 8u;
  for (uint32_t i = 0; i <= n; ++i) {
    s->starts[i] = s->size;
    s->sizes[i] = i < n ? bytes_of(form->dtype, form->ndim, form->dims) : out;
    s->size += s->sizes[i];
  }
  s->stream = leati_stream_new(ctx);
  s->block = leati_case_alloc(ctx, s->size, s->stream);
  s->expected = g_malloc0(out);
  uint8_t *numbers = g_malloc0(s->starts[n]);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t k = 0; k < s->sizes[i] / s->item; ++k) {
      store(form->dtype, 1000 * i + k, numbers + s->starts[i] + k * s->item);
    }
  }
  leati_upload(ctx, s->stream, s->block, numbers, s->starts[n]);
  g_free(numbers);
  leati_subject_reset(s);
  return s;
}

static void end(leati_subject *s) {
  leati_case_free(s->ctx, s->block);
  leati_stream_destroy(s->ctx, s->stream);
  leati_op_destroy(s->ctx, s->op);
  g_free(s->expected);
  g_free(s);
}

/* Runs it over an output of other bytes and gives what came out; the status is that of the work. */
static int32_t run(leati_subject *s, uint8_t *out) {
  const uint32_t n = s->form.inputs;
  const uint64_t address = s->block + s->starts[n];
  memset(out, 0x5B, s->sizes[n]);
  leati_upload(s->ctx, s->stream, address, out, s->sizes[n]);
  LEAT_CHECK_OK(s->ctx, leati_subject_invoke(s, LEAT_ERR));
  leati_download(s->ctx, s->stream, address, out, s->sizes[n]);
  return s->ctx->stream->synchronize(s->stream, LEAT_ERR);
}

leati_subject *leati_subject_new(leat_case_context *ctx) {
  const leati_form form = leati_form_any(ctx);
  return leati_subject_of(ctx, &form);
}

leati_subject *leati_subject_of(leat_case_context *ctx, const leati_form *form) {
  leati_subject *s = make(ctx, form);
  if (leati_form_is_add(form)) {
    for (uint32_t k = 0; k < s->sizes[2] / sizeof(float); ++k) {
      store(form->dtype, 1000 + 2 * k, s->expected + k * sizeof(float));
    }
  } else {
    LEAT_CHECK_OK(ctx, run(s, s->expected));
  }
  return s;
}

void leati_subject_free(leati_subject *s) {
  leat_case_context *ctx = s->ctx;
  const uint64_t size = s->sizes[s->form.inputs];
  uint8_t *after_the_refusals = g_malloc(size);
  leati_subject_reset(s);
  LEAT_CHECK_OK(ctx, ctx->stream->error(s->stream, LEAT_ERR));
  LEAT_CHECK_OK(ctx, run(s, after_the_refusals));
  LEAT_CHECK_BYTES(ctx, s->expected, after_the_refusals, size);
  g_free(after_the_refusals);
  end(s);
}
