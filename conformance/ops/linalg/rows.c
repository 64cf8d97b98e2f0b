/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of factors of matrices and of systems of equations. */
#include <float.h>
#include <math.h>

#include "cases/sources.h"
#include "fixture.h"
#include "ops/core/op_engine.h"

#define F LEATI_REF_FLOAT32
#define D LEATI_REF_FLOAT64

/* Rows in domain `leat` with so many outputs; attributes and inputs follow. */
#define OF_LEAT(op, named, wanted, views, used_threads)                                                   \
  .name = op, .label = named, .since_version = 1, .domain = "leat", .outputs = wanted, .variants = views, \
  .threads = used_threads
/* Given floats of a type: the shape as DIMS(), then the elements. */
#define FLOATS_OF(t, shape, ...)                                             \
  {                                                                          \
    .fill = LEATI_FILL_FLOATS, .type = t, shape, .floats = (const float[]) { \
      __VA_ARGS__                                                            \
    }                                                                        \
  }

/* Two positive definite matrices, and one that is not from row 3 on. */
#define DEFINITE 9, 3, -1, 3, 5, 2, -1, 2, 7, 4, 1, 0.5f, 1, 3, -1, 0.5f, -1, 2
#define INDEFINITE 4, 2, 2, 2, 2, 0, 2, 0, 1

#define SOLVE_VIEWS (VIEW_TRANSPOSED | VIEW_SLICED | VIEW_DYNAMIC | VIEW_REVERSED | VIEW_OFFSET)

