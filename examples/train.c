/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Two models of two layers, each trained by a thread of its own on one device: y = dropout(tanh(x W)) V, squared error,
 * Adam. Operators are made once, and both threads put them into streams at the same time. After each step a thread
 * compares the weights with a step that it computes in double precision, dropout's random numbers included. Exits with
 * 77 if the backend lacks one of the operators.
 */
#include <leat/host.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 2, STEPS = 30, ROWS = 32, IN = 8, HIDDEN = 24, OUT = 4, WEIGHTS = IN * HIDDEN + HIDDEN * OUT };
#define RATIO 0.5f /* of dropout */
#define RATE 0.015625f
#define SLOPE (2.0f / (ROWS * OUT)) /* of the mean of squares, to an error */
#define SEED 54
/* Of RATE, which is about what a step moves a weight by. Sums of 32 products of float32 are off by some 2^-19 of what
 * their terms add up to, so sums that cancel all but 2^-11 of that keep to it. */
#define TOLERANCE 0x1p-8

/* The tensors of a model: what is given, what the layers make, slopes of the weights, and what Adam updates. */
enum {
  X,
  T,
  NUMBER,
  ONE,
  LEARNING_RATE,
  ZERO,
  UNIT,
  Z,
  H,
  D,
  KEPT,
  Y,
  E,
  DD,
  DK,
  S,
  R,
  DZ,
  GW,
  GV,
  W,
  V,
  MW,
  MV,
  QW,
  QV,
  TENSORS
};
#define F32(...)                             \
  {                                          \
    {kDLFloat, 32, 1}, COUNT(__VA_ARGS__), { \
      __VA_ARGS__                            \
    }                                        \
  }
#define I64               \
  {                       \
    {kDLInt, 64, 1}, 0, { \
      1                   \
    }                     \
  }
#define SCALAR              \
  {                         \
    {kDLFloat, 32, 1}, 0, { \
      1                     \
    }                       \
  }
#define COUNT(...) (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
static struct {
  DLDataType dtype;
  int32_t ndim;
  int64_t shape[2];
} forms[TENSORS] = {
    [X] = F32(ROWS, IN),
    [T] = F32(ROWS, OUT),
    [NUMBER] = I64,
    [ONE] = I64,
    [LEARNING_RATE] = SCALAR,
    [ZERO] = SCALAR,
    [UNIT] = SCALAR,
    [Z] = F32(ROWS, HIDDEN),
    [H] = F32(ROWS, HIDDEN),
    [D] = F32(ROWS, HIDDEN),
    [KEPT] = {{LEAT_DL_BOOL, 8, 1}, 2, {ROWS, HIDDEN}},
    [Y] = F32(ROWS, OUT),
    [E] = F32(ROWS, OUT),
    [DD] = F32(ROWS, HIDDEN),
    [DK] = F32(ROWS, HIDDEN),
    [S] = F32(ROWS, HIDDEN),
    [R] = F32(ROWS, HIDDEN),
    [DZ] = F32(ROWS, HIDDEN),
    [GW] = F32(IN, HIDDEN),
    [GV] = F32(HIDDEN, OUT),
    [W] = F32(IN, HIDDEN),
    [V] = F32(HIDDEN, OUT),
    [MW] = F32(IN, HIDDEN),
    [MV] = F32(HIDDEN, OUT),
    [QW] = F32(IN, HIDDEN),
    [QV] = F32(HIDDEN, OUT),
};

