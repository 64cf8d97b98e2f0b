/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/op_engine.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases/graph_net.h"
#include "fixture.h"
#include "ops/core/accuracy.h"
#include "ops/core/ref_run.h"

/* As float 6e16, as integer a large number, as boolean no boolean. Not NaN, because NaN can be a right result. */
#define POISON_BYTE 0x5B
/* Runs by thread, each with other inputs, and laid out in turn as round_views says. */
#define ROUNDS 3u

/* One case. */
typedef struct op_case {
  const leati_op_spec *spec;
  uint32_t view;    /* one VIEW_* bit, or 0 */
  uint32_t threads; /* 0: the thread of the case alone */
  bool graph;       /* launched as a graph of one node, instead of invoked */
} op_case;

/* What all threads of a case share. */
typedef struct op_shared {
  const op_case *c;
  const leat_op_info *info;
  const leat_op *op;
} op_shared;

/* A tensor of the case in memory. */
typedef struct placed {
  leat_case_tensor view;
  bool host;
  uint64_t address; /* the device block, or 0 */
  uint8_t *block;   /* what is or was in it, or the host tensor's bytes */
  uint64_t size;    /* bytes of the block */
} placed;

static const uint32_t round_views[ROUNDS] = {0, VIEW_SLICED, VIEW_TRANSPOSED};

static const float special[SPECIAL_COUNT] = {0.0f, -0.0f, 1.0f,     -1.0f,     0.5f, 1.5f,  2.5f,   -2.5f,
                                             3.0f, -7.0f, INFINITY, -INFINITY, NAN,  1e30f, -1e30f, 1e-30f};

uint32_t leati_op_spec_inputs(const leati_op_spec *spec) {
  uint32_t count = 0;
  while (count < LEATI_OP_MAX_INPUTS && spec->inputs[count].fill != LEATI_FILL_END) {
    count++;
  }
  return count;
}

static const char *spec_domain(const leati_op_spec *spec) {
  return spec->domain != NULL ? spec->domain : "";
}

static uint32_t spec_outputs(const leati_op_spec *spec) {
  return spec->outputs > 0 ? spec->outputs : 1;
}

static bool is_unwanted(const leati_op_spec *spec, uint32_t output) {
  return (spec->unwanted >> output & 1) != 0;
}

static uint32_t spec_attributes(const leati_op_spec *spec, const leat_attribute *out[LEATI_OP_MAX_ATTRIBUTES]) {
  uint32_t count = 0;
  while (count < LEATI_OP_MAX_ATTRIBUTES && spec->attributes[count].name != NULL) {
    out[count] = &spec->attributes[count];
    count++;
  }
  return count;
}

/* ---- Elements --------------------------------------------------------------------------------------------------- */

/* Box and Muller's transform; the logarithm's argument is never 0. */
static double normal(GRand *rand) {
  double radius = sqrt(-2 * log(1 - g_rand_double(rand)));
  return radius * cos(2 * G_PI * g_rand_double(rand));
}

static double float_element(const leati_op_input *input, GRand *rand, int64_t at) {
  switch (input->fill) {
    case LEATI_FILL_UNIFORM:
      return (float)g_rand_double_range(rand, input->low, input->high);
    case LEATI_FILL_MIXED: {
      /* Subnormal numbers of float16, and special ones, between those of the range. */
      const double uniform = g_rand_double_range(rand, input->low, input->high);
      return at % 3 == 0 ? special[at / 3 % SPECIAL_COUNT] : at % 7 == 1 ? uniform * 0x1p-17 : uniform;
    }
    case LEATI_FILL_SPECIAL:
      return special[at / (int64_t)input->low % SPECIAL_COUNT];
    case LEATI_FILL_DENORMAL:
      return (float)(normal(rand) * FLT_MIN / 8);
    case LEATI_FILL_FLOATS:
      return input->floats[at];
    default:
      return (float)normal(rand);
  }
}

