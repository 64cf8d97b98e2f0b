/* SPDX-License-Identifier: BSD-3-Clause */
/* MelWeightMatrix: what turns spectra into mel spectra, triangles over the bins of a spectrum. Its five numbers are on
 * the host, where few of its elements are not zero: so it is computed there, like what selects. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/movement.h"
#include "ops/index/host_selection.h"

#define TYPES_MEL (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT64)

static LEATI_TYPE(type_number, "T1", LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_edge, "T2", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_mel, "T3", TYPES_MEL);
static LEATI_ATTRIBUTE(attribute_datatype, "output_datatype", INT);

enum { MELS, LENGTH, RATE, LOWER, UPPER, INPUTS };

typedef struct mel_state {
  uint64_t type;
} mel_state;

/* What a call asks for. */
typedef struct mel {
  int64_t mels, bins;
  int64_t length, rate;
  double lower, upper; /* Hertz */
} mel;

static int32_t mel_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  const int64_t number = leati_attr_int(desc, attribute_datatype.name, 1);
  return (leati_type_of_onnx(number) & TYPES_MEL) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: 'output_datatype' is %" PRId64 "; float32 and float64 are supported", def->info.name,
                          number);
}

static int32_t mel_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((mel_state *)leati_op_state(op))->type = leati_type_of_onnx(leati_attr_int(desc, attribute_datatype.name, 1));
  return LEAT_OK;
}

static int32_t mel_read(const leati_call *call, mel *out, leat_error *err) {
  for (uint32_t i = 0; i < INPUTS; ++i) {
    if (call->inputs[i].count != 1 || call->inputs[i].ndim > 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "MelWeightMatrix: input %u has %" PRIu64 " elements; expected a scalar", i,
                        call->inputs[i].count);
    }
  }
  *out = (mel){.mels = leati_host_int(&call->inputs[MELS], 0),
               .length = leati_host_int(&call->inputs[LENGTH], 0),
               .rate = leati_host_int(&call->inputs[RATE], 0),
               .lower = (double)*(const float *)call->inputs[LOWER].data,
               .upper = (double)*(const float *)call->inputs[UPPER].data};
  if (out->mels < 0 || out->mels > INT32_MAX || out->length < 0 || out->length > INT32_MAX || out->rate < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "MelWeightMatrix: num_mel_bins is %" PRId64 ", dft_length %" PRId64 ", sample_rate %" PRId64
                      "; expected are 0 to 2147483647 and a positive rate",
                      out->mels, out->length, out->rate);
  }
  /* Written so that a NaN is refused. */
  if (!(out->lower >= 0 && out->upper >= out->lower && out->upper <= (double)out->rate / 2)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "MelWeightMatrix: edges of %g and %g Hz; expected are 0 to half of the sample rate, in order",
                      out->lower, out->upper);
  }
  out->bins = out->length / 2 + 1;
  return LEAT_OK;
}

/* The bin where triangle `i` begins, whose middle is that of the next and whose end that of the one after it. */
static int64_t bin_of(const mel *m, int64_t i) {
  const double low = 2595 * log10(1 + m->lower / 700), high = 2595 * log10(1 + m->upper / 700);
  const double at = (double)i * ((high - low) / (double)(m->mels + 2)) + low;
  const double hertz = 700 * (pow(10, at / 2595) - 1);
  const double bin = floor((double)(m->length + 1) * hertz / (double)m->rate);
  return bin < 0 ? 0 : bin < (double)m->bins ? (int64_t)bin : m->bins - 1;
}

static void put(const mel *m, uint64_t type, void *to, int64_t bin, int64_t i, double value) {
  const uint64_t at = (uint64_t)bin * (uint64_t)m->mels + (uint64_t)i;
  if (type == LEAT_TYPE_FLOAT64) {
    ((double *)to)[at] = value;
  } else {
    ((float *)to)[at] = (float)value;
  }
}

static int32_t mel_select(const leat_op *op, const leati_call *call, leati_selection *out, leat_error *err) {
  const uint64_t type = ((const mel_state *)leati_op_state_const(op))->type;
  mel m;
  void *to;
  LEATI_TRY(mel_read(call, &m, err));
  LEATI_TRY(leati_selection_place(out, 0, 2, (const int64_t[]){m.bins, m.mels}, type, &to, err));
  for (int64_t i = 0; i < m.mels; ++i) {
    const int64_t first = bin_of(&m, i), middle = bin_of(&m, i + 1), end = bin_of(&m, i + 2);
    if (first == middle) {
      put(&m, type, to, middle, i, 1);
    }
    for (int64_t bin = first; bin <= middle && first < middle; ++bin) {
      put(&m, type, to, bin, i, (double)(bin - first) / (double)(middle - first));
    }
    for (int64_t bin = middle; bin < end; ++bin) {
      put(&m, type, to, bin, i, (double)(end - bin) / (double)(end - middle));
    }
  }
  return LEAT_OK;
}

static int32_t mel_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return leati_selection_infer(op, call, mel_select, out, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("MelWeightMatrix", "", (17, 17), (INPUTS, INPUTS), (1, 1), .info.host_inputs = 31, .info.host_outputs = 1,
             LEATI_TYPES(&type_number, &type_edge, &type_mel), LEATI_ATTRIBUTES(&attribute_datatype),
             LEATI_INPUT_TYPES(0, 0, 0, 1, 1), LEATI_OUTPUT_TYPES(2), .state_size = sizeof(mel_state),
             .supports = mel_supports, .create = mel_create, .infer = mel_infer, .plan = leati_selection_plan),
};

const leati_op_family leati_mel_weight_matrix_family = LEATI_FAMILY(ops);
