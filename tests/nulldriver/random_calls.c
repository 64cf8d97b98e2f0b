/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/random_calls.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nulldriver/test_host.h"
#include "policy/constants.h"

enum { SHARED_STREAMS = 6, SHARED_EVENTS = 6, CONSTANTS = 3, BLOCKS = 6, FLOATS_MAX = 3000 };
/* Floats of a block that is large. */
enum { FLOATS_LARGE = 2 * (int)(LEATI_DOWNLOAD_PIECE / sizeof(float)) + 77 };

static host h;
static leat_stream *shared_streams[SHARED_STREAMS];
static leat_event *shared_events[SHARED_EVENTS];
/* One block in so many is large; 0: none is. */
static uint64_t large_blocks;

/* A block of a caller's, with what is in it in stream order. */
typedef struct block {
  uint64_t address; /* 0: none */
  int64_t count;
  bool filled;
  host_content content;
  leat_stream *last; /* stream of its last use; NULL: that use is before `ready`, or there is none */
  leat_event *ready; /* NULL: all threads read the block, nobody writes it any more */
} block;

static block constants[CONSTANTS];

struct caller {
  uint64_t random;
  const uint8_t *bytes; /* what is drawn first, */
  size_t byte_count;    /* and how much of it is left */
  uint64_t calls;
  leat_stream *own;    /* or NULL */
  leat_event *span[2]; /* with timing; NULL: this driver has none */
  block blocks[BLOCKS];
  leat_op *relu;
  float *data; /* as many as a block has at most */
};

static uint64_t draw(caller *w, uint64_t below) {
  if (w->byte_count != 0) {
    /* A byte decides what is one of a few, two what is one of many. */
    uint64_t number = *w->bytes++;
    if (--w->byte_count != 0 && below > 256) {
      number = number << 8 | *w->bytes++;
      --w->byte_count;
    }
    return number % below;
  }
  w->random ^= w->random << 13;
  w->random ^= w->random >> 7;
  w->random ^= w->random << 17;
  return (w->random >> 11) % below;
}

/* A call that must succeed. */
#define CALL(call)   \
  do {               \
    ++w->calls;      \
    HOST_NEED(call); \
  } while (0)
