/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule about what the first operand of a matrix product is multiplied by. */
#include "graph/fuse_norm.h"
#include "graph/fusion.h"
#include "graph/product.h"
#include "ops/product/matrix_product.h"

/* What a value is: rows times a factor, which has their shape or that of one of them. */
typedef struct multiplication {
  uint32_t x, factor;
  bool norm; /* of the rows of x, before */
  float epsilon;
} multiplication;

/* Reads the norm that makes a value, or the Mul that does so for one input alone. */
static bool read_multiplication(const leati_fusion *f, uint32_t v, multiplication *out) {
  const leati_node *const norm = leati_fusion_maker(f, v), *const times = leati_fusion_private_maker(f, v);
  if (leati_fusion_is(norm, LEATI_IS_RMS_NORMALIZATION) ||
      leati_fusion_is(norm, LEATI_IS_SIMPLIFIED_LAYER_NORMALIZATION)) {
    *out = (multiplication){.x = norm->inputs[0],
                            .factor = norm->inputs[1],
                            .norm = true,
                            .epsilon = leati_attributes_float(&norm->attributes, "epsilon", 1e-5f)};
    return leati_norm_is_of_rows(f, norm) && leati_fusion_is_row(f, out->factor, out->x);
  }
  bool is = false;
  for (uint32_t side = 0; side < 2 && !is && leati_fusion_is(times, LEATI_IS_MUL); ++side) {
    *out = (multiplication){.x = times->inputs[side], .factor = times->inputs[1 - side]};
    is = leati_fusion_same_shape(f, out->x, v) &&
         (leati_fusion_same_shape(f, out->factor, v) || leati_fusion_is_row(f, out->factor, out->x));
  }
  return is;
}

enum { TRANSPOSED = 1, NORM = 2 };

/* Whether the kernel of a product of the first value with the second, which gives the third, takes a factor. */
static bool ask_factor(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                       uint64_t with) {
  (void)count;
  return leati_product_takes_factor(device, &values[0]->view, &values[1]->view, &values[2]->view,
                                    (with & TRANSPOSED) != 0, (with & NORM) != 0);
}

static bool takes_factor(const leati_fusion *f, const multiplication *m, uint32_t b, uint32_t c, bool trans_b) {
  const uint32_t values[] = {m->x, b, c};
  return b != LEAT_GRAPH_NO_VALUE && leati_fusion_rank(f, b) == 2 && !leati_fusion_is_empty(f, c) &&
         leati_fusion_ask(f, ask_factor, 3, values, (trans_b ? TRANSPOSED : 0) | (m->norm ? NORM : 0));
}

/* RMS norm of few rows, or a product element by element, as the first operand of a product. Node `n` is that. */
int32_t leati_fuse_factor(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  leati_product p;
  multiplication m;
  if (!leati_product_read(f, &f->nodes[n], &p) || p.conv || p.inputs[4] != LEAT_GRAPH_NO_VALUE ||
      p.kept_count == LEATI_PRODUCT_KEPT_MAX || leati_attributes_int(&f->nodes[n].attributes, "transA", 0) != 0 ||
      !read_multiplication(f, p.inputs[0], &m) ||
      !takes_factor(f, &m, p.inputs[1], f->nodes[n].outputs[0],
                    leati_attributes_int(&f->nodes[n].attributes, "transB", 0) != 0)) {
    return LEAT_OK;
  }
  p.inputs[0] = m.x;
  p.inputs[4] = m.factor;
  if (m.norm) {
    p.kept[p.kept_count++] = leati_fusion_float("epsilon", m.epsilon);
  }
  return leati_product_write(f, n, &p, out_done, err);
}
