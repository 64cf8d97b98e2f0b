/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/stream_table.h"

#include "core/status.h"
#include "device/device.h"
#include "streams/event.h"
#include "streams/free_streams.h"
#include "streams/stream.h"
#include "streams/stream_pool.h"
#include "streams/stream_state.h"

static int32_t stream_create(leat_device *device, uint64_t flags, leat_stream **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  if (flags != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "stream flags 0x%llx are unknown", (unsigned long long)flags);
  }
  return leati_streams_take(device, out, err);
}

static int32_t stream_destroy(leat_stream *stream, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (stream == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  if (stream->pool_index >= 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "stream %d belongs to the pool; release it by release() or release_current()",
                      stream->pool_index);
  }
  /* A failure here is not the caller's business any more: whoever waits on an event of the stream hears of it. */
  (void)leati_stream_flush_if_live(stream, NULL);
  leati_streams_release(stream);
  return LEAT_OK;
}

static int32_t stream_flush(leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  return leati_stream_flush_if_live(stream, err);
}

static int32_t stream_synchronize(leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  return leati_stream_synchronize(stream, err);
}

static int32_t stream_query(leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  leati_timeline *timeline;
  uint64_t value;
  int32_t status = leati_stream_mark(stream, NULL, &timeline, &value, err);
  if (status == LEAT_OK) {
    status = leati_timeline_answer(timeline, value, err);
  }
  leati_timeline_release(timeline);
  return status;
}

static int32_t stream_wait_event(leat_stream *stream, leat_event *event, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  LEATI_TRY(leati_event_check(event, stream->device, err));
  return leati_event_await(event, stream, err);
}

static int32_t stream_error(leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  return leati_stream_error_if_live(stream, err);
}

static int32_t stream_clear_error(leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  return leati_stream_clear_error(stream, err);
}

static int32_t stream_info(leat_stream *stream, leat_stream_info *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  leati_mutex_lock(&stream->lock);
  const uint32_t lane = stream->lane != NULL ? stream->lane->index : 0;
  leati_mutex_unlock(&stream->lock);
  const bool pooled = stream->pool_index >= 0;
  const leat_stream_info info = {
      .struct_size = sizeof(info),
      .pool_index = stream->pool_index,
      .flags = (pooled ? LEAT_STREAM_POOLED : 0u) | (leati_stream_pool_shares(stream) ? LEAT_STREAM_SHARED : 0u),
      .lane = lane};
  return leati_export(out, &info, sizeof(info), sizeof(info), "leat_stream_info", err);
}

const leat_stream_api leati_stream_table = {
    .struct_size = sizeof(leat_stream_api),
    .create = stream_create,
    .destroy = stream_destroy,
    .flush = stream_flush,
    .synchronize = stream_synchronize,
    .query = stream_query,
    .wait_event = stream_wait_event,
    .error = stream_error,
    .clear_error = stream_clear_error,
    .info = stream_info,
};
