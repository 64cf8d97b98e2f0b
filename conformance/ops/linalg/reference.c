/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors of matrices and systems of equations, in the plainest way, with an error bound that is carried along with
 * each number (running error analysis: Higham, "Accuracy and Stability of Numerical Algorithms", 3.3). What a number
 * lost before an operation is passed on by the first-order rules, with the products of errors; what the operation
 * itself loses is that of sums in any order, so that a backend may work on blocks of any size. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* A number, what of its error came with operands, and of the sum that it is the magnitudes of the terms and their
 * number.
 */
typedef struct number {
  double value, passed, magnitude;
  int64_t terms;
} number;

/* What one operation of the tensors' type loses, in relative terms and near 0. Of float64 the reference itself loses as
 * much. */
typedef struct rounding {
  double unit, least;
} rounding;

static rounding rounding_of(leati_ref_type type) {
  const double ulp = leati_ref_type_ulp(type);
  return (rounding){type == LEATI_REF_FLOAT64 ? 2 * ulp : ulp, leati_ref_type_smallest(type)};
}

static number exactly(double value) {
  return (number){.value = value, .magnitude = fabs(value)};
}

/* How far it may be off. A term is rounded when it is made and whenever a sum that it is in is. */
static double error_of(number x, rounding r) {
  return x.terms == 0 ? x.passed
                      : x.passed + (double)(x.terms + 2) * r.unit * x.magnitude + (double)(2 * x.terms + 1) * r.least;
}

/* c - a b. */
static void subtract_product(number *c, number a, number b, rounding r) {
  const double of_a = error_of(a, r), of_b = error_of(b, r), product = a.value * b.value;
  c->value -= product;
  c->passed += fabs(a.value) * of_b + fabs(b.value) * of_a + of_a * of_b;
  c->magnitude += fabs(product);
  c->terms++;
}

/* a / b: at most 2.5 ULP beyond what the operands bring. */
static number quotient(number a, number b, rounding r) {
  const double value = a.value / b.value, least = fabs(b.value) - error_of(b, r);
  const double passed = least > 0 ? (error_of(a, r) + fabs(value) * error_of(b, r)) / least : INFINITY;
  return (number){.value = value, .passed = passed + 3 * r.unit * fabs(value) + r.least, .magnitude = fabs(value)};
}

static number product(number a, number b, rounding r) {
  const double of_a = error_of(a, r), of_b = error_of(b, r), value = a.value * b.value;
  const double passed = fabs(a.value) * of_b + fabs(b.value) * of_a + of_a * of_b;
  return (number){.value = value, .passed = passed + r.unit * fabs(value) + r.least, .magnitude = fabs(value)};
}

/* A square root: the device's is as 1 / inversesqrt, 4.5 ULP. */
static number root(number a, rounding r) {
  const double value = sqrt(a.value), least = sqrt(fmax(a.value - error_of(a, r), 0)) + value;
  return (number){.value = value, .passed = error_of(a, r) / least + 5 * r.unit * value + r.least, .magnitude = value};
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

typedef struct matrix {
  int64_t rows, columns;
  number *at; /* row by row */
} matrix;

static number *element(const matrix *m, int64_t row, int64_t column) {
  return &m->at[row * m->columns + column];
}

static int64_t matrices_of(const leati_ref_tensor *x) {
  int64_t count = 1;
  for (int32_t d = 0; d < x->rank - 2; ++d) {
    count *= x->dims[d];
  }
  return count;
}

static matrix matrix_new(int64_t rows, int64_t columns) {
  return (matrix){rows, columns, leati_ref_alloc(rows * columns + 1, sizeof(number))};
}

/* Matrix number `which` of a tensor, */
static matrix matrix_of(const leati_ref_tensor *x, int64_t which) {
  const matrix m = matrix_new(x->dims[x->rank - 2], x->dims[x->rank - 1]);
  for (int64_t k = 0; k < m.rows * m.columns; ++k) {
    m.at[k] = exactly(x->f[which * m.rows * m.columns + k]);
  }
  return m;
}

/* and the other way. */
static void store(const matrix *m, leati_ref_tensor *y, int64_t which, rounding r) {
  for (int64_t k = 0; k < m->rows * m->columns; ++k) {
    y->f[which * m->rows * m->columns + k] = m->at[k].value;
    y->bound[which * m->rows * m->columns + k] = error_of(m->at[k], r);
  }
}

static void swap_rows(const matrix *m, int64_t a, int64_t b) {
  for (int64_t c = 0; c < m->columns; ++c) {
    const number x = *element(m, a, c);
    *element(m, a, c) = *element(m, b, c);
    *element(m, b, c) = x;
  }
}

/* LU factors in the place of a matrix; gives the number of the first pivot that is 0. */
static int64_t factor(const matrix *m, int64_t *pivots, rounding r) {
  int64_t info = 0;
  for (int64_t k = 0; k < m->rows && k < m->columns; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < m->rows; ++i) {
      pivot = fabs(element(m, i, k)->value) > fabs(element(m, pivot, k)->value) ? i : pivot;
    }
    pivots[k] = pivot + 1;
    swap_rows(m, k, pivot);
    if (element(m, k, k)->value == 0) {
      info = info == 0 ? k + 1 : info;
      continue;
    }
    for (int64_t i = k + 1; i < m->rows; ++i) {
      number *const l = element(m, i, k);
      *l = quotient(*l, *element(m, k, k), r);
      for (int64_t c = k + 1; c < m->columns; ++c) {
        subtract_product(element(m, i, c), *l, *element(m, k, c), r);
      }
    }
  }
  return info;
}

