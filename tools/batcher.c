/* SPDX-License-Identifier: BSD-3-Clause */
#include "batcher.h"

#include <string.h>

#include "fault.h"

struct leati_batcher {
  const leati_ort *ort;
  const leati_model *model;
  leat_batch_queue *queue;
  int64_t crop; /* rows of a request, or 0: as many as the set has */
};

/* What a batch's outputs point to until the queue has copied them. */
typedef struct product {
  leati_batcher *batcher;
  OrtValue **values;
  leati_ndarray *views;
} product;

static DLDataType to_dlpack(leati_element element) {
  const uint8_t bits = (uint8_t)(8 * leati_element_size(element));
  switch (element) {
    case LEATI_FLOAT32:
    case LEATI_FLOAT64:
    case LEATI_FLOAT16:
      return (DLDataType){kDLFloat, bits, 1};
    case LEATI_BFLOAT16:
      return (DLDataType){kDLBfloat, bits, 1};
    case LEATI_BOOL:
      return (DLDataType){LEAT_DL_BOOL, bits, 1};
    case LEATI_UINT8:
    case LEATI_UINT16:
    case LEATI_UINT32:
    case LEATI_UINT64:
      return (DLDataType){kDLUInt, bits, 1};
    default:
      return (DLDataType){kDLInt, bits, 1};
  }
}

/* The tensor shares the array's sizes and data. */
static DLTensor to_tensor(leati_ndarray *array) {
  return (DLTensor){.data = array->data,
                    .device = {kDLCPU, 0},
                    .ndim = (int32_t)array->rank,
                    .dtype = to_dlpack(array->element),
                    .shape = array->dims};
}

/* ---- The queue's side -------------------------------------------------------------------------------------------- */

static void release(void *user, void *owner) {
  (void)user;
  product *made = owner;
  leati_values_free(made->batcher->ort, made->values, made->batcher->model->output_count);
  g_free(made->values);
  g_free(made->views);
  g_free(made);
}

static int32_t fail(leat_error *err, GError *error) {
  g_strlcpy(err->message, error->message, sizeof(err->message));
  g_error_free(error);
  return LEAT_ERROR_INTERNAL;
}

/* Makes ONNX Runtime's views of a batch's inputs; those before the one that failed stay the caller's to free. */
static gboolean wrap_inputs(const leati_batcher *batcher, const leat_batch_call *call, OrtValue **values,
                            GError **error) {
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const DLTensor *tensor = call->inputs[i];
    leati_ndarray view;
    if (!leati_ndarray_wrap(batcher->model->inputs[i].element, (size_t)tensor->ndim, tensor->shape, tensor->data, &view,
                            error)) {
      return FALSE;
    }
    values[i] = leati_value_new(batcher->ort, &view, error);
    if (values[i] == NULL) {
      return FALSE;
    }
  }
  return TRUE;
}

static int32_t run(void *user, leat_batch_call *call, leat_error *err) {
  leati_batcher *batcher = user;
  const leati_model *model = batcher->model;
  OrtSession *session = model->sessions[call->worker % model->session_count];
  OrtValue **inputs = g_new0(OrtValue *, call->input_count);
  product *made = g_new0(product, 1);
  made->batcher = batcher;
  made->values = g_new0(OrtValue *, call->output_count);
  made->views = g_new0(leati_ndarray, call->output_count);
  GError *error = NULL;
  gboolean right =
      wrap_inputs(batcher, call, inputs, &error) &&
      leati_ort_ok(batcher->ort, leati_model_run(batcher->ort, model, session, inputs, made->values), &error);
  for (uint32_t i = 0; right && i < call->output_count; ++i) {
    right = leati_value_view(batcher->ort, made->values[i], &made->views[i], &error);
    if (right) {
      call->outputs[i] = to_tensor(&made->views[i]);
    } else {
      g_prefix_error(&error, "output '%s' ", model->outputs[i].name);
    }
  }
  leati_values_free(batcher->ort, inputs, call->input_count);
  g_free(inputs);
  if (!right) {
    release(user, made);
    return fail(err, error);
  }
  call->owner = made;
  return LEAT_OK;
}

/* ---- The threads' side ------------------------------------------------------------------------------------------- */

/* Whether a dimension is named as the batch, as exporters do. */
static gboolean is_batch(const leati_slot *slot, size_t axis) {
  char *name = g_ascii_strdown(slot->symbols[axis], -1);
  const gboolean found = strstr(name, "batch") != NULL;
  g_free(name);
  return found;
}

