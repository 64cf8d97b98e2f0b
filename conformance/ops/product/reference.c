/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of matrices. */
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/elementwise/epilogue.h"
#include "ops/quantize/reference.h"

/* numpy.matmul: a vector on the left gets a 1 in front, one on the right a 1 behind, and both 1s leave the result. */
static bool run_matmul(leati_ref_node *node) {
  leati_ref_tensor a = *node->inputs[0];
  leati_ref_tensor b = *node->inputs[1];
  if (a.rank == 0 || b.rank == 0) {
    return leati_ref_fail(node, "MatMul takes no scalars");
  }
  bool row = a.rank == 1;
  bool column = b.rank == 1;
  if (row) {
    a.dims[1] = a.dims[0];
    a.dims[0] = 1;
    a.rank = 2;
  }
  if (column) {
    b.dims[1] = 1;
    b.rank = 2;
  }
  int64_t m = a.dims[a.rank - 2];
  int64_t k = a.dims[a.rank - 1];
  int64_t n = b.dims[b.rank - 1];
  if (b.dims[b.rank - 2] != k) {
    return leati_ref_fail(node, "MatMul: inner dimensions differ");
  }
  int32_t batch_rank = (a.rank > b.rank ? a.rank : b.rank) - 2;
  int64_t batch[LEAT_MAX_RANK];
  int64_t batches = 1;
  for (int32_t d = 0; d < batch_rank; ++d) {
    int32_t da = d - (batch_rank - (a.rank - 2));
    int32_t db = d - (batch_rank - (b.rank - 2));
    int64_t na = da < 0 ? 1 : a.dims[da];
    int64_t nb = db < 0 ? 1 : b.dims[db];
    if (na != nb && na != 1 && nb != 1) {
      return leati_ref_fail(node, "MatMul: batch dimensions do not broadcast");
    }
    batch[d] = na != 1 ? na : nb;
    batches *= batch[d];
  }
  int64_t dims[LEAT_MAX_RANK + 2];
  int32_t rank = batch_rank;
  memcpy(dims, batch, sizeof(batch[0]) * (size_t)batch_rank);
  if (!row) {
    dims[rank++] = m;
  }
  if (!column) {
    dims[rank++] = n;
  }
  leati_ref_tensor_init(&node->outputs[0], a.type, rank, dims);
  leati_ref_tensor *y = &node->outputs[0];
  const bool real = leati_ref_type_is_float(a.type);
  /* Only the batch dimensions, for the broadcast. */
  leati_ref_tensor ab = a;
  leati_ref_tensor bb = b;
  ab.rank -= 2;
  bb.rank -= 2;
  for (int64_t g = 0; g < batches; ++g) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(batch_rank, batch, g, index);
    int64_t a0 = leati_ref_broadcast_at(&ab, batch_rank, index) * m * k;
    int64_t b0 = leati_ref_broadcast_at(&bb, batch_rank, index) * k * n;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        int64_t at = (g * m + r) * n + c;
        leati_ref_products sum = {0};
        uint64_t isum = 0;
        double off = 0; /* by what elements of a are off */
        for (int64_t j = 0; j < k; ++j) {
          if (real) {
            leati_ref_add_product(&sum, a.f[a0 + r * k + j], b.f[b0 + j * n + c]);
            off += a.bound[a0 + r * k + j] * fabs(b.f[b0 + j * n + c]);
          } else {
            isum += (uint64_t)a.i[a0 + r * k + j] * (uint64_t)b.i[b0 + j * n + c];
          }
        }
        if (real) {
          y->f[at] = sum.sum;
          y->bound[at] = leati_ref_bound_products(k, &sum, a.type == LEATI_REF_FLOAT32) + off;
        } else {
          y->i[at] = leati_ref_type_wrap(a.type, (int64_t)isum);
        }
      }
    }
  }
  return true;
}