/* An element of a triangular matrix as it is read: transposed or not. */
static number read_triangle(const matrix *t, bool transposed, int64_t row, int64_t column) {
  return transposed ? *element(t, column, row) : *element(t, row, column);
}

/* Solves op(t) x = x. */
static void solve(const matrix *t, bool upper, bool transposed, bool unit, const matrix *x, rounding r) {
  const bool down = upper == transposed;
  for (int64_t c = 0; c < x->columns; ++c) {
    for (int64_t n = 0; n < x->rows; ++n) {
      const int64_t row = down ? n : x->rows - 1 - n;
      number *const y = element(x, row, c);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t other = down ? k : x->rows - 1 - k;
        subtract_product(y, read_triangle(t, transposed, row, other), *element(x, other, c), r);
      }
      *y = unit ? *y : quotient(*y, *element(t, row, row), r);
    }
  }
}

static void swap_as_said(const matrix *x, const int64_t *pivots, int64_t count, bool backward) {
  for (int64_t n = 0; n < count; ++n) {
    const int64_t k = backward ? count - 1 - n : n;
    if (pivots[k] >= 1 && pivots[k] <= x->rows) {
      swap_rows(x, k, pivots[k] - 1);
    }
  }
}

static int64_t first_zero(const matrix *m) {
  int64_t k = 0;
  while (k < m->rows && element(m, k, k)->value != 0) {
    k++;
  }
  return k == m->rows ? 0 : k + 1;
}

static bool check_square(leati_ref_node *node, const leati_ref_tensor *a) {
  return a->dims[a->rank - 1] == a->dims[a->rank - 2] || leati_ref_fail(node, "%s: no square matrix", node->name);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

static bool run_lu(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const rounding r = rounding_of(x->type);
  const int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1], steps = rows < columns ? rows : columns;
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, x->dims, sizeof(dims));
  dims[x->rank - 2] = steps;
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  leati_ref_tensor_init(&node->outputs[1], LEATI_REF_INT32, x->rank - 1, dims);
  leati_ref_tensor_init(&node->outputs[2], LEATI_REF_INT32, x->rank - 2, dims);
  for (int64_t b = 0; b < matrices_of(x); ++b) {
    const matrix m = matrix_of(x, b);
    node->outputs[2].i[b] = factor(&m, node->outputs[1].i + b * steps, r);
    store(&m, &node->outputs[0], b, r);
    free(m.at);
  }
  return true;
}

static bool run_det(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const rounding r = rounding_of(x->type);
  if (!check_square(node, x)) {
    return false;
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank - 2, x->dims);
  for (int64_t b = 0; b < matrices_of(x); ++b) {
    const matrix m = matrix_of(x, b);
    int64_t *const pivots = leati_ref_alloc(m.rows + 1, sizeof(*pivots));
    number det = exactly(1);
    (void)factor(&m, pivots, r);
    for (int64_t k = 0; k < m.rows; ++k) {
      det = product(det, *element(&m, k, k), r);
      det.value = pivots[k] == k + 1 ? det.value : -det.value;
    }
    node->outputs[0].f[b] = det.value;
    node->outputs[0].bound[b] = error_of(det, r);
    free(pivots);
    free(m.at);
  }
  return true;
}

