/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/shared_constants.h"

#include <string.h>

#include "common/hash.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "memory/memory.h"
#include "ops/core/dims.h"
#include "ops/core/op.h"
#include "policy/constants.h"
#include "streams/free_streams.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "streams/stream.h"

/* Places of the table, a power of two. */
#define PLACES 1024
/* Bytes that are staged at a time: it bounds what loading a model takes beside the model. */
#define PIECE (UINT64_C(16) << 20)

struct leati_shared_constants {
  /* One thread at a time looks for constants and loads what is missing, so that threads that build the same graph at
   * once load it once. */
  leati_role loader;
  leati_mutex lock; /* guards the lists, and the references of what is in them */
  leati_shared_constant *at[PLACES];
};

int32_t leati_shared_constants_create(leat_device *device, leat_error *err) {
  struct leati_shared_constants *const constants = leati_calloc(1, sizeof(*constants));
  if (constants == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the table of constants");
  }
  leati_mutex_init(&constants->lock, LEATI_RANK_OBJECTS);
  device->constants = constants;
  return LEAT_OK;
}

void leati_shared_constants_destroy(leat_device *device) {
  leati_mutex_destroy(&device->constants->lock);
  leati_free(device->constants);
  device->constants = NULL;
}

/* ---- Moving bytes ----------------------------------------------------------------------------------------------- */

typedef struct transfer {
  leati_view from, to;
} transfer;

static int32_t record_transfer(leati_recorder *recorder, const void *what, leat_error *err) {
  const transfer *const it = what;
  return leati_record_copy(recorder, &it->from, &it->to, err);
}

/* Puts a transfer into a stream. */
static int32_t copy_bytes(leat_stream *stream, const transfer *it, leat_error *err) {
  const int32_t status = leati_record(stream, record_transfer, it, err);
  return status == LEAT_ERROR_OUT_OF_MEMORY ? leati_copy_by_reserve(stream, &it->from, &it->to, err) : status;
}

/* Bytes [begin, begin + size) of a constant, and the host's. */
static transfer transfer_of(const leati_shared_constant *constant, uint64_t begin, uint64_t size, void *host, bool up) {
  leati_view device_side = {.present = true,
                            .compact = true,
                            .ndim = 1,
                            .type = LEAT_TYPE_UINT8,
                            .item_size = 1,
                            .count = size,
                            .shape = {(int64_t)size},
                            .strides = {1},
                            .block = constant->block};
  leati_view host_side = device_side;
  device_side.address = device_side.begin = constant->address + begin;
  device_side.end = device_side.begin + size;
  host_side.host = true;
  host_side.block = NULL;
  host_side.data = host;
  return up ? (transfer){.from = host_side, .to = device_side} : (transfer){.from = device_side, .to = host_side};
}

/* The copy of a constant's elements in another order. */
typedef struct ordering {
  const leati_plan *plan;
  leati_binding *bindings; /* of source, constant and temporaries */
} ordering;

static int32_t record_ordering(leati_recorder *recorder, const void *what, leat_error *err) {
  const ordering *const it = what;
  return leati_record_plan(recorder, it->plan, it->bindings, err);
}

/* Puts that into a stream. */
static int32_t copy_ordered(leat_device *device, leat_stream *stream, const leati_shared_constant *constant,
                            leat_error *err) {
  leati_view from = constant->order, to = constant->order;
  leati_view_make_compact(&to);
  from.address = to.address = 0;
  leati_view_measure(&from);
  leati_view_measure(&to);
  leati_planner_place(&from, 0);
  leati_planner_place(&to, 1);
  leati_planner planner;
  leati_planner_begin(&planner, device, 1, 1);
  planner.op = "copy";
  int32_t status = leati_plan_strided_copy(&planner, &from, &to, err);
  if (status == LEAT_OK) {
    const leati_plan plan = leati_planner_plan(&planner);
    leati_binding bindings[2 + LEATI_TEMP_MAX] = {
        {.address = constant->source->address, .block = constant->source->block},
        {.address = constant->address, .block = constant->block}};
    const ordering it = {.plan = &plan, .bindings = bindings};
    status = leati_record(stream, record_ordering, &it, err);
  }
  leati_planner_end(&planner);
  return status;
}