/* The axis that the model names as the batch, if it is another one than axis 0; else 0. */
static size_t other_batch(const leati_slot *slot) {
  size_t axis = slot->rank > 0 && is_batch(slot, 0) ? 0 : slot->rank;
  while (axis > 0 && !is_batch(slot, --axis)) {
  }
  return axis;
}

/* Whether axis 0 of an input or output can be the batch. Sets `*fixed` if the model takes exactly so many rows. */
static gboolean check_axis(const leati_model *model, const leati_slot *slot, const char *kind, int64_t rows,
                           gboolean *fixed, GError **error) {
  if (!slot->has_shape) {
    return TRUE; /* seen when it runs */
  }
  const size_t other = other_batch(slot);
  if (other == 0 && slot->rank > 0 && (slot->dims[0] < 0 || slot->dims[0] == rows)) {
    *fixed = *fixed || slot->dims[0] >= 0;
    return TRUE;
  }
  char *shape = leati_shape_text(slot->dims, slot->rank);
  char *named = other > 0
                    ? g_strdup_printf(", whose axis %" G_GSIZE_FORMAT " is named '%s'", other, slot->symbols[other])
                    : g_strdup("");
  LEATI_FAULT_SET(error,
                  "--batch %" G_GINT64_FORMAT
                  ": %s: %s '%s' is %s%s; axis 0 of every input and output must be the "
                  "batch, that is, dynamic or %" G_GINT64_FORMAT "%s",
                  rows, model->path, kind, slot->name, shape, named, rows,
                  slot->rank > LEAT_MAX_RANK ? ", and there may be 8 dimensions" : "");
  g_free(named);
  g_free(shape);
  return FALSE;
}

static gboolean check_model(const leati_model *model, int64_t rows, gboolean *fixed, GError **error) {
  *fixed = FALSE;
  for (size_t i = 0; i < model->input_count; ++i) {
    if (!check_axis(model, &model->inputs[i], "input", rows, fixed, error)) {
      return FALSE;
    }
  }
  for (size_t i = 0; i < model->output_count; ++i) {
    if (!check_axis(model, &model->outputs[i], "output", rows, fixed, error)) {
      return FALSE;
    }
  }
  if (model->input_count == 0 || model->output_count == 0) {
    LEATI_FAULT_SET(error, "--batch %" G_GINT64_FORMAT ": %s has no %s, and there is nothing to put together", rows,
                    model->path, model->input_count == 0 ? "inputs" : "outputs");
    return FALSE;
  }
  return TRUE;
}

/* Whether each set is a request that a batch has room for. */
static gboolean check_sets(const leati_batcher *batcher, const leati_feed *feed, int64_t rows, GError **error) {
  for (size_t s = 0; batcher->crop == 0 && s < feed->set_count; ++s) {
    for (size_t i = 0; i < batcher->model->input_count; ++i) {
      leati_ndarray view;
      if (!leati_value_view(batcher->ort, feed->sets[s].inputs[i], &view, error)) {
        return FALSE;
      }
      if (view.rank == 0 || view.dims[0] > rows) {
        char *shape = leati_shape_text(view.dims, view.rank);
        LEATI_FAULT_SET(error,
                        "--batch %" G_GINT64_FORMAT
                        ": %s: input '%s' of a request is %s, and a batch holds 0 to "
                        "%" G_GINT64_FORMAT " rows",
                        rows, batcher->model->path, batcher->model->inputs[i].name, shape, rows);
        g_free(shape);
        return FALSE;
      }
    }
  }
  return TRUE;
}

leati_batcher *leati_batcher_new(const leati_ort *ort, const leati_options *options, const leati_model *model,
                                 const leati_feed *feed, GError **error) {
  gboolean fixed = FALSE;
  if (!check_model(model, options->batch, &fixed, error)) {
    return NULL;
  }
  leati_batcher *batcher = g_new0(leati_batcher, 1);
  *batcher = (leati_batcher){.ort = ort, .model = model, .crop = fixed ? 1 : 0};
  /* Each thread has one request in hand, so a full queue means that nobody else can come, and the batch runs at once.
   */
  const leat_batch_config config = {.struct_size = sizeof(config),
                                    .workers = (uint32_t)options->batch_workers,
                                    .input_count = (uint32_t)model->input_count,
                                    .output_count = (uint32_t)model->output_count,
                                    .capacity = (uint32_t)options->threads,
                                    .max_rows = options->batch,
                                    .row_multiple = fixed ? options->batch : 1,
                                    .max_delay_ns = options->batch_delay * 1000,
                                    .run = run,
                                    .release = release,
                                    .user = batcher};
  leat_error err = {.struct_size = sizeof(err)};
  gboolean right = check_sets(batcher, feed, options->batch, error);
  if (right && leat_batch_queue_create(&config, &batcher->queue, &err) != LEAT_OK) {
    LEATI_FAULT_SET(error, "--batch %" G_GINT64_FORMAT ": %s: %s", options->batch, model->path, err.message);
    right = FALSE;
  }
  if (!right) {
    leati_batcher_free(batcher);
    return NULL;
  }
  return batcher;
}

