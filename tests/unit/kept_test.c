/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporaries, and the blocks that timelines keep for them: a stream finds what it used last, also while the device
 * uses it; nobody else gets it, and it is no caller's; it goes back when memory is wanted. */
#include "memory/kept.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "device/device.h"
#include "memory/memory.h"
#include "streams/stream_state.h"
#include "unit_fixture.h"

static leat_stream *open_stream(fixture *f) {
  leat_stream *stream;
  assert_ok(f->api->stream->create(f->device, 0, &stream, &err));
  return stream;
}

static void close_stream(fixture *f, leat_stream *stream) {
  assert_ok(f->api->stream->destroy(stream, &err));
}

/* What a recording does that works with a temporary: `user` is the stream whose open list uses it, or NULL. That list
 * will go, though it has no commands. */
static leati_block *take(fixture *f, leat_stream *stream, uint64_t size, leat_stream *user) {
  leati_block *block = NULL;
  leati_mutex_lock(&stream->lock);
  assert_ok(leati_memory_take_temporary(f->device, size, stream->timeline, &block, &err));
  if (user != NULL) {
    leati_block_stamp(block, user->timeline, leati_stream_open_value(user));
    user->waiting = true;
  }
  leati_mutex_unlock(&stream->lock);
  return block;
}

static void give(fixture *f, leat_stream *stream, leati_block *block) {
  leati_mutex_lock(&stream->lock);
  leati_memory_give_temporary(f->device, stream->timeline, block);
  leati_mutex_unlock(&stream->lock);
}

static leat_memory_stats stats_of(fixture *f) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  assert_ok(f->api->memory->stats(f->device, &stats, &err));
  return stats;
}

static void a_stream_finds_what_it_used_last(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f), *const b = open_stream(f);
  leati_block *const first = take(f, a, 5000, a);
  give(f, a, first);
  leati_block *const other = take(f, b, 5000, b);
  assert_ptr_not_equal(other, first);
  uint64_t address = 0;
  assert_ok(f->api->memory->alloc(f->device, 5000, a, &address, &err));
  assert_int_not_equal(address, leati_block_address(first));
  assert_ok(f->api->memory->free(f->device, address, &err));
  /* The same class, but not the same size. */
  assert_ptr_equal(take(f, a, 5050, a), first);
  assert_int_equal(leati_block_size(first), 5050);
  /* Another one while this one is in use, and of another class. */
  leati_block *const second = take(f, a, 5000, a), *const large = take(f, a, 7000, a);
  assert_ptr_not_equal(second, first);
  assert_ptr_not_equal(large, first);
  give(f, a, first);
  give(f, a, large);
  assert_ptr_equal(take(f, a, 7000, a), large);
  assert_ptr_equal(take(f, a, 5000, a), first);
  give(f, a, first);
  give(f, a, second);
  give(f, a, large);
  give(f, b, other);
  close_stream(f, a);
  close_stream(f, b);
}

static void temporaries_are_no_callers(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  const leat_memory_stats before = stats_of(f);
  leati_block *const block = take(f, stream, 100000, stream);
  const uint64_t address = leati_block_address(block);
  for (int kept = 0; kept < 2; ++kept) {
    const leat_memory_stats now = stats_of(f);
    assert_int_equal(now.allocated_bytes, before.allocated_bytes);
    assert_int_equal(now.allocated_peak, before.allocated_peak);
    assert_int_equal(now.allocation_count, before.allocation_count);
    assert_int_equal(now.free_count, before.free_count);
    assert_int_equal(now.live_block_count, before.live_block_count);
    assert_int_equal(now.cached_bytes - before.cached_bytes, now.reserved_bytes - before.reserved_bytes);
    assert_int_equal(f->api->memory->free(f->device, address, NULL), LEAT_ERROR_INVALID_ARGUMENT);
    assert_null(leati_memory_find(f->device, address));
    if (kept == 0) {
      give(f, stream, block);
    }
  }
  close_stream(f, stream);
}

/* What another stream uses too is free for nobody until that has passed; the size class knows. */
static void what_others_use_is_not_kept(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f), *const b = open_stream(f);
  leati_block *const both = take(f, a, 9000, a);
  leati_block_stamp(both, b->timeline, leati_stream_open_value(b));
  b->waiting = true;
  give(f, a, both);
  leati_block *const next = take(f, a, 9000, a);
  assert_ptr_not_equal(next, both);
  assert_ok(f->api->stream->synchronize(b, &err));
  leati_block *const again = take(f, a, 9000, a);
  assert_ptr_equal(again, both);
  give(f, a, next);
  give(f, a, again);
  close_stream(f, a);
  close_stream(f, b);
}

static void trim_gives_back_what_is_kept(void **state) {
  enum { SIZE = 3 << 20 };
  fixture *const f = fixture_of(state);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const uint64_t before = stats_of(f).reserved_bytes;
  leat_stream *const stream = open_stream(f);
  give(f, stream, take(f, stream, SIZE, stream));
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_true(stats_of(f).reserved_bytes >= before + SIZE);
  assert_ok(f->api->stream->synchronize(stream, &err));
  leati_block *const block = take(f, stream, SIZE, stream);
  give(f, stream, block);
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_true(stats_of(f).reserved_bytes <= before);
  close_stream(f, stream);
}

