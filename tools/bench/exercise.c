/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/exercise.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/answer.h"
#include "bench/team.h"
#include "element.h"
#include "fault.h"

/* Lists under way: the device has one to go on with while the host waits for another and records a third. */
#define LISTS 4
/* A list should last this long, so that what it costs to submit it is hidden behind those before it. */
#define LIST_US 250.0
#define LENGTH_MAX 128
#define LOADS 4 /* parts of the load, after each of which a list gets the length that suits what was seen */
#define SAMPLES 64
#define HANG_NS INT64_C(60000000000)

typedef struct operand {
  DLTensor view;
  int64_t dims[LEATI_KERNEL_RANK];
} operand;

struct leati_exercise {
  const leati_rig *rig;
  const leati_kernel *kernel;
  leati_element element;
  leati_kernel_form form;
  leat_stream *stream;
  leat_op *op;
  operand inputs[LEATI_KERNEL_INPUTS];
  operand output;
  operand more[LEATI_KERNEL_MORE];
  gboolean turned;           /* LEATI_KERNEL_READ: the next run goes from the output to input 0 */
  guint copy;                /* of input 1, for the next run */
  leat_event *events[LISTS]; /* one for each list under way */
  guint next;                /* the oldest of them */
  guint length;              /* runs in a list */
  double got[SAMPLES];       /* elements of the output's type, for downloads: as long-lived as the stream */
};

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

/* Whether the device refuses the row because of what it is; tells why then. */
static gboolean refused(int32_t status, const leat_error *err, const char *what, char **why) {
  if (status != LEAT_ERROR_OUT_OF_MEMORY && status != LEAT_ERROR_NOT_SUPPORTED) {
    return FALSE;
  }
  *why = g_strdup_printf("%s: %s", what, err->message);
  return TRUE;
}

static guint copies_of(const leati_exercise *e, guint input) {
  return input == 1 ? e->form.copies : 1;
}

/* Makes room for an operand, `copies` times one behind the other. */
static gboolean make_operand(leati_exercise *e, const leati_kernel_shape *shape, guint copies, operand *out, char **why,
                             GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  uint64_t address = 0;
  const DLDataType type = leati_kernel_type(e->kernel, shape);
  const uint64_t size = leati_kernel_bytes(e->kernel, shape) * copies;
  const int32_t status = e->rig->api->memory->alloc(e->rig->device, size, e->stream, &address, &err);
  if (refused(status, &err, "memory for its operands", why) || !leati_rig_ok(status, &err, "alloc", error)) {
    return FALSE;
  }
  for (int32_t i = 0; i < shape->rank; ++i) {
    out->dims[i] = shape->dims[i];
  }
  out->view = (DLTensor){.data = (void *)(uintptr_t)address,
                         .device = {kDLVulkan, (int32_t)e->rig->info.index},
                         .ndim = shape->rank,
                         .dtype = type,
                         .shape = out->dims};
  return TRUE;
}

static void free_operand(leati_exercise *e, const operand *o) {
  (void)e->rig->api->memory->free(e->rig->device, (uint64_t)(uintptr_t)o->view.data, NULL);
}

/* Copies some elements from memory to memory, each of the host or of the device. The host's must stay until the stream
 * was waited for. */
static gboolean copy(leati_exercise *e, DLTensor source, int64_t from, DLTensor target, int64_t to, int64_t count,
                     GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const int64_t size = source.dtype.bits / 8;
  DLTensor *views[] = {&source, &target};
  for (guint i = 0; i < G_N_ELEMENTS(views); ++i) {
    views[i]->ndim = 1;
    views[i]->shape = &count;
    views[i]->data = (char *)views[i]->data + (i == 0 ? from : to) * size;
  }
  return leati_rig_ok(e->rig->api->memory->copy(e->stream, &source, &target, &err), &err, "copy", error);
}

static DLTensor host_view(DLDataType type, void *data) {
  return (DLTensor){.data = data, .device = {kDLCPU, 0}, .dtype = type};
}

