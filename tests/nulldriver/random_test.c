/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make calls of the ABI at random, on the null driver with a thread for each queue (or as NULLDRIVER_MODE
 * says), or on the machine's own driver (any_driver.c). Each thread knows what must be in its own blocks, whatever the
 * streams, which all threads share, do in between. With --runs, each thread does so many runs of upload, operator, copy
 * and download on a stream of its own instead. With --large, some blocks are so large that downloads of them go in
 * pieces.
 */
#include <glib.h>
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

static gint thread_count = 8, call_count = 2000, run_count = 0, seed_option = 1, large_option = 0;

/* A block of a thread's, with what is in it in stream order. */
typedef struct block {
  uint64_t address; /* 0: none */
  int64_t count;
  bool filled;
  host_content content;
  leat_stream *last; /* stream of its last use; NULL: that use is before `ready`, or there is none */
  leat_event *ready; /* NULL: all threads read the block, nobody writes it any more */
} block;

static block constants[CONSTANTS];

typedef struct worker {
  pthread_t thread;
  uint64_t random;
  uint64_t calls;
  leat_stream *own;    /* or NULL */
  leat_event *span[2]; /* with timing; NULL: this driver has none */
  block blocks[BLOCKS];
  leat_op *relu;
  float *data; /* as many as a block has at most */
} worker;