void leati_op_input_make(const leati_op_input *input, GRand *rand, leati_ref_tensor *out) {
  leati_ref_tensor_init(out, input->type, input->rank, input->dims);
  for (int64_t k = 0; k < out->count; ++k) {
    if (leati_ref_type_is_float(input->type)) {
      out->f[k] = leati_ref_type_round(input->type, float_element(input, rand, k));
    } else if (input->fill == LEATI_FILL_INTS) {
      out->i[k] = input->ints[k];
    } else {
      out->i[k] = g_rand_int_range(rand, (gint32)input->low, (gint32)input->high + 1);
    }
  }
}

/* The dimension that the broadcast view repeats, or -1. */
static int32_t repeated_dim(const leati_ref_tensor *tensor) {
  for (int32_t d = 0; d < tensor->rank; ++d) {
    if (tensor->dims[d] > 1) {
      return d;
    }
  }
  return -1;
}

/* Makes the elements equal along the dimension that will have stride 0. */
static void repeat(leati_ref_tensor *tensor) {
  int32_t d = repeated_dim(tensor);
  for (int64_t k = 0; d >= 0 && k < tensor->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(tensor->rank, tensor->dims, k, index);
    index[d] = 0;
    leati_ref_tensor_copy_element(tensor, k, tensor, leati_ref_ravel(tensor->rank, tensor->dims, index));
  }
}

static bool is_literal(const leati_op_input *input) {
  return input->fill == LEATI_FILL_INTS || input->fill == LEATI_FILL_FLOATS;
}

/* ---- Layouts ---------------------------------------------------------------------------------------------------- */

/* Strides in elements, the first element's place, and how many elements the memory behind a view has. */
typedef struct layout {
  int64_t strides[LEAT_MAX_RANK];
  int64_t first;
  int64_t elements;
  bool compact; /* pass no strides */
} layout;

static layout layout_of(const leati_ref_tensor *tensor, uint32_t view, bool literal) {
  layout l = {.elements = 1, .compact = view == 0 || view == VIEW_DYNAMIC || view == VIEW_IN_PLACE};
  if (view == VIEW_TRANSPOSED) {
    for (int32_t d = 0; d < tensor->rank; ++d) {
      l.strides[d] = l.elements;
      l.elements *= tensor->dims[d];
    }
    return l;
  }
  int32_t repeated = view == VIEW_BROADCAST && !literal ? repeated_dim(tensor) : -1;
  for (int32_t d = tensor->rank - 1; d >= 0; --d) {
    if (d == repeated) {
      continue;
    }
    /* A sliced view takes elements 1, 3, 5 ... of a dimension of 2 n + 1. */
    bool sliced = view == VIEW_SLICED;
    l.strides[d] = sliced ? 2 * l.elements : l.elements;
    l.first += sliced ? l.elements : 0;
    l.elements *= sliced ? 2 * tensor->dims[d] + 1 : tensor->dims[d];
  }
  if (view == VIEW_REVERSED) {
    for (int32_t d = 0; d < tensor->rank; ++d) {
      l.first += tensor->dims[d] > 0 ? (tensor->dims[d] - 1) * l.strides[d] : 0;
      l.strides[d] = -l.strides[d];
    }
  }
  return l;
}

/* Writes the elements to their places. */
static void scatter(const leati_ref_tensor *tensor, const layout *l, uint8_t *to) {
  int64_t size = leati_ref_type_size(tensor->type);
  uint8_t *from = leati_ref_alloc(tensor->count, (size_t)size);
  leati_ref_tensor_store(tensor, from);
  for (int64_t k = 0; k < tensor->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(tensor->rank, tensor->dims, k, index);
    int64_t at = l->first;
    for (int32_t d = 0; d < tensor->rank; ++d) {
      at += index[d] * l->strides[d];
    }
    memcpy(to + at * size, from + k * size, (size_t)size);
  }
  free(from);
}

static void place_host(placed *p, const leati_ref_tensor *tensor) {
  p->host = true;
  p->size = (uint64_t)(tensor->count * leati_ref_type_size(tensor->type));
  /* The guard also makes it a pointer that is not NULL when there is nothing in it. */
  p->block = g_malloc(p->size + LEAT_GUARD);
  memset(p->block + p->size, LEAT_GUARD_BYTE, LEAT_GUARD);
  leati_case_tensor_host(&p->view, p->block, leati_ref_type_dlpack(tensor->type), tensor->rank, tensor->dims);
}

