/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/work.h"

#include <math.h>
#include <string.h>

#include "bench/graphs.h"
#include "fault.h"

static const DLDataType float32 = {kDLFloat, 32, 1};
static const DLDataType int32 = {kDLInt, 32, 1};
static const DLDataType int64 = {kDLInt, 64, 1};

/* What every thread has: the stream that it works in. */
typedef struct hand {
  leati_work *work;
  const leati_rig *rig;
  guint thread;
  leat_stream *stream; /* its own, or NULL: the pool's */
  GRand *random;       /* for pauses, the same in each process */
} hand;

/* The stream of this run, NULL: refused. */
static leat_stream *stream_of(const hand *h, GError **error) {
  if (h->stream != NULL) {
    return h->stream;
  }
  leat_error err = LEATI_RIG_ERROR;
  leat_stream *stream = NULL;
  (void)leati_rig_ok(h->rig->api->pool->current(h->rig->device, &stream, &err), &err, "pool current", error);
  return stream;
}

static gboolean hand_begin(hand *h, gpointer context, guint thread, GError **error) {
  h->work = context;
  h->rig = h->work->rig;
  h->thread = thread;
  h->random = g_rand_new_with_seed(thread + 1);
  leat_error err = LEATI_RIG_ERROR;
  return h->work->pool ||
         leati_rig_ok(h->rig->api->stream->create(h->rig->device, 0, &h->stream, &err), &err, "stream create", error);
}

static void hand_end(hand *h) {
  g_rand_free(h->random);
  if (h->stream != NULL) {
    (void)h->rig->api->stream->destroy(h->stream, NULL);
  } else if (h->work->pool) {
    (void)h->rig->api->pool->release_current(h->rig->device, NULL);
  }
}

/* What a host does between its runs. */
static void be_busy(const hand *h) {
  const gint32 most = h->work->pause_ns;
  if (most > 0) {
    const gint64 until = leati_team_now_ns() + g_rand_int_range(h->random, 0, most);
    while (leati_team_now_ns() < until) {
    }
  }
}

static gboolean synchronize(const hand *h, leat_stream *stream, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  return leati_rig_ok(h->rig->api->stream->synchronize(stream, &err), &err, "synchronize", error);
}

static gboolean invoke(const hand *h, const leat_op *op, leat_stream *stream, const DLTensor *const *inputs,
                       uint32_t count, const DLTensor *output, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  return leati_rig_ok(h->rig->api->op->invoke(op, stream, count, inputs, 1, &output, &err), &err, "invoke", error);
}

/* Launches the graph. */
static gboolean launch(const hand *h, leat_stream *stream, const DLTensor *input, const DLTensor *output,
                       GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  return leati_rig_ok(h->rig->api->graph->launch(h->work->graph, stream, 1, &input, 1, &output, &err), &err, "launch",
                      error);
}

/* ---- A trivial operator ------------------------------------------------------------------------------------------ */

typedef struct op_state {
  hand hand;
  leati_tensor input;
  leati_tensor outputs[LEATI_DEPTH_MAX];
  leat_event *events[LEATI_DEPTH_MAX]; /* of the event and pipeline tasks */
  guint next;                          /* of them: which event is next */
  float values[LEATI_OP_ELEMENTS];     /* for downloads: as long-lived as the stream */
} op_state;

/* Multiples of a quarter from -25 to 25, other ones for each thread and sign. */
static float op_value(guint thread, guint i, gboolean other) {
  const float value = (float)(int)((i * 37u + thread * 11u) % 201u) - 100.0f;
  return (other ? -value : value) / 4.0f;
}

static gboolean op_fill(op_state *s, leat_stream *stream, gboolean other, GError **error) {
  float values[LEATI_OP_ELEMENTS];
  for (guint i = 0; i < LEATI_OP_ELEMENTS; ++i) {
    values[i] = op_value(s->hand.thread, i, other);
  }
  return leati_tensor_put(s->hand.rig, stream, &s->input, values, error);
}

static void op_free(op_state *s) {
  for (guint i = 0; i < LEATI_DEPTH_MAX; ++i) {
    leati_tensor_free(s->hand.rig, &s->outputs[i]);
    (void)s->hand.rig->api->event->destroy(s->events[i], NULL);
  }
  leati_tensor_free(s->hand.rig, &s->input);
  hand_end(&s->hand);
  g_free(s);
}

