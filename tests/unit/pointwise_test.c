/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of Pointwise gives the bits that its steps give as operators of their own, one after the other, one of
 * QuantizedPointwise those of DequantizeLinear, Pointwise and QuantizeLinear, and a program that makes no sense is
 * refused with what is wrong with it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "ops/elementwise/kernels/elementwise_codes.glsl"
#include "unit_fixture.h"

enum {
  ROWS = 6,
  COLUMNS = 44,
  COUNT = ROWS * COLUMNS,
  STEPS = LEAT_POINTWISE_STEPS,
  INPUTS = LEAT_POINTWISE_INPUTS,
  OPERANDS = 3,
  CONSTANTS = 8,
  SHORT = 5, /* steps of a program that is not long */
  PROGRAMS = 40,
};

/* What a function is as an operator. */
typedef enum kind {
  KIND_SAME,    /* its operands are the operator's inputs, but for those that are attributes */
  KIND_CLIP,    /* the last two are scalars */
  KIND_COMPARE, /* the operator gives booleans */
  KIND_WHERE,   /* and takes one */
} kind;

typedef struct function {
  const char *name, *operator_name;
  uint32_t since_version, inputs;
  const char *attributes[2]; /* that the operands behind the inputs are */
  kind kind;
} function;

static const function functions[] = {
    {.name = "Neg", .since_version = 13, .inputs = 1},
    {.name = "Abs", .since_version = 13, .inputs = 1},
    {.name = "Sign", .since_version = 13, .inputs = 1},
    {.name = "Sqrt", .since_version = 13, .inputs = 1},
    {.name = "Reciprocal", .since_version = 13, .inputs = 1},
    {.name = "Relu", .since_version = 14, .inputs = 1},
    {.name = "LeakyRelu", .since_version = 16, .inputs = 1, .attributes = {"alpha"}},
    {.name = "HardSigmoid", .since_version = 22, .inputs = 1, .attributes = {"alpha", "beta"}},
    {.name = "HardSwish", .since_version = 22, .inputs = 1},
    {.name = "Floor", .since_version = 13, .inputs = 1},
    {.name = "Ceil", .since_version = 13, .inputs = 1},
    {.name = "Round", .since_version = 22, .inputs = 1},
    {.name = "Softsign", .since_version = 22, .inputs = 1},
    {.name = "ThresholdedRelu", .since_version = 22, .inputs = 1, .attributes = {"alpha"}},
    {.name = "Shrink", .since_version = 9, .inputs = 1, .attributes = {"lambd", "bias"}},
    {.name = "Exp", .since_version = 13, .inputs = 1},
    {.name = "Log", .since_version = 13, .inputs = 1},
    {.name = "Erf", .since_version = 13, .inputs = 1},
    {.name = "Tanh", .since_version = 13, .inputs = 1},
    {.name = "Sigmoid", .since_version = 13, .inputs = 1},
    {.name = "Gelu", .since_version = 20, .inputs = 1},
    {.name = "FastGelu", .operator_name = "Gelu", .since_version = 20, .inputs = 1},
    {.name = "Softplus", .since_version = 22, .inputs = 1},
    {.name = "Elu", .since_version = 22, .inputs = 1, .attributes = {"alpha"}},
    {.name = "Selu", .since_version = 22, .inputs = 1, .attributes = {"alpha", "gamma"}},
    {.name = "Celu", .since_version = 28, .inputs = 1, .attributes = {"alpha"}},
    {.name = "Mish", .since_version = 22, .inputs = 1},
    {.name = "Swish", .since_version = 24, .inputs = 1, .attributes = {"alpha"}},
    {.name = "Sin", .since_version = 22, .inputs = 1},
    {.name = "Cos", .since_version = 22, .inputs = 1},
    {.name = "Tan", .since_version = 22, .inputs = 1},
    {.name = "Asin", .since_version = 22, .inputs = 1},
    {.name = "Acos", .since_version = 22, .inputs = 1},
    {.name = "Atan", .since_version = 22, .inputs = 1},
    {.name = "Sinh", .since_version = 22, .inputs = 1},
    {.name = "Cosh", .since_version = 22, .inputs = 1},
    {.name = "Asinh", .since_version = 22, .inputs = 1},
    {.name = "Acosh", .since_version = 22, .inputs = 1},
    {.name = "Atanh", .since_version = 22, .inputs = 1},
    {.name = "Add", .since_version = 14, .inputs = 2},
    {.name = "Sub", .since_version = 14, .inputs = 2},
    {.name = "Mul", .since_version = 14, .inputs = 2},
    {.name = "Div", .since_version = 14, .inputs = 2},
    {.name = "Pow", .since_version = 15, .inputs = 2},
    {.name = "Min", .since_version = 13, .inputs = 2},
    {.name = "Max", .since_version = 13, .inputs = 2},
    {.name = "PRelu", .since_version = 16, .inputs = 2},
    {.name = "Mod", .since_version = 28, .inputs = 2},
    {.name = "Fmod", .operator_name = "Mod", .since_version = 28, .inputs = 2},
    {.name = "Equal", .since_version = 19, .inputs = 2, .kind = KIND_COMPARE},
    {.name = "Less", .since_version = 13, .inputs = 2, .kind = KIND_COMPARE},
    {.name = "Greater", .since_version = 13, .inputs = 2, .kind = KIND_COMPARE},
    {.name = "LessOrEqual", .since_version = 16, .inputs = 2, .kind = KIND_COMPARE},
    {.name = "GreaterOrEqual", .since_version = 16, .inputs = 2, .kind = KIND_COMPARE},
    {.name = "Where", .since_version = 16, .inputs = 3, .kind = KIND_WHERE},
    {.name = "Clip", .since_version = 13, .inputs = 3, .kind = KIND_CLIP},
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static uint32_t operands_of(const function *fn) {
  return fn->inputs + (fn->attributes[0] != NULL) + (fn->attributes[1] != NULL);
}

/* How an input lies behind the numbers that it is made of. */
typedef enum layout { WHOLE, ROW, COLUMN, SCALAR, TRANSPOSED, LAYOUTS } layout;

typedef struct program {
  uint32_t input_count, step_count, operand_count;
  layout layouts[INPUTS];
  const function *steps[STEPS];
  int64_t operands[STEPS * OPERANDS];
} program;

static float numbers[INPUTS][COUNT];
static float constants[CONSTANTS] = {0.5f, 2.0f, -1.25f, 0.7978846f, 3.0f, 0.044715f, -0.0f, 1.0f};

static uint32_t random_state;
static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 16) % limit;
}