/* Puts an input into device memory, laid out as the view says. */
static void place_input(leat_case_context *ctx, leat_stream *stream, placed *p, const leati_ref_tensor *tensor,
                        uint32_t view, bool literal) {
  layout l = layout_of(tensor, view, literal);
  int64_t size = leati_ref_type_size(tensor->type);
  uint64_t shift = view == VIEW_OFFSET ? 3 * (uint64_t)size : 0;
  p->size = 2 * LEAT_GUARD + (uint64_t)(l.elements * size) + shift;
  p->block = g_malloc(p->size);
  memset(p->block, LEAT_GAP_BYTE, p->size);
  scatter(tensor, &l, p->block + LEAT_GUARD + shift);
  p->address = leati_case_alloc(ctx, p->size, stream);
  leati_upload(ctx, stream, p->address, p->block, p->size);
  leati_case_tensor_device(ctx, &p->view, p->address + LEAT_GUARD + shift, leati_ref_type_dlpack(tensor->type),
                           tensor->rank, tensor->dims);
  if (!l.compact) {
    memcpy(p->view.strides, l.strides, sizeof(l.strides));
    p->view.tensor.strides = p->view.strides;
    p->view.tensor.byte_offset = (uint64_t)(l.first * size);
  }
}

/* Makes room for an output, poisoned and between guards. */
static void place_output(leat_case_context *ctx, leat_stream *stream, placed *p, const leati_ref_tensor *expected) {
  uint64_t bytes = (uint64_t)(expected->count * leati_ref_type_size(expected->type));
  p->size = 2 * LEAT_GUARD + bytes;
  p->block = g_malloc(p->size);
  memset(p->block, LEAT_GUARD_BYTE, p->size);
  memset(p->block + LEAT_GUARD, POISON_BYTE, bytes);
  p->address = leati_case_alloc(ctx, p->size, stream);
  leati_upload(ctx, stream, p->address, p->block, p->size);
  leati_case_tensor_device(ctx, &p->view, p->address + LEAT_GUARD, leati_ref_type_dlpack(expected->type),
                           expected->rank, expected->dims);
}

static void release(leat_case_context *ctx, placed *p) {
  if (p->address != 0) {
    leati_case_free(ctx, p->address);
  }
  g_free(p->block);
}

/* ---- The operator ----------------------------------------------------------------------------------------------- */

static bool is_for(const leati_op_spec *spec, const leat_op_info *info) {
  return strcmp(info->name, spec->name) == 0 && strcmp(info->domain, spec_domain(spec)) == 0 &&
         spec->since_version >= info->since_version_min && spec->since_version <= info->since_version_max;
}

/* Ends the case: the plugin lacks the operator, or this form of it. */
#define LACK(ctx, spec, ...)                         \
  do {                                               \
    if ((ctx)->all_operators) {                      \
      LEAT_FAIL(ctx, __VA_ARGS__);                   \
    }                                                \
    leati_case_lack(ctx, (spec)->name, __VA_ARGS__); \
  } while (0)

/* The entry of the plugin's list for the spec. */
static const leat_op_info *find_info(leat_case_context *ctx, const leati_op_spec *spec) {
  uint32_t count = 0;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t k = 0; k < count; ++k) {
    const leat_op_info *info = NULL;
    LEAT_CHECK_OK(ctx, ctx->op->info(k, &info, LEAT_ERR));
    if (is_for(spec, info)) {
      if (spec_outputs(spec) > info->max_outputs) {
        LACK(ctx, spec, "the operator list gives it %" PRIu32 " outputs at most", info->max_outputs);
      }
      return info;
    }
  }
  LACK(ctx, spec, "the operator list has no %s of version %" PRIu32, spec->name, spec->since_version);
}

static bool on_host(const leat_op_info *info, uint32_t input) {
  return (info->host_inputs >> (input < 63 ? input : 63) & 1) != 0;
}