/* With so many events. */
static gpointer op_begin_with(gpointer context, guint thread, guint events, GError **error) {
  op_state *s = g_new0(op_state, 1);
  leat_error err = LEATI_RIG_ERROR;
  gboolean well = hand_begin(&s->hand, context, thread, error);
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  well = stream != NULL && leati_tensor_make(s->hand.rig, stream, float32, LEATI_OP_ELEMENTS, 0, &s->input, error) &&
         op_fill(s, stream, FALSE, error);
  for (guint i = 0; well && i < s->hand.work->depth; ++i) {
    well = leati_tensor_make(s->hand.rig, stream, float32, LEATI_OP_ELEMENTS, 0, &s->outputs[i], error);
  }
  for (guint i = 0; well && i < events; ++i) {
    well = leati_rig_ok(s->hand.rig->api->event->create(s->hand.rig->device, 0, &s->events[i], &err), &err,
                        "event create", error);
  }
  if (!well) {
    op_free(s);
    return NULL;
  }
  return s;
}

static gpointer op_begin(gpointer context, guint thread, GError **error) {
  return op_begin_with(context, thread, 0, error);
}

static gboolean op_run(gpointer state, GError **error) {
  op_state *s = state;
  be_busy(&s->hand);
  leat_stream *stream = stream_of(&s->hand, error);
  if (stream == NULL) {
    return FALSE;
  }
  const DLTensor *inputs[] = {&s->input.view};
  for (guint i = 0; i < s->hand.work->depth; ++i) {
    if (!invoke(&s->hand, s->hand.rig->relu, stream, inputs, 1, &s->outputs[i].view, error)) {
      return FALSE;
    }
  }
  return synchronize(&s->hand, stream, error);
}

/* Whether all outputs are what the input makes them. */
static gboolean op_check(op_state *s, leat_stream *stream, gboolean other, GError **error) {
  for (guint k = 0; k < s->hand.work->depth; ++k) {
    if (!leati_tensor_get(s->hand.rig, stream, &s->outputs[k], s->values, error)) {
      return FALSE;
    }
    for (guint i = 0; i < LEATI_OP_ELEMENTS; ++i) {
      const float wanted = MAX(op_value(s->hand.thread, i, other), 0.0f);
      if (s->values[i] != wanted) {
        LEATI_FAULT_SET(error, "wrong result: thread %u, output %u, element %u of Relu is %g instead of %g",
                        s->hand.thread, k, i, (double)s->values[i], (double)wanted);
        return FALSE;
      }
    }
  }
  return TRUE;
}

/* The outputs of the runs must be right, and those for another input too, so that old ones do not pass for new. */
static gboolean op_finish(op_state *s, gboolean (*run)(gpointer state, GError **error), gboolean well, GError **error) {
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  gboolean right = !well || (stream != NULL && op_check(s, stream, FALSE, error) && op_fill(s, stream, TRUE, error));
  for (guint i = 0; well && right && i < s->hand.work->depth; ++i) {
    right = run(s, error);
  }
  right = right && (!well || op_check(s, stream, TRUE, error));
  op_free(s);
  return right;
}

static gboolean op_end(gpointer state, gboolean well, GError **error) {
  return op_finish(state, op_run, well, error);
}

const leati_task leati_op_task = {op_begin, op_run, op_end};

/* ---- Events outstanding ------------------------------------------------------------------------------------------ */

static gpointer event_begin(gpointer context, guint thread, GError **error) {
  const leati_work *work = context;
  return op_begin_with(context, thread, work->depth, error);
}

static gboolean event_run(gpointer state, GError **error) {
  op_state *s = state;
  const leat_event_api *api = s->hand.rig->api->event;
  leat_error err = LEATI_RIG_ERROR;
  leat_stream *stream = stream_of(&s->hand, error);
  leat_event *event = s->events[s->next];
  const DLTensor *inputs[] = {&s->input.view};
  if (stream == NULL || !leati_rig_ok(api->wait(event, -1, &err), &err, "event wait", error) ||
      !invoke(&s->hand, s->hand.rig->relu, stream, inputs, 1, &s->outputs[s->next].view, error) ||
      !leati_rig_ok(api->record(event, stream, &err), &err, "event record", error)) {
    return FALSE;
  }
  s->next = (s->next + 1) % s->hand.work->depth;
  return TRUE;
}