static bool run_inverse(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const rounding r = rounding_of(x->type);
  if (!check_square(node, x)) {
    return false;
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (int64_t b = 0; b < matrices_of(x); ++b) {
    const matrix m = matrix_of(x, b), y = matrix_new(m.rows, m.rows);
    int64_t *const pivots = leati_ref_alloc(m.rows + 1, sizeof(*pivots));
    const bool singular = factor(&m, pivots, r) != 0;
    for (int64_t k = 0; k < m.rows * m.rows; ++k) {
      y.at[k] = exactly(singular ? NAN : k / m.rows == k % m.rows);
    }
    swap_as_said(&y, pivots, m.rows, false);
    solve(&m, false, false, true, &y, r);
    solve(&m, true, false, false, &y, r);
    store(&y, &node->outputs[0], b, r);
    free(pivots);
    free(y.at);
    free(m.at);
  }
  return true;
}

/* LUSolve, TriangularSolve and CholeskySolve: of a matrix with a 0 on its diagonal the right-hand sides stay. */
static bool run_solve(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  const bool lu = strcmp(node->name, "LUSolve") == 0, cholesky = strcmp(node->name, "CholeskySolve") == 0;
  const leati_ref_tensor *pivots = lu ? node->inputs[1] : NULL, *b = node->inputs[lu ? 2 : 1];
  const bool right = leati_ref_int(node, "right", 0) != 0, upper = leati_ref_int(node, "upper", 0) != 0;
  const bool transposed = leati_ref_int(node, "transpose", 0) != 0, unit = leati_ref_int(node, "unit_diagonal", 0) != 0;
  const rounding r = rounding_of(a->type);
  if (!check_square(node, a)) {
    return false;
  }
  leati_ref_tensor_init(&node->outputs[0], b->type, b->rank, b->dims);
  if (node->output_count > 1) {
    leati_ref_tensor_init(&node->outputs[1], LEATI_REF_INT32, a->rank - 2, a->dims);
  }
  for (int64_t which = 0; which < matrices_of(a); ++which) {
    const matrix m = matrix_of(a, which), sides = matrix_of(b, which);
    const int64_t info = unit ? 0 : first_zero(&m);
    matrix x = right ? matrix_new(sides.columns, sides.rows) : sides;
    for (int64_t k = 0; right && k < x.rows * x.columns; ++k) {
      x.at[k] = *element(&sides, k % x.columns, k / x.columns);
    }
    if (info == 0 && lu) {
      const int64_t *const said = pivots->i + which * m.rows;
      if (transposed) {
        solve(&m, true, true, false, &x, r);
        solve(&m, false, true, true, &x, r);
        swap_as_said(&x, said, m.rows, true);
      } else {
        swap_as_said(&x, said, m.rows, false);
        solve(&m, false, false, true, &x, r);
        solve(&m, true, false, false, &x, r);
      }
    } else if (info == 0 && cholesky) {
      solve(&m, upper, upper, false, &x, r);
      solve(&m, upper, !upper, false, &x, r);
    } else if (info == 0) {
      solve(&m, upper, transposed != right, unit, &x, r);
    }
    for (int64_t k = 0; right && k < x.rows * x.columns; ++k) {
      *element(&sides, k % x.columns, k / x.columns) = x.at[k];
    }
    store(&sides, &node->outputs[0], which, r);
    if (node->output_count > 1) {
      node->outputs[1].i[which] = info;
    }
    if (right) {
      free(x.at);
    }
    free(sides.at);
    free(m.at);
  }
  return true;
}

/* Of a matrix that is not positive definite the factor is any numbers. */
static bool run_cholesky(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool upper = leati_ref_int(node, "upper", 0) != 0;
  const rounding r = rounding_of(x->type);
  if (!check_square(node, x)) {
    return false;
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  if (node->output_count > 1) {
    leati_ref_tensor_init(&node->outputs[1], LEATI_REF_INT32, x->rank - 2, x->dims);
  }
  for (int64_t b = 0; b < matrices_of(x); ++b) {
    const matrix m = matrix_of(x, b), y = matrix_new(m.rows, m.rows);
    int64_t info = 0;
    for (int64_t k = 0; k < m.rows && info == 0; ++k) {
      for (int64_t i = k; i < m.rows; ++i) {
        number sum = upper ? *element(&m, k, i) : *element(&m, i, k);
        for (int64_t p = 0; p < k; ++p) {
          subtract_product(&sum, *element(&y, i, p), *element(&y, k, p), r);
        }
        if (i == k && !(sum.value > 0)) {
          info = k + 1;
          break;
        }
        *element(&y, i, k) = i == k ? root(sum, r) : quotient(sum, *element(&y, k, k), r);
      }
    }
    for (int64_t k = 0; upper && k < m.rows * m.rows; ++k) {
      if (k / m.rows > k % m.rows) {
        *element(&y, k % m.rows, k / m.rows) = y.at[k];
        y.at[k] = exactly(0);
      }
    }
    for (int64_t k = 0; info != 0 && k < m.rows * m.rows; ++k) {
      y.at[k].passed = INFINITY;
    }
    store(&y, &node->outputs[0], b, r);
    if (node->output_count > 1) {
      node->outputs[1].i[b] = info;
    }
    free(y.at);
    free(m.at);
  }
  return true;
}

const leati_ref_entry leati_ref_linalg[] = {
    {"LU", run_lu},
    {"LUSolve", run_solve},
    {"Det", run_det},
    {"Inverse", run_inverse},
    {"TriangularSolve", run_solve},
    {"Cholesky", run_cholesky},
    {"CholeskySolve", run_solve},
    {NULL, NULL},
};