static const leati_op_spec specs[] = {
    {OF_LEAT("LU", "float32", 3, ALL_VIEWS, THREADS_8 | THREADS_16), .inputs = {F32(3, 7, 7)}},
    {OF_LEAT("LU", "float64", 3, VIEWS, 0), .inputs = {RANGE_OF(D, -1, 1, 3, 7, 7)}},
    {OF_LEAT("LU", "wide", 3, 0, 0), .inputs = {F32(2, 5, 40)}},
    {OF_LEAT("LU", "tall", 3, 0, 0), .inputs = {F32(2, 70, 3)}},
    {OF_LEAT("LU", "one_matrix", 3, 0, 0), .inputs = {F32(9, 9)}},
    {OF_LEAT("LU", "one_element", 3, 0, 0), .inputs = {F32(4, 1, 1)}},
    {OF_LEAT("LU", "equal_pivots", 3, 0, 0), .inputs = {FLOATS_OF(F, DIMS(3, 3), 1, 2, 3, -1, 5, 4, 1, -7, 2)}},
    {OF_LEAT("LU", "singular", 3, 0, 0), .inputs = {FLOATS_OF(F, DIMS(3, 3, 3), 1, 2, 3, 2, 4, 6, 1, 0, 1, 0, 0, 0, 0,
                                                              0, 0, 0, 0, 0, 0, 1, 2, 0, 3, 4, 0, 5, 8)}},
    {OF_LEAT("LU", "empty", 3, 0, 0), .inputs = {F32(3, 0, 4)}},
    {OF_LEAT("LU", "no_matrices", 3, 0, 0), .inputs = {F32(0, 4, 4)}},
    {OF_LEAT("LU", "rank8", 3, 0, 0), .inputs = {F32(2, 1, 2, 1, 1, 2, 3, 3)}},

    {OF_LEAT("LUSolve", "float32", 2, SOLVE_VIEWS, THREADS_8 | THREADS_16),
     .inputs = {F32_RANGE(0.5, 2, 2, 4, 4), I32_IS(DIMS(2, 4), 3, 2, 4, 4, 1, 4, 3, 4), F32(2, 4, 3)}},
    {OF_LEAT("LUSolve", "float64", 2, VIEWS, 0),
     .inputs = {RANGE_OF(D, 0.5, 2, 2, 4, 4), I32_IS(DIMS(2, 4), 3, 2, 4, 4, 1, 4, 3, 4), RANGE_OF(D, -1, 1, 2, 4, 3)}},
    {OF_LEAT("LUSolve", "transpose", 1, 0, 0), .attributes = {A_INT("transpose", 1)},
     .inputs = {F32_RANGE(0.5, 2, 2, 4, 4), I32_IS(DIMS(2, 4), 3, 2, 4, 4, 1, 4, 3, 4), F32(2, 4, 3)}},
    {OF_LEAT("LUSolve", "pivots_out_of_range", 2, 0, THREADS_8),
     .inputs = {F32_RANGE(0.5, 2, 4, 4), I32_IS(DIMS(4), 5, 0, -2147483647, 2147483647), F32(4, 9)}},
    {OF_LEAT("LUSolve", "singular", 2, 0, 0), .inputs = {FLOATS_OF(F, DIMS(2, 2, 2), 2, 1, 0.5f, 0, 2, 1, 0.5f, 3),
                                                         I32_IS(DIMS(2, 2), 2, 2, 2, 2), F32(2, 2, 2)}},
    {OF_LEAT("LUSolve", "no_sides", 2, 0, 0),
     .inputs = {F32_RANGE(0.5, 2, 2, 4, 4), I32_IS(DIMS(2, 4), 3, 2, 4, 4, 1, 4, 3, 4), F32(2, 4, 0)}},

    {OF_LEAT("TriangularSolve", "float32", 2, SOLVE_VIEWS, THREADS_8 | THREADS_16),
     .inputs = {F32_RANGE(0.5, 2, 2, 7, 7), F32(2, 7, 5)}},
    {OF_LEAT("TriangularSolve", "float64", 2, VIEWS, 0),
     .inputs = {RANGE_OF(D, 0.5, 2, 2, 7, 7), RANGE_OF(D, -1, 1, 2, 7, 5)}},
#define TRIANGULAR(named, ...)                                                           \
  {                                                                                      \
    OF_LEAT("TriangularSolve", named, 1, 0, 0), .attributes = {__VA_ARGS__}, .inputs = { \
      F32_RANGE(0.5, 2, 2, 5, 5),                                                        \
      F32(2, 5, 5)                                                                       \
    }                                                                                    \
  }
    TRIANGULAR("upper", A_INT("upper", 1)),
    TRIANGULAR("transpose", A_INT("transpose", 1)),
    TRIANGULAR("upper_transpose", A_INT("upper", 1), A_INT("transpose", 1)),
    TRIANGULAR("unit", A_INT("unit_diagonal", 1)),
    TRIANGULAR("right", A_INT("right", 1)),
    TRIANGULAR("right_upper", A_INT("right", 1), A_INT("upper", 1)),
    TRIANGULAR("right_transpose", A_INT("right", 1), A_INT("transpose", 1)),
    TRIANGULAR("right_upper_transpose_unit", A_INT("right", 1), A_INT("upper", 1), A_INT("transpose", 1),
               A_INT("unit_diagonal", 1)),
    {OF_LEAT("TriangularSolve", "right_of_other_size", 2, 0, 0), .attributes = {A_INT("right", 1)},
     .inputs = {F32_RANGE(0.5, 2, 5, 5), F32(3, 5)}},
    {OF_LEAT("TriangularSolve", "blocks", 2, 0, THREADS_8),
     .attributes = {A_INT("upper", 1), A_INT("unit_diagonal", 1)},
     .inputs = {F32_RANGE(-0.02, 0.02, 2, 70, 70), F32(2, 70, 9)}},
    {OF_LEAT("TriangularSolve", "singular", 2, 0, 0),
     .inputs = {FLOATS_OF(F, DIMS(2, 2, 2), 2, 1, 0.5f, 0, 2, 1, 0.5f, 3), F32(2, 2, 2)}},
    {OF_LEAT("TriangularSolve", "unit_with_zeros", 2, 0, 0), .attributes = {A_INT("unit_diagonal", 1)},
     .inputs = {FLOATS_OF(F, DIMS(2, 2), 0, 1, 0.5f, 0), F32(2, 2)}},
    {OF_LEAT("TriangularSolve", "empty", 2, 0, 0), .inputs = {F32(2, 0, 0), F32(2, 0, 3)}},
    {OF_LEAT("TriangularSolve", "no_sides", 2, 0, 0), .inputs = {F32_RANGE(0.5, 2, 2, 4, 4), F32(2, 4, 0)}},

    {OF_LEAT("Cholesky", "float32", 2, ALL_VIEWS, THREADS_8 | THREADS_16),
     .inputs = {FLOATS_OF(F, DIMS(2, 3, 3), DEFINITE)}},
    {OF_LEAT("Cholesky", "float64", 2, VIEWS, 0), .inputs = {FLOATS_OF(D, DIMS(2, 3, 3), DEFINITE)}},
    {OF_LEAT("Cholesky", "upper", 1, 0, 0), .attributes = {A_INT("upper", 1)},
     .inputs = {FLOATS_OF(F, DIMS(2, 3, 3), DEFINITE)}},
    /* Of the other triangle nothing is read. */
    {OF_LEAT("Cholesky", "triangle", 2, 0, 0),
     .inputs = {FLOATS_OF(F, DIMS(3, 3), 9, NAN, INFINITY, 3, 5, 1e30f, -1, 2, 7)}},
    {OF_LEAT("Cholesky", "indefinite", 2, 0, 0), .inputs = {FLOATS_OF(F, DIMS(3, 3), INDEFINITE)}},
    {OF_LEAT("Cholesky", "zeros", 2, 0, 0), .inputs = {F32_RANGE(0, 0, 2, 3, 3)}},
    {OF_LEAT("Cholesky", "empty", 2, 0, 0), .inputs = {F32(3, 0, 0)}},

    {OF_LEAT("CholeskySolve", "float32", 2, SOLVE_VIEWS, THREADS_8 | THREADS_16),
     .inputs = {F32_RANGE(0.5, 2, 2, 5, 5), F32(2, 5, 3)}},
    {OF_LEAT("CholeskySolve", "float64", 2, VIEWS, 0),
     .inputs = {RANGE_OF(D, 0.5, 2, 2, 5, 5), RANGE_OF(D, -1, 1, 2, 5, 3)}},
    {OF_LEAT("CholeskySolve", "upper", 1, 0, 0), .attributes = {A_INT("upper", 1)},
     .inputs = {F32_RANGE(0.5, 2, 2, 5, 5), F32(2, 5, 3)}},
    {OF_LEAT("CholeskySolve", "singular", 2, 0, 0), .inputs = {FLOATS_OF(F, DIMS(2, 2), 2, 1, 0.5f, 0), F32(2, 2)}},

    VIEWED("Det", "float32", 22, ALL_VIEWS, THREADS_8 | THREADS_16, NO_ATTRIBUTES, F32(3, 5, 5)),
    CASE("Det", "version11", 11, NO_ATTRIBUTES, F32(4, 4)),
    CASE("Det", "float64", 22, NO_ATTRIBUTES, RANGE_OF(D, -1, 1, 3, 5, 5)),
    CASE("Det", "singular", 22, NO_ATTRIBUTES, FLOATS_OF(F, DIMS(2, 2, 2), 1, 2, 2, 4, 0, 0, 0, 0)),
    CASE("Det", "one_element", 22, NO_ATTRIBUTES, F32(3, 1, 1)),
    CASE("Det", "empty", 22, NO_ATTRIBUTES, F32(3, 0, 0)),
    CASE("Det", "no_matrices", 22, NO_ATTRIBUTES, F32(0, 3, 3)),

#define INVERSE(named, views, used_threads, ...)                                                        \
  {                                                                                                     \
    .name = "Inverse", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .threads = used_threads, .inputs = {                                                                \
      __VA_ARGS__                                                                                       \
    }                                                                                                   \
  }
    INVERSE("float32", ALL_VIEWS & ~VIEW_BROADCAST, THREADS_8 | THREADS_16, F32(3, 5, 5)),
    INVERSE("float64", VIEW_SLICED, 0, RANGE_OF(D, -1, 1, 3, 5, 5)),
    INVERSE("singular", 0, 0, FLOATS_OF(F, DIMS(2, 2, 2), 1, 2, 2, 4, 1, 2, 2, 5)),
    INVERSE("empty", 0, 0, F32(3, 0, 0)),
};

