/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/turned_image.h"

#define INPUTS_MAX 9

void leati_ref_turn_image(const leati_ref_tensor *x, bool back, leati_ref_tensor *out) {
  const int64_t channels = x->dims[back ? 1 : x->rank - 1];
  int64_t dims[LEAT_MAX_RANK] = {x->dims[0]}, pixels = 1;
  for (int32_t d = 1; d < x->rank - 1; ++d) {
    const int64_t size = x->dims[back ? d + 1 : d];
    dims[back ? d : d + 1] = size;
    pixels *= size;
  }
  dims[back ? x->rank - 1 : 1] = channels;
  leati_ref_tensor_init(out, x->type, x->rank, dims);
  if (x->bound != NULL && out->bound == NULL) {
    out->bound = leati_ref_alloc(x->count, sizeof(double));
  }
  for (int64_t k = 0; k < x->count; ++k) {
    const int64_t image = k / (channels * pixels) * channels * pixels, channel = k % (channels * pixels) / pixels;
    const int64_t last = image + k % pixels * channels + channel;
    const int64_t to = back ? last : k, from = back ? k : last;
    leati_ref_tensor_copy_element(out, to, x, from);
    if (x->bound != NULL) {
      out->bound[to] = x->bound[from];
    }
  }
}

bool leati_ref_run_turned(leati_ref_node *node, leati_ref_fn run) {
  const leati_ref_tensor *inputs[INPUTS_MAX];
  leati_ref_tensor x = {0};
  leati_ref_node part = *node;
  leati_ref_turn_image(node->inputs[0], false, &x);
  for (uint32_t i = 0; i < node->input_count; ++i) {
    inputs[i] = i == 0 ? &x : node->inputs[i];
  }
  part.inputs = inputs;
  const bool ok = run(&part);
  if (ok) {
    leati_ref_turn_image(&part.outputs[0], true, &node->outputs[0]);
  } else {
    leati_ref_fail(node, "%s", part.error);
  }
  leati_ref_tensor_clear(&part.outputs[0]);
  leati_ref_tensor_clear(&x);
  return ok;
}