/* Takes a block. Work in flight may have to release memory first. */
static int32_t take_block(leat_device *device, leati_shared_constant *constant, leat_error *err) {
  uint32_t tries = 0;
  int32_t status = leati_memory_alloc(device, constant->size, NULL, &constant->address, err);
  while (status == LEAT_ERROR_OUT_OF_MEMORY && leati_memory_possible(device, constant->size) &&
         leati_streams_await_memory(device, &tries)) {
    leati_forget(err);
    status = leati_memory_alloc(device, constant->size, NULL, &constant->address, err);
  }
  if (status == LEAT_OK) {
    constant->block = leati_memory_find(device, constant->address);
  }
  return status;
}

/* Puts the upload of a new constant into a stream; `*inout_staged` counts the bytes since the last wait. */
static int32_t upload(leat_stream *stream, const leati_shared_constant *constant, const unsigned char *bytes,
                      uint64_t *inout_staged, leat_error *err) {
  for (uint64_t begin = 0; begin < constant->size; begin += PIECE) {
    const uint64_t left = constant->size - begin, size = left < PIECE ? left : PIECE;
    const transfer piece = transfer_of(constant, begin, size, (void *)(bytes + begin), true);
    LEATI_TRY(copy_bytes(stream, &piece, err));
    *inout_staged += size;
    if (*inout_staged >= PIECE) {
      *inout_staged = 0;
      LEATI_TRY(leati_stream_synchronize(stream, err));
    }
  }
  return LEAT_OK;
}

/* Whether a constant on the device holds these bytes. */
static int32_t compare(leat_stream *stream, const leati_shared_constant *constant, const unsigned char *bytes,
                       bool *out_same, leat_error *err) {
  const uint64_t most = constant->size < PIECE ? constant->size : PIECE;
  unsigned char *const found = leati_calloc(1, most);
  int32_t status = found != NULL
                       ? LEAT_OK
                       : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to compare a constant of %llu bytes",
                                    (unsigned long long)constant->size);
  *out_same = true;
  for (uint64_t begin = 0; status == LEAT_OK && *out_same && begin < constant->size; begin += PIECE) {
    const uint64_t left = constant->size - begin, size = left < PIECE ? left : PIECE;
    const transfer piece = transfer_of(constant, begin, size, found, false);
    status = copy_bytes(stream, &piece, err);
    if (status == LEAT_OK) {
      status = leati_stream_synchronize(stream, err);
    }
    *out_same = status == LEAT_OK && memcmp(found, bytes + begin, size) == 0;
  }
  leati_free(found);
  return status;
}

/* ---- The table -------------------------------------------------------------------------------------------------- */

/* Whether a constant holds the elements of another one in this order. */
static bool is_ordered(const leati_shared_constant *constant, const leati_view *order) {
  const leati_view *const own = &constant->order;
  return own->item_size == order->item_size && own->ndim == order->ndim &&
         leati_same_numbers(own->shape, order->shape, order->ndim) &&
         leati_same_numbers(own->strides, order->strides, order->ndim);
}

/* Whether a constant may be what is asked for: it is, if there is a source. */
static bool may_be(const leati_shared_constant *constant, uint64_t hash, const leati_shared_constant_request *request) {
  return constant->hash == hash && constant->size == request->size && constant->source == request->source &&
         (request->source == NULL || is_ordered(constant, &request->order));
}

/* The first constant of a list from `link` on that may be what is asked for, with a reference more. */
static leati_shared_constant *find_from(struct leati_shared_constants *constants, leati_shared_constant *const *link,
                                        uint64_t hash, const leati_shared_constant_request *request) {
  leati_mutex_lock(&constants->lock);
  leati_shared_constant *constant = *link;
  while (constant != NULL && !may_be(constant, hash, request)) {
    constant = constant->next;
  }
  if (constant != NULL) {
    ++constant->references;
  }
  leati_mutex_unlock(&constants->lock);
  return constant;
}

/* Makes a constant that nobody else has, with a block, and puts it into the table: the loader, who finds it there
 * again, is this thread, and has waited for the upload before it gives the role up. */
