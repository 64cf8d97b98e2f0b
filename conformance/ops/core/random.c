/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases that call every operator with drawn arguments (draw.h): on compact inputs and on the same inputs in another
 * layout, with outputs that hold another pattern each time. Both results must be one, must be what the CPU reference
 * says where it has the operator, and may hold nothing of a pattern.
 *
 * A call is known by its number: the operators of the kind take turns, and all else follows from the number and the
 * seed. Before a call it is printed, so that a crash is told with it. */
#include "ops/core/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"
#include "ops/core/draw_call.h"
#include "ops/core/ref_run.h"

/* Calls of a kind where nothing is asked for: some seconds, most of it for compiling kernels. */
#define CALLS 300u
/* Draws of an operator until one is taken. */
#define DRAWS 40u
/* What outputs hold before: as floats 6e16 and -1e-6, as booleans nothing. */
static const uint8_t patterns[2] = {0x5B, 0xB5};
/* Bytes of an output that are worth computing: an extreme attribute may ask for any number. */
#define BYTES_MAX (1 << 20)
/* How far two layouts may be apart, in relative and absolute terms, before results are rounded to their type, where
 * nothing says what the operator may be off by: the same formula on the same numbers, compiled twice. An element of
 * another place is further away. */
#define LAYOUT_TOLERANCE 0x1p-10

/* A tensor in memory, in some layout. */
typedef struct placed {
  DLTensor view;
  int64_t strides[LEAT_DRAW_RANK];
  uint64_t address; /* of the device block, or 0 */
  uint8_t *block;   /* the host tensor's bytes, or what goes to and comes from the device block */
  uint64_t size;    /* bytes of the block */
  uint64_t bytes;   /* bytes of the elements of an output */
} placed;

/* The outputs of one run. */
typedef struct results {
  placed outputs[LEAT_DRAW_OUTPUTS];
  uint32_t wanted; /* bit i: output i was asked for */
} results;

/* A call on trial. */
typedef struct trial {
  leat_case_context *ctx;
  leat_stream *stream;
  leati_draw draw;
  leat_op *op;
  leat_shape shapes[LEAT_DRAW_OUTPUTS];
  char *text;
  uint32_t number;
  bool known;       /* all that shapes follow from was told when the operator was made */
  leat_error error; /* of the last call of an operator */
} trial;

#define TRIAL_FAIL(t, format, ...)                                                                                \
  LEAT_FAIL((t)->ctx,                                                                                             \
            "call %" PRIu32 ", %s: " format "; again with --seed %" PRIu32 " --first-call %" PRIu32 " --calls 1", \
            (t)->number, (t)->text, __VA_ARGS__, (t)->ctx->run_seed, (t)->number)
#define TRIAL_CHECK(t, condition, ...) \
  do {                                 \
    if (!(condition)) {                \
      TRIAL_FAIL(t, __VA_ARGS__);      \
    }                                  \
  } while (0)

/* The error of the next call. */
static leat_error *fresh_error(trial *t) {
  memset(&t->error, 0, sizeof(t->error));
  t->error.struct_size = sizeof(t->error);
  return &t->error;
}

/* Nothing is required above min_outputs. */
static uint32_t required_mask(const trial *t) {
  return (1u << t->draw.info->min_outputs) - 1;
}

static bool has_no_elements(const leati_draw *draw) {
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    const leati_draw_tensor *tensor = &draw->inputs[k];
    for (int32_t d = 0; tensor->present && d < tensor->rank; ++d) {
      if (tensor->dims[d] == 0) {
        return true;
      }
    }
  }
  return draw->empty;
}

/* A refusal is right: one of what is not supported always, any other if the call was spoilt. A dimension of size 0 is
 * more than some specifications speak of. What was known when the operator was made is refused then or never. */
static void check_refusal(const trial *t, const char *who, int32_t status) {
  TRIAL_CHECK(t, t->op == NULL || !t->known, "create() takes it, and %s returned %s (%.300s)", who,
              leati_case_status_name(status), t->error.message);
  const bool lenient = t->draw.spoilt || has_no_elements(&t->draw);
  TRIAL_CHECK(t, status == LEAT_ERROR_NOT_SUPPORTED || (lenient && status == LEAT_ERROR_INVALID_ARGUMENT),
              "%s returned %s (%.300s)", who, leati_case_status_name(status), t->error.message);
  TRIAL_CHECK(t, t->error.code == status && t->error.message[0] != '\0', "%s returned %s without code or message", who,
              leati_case_status_name(status));
}

/* ---- Layouts ---------------------------------------------------------------------------------------------------- */

typedef struct layout {
  int64_t first;    /* where element [0, 0, ...] is, in elements */
  int64_t elements; /* of the memory behind the view */
  int64_t strides[LEAT_DRAW_RANK];
} layout;

static layout compact_layout(const leati_draw_tensor *tensor) {
  layout l = {.elements = 1};
  for (int32_t d = tensor->rank - 1; tensor->count > 0 && d >= 0; --d) {
    l.strides[d] = l.elements;
    l.elements *= tensor->dims[d];
  }
  return l;
}