static leat_op *create_op(leat_case_context *ctx, const op_case *c, const leat_op_info *info) {
  const leati_op_spec *spec = c->spec;
  uint32_t count = leati_op_spec_inputs(spec);
  leat_value_info infos[LEATI_OP_MAX_INPUTS];
  const leat_value_info *inputs[LEATI_OP_MAX_INPUTS] = {NULL};
  leati_ref_tensor constants[LEATI_OP_MAX_INPUTS];
  placed values[LEATI_OP_MAX_INPUTS];
  memset(constants, 0, sizeof(constants));
  memset(values, 0, sizeof(values));
  static const int64_t unknown[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
  GRand *rand = g_rand_new_with_seed(ctx->seed);
  for (uint32_t k = 0; k < count; ++k) {
    const leati_op_input *input = &spec->inputs[k];
    if (input->fill == LEATI_FILL_ABSENT) {
      continue;
    }
    bool constant = c->view == VIEW_DYNAMIC && on_host(info, k) && is_literal(input);
    if (constant) {
      leati_op_input_make(input, rand, &constants[k]);
      place_host(&values[k], &constants[k]);
      leati_ref_tensor_store(&constants[k], values[k].block);
    }
    bool hidden = c->view == VIEW_DYNAMIC && !constant;
    infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                 .ndim = input->rank,
                                 .dtype = leati_ref_type_dlpack(input->type),
                                 .shape = hidden ? unknown : input->dims,
                                 .value = constant ? &values[k].view.tensor : NULL};
    inputs[k] = &infos[k];
  }
  const leat_attribute *attributes[LEATI_OP_MAX_ATTRIBUTES];
  leat_op_desc desc = {.struct_size = sizeof(desc),
                       .since_version = spec->since_version,
                       .name = spec->name,
                       .domain = spec_domain(spec),
                       .attribute_count = spec_attributes(spec, attributes),
                       .input_count = count,
                       .output_count = spec_outputs(spec),
                       .attributes = attributes,
                       .inputs = inputs};
  leat_device *device = leati_fixture_device(ctx);
  leat_error err = {.struct_size = sizeof(err)};
  const int32_t status = ctx->op->supports(device, &desc, &err);
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    LACK(ctx, spec, "%.900s", err.message);
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK, "op.supports() returned %s: %.900s", leati_case_status_name(status),
                     err.message);
  leat_op *op = NULL;
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &desc, &op, LEAT_ERR));
  LEAT_CHECK(ctx, op != NULL);
  /* What create() was given is gone from here on: the operator holds copies or the address sanitizer speaks. */
  for (uint32_t k = 0; k < count; ++k) {
    release(ctx, &values[k]);
    leati_ref_tensor_clear(&constants[k]);
  }
  g_rand_free(rand);
  return op;
}

static void check_shape(leat_case_context *ctx, uint32_t output, const leati_ref_tensor *expected,
                        const leat_shape *got) {
  DLDataType dtype = leati_ref_type_dlpack(expected->type);
  LEAT_CHECK_MESSAGE(ctx,
                     got->dtype.code == dtype.code && got->dtype.bits == dtype.bits && got->dtype.lanes == dtype.lanes,
                     "infer() gives output %" PRIu32 " type (%u, %u, %u), expected (%u, %u, %u)", output,
                     got->dtype.code, got->dtype.bits, got->dtype.lanes, dtype.code, dtype.bits, dtype.lanes);
  LEAT_CHECK_MESSAGE(ctx, got->ndim == expected->rank,
                     "infer() gives output %" PRIu32 " %" PRId32 " dimensions, expected %" PRId32, output, got->ndim,
                     expected->rank);
  for (int32_t d = 0; d < expected->rank; ++d) {
    LEAT_CHECK_MESSAGE(ctx, got->dims[d] == expected->dims[d],
                       "infer() gives output %" PRIu32 " %" PRId64 " elements in dimension %" PRId32
                       ", expected %" PRId64,
                       output, got->dims[d], d, expected->dims[d]);
  }
}

static void check_guard(leat_case_context *ctx, uint32_t output, const char *where, const uint8_t *bytes,
                        uint8_t expected) {
  for (uint32_t k = 0; k < LEAT_GUARD; ++k) {
    LEAT_CHECK_MESSAGE(ctx, bytes[k] == expected, "byte %" PRIu32 " %s output %" PRIu32 " was written", k, where,
                       output);
  }
}