static gboolean event_end(gpointer state, gboolean well, GError **error) {
  op_state *s = state;
  /* Fewer runs than events leave some outputs unset. */
  gboolean filled = TRUE;
  for (guint i = 0; well && filled && i < s->hand.work->depth; ++i) {
    filled = event_run(s, error);
  }
  return op_finish(s, event_run, well && filled, error) && filled;
}

const leati_task leati_event_task = {event_begin, event_run, event_end};

/* ---- Operators in a pipeline ------------------------------------------------------------------------------------- */

/* Puts `depth` operators in and waits for those of the run before, so that host and device work at once. */
static gboolean pipeline_run(gpointer state, GError **error) {
  op_state *s = state;
  const leat_event_api *api = s->hand.rig->api->event;
  leat_error err = LEATI_RIG_ERROR;
  leat_stream *stream = stream_of(&s->hand, error);
  const DLTensor *inputs[] = {&s->input.view};
  for (guint i = 0; stream != NULL && i < s->hand.work->depth; ++i) {
    if (!invoke(&s->hand, s->hand.rig->relu, stream, inputs, 1, &s->outputs[i].view, error)) {
      return FALSE;
    }
  }
  if (stream == NULL || !leati_rig_ok(api->record(s->events[s->next], stream, &err), &err, "event record", error)) {
    return FALSE;
  }
  s->next = 1 - s->next;
  return leati_rig_ok(api->wait(s->events[s->next], -1, &err), &err, "event wait", error);
}

static gpointer pipeline_begin(gpointer context, guint thread, GError **error) {
  return op_begin_with(context, thread, 2, error);
}

static gboolean pipeline_end(gpointer state, gboolean well, GError **error) {
  return op_finish(state, pipeline_run, well, error);
}

const leati_task leati_pipeline_task = {pipeline_begin, pipeline_run, pipeline_end};

/* ---- A linear layer ---------------------------------------------------------------------------------------------- */

#define LINEAR_IN (LEATI_LINEAR_BATCH * LEATI_LINEAR_INPUTS)
#define LINEAR_OUT (LEATI_LINEAR_BATCH * LEATI_LINEAR_OUTPUTS)
#define LINEAR_SETS 2 /* inputs that take turns, so that an old output does not pass for a new one */

typedef struct linear_state {
  hand hand;
  leati_tensor weight, bias;
  leati_tensor inputs[LINEAR_SETS], outputs[LINEAR_SETS];
  float host_inputs[LINEAR_SETS][LINEAR_IN];
  float host_output[LINEAR_OUT];
  float expected[LINEAR_SETS][LINEAR_OUT]; /* what the device gave first, once that was found right */
  guint turn;
} linear_state;

/* Numbers between -1 and 1 that look random. */
static float linear_value(guint seed, guint i) {
  uint32_t x = (seed * 2654435761u) ^ (i * 2246822519u);
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (float)(int32_t)x / 2147483648.0f;
}

enum { SEED_WEIGHT = 1, SEED_BIAS = 2, SEED_INPUT = 3 };

/* Whether an output of the device is right. Each element sums 256 products and a bias: at most 258 roundings in
 * whatever order, each off by at most 2^-24 of a partial sum, which the sum of absolute values bounds. Twice that
 * covers that the errors themselves are rounded. */
static gboolean linear_right(const linear_state *s, guint set, const float *output, GError **error) {
  for (guint b = 0; b < LEATI_LINEAR_BATCH; ++b) {
    for (guint o = 0; o < LEATI_LINEAR_OUTPUTS; ++o) {
      double sum = (double)linear_value(SEED_BIAS, o), size = fabs(sum);
      for (guint i = 0; i < LEATI_LINEAR_INPUTS; ++i) {
        const double product = (double)s->host_inputs[set][b * LEATI_LINEAR_INPUTS + i] *
                               (double)linear_value(SEED_WEIGHT, i * LEATI_LINEAR_OUTPUTS + o);
        sum += product;
        size += fabs(product);
      }
      const double got = (double)output[b * LEATI_LINEAR_OUTPUTS + o];
      if (!(fabs(got - sum) <= 2.0 * 258.0 * ldexp(size, -24))) {
        LEATI_FAULT_SET(error, "wrong result: thread %u, element [%u, %u] of Gemm is %.9g instead of %.9g",
                        s->hand.thread, b, o, got, sum);
        return FALSE;
      }
    }
  }
  return TRUE;
}

