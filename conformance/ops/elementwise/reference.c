/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that compute each element of the output from the elements at the same place of the broadcast inputs. */
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

#define PI 3.14159265358979323846

/* ---- Shapes ----------------------------------------------------------------------------------------------------- */

/* Gives output 0 the broadcast shape of all inputs and the type `type`. */
static bool broadcast_output(leati_ref_node *node, leati_ref_type type) {
  int32_t rank = 0;
  for (uint32_t k = 0; k < node->input_count; ++k) {
    rank = node->inputs[k]->rank > rank ? node->inputs[k]->rank : rank;
  }
  int64_t dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = 1;
    for (uint32_t k = 0; k < node->input_count; ++k) {
      int32_t at = d - (rank - node->inputs[k]->rank);
      int64_t dim = at < 0 ? 1 : node->inputs[k]->dims[at];
      if (dim != 1 && dims[d] != 1 && dim != dims[d]) {
        return leati_ref_fail(node, "%s: shapes do not broadcast in dimension %d", node->name, (int)d);
      }
      if (dim != 1) {
        dims[d] = dim;
      }
    }
  }
  leati_ref_tensor_init(&node->outputs[0], type, rank, dims);
  return true;
}

static bool same_output(leati_ref_node *node, leati_ref_type type) {
  leati_ref_tensor_init(&node->outputs[0], type, node->inputs[0]->rank, node->inputs[0]->dims);
  return true;
}

/* ---- One input -------------------------------------------------------------------------------------------------- */

/* A value and how far a float32 result may be off. */
typedef struct estimate {
  double value;
  double bound;
} estimate;

typedef estimate (*unary_fn)(const leati_ref_node *node, double x);

static bool run_unary(leati_ref_node *node, unary_fn fn) {
  const leati_ref_tensor *x = node->inputs[0];
  if (!leati_ref_type_is_float(x->type)) {
    return leati_ref_fail(node, "%s takes floats", node->name);
  }
  same_output(node, x->type);
  for (int64_t k = 0; k < x->count; ++k) {
    estimate e = fn(node, x->f[k]);
    node->outputs[0].f[k] = e.value;
    node->outputs[0].bound[k] = e.bound;
  }
  return true;
}

/* A result that is chosen or changed in its sign only: exact, but a denormal may have become zero. */
static estimate exact(double value) {
  return (estimate){value, fabs(value) < FLT_MIN ? FLT_MIN : 0};
}

static estimate within_ulps(double value, double ulps) {
  return (estimate){value, leati_ref_bound_ulps(value, ulps)};
}

static estimate sqrt_of(const leati_ref_node *node, double x) {
  (void)node;
  /* 1 / inversesqrt(x): 2 ULP of the one, 2.5 of the other, and what one ULP gains in relative size at a power of 2. */
  return within_ulps(sqrt(x), 5);
}

static estimate reciprocal_of(const leati_ref_node *node, double x) {
  (void)node;
  return within_ulps(1 / x, 2.5);
}

static estimate exp_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = exp(x);
  return (estimate){value, value == 0 ? FLT_MIN : leati_ref_bound_exp(x) * value + FLT_MIN};
}

static estimate log_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = log(x);
  return (estimate){value, leati_ref_bound_log(x, value)};
}

/* No instruction. The formula 7.1.26 of Abramowitz and Stegun, erf(x) = 1 - t p(t) exp(-x^2), is off by 1.5e-7 itself;
 * its exponential adds (3 + 2 x^2) ULP of erfc(x) <= 1, less than 4 2^-23; and the Horner scheme of p, whose
 * coefficients add up to 4.5 in magnitude, adds 2 roundings for each of 5 steps, 10 2^-24 4.5. Together 3.6e-6. */
#define ERF_BOUND 0x1p-18

static estimate erf_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){erf(x), ERF_BOUND};
}

/* As (e^x - e^-x) / (e^x + e^-x): both exponentials are off by a relative (3 + 2|x|) ULP, and the numerator and the
 * denominator hence by as much of e^x + e^-x; the quotient is at most 1. Four roundings more. From |x| = 10 on the
 * result is 1 within 2^-24, and a formula that overflows must not be used there. */
static double tanh_bound(double x) {
  double within = fabs(x) < 10 ? x : 10;
  return 2 * leati_ref_bound_exp(within) + 4 * LEATI_REF_ULP;
}

static estimate tanh_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){tanh(x), tanh_bound(x)};
}

/* As 1 / (1 + e^-x): the exponential's share of the sum is 1 - value. */
static estimate sigmoid_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
  if (isinf(x)) {
    return (estimate){value, FLT_MIN};
  }
  double relative = leati_ref_bound_exp(x) * (1 - value) + 4 * LEATI_REF_ULP;
  return (estimate){value, relative * value + FLT_MIN};
}

