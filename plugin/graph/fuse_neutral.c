/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule about operands that change nothing. */
#include "core/status.h"
#include "graph/fusion.h"

/* Whether all elements of a value are known, and as bool `expected`. */
static bool ask_all(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                    uint64_t expected) {
  (void)device;
  (void)count;
  bool all = values[0]->bytes != NULL && values[0]->view.type == LEAT_TYPE_BOOL;
  for (uint64_t i = 0; all && i < values[0]->view.count; ++i) {
    all = (((const unsigned char *)values[0]->bytes)[i] != 0) == (expected != 0);
  }
  return all;
}

static bool is_all(const leati_fusion *f, uint32_t v, bool expected) {
  return leati_fusion_ask(f, ask_all, 1, &v, expected);
}

/* And with what is known to be true, Or and Xor with what is known to be false: it becomes the second operand, and the
 * result a view of the first one (leati_op_def::view). */
int32_t leati_fuse_neutral(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  const bool both = leati_fusion_is(node, LEATI_IS_AND);
  const bool either = leati_fusion_is(node, LEATI_IS_OR);
  if ((!both && !either && !leati_fusion_is(node, LEATI_IS_XOR)) || !is_all(f, node->inputs[0], both) ||
      is_all(f, node->inputs[1], both)) {
    return LEAT_OK;
  }
  const uint32_t turned[] = {node->inputs[1], node->inputs[0]};
  const leati_fusion_node with = {.op = node->known, .since_version = 7, .input_count = 2, .inputs = turned};
  return leati_fusion_replace(f, n, &with, out_done, err);
}
