/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * provider_subgraphs_test: nodes that run as one graph.
 *
 * provider_subgraphs_test graph | direct: whether a session takes the graph path, which the environment forbids or not,
 * and that its options beat that.
 *
 * provider_subgraphs_test picky: sessions with a backend that builds no graphs of many nodes (picky_backend.c).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "crowd.h"
#include "layer.h"

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
#define THREADS 8
#define SESSIONS 4
#define RUNS 10

static ort_fixture fixture;

/* Whether the environment leaves the graph path to sessions, in the tests of that. */
static bool environment_allows;

/* ---- Helpers ------------------------------------------------------------------------------------------------------
 */

static OrtSession *session_with(ort_model *model, const char *option, const char *value) {
  OrtSession *session = NULL;
  const ort_session_request request = {.leat = true, .option = option, .option_value = value};
  ort_fixture_check(&fixture, ort_model_session(model, &request, &session), "session");
  return session;
}

static OrtSession *session_of(ort_model *model) {
  return session_with(model, "force_graph_path", "1");
}

/* Checks the number of fused subgraphs of a session, and of the nodes in them. */
static void expect_subgraphs(const OrtSession *session, size_t subgraphs, size_t nodes) {
  size_t got = 0;
  assert_int_equal(ort_fixture_subgraphs(&fixture, session, &got), subgraphs);
  assert_int_equal(got, nodes);
}

static const float *data_of(const OrtValue *value) {
  const void *data = NULL;
  ort_fixture_check(&fixture, fixture.ort->GetTensorData(value, &data), "data");
  return data;
}

static size_t count_of(const OrtValue *value) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  size_t count = 0;
  ort_fixture_check(&fixture, fixture.ort->GetTensorTypeAndShape(value, &info), "shape");
  ort_fixture_check(&fixture, fixture.ort->GetTensorShapeElementCount(info, &count), "shape");
  fixture.ort->ReleaseTensorTypeAndShapeInfo(info);
  return count;
}

/* ---- Which nodes --------------------------------------------------------------------------------------------------
 */

static void test_a_chain_is_one_subgraph(void **state) {
  (void)state;
  ort_model model;
  layer_build(&model, &fixture);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, ort_fixture_nodes_on(&fixture, session, NULL));
  for (int64_t rows = 0; rows < 70; rows += 17) {
    assert_int_equal(layer_run(&fixture, session, NULL, rows, (unsigned)rows), 0);
  }
  fixture.ort->ReleaseSession(session);
}

/* A model with input x and output y, of rows of three, that is yet to get its nodes. */
static void begin_rows(ort_model *model) {
  const int64_t dims[] = {-1, 3};
  ort_model_begin(model, &fixture);
  ort_model_input(model, "x", FLOAT, dims, 2);
  ort_model_output(model, "y", FLOAT, dims, 2);
}

/* Runs such a model for several numbers of rows, from `first`; `function` gives an element of y for one of x. */
static void expect_rows(OrtSession *session, int64_t first, float (*function)(float)) {
  for (int64_t rows = first; rows < 4; ++rows) {
    const int64_t dims[] = {rows, 3};
    float x[9];
    for (int i = 0; i < rows * 3; ++i) {
      x[i] = (float)(i - 4);
    }
    OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 2, x);
    OrtValue *y = NULL;
    ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&input, &y), "Run");
    assert_int_equal(count_of(y), rows * 3);
    for (int i = 0; i < rows * 3; ++i) {
      assert_true(data_of(y)[i] == function(x[i]));
    }
    fixture.ort->ReleaseValue(input);
    fixture.ort->ReleaseValue(y);
  }
}

static float diamond(float x) {
  return -x - (x > 0 ? x : 0);
}

static void test_a_diamond_is_one_subgraph(void **state) {
  (void)state;
  ort_model model;
  begin_rows(&model);
  ort_model_node(&model, "Abs", "abs", "x", "a", NULL, 0);
  ort_model_node(&model, "Neg", "neg", "x", "b", NULL, 0);
  ort_model_node(&model, "Relu", "relu", "x", "c", NULL, 0);
  ort_model_node(&model, "Add", "add", "a b", "d", NULL, 0);
  ort_model_node(&model, "Sub", "sub", "d a", "e", NULL, 0);
  ort_model_node(&model, "Sub", "last", "e c", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, 6);
  expect_rows(session, 0, diamond);
  fixture.ort->ReleaseSession(session);
}