static estimate relu_of(const leati_ref_node *node, double x) {
  (void)node;
  return exact(isnan(x) || x > 0 ? x : 0);
}

static estimate leaky_relu_of(const leati_ref_node *node, double x) {
  return x < 0 ? within_ulps(x * leati_ref_float(node, "alpha", 0.01f), 1) : exact(x);
}

/* max(0, min(1, alpha x + beta)): a multiplication and an addition. */
static estimate hard_sigmoid(double x, double alpha, double beta) {
  double line = alpha * x + beta;
  double bound = LEATI_REF_ULP * (fabs(alpha * x) + fabs(line)) + FLT_MIN;
  if (isnan(line)) {
    return (estimate){line, 0};
  }
  if (line <= 0 || line >= 1) {
    /* Rounding can move the line across the corner, by no more than its own bound. */
    double away = line <= 0 ? -line : line - 1;
    return (estimate){line <= 0 ? 0 : 1, away < bound ? bound : 0};
  }
  return (estimate){line, bound};
}

static estimate hard_sigmoid_of(const leati_ref_node *node, double x) {
  return hard_sigmoid(x, leati_ref_float(node, "alpha", 0.2f), leati_ref_float(node, "beta", 0.5f));
}

/* A product with e^y - 1, which may be computed as it stands and then is off by the exponential's error and a rounding
 * of a number up to 1. */
static estimate scaled_expm1(double scale, double y) {
  double value = scale * expm1(y);
  double relative = isinf(y) ? LEATI_REF_ULP : leati_ref_bound_exp(y) * exp(y) + 2 * LEATI_REF_ULP;
  return (estimate){value, isfinite(value) ? fabs(scale) * relative + 2 * LEATI_REF_ULP * fabs(value) + FLT_MIN : 0};
}

static estimate elu_of(const leati_ref_node *node, double x) {
  return x < 0 ? scaled_expm1(leati_ref_float(node, "alpha", 1), x) : exact(x);
}

static estimate celu_of(const leati_ref_node *node, double x) {
  double alpha = leati_ref_float(node, "alpha", 1);
  estimate bend = scaled_expm1(alpha, x / alpha);
  if (isnan(bend.value)) {
    return (estimate){NAN, 0};
  }
  double value = (x > 0 ? x : 0) + (bend.value < 0 ? bend.value : 0);
  return (estimate){value, bend.value < 0 ? bend.bound : exact(value).bound};
}

static estimate hard_swish_of(const leati_ref_node *node, double x) {
  (void)node;
  /* The constant 1/6 is rounded too. */
  estimate gate = hard_sigmoid(x, 1.0 / 6, 0.5);
  double value = x * gate.value;
  if (isinf(x)) {
    return (estimate){value, 0};
  }
  return (estimate){
      value, fabs(x) * (gate.bound + fabs(x / 6) * LEATI_REF_ULP * (gate.bound > 0)) + leati_ref_bound_ulps(value, 1)};
}

static estimate gelu_of(const leati_ref_node *node, double x) {
  if (leati_ref_string_is(node, "approximate", "none", "tanh")) {
    double z = sqrt(2 / PI) * (x + 0.044715 * x * x * x);
    /* The argument is off by 5 roundings; |z| times the slope of tanh is below 0.45. */
    double value = 0.5 * x * (1 + tanh(z));
    if (isinf(x)) {
      return (estimate){x > 0 ? x : NAN, FLT_MIN};
    }
    return (estimate){value, 0.5 * fabs(x) * (tanh_bound(z) + 4 * LEATI_REF_ULP) + leati_ref_bound_ulps(value, 3)};
  }
  /* 0.5 x (1 + erf(x / sqrt 2)): the argument is off by 2 roundings, whose effect on erf is below 0.5 of their size. */
  double value = 0.5 * x * (1 + erf(x / sqrt(2.0)));
  if (isinf(x)) {
    return (estimate){x > 0 ? x : NAN, FLT_MIN};
  }
  return (estimate){value, 0.5 * fabs(x) * (ERF_BOUND + 2 * LEATI_REF_ULP) + leati_ref_bound_ulps(value, 3)};
}

/* Outside [-pi, pi] Vulkan promises nothing. A backend reduces the argument itself; with float32 arithmetic that costs
 * a few roundings of a number as large as the argument: 2^-22 |x|. */
static double trigonometric_bound(double x) {
  return 0x1p-11 + (fabs(x) > PI ? 0x1p-22 * fabs(x) : 0);
}

static estimate sin_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){sin(x), trigonometric_bound(x)};
}

static estimate cos_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){cos(x), trigonometric_bound(x)};
}

