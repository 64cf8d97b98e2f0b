/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include <leat/host.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

void scene_expect(const char *call, int32_t got, int32_t expected, const leat_error *err) {
  if (got != expected) {
    scene_fail("%s gave %s, not %s: %s", call, leat_host_status_name(got), leat_host_status_name(expected),
               err->message);
  }
}

const leat_backend_api *scene_load(void) {
  const leat_backend_api *api = NULL;
  SCENE_OK(leat_host_load(NULL, &api, &err));
  return api;
}

void scene_open(scene_host *host) {
  static const int64_t shape[] = {SCENE_ELEMENTS};
  host->api = scene_load();
  leat_error why = {.struct_size = sizeof(why)};
  uint32_t count = 0;
  if (host->api->device->count(&count, &why) != LEAT_OK || count == 0) {
    (void)fprintf(stderr, "no device: %s\n", why.message);
    _exit(SCENE_SKIP);
  }
  SCENE_OK(host->api->device->open(0, &host->device, &err));
  leat_pool_info pool = {.struct_size = sizeof(pool)};
  host->has_pool =
      host->api->pool != NULL && host->api->pool->info(host->device, &pool, NULL) != LEAT_ERROR_NOT_SUPPORTED;
  const leat_value_info vector = {.struct_size = sizeof(vector), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  const leat_value_info *const inputs[] = {&vector, &vector};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 14,
                             .name = "Add",
                             .input_count = 2,
                             .output_count = 1,
                             .inputs = inputs};
  SCENE_OK(host->api->op->create(host->device, &desc, &host->add, &err));
}

void scene_close(scene_host *host) {
  SCENE_OK(host->api->op->destroy(host->add, &err));
  SCENE_OK(host->api->device->close(host->device, &err));
}

static DLTensor vector_at(void *data, DLDeviceType type, int64_t *shape) {
  return (DLTensor){data, {type, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
}

void scene_put_sum(const scene_host *host, leat_stream *stream, unsigned seed, scene_work *work) {
  int64_t shape[] = {SCENE_ELEMENTS};
  DLTensor there[3];
  for (unsigned i = 0; i < SCENE_ELEMENTS; ++i) {
    /* Small whole numbers, so that sums are exact. */
    work->values[0][i] = (float)((seed + i) % 1000);
    work->values[1][i] = (float)((seed * 7 + i * 3) % 1000);
    work->values[2][i] = -1;
  }
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t address;
    SCENE_OK(host->api->memory->alloc(host->device, sizeof(work->values[i]), stream, &address, &err));
    there[i] = vector_at((void *)(uintptr_t)address, kDLVulkan, shape);
  }
  const DLTensor *const in[] = {&there[0], &there[1]}, *const out[] = {&there[2]};
  for (unsigned i = 0; i < 2; ++i) {
    const DLTensor here = vector_at(work->values[i], kDLCPU, shape);
    SCENE_OK(host->api->memory->copy(stream, &here, &there[i], &err));
  }
  SCENE_OK(host->api->op->invoke(host->add, stream, 2, in, 1, out, &err));
  for (unsigned i = 0; i < 2; ++i) {
    SCENE_OK(host->api->memory->free(host->device, (uint64_t)(uintptr_t)there[i].data, &err));
  }
  work->sum = (uint64_t)(uintptr_t)there[2].data;
}

void scene_put_download(const scene_host *host, leat_stream *stream, scene_work *work) {
  int64_t shape[] = {SCENE_ELEMENTS};
  const DLTensor here = vector_at(work->values[2], kDLCPU, shape);
  const DLTensor there = vector_at((void *)(uintptr_t)work->sum, kDLVulkan, shape);
  SCENE_OK(host->api->memory->copy(stream, &there, &here, &err));
  SCENE_OK(host->api->memory->free(host->device, work->sum, &err));
}

void scene_put(const scene_host *host, leat_stream *stream, unsigned seed, scene_work *work) {
  scene_put_sum(host, stream, seed, work);
  scene_put_download(host, stream, work);
}

void scene_check(const scene_work *work) {
  for (unsigned i = 0; i < SCENE_ELEMENTS; ++i) {
    const float expected = work->values[0][i] + work->values[1][i];
    if (work->values[2][i] != expected) {
      scene_fail("element %u is %g, not %g", i, (double)work->values[2][i], (double)expected);
    }
  }
}

void scene_step(const scene_host *host, leat_stream *stream, unsigned seed) {
  scene_work work;
  scene_put(host, stream, seed, &work);
  SCENE_OK(host->api->stream->synchronize(stream, &err));
  scene_check(&work);
}

void scene_steps(const scene_host *host, unsigned seed, unsigned steps) {
  leat_stream *stream;
  SCENE_OK(host->api->stream->create(host->device, 0, &stream, &err));
  for (unsigned i = 0; i < steps; ++i) {
    scene_step(host, stream, seed + i);
  }
  SCENE_OK(host->api->stream->destroy(stream, &err));
}

static void *work_on(void *argument) {
  scene_worker *const self = argument;
  leat_stream *stream;
  SCENE_OK(self->host->api->stream->create(self->host->device, 0, &stream, &err));
  while (self->leave == NULL || !atomic_load(self->leave)) {
    scene_step(self->host, stream, self->number * 1000 + atomic_load(&self->steps));
    atomic_fetch_add(&self->steps, 1);
  }
  SCENE_OK(self->host->api->stream->destroy(stream, &err));
  return NULL;
}

void scene_start(const scene_host *host, scene_worker *workers, unsigned count, const atomic_bool *leave) {
  for (unsigned i = 0; i < count; ++i) {
    workers[i].host = host;
    workers[i].number = i;
    workers[i].leave = leave;
    if (pthread_create(&workers[i].thread, NULL, work_on, &workers[i]) != 0) {
      scene_fail("a thread could not be made");
    }
  }
}

void scene_await(scene_worker *workers, unsigned count, unsigned more) {
  for (unsigned i = 0; i < count; ++i) {
    const unsigned before = atomic_load(&workers[i].steps);
    while (atomic_load(&workers[i].steps) - before < more) {
      scene_nap(1);
    }
  }
}

void scene_join(scene_worker *workers, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (pthread_join(workers[i].thread, NULL) != 0) {
      scene_fail("a thread could not be joined");
    }
  }
}

_Noreturn void scene_await_cancellation(void) {
  for (;;) {
    pthread_testcancel();
    (void)sched_yield();
  }
}

int main(int argc, char **argv) {
  const scene *const lists[] = {scene_exits, scene_threads, scene_processes, scene_pools, scene_canaries};
  return scene_main(argc, argv, lists, sizeof(lists) / sizeof(lists[0]));
}