gboolean leati_batcher_crops(const leati_batcher *batcher) {
  return batcher->crop != 0;
}

void leati_batcher_crop(const leati_batcher *batcher, leati_ndarray *array) {
  if (batcher->crop != 0 && array->rank > 0 && array->dims[0] > batcher->crop) {
    array->count = array->count / (size_t)array->dims[0] * (size_t)batcher->crop;
    array->bytes = array->count * leati_element_size(array->element);
    array->dims[0] = batcher->crop;
  }
}

static gboolean submit(leati_batcher *batcher, OrtValue *const *inputs, leat_batch_ticket **out, GError **error) {
  const size_t count = batcher->model->input_count;
  leati_ndarray *views = g_new0(leati_ndarray, count);
  DLTensor *tensors = g_new0(DLTensor, count);
  const DLTensor **list = g_new0(const DLTensor *, count);
  gboolean right = TRUE;
  for (size_t i = 0; right && i < count; ++i) {
    right = leati_value_view(batcher->ort, inputs[i], &views[i], error);
    if (right) {
      leati_batcher_crop(batcher, &views[i]);
      tensors[i] = to_tensor(&views[i]);
      list[i] = &tensors[i];
    }
  }
  leat_error err = {.struct_size = sizeof(err)};
  if (right && leat_batch_submit(batcher->queue, (uint32_t)count, list, -1, out, &err) != LEAT_OK) {
    LEATI_FAULT_SET(error, "submitting: %s", err.message);
    right = FALSE;
  }
  g_free(list);
  g_free(tensors);
  g_free(views);
  return right;
}

/* Copies the results of a ticket into values of their own. */
static gboolean collect(leati_batcher *batcher, leat_batch_ticket *ticket, OrtValue **outputs, GError **error) {
  const leati_model *model = batcher->model;
  DLTensor *results = g_new0(DLTensor, model->output_count);
  leat_error err = {.struct_size = sizeof(err)};
  gboolean right = leat_batch_wait(ticket, -1, &err) == LEAT_OK &&
                   leat_batch_outputs(ticket, (uint32_t)model->output_count, results, &err) == LEAT_OK;
  if (!right) {
    LEATI_FAULT_SET(error, "its batch: %s", err.message);
  }
  for (size_t i = 0; right && i < model->output_count; ++i) {
    leati_ndarray view;
    right = leati_ndarray_wrap(model->outputs[i].element, (size_t)results[i].ndim, results[i].shape, results[i].data,
                               &view, error);
    outputs[i] = right ? leati_value_copy(batcher->ort, &view, error) : NULL;
    right = outputs[i] != NULL;
  }
  if (!right) {
    leati_values_free(batcher->ort, outputs, model->output_count);
  }
  g_free(results);
  return right;
}

gboolean leati_batcher_run(leati_batcher *batcher, OrtValue *const *inputs, OrtValue **outputs, GError **error) {
  leat_batch_ticket *ticket = NULL;
  memset(outputs, 0, batcher->model->output_count * sizeof(*outputs));
  const gboolean right = submit(batcher, inputs, &ticket, error) && collect(batcher, ticket, outputs, error);
  (void)leat_batch_release(ticket, NULL);
  return right;
}

void leati_batcher_stats(const leati_batcher *batcher, leat_batch_stats *out) {
  *out = (leat_batch_stats){.struct_size = sizeof(*out)};
  (void)leat_batch_queue_stats(batcher->queue, out, NULL);
}

void leati_batcher_free(leati_batcher *batcher) {
  if (batcher != NULL) {
    (void)leat_batch_queue_destroy(batcher->queue, LEAT_BATCH_DRAIN, NULL);
    g_free(batcher);
  }
}