/* sin / cos: both are off by t, and the quotient is rounded. Where the cosine may be 0 nothing is known. */
static estimate tangent(double x) {
  double value = tan(x);
  double t = trigonometric_bound(x);
  double divisor = fabs(cos(x)) - t;
  return (estimate){value, divisor > 0 ? t * (1 + fabs(value)) / divisor + leati_ref_bound_ulps(value, 2.5) : INFINITY};
}

/* atan2() is off by 4096 ULP. asin(x) = atan2(x, c) and acos(x) = atan2(c, x) with c = sqrt(1 - x^2): two
 * roundings of numbers up to 1 below the root, and 5 ULP of the root; the angle changes by |x| times as much as c. */
static estimate arc(double x, double value) {
  double square = 1 - x * x;
  double below = 2 * LEATI_REF_ULP;
  double cosine = sqrt(square);
  double off = fmin(sqrt(below), below / cosine) + 5 * LEATI_REF_ULP * cosine;
  return (estimate){value, isnan(value) ? 0 : leati_ref_bound_ulps(value, 4096) + fabs(x) * off};
}

/* (e^x - e^-x) / 2 and (e^x + e^-x) / 2: the exponentials' errors, of cosh(x) in both; two roundings more. */
static estimate hyperbolic(double x, double value) {
  double off = isfinite(value) ? leati_ref_bound_exp(x) * cosh(x) + leati_ref_bound_ulps(value, 2) : 0;
  return (estimate){value, off};
}

static estimate sinh_of(const leati_ref_node *node, double x) {
  (void)node;
  return hyperbolic(x, sinh(x));
}

static estimate cosh_of(const leati_ref_node *node, double x) {
  (void)node;
  return hyperbolic(x, cosh(x));
}

/* log(|x| + sqrt(x^2 + 1)) with the sign of x: one rounding of the square, one of the sum below the root, of which the
 * root halves the effect, 5 ULP of the root and one rounding of the sum: less than 8 ULP of the logarithm's argument,
 * which is what it is off by itself. (Where the square overflows, the logarithm of 2 |x| must be used.) */
static estimate asinh_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = asinh(x);
  double argument = fabs(x) + sqrt(x * x + 1);
  return (estimate){value, isfinite(value) ? 8 * LEATI_REF_ULP + leati_ref_bound_log(argument, value) + FLT_MIN : 0};
}

/* log(x + sqrt(x^2 - 1)): two roundings below the root, 5 ULP of the root, one of the sum. */
static estimate acosh_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = acosh(x);
  if (!isfinite(value)) {
    return (estimate){value, 0};
  }
  double root = sqrt(x * x - 1);
  double below = 2 * LEATI_REF_ULP * x * x;
  double off = fmin(sqrt(below), below / root) + 5 * LEATI_REF_ULP * root + LEATI_REF_ULP * (x + root);
  return (estimate){value, off / (x + root) + leati_ref_bound_log(x + root, value) + FLT_MIN};
}

/* log((1 + x) / (1 - x)) / 2: two roundings and 2.5 ULP of the quotient. */
static estimate atanh_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = atanh(x);
  if (!isfinite(value)) {
    return (estimate){value, 0};
  }
  double off = 4.5 * LEATI_REF_ULP + leati_ref_bound_log((1 + x) / (1 - x), 2 * value);
  return (estimate){value, 0.5 * off + leati_ref_bound_ulps(value, 1)};
}

/* log(1 + e^x) as max(x, 0) + log(1 + e^-|x|), which does not overflow: the exponential's error and one rounding of a
 * sum from 1 to 2, the logarithm's error, and one rounding of the result. */
static estimate softplus_of(const leati_ref_node *node, double x) {
  (void)node;
  double value = fmax(x, 0) + log1p(exp(-fabs(x)));
  if (!isfinite(x)) {
    return (estimate){isnan(x) ? NAN : value, 0};
  }
  double power = exp(-fabs(x));
  return (estimate){value, power * leati_ref_bound_exp(x) + LEATI_REF_ULP + leati_ref_bound_log(1 + power, 0) +
                               leati_ref_bound_ulps(value, 1)};
}

static estimate mish(const leati_ref_node *node, double x) {
  estimate inner = softplus_of(node, x);
  double value = x * tanh(inner.value);
  if (!isfinite(x)) {
    return (estimate){value, 0};
  }
  return (estimate){value, fabs(x) * (tanh_bound(inner.value) + inner.bound) + leati_ref_bound_ulps(value, 1)};
}

static estimate selu_of(const leati_ref_node *node, double x) {
  double alpha = leati_ref_float(node, "alpha", 1.67326319217681884765625f);
  double gamma = leati_ref_float(node, "gamma", 1.05070102214813232421875f);
  if (isnan(x) || x > 0) {
    return within_ulps(gamma * x, 1);
  }
  estimate bend = scaled_expm1(alpha, x);
  return (estimate){gamma * bend.value, fabs(gamma) * bend.bound + leati_ref_bound_ulps(gamma * bend.value, 1)};
}