/* A copy of a matrix, or of a stack of them, with the last two dimensions swapped if asked for. */
static void turned(const leati_ref_tensor *x, bool swap, leati_ref_tensor *out) {
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, x->dims, sizeof(dims));
  if (swap) {
    dims[x->rank - 2] = x->dims[x->rank - 1];
    dims[x->rank - 1] = x->dims[x->rank - 2];
  }
  leati_ref_tensor_init(out, x->type, x->rank, dims);
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t at[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, k, at);
    if (swap) {
      const int64_t row = at[x->rank - 2];
      at[x->rank - 2] = at[x->rank - 1];
      at[x->rank - 1] = row;
    }
    leati_ref_tensor_copy_element(out, leati_ref_ravel(x->rank, dims, at), x, k);
  }
}

/* Gives the result the shape that an attribute has; without it, its own. */
static bool reshape_result(leati_ref_node *node) {
  leati_ref_tensor *y = &node->outputs[0];
  const leat_attribute *shape = leati_ref_attribute(node, "shape");
  if (shape == NULL || shape->count == 0) {
    return true;
  }
  int64_t count = 1;
  for (uint64_t k = 0; k < shape->count; ++k) {
    count *= shape->ints[k];
  }
  if (count != y->count) {
    return leati_ref_fail(node, "FusedMatMul: the shape has another number of elements than the product");
  }
  y->rank = (int32_t)shape->count;
  memcpy(y->dims, shape->ints, shape->count * sizeof(y->dims[0]));
  return true;
}

/* The first operand times input `at`, of rows that are normalised first where there is an epsilon. Parts round it to
 * their type. Who divides the sums of the product by the root instead may have taken denormal numbers for 0 before,
 * which then lack `*out_scale` times as much. */
static bool multiply(leati_ref_node *node, uint32_t at, leati_ref_tensor *a, double *out_scale) {
  const leati_ref_tensor *factor = leati_ref_input(node, at);
  const leati_ref_tensor *const inputs[2] = {node->inputs[0], factor};
  leati_ref_node part = *node;
  *out_scale = 1;
  if (factor == NULL) {
    return true;
  }
  const bool norm = leati_ref_attribute(node, "epsilon") != NULL;
  part.name = norm ? "SimplifiedLayerNormalization" : "Mul";
  part.inputs = inputs;
  part.input_count = 2;
  part.output_count = norm ? 2 : 1;
  memset(part.outputs, 0, sizeof(part.outputs));
  const bool ok = leati_ref_run_of(norm ? leati_ref_norm : leati_ref_elementwise, &part);
  memcpy(node->error, part.error, sizeof(part.error));
  *a = part.outputs[0];
  part.outputs[0] = (leati_ref_tensor){0};
  for (int64_t k = 0; ok && norm && k < part.outputs[1].count; ++k) {
    *out_scale = fmax(*out_scale, part.outputs[1].f[k]);
  }
  leati_ref_node_clear(&part);
  for (int64_t k = 0; ok && k < a->count; ++k) {
    a->bound[k] += *out_scale * FLT_MIN;
    if (a->type != LEATI_REF_FLOAT32) {
      a->bound[k] += leati_ref_type_ulp(a->type) / 2 * fmax(fabs(a->f[k]), leati_ref_type_smallest(a->type));
    }
  }
  return ok;
}

/* alpha A' B', com.microsoft's; ours has a factor, input number `factor`, adds a bias along the last dimension and has
 * an epilogue, of the shape that the result is to have. */
