/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_stream.h"

#include <stdlib.h>

#include "ep_gate.h"
#include "run.h"

/* ---- Notifications ------------------------------------------------------------------------------------------------
 */

/* A point in a stream that ONNX Runtime waits for. */
typedef struct notification {
  OrtSyncNotificationImpl base;
  leati_shared_device *device;
  leat_stream *producer; /* the stream whose work it stands for, alive as long as ONNX Runtime uses the notification */
  leat_event *event;
} notification;

static void ORT_API_CALL notification_release(OrtSyncNotificationImpl *self) {
  notification *mine = (notification *)self;
  if (leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return;
  }
  mine->device->runtime->leat->event->destroy(mine->event, NULL);
  free(mine);
  leati_ep_gate_leave();
}

static OrtStatus *ORT_API_CALL notification_activate(OrtSyncNotificationImpl *self) {
  notification *mine = (notification *)self;
  const leati_runtime *runtime = mine->device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "SyncNotification.Activate");
  if (status == NULL) {
    leat_error error = {.struct_size = sizeof(error)};
    status = leati_status_from(runtime, runtime->leat->event->record(mine->event, mine->producer, &error), &error,
                               LEATI_PROVIDER_NAME ": recording an event");
    leati_ep_gate_leave();
  }
  return status;
}

static OrtStatus *notification_wait_host(notification *mine) {
  const leati_runtime *runtime = mine->device->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  return leati_status_from(runtime, runtime->leat->event->wait(mine->event, -1, &error), &error,
                           LEATI_PROVIDER_NAME ": waiting for an event");
}

static OrtStatus *ORT_API_CALL notification_wait_on_host(OrtSyncNotificationImpl *self) {
  notification *mine = (notification *)self;
  OrtStatus *status = leati_ep_gate_enter_or_fail(mine->device->runtime, "SyncNotification.WaitOnHost");
  if (status == NULL) {
    status = notification_wait_host(mine);
    leati_ep_gate_leave();
  }
  return status;
}

static OrtStatus *ORT_API_CALL notification_wait_on_device(OrtSyncNotificationImpl *self, OrtSyncStream *consumer) {
  notification *mine = (notification *)self;
  const leati_runtime *runtime = mine->device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "SyncNotification.WaitOnDevice");
  if (status != NULL) {
    return status;
  }
  const leati_sync_stream *stream = leati_sync_stream_of(runtime, consumer);
  if (stream != NULL && stream->device == mine->device) {
    leat_error error = {.struct_size = sizeof(error)};
    bool in_run = false;
    status = leati_run_note(mine->device, stream->handle, false, &in_run);
    if (status == NULL) {
      status = leati_status_from(runtime, runtime->leat->stream->wait_event(stream->handle, mine->event, &error),
                                 &error, LEATI_PROVIDER_NAME ": waiting for an event");
    }
  } else {
    /* Another device or another provider cannot wait for our event by itself: the host waits in its place. */
    status = notification_wait_host(mine);
  }
  leati_ep_gate_leave();
  return status;
}

static OrtStatus *notification_create(leati_sync_stream *stream, OrtSyncNotificationImpl **out) {
  const leati_runtime *runtime = stream->device->runtime;
  leat_device *device = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(stream->device, &device, &error);
  leat_event *event = NULL;
  if (code == LEAT_OK) {
    code = runtime->leat->event->create(device, 0, &event, &error);
  }
  if (code != LEAT_OK) {
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": creating an event");
  }
  notification *made = calloc(1, sizeof(*made));
  if (made == NULL) {
    runtime->leat->event->destroy(event, NULL);
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for an event");
  }
  made->base = (OrtSyncNotificationImpl){
      .ort_version_supported = runtime->version,
      .Release = notification_release,
      .Activate = notification_activate,
      .WaitOnDevice = notification_wait_on_device,
      .WaitOnHost = notification_wait_on_host,
  };
  made->device = stream->device;
  made->producer = stream->handle;
  made->event = event;
  *out = &made->base;
  return NULL;
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static void ORT_API_CALL stream_release(OrtSyncStreamImpl *self) {
  leati_sync_stream *stream = (leati_sync_stream *)self;
  if (leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return;
  }
  leati_run_forget(stream->handle);
  leati_shared_device_return_stream(stream->device, stream->handle);
  free(stream);
  leati_ep_gate_leave();
}

static void *ORT_API_CALL stream_get_handle(OrtSyncStreamImpl *self) {
  return ((leati_sync_stream *)self)->handle;
}

static OrtStatus *ORT_API_CALL stream_create_notification(OrtSyncStreamImpl *self, OrtSyncNotificationImpl **out) {
  leati_sync_stream *stream = (leati_sync_stream *)self;
  OrtStatus *status = leati_ep_gate_enter_or_fail(stream->device->runtime, "SyncStream.CreateNotification");
  if (status == NULL) {
    status = notification_create(stream, out);
    leati_ep_gate_leave();
  }
  return status;
}

static OrtStatus *ORT_API_CALL stream_flush(OrtSyncStreamImpl *self) {
  leati_sync_stream *stream = (leati_sync_stream *)self;
  const leati_runtime *runtime = stream->device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "SyncStream.Flush");
  if (status != NULL) {
    return status;
  }
  /* To ONNX Runtime, flushed means finished: Run returns after this, and its caller reads the outputs. */
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = runtime->leat->stream->synchronize(stream->handle, &error);
  if (code != LEAT_OK) {
    runtime->leat->stream->clear_error(stream->handle, NULL);
    status = leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": the work of this stream failed");
  }
  leati_ep_gate_leave();
  return status;
}

static OrtStatus *ORT_API_CALL stream_on_session_run_end(OrtSyncStreamImpl *self) {
  (void)self;
  return NULL;
}

OrtStatus *leati_sync_stream_create(leati_shared_device *device, OrtSyncStreamImpl **out) {
  const leati_runtime *runtime = device->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  *out = NULL;
  leati_sync_stream *stream = calloc(1, sizeof(*stream));
  if (stream == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a stream");
  }
  const int32_t code = leati_shared_device_borrow_stream(device, &stream->handle, &error);
  if (code != LEAT_OK) {
    free(stream);
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": creating a stream");
  }
  stream->base = (OrtSyncStreamImpl){
      .ort_version_supported = runtime->version,
      .Release = stream_release,
      .GetHandle = stream_get_handle,
      .CreateNotification = stream_create_notification,
      .Flush = stream_flush,
      .OnSessionRunEnd = stream_on_session_run_end,
  };
  stream->device = device;
  *out = &stream->base;
  return NULL;
}

const leati_sync_stream *leati_sync_stream_of(const leati_runtime *runtime, OrtSyncStream *stream) {
  /* Up to release 1.28 ONNX Runtime allocates the block for a Run's memory pattern on a placeholder, which is no
   * provider's stream. SyncStream_GetImpl() reads beyond its end. Its handle is NULL, and ours never is. */
  if (stream == NULL || runtime->ort->SyncStream_GetHandle(stream) == NULL) {
    return NULL;
  }
  const OrtSyncStreamImpl *impl = runtime->ep->SyncStream_GetImpl(stream);
  return impl != NULL && impl->Release == stream_release ? (const leati_sync_stream *)impl : NULL;
}