static float clipped(float x) {
  const float less = -x < 2 ? -x : 2;
  return less + less;
}

static void test_absent_inputs_stay_absent(void **state) {
  (void)state;
  const float two = 2;
  ort_model model;
  begin_rows(&model);
  ort_model_constant(&model, "two", FLOAT, NULL, 0, &two);
  ort_model_node(&model, "Neg", "neg", "x", "a", NULL, 0);
  ort_model_node(&model, "Clip", "clip", "a - two", "b", NULL, 0);
  ort_model_node(&model, "Add", "add", "b b", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, 3);
  expect_rows(session, 0, clipped);
  fixture.ort->ReleaseSession(session);
}

static float plus_one(float x) {
  return (x > 0 ? x : 0) + 1;
}

static void test_a_shape_goes_from_node_to_node(void **state) {
  (void)state;
  const int64_t one_dims[] = {1, 1};
  const float one = 1;
  ort_model model;
  begin_rows(&model);
  ort_model_constant(&model, "one", FLOAT, one_dims, 2, &one);
  ort_model_node(&model, "Relu", "relu", "x", "a", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "a", "s", NULL, 0);
  ort_model_node(&model, "Expand", "expand", "one s", "b", NULL, 0);
  ort_model_node(&model, "Add", "add", "a b", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, 4);
  expect_rows(session, 0, plus_one);
  fixture.ort->ReleaseSession(session);
}

static float twice(float x) {
  return -2 * x;
}

/* y = -2 x by way of a Reshape to what Shape, Gather, Mul, Div and Concat make of the dimensions of x. With `given_out`
 * the graph gives the first dimension to its user, too. */
static OrtSession *arithmetic_session(bool given_out) {
  const int64_t one_dim[] = {1};
  const int64_t zero = 0, three = 3;
  ort_model model;
  begin_rows(&model);
  if (given_out) {
    ort_model_output(&model, "rows", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, one_dim, 1);
  }
  ort_model_constant(&model, "zero", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, one_dim, 1, &zero);
  ort_model_constant(&model, "three", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, one_dim, 1, &three);
  ort_model_node(&model, "Neg", "neg", "x", "a", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "a", "s", NULL, 0);
  ort_model_node(&model, "Gather", "gather", "s zero", "rows", "axis", 0);
  ort_model_node(&model, "Mul", "mul", "rows three", "all", NULL, 0);
  ort_model_node(&model, "Unsqueeze", "unsqueeze", "a zero", "b", NULL, 0);
  ort_model_node(&model, "Reshape", "flat", "b all", "c", NULL, 0);
  ort_model_node(&model, "Div", "div", "all three", "back", NULL, 0);
  ort_model_node(&model, "Concat", "concat", "back three", "t", "axis", 0);
  ort_model_node(&model, "Reshape", "reshape", "c t", "d", NULL, 0);
  ort_model_node(&model, "Add", "add", "d d", "y", NULL, 0);
  return session_of(&model);
}

static void test_shape_arithmetic_goes_along(void **state) {
  (void)state;
  OrtSession *session = arithmetic_session(false);
  /* ONNX Runtime simplifies some of it. In a shape, 0 rows would be as many as the input has. */
  expect_subgraphs(session, 1, ort_fixture_nodes_on(&fixture, session, NULL));
  expect_rows(session, 1, twice);
  fixture.ort->ReleaseSession(session);
}

/* Rows are added and taken away again. How many follows as PyTorch's exporter of TorchScript writes F.pad: from pairs
 * for each dimension, which a Transpose makes the list of pads. */