/* Dimensions in any order, with gaps, backwards, repeated, and not at the block's begin. */
static layout draw_layout(leati_draw *draw, const leati_draw_tensor *tensor) {
  layout l = {.elements = 1};
  int32_t order[LEAT_DRAW_RANK];
  const bool turned = leati_draw_chance(draw, 40);
  const bool gaps = leati_draw_chance(draw, 40);
  for (int32_t d = 0; d < tensor->rank; ++d) {
    order[d] = d;
  }
  for (int32_t d = tensor->rank - 1; turned && d > 0; --d) {
    const int64_t other = leati_draw_int(draw, 0, d);
    const int32_t held = order[d];
    order[d] = order[other];
    order[other] = held;
  }
  for (int32_t k = tensor->rank - 1; tensor->count > 0 && k >= 0; --k) {
    const int32_t d = order[k];
    if (d == 0 && tensor->repeated) {
      continue;
    }
    l.strides[d] = l.elements * (gaps ? leati_draw_int(draw, 1, 3) : 1);
    l.elements = l.strides[d] * tensor->dims[d];
    if (leati_draw_chance(draw, 20)) {
      l.first += (tensor->dims[d] - 1) * l.strides[d];
      l.strides[d] = -l.strides[d];
    }
  }
  if (leati_draw_chance(draw, 40)) {
    const int64_t shift = leati_draw_int(draw, 1, 5);
    l.first += shift;
    l.elements += shift;
  }
  return l;
}

static void view_of(placed *p, uint64_t type, int32_t rank, const int64_t *dims) {
  p->view.dtype = leati_draw_dlpack(type);
  p->view.ndim = rank;
  p->view.shape = (int64_t *)(uintptr_t)dims;
}

static void on_device(const trial *t, placed *p) {
  p->address = leati_case_alloc(t->ctx, p->size > 0 ? p->size : 1, t->stream);
  leati_upload(t->ctx, t->stream, p->address, p->block, p->size);
  p->view.device = (DLDevice){kDLVulkan, (int32_t)t->ctx->device_index};
  p->view.data = (void *)(uintptr_t)p->address;
}

static void on_host(placed *p) {
  p->view.device = (DLDevice){kDLCPU, 0};
  p->view.data = p->block;
}

/* The block is as large as the view needs and no larger, so that a guard of memory finds what reads past it. */
static void place_input(trial *t, placed *p, const leati_draw_tensor *tensor, bool host, bool strided) {
  const int64_t size = leati_draw_size(tensor->type);
  const layout l = strided ? draw_layout(&t->draw, tensor) : compact_layout(tensor);
  p->size = tensor->count > 0 ? (uint64_t)(l.elements * size) : 0;
  p->block = g_malloc(p->size + (host ? 0 : 1));
  if (p->size > 0) {
    memset(p->block, LEAT_GAP_BYTE, p->size);
  }
  for (int64_t k = 0; k < tensor->count; ++k) {
    int64_t index[LEAT_DRAW_RANK];
    int64_t at = l.first;
    leati_ref_unravel(tensor->rank, tensor->dims, k, index);
    for (int32_t d = 0; d < tensor->rank; ++d) {
      at += index[d] * l.strides[d];
    }
    memcpy(p->block + at * size, tensor->bytes + k * size, (size_t)size);
  }
  view_of(p, tensor->type, tensor->rank, tensor->dims);
  if (host) {
    on_host(p);
  } else {
    on_device(t, p);
  }
  if (strided && tensor->count > 0) {
    memcpy(p->strides, l.strides, sizeof(l.strides));
    p->view.strides = p->strides;
    p->view.byte_offset = (uint64_t)(l.first * size);
  }
}

static void place_output(trial *t, placed *p, leat_shape *shape, bool host, uint8_t pattern) {
  const uint64_t front = host ? 0 : LEAT_GUARD;
  p->bytes = (uint64_t)leati_draw_count(shape->ndim, shape->dims) * shape->dtype.bits / 8;
  p->size = front + p->bytes + LEAT_GUARD;
  p->block = g_malloc(p->size);
  memset(p->block, LEAT_GUARD_BYTE, p->size);
  memset(p->block + front, pattern, p->bytes);
  p->view = (DLTensor){.ndim = shape->ndim, .dtype = shape->dtype, .shape = shape->dims};
  if (host) {
    on_host(p);
  } else {
    on_device(t, p);
    p->view.byte_offset = LEAT_GUARD;
  }
}

static void release(const trial *t, placed *p) {
  if (p->address != 0) {
    leati_case_free(t->ctx, p->address);
  }
  g_free(p->block);
}

static const uint8_t *elements_of(const placed *p) {
  return p->block + (p->address != 0 ? LEAT_GUARD : 0);
}

static void check_guards(const trial *t, uint32_t output, const placed *p) {
  const uint8_t *data = elements_of(p);
  for (uint32_t k = 0; k < LEAT_GUARD; ++k) {
    TRIAL_CHECK(t, data[p->bytes + k] == LEAT_GUARD_BYTE, "byte %" PRIu32 " behind output %" PRIu32 " was written", k,
                output);
    TRIAL_CHECK(t, p->address == 0 || p->block[k] == LEAT_GUARD_BYTE,
                "byte %" PRIu32 " in front of output %" PRIu32 " was written", k, output);
  }
}

/* ---- Creating and asking ---------------------------------------------------------------------------------------- */

