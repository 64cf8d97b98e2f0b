/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/pace.h"

#include "bench/exercise.h"
#include "fault.h"

/* A copy that takes this long shows the speed of memory; rows are of 4 KiB, so it never takes more than 2 x 1 GiB. */
#define COPY_SECONDS 400e-6
#define COPY_ROWS_MAX 262144

/* What a run takes, once all is compiled: the second. */
static gboolean time_of(const leati_rig *rig, const leati_kernel *kernel, double *seconds, GError **error) {
  g_autofree char *why = NULL;
  leati_exercise *e = leati_exercise_begin(rig, kernel, &why, error);
  if (e == NULL && why != NULL) {
    LEATI_FAULT_SET(error, "%s: %s", kernel->name, why);
  }
  const gboolean well = e != NULL && leati_exercise_once(e, seconds, error) && leati_exercise_once(e, seconds, error);
  leati_exercise_free(e);
  return well;
}

gboolean leati_pace_find(const leati_rig *rig, leati_pace *out, GError **error) {
  leati_kernel_form form;
  double seconds = 0;
  out->copy = (leati_kernel){.name = "device copy",
                             .op = "Identity",
                             .since_version = 14,
                             .type = {kDLFloat, 32, 1},
                             .family = LEATI_KERNEL_UNARY,
                             .kind = LEATI_KERNEL_MEMORY,
                             .link = LEATI_KERNEL_READ,
                             .size = {256, 1024}};
  if (!time_of(rig, &out->copy, &seconds, error)) {
    return FALSE;
  }
  while (seconds < COPY_SECONDS && out->copy.size[0] < COPY_ROWS_MAX) {
    out->copy.size[0] *= 2;
    if (!time_of(rig, &out->copy, &seconds, error)) {
      return FALSE;
    }
  }
  leati_kernel_expand(&out->copy, &form);
  out->copy_rate = leati_kernel_work(&out->copy, &form) / seconds;
  leati_kernel product = {.name = "a product of matrices",
                          .op = "MatMul",
                          .since_version = 13,
                          .type = {kDLFloat, 32, 1},
                          .family = LEATI_KERNEL_MATMUL,
                          .kind = LEATI_KERNEL_COMPUTE,
                          .link = LEATI_KERNEL_REWRITE,
                          .size = {1, 64, 64, 64}};
  for (seconds = 0; seconds < 1e-3 && product.size[1] < 2048;) {
    product.size[1] = product.size[2] = product.size[3] = 2 * product.size[1];
    if (!time_of(rig, &product, &seconds, error)) {
      return FALSE;
    }
  }
  leati_kernel_expand(&product, &form);
  out->flops_rate = form.flops / seconds;
  return TRUE;
}

char *leati_pace_too_long(const leati_pace *pace, const leati_kernel *kernel) {
  leati_kernel_form form;
  leati_kernel_expand(kernel, &form);
  const double seconds = MAX(form.flops / pace->flops_rate, form.bytes * 1e-9 / pace->copy_rate);
  return seconds <= LEATI_PACE_RUN_MAX ? NULL : g_strdup_printf("a run would take about %.2g s here", seconds);
}
