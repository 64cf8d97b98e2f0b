/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The model that most tests run: y = relu(x W + b), for any number of rows, with small integers in W and b. Given small
 * integers in x, every sum is exact in float32, in whatever order; so results are compared bit by bit.
 */
#ifndef LEAT_TESTS_PROVIDER_LAYER_H_
#define LEAT_TESTS_PROVIDER_LAYER_H_

#include "ort_fixture.h"

#define LAYER_INPUTS 16
#define LAYER_OUTPUTS 8

/** Builds the model. */
void layer_build(ort_model *model, const ort_fixture *fixture);

/** Makes a session of it that runs wholly on Leat; ends the program if that cannot be. */
OrtSession *layer_session(const ort_fixture *fixture);

/** Runs it once on `rows` rows that `seed` decides.
 * @return 0: right; 1: a wrong result; 2: the Run failed, which is printed */
int layer_run(const ort_fixture *fixture, OrtSession *session, const OrtRunOptions *options, int64_t rows,
              unsigned seed);

/** As layer_run(), with the reason.
 * @param out_wrong whether the result is wrong; false if the Run failed
 * @return NULL, or why the Run failed */
OrtStatus *layer_try(const ort_fixture *fixture, OrtSession *session, const OrtRunOptions *options, int64_t rows,
                     unsigned seed, bool *out_wrong);

#endif /* LEAT_TESTS_PROVIDER_LAYER_H_ */