/* What no comparison chooses is 0, NaN too. */
static estimate thresholded_relu_of(const leati_ref_node *node, double x) {
  return exact(x > leati_ref_float(node, "alpha", 1) ? x : 0);
}

static estimate shrink_of(const leati_ref_node *node, double x) {
  double lambd = leati_ref_float(node, "lambd", 0.5f);
  double bias = leati_ref_float(node, "bias", 0);
  return x < -lambd ? within_ulps(x + bias, 1) : x > lambd ? within_ulps(x - bias, 1) : exact(0);
}

static estimate sign_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){isnan(x) ? x : (double)((x > 0) - (x < 0)), 0};
}

/* x sigmoid(alpha x), whose argument is rounded: the slope of sigmoid is value (1 - value). */
static estimate swish(double x, double alpha) {
  double z = alpha * x;
  estimate gate = sigmoid_of(NULL, z);
  double value = x * gate.value;
  if (!isfinite(value) || isinf(x)) {
    return (estimate){value, 0};
  }
  double slope = gate.value * (1 - gate.value);
  double off = gate.bound + (slope > 0 ? fabs(z) * slope * LEATI_REF_ULP : 0);
  return (estimate){value, fabs(x) * off + leati_ref_bound_ulps(value, 1)};
}

static estimate swish_of(const leati_ref_node *node, double x) {
  return swish(x, leati_ref_float(node, "alpha", 1));
}

static estimate quick_gelu_of(const leati_ref_node *node, double x) {
  return swish(x, leati_ref_float(node, "alpha", 1.702f));
}

static estimate floor_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){floor(x), 0};
}

static estimate ceil_of(const leati_ref_node *node, double x) {
  (void)node;
  return (estimate){ceil(x), 0};
}

static estimate round_of(const leati_ref_node *node, double x) {
  (void)node;
  /* Halves go to the even neighbour, which is what rint() does in the default rounding mode. */
  return (estimate){rint(x), 0};
}

/* The functions of functions.inc. */
#define UNARY_FUNCTION(name, version, low, high, value)             \
  static estimate name##_of(const leati_ref_node *node, double x) { \
    (void)node;                                                     \
    return value;                                                   \
  }                                                                 \
  static bool run_##name(leati_ref_node *node) {                    \
    return run_unary(node, name##_of);                              \
  }
#include "ops/elementwise/functions.inc"
#undef UNARY_FUNCTION

#define RUN_UNARY(function)                          \
  static bool run_##function(leati_ref_node *node) { \
    return run_unary(node, function##_of);           \
  }
RUN_UNARY(sqrt)
RUN_UNARY(reciprocal)
RUN_UNARY(exp)
RUN_UNARY(log)
RUN_UNARY(erf)
RUN_UNARY(tanh)
RUN_UNARY(sigmoid)
RUN_UNARY(leaky_relu)
RUN_UNARY(hard_sigmoid)
RUN_UNARY(elu)
RUN_UNARY(celu)
RUN_UNARY(hard_swish)
RUN_UNARY(gelu)
RUN_UNARY(sin)
RUN_UNARY(cos)
RUN_UNARY(sinh)
RUN_UNARY(cosh)
RUN_UNARY(asinh)
RUN_UNARY(acosh)
RUN_UNARY(atanh)
RUN_UNARY(softplus)
RUN_UNARY(selu)
RUN_UNARY(thresholded_relu)
RUN_UNARY(shrink)
RUN_UNARY(swish)
RUN_UNARY(quick_gelu)
RUN_UNARY(floor)
RUN_UNARY(ceil)
RUN_UNARY(round)

/* Neg, Abs, Sign and Relu are defined for integers too. */
static bool run_signed(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  char which = node->name[0];
  same_output(node, x->type);
  for (int64_t k = 0; k < x->count; ++k) {
    if (leati_ref_type_is_float(x->type)) {
      estimate e = which == 'R'   ? relu_of(node, x->f[k])
                   : which == 'S' ? sign_of(node, x->f[k])
                                  : exact(which == 'N' ? -x->f[k] : fabs(x->f[k]));
      node->outputs[0].f[k] = e.value;
      node->outputs[0].bound[k] = e.bound;
    } else {
      int64_t v = x->i[k];
      int64_t negative = (int64_t)(0 - (uint64_t)v);
      bool below = leati_ref_type_less(x->type, v, 0);
      int64_t value = which == 'N'   ? negative
                      : which == 'A' ? (below ? negative : v)
                      : which == 'S' ? (below ? -1 : v != 0)
                                     : (below ? 0 : v);
      node->outputs[0].i[k] = leati_ref_type_wrap(x->type, value);
    }
  }
  return true;
}