/* ---- Backward errors --------------------------------------------------------------------------------------------- */

/* Sizes beyond blocks of any backend, where bounds of the errors themselves would be worth nothing: what a factor or a
 * solution is exact for is near what was given (Higham, theorems 8.5, 9.3 and 10.3). */
enum { BATCH = 2, ROWS = 150, SIDES = 70 };

/* A dispatch of rounding errors for sums of so many terms, each rounded by one ULP and in a device's direction. */
static double unit_of(int64_t terms) {
  return (double)(terms + 4) * 0x1p-23;
}

typedef struct tensor {
  leat_case_tensor view;
  uint64_t address;
  size_t size;
  void *bytes;
} tensor;

static void tensor_new(leat_case_context *ctx, leat_stream *stream, DLDataType dtype, int32_t ndim, const int64_t *dims,
                       tensor *out) {
  out->size = 4; /* of an element, of float32 or int32 */
  for (int32_t d = 0; d < ndim; ++d) {
    out->size *= (size_t)dims[d];
  }
  out->bytes = g_malloc0(out->size);
  out->address = leati_case_alloc(ctx, out->size, stream);
  leati_case_tensor_device(ctx, &out->view, out->address, dtype, ndim, dims);
}

static void tensor_free(leat_case_context *ctx, tensor *t) {
  leati_case_free(ctx, t->address);
  g_free(t->bytes);
}