static gboolean linear_put_constant(linear_state *s, leat_stream *stream, leati_tensor *tensor, guint seed, guint count,
                                    GError **error) {
  g_autofree float *values = g_new(float, count);
  for (guint i = 0; i < count; ++i) {
    values[i] = linear_value(seed, i);
  }
  return leati_tensor_put(s->hand.rig, stream, tensor, values, error);
}

static void linear_free(linear_state *s) {
  for (guint set = 0; set < LINEAR_SETS; ++set) {
    leati_tensor_free(s->hand.rig, &s->inputs[set]);
    leati_tensor_free(s->hand.rig, &s->outputs[set]);
  }
  leati_tensor_free(s->hand.rig, &s->weight);
  leati_tensor_free(s->hand.rig, &s->bias);
  hand_end(&s->hand);
  g_free(s);
}

/* Puts the layer into the stream. */
static gboolean linear_compute(linear_state *s, leat_stream *stream, guint set, GError **error) {
  const DLTensor *inputs[] = {&s->inputs[set].view, &s->weight.view, &s->bias.view};
  return invoke(&s->hand, s->hand.rig->gemm, stream, inputs, 3, &s->outputs[set].view, error);
}

static gpointer linear_begin(gpointer context, guint thread, GError **error) {
  linear_state *s = g_new0(linear_state, 1);
  gboolean well = hand_begin(&s->hand, context, thread, error);
  const leati_rig *rig = s->hand.rig;
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  well = stream != NULL &&
         leati_tensor_make(rig, stream, float32, LEATI_LINEAR_INPUTS, LEATI_LINEAR_OUTPUTS, &s->weight, error) &&
         leati_tensor_make(rig, stream, float32, LEATI_LINEAR_OUTPUTS, 0, &s->bias, error) &&
         linear_put_constant(s, stream, &s->weight, SEED_WEIGHT, LEATI_LINEAR_INPUTS * LEATI_LINEAR_OUTPUTS, error) &&
         linear_put_constant(s, stream, &s->bias, SEED_BIAS, LEATI_LINEAR_OUTPUTS, error);
  for (guint set = 0; well && set < LINEAR_SETS; ++set) {
    for (guint i = 0; i < LINEAR_IN; ++i) {
      s->host_inputs[set][i] = linear_value(SEED_INPUT + LINEAR_SETS * thread + set, i);
    }
    well = leati_tensor_make(rig, stream, float32, LEATI_LINEAR_BATCH, LEATI_LINEAR_INPUTS, &s->inputs[set], error) &&
           leati_tensor_make(rig, stream, float32, LEATI_LINEAR_BATCH, LEATI_LINEAR_OUTPUTS, &s->outputs[set], error) &&
           leati_tensor_put(rig, stream, &s->inputs[set], s->host_inputs[set], error) &&
           linear_compute(s, stream, set, error) &&
           leati_tensor_get(rig, stream, &s->outputs[set], s->expected[set], error) &&
           linear_right(s, set, s->expected[set], error);
  }
  if (!well) {
    linear_free(s);
    return NULL;
  }
  return s;
}

/* The same kernel on the same numbers gives the same bits, so the comparison is exact. */
static gboolean linear_same(const linear_state *s, guint set, GError **error) {
  if (memcmp(s->host_output, s->expected[set], sizeof(s->host_output)) != 0) {
    LEATI_FAULT_SET(error, "wrong result: thread %u, the output of Gemm differs from that of its first run",
                    s->hand.thread);
    return FALSE;
  }
  return TRUE;
}