/* ---- The device ------------------------------------------------------------------------------------------------- */

static int64_t whole_shape[2] = {ROWS, COLUMNS};

typedef struct bench {
  fixture *f;
  leat_stream *stream;
  uint64_t inputs[INPUTS];         /* blocks with the numbers as they are */
  uint64_t values[INPUTS + STEPS]; /* the inputs as whole tensors, then the result of each operator */
  uint64_t constants;              /* as scalars */
  uint64_t booleans, result;
  uint64_t codes; /* scales of bytes, and behind them their zero points */
} bench;

static DLTensor tensor_at(const bench *b, uint64_t address, int32_t rank, DLDataType dtype) {
  return (DLTensor){.data = (void *)(uintptr_t)address,
                    .device = {kDLVulkan, (int)b->f->device->index},
                    .ndim = rank,
                    .dtype = dtype,
                    .shape = whole_shape};
}

static const DLDataType f32 = {kDLFloat, 32, 1};
static const DLDataType boolean = {LEAT_DL_BOOL, 8, 1};
static const DLDataType s8 = {kDLInt, 8, 1}, u8 = {kDLUInt, 8, 1};

static void transfer(bench *b, uint64_t address, const float *from, float *to, int64_t count) {
  DLTensor device = tensor_at(b, address, 1, f32), host = device;
  device.shape = host.shape = &count;
  host.device = (DLDevice){kDLCPU, 0};
  host.data = from != NULL ? (void *)(uintptr_t)from : to;
  assert_ok(b->f->api->memory->copy(b->stream, from != NULL ? &host : &device, from != NULL ? &device : &host, &err));
}

static uint64_t block(bench *b) {
  uint64_t address;
  assert_ok(b->f->api->memory->alloc(b->f->device, COUNT * sizeof(float), b->stream, &address, &err));
  return address;
}

static bench bench_open(fixture *f) {
  bench b = {.f = f};
  assert_ok(f->api->stream->create(f->device, 0, &b.stream, &err));
  for (int i = 0; i < INPUTS; ++i) {
    b.inputs[i] = block(&b);
    transfer(&b, b.inputs[i], numbers[i], NULL, COUNT);
  }
  for (int i = 0; i < INPUTS + STEPS; ++i) {
    b.values[i] = block(&b);
  }
  b.constants = block(&b);
  transfer(&b, b.constants, constants, NULL, CONSTANTS);
  b.booleans = block(&b);
  b.result = block(&b);
  b.codes = block(&b);
  return b;
}

static void bench_close(bench *b) {
  const leat_memory_api *const memory = b->f->api->memory;
  assert_ok(b->f->api->stream->synchronize(b->stream, &err));
  for (int i = 0; i < INPUTS; ++i) {
    assert_ok(memory->free(b->f->device, b->inputs[i], &err));
  }
  for (int i = 0; i < INPUTS + STEPS; ++i) {
    assert_ok(memory->free(b->f->device, b->values[i], &err));
  }
  assert_ok(memory->free(b->f->device, b->constants, &err));
  assert_ok(memory->free(b->f->device, b->booleans, &err));
  assert_ok(memory->free(b->f->device, b->result, &err));
  assert_ok(memory->free(b->f->device, b->codes, &err));
  assert_ok(b->f->api->stream->destroy(b->stream, &err));
}