static void check_output(leat_case_context *ctx, uint32_t output, const leati_ref_tensor *expected, const placed *p,
                         bool in_place) {
  uint64_t bytes = (uint64_t)(expected->count * leati_ref_type_size(expected->type));
  const uint8_t *data = p->block;
  if (p->host) {
    check_guard(ctx, output, "behind", p->block + bytes, LEAT_GUARD_BYTE);
  } else {
    uint8_t guard = in_place ? LEAT_GAP_BYTE : LEAT_GUARD_BYTE;
    data += LEAT_GUARD;
    check_guard(ctx, output, "in front of", p->block, guard);
    check_guard(ctx, output, "behind", p->block + LEAT_GUARD + bytes, guard);
  }
  char message[512];
  LEAT_CHECK_MESSAGE(ctx, leati_ref_tensor_match(expected, data, message, sizeof(message)), "output %" PRIu32 ": %s",
                     output, message);
  leati_ref_accuracy_note(expected, data);
}

/* Launches a graph of the operator alone, of whose inputs the types are known and nothing else. */
static void launch_graph(leat_case_context *ctx, const leati_op_spec *spec, leat_stream *stream, uint32_t count,
                         const DLTensor *const *in, uint32_t out_count, const DLTensor *const *out) {
  enum { VALUES = LEATI_OP_MAX_INPUTS + LEATI_REF_MAX_OUTPUTS };
  leat_value_info infos[VALUES];
  const leat_value_info *values[VALUES];
  uint32_t takes[LEATI_OP_MAX_INPUTS], gives[LEATI_REF_MAX_OUTPUTS];
  uint32_t inputs[LEATI_OP_MAX_INPUTS], outputs[LEATI_REF_MAX_OUTPUTS];
  const DLTensor *given[LEATI_OP_MAX_INPUTS], *wanted[LEATI_REF_MAX_OUTPUTS];
  const leat_attribute *attributes[LEATI_OP_MAX_ATTRIBUTES];
  leat_graph_node node = {.struct_size = sizeof(node),
                          .since_version = spec->since_version,
                          .op = spec->name,
                          .domain = spec_domain(spec),
                          .attribute_count = spec_attributes(spec, attributes),
                          .input_count = count,
                          .output_count = out_count,
                          .attributes = attributes,
                          .inputs = takes,
                          .outputs = gives};
  const leat_graph_node *nodes[] = {&node};
  leat_graph_desc desc = {.struct_size = sizeof(desc),
                          .node_count = 1,
                          .values = values,
                          .nodes = nodes,
                          .inputs = inputs,
                          .outputs = outputs};
  for (uint32_t k = 0; k < count; ++k) {
    takes[k] = in[k] != NULL ? desc.value_count : LEAT_GRAPH_NO_VALUE;
    if (in[k] != NULL) {
      infos[desc.value_count] = (leat_value_info){.ndim = -1, .dtype = in[k]->dtype};
      given[desc.input_count] = in[k];
      inputs[desc.input_count++] = desc.value_count++;
    }
  }
  for (uint32_t k = 0; k < out_count; ++k) {
    gives[k] = out[k] != NULL ? desc.value_count : LEAT_GRAPH_NO_VALUE;
    if (out[k] != NULL) {
      infos[desc.value_count] = (leat_value_info){.ndim = -1};
      wanted[desc.output_count] = out[k];
      outputs[desc.output_count++] = desc.value_count++;
    }
  }
  for (uint32_t v = 0; v < desc.value_count; ++v) {
    infos[v].struct_size = sizeof(infos[v]);
    values[v] = &infos[v];
  }
  leat_graph *graph = NULL;
  LEAT_CHECK_OK(ctx, ctx->api->graph->build(leati_fixture_device(ctx), &desc, &graph, LEAT_ERR));
  LEAT_CHECK_OK(ctx,
                ctx->api->graph->launch(graph, stream, desc.input_count, given, desc.output_count, wanted, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->api->graph->destroy(graph, LEAT_ERR));
}

/* The input whose memory an output may be, or LEATI_OP_MAX_INPUTS. */
static uint32_t own_input(const leat_op_info *info, const leati_op_spec *spec, uint32_t output) {
  if ((info->flags & LEAT_OP_LAST_IN_PLACE) != 0) {
    const uint32_t outputs = spec->outputs != 0 ? spec->outputs : 1, inputs = leati_op_spec_inputs(spec);
    return output + inputs >= outputs ? output + inputs - outputs : LEATI_OP_MAX_INPUTS;
  }
  if ((info->flags & LEAT_OP_CACHES) != 0) {
    return output == 1 || output == 2 ? output + 2 : LEATI_OP_MAX_INPUTS;
  }
  return output == 0 ? 0 : LEATI_OP_MAX_INPUTS;
}

/* One run with inputs that depend on the seed alone. */
static void run_once(leat_case_context *ctx, const op_shared *shared, leat_stream *stream, uint32_t view,
                     uint32_t seed) {
  const op_case *c = shared->c;
  const leati_op_spec *spec = c->spec;
  uint32_t count = leati_op_spec_inputs(spec);
  leati_ref_tensor tensors[LEATI_OP_MAX_INPUTS];
  const leati_ref_tensor *refs[LEATI_OP_MAX_INPUTS] = {NULL};
  placed inputs[LEATI_OP_MAX_INPUTS];
  placed outputs[LEATI_REF_MAX_OUTPUTS];
  const DLTensor *in[LEATI_OP_MAX_INPUTS] = {NULL};
  const DLTensor *out[LEATI_REF_MAX_OUTPUTS] = {NULL};
  memset(tensors, 0, sizeof(tensors));
  memset(inputs, 0, sizeof(inputs));
  memset(outputs, 0, sizeof(outputs));
  GRand *rand = g_rand_new_with_seed(seed);
  for (uint32_t k = 0; k < count; ++k) {
    const leati_op_input *input = &spec->inputs[k];
    if (input->fill == LEATI_FILL_ABSENT) {
      continue;
    }
    leati_op_input_make(input, rand, &tensors[k]);
    refs[k] = &tensors[k];
    if (on_host(shared->info, k)) {
      place_host(&inputs[k], &tensors[k]);
      leati_ref_tensor_store(&tensors[k], inputs[k].block);
    } else {
      if (view == VIEW_BROADCAST && !is_literal(input)) {
        repeat(&tensors[k]);
      }
      place_input(ctx, stream, &inputs[k], &tensors[k], view, is_literal(input));
    }
    in[k] = &inputs[k].view.tensor;
  }
  g_rand_free(rand);

  const leat_attribute *attributes[LEATI_OP_MAX_ATTRIBUTES];
  leati_ref_node node = {.name = spec->name,
                         .since_version = spec->since_version,
                         .attribute_count = spec_attributes(spec, attributes),
                         .attributes = attributes,
                         .input_count = count,
                         .inputs = refs,
                         .output_count = spec_outputs(spec)};
  LEAT_CHECK_MESSAGE(ctx, leati_ref_run(&node), "the reference cannot compute this: %s", node.error);

  leat_shape shapes[LEATI_REF_MAX_OUTPUTS];
  leat_shape *shape_of[LEATI_REF_MAX_OUTPUTS];
  memset(shapes, 0, sizeof(shapes));
  for (uint32_t k = 0; k < node.output_count; ++k) {
    shapes[k].struct_size = sizeof(shapes[k]);
    shape_of[k] = &shapes[k];
  }
  LEAT_CHECK_OK(ctx, ctx->op->infer(shared->op, count, in, node.output_count, shape_of, LEAT_ERR));
  for (uint32_t k = 0; k < node.output_count; ++k) {
    check_shape(ctx, k, &node.outputs[k], &shapes[k]);
    if (is_unwanted(spec, k)) {
      continue;
    }
    if ((shared->info->host_outputs >> k & 1) != 0) {
      place_host(&outputs[k], &node.outputs[k]);
      memset(outputs[k].block, POISON_BYTE, outputs[k].size);
    } else if (view == VIEW_IN_PLACE && own_input(shared->info, spec, k) < count) {
      const placed *own = &inputs[own_input(shared->info, spec, k)];
      leati_case_tensor_device(ctx, &outputs[k].view, own->address + LEAT_GUARD,
                               leati_ref_type_dlpack(node.outputs[k].type), node.outputs[k].rank, node.outputs[k].dims);
      outputs[k].block = g_memdup2(own->block, own->size);
      outputs[k].size = own->size;
    } else {
      place_output(ctx, stream, &outputs[k], &node.outputs[k]);
    }
    out[k] = &outputs[k].view.tensor;
  }
  if (c->graph) {
    launch_graph(ctx, spec, stream, count, in, node.output_count, out);
  } else {
    LEAT_CHECK_OK(ctx, ctx->op->invoke(shared->op, stream, count, in, node.output_count, out, LEAT_ERR));
  }
  for (uint32_t k = 0; k < node.output_count; ++k) {
    if (!outputs[k].host && !is_unwanted(spec, k)) {
      uint64_t from = outputs[k].address != 0 ? outputs[k].address : inputs[own_input(shared->info, spec, k)].address;
      leati_download(ctx, stream, from, outputs[k].block, outputs[k].size);
    }
  }
  leati_synchronize(ctx, stream);
  for (uint32_t k = 0; k < node.output_count; ++k) {
    if (is_unwanted(spec, k)) {
      continue;
    }
    bool in_place = !outputs[k].host && outputs[k].address == 0;
    check_output(ctx, k, &node.outputs[k], &outputs[k], in_place);
    release(ctx, &outputs[k]);
  }
  for (uint32_t k = 0; k < count; ++k) {
    release(ctx, &inputs[k]);
    leati_ref_tensor_clear(&tensors[k]);
  }
  leati_ref_node_clear(&node);
}

static void run_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const op_shared *shared = data;
  leat_stream *stream = leati_stream_new(ctx);
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    run_once(ctx, shared, stream, round_views[round], ctx->seed + 1 + index * ROUNDS + round);
  }
  leati_stream_destroy(ctx, stream);
}