static gboolean synchronize(leati_exercise *e, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  return leati_rig_ok(e->rig->api->stream->synchronize(e->stream, &err), &err, "synchronize", error);
}

/* The first values come from the host; what is filled is copied behind itself until all is. A period is filled before
 * the first copy, so that each element has the value of its index. */
static gboolean fill(leati_exercise *e, guint input, GError **error) {
  const operand *o = &e->inputs[input];
  const int64_t count = leati_kernel_elements(&e->form.inputs[input]) * copies_of(e, input),
                head = MIN(count, LEATI_ANSWER_PERIOD);
  const DLDataType type = o->view.dtype;
  g_autofree void *values = g_malloc((gsize)head * (type.bits / 8u));
  for (int64_t i = 0; i < head; ++i) {
    if (e->form.inputs[input].is_bytes) {
      leati_element_write_int(LEATI_UINT8, values, (gsize)i, leati_answer_byte(input, i));
    } else {
      leati_element_write_float(e->element, values, (gsize)i, leati_answer_value(input, i));
    }
  }
  gboolean well = copy(e, host_view(type, values), 0, o->view, 0, head, error);
  for (int64_t done = head; well && done < count; done += MIN(done, count - done)) {
    well = copy(e, o->view, 0, o->view, done, MIN(done, count - done), error);
  }
  return synchronize(e, well ? error : NULL) && well;
}

/* ---- Operator ---------------------------------------------------------------------------------------------------- */

static gboolean make_op(leati_exercise *e, char **why, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  leat_value_info infos[LEATI_KERNEL_INPUTS];
  const leat_value_info *inputs[LEATI_KERNEL_INPUTS];
  leat_attribute values[LEATI_KERNEL_ATTRIBUTES];
  const leat_attribute *attributes[LEATI_KERNEL_ATTRIBUTES];
  for (guint i = 0; i < e->form.input_count; ++i) {
    infos[i] = (leat_value_info){.struct_size = sizeof(infos[i]),
                                 .ndim = e->form.inputs[i].rank,
                                 .dtype = leati_kernel_type(e->kernel, &e->form.inputs[i]),
                                 .shape = e->form.inputs[i].dims};
    inputs[i] = &infos[i];
  }
  for (guint i = 0; i < e->form.attribute_count; ++i) {
    const leati_kernel_attribute *a = &e->form.attributes[i];
    values[i] = (leat_attribute){.struct_size = sizeof(values[i]),
                                 .type = a->count > 0 ? LEAT_ATTRIBUTE_INTS : LEAT_ATTRIBUTE_INT,
                                 .name = a->name,
                                 .count = a->count,
                                 .ints = a->count > 0 ? a->values : NULL,
                                 .i = a->count > 0 ? 0 : a->values[0]};
    attributes[i] = &values[i];
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = e->kernel->since_version,
                             .domain = leati_kernel_domain(e->kernel),
                             .name = e->kernel->op,
                             .attribute_count = e->form.attribute_count,
                             .input_count = e->form.input_count,
                             .output_count = 1 + e->form.more_count,
                             .attributes = attributes,
                             .inputs = inputs};
  const int32_t status = e->rig->api->op->create(e->rig->device, &desc, &e->op, &err);
  return !refused(status, &err, e->kernel->op, why) && leati_rig_ok(status, &err, e->kernel->op, error);
}

