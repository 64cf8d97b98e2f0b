/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ep_gate.h"

static void release_infos(leati_shared_device *device) {
  const OrtApi *ort = device->runtime->ort;
  if (device->memory_info != NULL) {
    ort->ReleaseMemoryInfo(device->memory_info);
  }
  if (device->host_info != NULL) {
    ort->ReleaseMemoryInfo(device->host_info);
  }
}

OrtStatus *leati_shared_device_init(leati_shared_device *device, const leati_runtime *runtime, uint32_t index) {
  *device = (leati_shared_device){.runtime = runtime, .info = {.struct_size = sizeof(device->info)}};
  leat_error error = {.struct_size = sizeof(error)};
  OrtStatus *status = leati_status_from(runtime, runtime->leat->device->info(index, &device->info, &error), &error,
                                        LEATI_PROVIDER_NAME ": device %u", index);
  if (status == NULL) {
    status = runtime->ort->CreateMemoryInfo_V2("Leat", OrtMemoryInfoDeviceType_GPU, LEATI_VENDOR_ID,
                                               (int32_t)device->info.index, OrtDeviceMemoryType_DEFAULT,
                                               LEATI_ALIGNMENT, OrtDeviceAllocator, &device->memory_info);
  }
  if (status == NULL && (runtime->leat->capabilities & LEAT_CAPABILITY_HOST_MEMORY) != 0) {
    /* Without an alignment, which is a part of what ONNX Runtime compares memory by: so it is found by type, vendor and
     * number alone. */
    status = runtime->ort->CreateMemoryInfo_V2("Leat host", OrtMemoryInfoDeviceType_GPU, LEATI_VENDOR_ID,
                                               (int32_t)device->info.index, OrtDeviceMemoryType_HOST_ACCESSIBLE, 0,
                                               OrtDeviceAllocator, &device->host_info);
  }
  if (status != NULL) {
    release_infos(device);
    return status;
  }
  const bool locked = pthread_mutex_init(&device->lock, NULL) == 0;
  const bool publishes = locked && pthread_mutex_init(&device->publish_lock, NULL) == 0;
  if (publishes && leati_collector_init(&device->collector)) {
    return NULL;
  }
  if (publishes) {
    pthread_mutex_destroy(&device->publish_lock);
  }
  if (locked) {
    pthread_mutex_destroy(&device->lock);
  }
  release_infos(device);
  return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a lock");
}

void leati_shared_device_clear(leati_shared_device *device) {
  const leati_runtime *runtime = device->runtime;
  while (device->idle_count != 0) {
    runtime->leat->stream->destroy(device->idle[--device->idle_count], NULL);
  }
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  if (opened != NULL) {
    leat_error error = {.struct_size = sizeof(error)};
    runtime->leat->event->destroy(device->published_event, NULL);
    if (runtime->leat->device->close(opened, &error) != LEAT_OK) {
      leati_ort_log(runtime, NULL, ORT_LOGGING_LEVEL_WARNING, LEATI_PROVIDER_NAME ": closing %s: %s", device->info.name,
                    error.message);
    }
  }
  if (device->created != NULL) {
    runtime->ep->ReleaseHardwareDevice(device->created);
  }
  release_infos(device);
  leati_collector_clear(&device->collector);
  pthread_mutex_destroy(&device->publish_lock);
  pthread_mutex_destroy(&device->lock);
}

int32_t leati_shared_device_open(leati_shared_device *device, leat_device **out, leat_error *err) {
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  int32_t code = LEAT_OK;
  if (opened == NULL) {
    pthread_mutex_lock(&device->lock);
    opened = atomic_load_explicit(&device->opened, memory_order_relaxed);
    if (opened == NULL) {
      code = device->runtime->leat->device->open(device->info.index, &opened, err);
      if (code == LEAT_OK) {
        atomic_store_explicit(&device->opened, opened, memory_order_release);
        leati_ep_gate_register();
      }
    }
    pthread_mutex_unlock(&device->lock);
  }
  *out = opened;
  return code;
}

/* Takes the latest of the idle streams; NULL: there is none. */
static leat_stream *idle_pop(leati_shared_device *device) {
  pthread_mutex_lock(&device->lock);
  leat_stream *stream = device->idle_count != 0 ? device->idle[--device->idle_count] : NULL;
  pthread_mutex_unlock(&device->lock);
  return stream;
}

static bool idle_push(leati_shared_device *device, leat_stream *stream) {
  pthread_mutex_lock(&device->lock);
  bool room = device->idle_count < LEATI_IDLE_MAX;
  if (room) {
    device->idle[device->idle_count++] = stream;
  }
  pthread_mutex_unlock(&device->lock);
  return room;
}