static void run_case(leat_case_context *ctx, const void *data) {
  const op_case *c = data;
  op_shared shared = {.c = c, .info = find_info(ctx, c->spec)};
  if (c->graph) {
    leati_graph_require(ctx);
  }
  if (c->view == VIEW_IN_PLACE &&
      (shared.info->flags & (LEAT_OP_IN_PLACE | LEAT_OP_ALIAS | LEAT_OP_CACHES | LEAT_OP_LAST_IN_PLACE)) == 0) {
    leati_case_skip(ctx, "the operator list has none of the flags for %s that let outputs be inputs' memory",
                    c->spec->name);
  }
  leati_fixture_device(ctx);
  leat_op *op = create_op(ctx, c, shared.info);
  shared.op = op;
  if (c->threads > 0) {
    leati_threads_run(ctx, c->threads, run_thread, &shared);
  } else {
    leat_stream *stream = leati_stream_new(ctx);
    run_once(ctx, &shared, stream, c->view, ctx->seed);
    leati_stream_destroy(ctx, stream);
  }
  leati_op_destroy(ctx, op);
}

/* ---- Cases ------------------------------------------------------------------------------------------------------ */

static void add_case(leat_case_list *list, op_case what, const char *suffix, const char *how) {
  const leati_op_spec *spec = what.spec;
  /* Both live as long as the process, as the list asks. */
  op_case *data = g_memdup2(&what, sizeof(what));
  leat_case added = {
      .name = g_strdup_printf("op.%s.%s%s", spec->name, spec->label, suffix),
      .summary = g_strdup_printf("%s (version %" PRIu32 ", %s) agrees with the CPU reference%s.", spec->name,
                                 spec->since_version, spec->label, how),
      .run = run_case,
      .data = data,
  };
  leati_case_list_add(list, &added, 1);
}

