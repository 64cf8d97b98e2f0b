/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/fallback.c with an ONNX Runtime that only tells of its providers: where another one than the
 * CPU provider may be in a session. What it finds on a real one, tests/onnx/refused.py asks. */
#include "onnxruntime/fallback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST 3

/* What ONNX Runtime tells. */
static struct {
  const char *built[MOST];      /* providers that it was built with */
  const char *registered[MOST]; /* providers of its devices */
  bool built_fails, devices_fail;
  int lists, environments; /* handed out and not given back */
} told;
static const OrtEpDevice *devices[MOST];

static OrtStatus *const failure = (OrtStatus *)0x1;

bool leati_status_drop(const leati_runtime *runtime, OrtStatus *status) {
  (void)runtime;
  return status == NULL;
}

static OrtStatus *ORT_API_CALL get_available_providers(char ***out, int *count) {
  if (told.built_fails) {
    return failure;
  }
  *count = 0;
  while (*count < MOST && told.built[*count]) {
    ++*count;
  }
  *out = (char **)(uintptr_t)told.built;
  told.lists++;
  return NULL;
}

static OrtStatus *ORT_API_CALL release_available_providers(char **list, int count) {
  (void)list;
  (void)count;
  told.lists--;
  return NULL;
}

static OrtStatus *ORT_API_CALL create_env(OrtLoggingLevel level, const char *name, OrtEnv **out) {
  (void)level;
  (void)name;
  *out = (OrtEnv *)&told;
  told.environments++;
  return NULL;
}

static void ORT_API_CALL release_env(OrtEnv *environment) {
  (void)environment;
  told.environments--;
}

static OrtStatus *ORT_API_CALL get_ep_devices(const OrtEnv *environment, const OrtEpDevice *const **out,
                                              size_t *count) {
  (void)environment;
  if (told.devices_fail) {
    return failure;
  }
  *count = 0;
  while (*count < MOST && told.registered[*count]) {
    devices[*count] = (const OrtEpDevice *)&told.registered[*count];
    ++*count;
  }
  *out = devices;
  return NULL;
}

static const char *ORT_API_CALL ep_device_name(const OrtEpDevice *device) {
  return *(const char *const *)device;
}

static bool ask(void) {
  const OrtApi ort = {.GetAvailableProviders = get_available_providers,
                      .ReleaseAvailableProviders = release_available_providers,
                      .CreateEnv = create_env,
                      .ReleaseEnv = release_env,
                      .GetEpDevices = get_ep_devices,
                      .EpDevice_EpName = ep_device_name};
  const leati_runtime runtime = {.ort = &ort};
  const bool is_cpu = leati_fallback_is_cpu(&runtime);
  assert_int_equal(told.lists, 0);
  assert_int_equal(told.environments, 0);
  return is_cpu;
}

static int setup(void **state) {
  (void)state;
  told.built[0] = "AzureExecutionProvider";
  told.built[1] = "CPUExecutionProvider";
  told.built[2] = NULL;
  told.registered[0] = "CPUExecutionProvider";
  told.registered[1] = LEATI_PROVIDER_NAME;
  told.registered[2] = NULL;
  told.built_fails = told.devices_fail = false;
  return 0;
}

static void test_the_usual_build_falls_back_to_the_cpu(void **state) {
  (void)state;
  assert_true(ask());
  told.registered[2] = LEATI_PROVIDER_NAME;
  assert_true(ask());
}

static void test_another_provider_of_the_build_may_serve(void **state) {
  (void)state;
  told.built[2] = "CUDAExecutionProvider";
  assert_false(ask());
}

static void test_another_provider_that_was_registered_may_serve(void **state) {
  (void)state;
  told.registered[2] = "WebGpuExecutionProvider";
  assert_false(ask());
}

static void test_what_cannot_be_found_out_may_be(void **state) {
  (void)state;
  told.built_fails = true;
  assert_false(ask());
  told.built_fails = false;
  told.devices_fail = true;
  assert_false(ask());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_the_usual_build_falls_back_to_the_cpu, setup),
      cmocka_unit_test_setup(test_another_provider_of_the_build_may_serve, setup),
      cmocka_unit_test_setup(test_another_provider_that_was_registered_may_serve, setup),
      cmocka_unit_test_setup(test_what_cannot_be_found_out_may_be, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