/* Runs an operator of domain leat: uploads the inputs, downloads the outputs. */
static void run(leat_case_context *ctx, leat_stream *stream, const char *name, const leat_attribute *attribute,
                uint32_t inputs, tensor *in, uint32_t outputs, tensor *out) {
  leat_value_info infos[3];
  const leat_value_info *info_list[3];
  const leat_attribute *const attributes[1] = {attribute};
  const DLTensor *given[3], *wanted[3];
  for (uint32_t i = 0; i < inputs; ++i) {
    const DLTensor *const view = &in[i].view.tensor;
    infos[i] = (leat_value_info){
        .struct_size = sizeof(infos[i]), .ndim = view->ndim, .dtype = view->dtype, .shape = view->shape};
    info_list[i] = &infos[i];
    given[i] = view;
    leati_upload(ctx, stream, in[i].address, in[i].bytes, in[i].size);
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    wanted[i] = &out[i].view.tensor;
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = name,
                             .domain = "leat",
                             .attribute_count = attribute != NULL ? 1 : 0,
                             .attributes = attributes,
                             .input_count = inputs,
                             .output_count = outputs,
                             .inputs = info_list};
  leat_op *op = NULL;
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &op, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->op->invoke(op, stream, inputs, given, outputs, wanted, LEAT_ERR));
  for (uint32_t i = 0; i < outputs; ++i) {
    leati_download(ctx, stream, out[i].address, out[i].bytes, out[i].size);
  }
  leati_synchronize(ctx, stream);
  leati_op_destroy(ctx, op);
}

static float at(const tensor *t, int64_t matrix, int64_t row, int64_t column) {
  const int64_t *const dims = t->view.tensor.shape;
  return ((const float *)t->bytes)[(matrix * dims[1] + row) * dims[2] + column];
}

/* Fails unless `given` is the sum of products `sum` but for a bound that the magnitudes of its terms give. */
static void check_near(leat_case_context *ctx, double given, double sum, double magnitude, int64_t terms,
                       const char *what, int64_t row, int64_t column) {
  LEAT_CHECK_MESSAGE(ctx, fabs(given - sum) <= unit_of(terms) * magnitude,
                     "%s: row %d, column %d: what the result is exact for is off by %g, allowed are %g", what, (int)row,
                     (int)column, fabs(given - sum), unit_of(terms) * magnitude);
}

