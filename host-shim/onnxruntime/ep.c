/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "allocator.h"
#include "capability.h"
#include "ep_gate.h"
#include "ep_profiler.h"
#include "fused_subgraph.h"
#include "run.h"
#include "sync_stream.h"
#include "warm_up.h"

typedef struct provider {
  leati_ep_head head;
  leati_kernel_registry *registry;
  const OrtLogger *logger;
  leati_session_options options;
  leati_model_inputs inputs; /* of the graph that was asked about last, whose fused subgraphs are built next */
  /* Written while the session is made. If, Loop and Scan read what a body gives, on the host, without waiting for
   * anything. */
  leati_capability_findings findings;
} provider;

static const char *ORT_API_CALL ep_get_name(const OrtEp *self) {
  (void)self;
  return LEATI_PROVIDER_NAME;
}

static OrtStatus *ORT_API_CALL ep_get_capability(OrtEp *base, const OrtGraph *graph, OrtEpGraphSupportInfo *support) {
  provider *self = (provider *)base;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->head.device->runtime, "GetCapability");
  if (status == NULL) {
    const leati_capability_wishes wishes = {
        .whole = self->options.fallback_bans, .subgraphs = self->options.graph_path, .inputs = &self->inputs};
    status = leati_model_inputs_read(&self->inputs, self->head.device->runtime, graph);
    if (status == NULL) {
      status = leati_capability_tell(self->head.device, self->registry, graph, support, self->logger, &wishes,
                                     &self->findings);
    }
    leati_ep_gate_leave();
  }
  return status;
}

static void release_subgraphs(OrtNodeComputeInfo **infos, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    leati_fused_subgraph_destroy(infos[i]);
    infos[i] = NULL;
  }
}

/* Builds the graphs of the fused subgraphs that ep_get_capability() named: all of them or, on failure, none. */
static OrtStatus *ORT_API_CALL ep_compile(OrtEp *base, const OrtGraph **graphs, const OrtNode **fused_nodes,
                                          size_t count, OrtNodeComputeInfo **out, OrtNode **ep_context_nodes) {
  (void)ep_context_nodes;
  provider *self = (provider *)base;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->head.device->runtime, "Compile");
  if (status != NULL) {
    return status;
  }
  if (self->findings.unrunnable != NULL) {
    status = leati_status(self->head.device->runtime, ORT_NOT_IMPLEMENTED, "%s", self->findings.unrunnable);
  }
  size_t made = 0;
  while (made < count && status == NULL) {
    status = leati_fused_subgraph_create(self->head.device, self->registry, &self->inputs, graphs[made],
                                         fused_nodes[made], self->logger, &out[made]);
    made += status == NULL;
  }
  if (status == NULL) {
    status = leati_warm_up(self->head.device, &self->inputs, self->options.warm_shapes, self->logger, out, fused_nodes,
                           count);
  }
  if (status != NULL) {
    release_subgraphs(out, made);
  }
  leati_trials_clear(&self->findings.trials, self->head.device->runtime);
  leati_ep_gate_leave();
  return status;
}

static void ORT_API_CALL ep_release_node_compute_infos(OrtEp *self, OrtNodeComputeInfo **infos, size_t count) {
  (void)self;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    release_subgraphs(infos, count);
    leati_ep_gate_leave();
  }
}

static OrtStatus *ORT_API_CALL ep_get_kernel_registry(OrtEp *base, const OrtKernelRegistry **out) {
  provider *self = (provider *)base;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->head.device->runtime, "GetKernelRegistry");
  if (status == NULL) {
    status = leati_kernel_registry_kernels(self->registry, out);
    leati_ep_gate_leave();
  }
  return status;
}

/* Admits a Run, or says why not. */
static OrtStatus *admit(provider *self) {
  const leati_runtime *runtime = self->head.device->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_run_begin(self->head.device, self->options.pool_timeout_ms, self->findings.has_bodies, &error);
  if (code == LEAT_ERROR_EXHAUSTED) {
    return leati_status(runtime, ORT_FAIL,
                        LEATI_PROVIDER_NAME
                        ": this Run was not admitted: as many as the device takes at once are under way, and option "
                        "stream_pool_wait_timeout_ms (or else LEAT_STREAM_POOL_WAIT_TIMEOUT_MS) lets it wait no "
                        "longer; -1 waits for ever: %s",
                        error.message);
  }
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": admitting a Run");
}