/* Makes a constant one that nobody may read. */
static void break_constant(leati_draw *draw, DLTensor *view) {
  switch (leati_draw_int(draw, 0, 4)) {
    case 0:
      view->data = NULL;
      break;
    case 1:
      view->device.device_type = kDLVulkan;
      view->data = (void *)(uintptr_t)LEAT_GUARD;
      break;
    case 2:
      view->ndim = leati_draw_chance(draw, 50) ? -1 : INT32_MAX;
      break;
    case 3:
      view->shape = NULL;
      break;
    default:
      view->dtype.lanes = 0;
      break;
  }
}

/* Makes the operator, with as much known of its inputs as the draw says. False: it is refused. */
static bool create(trial *t) {
  leat_case_context *ctx = t->ctx;
  leati_draw *draw = &t->draw;
  leat_value_info infos[LEAT_DRAW_INPUTS];
  const leat_value_info *inputs[LEAT_DRAW_INPUTS] = {NULL};
  placed values[LEAT_DRAW_INPUTS];
  const leat_attribute *attributes[LEAT_DRAW_ATTRIBUTES];
  int64_t hidden[LEAT_DRAW_INPUTS][LEAT_DRAW_RANK];
  t->known = leati_draw_chance(draw, 40);
  memset(values, 0, sizeof(values));
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    leati_draw_tensor *tensor = &draw->inputs[k];
    if (!tensor->present) {
      continue;
    }
    for (int32_t d = 0; d < tensor->rank; ++d) {
      hidden[k][d] = !t->known && leati_draw_chance(draw, 20) ? -1 : tensor->dims[d];
    }
    infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                 .ndim = !t->known && leati_draw_chance(draw, 10) ? -1 : tensor->rank,
                                 .dtype = leati_draw_dlpack(tensor->type),
                                 .shape = hidden[k]};
    if (tensor->constant || (t->known && (draw->info->host_inputs >> k & 1) != 0)) {
      place_input(t, &values[k], tensor, true, false);
      infos[k].value = &values[k].view;
      if (draw->spoilt && leati_draw_chance(draw, 30)) {
        break_constant(draw, &values[k].view);
      }
    }
    inputs[k] = &infos[k];
  }
  for (uint32_t k = 0; k < draw->attribute_count; ++k) {
    attributes[k] = &draw->attributes[k];
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = draw->since_version,
                             .name = draw->info->name,
                             .domain = draw->info->domain,
                             .attribute_count = draw->attribute_count,
                             .input_count = draw->input_count,
                             .output_count = draw->output_count,
                             .attributes = attributes,
                             .inputs = inputs};
  leat_device *device = leati_fixture_device(ctx);
  const int32_t supported = ctx->op->supports(device, &desc, fresh_error(t));
  if (supported != LEAT_OK) {
    check_refusal(t, "supports()", supported);
  }
  const int32_t created = ctx->op->create(device, &desc, &t->op, fresh_error(t));
  TRIAL_CHECK(t, supported == created, "supports() says %s, create() %s (%.300s)", leati_case_status_name(supported),
              leati_case_status_name(created), t->error.message);
  if (created != LEAT_OK) {
    check_refusal(t, "create()", created);
  }
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    g_free(values[k].block);
  }
  return created == LEAT_OK;
}

/* Puts the inputs into memory. */
static void place_inputs(trial *t, bool strided, placed *inputs, const DLTensor **views) {
  for (uint32_t k = 0; k < t->draw.input_count; ++k) {
    if (t->draw.inputs[k].present) {
      place_input(t, &inputs[k], &t->draw.inputs[k], (t->draw.info->host_inputs >> k & 1) != 0, strided);
      views[k] = &inputs[k].view;
    }
  }
}

static void release_inputs(trial *t, placed *inputs) {
  for (uint32_t k = 0; k < t->draw.input_count; ++k) {
    release(t, &inputs[k]);
  }
}

/* The shapes of all outputs. False: the call is refused. */
static bool infer(trial *t, const DLTensor *const *views) {
  leat_shape *out[LEAT_DRAW_OUTPUTS];
  memset(t->shapes, 0, sizeof(t->shapes));
  for (uint32_t k = 0; k < t->draw.output_count; ++k) {
    t->shapes[k].struct_size = sizeof(t->shapes[k]);
    out[k] = &t->shapes[k];
  }
  const int32_t status =
      t->ctx->op->infer(t->op, t->draw.input_count, views, t->draw.output_count, out, fresh_error(t));
  if (status != LEAT_OK) {
    check_refusal(t, "infer()", status);
  }
  return status == LEAT_OK;
}

/* Whether all outputs are of a size that is worth computing. */
static bool is_small(const trial *t) {
  for (uint32_t k = 0; k < t->draw.output_count; ++k) {
    const leat_shape *shape = &t->shapes[k];
    double bytes = shape->dtype.bits / 8;
    TRIAL_CHECK(t, shape->ndim >= 0 && shape->ndim <= LEAT_MAX_RANK, "infer() gives output %" PRIu32 " rank %" PRId32,
                k, shape->ndim);
    for (int32_t d = 0; d < shape->ndim; ++d) {
      TRIAL_CHECK(t, shape->dims[d] >= 0, "infer() gives output %" PRIu32 " size %" PRId64, k, shape->dims[d]);
      bytes *= (double)shape->dims[d];
    }
    if (bytes > BYTES_MAX) {
      return false;
    }
  }
  return true;
}

/* ---- Running ---------------------------------------------------------------------------------------------------- */

static void release_results(trial *t, results *r) {
  for (uint32_t k = 0; k < t->draw.output_count; ++k) {
    release(t, &r->outputs[k]);
  }
}