void leati_op_cases_add(leat_case_list *list, const leati_op_spec *specs, size_t count) {
  static const struct {
    uint32_t view;
    const char *suffix;
    const char *how;
  } views[] = {
      {VIEW_TRANSPOSED, ".transposed", " with inputs in reverse order of dimensions"},
      {VIEW_SLICED, ".sliced", " with inputs cut out of larger tensors"},
      {VIEW_REVERSED, ".reversed", " with inputs of negative strides"},
      {VIEW_BROADCAST, ".broadcast", " with inputs that repeat along a dimension"},
      {VIEW_OFFSET, ".offset", " with inputs at odd addresses"},
      {VIEW_DYNAMIC, ".dynamic", " with shapes unknown at creation"},
      {VIEW_IN_PLACE, ".in_place", " with outputs in the memory of inputs"},
  };
  for (size_t s = 0; s < count; ++s) {
    const leati_op_spec *spec = &specs[s];
    add_case(list, (op_case){.spec = spec}, "", "");
    if (s == 0 || strcmp(spec->name, specs[s - 1].name) != 0) {
      add_case(list, (op_case){.spec = spec, .graph = true}, ".graph", " as a graph of one node");
    }
    for (size_t v = 0; v < G_N_ELEMENTS(views); ++v) {
      if ((spec->variants & views[v].view) != 0) {
        add_case(list, (op_case){.spec = spec, .view = views[v].view}, views[v].suffix, views[v].how);
      }
    }
    for (uint32_t bit = 1; bit <= 4; ++bit) {
      if ((spec->threads >> bit & 1) != 0) {
        g_autofree char *suffix = g_strdup_printf(".threads_%u", 1u << bit);
        g_autofree char *how = g_strdup_printf(" from %u threads at once, with inputs of all layouts", 1u << bit);
        add_case(list, (op_case){.spec = spec, .threads = 1u << bit}, suffix, how);
      }
    }
  }
}

