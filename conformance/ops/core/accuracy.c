/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/accuracy.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything below */
static leati_ref_accuracy worst[LEATI_REF_TYPE_COUNT];
static bool noted[LEATI_REF_TYPE_COUNT];

void leati_ref_accuracy_worse(leati_ref_accuracy *inout, leati_ref_accuracy other) {
  /* error / bound < other.error / other.bound; of two without errors the wider bound says more. */
  const double mine = inout->error * other.bound, its = other.error * inout->bound;
  if (inout->bound == 0 || its > mine || (its == mine && other.bound > inout->bound)) {
    *inout = other;
  }
}

/* One ULP of a normal number in its type. */
static double ulp_at(leati_ref_type type, double value) {
  int exponent;
  (void)frexp(value, &exponent);
  return ldexp(leati_ref_type_ulp(type), exponent - 1);
}

/* How far a result may be off: in a type of 16 bits by its bound and half a unit, unless it is such a number itself. */
static double allowed(leati_ref_type type, double expected, double bound) {
  const bool rounds = leati_ref_type_size(type) == 2 && (bound > 0 || leati_ref_type_round(type, expected) != expected);
  return rounds ? bound + ulp_at(type, fabs(expected) + bound) / 2 : bound;
}

void leati_ref_accuracy_note(const leati_ref_tensor *expected, const void *bytes) {
  if (!leati_ref_type_is_float(expected->type)) {
    return;
  }
  leati_ref_tensor got;
  leati_ref_accuracy result = {0};
  leati_ref_tensor_init(&got, expected->type, expected->rank, expected->dims);
  leati_ref_tensor_load(&got, bytes);
  bool any = false;
  for (int64_t k = 0; k < expected->count; ++k) {
    const bool normal = isfinite(expected->f[k]) && fabs(expected->f[k]) >= leati_ref_type_smallest(expected->type);
    if (normal && isfinite(expected->bound[k]) && isfinite(got.f[k])) {
      const double ulp = ulp_at(expected->type, expected->f[k]);
      const leati_ref_accuracy its = {.error = fabs(got.f[k] - expected->f[k]) / ulp,
                                      .bound = allowed(expected->type, expected->f[k], expected->bound[k]) / ulp};
      leati_ref_accuracy_worse(&result, its);
      any = true;
    }
  }
  leati_ref_tensor_clear(&got);
  if (any) {
    pthread_mutex_lock(&lock);
    leati_ref_accuracy_worse(&worst[expected->type], result);
    noted[expected->type] = true;
    pthread_mutex_unlock(&lock);
  }
}

bool leati_ref_accuracy_take(leati_ref_type type, leati_ref_accuracy *out) {
  pthread_mutex_lock(&lock);
  const bool any = noted[type];
  if (any) {
    *out = worst[type];
    memset(&worst[type], 0, sizeof(worst[type]));
    noted[type] = false;
  }
  pthread_mutex_unlock(&lock);
  return any;
}