/* Runs the call for the outputs of a mask; gives the status of invoke(). Waits for the results. */
static int32_t run(trial *t, bool strided, uint32_t wanted, uint8_t pattern, results *r) {
  leat_case_context *ctx = t->ctx;
  const leati_draw *draw = &t->draw;
  placed inputs[LEAT_DRAW_INPUTS];
  const DLTensor *in[LEAT_DRAW_INPUTS] = {NULL};
  const DLTensor *out[LEAT_DRAW_OUTPUTS] = {NULL};
  memset(inputs, 0, sizeof(inputs));
  memset(r, 0, sizeof(*r));
  r->wanted = wanted;
  place_inputs(t, strided, inputs, in);
  for (uint32_t k = 0; k < draw->output_count; ++k) {
    if ((wanted >> k & 1) != 0) {
      place_output(t, &r->outputs[k], &t->shapes[k], (draw->info->host_outputs >> k & 1) != 0, pattern);
      out[k] = &r->outputs[k].view;
    }
  }
  const int32_t status =
      ctx->op->invoke(t->op, t->stream, draw->input_count, in, draw->output_count, out, fresh_error(t));
  release_inputs(t, inputs);
  for (uint32_t k = 0; k < draw->output_count; ++k) {
    placed *p = &r->outputs[k];
    if (p->address != 0) {
      leati_download(ctx, t->stream, p->address, p->block, p->size);
    }
  }
  leati_synchronize(ctx, t->stream);
  for (uint32_t k = 0; k < draw->output_count; ++k) {
    if ((wanted >> k & 1) != 0) {
      check_guards(t, k, &r->outputs[k]);
    }
  }
  return status;
}

/* An element of a floating type; an infinity is the largest number, which a little more turns into one. */
static double number_at(leati_ref_type type, const uint8_t *at) {
  leati_ref_tensor one;
  leati_ref_tensor_init(&one, type, 0, NULL);
  leati_ref_tensor_load(&one, at);
  const double number = isinf(one.f[0]) ? copysign(leati_ref_type_largest(type), one.f[0]) : one.f[0];
  leati_ref_tensor_clear(&one);
  return number;
}

/* Nothing says which NaN an operator gives, nor of which sign. Of two numbers each has been rounded to its type, which
 * took half an ULP of it at most; of a subnormal number that is far less than what they may be apart before. */
static bool floats_agree(leati_ref_type type, const uint8_t *x, const uint8_t *y) {
  const double a = number_at(type, x);
  const double b = number_at(type, y);
  const double larger = fmax(fabs(a), fabs(b));
  return (isnan(a) && isnan(b)) || fabs(a - b) <= LAYOUT_TOLERANCE * (1 + larger) + leati_ref_type_ulp(type) * larger;
}

static bool is_pattern(const uint8_t *bytes, int64_t size, uint8_t pattern) {
  for (int64_t k = 0; k < size; ++k) {
    if (bytes[k] != pattern) {
      return false;
    }
  }
  return true;
}

/* Two runs that began with different patterns wrote all elements, and the same. */
static void compare(trial *t, const results *a, const results *b, const char *how) {
  for (uint32_t o = 0; o < t->draw.output_count; ++o) {
    if ((a->wanted >> o & b->wanted >> o & 1) == 0) {
      continue;
    }
    const DLDataType dtype = t->shapes[o].dtype;
    const int64_t size = dtype.bits / 8;
    const leati_ref_type type = leati_ref_type_from_dlpack(dtype);
    /* Elements of float64 are only moved. */
    const bool computed = type != LEATI_REF_TYPE_COUNT && leati_ref_type_is_float(type) && dtype.bits < 64;
    const uint8_t *x = elements_of(&a->outputs[o]);
    const uint8_t *y = elements_of(&b->outputs[o]);
    for (int64_t k = 0; k < (int64_t)a->outputs[o].bytes / size; ++k, x += size, y += size) {
      TRIAL_CHECK(t, !is_pattern(x, size, patterns[0]) || !is_pattern(y, size, patterns[1]),
                  "element %" PRId64 " of output %" PRIu32 " was not written", k, o);
      if (t->draw.ordered || t->draw.rounded || memcmp(x, y, (size_t)size) == 0) {
        continue;
      }
      if (computed) {
        TRIAL_CHECK(t, floats_agree(type, x, y), "element %" PRId64 " of output %" PRIu32 " is %g, and %g %s", k, o,
                    number_at(type, x), number_at(type, y), how);
      } else {
        TRIAL_FAIL(t, "element %" PRId64 " of output %" PRIu32 " is another one %s", k, o, how);
      }
    }
  }
}

