/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/kinds.h"

#include <string.h>

#include "fault.h"

enum { RANK_MAX = 4, INPUTS_MAX = 6, OUTPUTS_MAX = 3, ATTRIBUTES_MAX = 2 };

typedef enum contents {
  CONTENTS_NUMBERS,  /* float32, from 0 to 1 */
  CONTENTS_DOMINANT, /* float32, of each last two dimensions: the same, and a larger number on the diagonal */
  CONTENTS_PLACES,   /* int32: 1, 2... along the last dimension */
  CONTENTS_INDICES,  /* int64: 0, 5, 10... modulo 64 */
  CONTENTS_STEP,     /* int64: 3 */
} contents;

typedef struct input {
  contents contents;
  gint32 rank;
  gint64 dims[RANK_MAX];
  gboolean transposed; /* its last two dimensions lie the other way round */
} input;

struct leati_bench_kind {
  const char *name, *domain, *op;
  guint since_version, input_count, output_count, attribute_count;
  input inputs[INPUTS_MAX];
  leat_attribute attributes[ATTRIBUTES_MAX];
};

#define NUMBERS(...)                                                                                                \
  {                                                                                                                 \
    .contents = CONTENTS_NUMBERS, .rank = sizeof((gint64[]){__VA_ARGS__}) / sizeof(gint64), .dims = { __VA_ARGS__ } \
  }
#define TRANSPOSED(...)                                                                                            \
  {                                                                                                                \
    .contents = CONTENTS_NUMBERS, .rank = sizeof((gint64[]){__VA_ARGS__}) / sizeof(gint64), .dims = {__VA_ARGS__}, \
    .transposed = TRUE                                                                                             \
  }
#define MATRIX(n)                                              \
  {                                                            \
    .contents = CONTENTS_DOMINANT, .rank = 2, .dims = { n, n } \
  }
#define INT_OF(of, value) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = of, .i = value }

static const gint64 normals_shape[] = {65536};

/* The first three are what the project that Leat follows measured from many threads. */
static const leati_bench_kind kinds[] = {
    {.name = "linear 64x512x512",
     .op = "Gemm",
     .since_version = 13,
     .input_count = 3,
     .output_count = 1,
     .inputs = {NUMBERS(64, 512), NUMBERS(512, 512), NUMBERS(512)}},
    {.name = "layer norm 64x512",
     .op = "LayerNormalization",
     .since_version = 17,
     .input_count = 3,
     .output_count = 1,
     .inputs = {NUMBERS(64, 512), NUMBERS(512), NUMBERS(512)}},
    {.name = "batched product, strided 8x64x64x64",
     .op = "MatMul",
     .since_version = 13,
     .input_count = 2,
     .output_count = 1,
     .inputs = {NUMBERS(8, 64, 64), TRANSPOSED(8, 64, 64)}},
    {.name = "attention 8x64x64",
     .op = "Attention",
     .since_version = 23,
     .input_count = 3,
     .output_count = 1,
     .inputs = {NUMBERS(1, 8, 64, 64), NUMBERS(1, 8, 64, 64), NUMBERS(1, 8, 64, 64)}},
    {.name = "convolution 16x32x32, 3x3",
     .op = "Conv",
     .since_version = 11,
     .input_count = 2,
     .output_count = 1,
     .inputs = {NUMBERS(1, 16, 32, 32), NUMBERS(16, 16, 3, 3)}},
    {.name = "LU 128x128",
     .domain = "leat",
     .op = "LU",
     .since_version = 1,
     .input_count = 1,
     .output_count = 3,
     .inputs = {MATRIX(128)}},
    {.name = "LU solve 128x128",
     .domain = "leat",
     .op = "LUSolve",
     .since_version = 1,
     .input_count = 3,
     .output_count = 2,
     .inputs = {MATRIX(128), {.contents = CONTENTS_PLACES, .rank = 1, .dims = {128}}, NUMBERS(128, 16)}},
    {.name = "triangular solve 128x128",
     .domain = "leat",
     .op = "TriangularSolve",
     .since_version = 1,
     .input_count = 2,
     .output_count = 2,
     .inputs = {MATRIX(128), NUMBERS(128, 16)}},
    {.name = "Cholesky 128x128",
     .domain = "leat",
     .op = "Cholesky",
     .since_version = 1,
     .input_count = 1,
     .output_count = 2,
     .inputs = {MATRIX(128)}},
    {.name = "inverse 64x64",
     .domain = "com.microsoft",
     .op = "Inverse",
     .since_version = 1,
     .input_count = 1,
     .output_count = 1,
     .inputs = {MATRIX(64)}},
    {.name = "normal numbers 65,536",
     .domain = "leat",
     .op = "RandomNormal",
     .since_version = 1,
     .output_count = 1,
     .attribute_count = 2,
     .attributes = {INT_OF("seed", 7),
                    {.struct_size = sizeof(leat_attribute),
                     .type = LEAT_ATTRIBUTE_INTS,
                     .name = "shape",
                     .count = 1,
                     .ints = normals_shape}}},
    {.name = "scatter 64x512",
     .op = "ScatterElements",
     .since_version = 18,
     .input_count = 3,
     .output_count = 1,
     .inputs = {NUMBERS(64, 512), {.contents = CONTENTS_INDICES, .rank = 2, .dims = {1, 512}}, NUMBERS(1, 512)}},
    {.name = "Adam, 256 Ki elements",
     .domain = "leat",
     .op = "ForeachAdam",
     .since_version = 1,
     .input_count = 6,
     .output_count = 3,
     .inputs = {{.contents = CONTENTS_NUMBERS},
                {.contents = CONTENTS_STEP},
                NUMBERS(512, 512),
                NUMBERS(512, 512),
                NUMBERS(512, 512),
                NUMBERS(512, 512)}},
};

