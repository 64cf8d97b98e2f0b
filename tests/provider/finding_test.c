/* SPDX-License-Identifier: BSD-3-Clause */
/* Under LEAT_MEMORY_GUARD=1 a Run that meets an index out of range fails and says so, and the next Run is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort_fixture.h"

static ort_fixture fixture;

/* Runs y = x[i]; returns NULL, or why not. */
static OrtStatus *gather(OrtSession *session, const int64_t *indices, float *out) {
  const float data[5] = {10, 11, 12, 13, 14};
  const int64_t five = 5, two = 2;
  OrtValue *const inputs[2] = {ort_fixture_tensor(&fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &five, 1, data),
                               ort_fixture_tensor(&fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &two, 1, indices)};
  OrtValue *output = NULL;
  OrtStatus *const status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)inputs, &output);
  if (status == NULL) {
    void *at = NULL;
    ort_fixture_check(&fixture, fixture.ort->GetTensorMutableData(output, &at), "y");
    memcpy(out, at, 2 * sizeof(*out));
    fixture.ort->ReleaseValue(output);
  }
  fixture.ort->ReleaseValue(inputs[0]);
  fixture.ort->ReleaseValue(inputs[1]);
  return status;
}

static void a_run_with_an_index_out_of_range_fails(void **state) {
  (void)state;
  const int64_t five = 5, two = 2;
  ort_model model;
  OrtSession *session = NULL;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &five, 1);
  ort_model_input(&model, "i", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &two, 1);
  ort_model_output(&model, "y", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &two, 1);
  ort_model_node(&model, "Gather", "gather", "x i", "y", "axis", 0);
  ort_fixture_check(&fixture, ort_model_session(&model, &(ort_session_request){.leat = true, .alone = true}, &session),
                    "a session of Gather on Leat alone");
  for (int round = 0; round < 3; ++round) {
    float y[2] = {0, 0};
    OrtStatus *const failed = gather(session, (const int64_t[]){1, 7}, y);
    assert_non_null(failed);
    assert_int_equal(fixture.ort->GetErrorCode(failed), ORT_INVALID_ARGUMENT);
    assert_non_null(strstr(fixture.ort->GetErrorMessage(failed), "Gather: index 7 is out of range"));
    fixture.ort->ReleaseStatus(failed);
    ort_fixture_check(&fixture, gather(session, (const int64_t[]){1, -1}, y), "a Run with good indices");
    assert_true(y[0] == 11 && y[1] == 14);
  }
  fixture.ort->ReleaseSession(session);
}

int main(void) {
  setenv("LEAT_MEMORY_GUARD", "1", 1);
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (fixture.device == NULL) {
    fprintf(stderr, "Leat finds no device\n");
    return ORT_FIXTURE_SKIPPED;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_with_an_index_out_of_range_fails)};
  const int failed = cmocka_run_group_tests_name("provider.finding", tests, NULL, NULL);
  ort_fixture_close(&fixture);
  return failed;
}
