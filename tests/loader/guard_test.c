/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * leat_stream_guard: nested guards restore what was bound, and an error leaves the binding as it was.
 */
#include <leat/host.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#define DEPTH 3
#define ROUNDS 500

static const leat_backend_api *api;
static leat_device *device;

/* The first line of a test that works on a device. */
static void need_device(void) {
  if (device == NULL) {
    print_message("no usable Vulkan device\n");
    skip();
  }
}

static leat_stream *current(void) {
  leat_stream *stream = NULL;
  assert_int_equal(api->pool->current(device, &stream, NULL), LEAT_OK);
  assert_non_null(stream);
  return stream;
}

static leat_stream *make_stream(void) {
  leat_stream *stream = NULL;
  assert_int_equal(api->stream->create(device, 0, &stream, NULL), LEAT_OK);
  return stream;
}

static void test_nested_guards_restore(void **state) {
  (void)state;
  need_device();
  leat_stream *const own = current();
  leat_stream *streams[DEPTH];
  leat_stream_guard guards[DEPTH];
  for (int i = 0; i < DEPTH; ++i) {
    streams[i] = make_stream();
    assert_int_equal(leat_stream_guard_begin(api, device, streams[i], &guards[i], NULL), LEAT_OK);
    assert_ptr_equal(current(), streams[i]);
  }
  /* The thread's own stream in the middle of the others, for which NULL stands. */
  leat_stream_guard inner;
  assert_int_equal(leat_stream_guard_begin(api, device, NULL, &inner, NULL), LEAT_OK);
  assert_ptr_equal(current(), own);
  assert_int_equal(leat_stream_guard_end(&inner), LEAT_OK);
  for (int i = DEPTH; i-- > 0;) {
    assert_ptr_equal(current(), streams[i]);
    assert_int_equal(leat_stream_guard_end(&guards[i]), LEAT_OK);
  }
  assert_ptr_equal(current(), own);
  for (int i = 0; i < DEPTH; ++i) {
    assert_int_equal(api->stream->destroy(streams[i], NULL), LEAT_OK);
  }
}

static void test_an_ended_guard_does_nothing(void **state) {
  (void)state;
  need_device();
  leat_stream *const own = current();
  leat_stream *const stream = make_stream();
  leat_stream_guard guard;
  assert_int_equal(leat_stream_guard_begin(api, device, stream, &guard, NULL), LEAT_OK);
  assert_int_equal(leat_stream_guard_end(&guard), LEAT_OK);
  assert_int_equal(api->pool->set_current(device, stream, NULL, NULL), LEAT_OK);
  assert_int_equal(leat_stream_guard_end(&guard), LEAT_OK);
  assert_ptr_equal(current(), stream);
  assert_int_equal(api->pool->set_current(device, NULL, NULL, NULL), LEAT_OK);
  assert_ptr_equal(current(), own);
  assert_int_equal(api->stream->destroy(stream, NULL), LEAT_OK);
}

static void test_an_error_leaves_the_binding(void **state) {
  (void)state;
  need_device();
  leat_stream *const bound = make_stream();
  leat_stream *const dead = make_stream();
  leat_stream_guard outer;
  leat_stream_guard refused;
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(api->stream->destroy(dead, NULL), LEAT_OK);
  assert_int_equal(leat_stream_guard_begin(api, device, bound, &outer, NULL), LEAT_OK);
  assert_int_equal(leat_stream_guard_begin(api, device, dead, &refused, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "not a live stream"));
  assert_ptr_equal(current(), bound);
  /* Whoever ends it nonetheless changes nothing. */
  assert_int_equal(leat_stream_guard_end(&refused), LEAT_OK);
  assert_ptr_equal(current(), bound);
  assert_int_equal(leat_stream_guard_end(&outer), LEAT_OK);
  assert_int_equal(api->stream->destroy(bound, NULL), LEAT_OK);
}