/* Makes an operator for these inputs, runs it and lets it go. */
static void run_operator(bench *b, const leat_op_desc *of, const DLTensor *inputs, const DLTensor *output) {
  leat_value_info infos[INPUTS];
  const leat_value_info *described[INPUTS];
  const DLTensor *in[INPUTS];
  for (uint32_t i = 0; i < of->input_count; ++i) {
    infos[i] = (leat_value_info){
        .struct_size = sizeof(infos[0]), .ndim = inputs[i].ndim, .dtype = inputs[i].dtype, .shape = inputs[i].shape};
    described[i] = &infos[i];
    in[i] = &inputs[i];
  }
  leat_op_desc desc = *of;
  leat_op *op;
  desc.struct_size = sizeof(desc);
  desc.inputs = described;
  desc.output_count = 1;
  assert_ok(b->f->api->op->create(b->f->device, &desc, &op, &err));
  assert_ok(b->f->api->op->invoke(op, b->stream, of->input_count, in, 1, &output, &err));
  assert_ok(b->f->api->op->destroy(op, &err));
}

static leat_attribute float_attribute(const char *name, float value) {
  return (leat_attribute){
      .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = name, .f = value};
}

/* ---- Step by step ----------------------------------------------------------------------------------------------- */

/* An operand that is a tensor: of a constant a scalar. */
static DLTensor operand_tensor(const bench *b, int64_t operand) {
  return operand < 0 ? tensor_at(b, b->constants + (uint64_t)(-1 - operand) * sizeof(float), 0, f32)
                     : tensor_at(b, b->values[operand], 2, f32);
}

/* Runs an operator that turns floats to booleans or back. */
static void run_cast(bench *b, const DLTensor *from, const DLTensor *to) {
  const leat_attribute kind_of = {.struct_size = sizeof(kind_of),
                                  .type = LEAT_ATTRIBUTE_INT,
                                  .name = "to",
                                  .i = to->dtype.code == (uint8_t)LEAT_DL_BOOL ? 9 : 1};
  const leat_attribute *attributes[] = {&kind_of};
  const leat_op_desc desc = {
      .name = "Cast", .since_version = 13, .attribute_count = 1, .attributes = attributes, .input_count = 1};
  run_operator(b, &desc, from, to);
}

static void run_step(bench *b, const function *fn, const int64_t *operands, uint64_t to) {
  leat_attribute given[2];
  const leat_attribute *attributes[2] = {&given[0], &given[1]};
  leat_op_desc desc = {.name = fn->operator_name != NULL ? fn->operator_name : fn->name,
                       .since_version = fn->since_version,
                       .attributes = attributes,
                       .input_count = fn->inputs};
  for (uint32_t k = fn->inputs; k < operands_of(fn); ++k) {
    given[desc.attribute_count] = float_attribute(fn->attributes[k - fn->inputs], constants[-1 - operands[k]]);
    ++desc.attribute_count;
  }
  if (strcmp(fn->name, "FastGelu") == 0) {
    given[0] = (leat_attribute){.struct_size = sizeof(leat_attribute),
                                .type = LEAT_ATTRIBUTE_STRING,
                                .name = "approximate",
                                .string = "tanh",
                                .count = 4};
    desc.attribute_count = 1;
  } else if (strcmp(fn->name, "Fmod") == 0) {
    given[0] =
        (leat_attribute){.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = "fmod", .i = 1};
    desc.attribute_count = 1;
  }
  DLTensor inputs[OPERANDS];
  for (uint32_t k = 0; k < fn->inputs; ++k) {
    inputs[k] = operand_tensor(b, operands[k]);
  }
  /* The whole tensor of zeros broadcasts nothing: a result is whole because one of the operands is. */
  const DLTensor output = tensor_at(b, to, 2, f32), condition = tensor_at(b, b->booleans, 2, boolean);
  if (fn->kind == KIND_WHERE) {
    run_cast(b, &inputs[0], &condition);
    inputs[0] = condition;
  }
  run_operator(b, &desc, inputs, fn->kind == KIND_COMPARE ? &condition : &output);
  if (fn->kind == KIND_COMPARE) {
    run_cast(b, &condition, &output);
  }
}

/* The result of a program by the operators that it is made of, on tensors that are whole. */
static void run_steps(bench *b, const program *p, float *out) {
  const int64_t *operands = p->operands;
  for (uint32_t i = 0; i < p->input_count; ++i) {
    float whole[COUNT];
    for (int k = 0; k < COUNT; ++k) {
      const int row = k / COLUMNS, column = k % COLUMNS;
      const int at[LAYOUTS] = {[WHOLE] = k, [ROW] = column, [COLUMN] = row, [TRANSPOSED] = column * ROWS + row};
      whole[k] = numbers[i][at[p->layouts[i]]];
    }
    transfer(b, b->values[i], whole, NULL, COUNT);
    assert_ok(b->f->api->stream->synchronize(b->stream, &err));
  }
  for (uint32_t s = 0; s < p->step_count; ++s) {
    run_step(b, p->steps[s], operands, b->values[p->input_count + s]);
    operands += operands_of(p->steps[s]);
  }
  transfer(b, b->values[p->input_count + p->step_count - 1], NULL, out, COUNT);
  assert_ok(b->f->api->stream->synchronize(b->stream, &err));
}