static void test_pads_go_along(void **state) {
  (void)state;
  const int64_t one_dim[] = {1}, two_dim[] = {2};
  const int64_t zero = 0, minus_one = -1, square[] = {2, 2};
  ort_model model;
  begin_rows(&model);
  ort_model_constant(&model, "zero", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, one_dim, 1, &zero);
  ort_model_constant(&model, "flat", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, one_dim, 1, &minus_one);
  ort_model_constant(&model, "square", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, two_dim, 1, square);
  ort_model_node(&model, "Neg", "neg", "x", "a", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "a", "s", NULL, 0);
  ort_model_node(&model, "Gather", "gather", "s zero", "rows", "axis", 0);
  ort_model_node(&model, "Concat", "concat", "zero rows zero zero", "list", "axis", 0);
  ort_model_node(&model, "Reshape", "pair", "list square", "pairs", NULL, 0);
  ort_model_node(&model, "Transpose", "transpose", "pairs", "turned", NULL, 0);
  ort_model_node(&model, "Reshape", "flatten", "turned flat", "pads", NULL, 0);
  ort_model_node(&model, "Pad", "pad", "a pads", "b", NULL, 0);
  ort_model_node(&model, "ReduceMax", "most", "turned", "end", "keepdims", 0);
  ort_model_node(&model, "Reshape", "listed", "end flat", "ends", NULL, 0);
  ort_model_node(&model, "Slice", "slice", "b zero ends", "c", NULL, 0);
  ort_model_node(&model, "Add", "add", "c c", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, ort_fixture_nodes_on(&fixture, session, NULL));
  expect_rows(session, 1, twice);
  fixture.ort->ReleaseSession(session);
}

/* A shape is taken apart and put together again the other way round. */
static void test_splits_go_along(void **state) {
  (void)state;
  ort_model model;
  begin_rows(&model);
  ort_model_node(&model, "Neg", "neg", "x", "a", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "a", "s", NULL, 0);
  ort_model_node(&model, "Split", "split", "s", "rows columns", NULL, 0);
  ort_model_node(&model, "Concat", "turn", "columns rows", "turned", "axis", 0);
  ort_model_node(&model, "Reshape", "there", "a turned", "b", NULL, 0);
  ort_model_node(&model, "Reshape", "back", "b s", "c", NULL, 0);
  ort_model_node(&model, "Add", "add", "c c", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, ort_fixture_nodes_on(&fixture, session, NULL));
  expect_rows(session, 1, twice);
  fixture.ort->ReleaseSession(session);
}

/* What is needed on the host outside of the fused subgraph stays there, and all that follows from it. */
static void test_shape_arithmetic_for_others_stays(void **state) {
  (void)state;
  OrtSession *session = arithmetic_session(true);
  assert_in_range(ort_fixture_nodes_on(&fixture, session, "CPUExecutionProvider"), 1, 4);
  const int64_t dims[] = {2, 3};
  const float x[] = {1, 2, 3, 4, 5, 6};
  OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 2, x);
  OrtValue *y[2] = {NULL, NULL};
  ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&input, y), "Run");
  for (int i = 0; i < 6; ++i) {
    assert_true(data_of(y[0])[i] == twice(x[i]));
  }
  assert_int_equal(*(const int64_t *)(const void *)data_of(y[1]), 2);
  fixture.ort->ReleaseValue(input);
  fixture.ort->ReleaseValue(y[0]);
  fixture.ort->ReleaseValue(y[1]);
  fixture.ort->ReleaseSession(session);
}

/* Adds one to rows by an Expand to their shape, which an operator makes of it in float32, with another operand or none.
 */