static void check_zero(leat_case_context *ctx, const tensor *info) {
  for (int b = 0; b < BATCH; ++b) {
    LEAT_CHECK_MESSAGE(ctx, ((const int32_t *)info->bytes)[b] == 0, "info of matrix %d is %d", b,
                       ((const int32_t *)info->bytes)[b]);
  }
}

static void fill(tensor *t, GRand *rand) {
  for (size_t i = 0; i < t->size / 4; ++i) {
    ((float *)t->bytes)[i] = (float)g_rand_double_range(rand, -1, 1);
  }
}

/* |PA - LU| <= unit |L| |U|, multipliers of at most 1, and |b - Ax| of both solutions with that. */
static void lu_backward(leat_case_context *ctx, const void *data) {
  (void)data;
  leat_stream *stream = leati_stream_new(ctx);
  GRand *const rand = g_rand_new_with_seed(7);
  tensor a[1], out[3], solve[3], x[2];
  const int64_t dims[3] = {BATCH, ROWS, ROWS}, sides[3] = {BATCH, ROWS, SIDES};
  tensor_new(ctx, stream, LEAT_F32, 3, dims, &a[0]);
  tensor_new(ctx, stream, LEAT_F32, 3, dims, &out[0]);
  tensor_new(ctx, stream, LEAT_I32, 2, dims, &out[1]);
  tensor_new(ctx, stream, LEAT_I32, 1, dims, &out[2]);
  tensor_new(ctx, stream, LEAT_F32, 3, sides, &solve[2]);
  tensor_new(ctx, stream, LEAT_F32, 3, sides, &x[0]);
  tensor_new(ctx, stream, LEAT_I32, 1, dims, &x[1]);
  fill(&a[0], rand);
  fill(&solve[2], rand);
  run(ctx, stream, "LU", NULL, 1, a, 3, out);
  check_zero(ctx, &out[2]);
  int64_t from[BATCH][ROWS];
  for (int64_t b = 0; b < BATCH; ++b) {
    const int32_t *const pivots = (const int32_t *)out[1].bytes + b * ROWS;
    for (int64_t i = 0; i < ROWS; ++i) {
      from[b][i] = i;
    }
    for (int64_t i = 0; i < ROWS; ++i) {
      LEAT_CHECK_MESSAGE(ctx, pivots[i] > i && pivots[i] <= ROWS, "pivot %d is %d", (int)i, pivots[i]);
      const int64_t other = from[b][pivots[i] - 1];
      from[b][pivots[i] - 1] = from[b][i];
      from[b][i] = other;
    }
    for (int64_t i = 0; i < ROWS; ++i) {
      for (int64_t j = 0; j < ROWS; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k <= i && k <= j; ++k) {
          const double product = (double)(k == i ? 1 : at(&out[0], b, i, k)) * at(&out[0], b, k, j);
          sum += product;
          magnitude += fabs(product);
        }
        LEAT_CHECK(ctx, j >= i || fabsf(at(&out[0], b, i, j)) <= 1);
        check_near(ctx, at(&a[0], b, from[b][i], j), sum, magnitude, ROWS, "LU", i, j);
      }
    }
  }
  /* Three times the error of the factors: theirs, and each of both solutions'. */
  solve[0] = out[0];
  solve[1] = out[1];
  run(ctx, stream, "LUSolve", NULL, 3, solve, 2, x);
  check_zero(ctx, &x[1]);
  for (int64_t b = 0; b < BATCH; ++b) {
    for (int64_t i = 0; i < ROWS; ++i) {
      double magnitudes[ROWS] = {0};
      for (int64_t k = 0; k <= i; ++k) {
        for (int64_t j = k; j < ROWS; ++j) {
          magnitudes[j] += fabs((double)(k == i ? 1 : at(&out[0], b, i, k)) * at(&out[0], b, k, j));
        }
      }
      for (int64_t c = 0; c < SIDES; ++c) {
        double sum = 0, magnitude = 0;
        for (int64_t j = 0; j < ROWS; ++j) {
          sum += (double)at(&a[0], b, from[b][i], j) * at(&x[0], b, j, c);
          magnitude += magnitudes[j] * fabsf(at(&x[0], b, j, c));
        }
        check_near(ctx, at(&solve[2], b, from[b][i], c), sum, magnitude, 3 * ROWS, "LUSolve", i, c);
      }
    }
  }
  tensor_free(ctx, &a[0]);
  for (int i = 0; i < 3; ++i) {
    tensor_free(ctx, &out[i]);
  }
  tensor_free(ctx, &solve[2]);
  tensor_free(ctx, &x[0]);
  tensor_free(ctx, &x[1]);
  g_rand_free(rand);
  leati_stream_destroy(ctx, stream);
}