static uint64_t draw(worker *w, uint64_t below) {
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

static leat_stream *any_stream(worker *w) {
  return w->own != NULL && draw(w, 3) == 0 ? w->own : shared_streams[draw(w, SHARED_STREAMS)];
}

/* Orders what follows in the stream behind the block's last use. */
static void use_on(worker *w, block *b, leat_stream *stream) {
  if (b->ready != NULL && b->last != stream) {
    if (b->last != NULL) {
      CALL(h.api->event->record(b->ready, b->last, &err));
    }
    CALL(h.api->stream->wait_event(stream, b->ready, &err));
    b->last = stream;
  }
}

/* The stream goes out of reach: its last uses are kept as events. */
static void leave(worker *w, const leat_stream *stream) {
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

static void take_block(worker *w, block *b) {
  leat_stream *const stream = draw(w, 2) == 0 ? any_stream(w) : NULL;
  const bool large = large_option != 0 && draw(w, (uint64_t)large_option) == 0;
  *b = (block){.count = large ? FLOATS_LARGE : 1 + (int64_t)draw(w, FLOATS_MAX), .last = stream};
  CALL(h.api->event->create(h.device, 0, &b->ready, &err));
  CALL(h.api->memory->alloc(h.device, (uint64_t)b->count * sizeof(float), stream, &b->address, &err));
}

static void give_block(worker *w, block *b) {
  CALL(h.api->memory->free(h.device, b->address, &err));
  CALL(h.api->event->destroy(b->ready, &err));
  b->address = 0;
}

static void upload(worker *w, block *b, leat_stream *stream) {
  const host_content content = {.seed = (uint32_t)draw(w, UINT32_MAX)};
  const DLTensor from = host_tensor(w->data, &b->count), to = device_tensor(b->address, &b->count);
  host_fill(w->data, b->count, content);
  use_on(w, b, stream);
  CALL(h.api->memory->copy(stream, &from, &to, &err));
  b->filled = true;
  b->content = content;
}

/* A copy or a Relu of what both have room for. */
static void derive(worker *w, block *from, block *to, leat_stream *stream) {
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

static void check(worker *w, block *b, leat_stream *stream) {
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

static void act_on_block(worker *w) {
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

static void act_on_stream(worker *w) {
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

static void renew_own_stream(worker *w) {
  if (w->own != NULL) {
    leave(w, w->own);
    CALL(h.api->stream->destroy(w->own, &err));
    w->own = NULL;
  } else {
    CALL(h.api->stream->create(h.device, 0, &w->own, &err));
  }
}

/* What a sync file says must be so. */
static void pass_sync_file(worker *w, leat_event *event) {
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
static void pass_event(worker *w) {
  leat_event *event;
  const bool timing = (h.api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) != 0 && draw(w, 2) == 0;
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
static void measure(worker *w) {
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

static void ask_memory(worker *w) {
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
static void pass_pool(worker *w) {
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
  worker *w;
  uint64_t ticket; /* 0: none */
  int block;
} helper;

static void *help(void *argument) {
  const helper *const it = argument;
  worker *const w = it->w;
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

static void pass_thread(worker *w) {
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

static void close_relu(worker *w) {
  CALL(h.api->op->destroy(w->relu, &err));
}

static void *act(void *argument) {
  worker *const w = argument;
  CALL(host_make_relu(&h, &w->relu, &err));
  for (int i = 0; i < 2 && (h.api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) != 0; ++i) {
    CALL_OR(LEAT_ERROR_NOT_SUPPORTED, h.api->event->create(h.device, LEAT_EVENT_TIMING, &w->span[i], &err));
  }
  while (w->calls < (uint64_t)call_count) {
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
  return NULL;
}

/* Upload, Relu, copy, download, and look; on a stream of its own, the blocks anew every time. */
static void *run(void *argument) {
  worker *const w = argument;
  CALL(host_make_relu(&h, &w->relu, &err));
  CALL(h.api->stream->create(h.device, 0, &w->own, &err));
  for (int i = 0; i < run_count; ++i) {
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
      (void)fprintf(stderr, "run %d: wrong contents\n", i);
      abort();
    }
  }
  CALL(h.api->stream->destroy(w->own, &err));
  close_relu(w);
  return NULL;
}

/* ---- The program ---------------------------------------------------------------------------------------------------
 */

static void parse(int *argc, char ***argv) {
  const GOptionEntry entries[] = {
      {"threads", 't', 0, G_OPTION_ARG_INT, &thread_count, "threads (8)", "N"},
      {"calls", 'c', 0, G_OPTION_ARG_INT, &call_count, "calls of the ABI that each thread makes at random (2000)", "N"},
      {"runs", 'r', 0, G_OPTION_ARG_INT, &run_count, "runs that each thread does instead", "N"},
      {"large", 'l', 0, G_OPTION_ARG_INT, &large_option, "one block in so many is large (0: none)", "N"},
      {"seed", 's', 0, G_OPTION_ARG_INT, &seed_option, "what is drawn (1)", "N"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  GError *error = NULL;
  GOptionContext *const context = g_option_context_new("- the plugin on the null driver, many threads at once");
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, argc, argv, &error) || *argc != 1 || thread_count < 1 || call_count < 0 ||
      run_count < 0 || large_option < 0) {
    (void)fprintf(stderr, "%s\n", error != NULL ? error->message : "threads: 1 or more, all else: 0 or more");
    exit(2);
  }
  g_option_context_free(context);
}

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

int main(int argc, char **argv) {
  parse(&argc, &argv);
  if (getenv("NULLDRIVER_MODE") == NULL) {
    nulldriver_set_mode(NULLDRIVER_THREADED, 4);
  }
  if (large_option != 0) {
    host_be_discrete();
  }
  leat_error why = {.struct_size = sizeof(why)};
  const int32_t opened = host_open(&h, &why);
  if (opened == LEAT_ERROR_UNAVAILABLE) {
    (void)fprintf(stderr, "no usable device: %s\n", why.message);
    return 77;
  }
  host_need(opened, &why, "host_open");
  for (int i = 0; i < SHARED_STREAMS; ++i) {
    HOST_NEED(h.api->stream->create(h.device, 0, &shared_streams[i], &err));
  }
  for (int i = 0; i < SHARED_EVENTS; ++i) {
    HOST_NEED(h.api->event->create(h.device, 0, &shared_events[i], &err));
  }
  make_constants();
  worker *const workers = calloc((size_t)thread_count, sizeof(*workers));
  uint64_t calls = 0;
  for (int i = 0; workers != NULL && i < thread_count; ++i) {
    workers[i].random = (uint64_t)seed_option * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i + 1;
    workers[i].data = calloc(large_option != 0 ? FLOATS_LARGE : FLOATS_MAX, sizeof(float));
    if (workers[i].data == NULL ||
        pthread_create(&workers[i].thread, NULL, run_count != 0 ? run : act, &workers[i]) != 0) {
      (void)fprintf(stderr, "thread %d could not be started\n", i);
      return 2;
    }
  }
  for (int i = 0; workers != NULL && i < thread_count; ++i) {
    (void)pthread_join(workers[i].thread, NULL);
    calls += workers[i].calls;
    free(workers[i].data);
  }
  free(workers);
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
  const uint32_t violations = host_report_violations(), leaks = host_report_leaks();
  (void)printf("%d threads, %llu calls, %llu submissions, %u violations, %u objects left\n", thread_count,
               (unsigned long long)calls, (unsigned long long)nulldriver_calls("vkQueueSubmit"), violations, leaks);
  return violations == 0 && leaks == 0 ? 0 : 1;
}