static gboolean linear_run(gpointer state, GError **error) {
  linear_state *s = state;
  const guint set = s->turn;
  leat_error err = LEATI_RIG_ERROR;
  leat_stream *stream = stream_of(&s->hand, error);
  s->turn = (set + 1) % LINEAR_SETS;
  if (stream == NULL) {
    return FALSE;
  }
  if (s->hand.work->resident) {
    return linear_compute(s, stream, set, error) && synchronize(&s->hand, stream, error);
  }
  const DLTensor output = leati_tensor_host(&s->outputs[set], s->host_output);
  return leati_tensor_put(s->hand.rig, stream, &s->inputs[set], s->host_inputs[set], error) &&
         linear_compute(s, stream, set, error) &&
         leati_rig_ok(s->hand.rig->api->memory->copy(stream, &s->outputs[set].view, &output, &err), &err, "download",
                      error) &&
         synchronize(&s->hand, stream, error) && linear_same(s, set, error);
}

static gboolean linear_end(gpointer state, gboolean well, GError **error) {
  linear_state *s = state;
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  gboolean right = !well || stream != NULL;
  for (guint set = 0; well && right && set < LINEAR_SETS; ++set) {
    right =
        leati_tensor_get(s->hand.rig, stream, &s->outputs[set], s->host_output, error) && linear_same(s, set, error);
  }
  linear_free(s);
  return right;
}

const leati_task leati_linear_task = {linear_begin, linear_run, linear_end};

/* ---- A chain ----------------------------------------------------------------------------------------------------- */

/* Running sums along the rows, over and over. With columns that begin as (x, 0, 0, ...), the second row is x times the
 * number of sums so far, and the third x times n (n + 1) / 2, modulo 2^32: a sum that is lost or overtakes another
 * shows. A thread of the device takes a column, so the time grows with the rows while the device is hardly filled. */
typedef struct chain_state {
  hand hand;
  leati_tensor numbers[2];
  int64_t axis_value;
  DLTensor axis;
  guint turn;    /* which of the numbers are the last */
  uint64_t sums; /* so far */
} chain_state;

static void chain_free(chain_state *s) {
  leati_tensor_free(s->hand.rig, &s->numbers[0]);
  leati_tensor_free(s->hand.rig, &s->numbers[1]);
  hand_end(&s->hand);
  g_free(s);
}

static uint32_t chain_value(const chain_state *s, guint column) {
  return column + 1u + s->hand.thread * 1000u;
}

static gpointer chain_begin(gpointer context, guint thread, GError **error) {
  chain_state *s = g_new0(chain_state, 1);
  gboolean well = hand_begin(&s->hand, context, thread, error);
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  const int64_t rows = s->hand.work->rows;
  s->axis = (DLTensor){.data = &s->axis_value, .device = {kDLCPU, 0}, .ndim = 0, .dtype = int64};
  g_autofree uint32_t *first = g_new0(uint32_t, (gsize)rows * LEATI_CHAIN_COLUMNS);
  for (guint column = 0; column < LEATI_CHAIN_COLUMNS; ++column) {
    first[column] = chain_value(s, column);
  }
  well = stream != NULL &&
         leati_tensor_make(s->hand.rig, stream, int32, rows, LEATI_CHAIN_COLUMNS, &s->numbers[0], error) &&
         leati_tensor_make(s->hand.rig, stream, int32, rows, LEATI_CHAIN_COLUMNS, &s->numbers[1], error) &&
         leati_tensor_put(s->hand.rig, stream, &s->numbers[0], first, error) && synchronize(&s->hand, stream, error);
  if (!well) {
    chain_free(s);
    return NULL;
  }
  return s;
}

static gboolean chain_run(gpointer state, GError **error) {
  chain_state *s = state;
  be_busy(&s->hand);
  leat_stream *stream = stream_of(&s->hand, error);
  if (stream == NULL) {
    return FALSE;
  }
  if (s->hand.work->graph != NULL) {
    const guint turn = s->turn;
    s->turn = 1 - turn;
    s->sums += s->hand.work->length;
    return launch(&s->hand, stream, &s->numbers[turn].view, &s->numbers[s->turn].view, error) &&
           synchronize(&s->hand, stream, error);
  }
  for (guint i = 0; i < s->hand.work->length; ++i) {
    const DLTensor *inputs[] = {&s->numbers[i % 2].view, &s->axis};
    if (!invoke(&s->hand, s->hand.rig->cumsum, stream, inputs, 2, &s->numbers[(i + 1) % 2].view, error)) {
      return FALSE;
    }
  }
  s->sums += s->hand.work->length;
  return synchronize(&s->hand, stream, error);
}