/* What was computed is what the CPU reference says, if it has the operator. */
static void check_reference(trial *t, const results *r) {
  const leati_draw *draw = &t->draw;
  leati_ref_tensor tensors[LEAT_DRAW_INPUTS];
  const leati_ref_tensor *inputs[LEAT_DRAW_INPUTS] = {NULL};
  const leat_attribute *attributes[LEAT_DRAW_ATTRIBUTES];
  /* Some names mean something else in other domains; attention means the same. */
  bool known = draw->info->domain[0] == '\0' || g_str_has_suffix(draw->info->name, "Attention");
  memset(tensors, 0, sizeof(tensors));
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    if (draw->inputs[k].present) {
      known = leati_draw_reference(&draw->inputs[k], &tensors[k]) && known;
      inputs[k] = &tensors[k];
    }
  }
  for (uint32_t k = 0; k < draw->attribute_count; ++k) {
    attributes[k] = &draw->attributes[k];
  }
  leati_ref_node node = {.name = draw->info->name,
                         .since_version = draw->since_version,
                         .attribute_count = draw->attribute_count,
                         .attributes = attributes,
                         .input_count = draw->input_count,
                         .inputs = inputs,
                         .output_count = draw->output_count};
  if (known && leati_ref_run(&node)) {
    for (uint32_t k = 0; k < draw->output_count; ++k) {
      const leati_ref_tensor *expected = &node.outputs[k];
      bool fits = t->shapes[k].ndim == expected->rank;
      for (int32_t d = 0; fits && d < expected->rank; ++d) {
        fits = t->shapes[k].dims[d] == expected->dims[d];
      }
      TRIAL_CHECK(t, fits, "infer() gives output %" PRIu32 " another shape than the reference", k);
      char message[512];
      TRIAL_CHECK(t, leati_ref_tensor_match(expected, elements_of(&r->outputs[k]), message, sizeof(message)),
                  "output %" PRIu32 ": %s", k, message);
    }
  }
  leati_ref_node_clear(&node);
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    leati_ref_tensor_clear(&tensors[k]);
  }
}

/* Everything that a call needs, compact. */
typedef struct arrangement {
  placed inputs[LEAT_DRAW_INPUTS];
  results r;
  const DLTensor *in[LEAT_DRAW_INPUTS];
  const DLTensor *out[LEAT_DRAW_OUTPUTS];
} arrangement;

static void arrange(trial *t, arrangement *a) {
  const leati_draw *draw = &t->draw;
  memset(a, 0, sizeof(*a));
  place_inputs(t, false, a->inputs, a->in);
  for (uint32_t k = 0; k < draw->output_count; ++k) {
    place_output(t, &a->r.outputs[k], &t->shapes[k], (draw->info->host_outputs >> k & 1) != 0, patterns[0]);
    a->out[k] = &a->r.outputs[k].view;
  }
  a->r.wanted = (1u << draw->output_count) - 1;
}

static int32_t invoke(trial *t, const arrangement *a) {
  return t->ctx->op->invoke(t->op, t->stream, t->draw.input_count, a->in, t->draw.output_count, a->out, fresh_error(t));
}

static void disarrange(trial *t, arrangement *a) {
  leati_synchronize(t->ctx, t->stream);
  release_results(t, &a->r);
  release_inputs(t, a->inputs);
}

/* What breaks the contract of invoke() is refused: a required output is absent, or it lies outside of its block, or
 * over a part of an input. */
static void check_illegal(trial *t) {
  arrangement a;
  arrange(t, &a);
  placed *first = &a.r.outputs[0];
  a.out[0] = NULL;
  int32_t status = t->draw.info->min_outputs == 0 ? LEAT_ERROR_INVALID_ARGUMENT : invoke(t, &a);
  TRIAL_CHECK(t, status == LEAT_ERROR_INVALID_ARGUMENT, "without output 0 invoke() returned %s",
              leati_case_status_name(status));
  a.out[0] = &first->view;
  if (first->address != 0 && first->bytes > 0) {
    first->view.byte_offset = 2 * LEAT_GUARD + sizeof(int64_t);
    status = invoke(t, &a);
    TRIAL_CHECK(t, status == LEAT_ERROR_INVALID_ARGUMENT, "with output 0 outside of its block invoke() returned %s",
                leati_case_status_name(status));
    for (uint32_t k = 0; k < t->draw.input_count; ++k) {
      if (a.inputs[k].address == 0 || a.inputs[k].size < 2) {
        continue;
      }
      /* From the last byte of the input on. */
      first->view.data = (void *)(uintptr_t)a.inputs[k].address;
      first->view.byte_offset = a.inputs[k].size - 1;
      status = invoke(t, &a);
      TRIAL_CHECK(t, status == LEAT_ERROR_INVALID_ARGUMENT, "with output 0 over input %" PRIu32 " invoke() returned %s",
                  k, leati_case_status_name(status));
    }
  }
  disarrange(t, &a);
}

/* A call without an input that the operator was made with is refused, be it that one or all from it on. */
static void check_absent(trial *t) {
  const leat_op_info *info = t->draw.info;
  arrangement a;
  arrange(t, &a);
  for (uint32_t k = info->min_inputs; k < t->draw.input_count; ++k) {
    const DLTensor *const given = a.in[k];
    const uint32_t count = t->draw.input_count;
    for (uint32_t behind = 0; behind < 2 && given != NULL; ++behind) {
      a.in[k] = NULL;
      t->draw.input_count = behind != 0 ? k : count;
      const int32_t status = invoke(t, &a);
      t->draw.input_count = count;
      a.in[k] = given;
      TRIAL_CHECK(t, status == LEAT_ERROR_INVALID_ARGUMENT, "without input %" PRIu32 "%s invoke() returned %s", k,
                  behind != 0 ? " and those behind it" : "", leati_case_status_name(status));
    }
  }
  disarrange(t, &a);
}

static bool same_shape(const leati_draw_tensor *input, const leat_shape *output) {
  const DLDataType dtype = leati_draw_dlpack(input->type);
  bool same = input->rank == output->ndim && dtype.code == output->dtype.code && dtype.bits == output->dtype.bits;
  for (int32_t d = 0; same && d < input->rank; ++d) {
    same = input->dims[d] == output->dims[d];
  }
  return same;
}

