/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What most files of the provider stand on, for a test of one of them alone: statuses, the log and the gate, which say
 * what the test wants and write down what they are asked for. The test calls them from one thread.
 */
#ifndef LEAT_TESTS_PROVIDER_STAND_INS_H_
#define LEAT_TESTS_PROVIDER_STAND_INS_H_

#include "onnxruntime/ep_gate.h"
#include "onnxruntime/runtime.h"

/** The status of everything that fails. Nobody looks into it. */
#define FAILURE ((OrtStatus *)0x1)

typedef struct stand_ins {
  leati_gate gate;   /**< what the gate says */
  int inside;        /**< calls that went in and have not come out */
  unsigned warnings; /**< that were logged */
  char message[256]; /**< of the last status */
  char asked[256];   /**< what the test has noted, in order */
} stand_ins;

/** All of it; a test begins with zeros, which is an open gate. */
extern stand_ins around;

/** Adds to what was asked for. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/** Checks what has been asked for since the last time, and that nobody is inside. */
void expect(const char *asked);

#endif /* LEAT_TESTS_PROVIDER_STAND_INS_H_ */