static bool run_product(leati_ref_node *node, uint32_t factor) {
  const double alpha = leati_ref_float(node, "alpha", 1);
  const bool ta = leati_ref_int(node, "transA", 0) != 0;
  const bool tb = leati_ref_int(node, "transB", 0) != 0;
  if (leati_ref_int(node, "transBatchA", 0) != 0 || leati_ref_int(node, "transBatchB", 0) != 0) {
    return leati_ref_fail(node, "FusedMatMul: stacks that are turned are not computed here");
  }
  if ((ta && node->inputs[0]->rank < 2) || (tb && node->inputs[1]->rank < 2)) {
    return leati_ref_fail(node, "FusedMatMul: a vector cannot be turned");
  }
  leati_ref_tensor multiplied = {0};
  double scale;
  if (!multiply(node, factor, &multiplied, &scale)) {
    leati_ref_tensor_clear(&multiplied);
    return false;
  }
  leati_ref_tensor a;
  leati_ref_tensor b;
  turned(multiplied.f != NULL ? &multiplied : node->inputs[0], ta, &a);
  turned(node->inputs[1], tb, &b);
  leati_ref_tensor_clear(&multiplied);
  const int64_t terms = a.rank > 0 ? a.dims[a.rank - 1] : 1;
  const double ulps = leati_ref_input(node, factor) != NULL ? 2 : 1;
  const leati_ref_tensor *const inputs[2] = {&a, &b};
  const leati_ref_tensor *const *given = node->inputs;
  node->inputs = inputs;
  bool ok = run_matmul(node);
  node->inputs = given;
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; ok && k < y->count; ++k) {
    /* The product rounds, with the sum off as it may be; and so does what the root makes of a sum. */
    y->bound[k] += (double)(2 * terms + 1) * (scale - 1) * FLT_MIN;
    y->bound[k] = fabs(alpha) * y->bound[k] + leati_ref_bound_ulps(alpha * (fabs(y->f[k]) + y->bound[k]), ulps);
    y->f[k] *= alpha;
  }
  leati_ref_tensor bias = {0};
  if (leati_ref_input(node, 2) != NULL) {
    bias = *node->inputs[2];
    bias.rank = b.rank < 2 ? 0 : bias.rank; /* of the one column that a vector is */
  }
  ok = ok && (bias.f == NULL || leati_ref_add(node, &bias)) && reshape_result(node) &&
       leati_ref_epilogue(node, leati_ref_input(node, 3));
  leati_ref_tensor_clear(&a);
  leati_ref_tensor_clear(&b);
  return ok;
}

static bool run_fused_matmul(leati_ref_node *node) {
  return run_product(node, 4);
}

static bool run_gemm_fast_gelu(leati_ref_node *node) {
  static const leat_attribute activation = {.struct_size = sizeof(leat_attribute),
                                            .type = LEAT_ATTRIBUTE_STRING,
                                            .name = "activation",
                                            .count = 8,
                                            .string = "FastGelu"};
  static const leat_attribute *const attributes[] = {&activation};
  node->attributes = attributes;
  node->attribute_count = 1;
  return run_fused_matmul(node);
}

/* alpha A' B' + beta C, where C broadcasts one way to the result; com.microsoft's has an activation. */
static bool run_gemm(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  const leati_ref_tensor *b = node->inputs[1];
  const leati_ref_tensor *c = leati_ref_input(node, 2);
  double alpha = leati_ref_float(node, "alpha", 1);
  double beta = leati_ref_float(node, "beta", 1);
  bool ta = leati_ref_int(node, "transA", 0) != 0;
  bool tb = leati_ref_int(node, "transB", 0) != 0;
  if (a->rank != 2 || b->rank != 2 || !leati_ref_type_is_float(a->type)) {
    return leati_ref_fail(node, "Gemm takes matrices of floats");
  }
  int64_t m = a->dims[ta ? 1 : 0];
  int64_t k = a->dims[ta ? 0 : 1];
  int64_t n = b->dims[tb ? 0 : 1];
  if (b->dims[tb ? 1 : 0] != k) {
    return leati_ref_fail(node, "Gemm: inner dimensions differ");
  }
  leati_ref_tensor_init(&node->outputs[0], a->type, 2, (const int64_t[]){m, n});
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t col = 0; col < n; ++col) {
      leati_ref_products sum = {0};
      for (int64_t j = 0; j < k; ++j) {
        leati_ref_add_product(&sum, a->f[ta ? j * m + r : r * k + j], b->f[tb ? col * k + j : j * n + col]);
      }
      double value = alpha * sum.sum;
      double bound = fabs(alpha) * leati_ref_bound_products(k, &sum, a->type == LEATI_REF_FLOAT32) +
                     leati_ref_bound_ulps(alpha * sum.magnitude, 1);
      if (c != NULL && beta != 0) {
        double added = beta * c->f[leati_ref_broadcast_at(c, 2, (const int64_t[]){r, col})];
        value += added;
        bound += leati_ref_bound_ulps(added, 1) + leati_ref_bound_ulps(value, 1);
      }
      node->outputs[0].f[r * n + col] = value;
      node->outputs[0].bound[r * n + col] = bound;
    }
  }
  return leati_ref_epilogue(node, NULL);
}