/* |A - LL'| <= unit |L| |L'|, and with an element of the diagonal made negative the number of that row. */
static void cholesky_backward(leat_case_context *ctx, const void *data) {
  enum { BAD_ROW = 100 };
  (void)data;
  leat_stream *stream = leati_stream_new(ctx);
  GRand *const rand = g_rand_new_with_seed(8);
  tensor a[1], out[2];
  const int64_t dims[3] = {BATCH, ROWS, ROWS};
  tensor_new(ctx, stream, LEAT_F32, 3, dims, &a[0]);
  tensor_new(ctx, stream, LEAT_F32, 3, dims, &out[0]);
  tensor_new(ctx, stream, LEAT_I32, 1, dims, &out[1]);
  fill(&a[0], rand);
  float *const elements = a[0].bytes;
  for (int64_t b = 0; b < BATCH; ++b) {
    for (int64_t i = 0; i < ROWS; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        elements[(b * ROWS + j) * ROWS + i] = elements[(b * ROWS + i) * ROWS + j];
      }
      /* Larger than all others of its row together: positive definite. */
      elements[(b * ROWS + i) * ROWS + i] = ROWS;
    }
  }
  run(ctx, stream, "Cholesky", NULL, 1, a, 2, out);
  check_zero(ctx, &out[1]);
  for (int64_t b = 0; b < BATCH; ++b) {
    for (int64_t i = 0; i < ROWS; ++i) {
      for (int64_t j = 0; j < ROWS; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k <= i && k <= j; ++k) {
          const double product = (double)at(&out[0], b, i, k) * at(&out[0], b, j, k);
          sum += product;
          magnitude += fabs(product);
        }
        LEAT_CHECK(ctx, j <= i || at(&out[0], b, i, j) == 0);
        check_near(ctx, at(&a[0], b, i, j), sum, magnitude, ROWS, "Cholesky", i, j);
      }
    }
  }
  elements[(ROWS + BAD_ROW) * ROWS + BAD_ROW] = -ROWS;
  run(ctx, stream, "Cholesky", NULL, 1, a, 2, out);
  const int32_t *const info = out[1].bytes;
  LEAT_CHECK_MESSAGE(ctx, info[0] == 0 && info[1] == BAD_ROW + 1, "info is %d and %d, expected 0 and %d", info[0],
                     info[1], BAD_ROW + 1);
  tensor_free(ctx, &a[0]);
  tensor_free(ctx, &out[0]);
  tensor_free(ctx, &out[1]);
  g_rand_free(rand);
  leati_stream_destroy(ctx, stream);
}

static const leat_case large[] = {
    {.name = "op.LU.backward_error",
     .summary = "Factors of matrices of 150 rows, and solutions with them, are exact for matrices near the given ones.",
     .run = lu_backward},
    {.name = "op.Cholesky.backward_error",
     .summary =
         "Cholesky factors of 150 rows are exact for matrices near the given ones; a matrix that is not positive "
         "definite is told by its row.",
     .run = cholesky_backward},
};

void leati_rows_linalg(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, large, G_N_ELEMENTS(large));
}