guint leati_bench_kind_count(void) {
  return G_N_ELEMENTS(kinds);
}

const leati_bench_kind *leati_bench_kind_at(guint index) {
  return &kinds[index];
}

const char *leati_bench_kind_name(const leati_bench_kind *kind) {
  return kind->name;
}

void leati_bench_kind_work_init(leati_bench_kind_work *out, const leati_rig *rig, const leati_bench_kind *kind) {
  *out = (leati_bench_kind_work){.rig = rig, .kind = kind};
  g_mutex_init(&out->mutex);
}

void leati_bench_kind_work_clear(leati_bench_kind_work *work) {
  g_mutex_clear(&work->mutex);
  g_clear_pointer(&work->result, g_bytes_unref);
}

/* ---- A thread's operands ----------------------------------------------------------------------------------------- */

typedef struct operand {
  DLTensor view;
  gint64 dims[RANK_MAX], strides[RANK_MAX];
} operand;

typedef struct state {
  leati_bench_kind_work *work;
  leat_stream *stream;
  leat_op *op;
  operand inputs[INPUTS_MAX], outputs[OUTPUTS_MAX];
  guint8 *bytes; /* of all outputs, one behind the other: as long-lived as the stream */
  gsize size;
} state;

static DLDataType type_of(contents c) {
  return c == CONTENTS_PLACES                          ? (DLDataType){kDLInt, 32, 1}
         : c == CONTENTS_INDICES || c == CONTENTS_STEP ? (DLDataType){kDLInt, 64, 1}
                                                       : (DLDataType){kDLFloat, 32, 1};
}

static gint64 elements_of(const DLTensor *view) {
  gint64 count = 1;
  for (gint32 d = 0; d < view->ndim; ++d) {
    count *= view->shape[d];
  }
  return count;
}

static gsize bytes_of(const DLTensor *view) {
  return (gsize)elements_of(view) * (view->dtype.bits / 8u);
}

/* Copies between an operand, as if it were one row, and host memory. */
static gboolean copy(const state *s, const operand *o, void *host, gboolean to_device, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  gint64 count = elements_of(&o->view);
  DLTensor device = o->view, memory = {.data = host, .device = {kDLCPU, 0}, .ndim = 1, .dtype = o->view.dtype};
  device.ndim = 1;
  device.shape = memory.shape = &count;
  device.strides = NULL;
  const int32_t status =
      s->work->rig->api->memory->copy(s->stream, to_device ? &memory : &device, to_device ? &device : &memory, &err);
  return leati_rig_ok(status, &err, "copy", error);
}

static gboolean synchronize(const state *s, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  return leati_rig_ok(s->work->rig->api->stream->synchronize(s->stream, &err), &err, "synchronize", error);
}