/* ---- At once ---------------------------------------------------------------------------------------------------- */

static void program_text(const program *p, char out[512]) {
  size_t used = 0;
  for (uint32_t s = 0; s < p->step_count; ++s) {
    used += (size_t)snprintf(out + used, 512 - used, "%s%s", s == 0 ? "" : " ", p->steps[s]->name);
  }
}

static int64_t shapes[LAYOUTS][2] = {
    [WHOLE] = {ROWS, COLUMNS}, [ROW] = {COLUMNS}, [COLUMN] = {ROWS, 1}, [TRANSPOSED] = {ROWS, COLUMNS}};
static const int32_t ranks[LAYOUTS] = {[WHOLE] = 2, [ROW] = 1, [COLUMN] = 2, [SCALAR] = 0, [TRANSPOSED] = 2};
static int64_t transposed[2] = {1, ROWS};

/* An input of a program as it lies. */
static DLTensor input_tensor(const bench *b, const program *p, uint32_t i) {
  DLTensor input = tensor_at(b, b->inputs[i], ranks[p->layouts[i]], f32);
  input.shape = shapes[p->layouts[i]];
  input.strides = p->layouts[i] == TRANSPOSED ? transposed : NULL;
  return input;
}

/* Runs a program by an operator, with more attributes. */
static void run_pointwise(bench *b, const program *p, const char *name, uint32_t more_count, const leat_attribute *more,
                          const DLTensor *inputs, const DLTensor *output) {
  char names[512];
  program_text(p, names);
  const leat_attribute attributes[] = {
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_STRING,
       .name = "functions",
       .count = strlen(names),
       .string = names},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_INTS,
       .name = "operands",
       .count = p->operand_count,
       .ints = p->operands},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_FLOATS,
       .name = "constants",
       .count = CONSTANTS,
       .floats = constants},
  };
  const leat_attribute *given[8] = {&attributes[0], &attributes[1], &attributes[2]};
  for (uint32_t k = 0; k < more_count; ++k) {
    given[3 + k] = &more[k];
  }
  const leat_op_desc desc = {.name = name,
                             .domain = "leat",
                             .since_version = 1,
                             .attribute_count = 3 + more_count,
                             .attributes = given,
                             .input_count = p->input_count};
  run_operator(b, &desc, inputs, output);
}