/* One of the numbers of `bits` bits that a list has in bytes, the first in the lowest bits. */
static int64_t packed_number(const leati_ref_tensor *bytes, int64_t first_byte, int64_t bits, int64_t at) {
  return bytes->i[first_byte + at * bits / 8] >> at * bits % 8 & ((1 << bits) - 1);
}

/* The weights of com.microsoft's MatMulNBits. */
typedef struct nbits {
  int64_t k;
  int64_t n;
  int64_t bits;
  int64_t block_size;
  int64_t blocks; /* of a column */
  const leati_ref_tensor *weights;
  const leati_ref_tensor *scales;
  const leati_ref_tensor *zeros; /* NULL: half of the range */
  const leati_ref_tensor *g_idx; /* whose scale and zero point each k has; NULL: its own block's */
} nbits;

/* A weight, (q - zero) scale. `*off`: it may have been rounded to the type of the scale, as DequantizeLinear does,
 * after a difference and a product that are each rounded once. */
static double weight_of(const void *of, int64_t column, int64_t at, double *off) {
  const nbits *const w = of;
  int64_t place = at / w->block_size;
  if (w->g_idx != NULL) {
    const int64_t given = w->g_idx->i[at];
    place = given < 0 ? 0 : given < w->blocks ? given : w->blocks - 1;
  }
  const int64_t block = column * w->blocks + place;
  const int64_t q = packed_number(w->weights, column * w->blocks * w->block_size * w->bits / 8, w->bits, at);
  double zero = (double)(1 << (w->bits - 1));
  if (w->zeros != NULL && w->zeros->f != NULL) {
    zero = w->zeros->f[block];
  } else if (w->zeros != NULL) {
    const int64_t bytes = (w->blocks * w->bits + 7) / 8;
    zero = (double)packed_number(w->zeros, column * bytes, w->bits, place);
  }
  const leati_ref_type type = w->scales->type;
  const double weight = ((double)q - zero) * w->scales->f[block];
  *off = leati_ref_bound_ulps(weight, 2);
  if (type != LEATI_REF_FLOAT32) {
    *off += leati_ref_type_ulp(type) / 2 * fmax(fabs(weight), leati_ref_type_smallest(type));
  }
  return weight;
}

/* Rows of k elements times weights, of which each may be off by what it says. */
static void multiply_weights(const leati_ref_tensor *a, int64_t k, int64_t n,
                             double (*weight)(const void *of, int64_t column, int64_t at, double *off), const void *of,
                             leati_ref_tensor *y) {
  for (int64_t at = 0; at < y->count; ++at) {
    const double *row = a->f + at / n * k;
    double sum = 0;
    double magnitude = 0;
    double bound = 0;
    for (int64_t j = 0; j < k; ++j) {
      double off = 0;
      const double product = row[j] * weight(of, at % n, j, &off);
      sum += product;
      magnitude += fabs(product);
      bound += fabs(row[j]) * off;
    }
    y->f[at] = sum;
    y->bound[at] = bound + leati_ref_bound_sum(k, magnitude + bound);
  }
}

