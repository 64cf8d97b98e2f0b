/* SPDX-License-Identifier: BSD-3-Clause */
/* Large downloads: in pieces on a device with memory of its own, each copied to the host while the next is on its way,
 * and without holding up whoever else uses the stream. What arrives is as if they went whole. */
#include "unit_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/sync.h"
#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/allocation.h"
#include "streams/staged_copy.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

/* Floats of a download that goes in PIECES, the last of which is smaller than the others. */
enum { PIECES = 3, FLOATS = PIECES * (int)(LEATI_DOWNLOAD_PIECE / sizeof(float)) + 1001 };
#define BYTES (FLOATS * sizeof(float))

static int64_t floats = FLOATS;

/* A block of so many floats, and host memory. */
typedef struct large {
  uint64_t block;
  float in[FLOATS], out[FLOATS];
} large;

/* Floats of a piece. */
static int64_t piece_floats(void) {
  return (int64_t)(leati_download_piece(&h.device->traits, BYTES) / sizeof(float));
}

/* Before a test: a GPU with memory of its own. */
static int before(void **state) {
  const int status = host_before(state);
  host_be_discrete();
  return status;
}

static void put_in(large *l, leat_stream *stream, uint32_t seed) {
  const DLTensor from = host_tensor(l->in, &floats), to = device_tensor(l->block, &floats);
  host_fill(l->in, FLOATS, (host_content){.seed = seed});
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
}

static void clear_out(large *l) {
  memset(l->out, 0xff, sizeof(l->out));
}

static int32_t get_out(large *l, leat_stream *stream) {
  const DLTensor from = device_tensor(l->block, &floats), to = host_tensor(l->out, &floats);
  return h.api->memory->copy(stream, &from, &to, NULL);
}

/* The first float of the download that is not as it should be, or -1. */
static int64_t wrong(const large *l, uint32_t seed) {
  return host_compare(l->out, FLOATS, (host_content){.seed = seed});
}

/* A stream with a large block that holds floats, and nothing in flight. */
static leat_stream *make_large(large *l, uint32_t seed) {
  leat_stream *const stream = make_stream();
  assert_ok(h.api->memory->alloc(h.device, BYTES, stream, &l->block, &err));
  put_in(l, stream, seed);
  assert_ok(h.api->stream->synchronize(stream, &err));
  clear_out(l);
  return stream;
}