static OrtSession *floats_session(const char *op, const char *inputs, const char *attribute) {
  const int64_t one_dims[] = {1, 1};
  const float one = 1, many = 1000;
  ort_model model;
  begin_rows(&model);
  ort_model_constant(&model, "one", FLOAT, one_dims, 2, &one);
  ort_model_constant(&model, "many", FLOAT, NULL, 0, &many);
  ort_model_node(&model, "Relu", "relu", "x", "a", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "a", "s", NULL, 0);
  ort_model_node(&model, "Cast", "to-float", "s", "f", "to", FLOAT);
  ort_model_node(&model, op, "floats", inputs, "g", attribute, 1);
  ort_model_node(&model, "Cast", "from-float", "g", "t", "to", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  ort_model_node(&model, "Expand", "expand", "one t", "b", NULL, 0);
  ort_model_node(&model, "Add", "add", "a b", "y", NULL, 0);
  return session_of(&model);
}

/* Sizes by way of floats, as of images that are scaled. */
static void test_shape_arithmetic_in_floats_goes_along(void **state) {
  (void)state;
  OrtSession *session = floats_session("Floor", "f", NULL);
  expect_subgraphs(session, 1, ort_fixture_nodes_on(&fixture, session, NULL));
  expect_rows(session, 1, plus_one);
  fixture.ort->ReleaseSession(session);
}

static void test_shape_arithmetic_that_the_backend_lacks_stays(void **state) {
  (void)state;
  OrtSession *session = floats_session("Mod", "f many", "fmod");
  assert_int_equal(ort_fixture_nodes_on(&fixture, session, "CPUExecutionProvider"), 3);
  expect_rows(session, 0, plus_one);
  fixture.ort->ReleaseSession(session);
}

/* What decides a shape comes from outside, so the node that takes it there is in no fused subgraph. */
static void test_shapes_from_outside_stay_on_the_host(void **state) {
  (void)state;
  const int64_t s_dims[] = {2};
  const int64_t dims[] = {2, 3};
  const int64_t wanted[] = {3, -1};
  const float x[] = {-3, 1, 2, -4, 5, 6};
  ort_model model;
  begin_rows(&model);
  ort_model_input(&model, "s", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, s_dims, 1);
  ort_model_node(&model, "Relu", "relu", "x", "a", NULL, 0);
  ort_model_node(&model, "Neg", "neg", "a", "b", NULL, 0);
  ort_model_node(&model, "Reshape", "reshape", "b s", "c", NULL, 0);
  ort_model_node(&model, "Neg", "again", "c", "d", NULL, 0);
  ort_model_node(&model, "Add", "add", "d d", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 2, 4);
  assert_int_equal(ort_fixture_nodes_on(&fixture, session, ORT_FIXTURE_PROVIDER), 5);
  OrtValue *inputs[] = {ort_fixture_tensor(&fixture, FLOAT, dims, 2, x),
                        ort_fixture_tensor(&fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, s_dims, 1, wanted)};
  OrtValue *y = NULL;
  ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)inputs, &y), "Run");
  assert_int_equal(count_of(y), 6);
  for (int i = 0; i < 6; ++i) {
    assert_true(data_of(y)[i] == (x[i] > 0 ? 2 * x[i] : 0));
  }
  fixture.ort->ReleaseValue(inputs[0]);
  fixture.ort->ReleaseValue(inputs[1]);
  fixture.ort->ReleaseValue(y);
  fixture.ort->ReleaseSession(session);
}

/* What is computed from an input of the model only to ask for its shape goes along, as the masks of T5's decoder do. */
static void test_what_only_has_a_shape_goes_along(void **state) {
  (void)state;
  const int64_t any[] = {-1, -1}, dims[] = {2, 3}, one_dims[] = {1, 1};
  const float one = 1, x[] = {-3, 1, 2, -4, 5, 6};
  const int64_t mask[] = {1, 1, 1, 1, 1, 0};
  ort_model model;
  begin_rows(&model);
  ort_model_input(&model, "m", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, any, 2);
  ort_model_constant(&model, "one", FLOAT, one_dims, 2, &one);
  ort_model_node(&model, "Relu", "relu", "x", "a", NULL, 0);
  ort_model_node(&model, "Cast", "to-float", "m", "f", "to", FLOAT);
  ort_model_node(&model, "Neg", "neg", "f", "g", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "g", "s", NULL, 0);
  ort_model_node(&model, "Expand", "expand", "one s", "b", NULL, 0);
  ort_model_node(&model, "Add", "add", "a b", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, 6);
  OrtValue *inputs[] = {ort_fixture_tensor(&fixture, FLOAT, dims, 2, x),
                        ort_fixture_tensor(&fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, dims, 2, mask)};
  OrtValue *y = NULL;
  ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)inputs, &y), "Run");
  assert_int_equal(count_of(y), 6);
  for (int i = 0; i < 6; ++i) {
    assert_true(data_of(y)[i] == (x[i] > 0 ? x[i] + 1 : 1));
  }
  fixture.ort->ReleaseValue(inputs[0]);
  fixture.ort->ReleaseValue(inputs[1]);
  fixture.ort->ReleaseValue(y);
  fixture.ort->ReleaseSession(session);
}

