/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule about elementwise operators that follow each other: they become one program, which writes nothing of what lies
 * between them to memory. Each step gives the bits of its operator. Where what they take becomes floats by
 * DequantizeLinear, or what they give bytes by QuantizeLinear, the program reads or writes bytes. */
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "graph/fusion.h"
#include "ops/core/op_state.h"
#include "ops/elementwise/composite.h"
#include "ops/elementwise/function.h"
#include "ops/elementwise/pointwise.h"
#include "ops/product/integer_product.h"

enum {
  STEPS = LEAT_POINTWISE_STEPS,
  INPUTS = LEAT_POINTWISE_INPUTS,
  CONSTANTS = LEAT_POINTWISE_CONSTANTS,
  OPERANDS = 3,       /* of a step at most */
  NAME_SIZE = 16,     /* of a function, with what ends it */
  FIRST_STEP = INPUTS /* operands of a program that is being written: inputs, then steps; negative ones are constants */
};

/* Nodes whose work becomes one program, from the first to the last. */
typedef struct chain {
  uint32_t nodes[STEPS];
  uint32_t count;
} chain;

typedef struct program {
  char functions[STEPS * NAME_SIZE]; /* a text */
  uint32_t length;                   /* of `functions` */
  uint32_t input_count, step_count, constant_count, operand_count;
  uint32_t values[INPUTS], inputs[INPUTS]; /* by input: what steps take, and the floats or the bytes that it is */
  float scales[INPUTS];                    /* of bytes; 0: it is of floats */
  int64_t zero_points[INPUTS];
  uint32_t made[STEPS]; /* by step: the value that it makes, or LEAT_GRAPH_NO_VALUE */
  float constants[CONSTANTS];
  int64_t operands[STEPS * OPERANDS];
  bool full; /* there was no room for something */
} program;

/* ---- Which nodes ------------------------------------------------------------------------------------------------ */

/* What an operator of several inputs is in a program. */
typedef struct fold {
  leati_known_op op, function; /* the latter is what programs call it */
  uint32_t least, most;        /* inputs; more than two: the function takes two at a time from the left */
} fold;

static const fold folds[] = {
    {LEATI_IS_ADD, LEATI_IS_ADD, 2, 2},          {LEATI_IS_SUB, LEATI_IS_SUB, 2, 2},
    {LEATI_IS_MUL, LEATI_IS_MUL, 2, 2},          {LEATI_IS_DIV, LEATI_IS_DIV, 2, 2},
    {LEATI_IS_POW, LEATI_IS_POW, 2, 2},          {LEATI_IS_PRELU, LEATI_IS_PRELU, 2, 2},
    {LEATI_IS_MIN, LEATI_IS_MIN, 2, UINT32_MAX}, {LEATI_IS_MAX, LEATI_IS_MAX, 2, UINT32_MAX},
    {LEATI_IS_SUM, LEATI_IS_ADD, 2, UINT32_MAX}, {LEATI_IS_MEAN, LEATI_IS_ADD, 2, UINT32_MAX},
};

static const fold *fold_of(const leati_node *node) {
  for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]); ++i) {
    if (leati_fusion_is(node, folds[i].op)) {
      return node->input_count >= folds[i].least && node->input_count <= folds[i].most ? &folds[i] : NULL;
    }
  }
  return NULL;
}

/* The name in programs of the function of one number that a node computes; NULL: it computes none. */
static const char *function_of(const leati_node *node, uint32_t *out_operands) {
  const leati_function *const function = leati_function_of(node->op);
  return function != NULL ? leati_pointwise_name(function->operation, out_operands) : NULL;
}

/* Whether a node that takes two operands at a time rounds each of their results: of 16 bits sums and means of several
 * are rounded once. */
static bool rounds_each(const leati_node *node, const fold *as, uint64_t type) {
  const bool sum = as->op == LEATI_IS_SUM && node->input_count > 2;
  return (type & LEATI_TYPES_HALF) == 0 || (!sum && as->op != LEATI_IS_MEAN);
}