static gboolean make_operand(const state *s, DLDataType type, gint32 rank, const gint64 *dims, operand *out,
                             GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  uint64_t address = 0;
  const leati_rig *rig = s->work->rig;
  memcpy(out->dims, dims, (gsize)rank * sizeof(*dims));
  out->view =
      (DLTensor){.device = {kDLVulkan, (int32_t)rig->info.index}, .ndim = rank, .dtype = type, .shape = out->dims};
  if (!leati_rig_ok(rig->api->memory->alloc(rig->device, bytes_of(&out->view), s->stream, &address, &err), &err,
                    "alloc", error)) {
    return FALSE;
  }
  out->view.data = (void *)(uintptr_t)address;
  return TRUE;
}

static void transpose(operand *o) {
  const gint32 last = o->view.ndim - 1;
  gint64 stride = 1;
  for (gint32 d = last; d >= 0; stride *= o->dims[d--]) {
    o->strides[d] = stride;
  }
  o->strides[last] = o->dims[last - 1];
  o->strides[last - 1] = 1;
  o->view.strides = o->strides;
}

/* The same numbers in each thread. */
static gboolean fill(const state *s, const input *in, guint index, operand *o, GError **error) {
  const gint64 count = elements_of(&o->view), last = in->rank > 0 ? in->dims[in->rank - 1] : 1;
  g_autofree void *values = g_malloc0(bytes_of(&o->view));
  GRand *const random = g_rand_new_with_seed(index);
  for (gint64 e = 0; e < count; ++e) {
    if (in->contents == CONTENTS_PLACES) {
      ((gint32 *)values)[e] = (gint32)(e % last) + 1;
    } else if (in->contents == CONTENTS_INDICES || in->contents == CONTENTS_STEP) {
      ((gint64 *)values)[e] = in->contents == CONTENTS_STEP ? 3 : e * 5 % 64;
    } else {
      const gboolean diagonal = in->contents == CONTENTS_DOMINANT && e / last % last == e % last;
      ((float *)values)[e] = diagonal ? (float)last : (float)g_rand_double(random);
    }
  }
  g_rand_free(random);
  return copy(s, o, values, TRUE, error) && synchronize(s, error);
}

static gboolean make_inputs(state *s, GError **error) {
  for (guint i = 0; i < s->work->kind->input_count; ++i) {
    const input *in = &s->work->kind->inputs[i];
    if (!make_operand(s, type_of(in->contents), in->rank, in->dims, &s->inputs[i], error) ||
        !fill(s, in, i, &s->inputs[i], error)) {
      return FALSE;
    }
    if (in->transposed) {
      transpose(&s->inputs[i]);
    }
  }
  return TRUE;
}

static void views_of(state *s, const DLTensor **inputs, const DLTensor **outputs) {
  for (guint i = 0; i < INPUTS_MAX; ++i) {
    inputs[i] = &s->inputs[i].view;
  }
  for (guint o = 0; o < OUTPUTS_MAX; ++o) {
    outputs[o] = &s->outputs[o].view;
  }
}

static gboolean make_op(state *s, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const leati_bench_kind *kind = s->work->kind;
  leat_value_info infos[INPUTS_MAX];
  const leat_value_info *info_list[INPUTS_MAX];
  const leat_attribute *attributes[ATTRIBUTES_MAX];
  for (guint i = 0; i < kind->input_count; ++i) {
    const DLTensor *view = &s->inputs[i].view;
    infos[i] = (leat_value_info){
        .struct_size = sizeof(infos[i]), .ndim = view->ndim, .dtype = view->dtype, .shape = view->shape};
    info_list[i] = &infos[i];
  }
  for (guint a = 0; a < kind->attribute_count; ++a) {
    attributes[a] = &kind->attributes[a];
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = kind->since_version,
                             .domain = kind->domain,
                             .name = kind->op,
                             .attribute_count = kind->attribute_count,
                             .attributes = attributes,
                             .input_count = kind->input_count,
                             .inputs = info_list,
                             .output_count = kind->output_count};
  return leati_rig_ok(s->work->rig->api->op->create(s->work->rig->device, &desc, &s->op, &err), &err, kind->op, error);
}