/* ---- Nodes of others at every place -------------------------------------------------------------------------------
 */

/* Node i of STEPS takes values i and i - 1 (the one before x is x) and gives value i + 1. Where `foreign` has its bit
 * it is one that Leat does not have, which gives what it takes. Outputs are the last value and one in the middle. */
#define STEPS 6
#define MIDDLE 3
#define ROWS_MAX 5

static void name_step(char name[8], int value) {
  snprintf(name, 8, value <= 0 ? "x" : "v%d", value);
}

static void build_steps(ort_model *model, unsigned foreign) {
  const int64_t dims[] = {-1, 3};
  ort_model_begin(model, &fixture);
  ort_model_input(model, "x", FLOAT, dims, 2);
  for (int i = 0; i < STEPS; ++i) {
    char before[8], at[8], after[8], inputs[24];
    name_step(before, i - 1);
    name_step(at, i);
    name_step(after, i + 1);
    if (foreign >> i & 1) {
      ort_model_foreign(model, after, at, after);
    } else {
      snprintf(inputs, sizeof(inputs), "%s %s", at, before);
      ort_model_node(model, i % 2 ? "Sub" : "Add", after, inputs, after, NULL, 0);
    }
  }
  char last[8], middle[8];
  name_step(last, STEPS);
  name_step(middle, MIDDLE);
  ort_model_output(model, last, FLOAT, dims, 2);
  ort_model_output(model, middle, FLOAT, dims, 2);
}

/* Runs it once; returns the number of wrong elements and failures. */
static unsigned run_steps(OrtSession *session, unsigned foreign, int64_t rows, unsigned seed) {
  const int64_t dims[] = {rows, 3};
  float values[STEPS + 1][3 * ROWS_MAX];
  for (int k = 0; k < rows * 3; ++k) {
    values[0][k] = (float)((k * 5 + (int)seed * 3) % 11 - 5);
    for (int i = 0; i < STEPS; ++i) {
      const float at = values[i][k], before = values[i > 0 ? i - 1 : 0][k];
      values[i + 1][k] = foreign >> i & 1 ? at : i % 2 ? at - before : at + before;
    }
  }
  OrtValue *x = ort_fixture_tensor(&fixture, FLOAT, dims, 2, values[0]);
  OrtValue *y[2] = {NULL, NULL};
  OrtStatus *status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&x, y);
  unsigned wrong = status != NULL;
  if (status != NULL) {
    fprintf(stderr, "Run: %s\n", fixture.ort->GetErrorMessage(status));
    fixture.ort->ReleaseStatus(status);
  }
  for (int o = 0; o < 2 && !wrong; ++o) {
    wrong += count_of(y[o]) != (size_t)rows * 3;
    for (int k = 0; k < rows * 3 && !wrong; ++k) {
      wrong += data_of(y[o])[k] != values[o == 0 ? STEPS : MIDDLE][k];
    }
  }
  fixture.ort->ReleaseValue(x);
  fixture.ort->ReleaseValue(y[0]);
  fixture.ort->ReleaseValue(y[1]);
  return wrong;
}

static void test_nodes_of_others_at_every_place(void **state) {
  (void)state;
  for (unsigned foreign = 0; foreign < 1u << STEPS; ++foreign) {
    ort_model model;
    build_steps(&model, foreign);
    OrtSession *direct = session_with(&model, "force_direct_path", "1");
    build_steps(&model, foreign);
    OrtSession *session = session_of(&model);
    assert_int_equal(ort_fixture_subgraphs(&fixture, direct, NULL), 0);
    assert_int_equal(ort_fixture_nodes_on(&fixture, session, ORT_FIXTURE_PROVIDER),
                     ort_fixture_nodes_on(&fixture, direct, ORT_FIXTURE_PROVIDER));
    for (int64_t rows = ROWS_MAX; rows >= 0; rows -= 2) {
      assert_int_equal(run_steps(session, foreign, rows, foreign), 0);
      assert_int_equal(run_steps(session, foreign, rows, foreign + 1), 0);
    }
    fixture.ort->ReleaseSession(session);
    fixture.ort->ReleaseSession(direct);
  }
}