/* Weights of few bits, by column and in blocks along k. */
static bool run_matmul_nbits(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  nbits w = {.k = leati_ref_int(node, "K", 0),
             .n = leati_ref_int(node, "N", 0),
             .bits = leati_ref_int(node, "bits", 4),
             .block_size = leati_ref_int(node, "block_size", 0),
             .weights = node->inputs[1],
             .scales = node->inputs[2],
             .zeros = leati_ref_input(node, 3),
             .g_idx = leati_ref_input(node, 4)};
  if (w.k < 1 || w.n < 1 || w.block_size < 1 || (w.bits != 2 && w.bits != 4 && w.bits != 8)) {
    return leati_ref_fail(node, "MatMulNBits: not of this form");
  }
  w.blocks = (w.k + w.block_size - 1) / w.block_size;
  const int64_t zeros = w.zeros == NULL ? 0 : w.zeros->f != NULL ? w.n * w.blocks : w.n * ((w.blocks * w.bits + 7) / 8);
  if (a->rank < 1 || a->dims[a->rank - 1] != w.k || w.weights->count != w.n * w.blocks * w.block_size * w.bits / 8 ||
      w.scales->count != w.n * w.blocks || (w.zeros != NULL && w.zeros->count != zeros) ||
      (w.g_idx != NULL && w.g_idx->count != w.k && w.g_idx->count != w.blocks * w.block_size)) {
    return leati_ref_fail(node, "MatMulNBits: shapes that do not go together");
  }
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, a->dims, sizeof(dims));
  dims[a->rank - 1] = w.n;
  leati_ref_tensor_init(&node->outputs[0], a->type, a->rank, dims);
  multiply_weights(a, w.k, w.n, weight_of, &w, &node->outputs[0]);
  const leati_ref_tensor *bias = leati_ref_input(node, 5);
  return bias == NULL || leati_ref_add(node, bias);
}

/* Weights [n, k] of com.microsoft's MatMulBnb4, in blocks along all of them; `turned`: each column is one of k. */
typedef struct bnb4 {
  int64_t k, block_size;
  bool normal, turned;
  const leati_ref_tensor *bytes, *scales;
} bnb4;

/* The float that a number of 4 bits stands for: FP4 and NF4 of bitsandbytes. */
static double float4_of(bool normal, int64_t number) {
  static const double fp4[] = {0, 5.208333333e-03, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25};
  static const double nf4[] = {-1,
                               -0.6961928009986877,
                               -0.5250730514526367,
                               -0.39491748809814453,
                               -0.28444138169288635,
                               -0.18477343022823334,
                               -0.09105003625154495,
                               0,
                               0.07958029955625534,
                               0.16093020141124725,
                               0.24611230194568634,
                               0.33791524171829224,
                               0.44070982933044434,
                               0.5626170039176941,
                               0.7229568362236023,
                               1};
  return (float)(normal ? nf4[number] : number < 8 ? fp4[number] : -fp4[number - 8]);
}

static double bnb4_weight(const void *of, int64_t column, int64_t at, double *off) {
  const bnb4 *const w = of;
  const int64_t i = w->turned ? at * w->k + column : column * w->k + at;
  const int64_t number = w->bytes->i[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
  const leati_ref_type type = w->scales->type;
  const double weight = float4_of(w->normal, number) * w->scales->f[i / w->block_size];
  *off = leati_ref_bound_ulps(weight, 1);
  if (type != LEATI_REF_FLOAT32) {
    *off += leati_ref_type_ulp(type) / 2 * fmax(fabs(weight), leati_ref_type_smallest(type));
  }
  return weight;
}

static bool run_matmul_bnb4(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  const int64_t n = leati_ref_int(node, "N", 0), kind = leati_ref_int(node, "quant_type", -1);
  const bnb4 w = {.k = leati_ref_int(node, "K", 0),
                  .block_size = leati_ref_int(node, "block_size", 0),
                  .normal = kind == 1,
                  .turned = leati_ref_int(node, "transB", 1) == 0,
                  .bytes = node->inputs[1],
                  .scales = node->inputs[2]};
  if (w.k < 1 || n < 1 || w.block_size < 16 || (w.block_size & (w.block_size - 1)) != 0 || kind < 0 || kind > 1) {
    return leati_ref_fail(node, "MatMulBnb4: not of this form");
  }
  const int64_t inner = w.turned ? n : w.k, outer = w.turned ? w.k : n;
  if (a->rank < 1 || a->dims[a->rank - 1] != inner || w.bytes->rank != 1 || w.bytes->count != (n * w.k + 1) / 2 ||
      w.scales->rank != 1 || w.scales->count != (n * w.k + w.block_size - 1) / w.block_size) {
    return leati_ref_fail(node, "MatMulBnb4: shapes that do not go together");
  }
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, a->dims, sizeof(dims));
  dims[a->rank - 1] = outer;
  leati_ref_tensor_init(&node->outputs[0], a->type, a->rank, dims);
  multiply_weights(a, inner, outer, bnb4_weight, &w, &node->outputs[0]);
  return true;
}