/* A call that may also return one other status. */
#define CALL_OR(other, call)                       \
  do {                                             \
    leat_error err = {.struct_size = sizeof(err)}; \
    ++w->calls;                                    \
    const int32_t status = (call);                 \
    if (status != (other)) {                       \
      host_need(status, &err, #call);              \
    }                                              \
  } while (0)

static leat_stream *any_stream(caller *w) {
  return w->own != NULL && draw(w, 3) == 0 ? w->own : shared_streams[draw(w, SHARED_STREAMS)];
}

/* Orders what follows in the stream behind the block's last use. */
static void use_on(caller *w, block *b, leat_stream *stream) {
  if (b->ready != NULL && b->last != stream) {
    if (b->last != NULL) {
      CALL(h.api->event->record(b->ready, b->last, &err));
    }
    CALL(h.api->stream->wait_event(stream, b->ready, &err));
    b->last = stream;
  }
}

/* The stream goes out of reach: its last uses are kept as events. */
static void leave(caller *w, const leat_stream *stream) {
  for (int i = 0; i < BLOCKS; ++i) {
    block *const b = &w->blocks[i];
    if (b->address != 0 && b->last == stream) {
      CALL(h.api->event->record(b->ready, b->last, &err));
      b->last = NULL;
    }
  }
}

/* ---- What a thread does --------------------------------------------------------------------------------------------
 */

static void take_block(caller *w, block *b) {
  leat_stream *const stream = draw(w, 2) == 0 ? any_stream(w) : NULL;
  const bool large = large_blocks != 0 && draw(w, large_blocks) == 0;
  *b = (block){.count = large ? FLOATS_LARGE : 1 + (int64_t)draw(w, FLOATS_MAX), .last = stream};
  CALL(h.api->event->create(h.device, 0, &b->ready, &err));
  CALL(h.api->memory->alloc(h.device, (uint64_t)b->count * sizeof(float), stream, &b->address, &err));
}

static void give_block(caller *w, block *b) {
  CALL(h.api->memory->free(h.device, b->address, &err));
  CALL(h.api->event->destroy(b->ready, &err));
  b->address = 0;
}

static void upload(caller *w, block *b, leat_stream *stream) {
  const host_content content = {.seed = (uint32_t)draw(w, UINT32_MAX)};
  const DLTensor from = host_tensor(w->data, &b->count), to = device_tensor(b->address, &b->count);
  host_fill(w->data, b->count, content);
  use_on(w, b, stream);
  CALL(h.api->memory->copy(stream, &from, &to, &err));
  b->filled = true;
  b->content = content;
}

/* A copy or a Relu of what both have room for. */
static void derive(caller *w, block *from, block *to, leat_stream *stream) {
  int64_t common = from->count < to->count ? from->count : to->count;
  if (from == to || !from->filled || common != to->count) {
    return;
  }
  const DLTensor source = device_tensor(from->address, &common), target = device_tensor(to->address, &common);
  use_on(w, from, stream);
  use_on(w, to, stream);
  if (draw(w, 2) == 0) {
    CALL(h.api->memory->copy(stream, &source, &target, &err));
    to->content = from->content;
  } else {
    const DLTensor *const in[1] = {&source}, *const out[1] = {&target};
    CALL(h.api->op->invoke(w->relu, stream, 1, in, 1, out, &err));
    to->content = (host_content){.seed = from->content.seed, .rectified = true};
  }
  to->filled = true;
}

static void check(caller *w, block *b, leat_stream *stream) {
  void *memory = NULL;
  if (draw(w, 3) == 0) {
    CALL(h.api->memory->alloc_host(h.device, (uint64_t)b->count * sizeof(float), &memory, &err));
  }
  float *const data = memory != NULL ? memory : w->data;
  const DLTensor from = device_tensor(b->address, &b->count), to = host_tensor(data, &b->count);
  use_on(w, b, stream);
  memset(data, 0xff, (size_t)b->count * sizeof(float));
  CALL(h.api->memory->copy(stream, &from, &to, &err));
  if (memory != NULL && draw(w, 4) == 0) {
    /* It goes while it is written to. */
    CALL(h.api->memory->free_host(h.device, memory, &err));
    return;
  }
  if (draw(w, 2) == 0) {
    CALL(h.api->stream->synchronize(stream, &err));
  } else {
    CALL(h.api->event->record(b->ready, stream, &err));
    b->last = NULL;
    CALL(h.api->event->wait(b->ready, -1, &err));
  }
  const int64_t wrong = b->filled ? host_compare(data, b->count, b->content) : -1;
  if (wrong >= 0) {
    (void)fprintf(stderr, "float %lld of %lld is %f, not %f\n", (long long)wrong, (long long)b->count,
                  (double)data[wrong], (double)host_value(b->content, wrong));
    abort();
  }
  CALL(h.api->memory->free_host(h.device, memory, &err));
}

static void act_on_block(caller *w) {
  block *const b = &w->blocks[draw(w, BLOCKS)];
  leat_stream *const stream = any_stream(w);
  if (b->address == 0) {
    take_block(w, b);
    return;
  }
  switch (draw(w, 8)) {
    case 0:
      give_block(w, b);
      break;
    case 1:
    case 2:
      upload(w, b, stream);
      break;
    case 3:
    case 4:
    case 5: {
      block *const from = draw(w, 3) == 0 ? &constants[draw(w, CONSTANTS)] : &w->blocks[draw(w, BLOCKS)];
      if (from->address != 0) {
        derive(w, from, b, stream);
      }
      break;
    }
    default:
      check(w, b, stream);
  }
}

static void act_on_stream(caller *w) {
  leat_stream *const stream = any_stream(w);
  leat_event *const event = shared_events[draw(w, SHARED_EVENTS)];
  switch (draw(w, 9)) {
    case 0:
      CALL(h.api->stream->flush(stream, &err));
      break;
    case 1:
      CALL_OR(LEAT_ERROR_NOT_READY, h.api->stream->query(stream, &err));
      break;
    case 2:
      CALL(h.api->stream->error(stream, &err));
      break;
    case 3:
      CALL(h.api->stream->clear_error(stream, &err));
      break;
    case 4:
      CALL(h.api->event->record(event, stream, &err));
      break;
    case 5:
      CALL_OR(LEAT_ERROR_NOT_READY, h.api->event->query(event, &err));
      break;
    case 6:
      CALL(h.api->stream->wait_event(stream, event, &err));
      break;
    case 7:
      CALL_OR(LEAT_ERROR_TIMEOUT, h.api->event->wait(event, (int64_t)draw(w, 1000000), &err));
      break;
    default:
      CALL(h.api->stream->synchronize(stream, &err));
  }
}

static void renew_own_stream(caller *w) {
  if (w->own != NULL) {
    leave(w, w->own);
    CALL(h.api->stream->destroy(w->own, &err));
    w->own = NULL;
  } else {
    CALL(h.api->stream->create(h.device, 0, &w->own, &err));
  }
}

/* What a sync file says must be so. */
static void pass_sync_file(caller *w, leat_event *event) {
  int32_t fd = -1;
  CALL_OR(LEAT_ERROR_NOT_SUPPORTED, h.api->event->export_sync_fd(event, &fd, &err));
  if (fd >= 0) {
    struct pollfd what = {.fd = fd, .events = POLLIN};
    const bool readable = poll(&what, 1, 1) > 0;
    if (close(fd) != 0 || (readable && h.api->event->query(event, NULL) != LEAT_OK)) {
      (void)fprintf(stderr, "a sync file is no descriptor, or readable too early\n");
      abort();
    }
  }
}

/* An event whose life is short: it goes in any state. */
static void pass_event(caller *w) {
  leat_event *event;
  const bool timing = w->span[0] != NULL && draw(w, 2) == 0;
  CALL(h.api->event->create(h.device, timing ? LEAT_EVENT_TIMING : 0, &event, &err));
  const uint64_t records = draw(w, 3);
  for (uint64_t n = 0; n < records; ++n) {
    CALL(h.api->event->record(event, any_stream(w), &err));
  }
  if (timing && records != 0) {
    double ns = -1.0;
    CALL_OR(LEAT_ERROR_NOT_READY, h.api->event->elapsed(event, event, &ns, &err));
    if (ns != -1.0 && ns != 0.0) {
      (void)fprintf(stderr, "an event is %f ns after itself\n", ns);
      abort();
    }
  }
  if (draw(w, 2) == 0) {
    CALL(h.api->stream->wait_event(any_stream(w), event, &err));
  }
  if (draw(w, 2) == 0) {
    pass_sync_file(w, event);
  }
  CALL(h.api->event->destroy(event, &err));
}

/* The time from one event to one that is behind it, which the device's clock, rising with each look, makes positive. */
static void measure(caller *w) {
  leat_stream *const stream = any_stream(w), *const other = any_stream(w);
  double ns = -1.0;
  if (w->span[0] == NULL) {
    return;
  }
  CALL(h.api->event->record(w->span[0], stream, &err));
  CALL(h.api->stream->wait_event(other, w->span[0], &err));
  CALL(h.api->event->record(w->span[1], other, &err));
  if (draw(w, 2) == 0) {
    CALL_OR(LEAT_ERROR_NOT_READY, h.api->event->elapsed(w->span[0], w->span[1], &ns, &err));
    return;
  }
  CALL(h.api->event->wait(w->span[1], -1, &err));
  CALL(h.api->event->elapsed(w->span[0], w->span[1], &ns, &err));
  if (!(ns > 0.0)) {
    (void)fprintf(stderr, "an event is %f ns after the one that it waited for\n", ns);
    abort();
  }
}

static void ask_memory(caller *w) {
  const block *const b = draw(w, 2) == 0 ? &constants[draw(w, CONSTANTS)] : &w->blocks[draw(w, BLOCKS)];
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  uint64_t base, size;
  uint32_t none = 0;
  switch (draw(w, 6)) {
    case 0:
      CALL(h.api->memory->trim(h.device, NULL, &err));
      break;
    case 1:
      CALL(h.api->memory->stats(h.device, &stats, &err));
      break;
    case 2:
      CALL(h.api->memory->classes(h.device, &none, NULL, &err));
      break;
    case 3:
      CALL(h.api->memory->reset_peaks(h.device, &err));
      break;
    default:
      if (b->address != 0) {
        CALL(h.api->memory->find(h.device, b->address + 3, &base, &size, &err));
        CALL(h.api->memory->record_stream(h.device, b->address, any_stream(w), &err));
      }
  }
}

/* A stream of the pool, for a block's content and back. */
static void pass_pool(caller *w) {
  const leat_pool_api *const pool = h.api->pool;
  block *const b = &w->blocks[draw(w, BLOCKS)];
  leat_stream *stream = NULL, *previous;
  uint64_t ticket = 0;
  const bool acquired = draw(w, 2) == 0;
  leat_pool_info info = {.struct_size = sizeof(info)};
  if (pool == NULL) {
    return;
  }
  CALL(pool->info(h.device, &info, &err));
  if (acquired) {
    CALL_OR(LEAT_ERROR_EXHAUSTED, pool->acquire(h.device, (int64_t)draw(w, 2), &stream, &ticket, &err));
  } else {
    CALL_OR(LEAT_ERROR_EXHAUSTED, pool->current(h.device, &stream, &err));
  }
  if (stream == NULL) {
    return;
  }
  if (b->address != 0) {
    upload(w, b, stream);
    leave(w, stream);
  }
  if (acquired) {
    if (draw(w, 3) == 0) {
      CALL(pool->set_current(h.device, stream, &previous, &err));
      CALL(pool->set_current(h.device, NULL, NULL, &err));
    }
    CALL(pool->release(h.device, ticket, &err));
  } else if (draw(w, 3) == 0) {
    CALL(pool->release_current(h.device, &err));
  }
}

/* A thread that ends with work in its stream of the pool, and releases what another thread took. */
typedef struct helper {
  caller *w;
  uint64_t ticket; /* 0: none */
  int block;
} helper;

static void *help(void *argument) {
  const helper *const it = argument;
  caller *const w = it->w;
  block *const b = &w->blocks[it->block];
  leat_stream *stream = NULL;
  if (it->ticket != 0) {
    CALL(h.api->pool->release(h.device, it->ticket, &err));
  }
  CALL_OR(LEAT_ERROR_EXHAUSTED, h.api->pool->current(h.device, &stream, &err));
  if (stream != NULL && b->address != 0) {
    upload(w, b, stream);
    leave(w, stream);
  }
  if (stream != NULL && draw(w, 2) == 0) {
    /* Bound when the thread ends. */
    CALL(h.api->pool->set_current(h.device, any_stream(w), NULL, &err));
  }
  return NULL;
}

static void pass_thread(caller *w) {
  helper it = {.w = w, .block = (int)draw(w, BLOCKS)};
  leat_stream *stream;
  pthread_t thread;
  if (h.api->pool == NULL) {
    return;
  }
  if (draw(w, 2) == 0) {
    CALL_OR(LEAT_ERROR_EXHAUSTED, h.api->pool->acquire(h.device, 1, &stream, &it.ticket, &err));
  }
  /* Nobody who waits for a stream holds one. */
  CALL(h.api->pool->release_current(h.device, &err));
  if (pthread_create(&thread, NULL, help, &it) != 0) {
    (void)help(&it);
    return;
  }
  (void)pthread_join(thread, NULL);
}

static void close_relu(caller *w) {
  CALL(h.api->op->destroy(w->relu, &err));
}

/* ---- For programs ---------------------------------------------------------------------------------------------- */

/* Weights, as a model has them. */
static void make_constants(void) {
  static float data[FLOATS_MAX];
  for (int i = 0; i < CONSTANTS; ++i) {
    block *const b = &constants[i];
    *b = (block){.count = FLOATS_MAX, .filled = true, .content = {.seed = (uint32_t)i}};
    HOST_NEED(h.api->memory->alloc(h.device, sizeof(data), NULL, &b->address, &err));
    const DLTensor from = host_tensor(data, &b->count), to = device_tensor(b->address, &b->count);
    host_fill(data, b->count, b->content);
    HOST_NEED(h.api->memory->copy(shared_streams[0], &from, &to, &err));
  }
  HOST_NEED(h.api->device->synchronize(h.device, &err));
}

int32_t calls_open(uint64_t one_large_in, host **out, leat_error *why) {
  large_blocks = one_large_in;
  if (large_blocks != 0) {
    host_be_discrete();
  }
  const int32_t opened = host_open(&h, why);
  if (opened != LEAT_OK) {
    return opened;
  }
  for (int i = 0; i < SHARED_STREAMS; ++i) {
    HOST_NEED(h.api->stream->create(h.device, 0, &shared_streams[i], &err));
  }
  for (int i = 0; i < SHARED_EVENTS; ++i) {
    HOST_NEED(h.api->event->create(h.device, 0, &shared_events[i], &err));
  }
  make_constants();
  *out = &h;
  return LEAT_OK;
}

void calls_close(void) {
  for (int i = 0; i < CONSTANTS; ++i) {
    HOST_NEED(h.api->memory->free(h.device, constants[i].address, &err));
  }
  for (int i = 0; i < SHARED_STREAMS; ++i) {
    HOST_NEED(h.api->stream->destroy(shared_streams[i], &err));
  }
  for (int i = 0; i < SHARED_EVENTS; ++i) {
    HOST_NEED(h.api->event->destroy(shared_events[i], &err));
  }
  HOST_NEED(host_close(&h, &err));
}

caller *caller_new(uint64_t seed) {
  caller *const w = calloc(1, sizeof(*w));
  float *const data = calloc(large_blocks != 0 ? FLOATS_LARGE : FLOATS_MAX, sizeof(float));
  if (w == NULL || data == NULL) {
    (void)fprintf(stderr, "no memory for a caller\n");
    abort();
  }
  /* Not 0, which xorshift never leaves. */
  w->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  w->data = data;
  CALL(host_make_relu(&h, &w->relu, &err));
  for (int i = 0; i < 2 && (h.api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) != 0; ++i) {
    CALL_OR(LEAT_ERROR_NOT_SUPPORTED, h.api->event->create(h.device, LEAT_EVENT_TIMING, &w->span[i], &err));
  }
  return w;
}

void caller_draws_from(caller *w, const uint8_t *bytes, size_t count) {
  w->bytes = bytes;
  w->byte_count = count;
}

size_t caller_bytes_left(const caller *w) {
  return w->byte_count;
}

uint64_t caller_calls(const caller *w) {
  return w->calls;
}

void caller_act(caller *w) {
  switch (draw(w, 100)) {
    case 0:
      CALL(h.api->device->synchronize(h.device, &err));
      break;
    case 1:
      close_relu(w);
      CALL(host_make_relu(&h, &w->relu, &err));
      break;
    case 2:
    case 3:
    case 4:
      renew_own_stream(w);
      break;
    case 5:
      pass_thread(w);
      break;
    case 6:
    case 7:
      measure(w);
      break;
    default:
      switch (draw(w, 8)) {
        case 0:
          ask_memory(w);
          break;
        case 1:
          pass_event(w);
          break;
        case 2:
          pass_pool(w);
          break;
        case 3:
        case 4:
          act_on_stream(w);
          break;
        default:
          act_on_block(w);
      }
  }
}

void caller_run(caller *w, uint64_t runs) {
  if (w->own == NULL) {
    CALL(h.api->stream->create(h.device, 0, &w->own, &err));
  }
  for (uint64_t i = 0; i < runs; ++i) {
    int64_t count = FLOATS_MAX;
    const host_content content = {.seed = (uint32_t)draw(w, UINT32_MAX), .rectified = true};
    uint64_t blocks[3];
    DLTensor tensors[3];
    for (int j = 0; j < 3; ++j) {
      CALL(h.api->memory->alloc(h.device, FLOATS_MAX * sizeof(float), w->own, &blocks[j], &err));
      tensors[j] = device_tensor(blocks[j], &count);
    }
    const DLTensor data = host_tensor(w->data, &count);
    const DLTensor *const in[1] = {&tensors[0]}, *const out[1] = {&tensors[1]};
    host_fill(w->data, count, (host_content){.seed = content.seed});
    CALL(h.api->memory->copy(w->own, &data, &tensors[0], &err));
    CALL(h.api->op->invoke(w->relu, w->own, 1, in, 1, out, &err));
    CALL(h.api->memory->copy(w->own, &tensors[1], &tensors[2], &err));
    CALL(h.api->memory->copy(w->own, &tensors[2], &data, &err));
    for (int j = 0; j < 3; ++j) {
      CALL(h.api->memory->free(h.device, blocks[j], &err));
    }
    CALL(h.api->stream->synchronize(w->own, &err));
    if (host_compare(w->data, count, content) >= 0) {
      (void)fprintf(stderr, "run %llu: wrong contents\n", (unsigned long long)i);
      abort();
    }
  }
}

void caller_free(caller *w) {
  for (int i = 0; i < BLOCKS; ++i) {
    if (w->blocks[i].address != 0) {
      give_block(w, &w->blocks[i]);
    }
  }
  for (int i = 0; i < 2; ++i) {
    CALL(h.api->event->destroy(w->span[i], &err));
  }
  CALL(h.api->stream->destroy(w->own, &err));
  close_relu(w);
  free(w->data);
  free(w);
}