int32_t leati_shared_device_borrow_stream(leati_shared_device *device, leat_stream **out, leat_error *err) {
  const leat_stream_api *api = device->runtime->leat->stream;
  *out = idle_pop(device);
  if (*out != NULL) {
    /* Whatever happened to its last owner's work is none of the next one's business. */
    api->clear_error(*out, NULL);
    return LEAT_OK;
  }
  leat_device *opened = NULL;
  int32_t code = leati_shared_device_open(device, &opened, err);
  return code == LEAT_OK ? api->create(opened, 0, out, err) : code;
}

void leati_shared_device_return_stream(leati_shared_device *device, leat_stream *stream) {
  const leat_stream_api *api = device->runtime->leat->stream;
  api->flush(stream, NULL);
  if (!idle_push(device, stream)) {
    api->destroy(stream, NULL);
  }
}

void leati_shared_device_wait(leati_shared_device *device) {
  leat_device *opened = device != NULL ? atomic_load_explicit(&device->opened, memory_order_acquire) : NULL;
  if (opened != NULL) {
    device->runtime->leat->device->synchronize(opened, NULL);
  }
}

/* Forgets what was published if that has failed: otherwise all that comes after it would fail, for ever. What was
 * published before the failure may be under way, and nobody can come after it by an event any more. */
static void forget_failure(leati_shared_device *device) {
  const leat_event_api *events = device->runtime->leat->event;
  leati_shared_device_wait(device);
  pthread_mutex_lock(&device->publish_lock);
  int32_t state = device->published_event != NULL ? events->query(device->published_event, NULL) : LEAT_OK;
  if (state != LEAT_OK && state != LEAT_ERROR_NOT_READY) {
    events->destroy(device->published_event, NULL);
    device->published_event = NULL;
  }
  pthread_mutex_unlock(&device->publish_lock);
}

/* Lets a stream come after what was published. `publish_lock` held. */
static int32_t come_after_published(leati_shared_device *device, leat_stream *stream, leat_error *err)
    LEATI_HOLDS(device->publish_lock) {
  return device->published_event != NULL
             ? device->runtime->leat->stream->wait_event(stream, device->published_event, err)
             : LEAT_OK;
}

/* Lets what comes after all that was published come after a stream too. `publish_lock` held. */
static int32_t publish(leati_shared_device *device, leat_stream *stream, leat_error *err)
    LEATI_HOLDS(device->publish_lock) {
  const leat_event_api *events = device->runtime->leat->event;
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  int32_t code = come_after_published(device, stream, err);
  if (code == LEAT_OK && device->published_event == NULL) {
    code = events->create(opened, 0, &device->published_event, err);
  }
  if (code == LEAT_OK) {
    code = events->record(device->published_event, stream, err);
  }
  if (code == LEAT_OK) {
    atomic_fetch_add_explicit(&device->published, 1, memory_order_release);
  }
  return code;
}

/* Takes one of the two steps above with the lock held. A failure is told, with what was tried, and is over then. */
static OrtStatus *take_step(int32_t (*step)(leati_shared_device *, leat_stream *, leat_error *),
                            leati_shared_device *device, leat_stream *stream, uint64_t *out_published,
                            const char *what) {
  leat_error error = {.struct_size = sizeof(error)};
  pthread_mutex_lock(&device->publish_lock);
  int32_t code = step(device, stream, &error);
  *out_published = atomic_load_explicit(&device->published, memory_order_relaxed);
  pthread_mutex_unlock(&device->publish_lock);
  if (code != LEAT_OK) {
    forget_failure(device);
  }
  return leati_status_from(device->runtime, code, &error, LEATI_PROVIDER_NAME ": %s", what);
}

OrtStatus *leati_shared_device_publish(leati_shared_device *device, leat_stream *stream) {
  uint64_t published;
  return take_step(publish, device, stream, &published, "recording the end of a copy");
}

OrtStatus *leati_shared_device_catch_up(leati_shared_device *device, leat_stream *stream, uint64_t *out_published) {
  return take_step(come_after_published, device, stream, out_published, "waiting for an application's copies");
}

void leati_shared_device_uuid_text(const uint8_t uuid[16], char out[37]) {
  char *end = out;
  for (unsigned i = 0; i < 16; ++i) {
    end += sprintf(end, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
  }
}

bool leati_shared_device_matches(const leati_shared_device *device, const char *text) {
  char number[16];
  char uuid[37];
  snprintf(number, sizeof(number), "%u", device->info.index);
  leati_shared_device_uuid_text(device->info.uuid, uuid);
  if (strcmp(text, number) == 0 || strcasecmp(text, uuid) == 0) {
    return true;
  }
  /* A number is never a part of a name: "1" would be found in most of them. */
  return text[strspn(text, "0123456789")] != '\0' && strcasestr(device->info.name, text) != NULL;
}
