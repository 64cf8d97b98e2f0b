/* SPDX-License-Identifier: BSD-3-Clause */
/* common/lru_table.c alone: what is found, what goes out, and that nothing is given back that a thread may hold. */
#include "common/lru_table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <stdlib.h>

#include "common/hash.h"

#define BUCKETS 8
#define THREADS 16

/* An entry of a number. */
typedef struct item {
  leati_lru_entry entry;
  uint64_t key;
  uint64_t alive; /* ALIVE until it is freed */
} item;
#define ALIVE UINT64_C(0x6c65617469746d73)

typedef struct cache {
  leati_lru_table table;
  leati_lru_readers readers;
  leati_lru_bucket buckets[BUCKETS];
  pthread_mutex_t lock;
  _Atomic uint32_t live; /* items */
} cache;

static void free_item(void *owner, leati_lru_entry *entry) {
  cache *const c = owner;
  item *const it = (item *)entry;
  assert_true(it->alive == ALIVE);
  it->alive = 0;
  free(it);
  (void)atomic_fetch_sub(&c->live, 1);
}

static cache *make_cache(uint64_t bytes_max) {
  cache *const c = leati_calloc_line(sizeof(*c));
  assert_non_null(c);
  leati_lru_begin(&c->table, c->buckets, BUCKETS, bytes_max, free_item, c);
  assert_int_equal(pthread_mutex_init(&c->lock, NULL), 0);
  return c;
}

static void free_cache(cache *c) {
  leati_lru_clear(&c->table);
  assert_int_equal(atomic_load(&c->live), 0);
  assert_int_equal(pthread_mutex_destroy(&c->lock), 0);
  free(c);
}

/* All keys of a colliding cache have one hash. */
static uint64_t hash_of(uint64_t key, bool collides) {
  return collides ? 7 : leati_hash_word(0, key);
}

static item *make_item(cache *c, uint64_t key, uint64_t bytes, bool collides) {
  item *const it = calloc(1, sizeof(*it));
  assert_non_null(it);
  it->entry.hash = hash_of(key, collides);
  it->entry.bytes = bytes;
  it->key = key;
  it->alive = ALIVE;
  (void)atomic_fetch_add(&c->live, 1);
  return it;
}

static bool add(cache *c, uint64_t key, uint64_t bytes, bool collides) {
  item *const it = make_item(c, key, bytes, collides);
  const bool added = leati_lru_add(&c->table, &it->entry);
  if (!added) {
    it->entry.next_out = NULL;
    leati_lru_free_all(&c->table, &it->entry);
  }
  return added;
}

static const item *find(const cache *c, uint64_t key, bool collides) {
  leati_lru_entry *at = leati_lru_first(&c->table, hash_of(key, collides));
  while (at != NULL && ((const item *)at)->key != key) {
    at = leati_lru_next(at);
  }
  if (at != NULL) {
    leati_lru_use(&c->table, at);
  }
  return (const item *)at;
}

static void the_least_recently_found_goes_out(void **state) {
  (void)state;
  for (int collides = 0; collides < 2; ++collides) {
    cache *const c = make_cache(40);
    for (uint64_t key = 0; key < 4; ++key) {
      assert_true(add(c, key, 10, collides));
    }
    assert_non_null(find(c, 0, collides));
    assert_non_null(find(c, 2, collides));
    assert_true(add(c, 4, 10, collides));
    leati_lru_free_all(&c->table, leati_lru_collect(&c->table, &c->readers));
    assert_null(find(c, 1, collides));
    assert_true(add(c, 5, 10, collides));
    leati_lru_free_all(&c->table, leati_lru_collect(&c->table, &c->readers));
    assert_null(find(c, 3, collides));
    for (uint64_t key = 0; key < 6; key += key == 0 ? 2 : key == 2 ? 2 : 1) {
      assert_non_null(find(c, key, collides));
    }
    assert_int_equal(c->table.count, 4);
    assert_int_equal(c->table.bytes, 40);
    assert_int_equal(atomic_load(&c->live), 4);
    free_cache(c);
  }
}