#define FLOAT_OF(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = n, .f = v }
#define INT_OF(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = n, .i = v }
/* A step, operator by operator. Adam works in place. */
static const struct {
  const char *domain, *name;
  uint32_t version, attribute_count;
  leat_attribute attributes[2];
  uint32_t input_count, output_count;
  uint8_t inputs[10], outputs[6];
} ops[] = {
    {"", "Add", 14, 0, {{0}}, 2, 1, {NUMBER, ONE}, {NUMBER}},
    {"", "Gemm", 13, 0, {{0}}, 2, 1, {X, W}, {Z}},
    {"", "Tanh", 13, 0, {{0}}, 1, 1, {Z}, {H}},
    {"leat", "Dropout", 1, 2, {FLOAT_OF("ratio", RATIO), INT_OF("seed", SEED)}, 2, 2, {H, NUMBER}, {D, KEPT}},
    {"", "Gemm", 13, 0, {{0}}, 2, 1, {D, V}, {Y}},
    {"", "Sub", 14, 0, {{0}}, 2, 1, {Y, T}, {E}},
    {"", "Gemm", 13, 2, {FLOAT_OF("alpha", SLOPE), INT_OF("transA", 1)}, 2, 1, {D, E}, {GV}},
    {"", "Gemm", 13, 2, {FLOAT_OF("alpha", SLOPE / (1 - RATIO)), INT_OF("transB", 1)}, 2, 1, {E, V}, {DD}},
    {"", "Where", 16, 0, {{0}}, 3, 1, {KEPT, DD, ZERO}, {DK}},
    {"", "Mul", 14, 0, {{0}}, 2, 1, {H, H}, {S}},
    {"", "Sub", 14, 0, {{0}}, 2, 1, {UNIT, S}, {R}},
    {"", "Mul", 14, 0, {{0}}, 2, 1, {DK, R}, {DZ}},
    {"", "Gemm", 13, 1, {INT_OF("transA", 1)}, 2, 1, {X, DZ}, {GW}},
    {"leat",
     "ForeachAdam",
     1,
     0,
     {{0}},
     10,
     6,
     {LEARNING_RATE, NUMBER, GW, GV, W, V, MW, MV, QW, QV},
     {W, V, MW, MV, QW, QV}},
};
enum { OPS = sizeof(ops) / sizeof(ops[0]) };

/* What both threads share, and do not change. */
static const leat_backend_api *leat;
static leat_device *gpu;
static leat_op *made[OPS];

/* What a thread has for itself. The state is that of the weights and both averages, as the last step left it. */
typedef struct model {
  unsigned number;
  float x[ROWS][IN], t[ROWS][OUT];
  struct {
    float w[IN][HIDDEN], v[HIDDEN][OUT];
  } state[3];
  DLTensor device[TENSORS];
  leat_stream *stream;
  int right; /* steps */
  double first_loss, last_loss;
} model;

static void check(int32_t status, const leat_error *err) {
  if (status != LEAT_OK) {
    fprintf(stderr, "%s: %s\n", leat_host_status_name(status), err->message);
    exit(status == LEAT_ERROR_NOT_SUPPORTED ? 77 : 1);
  }
}

static uint64_t bytes_of(int tensor) {
  const uint64_t item = forms[tensor].dtype.bits / 8;
  return forms[tensor].ndim == 0 ? item : item * (uint64_t)(forms[tensor].shape[0] * forms[tensor].shape[1]);
}

/* Copies between the device and memory of the host, which arrives with the next wait. */
static void copy(const model *m, int tensor, void *bytes, int to_device) {
  leat_error err = {.struct_size = sizeof(err)};
  DLTensor host = m->device[tensor];
  host.data = bytes;
  host.device = (DLDevice){kDLCPU, 0};
  check(leat->memory->copy(m->stream, to_device ? &host : &m->device[tensor], to_device ? &m->device[tensor] : &host,
                           &err),
        &err);
}

/* ---- The step on the host ---------------------------------------------------------------------------------------- */

/* A block of Philox 4x32-10, as abi/leat/backend.h says: one word for each of four elements. */
static void philox(uint32_t block, uint32_t stream, uint32_t words[4]) {
  uint32_t counter[4] = {block, 0, stream, 0}, key[2] = {SEED, 0};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = UINT64_C(0xd2511f53) * counter[0], b = UINT64_C(0xcd9e8d57) * counter[2];
    const uint32_t next[4] = {(uint32_t)(b >> 32) ^ counter[1] ^ key[0], (uint32_t)b,
                              (uint32_t)(a >> 32) ^ counter[3] ^ key[1], (uint32_t)a};
    memcpy(counter, next, sizeof(counter));
    key[0] += UINT32_C(0x9e3779b9);
    key[1] += UINT32_C(0xbb67ae85);
  }
  memcpy(words, counter, sizeof(counter));
}

/* Whether dropout keeps an element in a step. */
static int is_kept(int element, int step) {
  uint32_t words[4];
  philox((uint32_t)element / 4, (uint32_t)step, words);
  return (float)(words[element % 4] >> 8) * 0x1p-24f >= RATIO;
}