/* Output 0 in the memory of an input is what it is elsewhere, or is refused where the operator list does not allow it.
 */
static void check_in_place(trial *t, const results *elsewhere) {
  const leati_draw *draw = &t->draw;
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    arrangement a;
    arrange(t, &a);
    placed *first = &a.r.outputs[0];
    if (a.inputs[k].address != 0 && first->address != 0 && first->bytes > 0 && a.inputs[k].size == first->bytes) {
      const uint64_t flags = draw->info->flags;
      const bool last = (flags & LEAT_OP_LAST_IN_PLACE) != 0 && k + draw->output_count == draw->input_count;
      const bool allowed = ((flags & LEAT_OP_ALIAS) != 0 && k == 0) ||
                           (((flags & LEAT_OP_IN_PLACE) != 0 || last) && same_shape(&draw->inputs[k], &t->shapes[0]));
      first->view.data = (void *)(uintptr_t)a.inputs[k].address;
      first->view.byte_offset = 0;
      const int32_t status = invoke(t, &a);
      const int32_t right = allowed ? LEAT_OK : LEAT_ERROR_INVALID_ARGUMENT;
      TRIAL_CHECK(t, status == right,
                  "with output 0 in the memory of input %" PRIu32 " invoke() returned %s, expected %s", k,
                  leati_case_status_name(status), leati_case_status_name(right));
      if (allowed) {
        a.r.wanted = 1;
        leati_download(t->ctx, t->stream, a.inputs[k].address, first->block + LEAT_GUARD, first->bytes);
        leati_synchronize(t->ctx, t->stream);
        compare(t, elsewhere, &a.r, "in the memory of an input");
      }
    }
    disarrange(t, &a);
  }
}

