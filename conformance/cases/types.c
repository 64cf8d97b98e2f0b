/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about element types that a backend need not hold: floats of 8 bits, and elements below a byte, which are
 * packed. A tensor of such a type is either treated as the ABI says or refused by the type's name, and never read as
 * something else.
 */
#include <string.h>

#include "cases/sources.h"
#include "cases/subject.h"
#include "fixture.h"

/* Elements of a tensor here: an odd number, so that those below a byte do not fill the last one. */
#define COUNT 5
/* Bytes of the memory around it, and where in there it begins. */
#define BYTES 32
#define OFFSET 8

static const struct {
  uint64_t type;
  DLDataType dtype;
  const char *name;
} types[] = {
    {LEAT_TYPE_FLOAT8E4M3FN, {LEAT_DL_FLOAT8_E4M3FN, 8, 1}, "float8e4m3fn"},
    {LEAT_TYPE_FLOAT8E4M3FNUZ, {LEAT_DL_FLOAT8_E4M3FNUZ, 8, 1}, "float8e4m3fnuz"},
    {LEAT_TYPE_FLOAT8E5M2, {LEAT_DL_FLOAT8_E5M2, 8, 1}, "float8e5m2"},
    {LEAT_TYPE_FLOAT8E5M2FNUZ, {LEAT_DL_FLOAT8_E5M2FNUZ, 8, 1}, "float8e5m2fnuz"},
    {LEAT_TYPE_FLOAT8E8M0, {LEAT_DL_FLOAT8_E8M0FNU, 8, 1}, "float8e8m0"},
    {LEAT_TYPE_FLOAT4E2M1, {LEAT_DL_FLOAT4_E2M1FN, 4, 1}, "float4e2m1"},
    {LEAT_TYPE_INT4, {kDLInt, 4, 1}, "int4"},
    {LEAT_TYPE_UINT4, {kDLUInt, 4, 1}, "uint4"},
    {LEAT_TYPE_INT2, {kDLInt, 2, 1}, "int2"},
    {LEAT_TYPE_UINT2, {kDLUInt, 2, 1}, "uint2"},
};

static const int64_t shape[1] = {COUNT};

/* The size that the ABI gives to a tensor of COUNT elements. */
static size_t bytes_of(size_t type) {
  return (COUNT * types[type].dtype.bits + 7u) / 8u;
}

/* Whether the call was taken; a refusal names the type. */
static bool is_taken(leat_case_context *ctx, const char *call, int32_t status, const leat_error *err, size_t type) {
  char *message = g_ascii_strdown(err->message, -1);
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK || status == LEAT_ERROR_NOT_SUPPORTED, "%s of %s returned %s: %.300s", call,
                     types[type].name, leati_case_status_name(status), err->message);
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK || strstr(message, types[type].name) != NULL,
                     "%s of %s is not supported, and the message does not name the type: %.300s", call,
                     types[type].name, err->message);
  g_free(message);
  return status == LEAT_OK;
}

/* Memory with a tensor in the middle of other bytes, on the host and on the device. */
typedef struct {
  leat_stream *stream;
  uint64_t block;
  uint8_t here[BYTES];
  uint8_t there[BYTES];
  uint8_t read[BYTES];
  leat_case_tensor host;
  leat_case_tensor device;
} place;

static void place_begin(leat_case_context *ctx, place *p, DLDataType dtype) {
  memset(p, 0, sizeof(*p));
  p->stream = leati_stream_new(ctx);
  p->block = leati_case_alloc(ctx, BYTES, p->stream);
  leati_pattern(p->here, BYTES, 1);
  leati_pattern(p->there, BYTES, 2);
  leati_upload(ctx, p->stream, p->block, p->there, BYTES);
  leati_case_tensor_host(&p->host, p->here + OFFSET, dtype, 1, shape);
  leati_case_tensor_device(ctx, &p->device, p->block, dtype, 1, shape);
  p->device.tensor.byte_offset = OFFSET;
}

static void place_end(leat_case_context *ctx, place *p) {
  leati_case_free(ctx, p->block);
  leati_stream_destroy(ctx, p->stream);
}

