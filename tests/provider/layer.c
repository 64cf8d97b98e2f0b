/* SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <math.h>
#include <stdio.h>

static float weight(int64_t row, int64_t column) {
  return (float)((row * 7 + column * 3) % 11 - 5);
}

static float bias(int64_t column) {
  return (float)(column % 5 - 2);
}

static float input(int64_t row, int64_t column, unsigned seed) {
  return (float)((row * 5 + column * 13 + (int64_t)seed * 17) % 9 - 4);
}

void layer_build(ort_model *model, const ort_fixture *fixture) {
  const int64_t x_dims[] = {-1, LAYER_INPUTS};
  const int64_t w_dims[] = {LAYER_INPUTS, LAYER_OUTPUTS};
  const int64_t y_dims[] = {-1, LAYER_OUTPUTS};
  float weights[LAYER_INPUTS * LAYER_OUTPUTS];
  float biases[LAYER_OUTPUTS];
  for (int64_t column = 0; column < LAYER_OUTPUTS; ++column) {
    biases[column] = bias(column);
    for (int64_t row = 0; row < LAYER_INPUTS; ++row) {
      weights[row * LAYER_OUTPUTS + column] = weight(row, column);
    }
  }
  ort_model_begin(model, fixture);
  ort_model_input(model, "x", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, x_dims, 2);
  ort_model_output(model, "y", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, y_dims, 2);
  ort_model_constant(model, "w", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, w_dims, 2, weights);
  ort_model_constant(model, "b", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, y_dims + 1, 1, biases);
  ort_model_node(model, "MatMul", "matmul", "x w", "xw", NULL, 0);
  ort_model_node(model, "Add", "add", "xw b", "sum", NULL, 0);
  ort_model_node(model, "Relu", "relu", "sum", "y", NULL, 0);
}

OrtSession *layer_session(const ort_fixture *fixture) {
  ort_model model;
  OrtSession *session = NULL;
  layer_build(&model, fixture);
  ort_fixture_check(fixture, ort_model_session(&model, &(ort_session_request){.leat = true, .alone = true}, &session),
                    "a session of the layer on Leat alone");
  return session;
}

/* Compares y with what x, W and b give. */
static int compare(const ort_fixture *fixture, OrtValue *result, int64_t rows, unsigned seed) {
  void *data = NULL;
  size_t size = 0;
  ort_fixture_check(fixture, fixture->ort->GetTensorMutableData(result, &data), "y");
  ort_fixture_check(fixture, fixture->ort->GetTensorSizeInBytes(result, &size), "y");
  if (size != (size_t)rows * LAYER_OUTPUTS * sizeof(float)) {
    fprintf(stderr, "y has %zu bytes, and should have %zu\n", size, (size_t)rows * LAYER_OUTPUTS * sizeof(float));
    return 1;
  }
  const float *y = data;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < LAYER_OUTPUTS; ++column) {
      float sum = bias(column);
      for (int64_t k = 0; k < LAYER_INPUTS; ++k) {
        sum += input(row, k, seed) * weight(k, column);
      }
      float expected = sum > 0 ? sum : 0;
      float got = y[row * LAYER_OUTPUTS + column];
      if (got != expected) {
        fprintf(stderr, "y[%lld][%lld] is %g, and should be %g\n", (long long)row, (long long)column, (double)got,
                (double)expected);
        return 1;
      }
    }
  }
  return 0;
}

OrtStatus *layer_try(const ort_fixture *fixture, OrtSession *session, const OrtRunOptions *options, int64_t rows,
                     unsigned seed, bool *out_wrong) {
  const int64_t dims[] = {rows, LAYER_INPUTS};
  OrtValue *x = ort_fixture_tensor(fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims, 2, NULL);
  void *data = NULL;
  ort_fixture_check(fixture, fixture->ort->GetTensorMutableData(x, &data), "x");
  for (int64_t i = 0; i < rows * LAYER_INPUTS; ++i) {
    ((float *)data)[i] = input(i / LAYER_INPUTS, i % LAYER_INPUTS, seed);
  }
  OrtValue *y = NULL;
  OrtStatus *status = ort_fixture_run(fixture, session, options, (const OrtValue *const *)&x, &y);
  *out_wrong = status == NULL && compare(fixture, y, rows, seed) != 0;
  /* The input must not be needed any more, whatever still runs. */
  for (int64_t i = 0; i < rows * LAYER_INPUTS; ++i) {
    ((float *)data)[i] = NAN;
  }
  fixture->ort->ReleaseValue(x);
  fixture->ort->ReleaseValue(y);
  return status;
}

int layer_run(const ort_fixture *fixture, OrtSession *session, const OrtRunOptions *options, int64_t rows,
              unsigned seed) {
  bool wrong = false;
  OrtStatus *status = layer_try(fixture, session, options, rows, seed, &wrong);
  if (status != NULL) {
    fprintf(stderr, "Run: %s\n", fixture->ort->GetErrorMessage(status));
    fixture->ort->ReleaseStatus(status);
    return 2;
  }
  return wrong;
}