/* The result of a program by Pointwise. */
static void run_program(bench *b, const program *p, float *out) {
  DLTensor inputs[INPUTS];
  for (uint32_t i = 0; i < p->input_count; ++i) {
    inputs[i] = input_tensor(b, p, i);
  }
  const DLTensor output = tensor_at(b, b->result, 2, f32);
  run_pointwise(b, p, "Pointwise", 0, NULL, inputs, &output);
  transfer(b, b->result, NULL, out, COUNT);
  assert_ok(b->f->api->stream->synchronize(b->stream, &err));
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------ */

/* Which inputs of a program are of bytes, and whether its result is, which comes last. */
typedef struct coding {
  DLDataType types[INPUTS + 1];
  float scales[INPUTS + 1]; /* 0: of floats */
  int64_t zero_points[INPUTS + 1];
  bool shifted; /* bytes begin at an address that nothing larger does */
} coding;

static coding random_coding(uint32_t input_count) {
  static const float scales[] = {0.02f, 0.015625f, 0.11f, 1e-3f, -0.05f, 0.7f};
  coding c = {.shifted = random_below(4) == 0};
  for (uint32_t i = 0; i <= INPUTS; ++i) {
    const bool bytes = random_below(3) != 0 && (i < input_count || i == INPUTS), sign = random_below(2) != 0;
    c.types[i] = !bytes ? f32 : sign ? s8 : u8;
    c.scales[i] = bytes ? scales[random_below(6)] : 0;
    c.zero_points[i] = bytes ? (int64_t)random_below(256) - (sign ? 128 : 0) : 0;
  }
  return c;
}

static void write_codes(bench *b, const coding *c) {
  float all[2 * (INPUTS + 1)];
  memcpy(all, c->scales, sizeof(c->scales));
  for (uint32_t i = 0; i <= INPUTS; ++i) {
    const uint8_t zero = (uint8_t)c->zero_points[i];
    memset(&all[INPUTS + 1 + i], zero, sizeof(float));
  }
  transfer(b, b->codes, all, NULL, 2 * (INPUTS + 1));
  assert_ok(b->f->api->stream->synchronize(b->stream, &err));
}

/* Runs DequantizeLinear or QuantizeLinear with scale and zero point number `i`. */
static void run_linear(bench *b, const coding *c, const char *name, uint32_t i, const DLTensor *x, const DLTensor *y) {
  const leat_op_desc desc = {.name = name, .since_version = 13, .input_count = 3};
  const DLTensor inputs[] = {*x, tensor_at(b, b->codes + i * sizeof(float), 0, f32),
                             tensor_at(b, b->codes + (INPUTS + 1 + i) * sizeof(float), 0, c->types[i])};
  run_operator(b, &desc, inputs, y);
}

static DLTensor coded_input(const bench *b, const program *p, const coding *c, uint32_t i) {
  DLTensor input = input_tensor(b, p, i);
  if (c->scales[i] != 0) {
    input.dtype = c->types[i];
    input.byte_offset = c->shifted;
  }
  return input;
}

static void run_coded_steps(bench *b, const program *p, const coding *c, float *out) {
  DLTensor inputs[INPUTS];
  for (uint32_t i = 0; i < p->input_count; ++i) {
    inputs[i] = coded_input(b, p, c, i);
    if (c->scales[i] != 0) {
      DLTensor floats = tensor_at(b, b->values[i], inputs[i].ndim, f32);
      floats.shape = inputs[i].shape;
      run_linear(b, c, "DequantizeLinear", i, &inputs[i], &floats);
      inputs[i] = floats;
    }
  }
  const DLTensor floats = tensor_at(b, b->result, 2, f32), bytes = tensor_at(b, b->booleans, 2, c->types[INPUTS]);
  run_pointwise(b, p, "Pointwise", 0, NULL, inputs, &floats);
  if (c->scales[INPUTS] != 0) {
    run_linear(b, c, "QuantizeLinear", INPUTS, &floats, &bytes);
  }
  transfer(b, c->scales[INPUTS] != 0 ? b->booleans : b->result, NULL, out, COUNT);
  assert_ok(b->f->api->stream->synchronize(b->stream, &err));
}

static void run_coded_program(bench *b, const program *p, const coding *c, float *out) {
  const leat_attribute more[] = {{.struct_size = sizeof(leat_attribute),
                                  .type = LEAT_ATTRIBUTE_FLOATS,
                                  .name = "scales",
                                  .count = p->input_count,
                                  .floats = c->scales},
                                 {.struct_size = sizeof(leat_attribute),
                                  .type = LEAT_ATTRIBUTE_INTS,
                                  .name = "zero_points",
                                  .count = p->input_count,
                                  .ints = c->zero_points},
                                 {.struct_size = sizeof(leat_attribute),
                                  .type = LEAT_ATTRIBUTE_INT,
                                  .name = "result_type",
                                  .i = c->types[INPUTS].code == kDLInt ? 3 : 2},
                                 float_attribute("result_scale", c->scales[INPUTS]),
                                 {.struct_size = sizeof(leat_attribute),
                                  .type = LEAT_ATTRIBUTE_INT,
                                  .name = "result_zero_point",
                                  .i = c->zero_points[INPUTS]}};
  DLTensor inputs[INPUTS];
  for (uint32_t i = 0; i < p->input_count; ++i) {
    inputs[i] = coded_input(b, p, c, i);
  }
  const DLTensor output = tensor_at(b, b->result, 2, c->types[INPUTS]);
  run_pointwise(b, p, "QuantizedPointwise", c->scales[INPUTS] != 0 ? 5 : 2, more, inputs, &output);
  transfer(b, b->result, NULL, out, COUNT);
  assert_ok(b->f->api->stream->synchronize(b->stream, &err));
}

static void compare_coded(bench *b, const program *p, const coding *c) {
  static union {
    float floats[COUNT];
    uint8_t bytes[COUNT * sizeof(float)];
  } expected, found;
  write_codes(b, c);
  run_coded_steps(b, p, c, expected.floats);
  run_coded_program(b, p, c, found.floats);
  for (int k = 0; k < COUNT; ++k) {
    const float e = expected.floats[k], f = found.floats[k];
    const bool same = c->scales[INPUTS] != 0 ? expected.bytes[k] == found.bytes[k]
                                             : memcmp(&e, &f, sizeof(float)) == 0 || (isnan(e) && isnan(f));
    if (!same) {
      char names[512];
      program_text(p, names);
      fail_msg("'%s' on %u inputs: element %d differs: %a and %a, or %u and %u by its operators", names, p->input_count,
               k, f, e, found.bytes[k], expected.bytes[k]);
    }
  }
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

static void compare(bench *b, const program *p) {
  static float expected[COUNT], found[COUNT];
  run_steps(b, p, expected);
  run_program(b, p, found);
  for (int k = 0; k < COUNT; ++k) {
    /* Of NaN nothing is promised but that it is one. */
    if (memcmp(&expected[k], &found[k], sizeof(float)) != 0 && !(isnan(expected[k]) && isnan(found[k]))) {
      char names[512];
      program_text(p, names);
      fail_msg("'%s' on %u inputs: element %d is %a; by its operators it is %a", names, p->input_count, k, found[k],
               expected[k]);
    }
  }
}

/* Appends a step. What an operator takes as attribute or as scalar is a constant; of the others the first is whole. */
static void add_step(program *p, const function *fn) {
  const uint32_t made = p->input_count + p->step_count;
  for (uint32_t k = 0; k < operands_of(fn); ++k) {
    const bool fixed = k >= fn->inputs || (fn->kind == KIND_CLIP && k > 0);
    const bool constant = fixed || (k > 0 && random_below(4) == 0);
    p->operands[p->operand_count++] = constant                      ? -1 - (int64_t)random_below(CONSTANTS)
                                      : k == 0 && p->step_count > 0 ? (int64_t)made - 1
                                                                    : (int64_t)random_below(made);
  }
  p->steps[p->step_count++] = fn;
}

/* Whether the kth function or program is tried: each nth is, where POINTWISE_PART says n. All are drawn, so that they
 * are the same ones. */
static bool is_tried(int k) {
  const char *const given = getenv("POINTWISE_PART");
  return given == NULL || k % atoi(given) == 0;
}

static void each_function_gives_the_bits_of_its_operator(void **state) {
  bench b = bench_open(fixture_of(state));
  for (int k = 0; k < FUNCTIONS; ++k) {
    for (int round = 0; round < 2; ++round) {
      program p = {.input_count = functions[k].inputs};
      add_step(&p, &functions[k]);
      if (is_tried(k)) {
        compare(&b, &p);
      }
    }
  }
  bench_close(&b);
}

static void programs_give_the_bits_of_their_operators(void **state) {
  bench b = bench_open(fixture_of(state));
  for (int k = 0; k < PROGRAMS; ++k) {
    /* One input is whole, so that the result is. */
    program p = {.input_count = 1 + random_below(INPUTS), .layouts = {WHOLE}};
    /* Every fourth, strided or not, may be long: the driver takes half a second to compile one of many steps. */
    const uint32_t steps = 1 + random_below(k / 2 % 4 == 0 ? STEPS : SHORT);
    const bool strided = k % 2 != 0;
    for (uint32_t i = 1; i < p.input_count; ++i) {
      p.layouts[i] = (layout)random_below(strided ? LAYOUTS : TRANSPOSED);
    }
    while (p.step_count < steps) {
      add_step(&p, &functions[random_below(FUNCTIONS)]);
    }
    if (is_tried(k)) {
      compare(&b, &p);
    }
  }
  bench_close(&b);
}

static const function *function_of(const char *name) {
  const function *fn = functions;
  while (strcmp(fn->name, name) != 0) {
    ++fn;
  }
  return fn;
}

/* Which of two zeros a function gives does not depend on what a compiler knows of its operands where it stands among
 * others: that they are never negative, or one of two numbers. Of Max and Min it is known. */
static void zeros_have_the_signs_that_operators_give(void **state) {
  static const struct {
    const char *steps[4];
    int64_t operands[OPERANDS * 4];
  } list[] = {
      {{"Max"}, {0, 1}},
      {{"Min"}, {0, 1}},
      {{"Abs", "Log", "Greater", "Max"}, {0, 2, 3, 1, 3, 4}},
      {{"Abs", "Log", "Greater", "Max"}, {0, 2, 3, 1, 4, 3}},
      {{"Sqrt", "Relu"}, {0, 2}},
      {{"Sqrt", "Max"}, {0, 2, 1}},
      {{"Abs", "Neg", "Min"}, {0, 2, 3, 1}},
      {{"Neg", "Clip"}, {0, 2, -7, -8}},
      {{"Sqrt", "Sqrt", "Max", "Min"}, {0, 1, 2, 3, 4, 0}},
  };
  static const float few[] = {0.0f, -0.0f, 1.0f, -1.0f};
  static float before[2][COUNT], found[COUNT];
  memcpy(before, numbers, sizeof(before));
  for (int k = 0; k < COUNT; ++k) {
    numbers[0][k] = few[k % 4];
    numbers[1][k] = few[k / 4 % 4];
  }
  bench b = bench_open(fixture_of(state));
  for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
    program p = {.input_count = 2};
    while (p.step_count < 4 && list[i].steps[p.step_count] != NULL) {
      p.steps[p.step_count] = function_of(list[i].steps[p.step_count]);
      p.operand_count += operands_of(p.steps[p.step_count++]);
    }
    memcpy(p.operands, list[i].operands, sizeof(list[i].operands));
    compare(&b, &p);
    run_steps(&b, &p, found);
    for (int k = 0; i < 2 && k < COUNT; ++k) {
      const bool first = signbit(numbers[0][k]), second = signbit(numbers[1][k]);
      assert_int_equal(signbit(found[k]) != 0, i == 0 ? first && second : first || second);
    }
  }
  bench_close(&b);
  memcpy(numbers, before, sizeof(before));
}

static void programs_of_bytes_give_the_bits_of_their_operators(void **state) {
  bench b = bench_open(fixture_of(state));
  for (int k = 0; k < PROGRAMS; ++k) {
    program p = {.input_count = 1 + random_below(k % 8 == 0 ? INPUTS : 3), .layouts = {WHOLE}};
    for (uint32_t i = 1; i < p.input_count; ++i) {
      p.layouts[i] = (layout)random_below(k % 2 != 0 ? LAYOUTS : k % 4 == 0 ? ROW : TRANSPOSED);
    }
    for (uint32_t steps = 1 + random_below(SHORT); p.step_count < steps;) {
      add_step(&p, &functions[random_below(FUNCTIONS)]);
    }
    const coding c = random_coding(p.input_count);
    if (is_tried(k)) {
      compare_coded(&b, &p, &c);
    }
  }
  bench_close(&b);
}

/* Whether a program is refused with this status and a message that holds a text. */
static void refuse(fixture *f, const char *names, uint32_t operand_count, const int64_t *operands,
                   uint32_t constant_count, int32_t status, const char *text) {
  static const float many[64];
  int64_t shape[] = {3};
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 1, .dtype = f32, .shape = shape};
  const leat_value_info *inputs[] = {&info};
  const leat_attribute attributes[] = {
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_INTS,
       .name = "operands",
       .count = operand_count,
       .ints = operands},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_FLOATS,
       .name = "constants",
       .count = constant_count,
       .floats = many},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_STRING,
       .name = "functions",
       .count = names != NULL ? strlen(names) : 0,
       .string = names},
  };
  const leat_attribute *given[] = {&attributes[0], &attributes[1], &attributes[2]};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .name = "Pointwise",
                             .domain = "leat",
                             .since_version = 1,
                             .attribute_count = names != NULL ? 3 : 2,
                             .attributes = given,
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(f->api->op->supports(f->device, &desc, &err), status);
  if (strstr(err.message, text) == NULL) {
    fail_msg("'%s' is refused with '%s', which does not say '%s'", names != NULL ? names : "no program", err.message,
             text);
  }
}