/* Whatever a view says, nothing is touched but its block: a guard of memory would know. */
static void check_hostile_view(trial *t) {
  static const int64_t numbers[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 0, 1, 7, 256, INT64_C(1) << 62, 1 << 30};
  const leati_draw *draw = &t->draw;
  arrangement a;
  if (draw->input_count == 0) {
    return;
  }
  arrange(t, &a);
  const uint32_t which = (uint32_t)leati_draw_int(&t->draw, 0, draw->input_count);
  placed *p = which < draw->input_count ? &a.inputs[which] : &a.r.outputs[0];
  const int64_t number = numbers[leati_draw_int(&t->draw, 0, G_N_ELEMENTS(numbers) - 1)];
  int64_t dims[LEAT_DRAW_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const int32_t ranks[] = {-1, INT32_MIN, LEAT_MAX_RANK + 1, INT32_MAX};
  for (int32_t d = 0; d < p->view.ndim; ++d) {
    dims[d] = p->view.shape[d];
  }
  /* The last two would have indices point to where nothing is. */
  switch (leati_draw_int(&t->draw, 0, draw->faults || !leati_draw_knows(draw->info, "index") ? 6 : 4)) {
    case 0:
      p->view.byte_offset = (uint64_t)number;
      break;
    case 1:
      p->view.data = leati_draw_chance(&t->draw, 50) ? NULL : (void *)(uintptr_t)number;
      /* An address of the host is taken at its word. */
      p->view.data = p->address != 0 ? p->view.data : NULL;
      break;
    case 2:
      p->view.device.device_id = (int32_t)number;
      p->view.device.device_type = p->address == 0 ? kDLVulkan : kDLCUDA;
      break;
    case 3:
      p->view.ndim = ranks[leati_draw_int(&t->draw, 0, G_N_ELEMENTS(ranks) - 1)];
      p->view.shape = leati_draw_chance(&t->draw, 50) && p->view.ndim > LEAT_DRAW_RANK ? NULL : dims;
      break;
    case 4:
      p->view.dtype.lanes = (uint16_t)number;
      p->view.dtype.bits = (uint8_t)leati_draw_int(&t->draw, 0, 255);
      break;
    case 5:
      for (int32_t d = 0; d < p->view.ndim; ++d) {
        p->strides[d] = leati_draw_chance(&t->draw, 50) ? number : leati_draw_int(&t->draw, -9, 9);
      }
      p->view.strides = p->strides;
      break;
    default:
      dims[leati_draw_int(&t->draw, 0, LEAT_MAX_RANK - 1)] = number;
      p->view.shape = p->address != 0 ? dims : NULL;
      break;
  }
  if (p->address == 0 && p->view.byte_offset != 0) {
    p->view.byte_offset = 0;
  }
  if (p->address == 0 && p->view.strides != NULL) {
    p->view.strides = NULL;
  }
  const int32_t status = invoke(t, &a);
  TRIAL_CHECK(t, status == LEAT_OK || t->error.message[0] != '\0', "invoke() returned %s without a message",
              leati_case_status_name(status));
  for (uint32_t k = 0; k < draw->output_count; ++k) {
    if (a.r.outputs[k].address != 0 && &a.r.outputs[k] != p) {
      leati_download(t->ctx, t->stream, a.r.outputs[k].address, a.r.outputs[k].block, a.r.outputs[k].size);
      leati_synchronize(t->ctx, t->stream);
      check_guards(t, k, &a.r.outputs[k]);
    }
  }
  disarrange(t, &a);
}

/* ---- Trials ----------------------------------------------------------------------------------------------------- */

/* Whether a stream fails where a kernel meets an index out of range or divides by 0 (backend.h, "Operators"). */
static bool is_guarded(void) {
  const char *guard = g_getenv("LEAT_MEMORY_GUARD");
  return guard != NULL && guard[0] != '\0' && strcmp(guard, "0") != 0;
}

/* Draws call `number` of an operator and has its shapes inferred. False: it was refused. Release it with
 * trial_end() in any case. */
static bool trial_begin(trial *t, leat_case_context *ctx, leat_stream *stream, const leat_op_info *info,
                        uint32_t number, int empty, int spoilt, const uint8_t *choices, size_t choice_count) {
  placed inputs[LEAT_DRAW_INPUTS];
  const DLTensor *views[LEAT_DRAW_INPUTS] = {NULL};
  *t = (trial){.ctx = ctx, .stream = stream, .number = number};
  /* Knuth's multiplicative hash, so that neighbouring numbers have nothing in common. */
  leati_draw_make(&t->draw, info, (ctx->seed + number) * 2654435761u ^ g_str_hash(info->name), empty, !is_guarded(),
                  choices, choice_count);
  if (leati_draw_chance(&t->draw, spoilt)) {
    leati_draw_spoil(&t->draw);
  }
  t->text = leati_draw_text(&t->draw);
  if (choice_count == 0) {
    printf("call %" PRIu32 ": %s\n", number, t->text);
    fflush(stdout);
  }
  bool taken = create(t);
  if (taken) {
    memset(inputs, 0, sizeof(inputs));
    place_inputs(t, false, inputs, views);
    taken = infer(t, views);
    release_inputs(t, inputs);
  }
  return taken;
}

static void trial_end(trial *t) {
  if (t->op != NULL) {
    leati_op_destroy(t->ctx, t->op);
  }
  leati_draw_clear(&t->draw);
  g_free(t->text);
}

/* Now and then a call is also made with views that it must not have. */
static void check_use(trial *t, const results *a) {
  if (t->draw.output_count == 0) {
    return;
  }
  if (leati_draw_chance(&t->draw, 15)) {
    check_illegal(t);
  }
  if (leati_draw_chance(&t->draw, 15)) {
    check_in_place(t, a);
  }
  if (leati_draw_chance(&t->draw, 30)) {
    check_hostile_view(t);
  }
  if (leati_draw_chance(&t->draw, 15)) {
    check_absent(t);
  }
}

/* Runs a call that was taken: compact, then in another layout and for some of the outputs. */
static bool trial_run(trial *t) {
  const uint32_t all = (1u << t->draw.output_count) - 1;
  const uint32_t some =
      leati_draw_chance(&t->draw, 50) ? all : required_mask(t) | (uint32_t)leati_draw_int(&t->draw, 0, all);
  results a;
  results b;
  if (!is_small(t)) {
    return false;
  }
  int32_t status = run(t, false, all, patterns[0], &a);
  if (status != LEAT_OK) {
    check_refusal(t, "invoke()", status);
  } else {
    status = run(t, true, some & all, patterns[1], &b);
    TRIAL_CHECK(t, status == LEAT_OK, "invoke() returned %s (%.300s) in another layout", leati_case_status_name(status),
                t->error.message);
    compare(t, &a, &b, "in another layout");
    if (!t->draw.spoilt) {
      check_reference(t, &a);
    }
    release_results(t, &b);
    if (!t->draw.spoilt) {
      check_use(t, &a);
    }
  }
  release_results(t, &a);
  return status == LEAT_OK;
}

/* Makes a call that was taken, whatever comes out: on a device that does not compute. */
static void trial_invoke(trial *t) {
  results r;
  if (!is_small(t)) {
    return;
  }
  for (int strided = 0; strided < 2; ++strided) {
    const int32_t status = run(t, strided != 0, (1u << t->draw.output_count) - 1, patterns[strided], &r);
    if (status != LEAT_OK) {
      check_refusal(t, "invoke()", status);
    }
    release_results(t, &r);
  }
  if (!t->draw.spoilt && t->draw.output_count != 0) {
    check_illegal(t);
    check_hostile_view(t);
    check_absent(t);
  }
}

void leati_random_call(leat_case_context *ctx, leat_stream *stream, const leat_op_info *info, uint32_t number,
                       bool computes, const uint8_t *choices, size_t choice_count) {
  trial t;
  const bool taken = trial_begin(&t, ctx, stream, info, number, 15, 30, choices, choice_count);
  if (taken && computes) {
    trial_run(&t);
  } else if (taken) {
    trial_invoke(&t);
  }
  trial_end(&t);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------ */

/* The entries of the plugin's list that are of a kind. */
static GPtrArray *entries_of(leat_case_context *ctx, const char *kind) {
  GPtrArray *entries = g_ptr_array_new();
  uint32_t count = 0;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t k = 0; k < count; ++k) {
    const leat_op_info *info = NULL;
    LEAT_CHECK_OK(ctx, ctx->op->info(k, &info, LEAT_ERR));
    if (leati_draw_knows(info, kind)) {
      g_ptr_array_add(entries, (gpointer)(uintptr_t)info);
    } else if (!leati_draw_knows(info, NULL)) {
      printf("it is not known how to draw %s\n", info->name);
    }
  }
  if (entries->len == 0) {
    leati_case_skip(ctx, "the operator list has none of this kind");
  }
  return entries;
}

static void run_random(leat_case_context *ctx, const void *data) {
  GPtrArray *entries = entries_of(ctx, data);
  const uint32_t calls = ctx->calls > 0 ? ctx->calls : CALLS;
  uint32_t *taken = g_new0(uint32_t, entries->len);
  leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t k = ctx->first_call; k < ctx->first_call + calls; ++k) {
    trial t;
    if (trial_begin(&t, ctx, stream, entries->pdata[k % entries->len], k, 15, 30, NULL, 0) && trial_run(&t)) {
      taken[k % entries->len]++;
    }
    trial_end(&t);
  }
  for (uint32_t k = 0; k < entries->len && calls >= DRAWS * entries->len; ++k) {
    const leat_op_info *info = entries->pdata[k];
    LEAT_CHECK_MESSAGE(ctx, taken[k] > 0, "no call of %s was taken", info->name);
  }
  leati_stream_destroy(ctx, stream);
  g_free(taken);
  g_ptr_array_unref(entries);
}