static void copies(leat_case_context *ctx, const void *data) {
  (void)data;
  for (size_t type = 0; type < G_N_ELEMENTS(types); ++type) {
    place p;
    leat_error err = {.struct_size = sizeof(err)};
    place_begin(ctx, &p, types[type].dtype);
    if (is_taken(ctx, "an upload", ctx->memory->copy(p.stream, &p.host.tensor, &p.device.tensor, &err), &err, type)) {
      memcpy(p.there + OFFSET, p.here + OFFSET, bytes_of(type));
    }
    leati_download(ctx, p.stream, p.block, p.read, BYTES);
    leati_synchronize(ctx, p.stream);
    LEAT_CHECK_BYTES(ctx, p.there, p.read, BYTES);
    leati_pattern(p.here, BYTES, 3);
    memcpy(p.read, p.here, BYTES);
    if (is_taken(ctx, "a download", ctx->memory->copy(p.stream, &p.device.tensor, &p.host.tensor, &err), &err, type)) {
      memcpy(p.read + OFFSET, p.there + OFFSET, bytes_of(type));
    }
    leati_synchronize(ctx, p.stream);
    LEAT_CHECK_BYTES(ctx, p.read, p.here, BYTES);
    place_end(ctx, &p);
  }
}

/* A view is as long as its packed elements: one byte less of the block is not enough. */
static void ends(leat_case_context *ctx, const void *data) {
  (void)data;
  for (size_t type = 0; type < G_N_ELEMENTS(types); ++type) {
    place p;
    leat_error err = {.struct_size = sizeof(err)};
    place_begin(ctx, &p, types[type].dtype);
    p.device.tensor.byte_offset = BYTES - bytes_of(type);
    const bool taken =
        is_taken(ctx, "an upload", ctx->memory->copy(p.stream, &p.host.tensor, &p.device.tensor, &err), &err, type);
    p.device.tensor.byte_offset += 1;
    LEAT_CHECK_STATUS(ctx, taken ? LEAT_ERROR_INVALID_ARGUMENT : LEAT_ERROR_NOT_SUPPORTED,
                      ctx->memory->copy(p.stream, &p.host.tensor, &p.device.tensor, LEAT_ERR));
    leati_synchronize(ctx, p.stream);
    place_end(ctx, &p);
  }
}

static void count_deleter(DLManagedTensorVersioned *managed) {
  ++*(gint *)managed->manager_ctx;
}

static void imports(leat_case_context *ctx, const void *data) {
  (void)data;
  for (size_t type = 0; type < 2 * G_N_ELEMENTS(types); ++type) {
    const size_t row = type / 2;
    const bool padded = type % 2 == 1;
    place p;
    leat_error err = {.struct_size = sizeof(err)};
    leat_view view = {.struct_size = sizeof(view)};
    DLManagedTensorVersioned *exported = NULL;
    gint deleted = 0;
    place_begin(ctx, &p, types[row].dtype);
    DLManagedTensorVersioned managed = {.version = {1, 1},
                                        .manager_ctx = &deleted,
                                        .deleter = count_deleter,
                                        .flags = padded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0,
                                        .dl_tensor = p.device.tensor};
    const int32_t status = ctx->memory->import_dlpack(p.stream, &managed, NULL, &view, &err);
    if (padded && types[row].dtype.bits < 8) {
      LEAT_CHECK_MESSAGE(ctx, status == LEAT_ERROR_NOT_SUPPORTED, "a padded tensor of %s was taken as %s",
                         types[row].name, leati_case_status_name(status));
    } else if (is_taken(ctx, "an import", status, &err, row)) {
      LEAT_CHECK(ctx, memcmp(&view.tensor.dtype, &types[row].dtype, sizeof(view.tensor.dtype)) == 0);
      LEAT_CHECK_U64(ctx, COUNT, (uint64_t)view.tensor.shape[0]);
      leati_case_free(ctx, p.block);
    }
    LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK || deleted == 0, "a refused tensor of %s was released", types[row].name);
    if (is_taken(ctx, "an export", ctx->memory->export_dlpack(p.stream, &p.device.tensor, NULL, &exported, &err), &err,
                 row)) {
      LEAT_CHECK(ctx, memcmp(&exported->dl_tensor.dtype, &types[row].dtype, sizeof(view.tensor.dtype)) == 0);
      exported->deleter(exported);
    }
    place_end(ctx, &p);
  }
}