static void test_a_node_of_another_provider_cuts(void **state) {
  (void)state;
  ort_model model;
  build_steps(&model, 1u << 2);
  OrtSession *session = session_of(&model);
  /* The first two, and those behind: the node at 3 takes from both sides. */
  expect_subgraphs(session, 2, 5);
  fixture.ort->ReleaseSession(session);
  build_steps(&model, 1u << 1 | 1u << 4);
  session = session_of(&model);
  expect_subgraphs(session, 1, 2);
  fixture.ort->ReleaseSession(session);
}

/* Node 2 is another provider's. */
#define CUT (1u << 2)

static unsigned run_cut(unsigned index, void *sessions) {
  unsigned wrong = 0;
  for (unsigned run = 0; run < RUNS; ++run) {
    wrong += run_steps(((OrtSession **)sessions)[index % SESSIONS], CUT, 1 + (index + run) % ROWS_MAX, index + run);
  }
  return wrong;
}

static void test_many_threads(void **state) {
  (void)state;
  for (unsigned different = 1; different <= SESSIONS; different += SESSIONS - 1) {
    OrtSession *sessions[SESSIONS];
    for (unsigned i = 0; i < SESSIONS; ++i) {
      ort_model model;
      if (i < different) {
        build_steps(&model, CUT);
        sessions[i] = session_of(&model);
      } else {
        sessions[i] = sessions[0];
      }
    }
    assert_int_equal(crowd_run(THREADS, run_cut, sessions), 0);
    for (unsigned i = 0; i < different; ++i) {
      fixture.ort->ReleaseSession(sessions[i]);
    }
  }
}

/* ---- Failures -----------------------------------------------------------------------------------------------------
 */

static void test_failures_name_the_node(void **state) {
  (void)state;
  const int64_t any[] = {-1, -1};
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, any, 2);
  ort_model_input(&model, "w", FLOAT, any, 2);
  ort_model_output(&model, "y", FLOAT, any, 2);
  ort_model_node(&model, "Relu", "the-relu", "x", "a", NULL, 0);
  ort_model_node(&model, "MatMul", "the-product", "a w", "b", NULL, 0);
  ort_model_node(&model, "Neg", "the-end", "b", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 1, 3);
  for (unsigned round = 0; round < 4; ++round) {
    const int64_t x_dims[] = {2, 3}, w_dims[] = {round % 2 ? 3 : 4, 2};
    const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 0, 0, 1, 1, 1, 0, 0};
    OrtValue *inputs[] = {ort_fixture_tensor(&fixture, FLOAT, x_dims, 2, x),
                          ort_fixture_tensor(&fixture, FLOAT, w_dims, 2, w)};
    OrtValue *y = NULL;
    OrtStatus *status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)inputs, &y);
    if (round % 2) {
      ort_fixture_check(&fixture, status, "a Run after one that failed");
      assert_true(data_of(y)[0] == -4 && data_of(y)[3] == -11);
    } else {
      assert_non_null(status);
      const char *message = fixture.ort->GetErrorMessage(status);
      const char *const words[] = {"fused subgraph of 3 nodes", "'the-relu'", "'the-end'", "the-product"};
      for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (strstr(message, words[i]) == NULL) {
          fail_msg("the message lacks %s: %s", words[i], message);
        }
      }
      fixture.ort->ReleaseStatus(status);
    }
    fixture.ort->ReleaseValue(inputs[0]);
    fixture.ort->ReleaseValue(inputs[1]);
    fixture.ort->ReleaseValue(y);
  }
  fixture.ort->ReleaseSession(session);
}

/* ---- Which path ---------------------------------------------------------------------------------------------------
 */

static void expect_path(const char *option, const char *value, bool graph) {
  ort_model model;
  layer_build(&model, &fixture);
  OrtSession *session = session_with(&model, option, value);
  assert_int_equal(ort_fixture_subgraphs(&fixture, session, NULL), graph);
  assert_int_equal(layer_run(&fixture, session, NULL, 3, 1), 0);
  fixture.ort->ReleaseSession(session);
}