/* Tries calls of an operator until one runs; fails the case if none does. `most_outputs`: one that has as many outputs
 * as the operator gives, of lists so many at least. */
static void find_call(trial *t, leat_case_context *ctx, leat_stream *stream, const leat_op_info *info,
                      bool most_outputs) {
  const uint32_t outputs = info->max_outputs < 4 ? info->max_outputs : 4;
  for (uint32_t k = 0; k < DRAWS; ++k) {
    if (trial_begin(t, ctx, stream, info, k, 0, 0, NULL, 0) && (!most_outputs || t->draw.output_count >= outputs) &&
        is_small(t)) {
      return;
    }
    trial_end(t);
  }
  LEAT_FAIL(ctx, "of %u calls of %s none was taken", DRAWS, info->name);
}

static void run_absent(leat_case_context *ctx, const void *data) {
  GPtrArray *entries = entries_of(ctx, data);
  leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t e = 0; e < entries->len; ++e) {
    trial t;
    results all;
    find_call(&t, ctx, stream, entries->pdata[e], true);
    const uint32_t required = required_mask(&t);
    const uint32_t last = (1u << t.draw.output_count) - 1;
    LEAT_CHECK_OK(ctx, run(&t, false, last, patterns[0], &all));
    for (uint32_t wanted = 0; wanted <= last; ++wanted) {
      results some;
      const int32_t status = run(&t, false, wanted, patterns[1], &some);
      const int32_t right = (wanted & required) == required ? LEAT_OK : LEAT_ERROR_INVALID_ARGUMENT;
      TRIAL_CHECK(&t, status == right, "for outputs of mask %" PRIu32 " invoke() returned %s, expected %s", wanted,
                  leati_case_status_name(status), leati_case_status_name(right));
      if (status == LEAT_OK) {
        compare(&t, &all, &some, "when others are absent");
      }
      release_results(&t, &some);
    }
    release_results(&t, &all);
    trial_end(&t);
  }
  leati_stream_destroy(ctx, stream);
  g_ptr_array_unref(entries);
}

/* Whether an input or an output has no elements. */
static bool is_empty_somewhere(const trial *t) {
  const leati_draw *draw = &t->draw;
  bool empty = false;
  for (uint32_t k = 0; k < draw->input_count; ++k) {
    empty = empty || (draw->inputs[k].present && draw->inputs[k].count == 0);
  }
  for (uint32_t k = 0; k < draw->output_count; ++k) {
    empty = empty || leati_draw_count(t->shapes[k].ndim, t->shapes[k].dims) == 0;
  }
  return empty;
}

/* What is empty nowhere is left to the random cases: compiling its kernels would take most of the time. */
static void run_empty(leat_case_context *ctx, const void *data) {
  GPtrArray *entries = entries_of(ctx, data);
  leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t k = 0; k < CALLS; ++k) {
    trial t;
    if (trial_begin(&t, ctx, stream, entries->pdata[k % entries->len], k, 100, 0, NULL, 0) && is_empty_somewhere(&t)) {
      trial_run(&t);
    }
    trial_end(&t);
  }
  leati_stream_destroy(ctx, stream);
  g_ptr_array_unref(entries);
}

#define KIND_CASES(kind)                                                                                              \
  {.name = "random.op." kind,                                                                                         \
   .summary = "Drawn calls of operators (" kind ") give the same in every layout, and what the reference says.",      \
   .run = run_random,                                                                                                 \
   .deadline_s = 300,                                                                                                 \
   .data = kind},                                                                                                     \
      {.name = "outputs.absent." kind,                                                                                \
       .summary = "Optional outputs (" kind ") may be absent in any combination; without a required one is refused.", \
       .run = run_absent,                                                                                             \
       .deadline_s = 300,                                                                                             \
       .data = kind},                                                                                                 \
      {.name = "outputs.written." kind,                                                                               \
       .summary = "Every element is written (" kind ") where dimensions have size 0.",                                \
       .run = run_empty,                                                                                              \
       .deadline_s = 300,                                                                                             \
       .data = kind},

static const leat_case random_cases[] = {LEATI_DRAW_KINDS(KIND_CASES)};

void leati_cases_random(leat_case_list *list) {
  leati_case_list_add(list, random_cases, G_N_ELEMENTS(random_cases));
}