leati_exercise *leati_exercise_begin(const leati_rig *rig, const leati_kernel *kernel, char **why, GError **error) {
  leati_exercise *e = g_new0(leati_exercise, 1);
  leat_error err = LEATI_RIG_ERROR;
  e->rig = rig;
  e->kernel = kernel;
  e->element = kernel->type.code == kDLInt      ? LEATI_INT32
               : kernel->type.code == kDLBfloat ? LEATI_BFLOAT16
               : kernel->type.bits == 16        ? LEATI_FLOAT16
                                                : LEATI_FLOAT32;
  e->length = 1;
  leati_kernel_expand(kernel, &e->form);
  gboolean well =
      leati_rig_ok(rig->api->stream->create(rig->device, 0, &e->stream, &err), &err, "stream create", error);
  for (guint i = 0; well && i < LISTS; ++i) {
    well = leati_rig_ok(rig->api->event->create(rig->device, 0, &e->events[i], &err), &err, "event create", error);
  }
  well = well && make_op(e, why, error) && make_operand(e, &e->form.output, 1, &e->output, why, error);
  for (guint i = 0; well && i < e->form.more_count; ++i) {
    well = make_operand(e, &e->form.more[i], 1, &e->more[i], why, error);
  }
  for (guint i = 0; well && i < e->form.input_count; ++i) {
    well = make_operand(e, &e->form.inputs[i], copies_of(e, i), &e->inputs[i], why, error) && fill(e, i, error);
  }
  if (!well) {
    leati_exercise_free(e);
    return NULL;
  }
  return e;
}