static bool run_is_nan(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  same_output(node, LEATI_REF_BOOL);
  for (int64_t k = 0; k < x->count; ++k) {
    node->outputs[0].i[k] = isnan(x->f[k]);
  }
  return true;
}

static bool run_is_inf(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  bool negative = leati_ref_int(node, "detect_negative", 1) != 0;
  bool positive = leati_ref_int(node, "detect_positive", 1) != 0;
  same_output(node, LEATI_REF_BOOL);
  for (int64_t k = 0; k < x->count; ++k) {
    node->outputs[0].i[k] = isinf(x->f[k]) && (x->f[k] < 0 ? negative : positive);
  }
  return true;
}

static bool run_not(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  same_output(node, LEATI_REF_BOOL);
  for (int64_t k = 0; k < x->count; ++k) {
    node->outputs[0].i[k] = !x->i[k];
  }
  return true;
}

/* The whole part of a number as an integer of the type. The specification leaves open what does not fit; here it is the
 * nearest number that the type holds, and NaN is 0. */
static int64_t truncate(leati_ref_type type, double x) {
  int bits = (int)(8 * leati_ref_type_size(type));
  bool is_unsigned = leati_ref_type_is_unsigned(type);
  double low = is_unsigned ? 0 : -ldexp(1, bits - 1);
  double beyond = ldexp(1, is_unsigned ? bits : bits - 1);
  if (isnan(x)) {
    return 0;
  }
  if (x >= beyond) {
    return leati_ref_type_high(type);
  }
  return x <= low ? leati_ref_type_low(type) : type == LEATI_REF_UINT64 ? (int64_t)(uint64_t)x : (int64_t)x;
}

static bool cast(leati_ref_node *node, leati_ref_type to) {
  const leati_ref_tensor *x = node->inputs[0];
  same_output(node, to);
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < x->count; ++k) {
    if (x->type == to) {
      leati_ref_tensor_copy_element(y, k, x, k);
    } else if (leati_ref_type_is_float(to)) {
      /* To nearest; numbers that the type has are exact. An integer may be rounded to float32 first. */
      double value = leati_ref_type_is_float(x->type) ? x->f[k]
                     : x->type == LEATI_REF_UINT64    ? (double)(uint64_t)x->i[k]
                                                      : (double)x->i[k];
      double nearest = leati_ref_type_round(to, value);
      y->f[k] = leati_ref_type_is_float(x->type) ? nearest : value;
      y->bound[k] = leati_ref_type_is_float(x->type) || nearest == value ? 0 : leati_ref_type_ulp(to) * fabs(value);
    } else if (leati_ref_type_is_float(x->type)) {
      y->i[k] = to == LEATI_REF_BOOL ? x->f[k] != 0 : truncate(to, x->f[k]);
    } else {
      y->i[k] = leati_ref_type_wrap(to, x->i[k]);
    }
  }
  return true;
}

static bool run_cast(leati_ref_node *node) {
  leati_ref_type to = leati_ref_type_from_onnx(leati_ref_int(node, "to", 0));
  return to == LEATI_REF_TYPE_COUNT ? leati_ref_fail(node, "Cast: a type that the reference does not have")
                                    : cast(node, to);
}

static bool run_cast_like(leati_ref_node *node) {
  return cast(node, node->inputs[1]->type);
}

/* ---- Several inputs --------------------------------------------------------------------------------------------- */

static bool is(const leati_ref_node *node, const char *name) {
  return strcmp(node->name, name) == 0;
}

static estimate float_pow(double x, double y) {
  double value = pow(x, y);
  if (isnan(value) || isinf(value)) {
    return (estimate){value, 0};
  }
  if (value == 0 || x == 0 || isinf(x) || isinf(y) || y == 0 || fabs(x) == 1) {
    return (estimate){value, FLT_MIN};
  }
  return (estimate){value, leati_ref_bound_pow(fabs(x), y) * fabs(value) + FLT_MIN};
}