/* A number of Adam's lists. Returns whether the device has the same weight, by the tolerance, and averages. */
static int adam_agrees(double slope, int step, const float before[3], const float after[3]) {
  const double beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f; /* the defaults */
  const double m = beta1 * before[1] + (1 - beta1) * slope, q = beta2 * before[2] + (1 - beta2) * slope * slope;
  const double root = sqrt(q / (1 - pow(beta2, step)));
  const double weight = before[0] - RATE / (1 - pow(beta1, step)) * m / (root + epsilon);
  return fabs(weight - after[0]) <= TOLERANCE * RATE && fabs(m - after[1]) <= TOLERANCE * (fabs(m) + 1e-6) &&
         fabs(q - after[2]) <= TOLERANCE * (q + 1e-9);
}

/* Computes a step from the state before it, and compares the state that the device has after it. */
static int step_is_right(model *m, int step, const void *after_state) {
  double h[ROWS][HIDDEN], d[ROWS][HIDDEN], e[ROWS][OUT], dz[ROWS][HIDDEN], slopes[WEIGHTS], loss = 0;
  for (int r = 0; r < ROWS; ++r) {
    for (int k = 0; k < HIDDEN; ++k) {
      double z = 0;
      for (int i = 0; i < IN; ++i) {
        z += (double)m->x[r][i] * m->state[0].w[i][k];
      }
      h[r][k] = tanh(z);
      d[r][k] = is_kept(r * HIDDEN + k, step) ? h[r][k] / (1 - RATIO) : 0;
    }
    for (int o = 0; o < OUT; ++o) {
      e[r][o] = -m->t[r][o];
      for (int k = 0; k < HIDDEN; ++k) {
        e[r][o] += d[r][k] * m->state[0].v[k][o];
      }
      loss += e[r][o] * e[r][o] / (ROWS * OUT);
    }
    for (int k = 0; k < HIDDEN; ++k) {
      double dd = 0;
      for (int o = 0; o < OUT; ++o) {
        dd += SLOPE / (1 - RATIO) * e[r][o] * m->state[0].v[k][o];
      }
      dz[r][k] = is_kept(r * HIDDEN + k, step) ? dd * (1 - h[r][k] * h[r][k]) : 0;
    }
  }
  for (int n = 0; n < WEIGHTS; ++n) {
    const int v = n - IN * HIDDEN;
    slopes[n] = 0;
    for (int r = 0; r < ROWS; ++r) {
      slopes[n] += v < 0 ? m->x[r][n / HIDDEN] * dz[r][n % HIDDEN] : SLOPE * d[r][v / OUT] * e[r][v % OUT];
    }
  }
  int right = 1;
  const float *const old = (const float *)m->state, *const new = after_state;
  for (int n = 0; n < WEIGHTS; ++n) {
    const float before[3] = {old[n], old[WEIGHTS + n], old[2 * WEIGHTS + n]};
    const float after[3] = {new[n], new[WEIGHTS + n], new[2 * WEIGHTS + n]};
    right = right && adam_agrees(slopes[n], step, before, after);
  }
  m->first_loss = step == 1 ? loss : m->first_loss;
  m->last_loss = loss;
  memcpy(m->state, after_state, sizeof(m->state));
  return right;
}

/* ---- A thread ---------------------------------------------------------------------------------------------------- */

/* Numbers from -1 to 1 that follow from a seed. */
static float next_number(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) * 0x1p-23f - 1;
}

static void begin_model(model *m, unsigned number) {
  unsigned random = number + 1;
  leat_error err = {.struct_size = sizeof(err)};
  m->number = number;
  for (int r = 0; r < ROWS; ++r) {
    for (int i = 0; i < IN; ++i) {
      m->x[r][i] = next_number(&random);
    }
    for (int o = 0; o < OUT; ++o) {
      m->t[r][o] = m->x[r][o] * m->x[r][o + 1] + m->x[r][o + 2];
    }
  }
  float *const weights = (float *)m->state;
  for (int n = 0; n < WEIGHTS; ++n) {
    weights[n] = next_number(&random) / 4;
  }
  check(leat->stream->create(gpu, 0, &m->stream, &err), &err);
  for (int i = 0; i < TENSORS; ++i) {
    uint64_t address;
    check(leat->memory->alloc(gpu, bytes_of(i), m->stream, &address, &err), &err);
    m->device[i] =
        (DLTensor){(void *)(uintptr_t)address, {kDLVulkan, 0}, forms[i].ndim, forms[i].dtype, forms[i].shape, NULL, 0};
  }
}