static gboolean chain_end(gpointer state, gboolean well, GError **error) {
  chain_state *s = state;
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  g_autofree uint32_t *last = g_new(uint32_t, (gsize)s->hand.work->rows * LEATI_CHAIN_COLUMNS);
  gboolean right =
      !well || (stream != NULL && leati_tensor_get(s->hand.rig, stream, &s->numbers[s->turn], last, error));
  const uint64_t n = s->sums;
  const uint32_t factors[] = {1u, (uint32_t)n, (uint32_t)(n * (n + 1) / 2)};
  const guint rows = (guint)MIN(s->hand.work->rows, (gint64)G_N_ELEMENTS(factors));
  for (guint i = 0; well && right && i < rows * LEATI_CHAIN_COLUMNS; ++i) {
    const uint32_t wanted = chain_value(s, i % LEATI_CHAIN_COLUMNS) * factors[i / LEATI_CHAIN_COLUMNS];
    if (last[i] != wanted) {
      LEATI_FAULT_SET(
          error,
          "wrong result: thread %u, element [%u, %u] of the chain is %u instead of %u after %" G_GUINT64_FORMAT
          " operators",
          s->hand.thread, i / LEATI_CHAIN_COLUMNS, i % LEATI_CHAIN_COLUMNS, last[i], wanted, n);
      right = FALSE;
    }
  }
  chain_free(s);
  return right;
}

const leati_task leati_chain_task = {chain_begin, chain_run, chain_end};

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

typedef struct request_state {
  hand hand;
  leati_tensor input, output;
  gsize count; /* elements */
  float *host_input, *host_output, *expected;
} request_state;

static void request_free(request_state *s) {
  leati_tensor_free(s->hand.rig, &s->input);
  leati_tensor_free(s->hand.rig, &s->output);
  hand_end(&s->hand);
  g_free(s->host_input);
  g_free(s->host_output);
  g_free(s->expected);
  g_free(s);
}

static gpointer request_begin(gpointer context, guint thread, GError **error) {
  request_state *s = g_new0(request_state, 1);
  gboolean well = hand_begin(&s->hand, context, thread, error);
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  const guint rows = s->hand.work->batch * LEATI_REQUEST_ROWS;
  s->count = (gsize)rows * LEATI_REQUEST_COLUMNS;
  s->host_input = g_new(float, s->count);
  s->host_output = g_new0(float, s->count);
  s->expected = g_new(float, s->count);
  for (gsize i = 0; i < s->count; ++i) {
    s->host_input[i] = (float)((i * 7 + thread * 5) % 16);
  }
  for (guint row = 0; row < rows; ++row) {
    const gsize at = (gsize)row * LEATI_REQUEST_COLUMNS;
    leati_perceptron_row(s->host_input + at, s->expected + at);
  }
  well = stream != NULL &&
         leati_tensor_make(s->hand.rig, stream, float32, rows, LEATI_REQUEST_COLUMNS, &s->input, error) &&
         leati_tensor_make(s->hand.rig, stream, float32, rows, LEATI_REQUEST_COLUMNS, &s->output, error) &&
         leati_tensor_put(s->hand.rig, stream, &s->input, s->host_input, error) && synchronize(&s->hand, stream, error);
  if (!well) {
    request_free(s);
    return NULL;
  }
  return s;
}