/* ---- Operators ---- */

static bool is_listed(const leat_op_info *info, uint64_t type) {
  uint64_t listed = 0;
  for (uint32_t i = 0; i < info->type_count; ++i) {
    listed |= info->types[i]->types;
  }
  return (listed & type) != 0;
}

/* No operator takes inputs of a type that none of its type constraints lists. */
static void all_operators(leat_case_context *ctx, const void *data) {
  enum { INPUTS = 8 };
  leat_device *device = leati_fixture_device(ctx);
  uint32_t count = 0;
  (void)data;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    LEAT_CHECK_OK(ctx, ctx->op->info(i, &info, LEAT_ERR));
    for (size_t type = 0; type < G_N_ELEMENTS(types); ++type) {
      const leat_value_info value = {.struct_size = sizeof(value), .ndim = -1, .dtype = types[type].dtype};
      const leat_value_info *inputs[INPUTS];
      const leat_op_desc desc = {.struct_size = sizeof(desc),
                                 .since_version = info->since_version_min,
                                 .name = info->name,
                                 .domain = info->domain,
                                 .input_count = MIN(MAX(info->min_inputs, 1), MIN(info->max_inputs, INPUTS)),
                                 .output_count = MAX(info->min_outputs, 1),
                                 .inputs = inputs};
      for (uint32_t k = 0; k < desc.input_count; ++k) {
        inputs[k] = &value;
      }
      if (desc.input_count == 0 || is_listed(info, types[type].type)) {
        continue;
      }
      const int32_t status = ctx->op->supports(device, &desc, NULL);
      LEAT_CHECK_MESSAGE(ctx, status == LEAT_ERROR_NOT_SUPPORTED || status == LEAT_ERROR_INVALID_ARGUMENT,
                         "%s does not list %s, and supports() returned %s", info->name, types[type].name,
                         leati_case_status_name(status));
    }
  }
}

/* Of a call that is right but for the type. */
static void one_operator(leat_case_context *ctx, const void *data) {
  leati_subject *s = leati_subject_new(ctx);
  (void)data;
  for (size_t type = 0; type < G_N_ELEMENTS(types); ++type) {
    leat_error err = {.struct_size = sizeof(err)};
    leati_form_desc d;
    if (is_listed(s->form.info, types[type].type)) {
      continue;
    }
    leati_form_describe(&s->form, &d);
    d.info.dtype = types[type].dtype;
    LEAT_CHECK_MESSAGE(
        ctx, !is_taken(ctx, "supports()", ctx->op->supports(leati_fixture_device(ctx), &d.desc, &err), &err, type),
        "%s does not list %s, and supports() takes it", s->form.info->name, types[type].name);
    for (uint32_t view = 0; view <= s->form.inputs; ++view) {
      s->views[view].tensor.dtype = types[type].dtype;
    }
    LEAT_CHECK_MESSAGE(ctx, !is_taken(ctx, "invoke()", leati_subject_invoke(s, &err), &err, type),
                       "%s does not list %s, and invoke() takes it", s->form.info->name, types[type].name);
    leati_subject_reset(s);
  }
  leati_subject_free(s);
}

static const leat_case cases[] = {
    {.name = "types.copy.packed_bytes_move_or_the_type_is_named",
     .summary = "A copy of float8 or of packed elements moves just their bytes, or is refused by the type's name.",
     .run = copies},
    {.name = "types.copy.packed_views_end_with_their_block",
     .summary = "A view of packed elements may reach to the end of its block, and no further.",
     .run = ends},
    {.name = "types.dlpack.packed_is_taken_or_the_type_is_named",
     .summary = "Such tensors are exchanged as they are, or refused by the type's name; padded ones are not supported.",
     .run = imports},
    {.name = "types.operators.unlisted_types_are_refused",
     .summary = "supports() of every operator refuses types that its entry does not list.",
     .run = all_operators},
    {.name = "types.operators.unlisted_types_are_named",
     .summary = "A call that is right but for such a type is refused by the type's name, and leaves no trace.",
     .run = one_operator},
};

void leati_cases_types(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