static void bad_programs_are_refused(void **state) {
  fixture *const f = fixture_of(state);
  static const int64_t zeros[64];
  const int64_t later[] = {0, 2, 1, 0}, below[] = {0, -2}, far[] = {INT64_MAX}, low[] = {INT64_MIN};
  refuse(f, NULL, 0, NULL, 0, LEAT_ERROR_INVALID_ARGUMENT, "has 0 steps");
  refuse(f, "", 0, NULL, 0, LEAT_ERROR_INVALID_ARGUMENT, "has 0 steps");
  refuse(f, "Relu Cube", 2, zeros, 0, LEAT_ERROR_NOT_SUPPORTED, "step 1 is 'Cube'");
  refuse(f, "Relu  Exp", 2, zeros, 0, LEAT_ERROR_NOT_SUPPORTED, "step 1 is ''");
  refuse(f, "Add Add", 4, later, 0, LEAT_ERROR_INVALID_ARGUMENT, "step 0, Add, has operand 2");
  refuse(f, "Add", 2, below, 1, LEAT_ERROR_INVALID_ARGUMENT, "step 0, Add, has operand -2");
  refuse(f, "Exp", 1, far, 1, LEAT_ERROR_INVALID_ARGUMENT, "1 inputs and results of 0 steps");
  refuse(f, "Exp", 1, low, 1, LEAT_ERROR_INVALID_ARGUMENT, "1 constants");
  refuse(f, "Exp Add", 2, zeros, 0, LEAT_ERROR_INVALID_ARGUMENT, "1 are left for step 1; Add takes 2");
  refuse(f, "Exp Add", 4, zeros, 0, LEAT_ERROR_INVALID_ARGUMENT, "take 3 operands; 'operands' has 4");
  refuse(f, "Exp", 49, zeros, 0, LEAT_ERROR_NOT_SUPPORTED, "49 elements");
  refuse(f, "Exp", 1, zeros, 33, LEAT_ERROR_NOT_SUPPORTED, "33 constants");
  refuse(f, "Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs Abs", 17, zeros, 0,
         LEAT_ERROR_NOT_SUPPORTED, "more than 16 steps");
}