static gboolean make_outputs(state *s, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const leati_bench_kind *kind = s->work->kind;
  const DLTensor *inputs[INPUTS_MAX], *outputs[OUTPUTS_MAX];
  leat_shape shapes[OUTPUTS_MAX], *shape_list[OUTPUTS_MAX];
  for (guint o = 0; o < kind->output_count; ++o) {
    shapes[o].struct_size = sizeof(shapes[o]);
    shape_list[o] = &shapes[o];
  }
  views_of(s, inputs, outputs);
  if (!leati_rig_ok(
          s->work->rig->api->op->infer(s->op, kind->input_count, inputs, kind->output_count, shape_list, &err), &err,
          "infer", error)) {
    return FALSE;
  }
  for (guint o = 0; o < kind->output_count; ++o) {
    if (!make_operand(s, shapes[o].dtype, shapes[o].ndim, shapes[o].dims, &s->outputs[o], error)) {
      return FALSE;
    }
    s->size += bytes_of(&s->outputs[o].view);
  }
  s->bytes = g_malloc(s->size);
  return TRUE;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static gboolean kind_run(gpointer data, GError **error) {
  state *s = data;
  const leati_bench_kind *kind = s->work->kind;
  leat_error err = LEATI_RIG_ERROR;
  const DLTensor *inputs[INPUTS_MAX], *outputs[OUTPUTS_MAX];
  views_of(s, inputs, outputs);
  return leati_rig_ok(s->work->rig->api->op->invoke(s->op, s->stream, kind->input_count, inputs, kind->output_count,
                                                    outputs, &err),
                      &err, "invoke", error) &&
         synchronize(s, error);
}

/* Copies all outputs to or from `bytes`, and waits. */
static gboolean copy_outputs(state *s, gboolean to_device, GError **error) {
  gsize place = 0;
  for (guint o = 0; o < s->work->kind->output_count; ++o) {
    if (!copy(s, &s->outputs[o], s->bytes + place, to_device, error)) {
      return FALSE;
    }
    place += bytes_of(&s->outputs[o].view);
  }
  return synchronize(s, error);
}

/* A call over outputs that hold @p before, and what it wrote beside the first result of all threads. */
static gboolean check(state *s, guint8 before, GError **error) {
  memset(s->bytes, before, s->size);
  if (!copy_outputs(s, TRUE, error) || !kind_run(s, error) || !copy_outputs(s, FALSE, error)) {
    return FALSE;
  }
  leati_bench_kind_work *work = s->work;
  g_mutex_lock(&work->mutex);
  if (work->result == NULL) {
    work->result = g_bytes_new(s->bytes, s->size);
  }
  const gboolean same = memcmp(g_bytes_get_data(work->result, NULL), s->bytes, s->size) == 0;
  g_mutex_unlock(&work->mutex);
  if (!same) {
    LEATI_FAULT_SET(error, "wrong result: not the bits of the first call");
  }
  return same;
}

static void state_free(state *s) {
  const leat_backend_api *api = s->work->rig->api;
  if (s->stream != NULL) {
    (void)synchronize(s, NULL);
  }
  for (guint i = 0; i < INPUTS_MAX; ++i) {
    (void)api->memory->free(s->work->rig->device, (uint64_t)(uintptr_t)s->inputs[i].view.data, NULL);
  }
  for (guint o = 0; o < OUTPUTS_MAX; ++o) {
    (void)api->memory->free(s->work->rig->device, (uint64_t)(uintptr_t)s->outputs[o].view.data, NULL);
  }
  (void)api->op->destroy(s->op, NULL);
  (void)api->stream->destroy(s->stream, NULL);
  g_free(s->bytes);
  g_free(s);
}

static gpointer kind_begin(gpointer context, guint thread, GError **error) {
  state *s = g_new0(state, 1);
  leat_error err = LEATI_RIG_ERROR;
  (void)thread;
  s->work = context;
  const leati_rig *rig = s->work->rig;
  if (!leati_rig_ok(rig->api->stream->create(rig->device, 0, &s->stream, &err), &err, "stream create", error) ||
      !make_inputs(s, error) || !make_op(s, error) || !make_outputs(s, error) || !check(s, 0xA5, error)) {
    state_free(s);
    return NULL;
  }
  return s;
}

static gboolean kind_end(gpointer data, gboolean well, GError **error) {
  const gboolean right = !well || check(data, 0x5A, error);
  state_free(data);
  return right;
}

const leati_task leati_bench_kind_task = {kind_begin, kind_run, kind_end};
