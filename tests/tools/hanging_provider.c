/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider library that never comes back: what --timeout of leat-run must end. */
#include <leat/backend.h>
#include <onnxruntime_c_api.h>
#include <unistd.h>

LEAT_EXPORT OrtStatus *CreateEpFactories(const char *name, const OrtApiBase *base, const OrtLogger *logger,
                                         OrtEpFactory **out, size_t capacity, size_t *count);
LEAT_EXPORT OrtStatus *ReleaseEpFactory(OrtEpFactory *factory);

OrtStatus *CreateEpFactories(const char *name, const OrtApiBase *base, const OrtLogger *logger, OrtEpFactory **out,
                             size_t capacity, size_t *count) {
  (void)name, (void)base, (void)logger, (void)out, (void)capacity, (void)count;
  for (;;) {
    pause();
  }
}

/* ONNX Runtime looks for it when it loads the library. */
OrtStatus *ReleaseEpFactory(OrtEpFactory *factory) {
  (void)factory;
  return NULL;
}