static gboolean request_right(const request_state *s, GError **error) {
  for (gsize i = 0; i < s->count; ++i) {
    if (s->host_output[i] != s->expected[i]) {
      LEATI_FAULT_SET(error,
                      "wrong result: thread %u, element %" G_GSIZE_FORMAT " of the perceptron is %g instead of %g",
                      s->hand.thread, i, (double)s->host_output[i], (double)s->expected[i]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean request_run(gpointer state, GError **error) {
  request_state *s = state;
  leat_stream *stream = stream_of(&s->hand, error);
  if (stream == NULL) {
    return FALSE;
  }
  if (s->hand.work->resident) {
    return launch(&s->hand, stream, &s->input.view, &s->output.view, error) && synchronize(&s->hand, stream, error);
  }
  const DLTensor input = leati_tensor_host(&s->input, s->host_input);
  const DLTensor output = leati_tensor_host(&s->output, s->host_output);
  s->host_output[s->count - 1] = -1.0f;
  return launch(&s->hand, stream, &input, &output, error) && synchronize(&s->hand, stream, error) &&
         request_right(s, error);
}

static gboolean request_end(gpointer state, gboolean well, GError **error) {
  request_state *s = state;
  gboolean right = TRUE;
  if (well && s->hand.work->resident) {
    leat_stream *stream = stream_of(&s->hand, error);
    right = stream != NULL && leati_tensor_get(s->hand.rig, stream, &s->output, s->host_output, error) &&
            request_right(s, error);
  }
  request_free(s);
  return right;
}

const leati_task leati_request_task = {request_begin, request_run, request_end};

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct memory_state {
  hand hand;
  float values[LEATI_OP_ELEMENTS], results[LEATI_OP_ELEMENTS]; /* as long-lived as the stream */
} memory_state;

static gpointer memory_begin(gpointer context, guint thread, GError **error) {
  memory_state *s = g_new0(memory_state, 1);
  if (!hand_begin(&s->hand, context, thread, error)) {
    hand_end(&s->hand);
    g_free(s);
    return NULL;
  }
  return s;
}

static gboolean memory_end(gpointer state, gboolean well, GError **error) {
  (void)well;
  (void)error;
  memory_state *s = state;
  hand_end(&s->hand);
  g_free(s);
  return TRUE;
}

static gboolean flat_run(gpointer state, GError **error) {
  memory_state *s = state;
  const hand *h = &s->hand;
  float *const values = s->values, *const results = s->results;
  leat_error err = LEATI_RIG_ERROR;
  leati_tensor input = {.view = {.data = NULL}}, output = {.view = {.data = NULL}};
  const gint64 number = atomic_fetch_add(&h->work->done, 1) + 1;
  const gboolean other = number % 2 == 0;
  for (guint i = 0; i < LEATI_OP_ELEMENTS; ++i) {
    values[i] = op_value(h->thread, i, other);
    results[i] = -1.0f;
  }
  leat_stream *stream = stream_of(h, error);
  gboolean well = stream != NULL && leati_tensor_make(h->rig, stream, float32, LEATI_OP_ELEMENTS, 0, &input, error) &&
                  leati_tensor_make(h->rig, stream, float32, LEATI_OP_ELEMENTS, 0, &output, error) &&
                  leati_tensor_put(h->rig, stream, &input, values, error);
  const DLTensor *inputs[] = {&input.view};
  const DLTensor host = leati_tensor_host(&output, results);
  well = well && invoke(h, h->rig->relu, stream, inputs, 1, &output.view, error) &&
         leati_rig_ok(h->rig->api->memory->copy(stream, &output.view, &host, &err), &err, "download", error);
  leati_tensor_free(h->rig, &input);
  leati_tensor_free(h->rig, &output);
  /* After a failure too, so that no download is outstanding. */
  well = stream != NULL && synchronize(h, stream, well ? error : NULL) && well;
  for (guint i = 0; well && i < LEATI_OP_ELEMENTS; ++i) {
    if (results[i] != MAX(values[i], 0.0f)) {
      LEATI_FAULT_SET(error, "wrong result: thread %u, element %u of Relu is %g instead of %g", h->thread, i,
                      (double)results[i], (double)MAX(values[i], 0.0f));
      well = FALSE;
    }
  }
  if (well && number == h->work->mark && h->work->marked != NULL) {
    h->work->marked(h->work->marked_context);
  }
  return well;
}

const leati_task leati_flat_task = {memory_begin, flat_run, memory_end};

static gboolean allocation_run(gpointer state, GError **error) {
  const hand *h = &((const memory_state *)state)->hand;
  const leat_memory_api *api = h->rig->api->memory;
  leat_error err = LEATI_RIG_ERROR;
  uint64_t address = 0;
  leat_stream *stream = stream_of(h, error);
  if (stream == NULL ||
      !leati_rig_ok(api->alloc(h->rig->device, h->work->size, stream, &address, &err), &err, "alloc", error)) {
    return FALSE;
  }
  if (address == 0 || address % 256 != 0) {
    LEATI_FAULT_SET(error, "wrong result: alloc gave address 0x%" G_GINT64_MODIFIER "x, which is no multiple of 256",
                    address);
    return FALSE;
  }
  return leati_rig_ok(api->free(h->rig->device, address, &err), &err, "free", error);
}

const leati_task leati_allocation_task = {memory_begin, allocation_run, memory_end};

/* ---- Downloads --------------------------------------------------------------------------------------------------- */

/* Elements of a download that are looked at, the first and the last among them. */
#define DOWNLOAD_CHECKS 97

typedef struct download_state {
  hand hand;
  leati_tensor tensor;
  guint64 count;
  float *host;     /* where it goes: as long-lived as the stream */
  gboolean direct; /* it is of alloc_host() */
} download_state;

static float download_value(const download_state *s, guint64 i) {
  return (float)((i * 7 + s->hand.thread) % 65521);
}

static guint64 download_place(const download_state *s, guint i) {
  return (s->count - 1) * i / (DOWNLOAD_CHECKS - 1);
}

static void download_free(download_state *s) {
  leati_tensor_free(s->hand.rig, &s->tensor);
  hand_end(&s->hand);
  if (s->direct) {
    (void)s->hand.rig->api->memory->free_host(s->hand.rig->device, s->host, NULL);
  } else {
    g_free(s->host);
  }
  g_free(s);
}

/* Memory to download to. FALSE: there is none. */
static gboolean download_take(download_state *s, GError **error) {
  const leati_rig *rig = s->hand.rig;
  leat_error err = LEATI_RIG_ERROR;
  void *memory;
  if (!s->hand.work->direct) {
    s->host = g_new(float, s->count);
    return TRUE;
  }
  if (!leati_rig_ok(rig->api->memory->alloc_host(rig->device, s->count * sizeof(float), &memory, &err), &err,
                    "alloc_host", error)) {
    return FALSE;
  }
  s->direct = TRUE;
  s->host = memory;
  return TRUE;
}

static gpointer download_begin(gpointer context, guint thread, GError **error) {
  download_state *s = g_new0(download_state, 1);
  gboolean well = hand_begin(&s->hand, context, thread, error);
  s->count = s->hand.work->size / sizeof(*s->host);
  well = well && download_take(s, error);
  for (guint64 i = 0; well && i < s->count; ++i) {
    s->host[i] = download_value(s, i);
  }
  leat_stream *stream = well ? stream_of(&s->hand, error) : NULL;
  well = stream != NULL && leati_tensor_make(s->hand.rig, stream, float32, (int64_t)s->count, 0, &s->tensor, error) &&
         leati_tensor_put(s->hand.rig, stream, &s->tensor, s->host, error) && synchronize(&s->hand, stream, error);
  if (!well) {
    download_free(s);
    return NULL;
  }
  return s;
}

static gboolean download_run(gpointer state, GError **error) {
  download_state *s = state;
  const DLTensor host = leati_tensor_host(&s->tensor, s->host);
  leat_error err = LEATI_RIG_ERROR;
  leat_stream *stream = stream_of(&s->hand, error);
  for (guint i = 0; i < DOWNLOAD_CHECKS; ++i) {
    s->host[download_place(s, i)] = -1.0f;
  }
  if (stream == NULL ||
      !leati_rig_ok(s->hand.rig->api->memory->copy(stream, &s->tensor.view, &host, &err), &err, "download", error) ||
      !synchronize(&s->hand, stream, error)) {
    return FALSE;
  }
  for (guint i = 0; i < DOWNLOAD_CHECKS; ++i) {
    const guint64 at = download_place(s, i);
    if (s->host[at] != download_value(s, at)) {
      LEATI_FAULT_SET(error,
                      "wrong result: thread %u, element %" G_GINT64_MODIFIER "u of a download is %g instead of %g",
                      s->hand.thread, at, (double)s->host[at], (double)download_value(s, at));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean download_end(gpointer state, gboolean well, GError **error) {
  (void)well;
  (void)error;
  download_free(state);
  return TRUE;
}

const leati_task leati_download_task = {download_begin, download_run, download_end};