/* What is said of the bytes of a program of one input and one step. */
typedef struct said {
  DLDataType type;
  uint32_t scale_count, zero_count;
  float scale;
  int64_t zero_point;
  int64_t result_type;
  float result_scale;
  int64_t result_zero_point;
} said;

static void refuse_bytes(fixture *f, const said *what, const char *text) {
  static const int64_t operand;
  int64_t shape[] = {3};
  const float scales[] = {what->scale, what->scale};
  const int64_t zero_points[] = {what->zero_point, what->zero_point};
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 1, .dtype = what->type, .shape = shape};
  const leat_value_info *inputs[] = {&info};
  const leat_attribute attributes[] = {
      {.type = LEAT_ATTRIBUTE_STRING, .name = "functions", .count = 4, .string = "Relu"},
      {.type = LEAT_ATTRIBUTE_INTS, .name = "operands", .count = 1, .ints = &operand},
      {.type = LEAT_ATTRIBUTE_FLOATS, .name = "scales", .count = what->scale_count, .floats = scales},
      {.type = LEAT_ATTRIBUTE_INTS, .name = "zero_points", .count = what->zero_count, .ints = zero_points},
      {.type = LEAT_ATTRIBUTE_FLOAT, .name = "result_scale", .f = what->result_scale},
      {.type = LEAT_ATTRIBUTE_INT, .name = "result_zero_point", .i = what->result_zero_point},
      {.type = LEAT_ATTRIBUTE_INT, .name = "result_type", .i = what->result_type}};
  leat_attribute sized[7];
  const leat_attribute *given[7];
  for (int k = 0; k < 7; ++k) {
    sized[k] = attributes[k];
    sized[k].struct_size = sizeof(sized[k]);
    given[k] = &sized[k];
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .name = "QuantizedPointwise",
                             .domain = "leat",
                             .since_version = 1,
                             .attribute_count = 7,
                             .attributes = given,
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  leat_error err = {.struct_size = sizeof(err)};
  const int32_t status = f->api->op->supports(f->device, &desc, &err);
  assert_int_equal(status, text != NULL ? LEAT_ERROR_INVALID_ARGUMENT : LEAT_OK);
  if (text != NULL && strstr(err.message, text) == NULL) {
    fail_msg("'%s' does not say '%s'", err.message, text);
  }
}

