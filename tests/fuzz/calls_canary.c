/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that does not wait for what is in a stream. */
#include "streams/stream.h"

int32_t __wrap_leati_stream_synchronize(leat_stream *stream, leat_error *err);

int32_t __wrap_leati_stream_synchronize(leat_stream *stream, leat_error *err) {
  (void)stream;
  (void)err;
  return LEAT_OK;
}
