/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Running cases in this process. The runner starts this program again with `--run-case`; what happens is told to it,
 * line by line (tell.h).
 */
#ifndef LEAT_CONFORMANCE_CHILD_H_
#define LEAT_CONFORMANCE_CHILD_H_

#include "case.h"

/** What a child is asked to do. */
typedef struct leat_child_options {
  const char *plugin_path; /**< the plugin's file */
  uint32_t device_index;   /**< device to use */
  uint32_t seed;           /**< of the whole run */
  uint32_t first_call;     /**< number of the first call that is drawn */
  uint32_t calls;          /**< calls to draw; 0: as many as a case likes */
  gboolean all_operators;  /**< an operator that is lacking is a failure */
  gboolean fast_float32;   /**< sums of float32 may be as inexact as leati_ref_fast_float32 says */
  double scale;            /**< of deadlines */
  int result_fd;           /**< where to tell, or -1: print for a person */
} leat_child_options;

/** Tells what the plugin is and which device it has. Returns an exit status. */
int leati_child_probe(const leat_child_options *options);

/** Runs cases one after the other until one does not pass. Returns an exit status if all passed. */
int leati_child_run(const leat_child_options *options, const leat_case *const *cases, size_t count);

#endif /* LEAT_CONFORMANCE_CHILD_H_ */