static void bad_bytes_are_refused(void **state) {
  fixture *const f = fixture_of(state);
  const struct {
    said what;
    const char *text; /* NULL: this one is taken */
  } list[] = {
      {{s8, 1, 1, 0.5f, -128, 3, 0.5f, 127}, NULL},
      {{u8, 1, 0, 0.5f, 0, 2, 0.5f, 255}, NULL},
      {{f32, 0, 0, 0, 0, 0, 0, 0}, NULL},
      {{u8, 2, 1, 0.5f, 0, 0, 0, 0}, "'scales' has 2 elements for 1 inputs"},
      {{u8, 1, 2, 0.5f, 0, 0, 0, 0}, "'zero_points' has 2 elements for 1 inputs"},
      {{u8, 0, 0, 0.5f, 0, 0, 0, 0}, "input 0 is of type uint8, so its scale must be a finite number other than 0"},
      {{s8, 1, 0, 0, 0, 0, 0, 0}, "input 0 is of type int8, so its scale must be a finite number other than 0, not 0"},
      {{u8, 1, 0, NAN, 0, 0, 0, 0}, "other than 0, not nan"},
      {{u8, 1, 0, INFINITY, 0, 0, 0, 0}, "other than 0, not inf"},
      {{f32, 1, 0, 0.5f, 0, 0, 0, 0}, "input 0 is of type float32, so its scale must be 0, not 0.5"},
      {{f32, 1, 0, NAN, 0, 0, 0, 0}, "must be 0, not nan"},
      {{f32, 1, 1, 0, 1, 0, 0, 0}, "zero point must be from 0 to 0, not 1"},
      {{s8, 1, 1, 0.5f, 128, 0, 0, 0}, "zero point must be from -128 to 127, not 128"},
      {{u8, 1, 1, 0.5f, -1, 0, 0, 0}, "zero point must be from 0 to 255, not -1"},
      {{u8, 1, 1, 0.5f, INT64_MIN, 0, 0, 0}, "zero point must be from 0 to 255"},
      {{f32, 0, 0, 0, 0, 1, 0.5f, 0}, "'result_type' is 1; it must be ONNX's number of int8 or uint8"},
      {{f32, 0, 0, 0, 0, -3, 0.5f, 0}, "'result_type' is -3"},
      {{f32, 0, 0, 0, 0, 2, 0, 0}, "the result is of type uint8, so its scale must be a finite number other than 0"},
      {{f32, 0, 0, 0, 0, 2, NAN, 0}, "the result is of type uint8"},
      {{f32, 0, 0, 0, 0, 0, 0.5f, 0}, "the result is of type float32, so its scale must be 0, not 0.5"},
      {{f32, 0, 0, 0, 0, 0, 0, 1}, "zero point must be from 0 to 0, not 1"},
      {{f32, 0, 0, 0, 0, 3, 0.5f, 128}, "zero point must be from -128 to 127, not 128"},
  };
  for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
    refuse_bytes(f, &list[i].what, list[i].text);
  }
}

int main(void) {
  static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e30f, -1e-30f, 1e-40f, 2.5f, -1.0f};
  for (int i = 0; i < INPUTS; ++i) {
    for (int k = 0; k < COUNT; ++k) {
      numbers[i][k] =
          random_below(12) == 0 ? special[random_below(10)] : ((float)random_below(60001) - 30000.0f) / 7000.0f;
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_function_gives_the_bits_of_its_operator, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(programs_give_the_bits_of_their_operators, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(zeros_have_the_signs_that_operators_give, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(programs_of_bytes_give_the_bits_of_their_operators, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(bad_programs_are_refused, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(bad_bytes_are_refused, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests_name("pointwise", tests, NULL, NULL);
}
