/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks that timelines keep, for temporaries and for callers who allocate for a stream: it finds what it used
 * last, also while the device uses it; nobody else gets it, and it is no caller's; it goes back when memory is wanted.
 */
#include "memory/kept.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "device/device.h"
#include "memory/memory.h"
#include "memory/size_class.h"
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

/* What a caller allocates, for what follows in a stream or, NULL, for anybody. */
static uint64_t allocate(fixture *f, uint64_t size, leat_stream *stream) {
  uint64_t address = 0;
  assert_ok(f->api->memory->alloc(f->device, size, stream, &address, &err));
  return address;
}

/* Frees that when a list of a stream, which has not run, uses it. */
static void free_in_use(fixture *f, uint64_t address, leat_stream *user) {
  leati_block *const block = leati_memory_find(f->device, address);
  assert_non_null(block);
  leati_mutex_lock(&user->lock);
  leati_block_stamp(block, user->timeline, leati_stream_open_value(user));
  user->waiting = true;
  leati_mutex_unlock(&user->lock);
  assert_ok(f->api->memory->free(f->device, address, &err));
}

/* The figures of the class of a size, of which there are blocks. */
static leat_memory_class class_of(fixture *f, uint64_t size) {
  uint64_t block_size;
  (void)leati_class_of(f->device->memory, size, &block_size);
  const leat_memory_class found = class_of_size(f, block_size);
  assert_int_equal(found.block_size, block_size);
  assert_true(found.allocation_count != 0);
  return found;
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
  const uint64_t callers = allocate(f, 15000, a);
  leati_block_stamp(leati_memory_find(f->device, callers), a->timeline, leati_stream_open_value(a));
  free_in_use(f, callers, b);
  const uint64_t another = allocate(f, 15000, a);
  assert_int_not_equal(another, callers);
  assert_ok(f->api->memory->free(f->device, another, &err));
  close_stream(f, a);
  close_stream(f, b);
}