static OrtStatus *ORT_API_CALL ep_on_run_start(OrtEp *base, const OrtRunOptions *run_options) {
  (void)run_options;
  provider *self = (provider *)base;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->head.device->runtime, "Run");
  if (status != NULL) {
    return status;
  }
  status = admit(self);
  if (status != NULL) {
    /* ONNX Runtime calls ep_on_run_end() only for those that have started. */
    leati_ep_gate_leave();
    return status;
  }
  /* The gate is left in ep_on_run_end(), which ONNX Runtime calls on the same thread, whatever happens in between. */
  leati_allocator_take_failure();
  return NULL;
}

/* Drivers register exit handlers when they first compile; after a first Run they have. */
static void register_gate_once(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set_explicit(&done, memory_order_relaxed)) {
    leati_ep_gate_register();
  }
}

static OrtStatus *ORT_API_CALL ep_on_run_end(OrtEp *base, const OrtRunOptions *run_options, bool sync) {
  (void)run_options;
  leati_shared_device *device = ((provider *)base)->head.device;
  OrtStatus *status = leati_ep_gate_enter_or_fail(device->runtime, "Run");
  if (status == NULL) {
    status = leati_run_end(device, sync);
    register_gate_once();
    leati_ep_gate_leave();
    leati_ep_gate_leave();
  }
  return status;
}

static OrtStatus *ORT_API_CALL ep_create_sync_stream(OrtEp *base, const OrtMemoryDevice *memory,
                                                     OrtSyncStreamImpl **out) {
  (void)memory;
  leati_shared_device *device = ((provider *)base)->head.device;
  OrtStatus *status = leati_ep_gate_enter_or_fail(device->runtime, "CreateSyncStreamForDevice");
  if (status == NULL) {
    status = leati_sync_stream_create(device, out);
    leati_ep_gate_leave();
  }
  return status;
}

static OrtStatus *ORT_API_CALL ep_is_concurrent_run_supported(OrtEp *self, bool *out) {
  (void)self;
  *out = true;
  return NULL;
}

#if ORT_API_VERSION >= 25
static OrtStatus *ORT_API_CALL ep_sync(OrtEp *base) {
  leati_shared_device *device = ((provider *)base)->head.device;
  const leati_runtime *runtime = device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "Sync");
  if (status != NULL) {
    return status;
  }
  leat_device *opened = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(device, &opened, &error);
  if (code == LEAT_OK) {
    code = runtime->leat->device->synchronize(opened, &error);
  }
  leati_ep_gate_leave();
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": synchronizing %s", device->info.name);
}

static OrtStatus *ORT_API_CALL ep_create_profiler(OrtEp *base, OrtEpProfilerImpl **out) {
  const provider *self = (const provider *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->head.device->runtime, "CreateProfiler");
  if (status == NULL) {
    status = leati_ep_profiler_create(self->head.device, self->logger, out);
    leati_ep_gate_leave();
  }
  return status;
}
#endif

#if ORT_API_VERSION >= 27
static OrtStatus *ORT_API_CALL ep_get_default_memory_device(const OrtEp *base, const OrtMemoryDevice **out) {
  const leati_shared_device *device = ((const provider *)base)->head.device;
  *out = device->runtime->ep->MemoryInfo_GetMemoryDevice(device->memory_info);
  return NULL;
}
#endif

OrtStatus *leati_ep_create(leati_shared_device *device, leati_kernel_registry *registry, leati_session_options *options,
                           const OrtLogger *logger, OrtEp **out) {
  provider *self = calloc(1, sizeof(*self));
  if (self == NULL) {
    leati_session_options_clear(options);
    return leati_status(device->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a session");
  }
  OrtEp *base = &self->head.base;
  base->ort_version_supported = device->runtime->version;
  base->GetName = ep_get_name;
  base->GetCapability = ep_get_capability;
  base->Compile = ep_compile;
  base->ReleaseNodeComputeInfos = ep_release_node_compute_infos;
  base->OnRunStart = ep_on_run_start;
  base->OnRunEnd = ep_on_run_end;
  base->CreateSyncStreamForDevice = ep_create_sync_stream;
  base->GetKernelRegistry = ep_get_kernel_registry;
  base->IsConcurrentRunSupported = ep_is_concurrent_run_supported;
#if ORT_API_VERSION >= 25
  base->Sync = ep_sync;
  base->CreateProfiler = ep_create_profiler;
#endif
#if ORT_API_VERSION >= 27
  base->GetDefaultMemoryDevice = ep_get_default_memory_device;
#endif
  self->head.device = device;
  self->registry = registry;
  self->logger = logger;
  self->options = *options;
  *options = (leati_session_options){0};
  *out = base;
  return NULL;
}

void leati_ep_destroy(OrtEp *base) {
  provider *self = (provider *)base;
  leati_capability_findings_clear(&self->findings, self->head.device->runtime);
  leati_model_inputs_clear(&self->inputs);
  leati_session_options_clear(&self->options);
  free(self);
}