/* Whether a scale or zero point is for all of an operand or one for each of its rows (columns), in one dimension or in
 * those that broadcast to the operand. */
static bool place_fits(const leati_ref_tensor *place, const leati_ref_tensor *operand, bool rows) {
  const int32_t rank = operand->rank;
  const int64_t each = rank > 1 ? operand->dims[rank - (rows ? 2 : 1)] : 1;
  if (place->count == 1 && place->rank <= rank) {
    return true;
  }
  if (place->rank == 1) {
    return rank > 1 && place->dims[0] == each;
  }
  bool fits = place->rank <= rank;
  for (int32_t d = 1; fits && d <= place->rank; ++d) {
    const int64_t size = place->dims[place->rank - d];
    const int64_t most = d > 2 ? operand->dims[rank - d] : (d == 2) == rows ? each : 1;
    fits = size == 1 || size == most;
  }
  return fits;
}

/* Where the scale or zero point of an element of the operand stands. */
static int64_t place_of(const leati_ref_tensor *place, const leati_ref_tensor *operand, bool rows,
                        const int64_t *index) {
  if (place->count == 1) {
    return 0;
  }
  return place->rank == 1 ? index[operand->rank - (rows ? 2 : 1)] : leati_ref_broadcast_at(place, operand->rank, index);
}

/* An operand of int8 or uint8 less its zero points, as int32. */
static void centre(const leati_ref_tensor *x, const leati_ref_tensor *zero, bool rows, leati_ref_tensor *out) {
  leati_ref_tensor_init(out, LEATI_REF_INT32, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, k, index);
    out->i[k] = x->i[k] - (zero != NULL ? zero->i[place_of(zero, x, rows, index)] : 0);
  }
}

/* The sums of the products of two operands, whose zero points may be NULL, as output 0. */
static bool run_sums(leati_ref_node *node, const leati_ref_tensor *a, const leati_ref_tensor *a_zero,
                     const leati_ref_tensor *b, const leati_ref_tensor *b_zero) {
  if (a->rank < 1 || b->rank < 1 || (a_zero != NULL && !place_fits(a_zero, a, true)) ||
      (b_zero != NULL && !place_fits(b_zero, b, false))) {
    return leati_ref_fail(node, "%s: shapes that do not go together", node->name);
  }
  leati_ref_tensor centred[2];
  centre(a, a_zero, true, &centred[0]);
  centre(b, b_zero, false, &centred[1]);
  const leati_ref_tensor *const operands[2] = {&centred[0], &centred[1]};
  leati_ref_node product = {.name = node->name, .input_count = 2, .inputs = operands, .output_count = 1};
  const bool done = run_matmul(&product);
  node->outputs[0] = product.outputs[0];
  memcpy(node->error, product.error, sizeof(node->error));
  leati_ref_tensor_clear(&centred[0]);
  leati_ref_tensor_clear(&centred[1]);
  return done;
}

static bool run_matmul_integer(leati_ref_node *node) {
  return run_sums(node, node->inputs[0], leati_ref_input(node, 2), node->inputs[1], leati_ref_input(node, 3));
}

