/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/random_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nulldriver/test_host.h"
#include "policy/constants.h"

enum { SHARED_STREAMS = 6, SHARED_EVENTS = 6, CONSTANTS = 3, BLOCKS = 6, FLOATS_MAX = 3000 };
/* Bytes of memory that is shared with another API, and records of a profile that are read at once. */
enum { SHARED_BYTES = 16384, RECORDS = 8 };
_Static_assert((size_t)SHARED_BYTES >= FLOATS_MAX * sizeof(float), "a block would not fit");
/* Floats of a block that is large. */
enum { FLOATS_LARGE = 2 * (int)(LEATI_DOWNLOAD_PIECE / sizeof(float)) + 77 };

static host h;
static leat_stream *shared_streams[SHARED_STREAMS];
static leat_event *shared_events[SHARED_EVENTS];
/* One block in so many is large; 0: none is. */
static uint64_t large_blocks;
/* Whether the driver shares memory and semaphores by plain files, as the null driver does, and has clocks for profiles.
 */
static bool shares, profiles;

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
  leat_stream *own;                         /* or NULL */
  leat_event *span[2];                      /* with timing; NULL: this driver has none */
  leat_semaphore *semaphore;                /* NULL: this driver shares none */
  uint64_t raised;                          /* what it has, or is yet to get */
  const leat_stream *raiser;                /* the stream that raises it to that; NULL: it is not known */
  const volatile _Atomic uint64_t *counter; /* what it has, as another API sees it */
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

/* Raises the caller's semaphore in a stream, behind where it was raised last. */
static void raise_in(caller *w, leat_stream *stream) {
  if (w->raiser != stream) {
    CALL(h.api->external->wait(stream, w->semaphore, w->raised, &err));
  }
  w->raised += 1 + draw(w, 3);
  w->raiser = stream;
  CALL(h.api->external->signal(stream, w->semaphore, w->raised, &err));
}

/* Orders what follows in the stream behind the block's last use. */
static void use_on(caller *w, block *b, leat_stream *stream) {
  if (b->ready == NULL || b->last == stream) {
    return;
  }
  if (b->last != NULL && w->semaphore != NULL && draw(w, 4) == 0) {
    raise_in(w, b->last);
    CALL(h.api->external->wait(stream, w->semaphore, w->raised, &err));
  } else {
    if (b->last != NULL) {
      CALL(h.api->event->record(b->ready, b->last, &err));
    }
    CALL(h.api->stream->wait_event(stream, b->ready, &err));
  }
  b->last = stream;
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
  /* Another one may get its address. */
  w->raiser = w->raiser == stream ? NULL : w->raiser;
}

/* ---- What a thread does --------------------------------------------------------------------------------------------
 */

/* A descriptor of so many bytes, by which the null driver shares what is in them. */
static int shared_file(size_t size) {
  const int fd = memfd_create("shared", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
    perror("memfd_create");
    abort();
  }
  return fd;
}

/* A block of memory of another API, with what that has put there. */
static void import_block(caller *w, block *b) {
  const host_content content = {.seed = (uint32_t)draw(w, UINT32_MAX)};
  const uint64_t size = (uint64_t)b->count * sizeof(float);
  const leat_external_memory memory = {
      .struct_size = sizeof(memory),
      .fd = shared_file(SHARED_BYTES),
      .handle_type = LEAT_EXTERNAL_OPAQUE_FD,
      .allocation_size = SHARED_BYTES,
      .size = size,
      .dedicated_usage = draw(w, 4) != 0
                             ? 0
                             : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                   VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      .memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE};
  host_fill(w->data, b->count, content);
  if (pwrite(memory.fd, w->data, size, 0) != (ssize_t)size) {
    perror("pwrite");
    abort();
  }
  CALL(h.api->external->import_memory(h.device, &memory, &b->address, &err));
  b->filled = true;
  b->content = content;
}

