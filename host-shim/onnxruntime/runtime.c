/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime.h"

#include <leat/host.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(ORT_API_VERSION >= LEATI_API_MIN, "the headers of ONNX Runtime 1.24 or newer are needed");

/* Longest message that a status of ours carries; longer ones are cut. Holds a backend's message and our words. */
#define MESSAGE_SIZE (LEAT_ERROR_MESSAGE_SIZE + 512)

/* Release N of ONNX Runtime is "1.N.patch" and has API version N. Asking GetApi() for one it lacks makes it print an
 * error, so the version is read from the release. 0: this is no version of that form. */
static uint32_t runtime_api_version(const char *release) {
  unsigned major = 0;
  unsigned minor = 0;
  if (release == NULL || sscanf(release, "%u.%u", &major, &minor) != 2 || major != 1) {
    return 0;
  }
  return minor;
}

OrtStatus *leati_runtime_init(leati_runtime *out, const OrtApiBase *base, const OrtLogger *logger) {
  const char *release = base->GetVersionString();
  const uint32_t offered = runtime_api_version(release);
  *out = (leati_runtime){.logger = logger, .release = offered};
  if (offered != 0 && offered < LEATI_API_MIN) {
    /* Statuses are as old as the API itself, so its own version serves to say that it is too old. */
    out->ort = base->GetApi(offered);
    return out->ort != NULL ? leati_status(out, ORT_NOT_IMPLEMENTED,
                                           LEATI_PROVIDER_NAME " needs ONNX Runtime 1.%u or newer, and this is %s",
                                           LEATI_API_MIN, release)
                            : NULL;
  }
  uint32_t version = offered != 0 && offered < ORT_API_VERSION ? offered : ORT_API_VERSION;
  while (version >= LEATI_API_MIN && !(out->ort = base->GetApi(version))) {
    version--;
  }
  if (out->ort == NULL) {
    out->ort = base->GetApi(1);
    return out->ort != NULL ? leati_status(out, ORT_NOT_IMPLEMENTED,
                                           LEATI_PROVIDER_NAME
                                           " needs API version %u or newer of ONNX Runtime, which this one (%s) lacks",
                                           LEATI_API_MIN, release != NULL ? release : "of unknown version")
                            : NULL;
  }
  out->version = version;
  out->ep = out->ort->GetEpApi();
  if (out->ep == NULL) {
    return leati_status(out, ORT_NOT_IMPLEMENTED,
                        LEATI_PROVIDER_NAME " needs an ONNX Runtime built with execution providers in libraries (%s)",
                        release);
  }
  leat_error error = {.struct_size = sizeof(error)};
  return leati_status_from(out, leat_host_load(NULL, &out->leat, &error), &error,
                           LEATI_PROVIDER_NAME " cannot load its backend");
}

static OrtStatus *status_make(const leati_runtime *runtime, OrtErrorCode code, const char *message, const char *format,
                              va_list arguments) {
  char text[MESSAGE_SIZE];
  int length = vsnprintf(text, sizeof(text), format, arguments);
  if (message != NULL && length >= 0 && (size_t)length < sizeof(text)) {
    snprintf(text + length, sizeof(text) - (size_t)length, ": %s", message);
  }
  return runtime->ort->CreateStatus(code, text);
}

OrtStatus *leati_status(const leati_runtime *runtime, OrtErrorCode code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  OrtStatus *status = status_make(runtime, code, NULL, format, arguments);
  va_end(arguments);
  return status;
}

/* Never ORT_EP_FAIL, here as anywhere in the provider. Of a Run that fails with it ONNX Runtime's Python takes the
 * whole session to the CPU for good, while other threads are in their Runs, and in a child of fork() it hangs on the
 * way. */
static OrtErrorCode code_of(int32_t code) {
  switch (code) {
    case LEAT_ERROR_INVALID_ARGUMENT:
      return ORT_INVALID_ARGUMENT;
    case LEAT_ERROR_NOT_SUPPORTED:
    case LEAT_ERROR_VERSION:
      return ORT_NOT_IMPLEMENTED;
    case LEAT_ERROR_DEVICE_LOST:
    case LEAT_ERROR_INTERNAL:
      return ORT_RUNTIME_EXCEPTION;
    default:
      return ORT_FAIL;
  }
}

OrtStatus *leati_status_from(const leati_runtime *runtime, int32_t code, const leat_error *error, const char *format,
                             ...) {
  if (code == LEAT_OK) {
    return NULL;
  }
  const char *message = error->message[0] != '\0' ? error->message : leat_host_status_name(code);
  va_list arguments;
  va_start(arguments, format);
  OrtStatus *status = status_make(runtime, code_of(code), message, format, arguments);
  va_end(arguments);
  return status;
}

OrtStatus *leati_status_prefix(const leati_runtime *runtime, OrtStatus *status, const char *format, ...) {
  if (status == NULL) {
    return NULL;
  }
  va_list arguments;
  va_start(arguments, format);
  OrtStatus *longer = status_make(runtime, runtime->ort->GetErrorCode(status), runtime->ort->GetErrorMessage(status),
                                  format, arguments);
  va_end(arguments);
  runtime->ort->ReleaseStatus(status);
  return longer;
}

bool leati_status_drop(const leati_runtime *runtime, OrtStatus *status) {
  if (status == NULL) {
    return true;
  }
  runtime->ort->ReleaseStatus(status);
  return false;
}

bool leati_ort_log_wanted(const leati_runtime *runtime, const OrtLogger *logger, OrtLoggingLevel level) {
  logger = logger != NULL ? logger : runtime->logger;
  OrtLoggingLevel lowest = ORT_LOGGING_LEVEL_FATAL;
  return logger != NULL && leati_status_drop(runtime, runtime->ort->Logger_GetLoggingSeverityLevel(logger, &lowest)) &&
         level >= lowest;
}

void leati_ort_log(const leati_runtime *runtime, const OrtLogger *logger, OrtLoggingLevel level, const char *format,
                   ...) {
  if (!leati_ort_log_wanted(runtime, logger, level)) {
    return;
  }
  char text[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  logger = logger != NULL ? logger : runtime->logger;
  leati_status_drop(runtime, runtime->ort->Logger_LogMessage(logger, level, text, ORT_FILE, __LINE__, __func__));
}