/* The scale of the row (column) of an operand that an element of the result is of, whose index is given. */
static double scale_of(const leati_ref_tensor *scale, const leati_ref_tensor *operand, bool rows, bool other_is_vector,
                       const leati_ref_tensor *y, const int64_t *index) {
  int64_t at[LEAT_MAX_RANK] = {0};
  const int32_t rank = operand->rank, own = rank - (rows ? 2 : 1);
  if (rank < 2) {
    return scale->f[0];
  }
  /* The result lacks a dimension where the other operand is a vector. */
  const int32_t matrix = other_is_vector ? 1 : 2;
  at[own] = index[y->rank - (rows ? matrix : 1)];
  for (int32_t d = 0; d < rank - 2; ++d) {
    at[d] = operand->dims[d] != 1 ? index[y->rank - matrix - (rank - 2) + d] : 0;
  }
  return scale->f[place_of(scale, operand, rows, at)];
}

/* The sums, with a bias of columns, as bytes by their own scales and that of the result. */
static bool run_bytes(leati_ref_node *node, const leati_ref_tensor *b, const leati_ref_tensor *bias,
                      const leati_ref_tensor *y_scale, const leati_ref_tensor *y_zero) {
  const leati_ref_tensor *a = node->inputs[0], *a_scale = node->inputs[1], *b_scale = node->inputs[4];
  if (y_scale->count != 1 || y_zero->count != 1 || a->rank < 1 || b->rank < 1 || !place_fits(a_scale, a, true) ||
      !place_fits(b_scale, b, false) || (bias != NULL && (bias->rank != 1 || bias->dims[0] != b->dims[b->rank - 1]))) {
    return leati_ref_fail(node, "%s: shapes that do not go together", node->name);
  }
  if (!run_sums(node, a, node->inputs[2], b, leati_ref_input(node, 5))) {
    return false;
  }
  leati_ref_tensor sums = node->outputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, y_zero->type, sums.rank, sums.dims);
  y->bound = leati_ref_alloc(y->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    const int64_t sum = sums.i[k] + (bias != NULL ? bias->i[index[y->rank - 1]] : 0);
    const double x = (double)sum * scale_of(a_scale, a, true, b->rank == 1, y, index) *
                     scale_of(b_scale, b, false, a->rank == 1, y, index) / y_scale->f[0];
    leati_ref_requantise(y, k, x, y_zero->i[0]);
  }
  leati_ref_tensor_clear(&sums);
  return true;
}

static bool run_qlinear_matmul(leati_ref_node *node) {
  return run_bytes(node, node->inputs[3], NULL, node->inputs[6], node->inputs[7]);
}

/* The sums as floats, with a bias. */
static bool run_floats(leati_ref_node *node, const leati_ref_tensor *a, const leati_ref_tensor *a_scale,
                       const leati_ref_tensor *a_zero, const leati_ref_tensor *b, const leati_ref_tensor *b_scale,
                       const leati_ref_tensor *b_zero, const leati_ref_tensor *bias) {
  if (a->rank < 1 || b->rank < 1 || !place_fits(a_scale, a, true) || !place_fits(b_scale, b, false)) {
    return leati_ref_fail(node, "%s: shapes that do not go together", node->name);
  }
  if (!run_sums(node, a, a_zero, b, b_zero)) {
    return false;
  }
  leati_ref_tensor sums = node->outputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, LEATI_REF_FLOAT32, sums.rank, sums.dims);
  y->bound = leati_ref_alloc(y->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    y->f[k] = (double)sums.i[k] * scale_of(a_scale, a, true, b->rank == 1, y, index) *
              scale_of(b_scale, b, false, a->rank == 1, y, index);
    /* The sum, the product of the scales and theirs are rounded. */
    y->bound[k] = leati_ref_bound_sum(3, fabs(y->f[k]));
  }
  leati_ref_tensor_clear(&sums);
  return bias == NULL || leati_ref_add(node, bias);
}

static bool run_matmul_integer_to_float(leati_ref_node *node) {
  return run_floats(node, node->inputs[0], node->inputs[2], leati_ref_input(node, 4), node->inputs[1], node->inputs[3],
                    leati_ref_input(node, 5), leati_ref_input(node, 6));
}