void leati_exercise_free(leati_exercise *e) {
  if (e == NULL) {
    return;
  }
  if (e->stream != NULL) {
    (void)synchronize(e, NULL);
  }
  for (guint i = 0; i < LEATI_KERNEL_INPUTS; ++i) {
    free_operand(e, &e->inputs[i]);
  }
  free_operand(e, &e->output);
  for (guint i = 0; i < LEATI_KERNEL_MORE; ++i) {
    free_operand(e, &e->more[i]);
  }
  for (guint i = 0; i < LISTS; ++i) {
    (void)e->rig->api->event->destroy(e->events[i], NULL);
  }
  (void)e->rig->api->op->destroy(e->op, NULL);
  (void)e->rig->api->stream->destroy(e->stream, NULL);
  g_free(e);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static gboolean invoke(leati_exercise *e, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const DLTensor *inputs[LEATI_KERNEL_INPUTS];
  for (guint i = 0; i < e->form.input_count; ++i) {
    inputs[i] = &e->inputs[i].view;
  }
  DLTensor second = e->inputs[1].view;
  if (e->form.copies > 1) {
    second.data = (char *)second.data + e->copy * leati_kernel_bytes(e->kernel, &e->form.inputs[1]);
    inputs[1] = &second;
    e->copy = (e->copy + 1) % e->form.copies;
  }
  const DLTensor *outputs[1 + LEATI_KERNEL_MORE] = {&e->output.view};
  for (guint i = 0; i < e->form.more_count; ++i) {
    outputs[1 + i] = &e->more[i].view;
  }
  if (e->turned) {
    outputs[0] = inputs[0];
    inputs[0] = &e->output.view;
  }
  e->turned = e->kernel->link == LEATI_KERNEL_READ && !e->turned;
  return leati_rig_ok(
      e->rig->api->op->invoke(e->op, e->stream, e->form.input_count, inputs, 1 + e->form.more_count, outputs, &err),
      &err, "invoke", error);
}

gboolean leati_exercise_once(leati_exercise *e, double *seconds, GError **error) {
  const gint64 start = leati_team_now_ns();
  const gboolean well = invoke(e, error) && synchronize(e, error);
  *seconds = (double)(leati_team_now_ns() - start) * 1e-9;
  return well;
}

/* An element of each stretch of the output, the first and the last among them. Without order, so that the places do not
 * all lie in one column. */
static int64_t sample_index(int64_t count, guint sample) {
  const int64_t low = count * sample / SAMPLES, high = MAX(count * (sample + 1) / SAMPLES, low + 1);
  return sample == 0             ? 0
         : sample == SAMPLES - 1 ? count - 1
                                 : low + (int64_t)(sample * 2654435761u % (guint64)(high - low));
}

gboolean leati_exercise_check(leati_exercise *e, GError **error) {
  const int64_t count = leati_kernel_elements(&e->form.output);
  const DLDataType type = leati_kernel_type(e->kernel, &e->form.output);
  const leati_element element = e->form.output.is_bytes ? LEATI_UINT8 : e->element;
  for (guint i = 0; i < SAMPLES; ++i) {
    if (leati_element_is_float(element)) {
      leati_element_write_float(element, e->got, i, NAN);
    } else {
      /* No sum of products of int8 or uint8 without a sign; of bytes as results some may be this one, but never all. */
      leati_element_write_int(element, e->got, i, e->form.output.is_bytes ? 0 : -1);
    }
  }
  gboolean well = invoke(e, error);
  for (guint i = 0; well && i < SAMPLES; ++i) {
    well = copy(e, e->output.view, sample_index(count, i), host_view(type, e->got), i, 1, error);
  }
  if (!synchronize(e, well ? error : NULL) || !well) {
    return FALSE;
  }
  for (guint i = 0; i < SAMPLES; ++i) {
    double bound;
    const int64_t index = sample_index(count, i);
    const double wanted = leati_answer(e->kernel, &e->form, index, &bound),
                 got = leati_element_read(element, e->got, i);
    if (!(fabs(got - wanted) <= bound)) {
      LEATI_FAULT_SET(error,
                      "wrong result: element %" G_GINT64_FORMAT
                      " is %.9g instead of %.9g, where %.3g would be right "
                      "to differ by",
                      (gint64)index, got, wanted, bound);
      return FALSE;
    }
  }
  return TRUE;
}

/* Waits for the oldest list. */
static gboolean wait_oldest(leati_exercise *e, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const int32_t status = e->rig->api->event->wait(e->events[e->next], HANG_NS, &err);
  if (status == LEAT_ERROR_TIMEOUT) {
    /* What the device still writes to cannot be freed. */
    g_printerr("leat-bench: %s: the device made no progress for a minute\n", e->kernel->name);
    (void)fflush(NULL);
    _exit(1);
  }
  return leati_rig_ok(status, &err, "event wait", error);
}

/* Puts a list in, whose event is that of the oldest one. */
static gboolean put_list(leati_exercise *e, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  for (guint i = 0; i < e->length; ++i) {
    if (!invoke(e, error)) {
      return FALSE;
    }
  }
  leat_event *event = e->events[e->next];
  e->next = (e->next + 1) % LISTS;
  return leati_rig_ok(e->rig->api->event->record(event, e->stream, &err), &err, "event record", error);
}

gboolean leati_exercise_step(leati_exercise *e, GError **error) {
  return wait_oldest(e, error) && put_list(e, error);
}

/* All lists under way are of the length that is set. */
gboolean leati_exercise_measure(leati_exercise *e, double seconds, leati_exercise_sample *out, GError **error) {
  *out = (leati_exercise_sample){.runs = 0};
  if (!wait_oldest(e, error)) {
    return FALSE;
  }
  const gint64 start = leati_team_now_ns();
  gint64 end = start, host_ns = 0;
  while ((double)(end - start) * 1e-9 < seconds || out->runs == 0) {
    const gint64 before = leati_team_now_ns();
    if (!put_list(e, error)) {
      return FALSE;
    }
    host_ns += leati_team_now_ns() - before;
    if (!wait_oldest(e, error)) {
      return FALSE;
    }
    end = leati_team_now_ns();
    out->runs += e->length;
  }
  out->run_us = (double)(end - start) * 1e-3 / (double)out->runs;
  out->host_us = (double)host_ns * 1e-3 / (double)out->runs;
  return put_list(e, error);
}

/* Replaces all lists under way by ones of the length that is set. */
static gboolean renew_lists(leati_exercise *e, GError **error) {
  for (guint i = 0; i < LISTS; ++i) {
    if (!leati_exercise_step(e, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

gboolean leati_exercise_load(leati_exercise *e, double seconds, GError **error) {
  const gint64 start = leati_team_now_ns();
  gboolean well = renew_lists(e, error);
  do {
    leati_exercise_sample sample;
    if (!well || !leati_exercise_measure(e, seconds / LOADS, &sample, error)) {
      return FALSE;
    }
    const guint length = (guint)CLAMP(LIST_US / sample.run_us, 1.0, (double)LENGTH_MAX);
    if (length != e->length) {
      e->length = length;
      well = renew_lists(e, error);
    }
  } while ((double)(leati_team_now_ns() - start) * 1e-9 < seconds);
  return well;
}