/* Without a trim by the caller: an allocation for which there is no room releases it. */
static void what_is_kept_makes_room(void **state) {
  enum { STREAMS = 16, SIZE = 4 << 20 };
  fixture *const f = fixture_of(state);
  char ratio[32];
  (void)snprintf(ratio, sizeof(ratio), "%.9f", (double)(96u << 20) / (double)f->device->physical->info.memory_size);
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", ratio);
  leat_stream *streams[STREAMS];
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = open_stream(f);
    give(f, streams[i], take(f, streams[i], SIZE, streams[i]));
    assert_ok(f->api->stream->synchronize(streams[i], &err));
  }
  uint64_t address = 0;
  assert_ok(f->api->memory->alloc(f->device, 64u << 20, NULL, &address, &err));
  assert_ok(f->api->memory->free(f->device, address, &err));
  for (int i = 0; i < STREAMS; ++i) {
    close_stream(f, streams[i]);
  }
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", NULL);
}

/* A large block, and one that is in the way of another class's. */
static void what_has_no_place_goes_to_its_class(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  leati_block *const large = take(f, stream, 5 << 20, stream);
  give(f, stream, large);
  uint64_t address = 0;
  assert_ok(f->api->memory->alloc(f->device, 5 << 20, stream, &address, &err));
  assert_int_equal(address, leati_block_address(large));
  assert_ok(f->api->memory->free(f->device, address, &err));
  /* Four classes for each doubling, as many as are kept. */
  _Static_assert(LEATI_KEPT_BLOCKS == 4, "sizes of which one is twice the other have one place");
  leati_block *const small = take(f, stream, 20000, stream), *const twice = take(f, stream, 40000, stream);
  give(f, stream, small);
  give(f, stream, twice);
  assert_ok(f->api->memory->alloc(f->device, 20000, stream, &address, &err));
  assert_int_equal(address, leati_block_address(small));
  assert_ok(f->api->memory->free(f->device, address, &err));
  assert_ptr_equal(take(f, stream, 40000, stream), twice);
  give(f, stream, twice);
  close_stream(f, stream);
}

static void a_guarded_temporary_waits_in_the_quarantine(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  leat_stream *const stream = open_stream(f);
  leati_block *const first = take(f, stream, 5000, stream);
  give(f, stream, first);
  leati_block *const second = take(f, stream, 5000, stream);
  assert_ptr_not_equal(second, first);
  give(f, stream, second);
  assert_ok(f->api->stream->synchronize(stream, &err));
  close_stream(f, stream);
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 6, ROUNDS = 100000, HELD_MAX = 1 << 20 };

/* Whether a block is with somebody, by its address: blocks of few segments, so that no two have one place. */
static _Atomic unsigned char is_held[HELD_MAX];

typedef struct user {
  fixture *f;
  leat_stream *stream;
  _Atomic bool *done;
} user;

static _Atomic unsigned char *held_at(const leati_block *block) {
  return &is_held[leati_block_address(block) / 256 % HELD_MAX];
}

static void *use_again(void *argument) {
  const user *const u = argument;
  bool well = true;
  for (int i = 0; i < ROUNDS && well; ++i) {
    leati_block *block = NULL;
    leati_mutex_lock(&u->stream->lock);
    well = leati_memory_take_temporary(u->f->device, 3000u << (i % 8 == 0), u->stream->timeline, &block, NULL) ==
               LEAT_OK &&
           atomic_exchange(held_at(block), 1) == 0;
    if (block != NULL) {
      /* A use that has passed. */
      leati_block_stamp(block, u->stream->timeline, 0);
      atomic_store(held_at(block), 0);
      leati_memory_give_temporary(u->f->device, u->stream->timeline, block);
    }
    leati_mutex_unlock(&u->stream->lock);
  }
  return well ? NULL : argument;
}

static void *release_again(void *argument) {
  const user *const u = argument;
  while (!atomic_load(u->done)) {
    leati_kept_release(u->f->device);
  }
  return NULL;
}

static void nobody_gets_what_another_stream_has(void **state) {
  fixture *const f = fixture_of(state);
  _Atomic bool done = false;
  user users[THREADS];
  pthread_t threads[THREADS], releaser;
  for (int i = 0; i < THREADS; ++i) {
    users[i] = (user){f, open_stream(f), &done};
    assert_int_equal(pthread_create(&threads[i], NULL, use_again, &users[i]), 0);
  }
  assert_int_equal(pthread_create(&releaser, NULL, release_again, &users[0]), 0);
  void *failed = NULL;
  for (int i = 0; i < THREADS; ++i) {
    void *one;
    assert_int_equal(pthread_join(threads[i], &one), 0);
    failed = one != NULL ? one : failed;
  }
  atomic_store(&done, true);
  assert_int_equal(pthread_join(releaser, NULL), 0);
  for (int i = 0; i < THREADS; ++i) {
    close_stream(f, users[i].stream);
  }
  assert_null(failed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stream_finds_what_it_used_last),
      cmocka_unit_test(temporaries_are_no_callers),
      cmocka_unit_test(what_others_use_is_not_kept),
      cmocka_unit_test(trim_gives_back_what_is_kept),
      cmocka_unit_test(what_is_kept_makes_room),
      cmocka_unit_test(what_has_no_place_goes_to_its_class),
      cmocka_unit_test(a_guarded_temporary_waits_in_the_quarantine),
      cmocka_unit_test(nobody_gets_what_another_stream_has),
  };
  return cmocka_run_group_tests_name("kept", tests, fixture_open, fixture_close);
}