static bool run_dynamic_quantize_matmul(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0];
  const leati_ref_dynamic by = leati_ref_dynamic_of(x);
  leati_ref_tensor a, scale, zero;
  leati_ref_tensor_init(&a, LEATI_REF_UINT8, x->rank, x->dims);
  leati_ref_tensor_init(&scale, LEATI_REF_FLOAT32, 0, NULL);
  leati_ref_tensor_init(&zero, LEATI_REF_UINT8, 0, NULL);
  scale.f[0] = by.scale;
  zero.i[0] = by.zero;
  for (int64_t k = 0; k < x->count; ++k) {
    a.i[k] = leati_ref_dynamic_byte(by, x->f[k]);
  }
  const bool done = run_floats(node, &a, &scale, &zero, node->inputs[1], node->inputs[2], leati_ref_input(node, 3),
                               leati_ref_input(node, 4));
  leati_ref_tensor_clear(&a);
  leati_ref_tensor_clear(&scale);
  leati_ref_tensor_clear(&zero);
  return done;
}

/* A matrix with its last two dimensions swapped. */
static void transpose(const leati_ref_tensor *x, leati_ref_tensor *out) {
  int64_t dims[LEAT_MAX_RANK], index[LEAT_MAX_RANK];
  const int32_t last = x->rank - 1;
  memcpy(dims, x->dims, sizeof(dims[0]) * (size_t)x->rank);
  dims[last] = x->dims[last - 1];
  dims[last - 1] = x->dims[last];
  leati_ref_tensor_init(out, x->type, x->rank, dims);
  for (int64_t k = 0; k < out->count; ++k) {
    leati_ref_unravel(x->rank, dims, k, index);
    const int64_t row = index[last];
    index[last] = index[last - 1];
    index[last - 1] = row;
    leati_ref_tensor_copy_element(out, k, x, leati_ref_broadcast_at(x, x->rank, index));
  }
}

static bool run_quantized_matmul(leati_ref_node *node) {
  leati_ref_tensor turned = {0};
  const leati_ref_tensor *b = node->inputs[1];
  if (leati_ref_int(node, "transB", 0) != 0 && b->rank > 1) {
    transpose(b, &turned);
    b = &turned;
  }
  const bool done = run_floats(node, node->inputs[0], node->inputs[2], leati_ref_input(node, 4), b, node->inputs[3],
                               leati_ref_input(node, 5), leati_ref_input(node, 6)) &&
                    leati_ref_quantise_output(node, leati_ref_input(node, 7), leati_ref_input(node, 8));
  if (b == &turned) {
    leati_ref_tensor_clear(&turned);
  }
  return done;
}

static bool run_qgemm(leati_ref_node *node) {
  leati_ref_tensor turned = {0};
  const leati_ref_tensor *b = node->inputs[3], *y_scale = leati_ref_input(node, 7), *y_zero = leati_ref_input(node, 8);
  if (y_scale == NULL || y_zero == NULL || b->rank != 2) {
    return leati_ref_fail(node, "QGemm: not of this form");
  }
  if (leati_ref_int(node, "transB", 0) != 0) {
    transpose(b, &turned);
    b = &turned;
  }
  const bool done = run_bytes(node, b, leati_ref_input(node, 6), y_scale, y_zero);
  if (b == &turned) {
    leati_ref_tensor_clear(&turned);
  }
  return done;
}

const leati_ref_entry leati_ref_product[] = {{"MatMul", run_matmul},
                                             {"FusedMatMul", run_fused_matmul},
                                             {"TransposeMatMul", run_fused_matmul},
                                             {"GemmFastGelu", run_gemm_fast_gelu},
                                             {"Gemm", run_gemm},
                                             {"FusedGemm", run_gemm},
                                             {"MatMulNBits", run_matmul_nbits},
                                             {"MatMulBnb4", run_matmul_bnb4},
                                             {"MatMulInteger", run_matmul_integer},
                                             {"MatMulIntegerToFloat", run_matmul_integer_to_float},
                                             {"DynamicQuantizeMatMul", run_dynamic_quantize_matmul},
                                             {"QLinearMatMul", run_qlinear_matmul},
                                             {"QGemm", run_qgemm},
                                             {"QuantizedMatMul", run_quantized_matmul},
                                             {NULL, NULL}};
