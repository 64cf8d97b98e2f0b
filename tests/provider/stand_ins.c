/* SPDX-License-Identifier: BSD-3-Clause */
#include "provider/stand_ins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

stand_ins around;

void note(const char *format, ...) {
  const size_t used = strlen(around.asked);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(around.asked + used, sizeof(around.asked) - used, format, arguments);
  va_end(arguments);
}

void expect(const char *asked) {
  assert_string_equal(around.asked, asked);
  assert_int_equal(around.inside, 0);
  around.asked[0] = '\0';
}

OrtStatus *leati_status(const leati_runtime *runtime, OrtErrorCode code, const char *format, ...) {
  (void)runtime;
  (void)code;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(around.message, sizeof(around.message), format, arguments);
  va_end(arguments);
  return FAILURE;
}

OrtStatus *leati_status_from(const leati_runtime *runtime, int32_t code, const leat_error *error, const char *format,
                             ...) {
  (void)runtime;
  (void)error;
  (void)format;
  return code == LEAT_OK ? NULL : FAILURE;
}

void leati_ort_log(const leati_runtime *runtime, const OrtLogger *logger, OrtLoggingLevel level, const char *format,
                   ...) {
  (void)runtime;
  (void)logger;
  (void)format;
  around.warnings += level == ORT_LOGGING_LEVEL_WARNING;
}

leati_gate leati_ep_gate_enter(void) {
  around.inside += around.gate == LEATI_GATE_OPEN;
  return around.gate;
}

OrtStatus *leati_ep_gate_enter_or_fail(const leati_runtime *runtime, const char *call) {
  (void)runtime;
  (void)call;
  return leati_ep_gate_enter() == LEATI_GATE_OPEN ? NULL : FAILURE;
}

void leati_ep_gate_leave(void) {
  --around.inside;
}