/* Nobody else gets it, not even one who may have any block; and it is counted like every other block. */
static void a_stream_finds_what_its_caller_freed(void **state) {
  enum { SIZE = 11000 };
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f), *const b = open_stream(f);
  const uint64_t first = allocate(f, SIZE, a);
  const leat_memory_stats held = stats_of(f);
  const leat_memory_class class_held = class_of(f, SIZE);
  free_in_use(f, first, a);
  const leat_memory_stats freed = stats_of(f);
  const leat_memory_class class_freed = class_of(f, SIZE);
  assert_int_equal(held.allocated_bytes - freed.allocated_bytes, SIZE);
  assert_int_equal(freed.cached_bytes - held.cached_bytes, class_held.block_size);
  assert_int_equal(held.live_block_count - freed.live_block_count, 1);
  assert_int_equal(class_held.live_count - class_freed.live_count, 1);
  assert_int_equal(class_freed.cached_count - class_held.cached_count, 1);
  assert_int_equal(f->api->memory->free(f->device, first, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  const uint64_t others = allocate(f, SIZE, b), anybodys = allocate(f, SIZE, NULL);
  assert_int_not_equal(others, first);
  assert_int_not_equal(anybodys, first);
  /* The same class, but not the same size. */
  const uint64_t again = allocate(f, SIZE + 50, a);
  assert_int_equal(again, first);
  assert_int_equal(leati_block_size(leati_memory_find(f->device, again)), SIZE + 50);
  const leat_memory_class class_again = class_of(f, SIZE);
  assert_int_equal(class_again.live_count, class_held.live_count + 2);
  assert_int_equal(class_again.allocation_count, class_held.allocation_count + 3);
  assert_true(class_again.reuse_count > class_held.reuse_count);
  assert_int_equal(stats_of(f).allocation_count - held.allocation_count, 3);
  free_in_use(f, again, a);
  assert_ok(f->api->memory->free(f->device, others, &err));
  assert_ok(f->api->memory->free(f->device, anybodys, &err));
  close_stream(f, a);
  close_stream(f, b);
}

/* Of two blocks of one size the second goes to its class; and what was allocated for no stream does, because whoever
 * allocates it again has none either. */
static void what_callers_free_may_go_to_its_class(void **state) {
  enum { SIZE = 13000 };
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  const uint64_t kept = allocate(f, SIZE, stream), second = allocate(f, SIZE, stream);
  free_in_use(f, kept, stream);
  free_in_use(f, second, stream);
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_int_equal(allocate(f, SIZE, NULL), second);
  assert_int_equal(allocate(f, SIZE, stream), kept);
  free_in_use(f, second, stream);
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_int_equal(allocate(f, SIZE, NULL), second);
  assert_ok(f->api->memory->free(f->device, second, &err));
  assert_ok(f->api->memory->free(f->device, kept, &err));
  close_stream(f, stream);
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
  free_in_use(f, allocate(f, SIZE / 4, stream), stream);
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
  assert_ok(f->api->memory->free(f->device, allocate(f, 64u << 20, NULL), &err));
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
  uint64_t address = allocate(f, 5 << 20, stream);
  assert_int_equal(address, leati_block_address(large));
  assert_ok(f->api->memory->free(f->device, address, &err));
  _Static_assert(LEATI_KEPT_BLOCKS == 8, "the classes of these two sizes, 25 and 38, have one place");
  leati_block *const small = take(f, stream, 20000, stream), *const other = take(f, stream, 190000, stream);
  give(f, stream, small);
  give(f, stream, other);
  address = allocate(f, 20000, stream);
  assert_int_equal(address, leati_block_address(small));
  assert_ok(f->api->memory->free(f->device, address, &err));
  assert_ptr_equal(take(f, stream, 190000, stream), other);
  give(f, stream, other);
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
  _Atomic uint64_t *handed; /* what a thread has allocated, for the next one to free */
} user;

static _Atomic unsigned char *held_at(const leati_block *block) {
  return &is_held[leati_block_address(block) / 256 % HELD_MAX];
}

/* Notes a use of a block by a stream, which has passed. False: somebody else has it. */
static bool use(leati_block *block, leat_stream *stream, uint64_t size) {
  const bool well = block != NULL && leati_block_size(block) == size && block->home->block_size >= size &&
                    atomic_exchange(held_at(block), 1) == 0;
  if (well) {
    leati_block_stamp(block, stream->timeline, 0);
    atomic_store(held_at(block), 0);
  }
  return well;
}

/* What a recording does. */
static bool record_again(const user *u, uint64_t size) {
  leati_block *block = NULL;
  leati_mutex_lock(&u->stream->lock);
  (void)leati_memory_take_temporary(u->f->device, size, u->stream->timeline, &block, NULL);
  const bool well = use(block, u->stream, size);
  if (block != NULL) {
    leati_memory_give_temporary(u->f->device, u->stream->timeline, block);
  }
  leati_mutex_unlock(&u->stream->lock);
  return well;
}

/* What a caller does who allocates, and frees what another thread has allocated for its stream. */
static bool allocate_again(const user *u, uint64_t size) {
  uint64_t address = 0;
  if (u->f->api->memory->alloc(u->f->device, size, u->stream, &address, NULL) != LEAT_OK) {
    return false;
  }
  leati_mutex_lock(&u->stream->lock);
  const bool well = use(leati_memory_find(u->f->device, address), u->stream, size);
  leati_mutex_unlock(&u->stream->lock);
  const uint64_t other = atomic_exchange(u->handed, address);
  return well && (other == 0 || u->f->api->memory->free(u->f->device, other, NULL) == LEAT_OK);
}

/* Two sizes whose classes have one place. */
static void *use_again(void *argument) {
  const user *const u = argument;
  bool well = true;
  for (uint64_t i = 0; i < ROUNDS && well; ++i) {
    well = record_again(u, i % 3 == 0 ? 190000 : 20000) && allocate_again(u, i % 5 == 0 ? 190000 : 20000);
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
  _Atomic uint64_t handed = 0;
  user users[THREADS];
  pthread_t threads[THREADS], releaser;
  for (int i = 0; i < THREADS; ++i) {
    users[i] = (user){f, open_stream(f), &done, &handed};
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
  assert_ok(f->api->memory->free(f->device, handed, &err));
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
      cmocka_unit_test(a_stream_finds_what_its_caller_freed),
      cmocka_unit_test(what_callers_free_may_go_to_its_class),
      cmocka_unit_test(trim_gives_back_what_is_kept),
      cmocka_unit_test(what_is_kept_makes_room),
      cmocka_unit_test(what_has_no_place_goes_to_its_class),
      cmocka_unit_test(a_guarded_temporary_waits_in_the_quarantine),
      cmocka_unit_test(nobody_gets_what_another_stream_has),
  };
  return cmocka_run_group_tests_name("kept", tests, fixture_open, fixture_close);
}