static int32_t make(leat_device *device, struct leati_shared_constants *constants, leat_stream *stream, uint64_t hash,
                    leati_shared_constant_request *request, uint64_t *inout_staged, leat_error *err) {
  leati_shared_constant *const constant = leati_calloc(1, sizeof(*constant));
  if (constant == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a constant");
  }
  constant->hash = hash;
  constant->size = request->size;
  constant->references = 1;
  constant->source = request->source;
  constant->order = request->order;
  int32_t status = take_block(device, constant, err);
  if (status != LEAT_OK) {
    leati_free(constant);
    return status;
  }
  status = request->source == NULL ? upload(stream, constant, request->bytes, inout_staged, err)
                                   : copy_ordered(device, stream, constant, err);
  if (status != LEAT_OK) {
    (void)leati_memory_free(device, constant->address, NULL);
    leati_free(constant);
    return status;
  }
  leati_mutex_lock(&constants->lock);
  leati_shared_constant **const place = &constants->at[hash % PLACES];
  constant->next = *place;
  *place = constant;
  if (constant->source != NULL) {
    ++constant->source->references;
  }
  leati_mutex_unlock(&constants->lock);
  request->out = constant;
  return LEAT_OK;
}

/* The loader alone adds to the lists, at their heads, and a constant that is held stays: so it may look further from
 * one that it holds. */
static int32_t take_one(leat_device *device, struct leati_shared_constants *constants, leat_stream *stream,
                        leati_shared_constant_request *request, uint64_t *inout_staged, leat_error *err) {
  const uint64_t hash =
      request->source == NULL ? leati_hash_bytes(0, request->bytes, request->size) : ~request->source->hash;
  leati_shared_constant *found = find_from(constants, &constants->at[hash % PLACES], hash, request);
  while (found != NULL) {
    bool same = true;
    const int32_t status = request->source == NULL ? compare(stream, found, request->bytes, &same, err) : LEAT_OK;
    if (status == LEAT_OK && same) {
      request->out = found;
      return LEAT_OK;
    }
    leati_shared_constant *const next = status == LEAT_OK ? find_from(constants, &found->next, hash, request) : NULL;
    leati_shared_constant_release(device, found);
    LEATI_TRY(status);
    found = next;
  }
  return make(device, constants, stream, hash, request, inout_staged, err);
}

int32_t leati_shared_constants_take(leat_device *device, leati_shared_constant_request *requests, uint32_t count,
                                    leat_error *err) {
  struct leati_shared_constants *const constants = device->constants;
  if (count == 0) {
    return LEAT_OK;
  }
  leat_stream *stream;
  LEATI_TRY(leati_streams_take(device, &stream, err));
  while (!leati_role_try(&constants->loader) && !leati_role_wait(&constants->loader, LEATI_GATE_LOOK_NS)) {
    leati_gate_check();
  }
  int32_t status = LEAT_OK;
  uint64_t staged = 0;
  for (uint32_t i = 0; i < count && status == LEAT_OK; ++i) {
    status = take_one(device, constants, stream, &requests[i], &staged, err);
  }
  /* Also after a failure: what was uploaded is in the table, or its memory is released, once it has run. */
  const int32_t waited = leati_stream_synchronize(stream, status == LEAT_OK ? err : NULL);
  status = status == LEAT_OK ? waited : status;
  /* Before the next loader looks: what was not uploaded is not to be found. */
  for (uint32_t i = 0; i < count && status != LEAT_OK; ++i) {
    leati_shared_constant_release(device, requests[i].out);
    requests[i].out = NULL;
  }
  leati_role_leave(&constants->loader);
  leati_streams_release(stream);
  return status;
}

void leati_shared_constant_release(leat_device *device, leati_shared_constant *constant) {
  if (constant == NULL) {
    return;
  }
  struct leati_shared_constants *const constants = device->constants;
  leati_mutex_lock(&constants->lock);
  const bool last = --constant->references == 0;
  if (last) {
    leati_shared_constant **link = &constants->at[constant->hash % PLACES];
    while (*link != constant) {
      link = &(*link)->next;
    }
    *link = constant->next;
  }
  leati_mutex_unlock(&constants->lock);
  if (last) {
    (void)leati_memory_free(device, constant->address, NULL);
    leati_shared_constant_release(device, constant->source);
    leati_free(constant);
  }
}