static void end_model(const model *m) {
  leat_error err = {.struct_size = sizeof(err)};
  for (int i = 0; i < TENSORS; ++i) {
    check(leat->memory->free(gpu, (uint64_t)(uintptr_t)m->device[i].data, &err), &err);
  }
}

static void *train(void *data) {
  model *const m = data;
  leat_error err = {.struct_size = sizeof(err)};
  int64_t none = 0, one = 1;
  float rate = RATE, zero = 0, unit = 1, after[3 * WEIGHTS];
  const struct {
    int tensor;
    void *bytes;
  } given[] = {{X, m->x},     {T, m->t},    {NUMBER, &none}, {ONE, &one}, {LEARNING_RATE, &rate},
               {ZERO, &zero}, {UNIT, &unit}};
  for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); ++i) {
    copy(m, given[i].tensor, given[i].bytes, 1);
  }
  for (int i = W; i <= QV; ++i) {
    copy(m, i, i % 2 == W % 2 ? (void *)m->state[(i - W) / 2].w : (void *)m->state[(i - W) / 2].v, 1);
  }
  for (int step = 1; step <= STEPS; ++step) {
    for (int n = 0; n < OPS; ++n) {
      const DLTensor *in[10], *out[6];
      for (uint32_t i = 0; i < ops[n].input_count; ++i) {
        in[i] = &m->device[ops[n].inputs[i]];
      }
      for (uint32_t i = 0; i < ops[n].output_count; ++i) {
        out[i] = &m->device[ops[n].outputs[i]];
      }
      check(leat->op->invoke(made[n], m->stream, ops[n].input_count, in, ops[n].output_count, out, &err), &err);
    }
    float *to = after;
    for (int i = W; i <= QV; to += bytes_of(i) / sizeof(float), ++i) {
      copy(m, i, to, 0);
    }
    check(leat->stream->synchronize(m->stream, &err), &err);
    m->right += step_is_right(m, step, after);
  }
  return NULL;
}

int main(void) {
  leat_error err = {.struct_size = sizeof(err)};
  static model models[MODELS];
  pthread_t threads[MODELS];
  int right = 0, learnt = 0;
  check(leat_host_load(NULL, &leat, &err), &err);
  check(leat->device->open(0, &gpu, &err), &err); /* the best device comes first */
  for (int n = 0; n < OPS; ++n) {
    leat_value_info infos[10];
    const leat_value_info *inputs[10];
    const leat_attribute *attributes[2] = {&ops[n].attributes[0], &ops[n].attributes[1]};
    for (uint32_t i = 0; i < ops[n].input_count; ++i) {
      const int tensor = ops[n].inputs[i];
      infos[i] = (leat_value_info){.struct_size = sizeof(infos[i]), .ndim = forms[tensor].ndim};
      infos[i].dtype = forms[tensor].dtype, infos[i].shape = forms[tensor].shape;
      inputs[i] = &infos[i];
    }
    leat_op_desc desc = {.struct_size = sizeof(desc), .since_version = ops[n].version, .name = ops[n].name};
    desc.domain = ops[n].domain;
    desc.attribute_count = ops[n].attribute_count, desc.attributes = attributes;
    desc.input_count = ops[n].input_count, desc.inputs = inputs, desc.output_count = ops[n].output_count;
    check(leat->op->create(gpu, &desc, &made[n], &err), &err);
  }
  for (unsigned i = 0; i < MODELS; ++i) {
    begin_model(&models[i], i);
    if (pthread_create(&threads[i], NULL, train, &models[i]) != 0) {
      fputs("no thread could be started\n", stderr);
      return 1;
    }
  }
  for (int i = 0; i < MODELS; ++i) {
    (void)pthread_join(threads[i], NULL);
    fprintf(stderr, "model %d: a mean of squared errors of %.3f, then %.3f\n", i, models[i].first_loss,
            models[i].last_loss);
    end_model(&models[i]);
    right += models[i].right;
    learnt += models[i].last_loss < models[i].first_loss / 2;
  }
  printf("%d of %d steps right, %d of %d models learnt\n", right, MODELS * STEPS, learnt, MODELS);
  return leat->device->close(gpu, &err); /* frees the streams and the operators too */
}