/* Whether a node can be part of a program, all of which is of one type. */
static bool fits(const leati_fusion *f, const leati_node *node) {
  const uint64_t type = node->output_count == 1 ? leati_fusion_type(f, node->outputs[0]) : 0;
  const fold *const as = fold_of(node);
  uint32_t operands;
  bool can = (type & LEATI_TYPES_REAL) != 0 &&
             (as != NULL ? rounds_each(node, as, type)
                         : leati_fusion_is(node, LEATI_IS_CLIP) || function_of(node, &operands) != NULL ||
                               leati_program_of(node->op) != NULL);
  for (uint32_t i = 0; i < node->input_count && can; ++i) {
    can = node->inputs[i] == LEAT_GRAPH_NO_VALUE || leati_fusion_type(f, node->inputs[i]) == type;
  }
  return can;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------ */

/* Whether a value is the zero point of bytes, or none, and known. */
static bool read_zero_point(const leati_fusion *f, uint32_t v, int64_t *out) {
  *out = 0;
  return v == LEAT_GRAPH_NO_VALUE || leati_fusion_whole(f, v, out);
}

/* Whether a node, DequantizeLinear or QuantizeLinear, is between such bytes and floats that programs know: float32, and
 * one scale and zero point for all, which are known. */
static bool read_scale(const leati_fusion *f, const leati_node *node, uint32_t bytes, uint32_t floats, float *out_scale,
                       int64_t *out_zero) {
  const uint32_t scale = node->inputs[1];
  return (leati_fusion_type(f, bytes) & LEATI_TYPES_BYTE) != 0 && leati_fusion_type(f, floats) == LEAT_TYPE_FLOAT32 &&
         leati_fusion_type(f, scale) == LEAT_TYPE_FLOAT32 && leati_fusion_rank(f, scale) <= 1 &&
         leati_attributes_int(&node->attributes, "block_size", 0) == 0 &&
         leati_attributes_int(&node->attributes, "precision", 0) <= 1 && leati_fusion_scalar(f, scale, out_scale) &&
         isfinite(*out_scale) && *out_scale != 0 && read_zero_point(f, leati_fusion_input(node, 2), out_zero);
}

/* The bytes that DequantizeLinear makes a value of; false: nothing of that kind makes it. */
static bool read_bytes(const leati_fusion *f, uint32_t v, uint32_t *out, float *out_scale, int64_t *out_zero) {
  const leati_node *const node = leati_fusion_maker(f, v);
  if (!leati_fusion_dequantizes(node) || !read_scale(f, node, node->inputs[0], v, out_scale, out_zero)) {
    return false;
  }
  *out = node->inputs[0];
  return true;
}

/* ---- Writing a program ------------------------------------------------------------------------------------------ */

static int64_t constant_operand(program *p, float value) {
  uint32_t i = 0;
  /* By its bits: there are two zeros, and a NaN equals nothing. */
  while (i < p->constant_count && memcmp(&p->constants[i], &value, sizeof(value)) != 0) {
    ++i;
  }
  p->full = p->full || i == CONSTANTS;
  if (i == p->constant_count && i < CONSTANTS) {
    p->constants[p->constant_count++] = value;
  }
  return -1 - (int64_t)i;
}

/* The operand that a value is: the result of a step, a constant, or an input. */
static int64_t operand_of(const leati_fusion *f, program *p, uint32_t v) {
  float value;
  for (uint32_t s = 0; s < p->step_count; ++s) {
    if (p->made[s] == v) {
      return FIRST_STEP + s;
    }
  }
  if (leati_fusion_scalar(f, v, &value)) {
    return constant_operand(p, value);
  }
  uint32_t i = 0;
  while (i < p->input_count && p->values[i] != v) {
    ++i;
  }
  p->full = p->full || i == INPUTS;
  if (i == p->input_count && i < INPUTS) {
    p->values[i] = v;
    if (!read_bytes(f, v, &p->inputs[i], &p->scales[i], &p->zero_points[i])) {
      p->inputs[i] = v;
      p->scales[i] = 0;
      p->zero_points[i] = 0;
    }
    ++p->input_count;
  }
  return i;
}

/* Appends a step, which makes value `v`; gives its result as an operand. */
static int64_t add_step(program *p, const char *function, uint32_t count, const int64_t *operands, uint32_t v) {
  const size_t size = strlen(function);
  if (p->step_count == STEPS) {
    p->full = true;
    return 0;
  }
  if (p->step_count != 0) {
    p->functions[p->length++] = ' ';
  }
  memcpy(p->functions + p->length, function, size);
  p->length += (uint32_t)size;
  memcpy(p->operands + p->operand_count, operands, count * sizeof(operands[0]));
  p->operand_count += count;
  p->made[p->step_count] = v;
  return FIRST_STEP + p->step_count++;
}

static void add_clip(const leati_fusion *f, program *p, const leati_node *node) {
  float otherwise[2];
  leati_clip_limits(leati_fusion_type(f, node->outputs[0]), otherwise);
  int64_t operands[3] = {operand_of(f, p, node->inputs[0])};
  for (uint32_t i = 1; i < 3; ++i) {
    const uint32_t v = leati_fusion_input(node, i);
    operands[i] = v != LEAT_GRAPH_NO_VALUE ? operand_of(f, p, v) : constant_operand(p, otherwise[i - 1]);
  }
  add_step(p, leati_known_op_name(LEATI_IS_CLIP), 3, operands, node->outputs[0]);
}

static void add_function(const leati_fusion *f, program *p, const leati_node *node) {
  const leati_function *const function = leati_function_of(node->op);
  uint32_t count;
  const char *const name = function_of(node, &count);
  float parameters[2];
  leati_function_parameters(function, leati_fusion_type(f, node->outputs[0]), parameters);
  int64_t operands[OPERANDS] = {operand_of(f, p, node->inputs[0])};
  for (uint32_t i = 1; i < count; ++i) {
    operands[i] = constant_operand(p, parameters[i - 1]);
  }
  add_step(p, name, count, operands, node->outputs[0]);
}

/* The steps of an operator that is a program itself, which takes all the inputs of its node. */
static void add_program(const leati_fusion *f, program *p, const leati_node *node, const leati_program *of) {
  int64_t made[LEATI_PROGRAM_STEPS_MAX], operands[OPERANDS];
  for (uint32_t s = 0; s < of->step_count; ++s) {
    const leati_program_step *const step = &of->steps[s];
    uint32_t count;
    const char *const name = leati_pointwise_name(step->operation, &count);
    for (uint32_t k = 0; k < count; ++k) {
      const int32_t operand = step->operands[k];
      operands[k] = operand < 0                           ? constant_operand(p, of->constants[-1 - operand])
                    : (uint32_t)operand < of->input_count ? operand_of(f, p, node->inputs[operand])
                                                          : made[(uint32_t)operand - of->input_count];
    }
    made[s] = add_step(p, name, count, operands, s + 1 == of->step_count ? node->outputs[0] : LEAT_GRAPH_NO_VALUE);
  }
}

static void add_fold(const leati_fusion *f, program *p, const leati_node *node, const fold *as) {
  const bool mean = as->op == LEATI_IS_MEAN;
  int64_t operands[2] = {operand_of(f, p, node->inputs[0]), 0};
  for (uint32_t i = 1; i < node->input_count; ++i) {
    const bool last = i + 1 == node->input_count && !mean;
    operands[1] = operand_of(f, p, node->inputs[i]);
    operands[0] =
        add_step(p, leati_known_op_name(as->function), 2, operands, last ? node->outputs[0] : LEAT_GRAPH_NO_VALUE);
  }
  if (mean) {
    operands[1] = constant_operand(p, (float)node->input_count);
    add_step(p, leati_known_op_name(LEATI_IS_DIV), 2, operands, node->outputs[0]);
  }
}

/* Writes the program of a chain; false: it has too many steps, inputs or constants. */
static bool write_program(const leati_fusion *f, const chain *c, program *out) {
  *out = (program){.length = 0};
  for (uint32_t i = 0; i < c->count && !out->full; ++i) {
    const leati_node *const node = &f->nodes[c->nodes[i]];
    const fold *const as = fold_of(node);
    if (as != NULL) {
      add_fold(f, out, node, as);
    } else if (leati_fusion_is(node, LEATI_IS_CLIP)) {
      add_clip(f, out, node);
    } else if (leati_program_of(node->op) != NULL) {
      add_program(f, out, node, leati_program_of(node->op));
    } else {
      add_function(f, out, node);
    }
  }
  return !out->full;
}

/* ---- Gathering -------------------------------------------------------------------------------------------------- */

static bool holds(const chain *c, uint32_t n) {
  bool found = false;
  for (uint32_t i = 0; i < c->count && !found; ++i) {
    found = c->nodes[i] == n;
  }
  return found;
}

/* Whether nobody but nodes of the chain takes a value. */
static bool is_inner(const leati_fusion *f, const chain *c, uint32_t v) {
  uint32_t uses = 0;
  for (uint32_t k = 0; k < c->count; ++k) {
    const leati_node *const node = &f->nodes[c->nodes[k]];
    for (uint32_t i = 0; i < node->input_count; ++i) {
      uses += node->inputs[i] == v;
    }
  }
  return uses == f->uses[v];
}

/* The chain with a node more, in order, if a program can hold it. */
static bool extend(const leati_fusion *f, chain *c, uint32_t n) {
  program p;
  chain longer = *c;
  uint32_t at = c->count;
  if (c->count == STEPS) {
    return false;
  }
  for (; at > 0 && longer.nodes[at - 1] > n; --at) {
    longer.nodes[at] = longer.nodes[at - 1];
  }
  longer.nodes[at] = n;
  ++longer.count;
  if (!write_program(f, &longer, &p)) {
    return false;
  }
  *c = longer;
  return true;
}

/* Takes one more node into the chain, of those that make inputs for it alone; false: there is none. A value of another
 * shape stays an input: it would be computed more often than before. */
static bool gather_one(const leati_fusion *f, chain *c) {
  const uint32_t result = f->nodes[c->nodes[c->count - 1]].outputs[0];
  for (uint32_t k = c->count; k-- > 0;) {
    const leati_node *const node = &f->nodes[c->nodes[k]];
    for (uint32_t i = 0; i < node->input_count; ++i) {
      const uint32_t v = node->inputs[i];
      const leati_node *const maker = leati_fusion_maker(f, v);
      if (maker != NULL && !holds(c, f->makers[v]) && leati_fusion_same_shape(f, v, result) && fits(f, maker) &&
          is_inner(f, c, v) && extend(f, c, f->makers[v])) {
        return true;
      }
    }
  }
  return false;
}

/* How many nodes become part of a program: those of the chain, and each DequantizeLinear that nobody else needs. */
static uint32_t count_nodes(const leati_fusion *f, const chain *c, const program *p) {
  uint32_t count = c->count;
  for (uint32_t i = 0; i < p->input_count; ++i) {
    count += p->scales[i] != 0 && is_inner(f, c, p->values[i]);
  }
  return count;
}

/* ---- Replacing -------------------------------------------------------------------------------------------------- */

/* The bytes that QuantizeLinear makes of a program's result; a scale of 0: it stays a float. */
typedef struct result {
  float scale;
  int64_t zero_point, type;
} result;

static bool takes_bytes(const program *p) {
  bool any = false;
  for (uint32_t i = 0; i < p->input_count; ++i) {
    any = any || p->scales[i] != 0;
  }
  return any;
}

static int32_t put_program(leati_fusion *f, uint32_t n, program *p, const result *y, bool *out_done, leat_error *err) {
  /* In the attribute the results of steps follow the inputs that there are. */
  for (uint32_t i = 0; i < p->operand_count; ++i) {
    p->operands[i] -= p->operands[i] >= FIRST_STEP ? FIRST_STEP - (int64_t)p->input_count : 0;
  }
  const leat_attribute attributes[] = {leati_fusion_string("functions", p->functions),
                                       leati_fusion_ints("operands", p->operands, p->operand_count),
                                       leati_fusion_floats("constants", p->constants, p->constant_count),
                                       leati_fusion_floats("scales", p->scales, p->input_count),
                                       leati_fusion_ints("zero_points", p->zero_points, p->input_count),
                                       leati_fusion_float("result_scale", y->scale),
                                       leati_fusion_int("result_zero_point", y->zero_point),
                                       leati_fusion_int("result_type", y->type)};
  const bool bytes = y->scale != 0 || takes_bytes(p);
  const leati_fusion_node with = {.op = bytes ? LEATI_IS_QUANTIZED_POINTWISE : LEATI_IS_POINTWISE,
                                  .since_version = 1,
                                  .input_count = p->input_count,
                                  .inputs = p->inputs,
                                  .attribute_count = y->scale != 0 ? 8
                                                     : bytes       ? 5
                                                                   : 3,
                                  .attributes = attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* Reads QuantizeLinear of what one node makes for it alone, which `*out_last` is then; for any other node that is the
 * node itself. False: no chain ends so. */
static bool read_end(const leati_fusion *f, uint32_t n, uint32_t *out_last, result *out) {
  const leati_node *const node = &f->nodes[n];
  *out = (result){.scale = 0};
  *out_last = n;
  if (leati_fusion_quantizes(node)) {
    const uint32_t x = node->inputs[0], y = node->outputs[0];
    if (leati_fusion_private_maker(f, x) == NULL || !read_scale(f, node, y, x, &out->scale, &out->zero_point)) {
      return false;
    }
    out->type = leati_fusion_type(f, y) == LEAT_TYPE_INT8 ? 3 : 2; /* ONNX's numbers */
    *out_last = f->makers[x];
  }
  return fits(f, &f->nodes[*out_last]);
}

/* Gathers what node `n` and the nodes that make its inputs for it alone compute of float32 elements, all of one shape,
 * as leat.Pointwise or leat.QuantizedPointwise. To be asked from the last node to the first, so that each gathers all
 * that it can. */
int32_t leati_fuse_chain(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  chain c = {.count = 1};
  program p;
  result y;
  if (!read_end(f, n, &c.nodes[0], &y)) {
    return LEAT_OK;
  }
  while (gather_one(f, &c)) {
  }
  return write_program(f, &c, &p) && count_nodes(f, &c, &p) + (y.scale != 0) >= 2
             ? put_program(f, n, &p, &y, out_done, err)
             : LEAT_OK;
}