static void test_options_beat_the_environment(void **state) {
  (void)state;
  expect_path(NULL, NULL, environment_allows);
  expect_path("force_graph_path", "1", true);
  expect_path("force_graph_path", "0", environment_allows);
  expect_path("force_direct_path", "1", false);
  expect_path("force_direct_path", "0", true);
}

/* ---- Graphs that cannot be built ----------------------------------------------------------------------------------
 */

static void test_nodes_of_a_refused_graph_run_one_by_one(void **state) {
  (void)state;
  ort_model model;
  layer_build(&model, &fixture);
  OrtSession *session = session_of(&model);
  expect_subgraphs(session, 0, 0);
  assert_true(ort_fixture_nodes_on(&fixture, session, NULL) > 1);
  for (int64_t rows = 0; rows < 70; rows += 17) {
    assert_int_equal(layer_run(&fixture, session, NULL, rows, (unsigned)rows), 0);
  }
  fixture.ort->ReleaseSession(session);
}

/* A backend of ABI 1.0 does not say what its graphs compute on the host, so what takes that there is in none of them.
 */
static void test_nothing_is_made_up_of_a_silent_backend(void **state) {
  (void)state;
  OrtSession *session = arithmetic_session(false);
  size_t in_subgraphs = 0;
  (void)ort_fixture_subgraphs(&fixture, session, &in_subgraphs);
  assert_true(in_subgraphs < ort_fixture_nodes_on(&fixture, session, ORT_FIXTURE_PROVIDER));
  expect_rows(session, 1, twice);
  fixture.ort->ReleaseSession(session);
}

int main(int count, char **arguments) {
  const struct CMUnitTest subgraphs[] = {
      cmocka_unit_test(test_a_chain_is_one_subgraph),
      cmocka_unit_test(test_a_diamond_is_one_subgraph),
      cmocka_unit_test(test_absent_inputs_stay_absent),
      cmocka_unit_test(test_a_shape_goes_from_node_to_node),
      cmocka_unit_test(test_shape_arithmetic_goes_along),
      cmocka_unit_test(test_pads_go_along),
      cmocka_unit_test(test_splits_go_along),
      cmocka_unit_test(test_shape_arithmetic_for_others_stays),
      cmocka_unit_test(test_shape_arithmetic_in_floats_goes_along),
      cmocka_unit_test(test_shape_arithmetic_that_the_backend_lacks_stays),
      cmocka_unit_test(test_shapes_from_outside_stay_on_the_host),
      cmocka_unit_test(test_what_only_has_a_shape_goes_along),
      cmocka_unit_test(test_nodes_of_others_at_every_place),
      cmocka_unit_test(test_a_node_of_another_provider_cuts),
      cmocka_unit_test(test_many_threads),
      cmocka_unit_test(test_failures_name_the_node),
  };
  const struct CMUnitTest paths[] = {
      cmocka_unit_test(test_options_beat_the_environment),
  };
  const struct CMUnitTest picky[] = {
      cmocka_unit_test(test_nodes_of_a_refused_graph_run_one_by_one),
  };
  const struct CMUnitTest silent[] = {
      cmocka_unit_test(test_nothing_is_made_up_of_a_silent_backend),
  };
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (fixture.device == NULL) {
    fprintf(stderr, "Leat finds no device; LEAT_TEST_ORT_LOG=2 shows why\n");
    return ORT_FIXTURE_SKIPPED;
  }
  const char *const which = count > 1 ? arguments[1] : "";
  environment_allows = strcmp(which, "graph") == 0;
  const int failed = strcmp(which, "picky") == 0    ? cmocka_run_group_tests_name("picky", picky, NULL, NULL)
                     : strcmp(which, "silent") == 0 ? cmocka_run_group_tests_name("silent", silent, NULL, NULL)
                     : *which                       ? cmocka_run_group_tests_name("paths", paths, NULL, NULL)
                                                    : cmocka_run_group_tests_name("subgraphs", subgraphs, NULL, NULL);
  ort_fixture_close(&fixture);
  return failed;
}