static void test_a_destroyed_stream_is_not_restored(void **state) {
  (void)state;
  need_device();
  leat_stream *const own = current();
  leat_stream *const first = make_stream();
  leat_stream *const second = make_stream();
  leat_stream_guard outer;
  leat_stream_guard inner;
  assert_int_equal(leat_stream_guard_begin(api, device, first, &outer, NULL), LEAT_OK);
  assert_int_equal(leat_stream_guard_begin(api, device, second, &inner, NULL), LEAT_OK);
  assert_int_equal(api->stream->destroy(first, NULL), LEAT_OK);
  assert_int_equal(leat_stream_guard_end(&inner), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ptr_equal(current(), second);
  assert_int_equal(leat_stream_guard_end(&outer), LEAT_OK);
  assert_ptr_equal(current(), own);
  assert_int_equal(api->stream->destroy(second, NULL), LEAT_OK);
}

/* Guards its own stream with another again and again; returns the first thing that was not as it should be. cmocka's
 * assertions are for its own thread. */
static void *guard_often(void *unused) {
  (void)unused;
  const char *fault = NULL;
  leat_stream *own = NULL;
  leat_stream *other = NULL;
  leat_stream *now = NULL;
  if (api->pool->current(device, &own, NULL) != LEAT_OK || api->stream->create(device, 0, &other, NULL) != LEAT_OK) {
    return "no stream";
  }
  for (int i = 0; i < ROUNDS && fault == NULL; ++i) {
    leat_stream_guard guard;
    if (leat_stream_guard_begin(api, device, other, &guard, NULL) != LEAT_OK ||
        api->pool->current(device, &now, NULL) != LEAT_OK || now != other) {
      fault = "a guard did not bind its stream";
    } else if (leat_stream_guard_end(&guard) != LEAT_OK || api->pool->current(device, &now, NULL) != LEAT_OK ||
               now != own) {
      fault = "a guard did not restore the thread's own stream";
    }
  }
  return api->stream->destroy(other, NULL) == LEAT_OK ? (void *)fault : "the stream could not be destroyed";
}

static void test_threads_do_not_meet(void **state) {
  (void)state;
  need_device();
  pthread_t threads[8];
  for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, guard_often, NULL), 0);
  }
  for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); ++i) {
    void *fault = NULL;
    assert_int_equal(pthread_join(threads[i], &fault), 0);
    if (fault != NULL) {
      fail_msg("%s", (const char *)fault);
    }
  }
}

#ifdef LEAT_STREAM_GUARD_SCOPED
/* Leaves two blocks with guards at once. */
static void leave_early(leat_stream *outer_stream, leat_stream *inner_stream) {
  leat_stream_guard outer LEAT_STREAM_GUARD_SCOPED = {0};
  assert_int_equal(leat_stream_guard_begin(api, device, outer_stream, &outer, NULL), LEAT_OK);
  {
    leat_stream_guard inner LEAT_STREAM_GUARD_SCOPED = {0};
    assert_int_equal(leat_stream_guard_begin(api, device, inner_stream, &inner, NULL), LEAT_OK);
    assert_ptr_equal(current(), inner_stream);
    if (outer_stream != inner_stream) {
      return;
    }
  }
  fail();
}

static void test_a_scoped_guard_ends_with_its_block(void **state) {
  (void)state;
  need_device();
  leat_stream *const own = current();
  leat_stream *const outer = make_stream();
  leat_stream *const inner = make_stream();
  leave_early(outer, inner);
  assert_ptr_equal(current(), own);
  assert_int_equal(api->stream->destroy(outer, NULL), LEAT_OK);
  assert_int_equal(api->stream->destroy(inner, NULL), LEAT_OK);
}
#endif

static void test_without_a_pool(void **state) {
  (void)state;
  const leat_backend_api *poor;
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(leat_host_load(NO_POOL, &poor, &err), LEAT_OK);
  leat_stream_guard guard;
  assert_int_equal(leat_stream_guard_begin(poor, NULL, NULL, &guard, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(err.message, "no pool"));
  assert_int_equal(leat_stream_guard_end(&guard), LEAT_OK);
}

static int open_device(void **state) {
  (void)state;
  uint32_t count = 0;
  if (leat_host_load(BACKEND, &api, NULL) != LEAT_OK || api->device->count(&count, NULL) != LEAT_OK) {
    return -1;
  }
  return count == 0 ? 0 : api->device->open(0, &device, NULL);
}

static int close_device(void **state) {
  (void)state;
  leat_device *const open = device;
  device = NULL;
  return open == NULL ? 0 : api->device->close(open, NULL);
}

#define WITH_DEVICE(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_DEVICE(test_nested_guards_restore),
      WITH_DEVICE(test_an_ended_guard_does_nothing),
      WITH_DEVICE(test_an_error_leaves_the_binding),
      WITH_DEVICE(test_threads_do_not_meet),
      WITH_DEVICE(test_a_destroyed_stream_is_not_restored),
#ifdef LEAT_STREAM_GUARD_SCOPED
      WITH_DEVICE(test_a_scoped_guard_ends_with_its_block),
#endif
      cmocka_unit_test(test_without_a_pool),
  };
  return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