static void drop_large(large *l, leat_stream *stream) {
  assert_ok(h.api->memory->free(h.device, l->block, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
}

/* Copies that were written since `before`. */
static uint64_t copies_since(uint64_t before) {
  return nulldriver_calls("vkCmdCopyBuffer") - before;
}

/* ---- What arrives --------------------------------------------------------------------------------------------------
 */

static void contents_are_right_in_every_mode(void **state) {
  (void)state;
  static large l;
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_LATE, NULLDRIVER_SHUFFLED,
                                          NULLDRIVER_THREADED};
  open_device();
  leat_stream *const stream = make_large(&l, 0);
  for (uint32_t i = 0; i < 2 * sizeof(modes) / sizeof(modes[0]); ++i) {
    nulldriver_set_mode(modes[i / 2], 5);
    put_in(&l, stream, i);
    const uint64_t before = nulldriver_calls("vkCmdCopyBuffer");
    clear_out(&l);
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(wrong(&l, i), -1);
    /* The upload and the first piece are of a list that a command buffer holds from then on. */
    assert_int_equal(copies_since(before), i == 0 ? PIECES + 1 : PIECES - 1);
  }
  /* A part of the block, which goes in as many, to a part of the destination. */
  int64_t part = FLOATS - 7;
  const DLTensor from = device_tensor(l.block + 12, &part), to = host_tensor(l.out + 5, &part);
  clear_out(&l);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  for (int64_t i = 0; i < part; ++i) {
    assert_true(l.out[i + 5] == l.in[i + 3]);
  }
  assert_true(l.out[4] != l.out[4] && l.out[FLOATS - 2] != l.out[FLOATS - 2]);
  drop_large(&l, stream);
  close_device();
}

static void what_is_small_or_crosses_no_bus_goes_whole(void **state) {
  (void)state;
  static large l;
  static const VkPhysicalDeviceType types[] = {VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                                               VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, VK_PHYSICAL_DEVICE_TYPE_CPU};
  for (int i = 0; i < 3; ++i) {
    nulldriver_shape shape = nulldriver_get_shape();
    shape.type = types[i];
    nulldriver_set_shape(&shape);
    open_device();
    leat_stream *const stream = make_large(&l, 1);
    int64_t few = (int64_t)(2 * LEATI_DOWNLOAD_PIECE / sizeof(float)) - 1;
    const DLTensor from = device_tensor(l.block, &few), to = host_tensor(l.out, &few);
    uint64_t before = nulldriver_calls("vkCmdCopyBuffer");
    assert_ok(h.api->memory->copy(stream, &from, &to, &err));
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(copies_since(before), 1);
    before = nulldriver_calls("vkCmdCopyBuffer");
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(copies_since(before), i == 0 ? PIECES : 1);
    assert_int_equal(wrong(&l, 1), -1);
    drop_large(&l, stream);
    close_device();
  }
}

/* Two downloads to one place: the later one stays, on one stream and on two that an event orders. What was in the block
 * goes before what is uploaded behind the download. */
static void order_is_kept(void **state) {
  (void)state;
  static large a, b;
  static float *const to_same = a.out;
  open_device();
  leat_stream *const first = make_large(&a, 1), *const second = make_large(&b, 2);
  leat_event *const event = make_event();
  const DLTensor to = host_tensor(to_same, &floats), from_a = device_tensor(a.block, &floats),
                 from_b = device_tensor(b.block, &floats);
  for (uint32_t seed = 0; seed < 6; ++seed) {
    nulldriver_set_mode(seed % 2 == 0 ? NULLDRIVER_SHUFFLED : NULLDRIVER_THREADED, seed + 1);
    leat_stream *const then = seed < 2 ? first : second;
    assert_ok(h.api->memory->copy(first, &from_a, &to, &err));
    assert_ok(h.api->event->record(event, first, &err));
    assert_ok(h.api->stream->wait_event(then, event, &err));
    assert_ok(h.api->memory->copy(then, &from_b, &to, &err));
    assert_ok(h.api->stream->synchronize(then, &err));
    assert_int_equal(wrong(&a, 2), -1);
    assert_int_equal(get_out(&b, second), LEAT_OK);
    put_in(&b, second, 3);
    put_in(&b, second, 2);
    assert_ok(h.api->stream->synchronize(second, &err));
    assert_int_equal(wrong(&b, 2), -1);
    assert_ok(h.api->stream->synchronize(first, &err));
  }
  assert_ok(h.api->event->destroy(event, &err));
  drop_large(&a, first);
  drop_large(&b, second);
  close_device();
}

/* An upload of the last piece of a large block, and a download of all of it. `*barrier`: one is put between them. */
typedef struct end_and_all {
  const large *l;
  bool *barrier;
} end_and_all;

static int32_t record_end_and_all(leati_recorder *recorder, const void *what, leat_error *err) {
  const end_and_all *const job = what;
  const large *const l = job->l;
  const int64_t begin = (FLOATS - 1) / piece_floats() * piece_floats();
  int64_t left = FLOATS - begin;
  const DLTensor in = host_tensor((void *)(uintptr_t)(l->in + begin), &left),
                 end = device_tensor(l->block + (uint64_t)begin * sizeof(float), &left),
                 block = device_tensor(l->block, &floats), out = host_tensor((void *)(uintptr_t)l->out, &floats);
  leati_view from, to, all, whole;
  LEATI_TRY(leati_view_import(h.device, &in, "the end", &from, err));
  LEATI_TRY(leati_view_import(h.device, &end, "the block's end", &to, err));
  LEATI_TRY(leati_view_import(h.device, &block, "the block", &all, err));
  LEATI_TRY(leati_view_import(h.device, &out, "the destination", &whole, err));
  LEATI_TRY(leati_record_copy(recorder, &from, &to, err));
  LEATI_TRY(leati_record_copy(recorder, &all, &whole, err));
  const leati_submission *const open = recorder->stream->open;
  *job->barrier = open->commands[open->command_count - 1].barrier;
  return LEAT_OK;
}

/* The first piece has the barrier for what only a later one reads. */
static void what_a_later_piece_reads_is_waited_for(void **state) {
  (void)state;
  static large l;
  bool barrier = false;
  open_device();
  leat_stream *const stream = make_large(&l, 6);
  assert_ok(leati_record(stream, record_end_and_all, &(end_and_all){.l = &l, .barrier = &barrier}, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_true(barrier);
  assert_int_equal(wrong(&l, 6), -1);
  drop_large(&l, stream);
  close_device();
}

/* ---- Staging that is kept ------------------------------------------------------------------------------------------
 */

/* Uploads of other sizes may have filled what is kept before: a download that is made again finds its staging. */
static void staging_is_kept_for_what_comes_again(void **state) {
  (void)state;
  enum { UPLOADS = 4 };
  static large l;
  /* With the chunk by which `l` is filled they leave less room than a piece of its download takes. */
  const uint64_t each = (LEATI_CHUNKS_LARGE_KEPT_MAX - leati_chunk_size_for(0, BYTES)) / UPLOADS;
  int64_t many = (int64_t)((each & ~(LEATI_CHUNK_GRANULE - 1)) / sizeof(float));
  float *const bytes = calloc((size_t)many, sizeof(float));
  uint64_t block;
  assert_non_null(bytes);
  open_device();
  leat_stream *const stream = make_large(&l, 0);
  assert_ok(h.api->memory->alloc(h.device, (uint64_t)many * sizeof(float), stream, &block, &err));
  const DLTensor from = host_tensor(bytes, &many), to = device_tensor(block, &many);
  nulldriver_set_mode(NULLDRIVER_LAZY, 0); /* none is done before the last is on its way */
  for (int i = 0; i < UPLOADS; ++i) {
    assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  uint64_t allocations = 0;
  for (int i = 0; i < 3; ++i) {
    clear_out(&l);
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(wrong(&l, 0), -1);
    if (i == 0) {
      allocations = nulldriver_calls("vkAllocateMemory");
    }
  }
  assert_int_equal(nulldriver_calls("vkAllocateMemory"), allocations);
  free(bytes);
  assert_ok(h.api->memory->free(h.device, block, &err));
  drop_large(&l, stream);
  close_device();
}

/* Streams that begin together take their staging from one piece of memory of each kind. */
static void streams_that_begin_together_share_memory(void **state) {
  (void)state;
  enum { STREAMS = LEATI_CHUNKS_PER_SLAB };
  static blocks t[STREAMS];
  leat_stream *streams[STREAMS];
  open_device();
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = make_stream();
    take_blocks(&t[i], streams[i]);
  }
  nulldriver_set_mode(NULLDRIVER_HELD, 0); /* none gives its chunks back */
  const uint64_t allocations = nulldriver_calls("vkAllocateMemory");
  for (int i = 0; i < STREAMS; ++i) {
    assert_int_equal(upload(&t[i], streams[i], (uint32_t)i), LEAT_OK);
    assert_int_equal(rectify(&t[i], streams[i]), LEAT_OK);
    assert_int_equal(download(&t[i], streams[i]), LEAT_OK);
  }
  assert_in_range(nulldriver_calls("vkAllocateMemory") - allocations, 1, LEATI_CHUNK_KINDS);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(h.api->stream->synchronize(streams[i], &err));
    assert_arrived(&t[i], (uint32_t)i);
    give_blocks(&t[i]);
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  close_device();
}

/* A slab of which a stream has a chunk stays whole: nothing would come back for the rest, and it would be made anew. */
static void trimming_leaves_slabs_in_use(void **state) {
  (void)state;
  leati_chunk *first, *second;
  open_device();
  assert_ok(leati_chunks_take(h.device, 1, LEATI_CHUNK_UPLOAD, 1, &first, &err));
  const uint64_t bytes = leati_chunks_bytes(h.device);
  assert_int_equal(leati_chunks_trim(h.device), 0);
  assert_ok(leati_chunks_take(h.device, 1, LEATI_CHUNK_UPLOAD, 1, &second, &err));
  assert_int_equal(leati_chunks_bytes(h.device), bytes);
  leati_chunks_give(h.device, first);
  leati_chunks_give(h.device, second);
  assert_int_equal(leati_chunks_trim(h.device), LEATI_CHUNKS_PER_SLAB * LEATI_CHUNK_COPY_SIZE);
  close_device();
}

/* ---- Memory --------------------------------------------------------------------------------------------------------
 */

/* A copy of a large block to a temporary one, and its download. */
static int32_t record_by_temporary(leati_recorder *recorder, const void *what, leat_error *err) {
  const large *const l = what;
  const DLTensor block = device_tensor(l->block, &floats), out = host_tensor(l->out, &floats);
  leati_view from, temporary, to;
  leati_binding binding;
  LEATI_TRY(leati_view_import(h.device, &block, "the block", &from, err));
  LEATI_TRY(leati_view_import(h.device, &out, "the destination", &to, err));
  LEATI_TRY(leati_record_temporary(recorder, BYTES, &binding, err));
  temporary = from;
  temporary.block = binding.block;
  temporary.address = temporary.begin = binding.address;
  temporary.end = binding.address + BYTES;
  LEATI_TRY(leati_record_copy(recorder, &from, &temporary, err));
  return leati_record_copy(recorder, &temporary, &to, err);
}

/* Neither a temporary block nor one that is freed at once serves others before its last piece has gone. */
static void memory_is_kept_until_the_last_piece(void **state) {
  (void)state;
  static large l;
  open_device();
  leat_stream *const stream = make_large(&l, 4), *const other = make_stream();
  for (int temporary = 1; temporary >= 0; --temporary) {
    uint64_t taken[2];
    clear_out(&l);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    if (temporary) {
      assert_ok(leati_record(stream, record_by_temporary, &l, &err));
    } else {
      assert_int_equal(get_out(&l, stream), LEAT_OK);
      assert_ok(h.api->memory->free(h.device, l.block, &err));
    }
    const uint64_t reused = l.block;
    /* All but the last piece. */
    assert_int_equal(nulldriver_step(PIECES - 1), PIECES - 1);
    for (int i = 0; i < 2; ++i) {
      const DLTensor from = host_tensor(l.in, &floats);
      assert_ok(h.api->memory->alloc(h.device, BYTES, other, &taken[i], &err));
      assert_true(temporary || taken[i] != reused);
      const DLTensor to = device_tensor(taken[i], &floats);
      memset(l.in, 0, sizeof(l.in));
      assert_ok(h.api->memory->copy(other, &from, &to, &err));
    }
    assert_ok(h.api->stream->flush(other, &err));
    /* The queue of the other stream goes first if it has one of its own. */
    nulldriver_set_mode(NULLDRIVER_SHUFFLED, 3);
    assert_ok(h.api->stream->synchronize(other, &err));
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(wrong(&l, 4), -1);
    for (int i = 0; i < 2; ++i) {
      assert_ok(h.api->memory->free(h.device, taken[i], &err));
    }
  }
  assert_ok(h.api->stream->destroy(other, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* The download alone, as a part of an operation. */
static int32_t record_out(leati_recorder *recorder, const void *what, leat_error *err) {
  const large *const l = what;
  const DLTensor block = device_tensor(l->block, &floats), out = host_tensor(l->out, &floats);
  leati_view from, to;
  LEATI_TRY(leati_view_import(h.device, &block, "the block", &from, err));
  LEATI_TRY(leati_view_import(h.device, &out, "the destination", &to, err));
  return leati_record_copy(recorder, &from, &to, err);
}

/* A download that finds no memory for one of its pieces, the first of all included, changes nothing; one that is an
 * operation of its own takes what the device has in reserve. */
static void without_memory_for_a_piece_nothing_happens(void **state) {
  static large l;
  static blocks t;
  static const uint64_t heaps[] = {BYTES * 7 / 4, BYTES * 2};
  for (int k = 0; k < 2; ++k) {
    (void)before(state);
    nulldriver_shape shape = nulldriver_get_shape();
    shape.device_heap = heaps[k];
    nulldriver_set_shape(&shape);
    open_device();
    leat_stream *const stream = make_stream();
    take_blocks(&t, stream);
    assert_ok(h.api->memory->alloc(h.device, BYTES, stream, &l.block, &err));
    clear_out(&l);
    assert_int_equal(upload(&t, stream, 1), LEAT_OK);
    assert_int_equal(rectify(&t, stream), LEAT_OK);
    const uint64_t copies = nulldriver_calls("vkCmdCopyBuffer");
    assert_int_equal(leati_record(stream, record_out, &l, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(download(&t, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, 1);
    assert_int_equal(copies_since(copies), 0);
    for (int64_t i = 0; i < FLOATS; ++i) {
      assert_true(l.out[i] != l.out[i]);
    }
    put_in(&l, stream, 2);
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_int_equal(wrong(&l, 2), -1);
    give_blocks(&t);
    drop_large(&l, stream);
    close_device();
  }
}

/* ---- While the rest runs -------------------------------------------------------------------------------------------
 */

static void *wait_for_event(void *event) {
  HOST_NEED(h.api->event->wait(event, -1, &err));
  return NULL;
}

/* Waits until a stream has come to a value, because another thread waits for a later one; false: it does not. */
static bool comes_to(leat_stream *stream, uint64_t value) {
  const struct timespec nap = {.tv_nsec = 1000000};
  const leati_timeline *const timeline = stream->timeline;
  for (int i = 0; i < 10000 && atomic_load(&timeline->completed) < value; ++i) {
    (void)nanosleep(&nap, NULL);
  }
  return atomic_load(&timeline->completed) == value;
}

static void a_wait_copies_what_has_come(void **state) {
  (void)state;
  static large l;
  static const char *const spins[] = {NULL, "0", "1000000"};
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    open_configured("LEAT_WAIT_SPIN_US", spins[i]);
    leat_stream *const stream = make_large(&l, 5);
    leat_event *const event = make_event();
    const int64_t piece = piece_floats();
    const uint64_t before_it = atomic_load(&stream->timeline->completed);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_ok(h.api->event->record(event, stream, &err));
    start_thread(&thread, wait_for_event, event);
    for (int64_t k = 0; k < PIECES; ++k) {
      const int64_t end = k == PIECES - 1 ? FLOATS : (k + 1) * piece;
      assert_int_equal(nulldriver_step(1), 1);
      assert_true(comes_to(stream, before_it + (uint64_t)k + 1));
      const int64_t first = wrong(&l, 5);
      assert_int_equal(first, k == PIECES - 1 ? -1 : end);
    }
    join_thread(thread);
    assert_int_equal(wrong(&l, 5), -1);
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    assert_ok(h.api->event->destroy(event, &err));
    drop_large(&l, stream);
    close_configured("LEAT_WAIT_SPIN_US");
  }
}

/* The thread that copies a delivery without its timeline's lock is held in front of it. In place of
 * leati_mutex_unlock(), by the linker. */
static atomic_bool hold_copy, copy_held;

void __real_leati_mutex_unlock(leati_mutex *mutex);
void __wrap_leati_mutex_unlock(leati_mutex *mutex);
void __wrap_leati_mutex_unlock(leati_mutex *mutex) {
  const bool copies =
      mutex->rank == LEATI_RANK_TIMELINE &&
      ((const leati_timeline *)(const void *)((const char *)mutex - offsetof(leati_timeline, lock)))->copied != NULL;
  __real_leati_mutex_unlock(mutex);
  if (copies && atomic_exchange(&hold_copy, false)) {
    atomic_store(&copy_held, true);
    while (atomic_load(&copy_held)) {
      (void)usleep(100);
    }
  }
}

static void wait_until_held(void) {
  while (!atomic_load(&copy_held)) {
    (void)usleep(100);
  }
}

static void *retire_all(void *unused) {
  (void)unused;
  HOST_NEED(h.api->memory->trim(h.device, NULL, &err));
  HOST_NEED(h.api->device->synchronize(h.device, &err));
  return NULL;
}

/* Whoever looks at the stream, or puts more into it, does not wait for the copy. */
static void who_copies_holds_nobody_up(void **state) {
  (void)state;
  static large l;
  static blocks t;
  pthread_t thread;
  open_device();
  leat_stream *const stream = make_large(&l, 6);
  leat_event *const event = make_event();
  take_blocks(&t, NULL);
  assert_int_equal(get_out(&l, stream), LEAT_OK);
  atomic_store(&hold_copy, true);
  start_thread(&thread, retire_all, NULL);
  wait_until_held();
  assert_int_equal(put_run(&t, stream, 1), LEAT_OK);
  assert_ok(h.api->event->record(event, stream, &err));
  assert_ok(h.api->stream->flush(stream, &err));
  leat_stream *const other = make_stream();
  assert_int_equal(put_run(&t, other, 2), LEAT_OK);
  assert_ok(h.api->stream->synchronize(other, &err));
  assert_arrived(&t, 2);
  atomic_store(&copy_held, false);
  join_thread(thread);
  assert_ok(h.api->event->wait(event, -1, &err));
  assert_int_equal(wrong(&l, 6), -1);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(other, &err));
  assert_ok(h.api->event->destroy(event, &err));
  drop_large(&l, stream);
  close_device();
}

/* What lets go of the last that asks for a download. */
typedef struct last_holder {
  leat_stream *stream; /* NULL: the event */
  leat_event *event, *other;
  atomic_bool done;
} last_holder;

static void *let_go(void *argument) {
  last_holder *const last = argument;
  if (last->stream != NULL) {
    HOST_NEED(h.api->stream->destroy(last->stream, &err));
  } else {
    HOST_NEED(h.api->event->destroy(last->event, &err));
  }
  atomic_store(&last->done, true);
  return NULL;
}

/* Nothing is written to a destination once stream and events are destroyed, though another thread was about to. */
static void a_destination_is_left_alone_when_nobody_can_ask(void **state) {
  (void)state;
  static large l;
  for (int by_event = 0; by_event < 2; ++by_event) {
    pthread_t thread, destroyer;
    open_device();
    leat_stream *const stream = make_large(&l, 7);
    last_holder last = {.stream = by_event ? NULL : stream};
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    if (by_event) {
      last.event = make_event();
      assert_ok(h.api->event->record(last.event, stream, &err));
      assert_ok(h.api->stream->destroy(stream, &err));
    }
    atomic_store(&hold_copy, true);
    start_thread(&thread, retire_all, NULL);
    wait_until_held();
    start_thread(&destroyer, let_go, &last);
    (void)usleep(50000);
    assert_false(atomic_load(&last.done));
    atomic_store(&copy_held, false);
    join_thread(destroyer);
    clear_out(&l);
    join_thread(thread);
    for (int64_t i = 0; i < FLOATS; ++i) {
      assert_true(l.out[i] != l.out[i]);
    }
    assert_ok(h.api->memory->free(h.device, l.block, &err));
    close_device();
  }
}

/* ---- On the queue --------------------------------------------------------------------------------------------------
 */

/* Lets lists gather on the one lane in use, as if a thread attended it, and have it two batches in flight. */
static leati_lane *let_gather(leat_stream *const streams[2], blocks *t) {
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
  atomic_store_explicit(&lane->batching.ended, UINT64_MAX, memory_order_relaxed);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(rectify(&t[i], streams[i]), LEAT_OK);
    assert_ok(h.api->stream->flush(streams[i], &err));
  }
  leati_lane_attend(lane);
  return lane;
}

/* Lists that meet still share a command buffer if one of them ends with a large download: its later pieces go behind.
 * They count as one batch with it: one more is taken behind them. */
static void pieces_do_not_keep_lists_apart(void **state) {
  (void)state;
  static large l;
  static blocks t[5];
  open_configured("LEAT_LANES", "1");
  leat_stream *const stream = make_large(&l, 8);
  leat_stream *streams[5];
  for (int i = 0; i < 5; ++i) {
    streams[i] = make_stream();
    take_blocks(&t[i], NULL);
  }
  leati_lane *const lane = let_gather(streams, t);
  const uint64_t written = nulldriver_calls("vkBeginCommandBuffer"), calls = nulldriver_calls("vkQueueSubmit");
  assert_int_equal(get_out(&l, stream), LEAT_OK);
  assert_int_equal(rectify(&t[2], streams[2]), LEAT_OK);
  assert_ok(h.api->stream->flush(streams[2], &err));
  assert_int_equal(nulldriver_calls("vkQueueSubmit"), calls);
  assert_int_equal(nulldriver_step(1), 1);
  leati_lane_help(lane);
  assert_int_equal(nulldriver_calls("vkQueueSubmit") - calls, 2);
  assert_int_equal(nulldriver_calls("vkBeginCommandBuffer") - written, PIECES);
  /* The two that came first have run; what meets now goes while the pieces are under way. */
  assert_int_equal(nulldriver_step(1), 1);
  assert_int_equal(rectify(&t[3], streams[3]), LEAT_OK);
  assert_ok(h.api->stream->flush(streams[3], &err));
  assert_int_equal(nulldriver_calls("vkQueueSubmit") - calls, 3);
  assert_int_equal(rectify(&t[4], streams[4]), LEAT_OK);
  assert_ok(h.api->stream->flush(streams[4], &err));
  assert_int_equal(nulldriver_calls("vkQueueSubmit") - calls, 3);
  leati_lane_leave(lane, true);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  assert_int_equal(wrong(&l, 8), -1);
  for (int i = 0; i < 5; ++i) {
    give_blocks(&t[i]);
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  drop_large(&l, stream);
  close_configured("LEAT_LANES");
}

/* A list that waits for another API does not get before pieces: what raises the semaphore may need what they bring. */
static void pieces_are_not_put_behind_what_waits(void **state) {
  (void)state;
  static large l;
  static blocks t[3];
  open_configured("LEAT_LANES", "1");
  leat_stream *const stream = make_large(&l, 9);
  leat_stream *streams[3];
  leat_event *const event = make_event();
  leat_semaphore *semaphore;
  char name[] = "/tmp/leat-pieces-XXXXXX";
  const int fd = mkstemp(name);
  assert_true(fd >= 0 && unlink(name) == 0 && ftruncate(fd, 2 * sizeof(uint64_t)) == 0);
  assert_ok(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &err));
  for (int i = 0; i < 3; ++i) {
    streams[i] = make_stream();
    take_blocks(&t[i], NULL);
  }
  leati_lane *const lane = let_gather(streams, t);
  assert_int_equal(get_out(&l, stream), LEAT_OK);
  assert_ok(h.api->event->record(event, stream, &err));
  assert_ok(h.api->external->wait(streams[2], semaphore, 1, &err));
  assert_int_equal(rectify(&t[2], streams[2]), LEAT_OK);
  assert_ok(h.api->stream->flush(streams[2], &err));
  assert_int_equal(nulldriver_step(1), 1);
  leati_lane_leave(lane, true);
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  assert_ok(h.api->event->wait(event, INT64_C(5000000000), &err));
  assert_int_equal(wrong(&l, 9), -1);
  /* On another queue it would be raised by whoever has read that. */
  assert_ok(h.api->external->destroy_semaphore(semaphore, &err));
  nulldriver_lose_device();
  (void)h.api->device->synchronize(h.device, NULL);
  assert_ok(h.api->event->destroy(event, &err));
  for (int i = 0; i < 3; ++i) {
    give_blocks(&t[i]);
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  drop_large(&l, stream);
  close_configured("LEAT_LANES");
}

/* ---- Failures ------------------------------------------------------------------------------------------------------
 */

/* The first call has the download's list, the second its later pieces. */
static void a_failure_is_told_whichever_piece_it_meets(void **state) {
  (void)state;
  static large l;
  open_device();
  leat_stream *const stream = make_large(&l, 10);
  leat_event *const event = make_event();
  for (uint64_t call = 1; call <= 2; ++call) {
    clear_out(&l);
    assert_true(nulldriver_fail("vkQueueSubmit", call, VK_ERROR_OUT_OF_DEVICE_MEMORY));
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_int_equal(h.api->event->record(event, stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(h.api->event->wait(event, -1, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
    /* What was submitted before has arrived, and nothing of what was lost. */
    const int64_t first = wrong(&l, 10);
    assert_int_equal(first, call == 1 ? 0 : piece_floats());
    for (int64_t i = first; i < FLOATS; ++i) {
      assert_true(l.out[i] != l.out[i]);
    }
    assert_ok(h.api->stream->clear_error(stream, &err));
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(wrong(&l, 10), -1);
  }
  assert_ok(h.api->event->destroy(event, &err));
  drop_large(&l, stream);
  close_device();
}

static void the_device_may_be_lost_between_pieces(void **state) {
  (void)state;
  static large l;
  for (uint32_t steps = 0; steps < PIECES; ++steps) {
    open_device();
    leat_stream *const stream = make_large(&l, 11);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    assert_int_equal(nulldriver_step(steps), steps);
    nulldriver_lose_device();
    assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_DEVICE_LOST);
    drop_large(&l, stream);
    close_device();
    (void)before(state);
  }
}

/* An event keeps all pieces wanted when the stream is gone; without one nothing of them is written any more. */
static void a_stream_may_go_while_pieces_are_in_flight(void **state) {
  (void)state;
  static large l;
  for (int covered = 0; covered < 2; ++covered) {
    open_device();
    leat_stream *const stream = make_large(&l, 12);
    leat_event *const event = make_event();
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(get_out(&l, stream), LEAT_OK);
    if (covered) {
      assert_ok(h.api->event->record(event, stream, &err));
    }
    assert_int_equal(nulldriver_step(1), 1);
    drop_large(&l, stream);
    clear_out(&l);
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    assert_ok(h.api->event->wait(event, -1, &err));
    assert_ok(h.api->device->synchronize(h.device, &err));
    const int64_t first = wrong(&l, 12);
    assert_int_equal(first, covered ? -1 : 0);
    assert_ok(h.api->event->destroy(event, &err));
    close_device();
  }
}

/* ---- Profiles ------------------------------------------------------------------------------------------------------
 */

/* Each piece has its own times, and is a download. */
static void each_piece_is_in_a_profile(void **state) {
  (void)state;
  static large l;
  static leat_profile_record records[64];
  uint32_t n = 64, copies = 0, launches = 0;
  for (uint32_t i = 0; i < n; ++i) {
    records[i].struct_size = sizeof(records[i]);
  }
  open_device();
  leat_stream *const stream = make_large(&l, 13);
  assert_ok(h.api->profiler->start(h.device, 0, 0, &err));
  assert_int_equal(get_out(&l, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_ok(h.api->profiler->stop(h.device, &err));
  assert_ok(h.api->profiler->read(h.device, &n, records, &err));
  for (uint32_t i = 0; i < n; ++i) {
    copies += records[i].kind == LEAT_PROFILE_COPY && strcmp(records[i].op, "download") == 0;
    launches += records[i].kind == LEAT_PROFILE_LAUNCH;
  }
  assert_int_equal(copies, PIECES);
  assert_int_equal(launches, PIECES);
  assert_int_equal(wrong(&l, 13), -1);
  drop_large(&l, stream);
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, before, host_after)
      CASE(contents_are_right_in_every_mode),
      CASE(staging_is_kept_for_what_comes_again),
      CASE(streams_that_begin_together_share_memory),
      CASE(trimming_leaves_slabs_in_use),
      CASE(what_is_small_or_crosses_no_bus_goes_whole),
      CASE(order_is_kept),
      CASE(what_a_later_piece_reads_is_waited_for),
      CASE(memory_is_kept_until_the_last_piece),
      CASE(without_memory_for_a_piece_nothing_happens),
      CASE(a_wait_copies_what_has_come),
      CASE(who_copies_holds_nobody_up),
      CASE(a_destination_is_left_alone_when_nobody_can_ask),
      CASE(pieces_do_not_keep_lists_apart),
      CASE(pieces_are_not_put_behind_what_waits),
      CASE(a_failure_is_told_whichever_piece_it_meets),
      CASE(the_device_may_be_lost_between_pieces),
      CASE(a_stream_may_go_while_pieces_are_in_flight),
      CASE(each_piece_is_in_a_profile),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.pieces", tests, NULL, NULL);
}