/* ---- What no case tries ----------------------------------------------------------------------------------------- */

/* The element types that a spec is about: those of its inputs, and those that attributes ask for. */
static uint64_t spec_types(const leati_op_spec *spec) {
  uint64_t types = 0;
  for (uint32_t k = 0; k < leati_op_spec_inputs(spec); ++k) {
    if (spec->inputs[k].fill != LEATI_FILL_ABSENT) {
      types |= leati_ref_type_leat(spec->inputs[k].type);
    }
  }
  const leat_attribute *attributes[LEATI_OP_MAX_ATTRIBUTES];
  const uint32_t count = spec_attributes(spec, attributes);
  for (uint32_t k = 0; k < count; ++k) {
    const leat_attribute *a = attributes[k];
    leati_ref_type type = LEATI_REF_TYPE_COUNT;
    if (a->type == LEAT_ATTRIBUTE_TENSOR) {
      type = leati_ref_type_from_dlpack(a->tensor->dtype);
    } else if (strcmp(a->name, "to") == 0 || strcmp(a->name, "dtype") == 0 || strcmp(a->name, "output_datatype") == 0) {
      type = leati_ref_type_from_onnx(a->i);
    }
    types |= type != LEATI_REF_TYPE_COUNT ? leati_ref_type_leat(type) : 0;
  }
  return types;
}

static void print_untried(const leat_op_info *info, bool tried, uint64_t types) {
  g_autofree char *entry =
      g_strdup_printf("%s%s%s %" PRIu32 " to %" PRIu32, info->domain, info->domain[0] != '\0' ? "." : "", info->name,
                      info->since_version_min, info->since_version_max);
  if (!tried) {
    printf("%s\n", entry);
    return;
  }
  for (uint32_t k = 0; k < info->type_count; ++k) {
    const uint64_t listed = info->types[k]->types;
    for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
      const uint64_t bit = leati_ref_type_leat((leati_ref_type)type);
      if (listed != bit && (listed & bit & ~types) != 0) {
        printf("%s %s %s\n", entry, info->types[k]->name, leati_ref_type_name((leati_ref_type)type));
      }
    }
  }
}

bool leati_op_untried(const GPtrArray *chosen, const leat_op_api *op) {
  uint32_t count = 0;
  if (op->count(&count, NULL) != LEAT_OK) {
    return false;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const leat_op_info *info = NULL;
    if (op->info(k, &info, NULL) != LEAT_OK) {
      return false;
    }
    bool tried = false;
    uint64_t types = 0;
    for (guint c = 0; c < chosen->len; ++c) {
      const leat_case *one = chosen->pdata[c];
      const op_case *data = one->run == run_case ? one->data : NULL;
      if (data != NULL && is_for(data->spec, info)) {
        tried = true;
        types |= spec_types(data->spec);
      }
    }
    print_untried(info, tried, types);
  }
  return true;
}