/* Whole powers of integers by repeated multiplication; a negative exponent leaves the integer part. */
static int64_t integer_pow(int64_t x, int64_t y) {
  if (y < 0) {
    return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t value = 1;
  for (int64_t k = 0; k < y; ++k) {
    value *= (uint64_t)x;
  }
  return (int64_t)value;
}

/* A power of an integer whose exponent is a float: a whole one wraps, of any other the power's nearest integer towards
 * zero counts. As where integers are divided by 0, 0 to a negative power is 0. */
static int64_t fractional_pow(leati_ref_type type, int64_t x, double y) {
  if (fabs(y) < 1000 && y == floor(y)) {
    return leati_ref_type_wrap(type, integer_pow(x, (int64_t)y));
  }
  return x == 0 && y < 0 ? 0 : truncate(type, pow((double)x, y));
}

/* The remainder of C's fmod(), which is exact; without `truncated` the sign is that of the divisor, for which the
 * divisor is added once. */
static estimate float_mod(double a, double b, bool truncated) {
  double rest = fmod(a, b);
  if (truncated || isnan(rest) || rest == 0 || (rest < 0) == (b < 0)) {
    return exact(rest);
  }
  return within_ulps(rest + b, 1);
}

/* A quotient towards zero. */
static int64_t integer_quotient(leati_ref_type type, int64_t a, int64_t b) {
  if (type == LEATI_REF_UINT64) {
    return (int64_t)((uint64_t)a / (uint64_t)b);
  }
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t integer_mod(leati_ref_type type, int64_t a, int64_t b, bool truncated) {
  int64_t rest = (int64_t)((uint64_t)a - (uint64_t)integer_quotient(type, a, b) * (uint64_t)b);
  bool other_sign = leati_ref_type_less(type, rest, 0) != leati_ref_type_less(type, b, 0);
  return !truncated && rest != 0 && other_sign ? rest + b : rest;
}

static bool float_binary(leati_ref_node *node, double a, double b, estimate *out) {
  if (is(node, "Add")) {
    *out = within_ulps(a + b, 1);
  } else if (is(node, "Sub")) {
    *out = within_ulps(a - b, 1);
  } else if (is(node, "Mul")) {
    *out = within_ulps(a * b, 1);
  } else if (is(node, "Div")) {
    *out = within_ulps(a / b, 2.5);
  } else if (is(node, "Min")) {
    *out = exact(isnan(a) || isnan(b) ? NAN : a < b ? a : b);
  } else if (is(node, "Max")) {
    *out = exact(isnan(a) || isnan(b) ? NAN : a > b ? a : b);
  } else if (is(node, "PRelu")) {
    *out = a < 0 ? within_ulps(a * b, 1) : exact(a);
  } else if (is(node, "Mod")) {
    *out = float_mod(a, b, leati_ref_int(node, "fmod", 0) == 1);
  } else {
    return false;
  }
  return true;
}

/* A negative number of bits counts as more than the type has, and all are shifted out. */
static int64_t shift(const leati_ref_node *node, leati_ref_type type, int64_t a, int64_t by) {
  const int64_t width = leati_ref_type_size(type) * 8;
  const bool beyond = by < 0 || by >= width;
  if (leati_ref_string_is(node, "direction", "", "LEFT")) {
    return beyond ? 0 : (int64_t)((uint64_t)a << by);
  }
  if (leati_ref_type_is_unsigned(type)) {
    return beyond ? 0 : (int64_t)((uint64_t)a >> by);
  }
  /* Floor of a / 2^by: of a negative number by its complement, which is not negative. */
  return a < 0 ? ~(beyond ? 0 : ~a >> by) : beyond ? 0 : a >> by;
}

static bool integer_binary(leati_ref_node *node, int64_t a, int64_t b, int64_t *out) {
  leati_ref_type type = node->inputs[0]->type;
  if (is(node, "Add")) {
    *out = (int64_t)((uint64_t)a + (uint64_t)b);
  } else if (is(node, "Sub")) {
    *out = (int64_t)((uint64_t)a - (uint64_t)b);
  } else if (is(node, "Mul")) {
    *out = (int64_t)((uint64_t)a * (uint64_t)b);
  } else if (is(node, "Div")) {
    /* An integer divided by 0 gives 0 (backend.h). */
    *out = b == 0 ? 0 : integer_quotient(type, a, b);
  } else if (is(node, "Mod")) {
    *out = b == 0 ? 0 : integer_mod(type, a, b, leati_ref_int(node, "fmod", 0) != 0);
  } else if (is(node, "Min")) {
    *out = leati_ref_type_less(type, a, b) ? a : b;
  } else if (is(node, "Max")) {
    *out = leati_ref_type_less(type, a, b) ? b : a;
  } else if (is(node, "PRelu")) {
    *out = a < 0 ? (int64_t)((uint64_t)a * (uint64_t)b) : a;
  } else if (is(node, "BitwiseAnd")) {
    *out = a & b;
  } else if (is(node, "BitwiseOr")) {
    *out = a | b;
  } else if (is(node, "BitwiseXor")) {
    *out = a ^ b;
  } else if (is(node, "BitShift")) {
    *out = shift(node, type, a, b);
  } else {
    return false;
  }
  return true;
}

/* Arithmetic and operators on bits; Min and Max take any number of inputs. */
static bool run_arithmetic(leati_ref_node *node) {
  leati_ref_type type = node->inputs[0]->type;
  if (!broadcast_output(node, type)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    int64_t at = leati_ref_broadcast_at(node->inputs[0], y->rank, index);
    if (leati_ref_type_is_float(type)) {
      estimate e = exact(node->inputs[0]->f[at]);
      for (uint32_t n = 1; n < node->input_count; ++n) {
        double b = node->inputs[n]->f[leati_ref_broadcast_at(node->inputs[n], y->rank, index)];
        if (!float_binary(node, e.value, b, &e)) {
          return leati_ref_fail(node, "%s takes integers here", node->name);
        }
      }
      y->f[k] = e.value;
      y->bound[k] = e.bound;
    } else {
      int64_t value = node->inputs[0]->i[at];
      for (uint32_t n = 1; n < node->input_count; ++n) {
        int64_t b = node->inputs[n]->i[leati_ref_broadcast_at(node->inputs[n], y->rank, index)];
        if (!integer_binary(node, value, b, &value)) {
          return false;
        }
        value = leati_ref_type_wrap(type, value);
      }
      y->i[k] = value;
    }
  }
  return true;
}

/* Of the bits that the type has. */
static bool run_bits(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const int64_t width = leati_ref_type_size(x->type) * 8;
  same_output(node, x->type);
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t ones = 0;
    for (int64_t bit = 0; bit < width; ++bit) {
      ones += (int64_t)((uint64_t)x->i[k] >> bit & 1u);
    }
    node->outputs[0].i[k] = is(node, "BitCount") ? ones : leati_ref_type_wrap(x->type, ~x->i[k]);
  }
  return true;
}

/* Sum and Mean of any number of inputs. */
static bool run_sum(leati_ref_node *node) {
  bool mean = is(node, "Mean");
  if (!broadcast_output(node, node->inputs[0]->type)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    double sum = 0;
    double magnitude = 0;
    for (uint32_t n = 0; n < node->input_count; ++n) {
      double term = node->inputs[n]->f[leati_ref_broadcast_at(node->inputs[n], y->rank, index)];
      sum += term;
      magnitude += fabs(term);
    }
    double count = mean ? node->input_count : 1;
    y->f[k] = sum / count;
    y->bound[k] = isfinite(sum) ? leati_ref_bound_sum(node->input_count, magnitude) / count +
                                      (mean ? leati_ref_bound_ulps(y->f[k], 2.5) : 0)
                                : 0;
  }
  return true;
}

/* The base gives the type; the exponent may have another. */
static bool run_pow(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  const leati_ref_tensor *b = node->inputs[1];
  if (!broadcast_output(node, a->type)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    int64_t at = leati_ref_broadcast_at(a, y->rank, index);
    int64_t bt = leati_ref_broadcast_at(b, y->rank, index);
    if (leati_ref_type_is_float(a->type)) {
      estimate e = float_pow(a->f[at], leati_ref_type_is_float(b->type) ? b->f[bt] : (double)b->i[bt]);
      y->f[k] = e.value;
      y->bound[k] = e.bound;
    } else if (leati_ref_type_is_float(b->type)) {
      y->i[k] = fractional_pow(a->type, a->i[at], b->f[bt]);
    } else {
      y->i[k] = leati_ref_type_wrap(a->type, integer_pow(a->i[at], b->i[bt]));
    }
  }
  return true;
}

static bool compare(const leati_ref_node *node, bool less, bool equal, bool ordered) {
  if (is(node, "Equal")) {
    return equal;
  }
  if (is(node, "Less")) {
    return less;
  }
  if (is(node, "LessOrEqual")) {
    return less || equal;
  }
  bool greater = ordered && !less && !equal;
  return is(node, "Greater") ? greater : greater || equal;
}

static bool run_compare(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  const leati_ref_tensor *b = node->inputs[1];
  if (!broadcast_output(node, LEATI_REF_BOOL)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    int64_t at = leati_ref_broadcast_at(a, y->rank, index);
    int64_t bt = leati_ref_broadcast_at(b, y->rank, index);
    y->i[k] = leati_ref_type_is_float(a->type)
                  ? compare(node, a->f[at] < b->f[bt], a->f[at] == b->f[bt], !isnan(a->f[at]) && !isnan(b->f[bt]))
                  : compare(node, leati_ref_type_less(a->type, a->i[at], b->i[bt]), a->i[at] == b->i[bt], true);
  }
  return true;
}

static bool run_logic(leati_ref_node *node) {
  const leati_ref_tensor *a = node->inputs[0];
  const leati_ref_tensor *b = node->inputs[1];
  if (!broadcast_output(node, LEATI_REF_BOOL)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    bool p = a->i[leati_ref_broadcast_at(a, y->rank, index)] != 0;
    bool q = b->i[leati_ref_broadcast_at(b, y->rank, index)] != 0;
    y->i[k] = is(node, "And") ? p && q : is(node, "Or") ? p || q : p != q;
  }
  return true;
}

static bool run_where(leati_ref_node *node) {
  const leati_ref_tensor *condition = node->inputs[0];
  if (!broadcast_output(node, node->inputs[1]->type)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    bool first = condition->i[leati_ref_broadcast_at(condition, y->rank, index)] != 0;
    const leati_ref_tensor *from = node->inputs[first ? 1 : 2];
    leati_ref_tensor_copy_element(y, k, from, leati_ref_broadcast_at(from, y->rank, index));
  }
  return true;
}

/* min(max(x, low), high), so that a maximum below the minimum wins; NaN stays. A bound that is not given is the lowest
 * or the largest finite number of the type. */
static bool run_clip(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *low = leati_ref_input(node, 1);
  const leati_ref_tensor *high = leati_ref_input(node, 2);
  same_output(node, x->type);
  leati_ref_tensor *y = &node->outputs[0];
  for (int64_t k = 0; k < x->count; ++k) {
    if (leati_ref_type_is_float(x->type)) {
      double least = low != NULL ? low->f[0] : -leati_ref_type_largest(x->type);
      double most = high != NULL ? high->f[0] : leati_ref_type_largest(x->type);
      double value = x->f[k];
      value = value < least || isnan(least) ? least : value;
      value = value > most || isnan(most) ? most : value;
      estimate e = exact(isnan(x->f[k]) || isnan(least) ? NAN : value);
      y->f[k] = e.value;
      y->bound[k] = e.bound;
    } else {
      int64_t value = x->i[k];
      value = low != NULL && leati_ref_type_less(x->type, value, low->i[0]) ? low->i[0] : value;
      y->i[k] = high != NULL && leati_ref_type_less(x->type, high->i[0], value) ? high->i[0] : value;
    }
  }
  return true;
}

const leati_ref_entry leati_ref_elementwise[] = {
#define UNARY_FUNCTION(name, version, low, high, value) {#name, run_##name},
#include "ops/elementwise/functions.inc"
#undef UNARY_FUNCTION
    {"Neg", run_signed},
    {"Abs", run_signed},
    {"Relu", run_signed},
    {"Sqrt", run_sqrt},
    {"Reciprocal", run_reciprocal},
    {"Exp", run_exp},
    {"Log", run_log},
    {"Erf", run_erf},
    {"Tanh", run_tanh},
    {"Sigmoid", run_sigmoid},
    {"LeakyRelu", run_leaky_relu},
    {"HardSigmoid", run_hard_sigmoid},
    {"Elu", run_elu},
    {"Celu", run_celu},
    {"HardSwish", run_hard_swish},
    {"Gelu", run_gelu},
    {"QuickGelu", run_quick_gelu},
    {"Swish", run_swish},
    {"Softplus", run_softplus},
    {"Selu", run_selu},
    {"ThresholdedRelu", run_thresholded_relu},
    {"Shrink", run_shrink},
    {"Sign", run_signed},
    {"IsNaN", run_is_nan},
    {"IsInf", run_is_inf},
    {"Sin", run_sin},
    {"Cos", run_cos},
    {"Sinh", run_sinh},
    {"Cosh", run_cosh},
    {"Asinh", run_asinh},
    {"Acosh", run_acosh},
    {"Atanh", run_atanh},
    {"Floor", run_floor},
    {"Ceil", run_ceil},
    {"Round", run_round},
    {"Not", run_not},
    {"Cast", run_cast},
    {"CastLike", run_cast_like},
    {"Add", run_arithmetic},
    {"Sub", run_arithmetic},
    {"Mul", run_arithmetic},
    {"Div", run_arithmetic},
    {"Mod", run_arithmetic},
    {"PRelu", run_arithmetic},
    {"Min", run_arithmetic},
    {"Max", run_arithmetic},
    {"BitwiseAnd", run_arithmetic},
    {"BitwiseOr", run_arithmetic},
    {"BitwiseXor", run_arithmetic},
    {"BitShift", run_arithmetic},
    {"BitwiseNot", run_bits},
    {"BitCount", run_bits},
    {"Sum", run_sum},
    {"Mean", run_sum},
    {"Pow", run_pow},
    {"Equal", run_compare},
    {"Less", run_compare},
    {"Greater", run_compare},
    {"LessOrEqual", run_compare},
    {"GreaterOrEqual", run_compare},
    {"And", run_logic},
    {"Or", run_logic},
    {"Xor", run_logic},
    {"Where", run_where},
    {"Clip", run_clip},
    {NULL, NULL},
};