static void take_block(caller *w, block *b) {
  leat_stream *const stream = draw(w, 2) == 0 ? any_stream(w) : NULL;
  const bool large = large_blocks != 0 && draw(w, large_blocks) == 0;
  *b = (block){.count = large ? FLOATS_LARGE : 1 + (int64_t)draw(w, FLOATS_MAX), .last = stream};
  CALL(h.api->event->create(h.device, 0, &b->ready, &err));
  if (shares && !large && draw(w, 4) == 0) {
    import_block(w, b);
    return;
  }
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

/* A semaphore of another API, of which nothing is known yet: what is there goes, whatever waits for it. */
static void renew_semaphore(caller *w) {
  enum { BYTES = 2 * sizeof(uint64_t) };
  CALL(h.api->external->destroy_semaphore(w->semaphore, &err));
  if (w->counter != NULL) {
    (void)munmap((void *)(uintptr_t)w->counter, BYTES);
  }
  const int fd = shared_file(BYTES);
  void *const counter = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
  if (counter == MAP_FAILED) {
    perror("mmap");
    abort();
  }
  w->counter = counter;
  w->raised = 0;
  w->raiser = NULL;
  CALL(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &w->semaphore, &err));
}

/* What was raised in a stream that has come to its end is raised, and not before that. */
static void pass_semaphore(caller *w) {
  leat_stream *const stream = any_stream(w);
  if (w->semaphore == NULL) {
    return;
  }
  if (draw(w, 4) == 0) {
    renew_semaphore(w);
  }
  raise_in(w, stream);
  if (draw(w, 2) == 0) {
    CALL(h.api->stream->synchronize(stream, &err));
    if (*w->counter != w->raised) {
      (void)fprintf(stderr, "a semaphore has %llu, not %llu\n", (unsigned long long)*w->counter,
                    (unsigned long long)w->raised);
      abort();
    }
  }
}

static void check_record(const leat_profile_record *r) {
  if (r->kind < LEAT_PROFILE_LAUNCH || r->kind > LEAT_PROFILE_COMPILE || r->end_ns < r->begin_ns ||
      r->busy_ns > r->end_ns - r->begin_ns || memchr(r->op, 0, sizeof(r->op)) == NULL ||
      memchr(r->name, 0, sizeof(r->name)) == NULL) {
    (void)fprintf(stderr, "a record of kind %u from %llu to %llu ns, busy for %llu\n", r->kind,
                  (unsigned long long)r->begin_ns, (unsigned long long)r->end_ns, (unsigned long long)r->busy_ns);
    abort();
  }
}

/* The profiler, which all callers share: any of them may start it, stop it and take records out. */
static void act_on_profiler(caller *w) {
  const leat_profiler_api *const profiler = h.api->profiler;
  leat_profiler_info info = {.struct_size = sizeof(info)};
  leat_profile_record records[RECORDS];
  uint32_t count = (uint32_t)draw(w, RECORDS + 1);
  if (!profiles) {
    return;
  }
  switch (draw(w, 6)) {
    case 0:
    case 1:
      CALL_OR(LEAT_ERROR_BUSY, profiler->start(h.device, 1 + (uint32_t)draw(w, 200), 0, &err));
      break;
    case 2:
      CALL(profiler->stop(h.device, &err));
      break;
    case 3:
      CALL(profiler->info(h.device, &info, &err));
      if (info.pending_count > info.capacity) {
        (void)fprintf(stderr, "%llu records where there is room for %u\n", (unsigned long long)info.pending_count,
                      info.capacity);
        abort();
      }
      break;
    default:
      for (uint32_t i = 0; i < count; ++i) {
        records[i].struct_size = sizeof(records[i]);
      }
      CALL(profiler->read(h.device, &count, records, &err));
      for (uint32_t i = 0; i < count; ++i) {
        check_record(&records[i]);
      }
  }
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
  leat_external_info external = {.struct_size = sizeof(external)};
  HOST_NEED(h.api->external->info(h.device, &external, &err));
  /* To another driver a plain file is no memory. */
  shares = nulldriver_live(NULLDRIVER_DEVICE) != 0 && external.memory_handles != 0 && external.semaphore_handles != 0;
  profiles = h.api->profiler->start(h.device, 1, 0, NULL) == LEAT_OK;
  HOST_NEED(h.api->profiler->stop(h.device, &err));
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
  if (shares) {
    renew_semaphore(w);
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
    case 8:
    case 9:
    case 10:
      pass_semaphore(w);
      break;
    case 11:
    case 12:
    case 13:
    case 14:
      act_on_profiler(w);
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
  if (w->semaphore != NULL) {
    CALL(h.api->external->destroy_semaphore(w->semaphore, &err));
    (void)munmap((void *)(uintptr_t)w->counter, 2 * sizeof(uint64_t));
  }
  CALL(h.api->stream->destroy(w->own, &err));
  close_relu(w);
  free(w->data);
  free(w);
}