/* One entry alone may be larger than the bound: else it would be made at each use. */
static void the_bound_is_one_of_bytes(void **state) {
  (void)state;
  cache *const c = make_cache(100);
  for (uint64_t key = 0; key < 50; ++key) {
    assert_true(add(c, key, 1 + key, false));
    leati_lru_free_all(&c->table, leati_lru_collect(&c->table, &c->readers));
    assert_true(c->table.bytes <= 100);
    assert_non_null(find(c, key, false));
  }
  assert_true(add(c, 100, UINT64_MAX, false));
  leati_lru_free_all(&c->table, leati_lru_collect(&c->table, &c->readers));
  assert_int_equal(c->table.count, 1);
  assert_true(add(c, 101, 100, false));
  assert_null(find(c, 100, false));
  assert_non_null(find(c, 101, false));
  free_cache(c);
}

/* Of a cycle somewhat longer than a large table a part is found. */
static void a_part_of_a_longer_cycle_is_found(void **state) {
  (void)state;
  cache *const c = make_cache(1000);
  uint32_t found = 0;
  for (uint64_t i = 0; i < 11000; ++i) {
    if (find(c, i % 1100, false) != NULL) {
      ++found;
    } else {
      assert_true(add(c, i % 1100, 1, false));
      leati_lru_free_all(&c->table, leati_lru_collect(&c->table, &c->readers));
    }
  }
  assert_true(found > 0);
  free_cache(c);
}

static void what_may_be_held_is_not_given_back(void **state) {
  (void)state;
  cache *const c = make_cache(40);
  assert_true(add(c, 0, 10, false));
  leati_lru_counter *const counter = leati_lru_enter(&c->readers, 5);
  const item *const held = find(c, 0, false);
  for (uint64_t key = 1; key < 5; ++key) {
    assert_true(add(c, key, 10, false));
  }
  assert_null(find(c, 0, false));
  /* That is as much as may wait; meanwhile nothing else goes out. */
  assert_null(leati_lru_collect(&c->table, &c->readers));
  assert_false(add(c, 5, 10, false));
  assert_true(held->alive == ALIVE);
  leati_lru_leave(counter);
  /* Whoever came since cannot have found it: that counter was seen at zero. */
  leati_lru_counter *const later = leati_lru_enter(&c->readers, 6);
  leati_lru_entry *const freed = leati_lru_collect(&c->table, &c->readers);
  assert_ptr_equal(freed, &held->entry);
  leati_lru_free_all(&c->table, freed);
  leati_lru_leave(later);
  assert_true(add(c, 5, 10, false));
  leati_lru_free_all(&c->table, leati_lru_collect(&c->table, &c->readers));
  free_cache(c);
}

typedef struct worker {
  cache *c;
  uint32_t number;
  bool wrong;
} worker;

static void *look_and_add(void *argument) {
  worker *const w = argument;
  uint64_t random = w->number + 1;
  for (int i = 0; i < 4000; ++i) {
    random = leati_hash_word(random, (uint64_t)i + 1);
    const uint64_t key = random % 100;
    leati_lru_counter *const counter = leati_lru_enter(&w->c->readers, w->number);
    const item *const found = find(w->c, key, false);
    w->wrong = w->wrong || (found != NULL && (found->alive != ALIVE || found->key != key));
    leati_lru_leave(counter);
    if (found == NULL) {
      (void)pthread_mutex_lock(&w->c->lock);
      leati_lru_entry *const unused = leati_lru_collect(&w->c->table, &w->c->readers);
      if (find(w->c, key, false) == NULL) {
        (void)add(w->c, key, 1 + key % 7, false);
      }
      w->wrong = w->wrong || w->c->table.bytes > 128 || w->c->table.bytes_out > 128 / 8 + 2 * 7;
      (void)pthread_mutex_unlock(&w->c->lock);
      leati_lru_free_all(&w->c->table, unused);
    }
  }
  return NULL;
}

static void threads_find_while_others_have_things_go_out(void **state) {
  (void)state;
  cache *const c = make_cache(128);
  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (uint32_t i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.c = c, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, look_and_add, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(workers[i].wrong);
  }
  free_cache(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_recently_found_goes_out),
      cmocka_unit_test(the_bound_is_one_of_bytes),
      cmocka_unit_test(a_part_of_a_longer_cycle_is_found),
      cmocka_unit_test(what_may_be_held_is_not_given_back),
      cmocka_unit_test(threads_find_while_others_have_things_go_out),
  };
  return cmocka_run_group_tests_name("lru_table", tests, NULL, NULL);
}
