/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The batch queue: who gets what, in which order, and what becomes of requests when things go wrong. Orders and events
 * are asserted, times never are. LEAT_TEST_BATCH_ROUNDS repeats the parts with many threads (10).
 */
#include <leat/batch.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>

#define LONG INT64_C(3600000000000)   /* an hour: what waits for it does not come back by itself */
#define PATIENCE INT64_C(10000000000) /* nanoseconds: what has not come by then never comes */
#define LOG_MAX 4096
#define THREADS 8
#define WIDTH_MAX 64

/* ---- The function that runs batches ------------------------------------------------------------------------------ */

/* One batch, as it came in. */
typedef struct entry {
  uint32_t requests, worker;
  int64_t rows, shape[2]; /* of input 0, with what fills it up */
  float first, last;      /* elements of input 0, if it has any */
} entry;

/* Doubles input 0 into output 0, and puts the sum of each row into output 1. */
typedef struct plant {
  pthread_mutex_t lock; /* guards everything to `released` */
  pthread_cond_t moved;
  bool shut;  /* whoever comes in waits until this is over */
  float keep; /* the same for a batch that begins with this number; 0: for none */
  uint32_t inside, most_inside;
  entry log[LOG_MAX];
  uint32_t count;
  uint32_t released;
  /* These are set before requests are submitted, and thus ordered by the queue. */
  float poison; /* a batch that holds this number fails; 0: none does */
  enum { OUT_RIGHT, OUT_FEW_ROWS, OUT_NO_DATA, OUT_DEVICE, OUT_NARROW, OUT_SILENT } manner;
  leat_batch_queue *queue; /* called from inside, if there is one */
  int32_t seen[6];         /* what it answered */
} plant;

/* What output tensors point to until they are released. */
typedef struct product {
  int64_t shape[2], sums_shape[1];
  int64_t *sums;
  float *doubled;
} product;

static void *check_alloc(size_t bytes) {
  void *memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

static void call_back(plant *p, const leat_batch_call *call) {
  leat_batch_stats stats = {.struct_size = sizeof(stats)};
  leat_batch_ticket *ticket = NULL;
  DLTensor copy = *call->inputs[0];
  const DLTensor *in[] = {&copy};
  p->seen[0] = leat_batch_submit(p->queue, 1, in, 0, &ticket, NULL);
  p->seen[1] = leat_batch_wait(ticket, -1, NULL);
  p->seen[2] = leat_batch_run(p->queue, 1, in, 2, in, -1, NULL);
  p->seen[3] = leat_batch_queue_shutdown(p->queue, LEAT_BATCH_FAIL, NULL);
  p->seen[4] = leat_batch_queue_destroy(p->queue, LEAT_BATCH_FAIL, NULL);
  p->seen[5] = leat_batch_queue_stats(p->queue, &stats, NULL);
  (void)leat_batch_release(ticket, NULL);
}

static void note(plant *p, const leat_batch_call *call, float first, float last) {
  const DLTensor *in = call->inputs[0];
  pthread_mutex_lock(&p->lock);
  if (p->count < LOG_MAX) {
    p->log[p->count] = (entry){
        call->request_count, call->worker, call->rows, {in->shape[0], in->ndim > 1 ? in->shape[1] : 0}, first, last};
  }
  ++p->count;
  ++p->inside;
  p->most_inside = p->inside > p->most_inside ? p->inside : p->most_inside;
  pthread_cond_broadcast(&p->moved);
  while (p->shut || (p->keep != 0 && p->keep == first)) {
    pthread_cond_wait(&p->moved, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
}

static int32_t plant_run(void *user, leat_batch_call *call, leat_error *err) {
  plant *p = user;
  const DLTensor *in = call->inputs[0];
  const int64_t rows = in->shape[0];
  const int64_t width = in->ndim > 1 ? in->shape[1] : 1;
  const float *from = in->data;
  note(p, call, rows * width > 0 ? from[0] : 0, rows * width > 0 ? from[rows * width - 1] : 0);
  if (p->queue != NULL) {
    call_back(p, call);
  }
  product *made = check_alloc(sizeof(*made));
  made->doubled = check_alloc((size_t)(rows * width) * sizeof(*made->doubled));
  made->sums = check_alloc((size_t)rows * sizeof(*made->sums));
  bool poisoned = false;
  for (int64_t i = 0; i < rows * width; ++i) {
    made->doubled[i] = 2 * from[i];
    made->sums[i / width] += (int64_t)from[i];
    poisoned = poisoned || (p->poison != 0 && from[i] == p->poison);
  }
  pthread_mutex_lock(&p->lock);
  --p->inside;
  pthread_cond_broadcast(&p->moved);
  pthread_mutex_unlock(&p->lock);
  if (poisoned) {
    if (p->manner == OUT_SILENT) {
      err->struct_size = 0; /* nobody should, and it is the queue's own to use again */
    } else {
      strcpy(err->message, "there is poison in it");
    }
    err->native_code = 77;
    free(made->doubled);
    free(made->sums);
    free(made);
    return LEAT_ERROR_DEVICE_LOST;
  }
  made->shape[0] = p->manner == OUT_FEW_ROWS ? rows - 1 : rows;
  made->shape[1] = p->manner == OUT_NARROW ? width - 1 : width;
  made->sums_shape[0] = rows;
  call->outputs[0] = (DLTensor){.data = p->manner == OUT_NO_DATA ? NULL : made->doubled,
                                .device = {p->manner == OUT_DEVICE ? kDLVulkan : kDLCPU, 0},
                                .ndim = in->ndim,
                                .dtype = {kDLFloat, 32, 1},
                                .shape = made->shape};
  call->outputs[1] = (DLTensor){
      .data = made->sums, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = made->sums_shape};
  call->owner = made;
  return LEAT_OK;
}

static void plant_release(void *user, void *owner) {
  plant *p = user;
  product *made = owner;
  free(made->doubled);
  free(made->sums);
  free(made);
  pthread_mutex_lock(&p->lock);
  ++p->released;
  pthread_mutex_unlock(&p->lock);
}

static plant *new_plant(void) {
  plant *p = check_alloc(sizeof(*p));
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->moved, NULL);
  return p;
}

static void free_plant(plant *p) {
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->moved);
  free(p);
}

static void set_keep(plant *p, float keep) {
  pthread_mutex_lock(&p->lock);
  p->keep = keep;
  pthread_cond_broadcast(&p->moved);
  pthread_mutex_unlock(&p->lock);
}

static void set_shut(plant *p, bool shut) {
  pthread_mutex_lock(&p->lock);
  p->shut = shut;
  pthread_cond_broadcast(&p->moved);
  pthread_mutex_unlock(&p->lock);
}

/* Waits until so many batches are inside of the function. */
static void await_inside(plant *p, uint32_t count) {
  struct timespec deadline;
  assert_int_equal(clock_gettime(CLOCK_REALTIME, &deadline), 0);
  deadline.tv_sec += PATIENCE / 1000000000;
  int waited = 0;
  pthread_mutex_lock(&p->lock);
  while (p->inside != count && waited == 0) {
    waited = pthread_cond_timedwait(&p->moved, &p->lock, &deadline);
  }
  pthread_mutex_unlock(&p->lock);
  assert_int_equal(waited, 0);
}

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

static leat_error err = {.struct_size = sizeof(err)};

static leat_batch_config default_config(plant *p) {
  return (leat_batch_config){.struct_size = sizeof(leat_batch_config),
                             .workers = 1,
                             .input_count = 1,
                             .output_count = 2,
                             .capacity = 256,
                             .max_rows = 32,
                             .row_multiple = 1,
                             .max_delay_ns = 0,
                             .run = plant_run,
                             .release = plant_release,
                             .user = p};
}

static leat_batch_queue *new_queue(const leat_batch_config *config) {
  leat_batch_queue *queue = NULL;
  if (leat_batch_queue_create(config, &queue, &err) != LEAT_OK) {
    fail_msg("%s", err.message);
  }
  return queue;
}

#define ASSERT_OK(call)                    \
  do {                                     \
    if ((call) != LEAT_OK) {               \
      fail_msg(#call ": %s", err.message); \
    }                                      \
  } while (0)

/* Expects a status, and a message that holds `text`. */
static void expect_error(int32_t got, int32_t wanted, const char *text) {
  if (got != wanted || err.code != wanted || strstr(err.message, text) == NULL) {
    fail_msg("status %d (%d) \"%s\" instead of %d \"%s\"", (int)got, (int)err.code, err.message, (int)wanted, text);
  }
}

static DLTensor matrix_of(float *values, int64_t *shape) {
  return (DLTensor){.data = values, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape};
}

/* Submits `rows` rows of `width` numbers that count up from `first`. */
static int32_t put(leat_batch_queue *queue, float first, int64_t rows, int64_t width, int64_t timeout,
                   leat_batch_ticket **out, leat_error *e) {
  float values[WIDTH_MAX];
  int64_t shape[2] = {rows, width};
  for (int64_t i = 0; i < rows * width; ++i) {
    values[i] = first + (float)i;
  }
  DLTensor in = matrix_of(values, shape);
  const int32_t status = leat_batch_submit(queue, 1, (const DLTensor *const[]){&in}, timeout, out, e);
  /* The queue has a copy, so this must not reach it. */
  memset(values, 0x55, sizeof(values));
  return status;
}

static leat_batch_ticket *submit(leat_batch_queue *queue, float first, int64_t rows, int64_t width) {
  leat_batch_ticket *ticket = NULL;
  ASSERT_OK(put(queue, first, rows, width, 0, &ticket, &err));
  return ticket;
}

/* Submits a request and waits until the function has it, which keeps it until set_shut(p, false). */
static leat_batch_ticket *submit_held(leat_batch_queue *queue, plant *p, float first, int64_t rows, int64_t width) {
  set_shut(p, true);
  leat_batch_ticket *ticket = submit(queue, first, rows, width);
  await_inside(p, 1);
  return ticket;
}

/* Whether the results of a request that put() made are its own. NULL: yes; else what is wrong. */
static const char *check_result(leat_batch_ticket *ticket, float first, int64_t rows, int64_t width) {
  DLTensor out[2];
  if (leat_batch_wait(ticket, PATIENCE, NULL) != LEAT_OK) {
    return "the request failed, or never ended";
  }
  if (leat_batch_outputs(ticket, 2, out, NULL) != LEAT_OK) {
    return "there are no outputs";
  }
  if (out[0].ndim != 2 || out[0].shape[0] != rows || out[0].shape[1] != width || out[1].ndim != 1 ||
      out[1].shape[0] != rows || (uintptr_t)out[0].data % 64 != 0 || (uintptr_t)out[1].data % 64 != 0) {
    return "shape or alignment of an output";
  }
  const float *doubled = out[0].data;
  const int64_t *sums = out[1].data;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t sum = 0;
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      sum += (int64_t)(first + (float)i);
      if (doubled[i] != 2 * (first + (float)i)) {
        return "an element of output 0";
      }
    }
    if (sums[row] != sum) {
      return "an element of output 1";
    }
  }
  return NULL;
}

/* Checks the results and releases the ticket. */
static void take(leat_batch_ticket *ticket, float first, int64_t rows, int64_t width) {
  const char *wrong = check_result(ticket, first, rows, width);
  if (wrong != NULL) {
    fail_msg("request %g of %lld rows: %s", (double)first, (long long)rows, wrong);
  }
  ASSERT_OK(leat_batch_release(ticket, &err));
}

static leat_batch_stats stats_of(leat_batch_queue *queue) {
  leat_batch_stats stats = {.struct_size = sizeof(stats)};
  ASSERT_OK(leat_batch_queue_stats(queue, &stats, &err));
  return stats;
}

static void end(leat_batch_queue *queue, plant *p) {
  ASSERT_OK(leat_batch_queue_destroy(queue, LEAT_BATCH_DRAIN, &err));
  free_plant(p);
}

static int rounds(void) {
  const char *text = getenv("LEAT_TEST_BATCH_ROUNDS");
  return text != NULL ? atoi(text) : 10;
}

/* ---- Many threads ------------------------------------------------------------------------------------------------ */

typedef struct caller {
  pthread_t thread;
  leat_batch_queue *queue;
  int index, calls;
  bool own_memory; /* leat_batch_run() into memory of its own, else tickets, several at once */
  const char *wrong;
} caller;

static const char *call_run(leat_batch_queue *queue, float first, int64_t rows, int64_t width) {
  float in_values[WIDTH_MAX];
  float doubled[WIDTH_MAX + 1];
  int64_t sums[WIDTH_MAX];
  int64_t shape[2] = {rows, width};
  for (int64_t i = 0; i < rows * width; ++i) {
    in_values[i] = first + (float)i;
  }
  doubled[rows * width] = -5;
  DLTensor in = matrix_of(in_values, shape);
  DLTensor out0 = matrix_of(doubled, shape);
  DLTensor out1 = {.data = sums, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = shape};
  leat_error mine = {.struct_size = sizeof(mine)};
  if (leat_batch_run(queue, 1, (const DLTensor *const[]){&in}, 2, (const DLTensor *const[]){&out0, &out1}, -1, &mine)) {
    return "leat_batch_run() failed";
  }
  for (int64_t i = 0; i < rows * width; ++i) {
    if (doubled[i] != 2 * in_values[i]) {
      return "an element of another request";
    }
  }
  return doubled[rows * width] == -5 ? NULL : "an element beyond the output was written";
}

static void *call_often(void *argument) {
  caller *c = argument;
  enum { AT_ONCE = 4 };
  for (int i = 0; i < c->calls && c->wrong == NULL; ++i) {
    const float base = (float)(c->index * 100000 + i * AT_ONCE * WIDTH_MAX);
    if (c->own_memory) {
      c->wrong = call_run(c->queue, base, 1, 4);
      continue;
    }
    leat_batch_ticket *tickets[AT_ONCE] = {NULL};
    for (int k = 0; k < AT_ONCE && c->wrong == NULL; ++k) {
      const float first = base + (float)(k * WIDTH_MAX);
      c->wrong = put(c->queue, first, (i + k) % 5, 1 + c->index % 3, -1, &tickets[k], NULL) ? "submit failed" : NULL;
    }
    for (int k = 0; k < AT_ONCE; ++k) {
      const float first = base + (float)(k * WIDTH_MAX);
      if (tickets[k] != NULL && c->wrong == NULL) {
        c->wrong = check_result(tickets[k], first, (i + k) % 5, 1 + c->index % 3);
      }
      (void)leat_batch_release(tickets[k], NULL);
    }
  }
  return NULL;
}

static void start_callers(caller *callers, int count, leat_batch_queue *queue, int calls, bool own_memory) {
  for (int i = 0; i < count; ++i) {
    callers[i] = (caller){.queue = queue, .index = i, .calls = calls, .own_memory = own_memory};
    assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
  }
}

static void join_callers(caller *callers, int count) {
  const char *wrong = NULL;
  for (int i = 0; i < count; ++i) {
    assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    wrong = wrong != NULL ? wrong : callers[i].wrong;
  }
  if (wrong != NULL) {
    fail_msg("%s", wrong);
  }
}

static void eight_callers_and_one_worker_are_right_ten_times_of_ten(void **state) {
  (void)state;
  for (int round = 0; round < rounds(); ++round) {
    plant *p = new_plant();
    leat_batch_config config = default_config(p);
    config.max_rows = THREADS;
    leat_batch_queue *queue = new_queue(&config);
    caller callers[THREADS];
    start_callers(callers, THREADS, queue, 10, true);
    join_callers(callers, THREADS);
    leat_batch_stats stats = stats_of(queue);
    assert_int_equal(stats.done, THREADS * 10);
    assert_int_equal(stats.failed + stats.refused + stats.cancelled + stats.waiting + stats.running, 0);
    assert_int_equal(stats.batch_rows, THREADS * 10);
    assert_int_equal(p->most_inside, 1);
    assert_int_equal(p->released, stats.batches);
    end(queue, p);
  }
}

static void each_caller_gets_its_own_rows_from_four_workers(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 4;
  config.max_rows = 16;
  config.max_delay_ns = 50000;
  config.capacity = 8;
  leat_batch_queue *queue = new_queue(&config);
  caller callers[THREADS];
  start_callers(callers, THREADS, queue, 5 * rounds(), false);
  join_callers(callers, THREADS);
  assert_int_equal(stats_of(queue).done, 5 * rounds() * 4 * THREADS);
  assert_in_range(p->most_inside, 1, 4);
  end(queue, p);
}

/* ---- What goes together, and when -------------------------------------------------------------------------------- */

static void one_worker_keeps_the_order_of_submission(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_rows = 4;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[60];
  set_shut(p, true);
  for (int i = 0; i < 60; ++i) {
    /* Kinds change after 1, 2, 3, 1, 2, 3 ... requests. */
    static const int kWidths[] = {1, 2, 2, 3, 3, 3};
    tickets[i] = submit(queue, (float)(i * 10), 1, kWidths[i % 6]);
  }
  await_inside(p, 1);
  set_shut(p, false);
  for (int i = 0; i < 60; ++i) {
    static const int kWidths[] = {1, 2, 2, 3, 3, 3};
    take(tickets[i], (float)(i * 10), 1, kWidths[i % 6]);
  }
  float next = 0;
  for (uint32_t i = 0; i < p->count; ++i) {
    assert_true(p->log[i].first == next);
    next += 10 * (float)p->log[i].requests;
  }
  assert_true(next == 600);
  assert_int_equal(p->count, 30); /* each run of one kind is one batch */
  end(queue, p);
}

static void requests_of_one_shape_are_grouped_across_others(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 2;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *block1 = submit_held(queue, p, 1000, 1, 1);
  leat_batch_ticket *block2 = submit(queue, 2000, 1, 1);
  await_inside(p, 2);
  leat_batch_ticket *tickets[8];
  for (int i = 0; i < 8; ++i) {
    tickets[i] = submit(queue, (float)(i * 10), 2, i % 2 == 0 ? 3 : 5);
  }
  set_shut(p, false);
  take(block1, 1000, 1, 1);
  take(block2, 2000, 1, 1);
  for (int i = 0; i < 8; ++i) {
    take(tickets[i], (float)(i * 10), 2, i % 2 == 0 ? 3 : 5);
  }
  assert_int_equal(p->count, 4);
  for (uint32_t i = 2; i < 4; ++i) {
    assert_int_equal(p->log[i].requests, 4);
    assert_int_equal(p->log[i].rows, 8);
    assert_true(p->log[i].first == (p->log[i].shape[1] == 3 ? 0.0F : 10.0F));
  }
  assert_int_equal(stats_of(queue).sizes[0], 2);
  assert_int_equal(stats_of(queue).sizes[2], 2);
  assert_int_equal(stats_of(queue).largest_batch, 4);
  end(queue, p);
}

static void shorter_inputs_are_padded_and_results_cut_back(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_pad pad = {.struct_size = sizeof(pad), .input = 0, .axis = 1, .multiple = 4};
  const float fill = -1;
  memcpy(pad.fill, &fill, sizeof(fill));
  leat_batch_follow follow = {
      .struct_size = sizeof(follow), .output = 0, .output_axis = 1, .input = 0, .input_axis = 1};
  leat_batch_config config = default_config(p);
  config.pad_count = 1;
  config.pads = (const leat_batch_pad *const[]){&pad};
  config.follow_count = 1;
  config.follows = (const leat_batch_follow *const[]){&follow};
  config.row_multiple = 4;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *block = submit_held(queue, p, 7000, 4, 4);
  static const int64_t kWidths[] = {2, 5, 3};
  leat_batch_ticket *tickets[3];
  for (int i = 0; i < 3; ++i) {
    tickets[i] = submit(queue, (float)(100 * (i + 1)), 1 + i % 2, kWidths[i]);
  }
  set_shut(p, false);
  take(block, 7000, 4, 4);
  for (int i = 0; i < 3; ++i) {
    DLTensor out[2];
    const int64_t rows = 1 + i % 2;
    ASSERT_OK(leat_batch_wait(tickets[i], -1, &err));
    ASSERT_OK(leat_batch_outputs(tickets[i], 2, out, &err));
    assert_int_equal(out[0].shape[0], rows);
    assert_int_equal(out[0].shape[1], kWidths[i]);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t sum = 0;
      for (int64_t k = 0; k < kWidths[i]; ++k) {
        const float in = (float)(100 * (i + 1)) + (float)(row * kWidths[i] + k);
        assert_true(((float *)out[0].data)[row * kWidths[i] + k] == 2 * in);
        sum += (int64_t)in;
      }
      /* Output 1 follows nothing and has summed the whole row: the fill counts. */
      assert_int_equal(((int64_t *)out[1].data)[row], sum - (8 - kWidths[i]));
    }
    ASSERT_OK(leat_batch_release(tickets[i], &err));
  }
  assert_int_equal(p->count, 2);
  assert_int_equal(p->log[1].requests, 3);
  assert_int_equal(p->log[1].rows, 4);
  assert_int_equal(p->log[1].shape[1], 8);
  /* A lone row is filled up to four with copies of itself, and the caller sees one. */
  DLTensor out[2];
  leat_batch_ticket *lone = submit(queue, 1, 1, 4);
  ASSERT_OK(leat_batch_wait(lone, -1, &err));
  ASSERT_OK(leat_batch_outputs(lone, 2, out, &err));
  assert_int_equal(out[1].shape[0], 1);
  assert_int_equal(*(int64_t *)out[1].data, 1 + 2 + 3 + 4);
  ASSERT_OK(leat_batch_release(lone, &err));
  assert_int_equal(p->log[2].rows, 1);
  assert_int_equal(p->log[2].shape[0], 4);
  assert_true(p->log[2].last == 4);
  end(queue, p);
}

static void a_lone_request_runs_after_the_delay(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_delay_ns = 2000000;
  leat_batch_queue *queue = new_queue(&config);
  take(submit(queue, 1, 1, 1), 1, 1, 1);
  assert_int_equal(p->count, 1);
  end(queue, p);
}

static void a_batch_runs_when_it_is_full_without_the_delay(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_ticket *tickets[6];
  config.max_rows = 4;
  config.workers = 3;
  for (int round = 0; round < 2; ++round) {
    config.max_delay_ns = round == 0 ? LONG : -1;
    leat_batch_queue *queue = new_queue(&config);
    p->count = 0;
    for (int i = 0; i < 3; ++i) {
      tickets[i] = submit(queue, (float)i, 1, 1);
    }
    expect_error(leat_batch_wait(tickets[0], 0, &err), LEAT_ERROR_TIMEOUT, "has not begun");
    expect_error(leat_batch_wait(tickets[0], 1000, &err), LEAT_ERROR_TIMEOUT, "has not begun");
    assert_int_equal(stats_of(queue).waiting, 3);
    tickets[3] = submit(queue, 3, 1, 1);
    for (int i = 0; i < 4; ++i) {
      take(tickets[i], (float)i, 1, 1);
    }
    assert_int_equal(p->count, 1);
    assert_int_equal(p->log[0].requests, 4);
    /* Two rows do not go with three into four: the three are left behind, so the batch cannot grow. */
    tickets[0] = submit(queue, 10, 2, 1);
    tickets[1] = submit(queue, 20, 3, 1);
    take(tickets[0], 10, 2, 1);
    ASSERT_OK(leat_batch_release(tickets[1], &err));
    ASSERT_OK(leat_batch_queue_destroy(queue, LEAT_BATCH_DRAIN, &err));
  }
  free_plant(p);
}

static void a_full_queue_does_not_wait_for_more(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_delay_ns = -1;
  config.capacity = 3;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[3];
  for (int i = 0; i < 3; ++i) {
    tickets[i] = submit(queue, (float)i, 1, 1);
  }
  for (int i = 0; i < 3; ++i) {
    take(tickets[i], (float)i, 1, 1);
  }
  assert_int_equal(p->count, 1);
  end(queue, p);
}

static void one_worker_does_not_wait_for_what_cannot_join(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_delay_ns = -1;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[3] = {submit(queue, 1, 1, 4), submit(queue, 2, 1, 5), NULL};
  take(tickets[0], 1, 1, 4);
  assert_int_equal(stats_of(queue).waiting, 1);
  /* The same shape, and another type. */
  int32_t values[5] = {0};
  DLTensor in = {
      .data = values, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLInt, 32, 1}, .shape = (int64_t[]){1, 5}};
  ASSERT_OK(leat_batch_submit(queue, 1, (const DLTensor *const[]){&in}, 0, &tickets[2], &err));
  take(tickets[1], 2, 1, 5);
  assert_int_equal(p->count, 2);
  ASSERT_OK(leat_batch_release(tickets[2], &err));
  end(queue, p);
}

static void a_batch_that_runs_does_not_keep_the_clock(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 2;
  config.max_rows = 2;
  config.max_delay_ns = 20000000;
  leat_batch_queue *queue = new_queue(&config);
  /* One worker watches the clock for a lone request when another goes to rest. The full batch that comes next may go to
   * either, and whoever takes it stays in it: the other one sees to the lone request. */
  for (int i = 0; i < 5; ++i) {
    set_keep(p, 700);
    leat_batch_ticket *first = submit(queue, 700, 2, 3);
    await_inside(p, 1);
    leat_batch_ticket *lone = submit(queue, 1, 1, 1);
    usleep(2000); /* these make it likely to come as it says above; what follows is right in any case */
    set_keep(p, 500);
    take(first, 700, 2, 3);
    usleep(2000);
    leat_batch_ticket *full = submit(queue, 500, 2, 2);
    take(lone, 1, 1, 1);
    set_keep(p, 0);
    take(full, 500, 2, 2);
  }
  end(queue, p);
}

static void max_bytes_bounds_a_batch(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_bytes = 10 * sizeof(float);
  config.max_delay_ns = LONG;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[3];
  for (int i = 0; i < 3; ++i) {
    tickets[i] = submit(queue, (float)(i * 10), 1, 4);
  }
  take(tickets[0], 0, 1, 4);
  take(tickets[1], 10, 1, 4);
  assert_int_equal(p->log[0].requests, 2);
  assert_int_equal(stats_of(queue).waiting, 1);
  ASSERT_OK(leat_batch_release(tickets[2], &err));
  leat_batch_ticket *large = NULL;
  expect_error(put(queue, 0, 1, 11, 0, &large, &err), LEAT_ERROR_INVALID_ARGUMENT, "max_bytes");
  assert_null(large);
  /* One element that is seen 2^42 times: it is refused before it is copied, for which there is no memory. */
  float element = 0;
  const DLTensor endless = {.data = &element,
                            .device = {kDLCPU, 0},
                            .ndim = 2,
                            .dtype = {kDLFloat, 32, 1},
                            .shape = (int64_t[]){1, INT64_C(1) << 42},
                            .strides = (int64_t[]){0, 0}};
  expect_error(leat_batch_submit(queue, 1, (const DLTensor *const[]){&endless}, 0, &large, &err),
               LEAT_ERROR_INVALID_ARGUMENT, "max_bytes");
  assert_null(large);
  end(queue, p);
}

static void strides_and_offsets_are_followed(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_queue *queue = new_queue(&config);
  /* Columns 1 and 2 of a matrix of 3 x 4, transposed: 2 rows of 3. */
  float matrix[12];
  float doubled[12];
  int64_t sums[2];
  for (int i = 0; i < 12; ++i) {
    matrix[i] = (float)i;
    doubled[i] = -7;
  }
  DLTensor in = {.data = matrix,
                 .device = {kDLCPU, 0},
                 .ndim = 2,
                 .dtype = {kDLFloat, 32, 1},
                 .shape = (int64_t[]){2, 3},
                 .strides = (int64_t[]){1, 4},
                 .byte_offset = sizeof(float)};
  DLTensor out0 = in;
  out0.data = doubled;
  DLTensor out1 = {.data = sums + 1,
                   .device = {kDLCPU, 0},
                   .ndim = 1,
                   .dtype = {kDLInt, 64, 1},
                   .shape = (int64_t[]){2},
                   .strides = (int64_t[]){-1}};
  ASSERT_OK(
      leat_batch_run(queue, 1, (const DLTensor *const[]){&in}, 2, (const DLTensor *const[]){&out0, &out1}, LONG, &err));
  for (int i = 0; i < 12; ++i) {
    assert_true(doubled[i] == (i % 4 == 1 || i % 4 == 2 ? 2 * matrix[i] : -7));
  }
  assert_int_equal(sums[1], 1 + 5 + 9);
  assert_int_equal(sums[0], 2 + 6 + 10);
  end(queue, p);
}

/* ---- Back-pressure ----------------------------------------------------------------------------------------------- */

typedef struct blocked {
  pthread_t thread;
  leat_batch_queue *queue;
  float first;
  int64_t timeout;
  int32_t status;
  leat_batch_ticket *ticket;
} blocked;

static void *submit_blocked(void *argument) {
  blocked *b = argument;
  b->status = put(b->queue, b->first, 1, 1, b->timeout, &b->ticket, NULL);
  return NULL;
}

static void start_blocked(blocked *b, leat_batch_queue *queue, float first, int64_t timeout) {
  const uint64_t before = stats_of(queue).blocked;
  *b = (blocked){.queue = queue, .first = first, .timeout = timeout};
  assert_int_equal(pthread_create(&b->thread, NULL, submit_blocked, b), 0);
  while (stats_of(queue).blocked == before) {
    usleep(100);
  }
}

static void a_full_queue_refuses_or_blocks_in_order(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.capacity = 2;
  config.max_rows = 1;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *running = submit_held(queue, p, 1, 1, 1);
  leat_batch_ticket *waiting[2] = {submit(queue, 2, 1, 1), submit(queue, 3, 1, 1)};
  leat_batch_ticket *none = running;
  expect_error(put(queue, 9, 1, 1, 0, &none, &err), LEAT_ERROR_EXHAUSTED, "2 requests wait already");
  assert_null(none);
  expect_error(put(queue, 9, 1, 1, 1000, &none, &err), LEAT_ERROR_TIMEOUT, "stayed full");
  assert_int_equal(stats_of(queue).refused, 2);
  blocked threads[4];
  for (int i = 0; i < 4; ++i) {
    start_blocked(&threads[i], queue, (float)(4 + i), i % 2 == 0 ? -1 : LONG);
  }
  /* Whoever comes while others wait is behind them, even when there is room for a moment. */
  ASSERT_OK(leat_batch_cancel(waiting[1], &err));
  expect_error(put(queue, 9, 1, 1, 0, &none, &err), LEAT_ERROR_EXHAUSTED, "2 requests wait already");
  set_shut(p, false);
  take(running, 1, 1, 1);
  take(waiting[0], 2, 1, 1);
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    assert_int_equal(threads[i].status, LEAT_OK);
    take(threads[i].ticket, (float)(4 + i), 1, 1);
  }
  ASSERT_OK(leat_batch_release(waiting[1], &err));
  static const float kOrder[] = {1, 2, 4, 5, 6, 7};
  assert_int_equal(p->count, 6);
  for (int i = 0; i < 6; ++i) {
    assert_true(p->log[i].first == kOrder[i]);
  }
  end(queue, p);
}

static void waiting_ends_with_its_time(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.capacity = 1;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *running = submit_held(queue, p, 1, 1, 1);
  float value = 7, doubled = -5;
  int64_t sum = -5, shape[2] = {1, 1};
  DLTensor in = matrix_of(&value, shape), out0 = matrix_of(&doubled, shape);
  DLTensor out1 = {.data = &sum, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = shape};
  const DLTensor *const ins[] = {&in}, *const outs[] = {&out0, &out1};
  /* Admitted and never run: the request is withdrawn, and its place is free again. */
  for (int i = 0; i < 2; ++i) {
    expect_error(leat_batch_run(queue, 1, ins, 2, outs, 1000000, &err), LEAT_ERROR_TIMEOUT, "has not begun");
    assert_int_equal(stats_of(queue).waiting, 0);
    assert_int_equal(stats_of(queue).cancelled, i + 1);
  }
  /* Not admitted. */
  leat_batch_ticket *waiting = submit(queue, 2, 1, 1);
  expect_error(leat_batch_run(queue, 1, ins, 2, outs, 0, &err), LEAT_ERROR_EXHAUSTED, "1 requests wait already");
  expect_error(leat_batch_run(queue, 1, ins, 2, outs, 1000000, &err), LEAT_ERROR_TIMEOUT, "stayed full");
  assert_int_equal(stats_of(queue).refused, 2);
  set_shut(p, false);
  take(running, 1, 1, 1);
  take(waiting, 2, 1, 1);
  assert_true(doubled == -5 && sum == -5);
  end(queue, p);
}

/* Room that comes otherwise than by a batch. */
static void whoever_is_blocked_gets_room_that_comes_otherwise(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.capacity = 1;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *running = submit_held(queue, p, 1, 1, 1);
  leat_batch_ticket *waiting = submit(queue, 2, 1, 1);
  blocked threads[3];
  for (int i = 0; i < 3; ++i) {
    start_blocked(&threads[i], queue, (float)(3 + i), PATIENCE);
  }
  for (int i = 0; i < 3; ++i) {
    switch (i) {
      case 0:
        ASSERT_OK(leat_batch_release(waiting, &err));
        break;
      case 1:
        ASSERT_OK(leat_batch_cancel(threads[0].ticket, &err));
        ASSERT_OK(leat_batch_release(threads[0].ticket, &err));
        break;
      default:
        config.capacity = 2;
        ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
        break;
    }
    /* No batch has ended meanwhile. */
    assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    assert_int_equal(threads[i].status, LEAT_OK);
  }
  set_shut(p, false);
  take(running, 1, 1, 1);
  take(threads[1].ticket, 4, 1, 1);
  take(threads[2].ticket, 5, 1, 1);
  end(queue, p);
}

/* ---- Cancel, failure, shutdown ----------------------------------------------------------------------------------- */

static void a_waiting_request_can_be_cancelled_and_a_running_one_not(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 2;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *running = submit_held(queue, p, 1, 1, 1);
  leat_batch_ticket *dropped = submit(queue, 2, 1, 1);
  await_inside(p, 2);
  leat_batch_ticket *waiting = submit(queue, 3, 1, 1);
  leat_batch_ticket *let_go = submit(queue, 4, 1, 1);
  leat_batch_ticket *stays = submit(queue, 5, 1, 1);
  expect_error(leat_batch_cancel(running, &err), LEAT_ERROR_BUSY, "it runs");
  expect_error(leat_batch_wait(running, 0, &err), LEAT_ERROR_TIMEOUT, "its batch runs");
  expect_error(leat_batch_outputs(running, 2, &(DLTensor){0}, &err), LEAT_ERROR_NOT_READY, "not ended");
  ASSERT_OK(leat_batch_cancel(waiting, &err));
  expect_error(leat_batch_cancel(waiting, &err), LEAT_ERROR_BUSY, "has ended");
  expect_error(leat_batch_wait(waiting, -1, &err), LEAT_ERROR_UNAVAILABLE, "cancelled");
  expect_error(leat_batch_outputs(waiting, 2, &(DLTensor){0}, &err), LEAT_ERROR_UNAVAILABLE, "cancelled");
  ASSERT_OK(leat_batch_release(waiting, &err));
  ASSERT_OK(leat_batch_release(let_go, &err));
  ASSERT_OK(leat_batch_release(dropped, &err));
  set_shut(p, false);
  take(running, 1, 1, 1);
  ASSERT_OK(leat_batch_wait(stays, -1, &err));
  expect_error(leat_batch_cancel(stays, &err), LEAT_ERROR_BUSY, "has ended");
  take(stays, 5, 1, 1);
  ASSERT_OK(leat_batch_queue_shutdown(queue, LEAT_BATCH_DRAIN, &err));
  leat_batch_stats stats = stats_of(queue);
  assert_int_equal(stats.cancelled, 2);
  assert_int_equal(stats.done, 3);
  for (uint32_t i = 0; i < p->count; ++i) {
    assert_true(p->log[i].first != 3 && p->log[i].first != 4);
  }
  end(queue, p);
}

static void a_failing_batch_fails_its_own_requests_and_no_others(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_rows = 2;
  config.max_delay_ns = LONG;
  p->poison = 12;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[6];
  for (int i = 0; i < 6; ++i) {
    tickets[i] = submit(queue, (float)(10 + i), 1, 1);
  }
  for (int i = 0; i < 6; ++i) {
    if (i / 2 == 1) {
      for (int again = 0; again < 2; ++again) {
        expect_error(leat_batch_wait(tickets[i], -1, &err), LEAT_ERROR_DEVICE_LOST, "there is poison in it");
        assert_int_equal(err.native_code, 77);
      }
      ASSERT_OK(leat_batch_release(tickets[i], &err));
    } else {
      take(tickets[i], (float)(10 + i), 1, 1);
    }
  }
  leat_batch_stats stats = stats_of(queue);
  assert_int_equal(stats.failed, 2);
  assert_int_equal(stats.done, 4);
  ASSERT_OK(leat_batch_queue_shutdown(queue, LEAT_BATCH_DRAIN, &err));
  assert_int_equal(p->released, 2);
  end(queue, p);
}

static void outputs_that_do_not_fit_are_an_error_that_says_so(void **state) {
  (void)state;
  static const struct {
    int manner;
    float poison;
    int32_t status;
    const char *text;
  } kManners[] = {
      {OUT_FEW_ROWS, 0, LEAT_ERROR_INTERNAL, "output 0 has shape [1,4]; a batch of 2 rows has outputs of 2 rows"},
      {OUT_NO_DATA, 0, LEAT_ERROR_INTERNAL, "output 0 has elements but no data"},
      {OUT_DEVICE, 0, LEAT_ERROR_INTERNAL, "output 0 is on device type"},
      {OUT_NARROW, 0, LEAT_ERROR_INTERNAL, "axis 1 of output 0 follows axis 1 of input 0, and their sizes are 3 and 4"},
      {OUT_SILENT, 1, LEAT_ERROR_DEVICE_LOST, "LEAT_ERROR_DEVICE_LOST) and gave no message"},
  };
  for (size_t i = 0; i < sizeof(kManners) / sizeof(*kManners); ++i) {
    plant *p = new_plant();
    leat_batch_follow follow = {
        .struct_size = sizeof(follow), .output = 0, .output_axis = 1, .input = 0, .input_axis = 1};
    leat_batch_config config = default_config(p);
    config.follow_count = 1;
    config.follows = (const leat_batch_follow *const[]){&follow};
    p->manner = kManners[i].manner;
    p->poison = kManners[i].poison;
    leat_batch_queue *queue = new_queue(&config);
    leat_batch_ticket *ticket = submit(queue, 1, 2, 4);
    expect_error(leat_batch_wait(ticket, -1, &err), kManners[i].status, kManners[i].text);
    ASSERT_OK(leat_batch_release(ticket, &err));
    ASSERT_OK(leat_batch_queue_shutdown(queue, LEAT_BATCH_DRAIN, &err));
    assert_int_equal(p->released, kManners[i].manner != OUT_SILENT); /* what was made is released in any case */
    end(queue, p);
  }
}

static void *destroy_failing(void *queue) {
  return (void *)(intptr_t)leat_batch_queue_shutdown(queue, LEAT_BATCH_FAIL, NULL);
}

static void *destroy_draining(void *queue) {
  return (void *)(intptr_t)leat_batch_queue_shutdown(queue, LEAT_BATCH_DRAIN, NULL);
}

static void await_closed(leat_batch_queue *queue) {
  leat_batch_ticket *ticket = NULL;
  while (put(queue, 0, 99, 0, 0, &ticket, NULL) != LEAT_ERROR_UNAVAILABLE) {
    assert_null(ticket);
    usleep(100);
  }
}

static void shutdown_drains_or_fails_what_waits(void **state) {
  (void)state;
  for (int drain = 0; drain < 2; ++drain) {
    plant *p = new_plant();
    leat_batch_config config = default_config(p);
    config.capacity = 3;
    config.max_rows = 2;
    config.max_delay_ns = -1;
    leat_batch_queue *queue = new_queue(&config);
    set_shut(p, true);
    leat_batch_ticket *running[2] = {submit(queue, 1, 1, 1), submit(queue, 2, 1, 1)};
    await_inside(p, 1);
    leat_batch_ticket *waiting[3] = {submit(queue, 3, 1, 1), submit(queue, 4, 1, 1), submit(queue, 5, 1, 1)};
    blocked stuck;
    start_blocked(&stuck, queue, 6, -1);
    pthread_t closer;
    assert_int_equal(pthread_create(&closer, NULL, drain ? destroy_draining : destroy_failing, queue), 0);
    await_closed(queue);
    /* Who was not admitted fails in both cases. */
    assert_int_equal(pthread_join(stuck.thread, NULL), 0);
    assert_int_equal(stuck.status, LEAT_ERROR_UNAVAILABLE);
    assert_null(stuck.ticket);
    if (!drain) {
      expect_error(leat_batch_wait(waiting[0], -1, &err), LEAT_ERROR_UNAVAILABLE, "shut down before the request ran");
    }
    expect_error(leat_batch_queue_configure(queue, &config, &err), LEAT_ERROR_UNAVAILABLE, "shut down");
    set_shut(p, false);
    void *status = NULL;
    assert_int_equal(pthread_join(closer, &status), 0);
    assert_ptr_equal(status, NULL);
    leat_batch_stats stats = stats_of(queue);
    assert_int_equal(stats.done, drain ? 5 : 2);
    assert_int_equal(stats.failed, drain ? 1 : 4);
    assert_int_equal(stats.waiting + stats.running + stats.blocked, 0);
    /* Tickets outlive the queue. */
    ASSERT_OK(leat_batch_queue_destroy(queue, LEAT_BATCH_FAIL, &err));
    for (int i = 0; i < 2; ++i) {
      take(running[i], (float)(1 + i), 1, 1);
    }
    for (int i = 0; i < 3; ++i) {
      if (drain) {
        take(waiting[i], (float)(3 + i), 1, 1);
      } else {
        expect_error(leat_batch_wait(waiting[i], -1, &err), LEAT_ERROR_UNAVAILABLE, "shut down before the request ran");
        ASSERT_OK(leat_batch_release(waiting[i], &err));
      }
    }
    free_plant(p);
  }
}

static void failing_cuts_a_draining_shutdown_short(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_rows = 1;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *running = submit_held(queue, p, 1, 1, 1);
  leat_batch_ticket *waiting = submit(queue, 2, 1, 1);
  pthread_t closers[2];
  assert_int_equal(pthread_create(&closers[0], NULL, destroy_draining, queue), 0);
  await_closed(queue);
  expect_error(leat_batch_wait(waiting, 0, &err), LEAT_ERROR_TIMEOUT, "has not begun");
  assert_int_equal(pthread_create(&closers[1], NULL, destroy_failing, queue), 0);
  expect_error(leat_batch_wait(waiting, -1, &err), LEAT_ERROR_UNAVAILABLE, "shut down");
  set_shut(p, false);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(pthread_join(closers[i], NULL), 0);
  }
  take(running, 1, 1, 1);
  ASSERT_OK(leat_batch_release(waiting, &err));
  end(queue, p);
}

/* ---- Reconfiguring ----------------------------------------------------------------------------------------------- */

static void a_queue_is_reconfigured_while_it_runs(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_queue *queue = new_queue(&config);
  caller callers[THREADS];
  start_callers(callers, THREADS, queue, 10 * rounds(), false);
  for (int i = 0; i < 20 * rounds(); ++i) {
    config.workers = 1 + (uint32_t)i % 5;
    config.max_rows = 4 + i % 7;
    config.capacity = 1 + (uint32_t)i % 11;
    config.max_delay_ns = i % 3 * 10000;
    config.max_bytes = i % 2 * 1000;
    ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
  }
  join_callers(callers, THREADS);
  assert_int_equal(stats_of(queue).done, 10 * rounds() * 4 * THREADS);
  end(queue, p);
}

static void fewer_workers_wait_for_the_batches_of_more(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 3;
  config.max_rows = 1;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[12];
  set_shut(p, true);
  for (int i = 0; i < 3; ++i) {
    tickets[i] = submit(queue, (float)i, 1, 1);
    await_inside(p, (uint32_t)i + 1);
  }
  for (int i = 3; i < 12; ++i) {
    tickets[i] = submit(queue, (float)i, 1, 1 + i % 2);
  }
  config.workers = 1;
  ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
  p->most_inside = 0; /* whoever comes in next takes the lock that this was last written under */
  set_shut(p, false);
  for (int i = 0; i < 12; ++i) {
    take(tickets[i], (float)i, 1, i < 3 ? 1 : 1 + i % 2);
  }
  assert_int_equal(p->most_inside, 1);
  for (int i = 3; i < 12; ++i) {
    assert_true(p->log[i].first == (float)i);
  }
  end(queue, p);
}

static void the_last_of_many_workers_wakes_the_one_that_stays(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 2;
  leat_batch_queue *queue = new_queue(&config);
  set_shut(p, true);
  leat_batch_ticket *tickets[3] = {submit(queue, 1, 1, 1), NULL, NULL};
  await_inside(p, 1);
  tickets[1] = submit(queue, 2, 1, 1);
  await_inside(p, 2);
  /* Worker 1 is the one too many, and it stays in its batch when worker 0 has ended its own. */
  const int kept = p->log[0].worker == 1 ? 0 : 1;
  config.workers = 1;
  ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
  tickets[2] = submit(queue, 3, 1, 1);
  set_keep(p, (float)(kept + 1));
  set_shut(p, false);
  take(tickets[1 - kept], (float)(2 - kept), 1, 1);
  usleep(10000); /* so that worker 0 is likely to have gone to rest; what follows is right in any case */
  expect_error(leat_batch_wait(tickets[2], 0, &err), LEAT_ERROR_TIMEOUT, "has not begun");
  set_keep(p, 0);
  take(tickets[kept], (float)(kept + 1), 1, 1);
  take(tickets[2], 3, 1, 1);
  end(queue, p);
}

static void new_rules_hold_for_requests_that_wait(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.max_delay_ns = -1;
  config.workers = 2;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *tickets[4] = {submit(queue, 10, 1, 2), submit(queue, 20, 3, 4), submit(queue, 40, 1, 2),
                                   submit(queue, 50, 1, 4)};
  expect_error(leat_batch_wait(tickets[0], 0, &err), LEAT_ERROR_TIMEOUT, "has not begun");
  /* With padding all of them go together; what has become too large runs alone. */
  leat_batch_pad pad = {.struct_size = sizeof(pad), .input = 0, .axis = 1, .multiple = 1};
  leat_batch_follow follow = {
      .struct_size = sizeof(follow), .output = 0, .output_axis = 1, .input = 0, .input_axis = 1};
  config.pad_count = 1;
  config.pads = (const leat_batch_pad *const[]){&pad};
  config.follow_count = 1;
  config.follows = (const leat_batch_follow *const[]){&follow};
  config.max_rows = 2;
  config.max_delay_ns = 0;
  config.workers = 1;
  ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
  take(tickets[0], 10, 1, 2);
  take(tickets[1], 20, 3, 4);
  take(tickets[2], 40, 1, 2);
  take(tickets[3], 50, 1, 4);
  assert_int_equal(p->count, 3);
  assert_int_equal(p->log[1].rows, 3);
  assert_int_equal(p->log[2].requests, 2);
  assert_int_equal(p->log[2].shape[1], 4);
  leat_batch_ticket *large = NULL;
  expect_error(put(queue, 0, 3, 4, 0, &large, &err), LEAT_ERROR_INVALID_ARGUMENT, "has 3 rows");
  /* What is fixed stays. */
  config.user = NULL;
  expect_error(leat_batch_queue_configure(queue, &config, &err), LEAT_ERROR_INVALID_ARGUMENT, "user differs");
  config.user = p;
  config.output_count = 1;
  expect_error(leat_batch_queue_configure(queue, &config, &err), LEAT_ERROR_INVALID_ARGUMENT, "");
  config.output_count = 2;
  config.workers = 0;
  expect_error(leat_batch_queue_configure(queue, &config, &err), LEAT_ERROR_INVALID_ARGUMENT, "workers is 0; 1 to 256");
  end(queue, p);
}

static void new_rules_wake_workers_that_rest(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_queue *queue = new_queue(&config);
  for (int i = 0; i < 3; ++i) {
    /* The delay ends, the batch is full, or the queue is full, by the new rules alone. */
    config.max_delay_ns = -1;
    config.max_rows = 32;
    config.workers = 1;
    ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
    leat_batch_ticket *ticket = submit(queue, 1, 1, 1);
    usleep(10000); /* so that the worker is likely to rest; what follows is right in any case */
    expect_error(leat_batch_wait(ticket, 0, &err), LEAT_ERROR_TIMEOUT, "has not begun");
    config.max_delay_ns = i == 0 ? 0 : -1;
    config.max_rows = i == 1 ? 1 : 32;
    config.capacity = i == 2 ? 1 : 256;
    ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
    take(ticket, 1, 1, 1);
  }
  end(queue, p);
}

/* ---- Bad use ----------------------------------------------------------------------------------------------------- */

static void calls_from_inside_that_would_wait_are_refused(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_queue *queue = new_queue(&config);
  p->queue = queue;
  take(submit(queue, 1, 1, 2), 1, 1, 2);
  ASSERT_OK(leat_batch_queue_shutdown(queue, LEAT_BATCH_DRAIN, &err));
  assert_int_equal(p->seen[0], LEAT_OK);
  assert_int_equal(p->seen[1], LEAT_ERROR_BUSY);
  assert_int_equal(p->seen[2], LEAT_ERROR_BUSY);
  assert_int_equal(p->seen[3], LEAT_ERROR_BUSY);
  assert_int_equal(p->seen[4], LEAT_ERROR_BUSY);
  assert_int_equal(p->seen[5], LEAT_OK);
  p->queue = NULL;
  end(queue, p);
}

static void hostile_inputs_are_refused_with_a_reason(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_queue *queue = new_queue(&config);
  float value[4] = {0};
  const DLTensor good = {
      .data = value, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = (int64_t[]){2, 2}};
#define BAD(words, ...)                                                                          \
  do {                                                                                           \
    DLTensor bad = good;                                                                         \
    __VA_ARGS__;                                                                                 \
    leat_batch_ticket *ticket = (leat_batch_ticket *)value;                                      \
    expect_error(leat_batch_submit(queue, 1, (const DLTensor *const[]){&bad}, 0, &ticket, &err), \
                 LEAT_ERROR_INVALID_ARGUMENT, words);                                            \
    assert_null(ticket);                                                                         \
  } while (0)
  BAD("no data", bad.data = NULL);
  BAD("device type", bad.device.device_type = kDLVulkan);
  BAD("0 dimensions", bad.ndim = 0);
  BAD("-1 dimensions", bad.ndim = -1);
  BAD("9 dimensions", bad.ndim = LEAT_MAX_RANK + 1);
  BAD("no shape", bad.shape = NULL);
  BAD("size -1 on axis 1", bad.shape = ((int64_t[]){2, -1}));
  BAD("size -9223372036854775808 on axis 0", bad.shape = ((int64_t[]){INT64_MIN, 1}));
  BAD("more than memory", bad.shape = ((int64_t[]){2, INT64_MAX}));
  BAD("more than memory", bad.shape = ((int64_t[]){INT64_C(1) << 32, INT64_C(1) << 32}));
  BAD("0 lanes", bad.dtype.lanes = 0);
  BAD("elements of 4 bits", bad.dtype.bits = 4);
  BAD("elements of 24 bits", bad.dtype.bits = 24);
  BAD("65535 lanes", bad.dtype.lanes = UINT16_MAX);
  BAD("strides", bad.strides = ((int64_t[]){INT64_MAX, 1}));
  BAD("strides", bad.strides = ((int64_t[]){INT64_MIN, 1}));
  BAD("strides", bad.strides = ((int64_t[]){-(INT64_C(1) << 60), 1}));
  BAD("byte_offset", bad.byte_offset = UINT64_MAX);
  BAD("byte_offset", bad.byte_offset = UINT64_MAX - (uintptr_t)value);
  BAD("has 33 rows", bad.shape = ((int64_t[]){33, 0}));
  BAD("has 9223372036854775807 rows", bad.shape = ((int64_t[]){INT64_MAX, 0}));
#undef BAD
  leat_batch_ticket *ticket = NULL;
  const DLTensor *in[] = {&good, &good};
  expect_error(leat_batch_submit(queue, 1, (const DLTensor *const[]){NULL}, 0, &ticket, &err),
               LEAT_ERROR_INVALID_ARGUMENT, "input 0 is NULL");
  expect_error(leat_batch_submit(queue, 1, NULL, 0, &ticket, &err), LEAT_ERROR_INVALID_ARGUMENT, "inputs is NULL");
  expect_error(leat_batch_submit(queue, 2, in, 0, &ticket, &err), LEAT_ERROR_INVALID_ARGUMENT, "made for 1");
  expect_error(leat_batch_submit(queue, 0, in, 0, &ticket, &err), LEAT_ERROR_INVALID_ARGUMENT, "made for 1");
  expect_error(leat_batch_submit(queue, 1, in, -2, &ticket, &err), LEAT_ERROR_INVALID_ARGUMENT, "timeout_ns is -2");
  expect_error(leat_batch_submit(queue, 1, in, 0, NULL, &err), LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  expect_error(leat_batch_submit(NULL, 1, in, 0, &ticket, &err), LEAT_ERROR_INVALID_ARGUMENT, "queue is NULL");
  expect_error(leat_batch_wait(NULL, 0, &err), LEAT_ERROR_INVALID_ARGUMENT, "ticket is NULL");
  expect_error(leat_batch_cancel(NULL, &err), LEAT_ERROR_INVALID_ARGUMENT, "ticket is NULL");
  expect_error(leat_batch_outputs(NULL, 1, NULL, &err), LEAT_ERROR_INVALID_ARGUMENT, "ticket is NULL");
  ASSERT_OK(leat_batch_release(NULL, &err));
  ASSERT_OK(leat_batch_queue_destroy(NULL, LEAT_BATCH_FAIL, &err));
  expect_error(leat_batch_queue_shutdown(queue, 2, &err), LEAT_ERROR_INVALID_ARGUMENT, "how is 2");
  expect_error(leat_batch_queue_stats(queue, &(leat_batch_stats){.struct_size = 8}, &err), LEAT_ERROR_INVALID_ARGUMENT,
               "struct_size is 8");
  leat_error small = {.struct_size = 8};
  assert_int_equal(leat_batch_submit(queue, 1, in, 0, &ticket, &small), LEAT_ERROR_INVALID_ARGUMENT);
  /* Outputs of leat_batch_run() that do not fit are left alone. */
  int64_t sums[2] = {-3, -3};
  DLTensor out1 = {.data = sums, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = (int64_t[]){2}};
  DLTensor narrow = good;
  narrow.shape = (int64_t[]){2, 1};
  expect_error(leat_batch_run(queue, 1, in, 2, (const DLTensor *const[]){&narrow, &out1}, -1, &err),
               LEAT_ERROR_INVALID_ARGUMENT, "output 0 takes shape [2,1]");
  expect_error(leat_batch_run(queue, 1, in, 2, (const DLTensor *const[]){&good, NULL}, -1, &err),
               LEAT_ERROR_INVALID_ARGUMENT, "output 1 is NULL");
  expect_error(leat_batch_run(queue, 1, in, 1, (const DLTensor *const[]){&good}, -1, &err), LEAT_ERROR_INVALID_ARGUMENT,
               "made for 2");
  assert_int_equal(sums[0], -3);
  /* Sizes beside a 0 may be anything, and nothing is read. */
  DLTensor empty = good;
  empty.shape = (int64_t[]){0, INT64_MAX};
  empty.data = NULL;
  ASSERT_OK(leat_batch_submit(queue, 1, (const DLTensor *const[]){&empty}, 0, &ticket, &err));
  ASSERT_OK(leat_batch_release(ticket, &err));
  end(queue, p);
}

static void inputs_of_a_request_have_the_same_rows(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.input_count = 2;
  leat_batch_queue *queue = new_queue(&config);
  float value[4] = {1, 2, 3, 4};
  DLTensor two = {.data = value, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = (int64_t[]){2}};
  DLTensor three = two;
  three.shape = (int64_t[]){3};
  leat_batch_ticket *ticket = NULL;
  expect_error(leat_batch_submit(queue, 2, (const DLTensor *const[]){&two, &three}, 0, &ticket, &err),
               LEAT_ERROR_INVALID_ARGUMENT, "input 1 has 3 rows and input 0 has 2");
  end(queue, p);
}

static void bad_configurations_are_refused_with_a_reason(void **state) {
  (void)state;
  plant *p = new_plant();
  const leat_batch_pad good_pad = {.struct_size = sizeof(good_pad), .axis = 1, .multiple = 1};
  const leat_batch_follow good_follow = {.struct_size = sizeof(good_follow), .output_axis = 1, .input_axis = 1};
#define BAD(words, ...)                                                                            \
  do {                                                                                             \
    leat_batch_pad pad = good_pad;                                                                 \
    leat_batch_pad pad2 = good_pad;                                                                \
    leat_batch_follow follow = good_follow;                                                        \
    pad2.axis = 2;                                                                                 \
    leat_batch_config bad = default_config(p);                                                     \
    bad.pad_count = 2;                                                                             \
    bad.pads = (const leat_batch_pad *const[]){&pad, &pad2};                                       \
    bad.follow_count = 1;                                                                          \
    bad.follows = (const leat_batch_follow *const[]){&follow};                                     \
    __VA_ARGS__;                                                                                   \
    leat_batch_queue *queue = (leat_batch_queue *)p;                                               \
    expect_error(leat_batch_queue_create(&bad, &queue, &err), LEAT_ERROR_INVALID_ARGUMENT, words); \
    assert_null(queue);                                                                            \
  } while (0)
  BAD("struct_size", bad.struct_size = 0);
  BAD("struct_size", bad.struct_size = sizeof(bad) - 1);
  BAD("workers is 257", bad.workers = 257);
  BAD("input_count is 0", bad.input_count = 0);
  BAD("output_count is 257", bad.output_count = 257);
  BAD("capacity is 0", bad.capacity = 0);
  BAD("reserved is 1", bad.reserved = 1);
  BAD("max_rows is 0", bad.max_rows = 0);
  BAD("max_rows is 9223372036854775807", bad.max_rows = INT64_MAX);
  BAD("row_multiple is 0", bad.row_multiple = 0);
  BAD("no multiple of row_multiple", bad.row_multiple = 3);
  BAD("max_delay_ns is -2", bad.max_delay_ns = -2);
  BAD("max_bytes is -1", bad.max_bytes = -1);
  BAD("run is NULL", bad.run = NULL);
  BAD("pads is NULL", bad.pads = NULL);
  BAD("follows is NULL", bad.follows = NULL);
  BAD("an element of pads is NULL", bad.pads = ((const leat_batch_pad *const[]){&pad, NULL}));
  BAD("an element of pads: struct_size", pad.struct_size = 4);
  BAD("no input 1", pad.input = 1);
  BAD("axis 0", pad.axis = 0);
  BAD("axis 8", pad.axis = 8);
  BAD("multiple is 0", pad.multiple = 0);
  BAD("given twice", pad2.axis = 1);
  BAD("another fill", pad2.fill[0] = 1);
  BAD("no output 2", follow.output = 2);
  BAD("axis 0 of output 0", follow.output_axis = 0);
  BAD("no input 7", follow.input = 7);
  BAD("axis 9 of input 0", follow.input_axis = 9);
  BAD("reserved field", follow.reserved = 1);
  BAD("given twice", bad.follow_count = 2; bad.follows = ((const leat_batch_follow *const[]){&follow, &follow}));
#undef BAD
  expect_error(leat_batch_queue_create(NULL, &(leat_batch_queue *){NULL}, &err), LEAT_ERROR_INVALID_ARGUMENT,
               "config is NULL");
  leat_batch_config config = default_config(p);
  expect_error(leat_batch_queue_create(&config, NULL, &err), LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  /* A longer struct is good as long as what is not known is zero. */
  struct {
    leat_batch_config known;
    uint64_t more;
  } longer = {.known = config};
  longer.known.struct_size = sizeof(longer);
  leat_batch_queue *queue = new_queue(&longer.known);
  longer.more = 1;
  expect_error(leat_batch_queue_configure(queue, &longer.known, &err), LEAT_ERROR_INVALID_ARGUMENT, "something is set");
  end(queue, p);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The sanitizers' allocators abort instead of returning NULL. */
static void a_batch_beyond_memory_fails_alone(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_pad pad = {.struct_size = sizeof(pad), .input = 0, .axis = 1, .multiple = UINT32_MAX};
  leat_batch_config config = default_config(p);
  config.pad_count = 1;
  config.pads = (const leat_batch_pad *const[]){&pad};
  config.row_multiple = 1 << 20;
  config.max_rows = 1 << 20;
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *ticket = submit(queue, 1, 1, 1);
  expect_error(leat_batch_wait(ticket, -1, &err), LEAT_ERROR_OUT_OF_MEMORY, "no memory for input 0");
  ASSERT_OK(leat_batch_release(ticket, &err));
  config.pad_count = 0;
  config.row_multiple = 1;
  ASSERT_OK(leat_batch_queue_configure(queue, &config, &err));
  take(submit(queue, 1, 1, 1), 1, 1, 1);
  end(queue, p);
}
#endif

/* ---- Threads and processes that end ------------------------------------------------------------------------------ */

static void *wait_for_ever(void *ticket) {
  return (void *)(intptr_t)leat_batch_wait(ticket, -1, NULL);
}

static void a_cancelled_thread_leaves_the_queue_usable(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  leat_batch_queue *queue = new_queue(&config);
  leat_batch_ticket *ticket = submit_held(queue, p, 1, 1, 1);
  pthread_t waiter;
  assert_int_equal(pthread_create(&waiter, NULL, wait_for_ever, ticket), 0);
  usleep(10000); /* so that it is likely to wait by now; what follows is right in any case */
  assert_int_equal(pthread_cancel(waiter), 0);
  usleep(10000);
  set_shut(p, false);
  void *status = NULL;
  assert_int_equal(pthread_join(waiter, &status), 0);
  assert_null(status); /* it came back from its call */
  take(ticket, 1, 1, 1);
  take(submit(queue, 2, 1, 1), 2, 1, 1);
  end(queue, p);
}

static void a_child_of_fork_gets_an_error_and_the_parent_goes_on(void **state) {
  (void)state;
  plant *p = new_plant();
  leat_batch_config config = default_config(p);
  config.workers = 2;
  leat_batch_queue *queue = new_queue(&config);
  caller callers[THREADS];
  start_callers(callers, THREADS, queue, 5 * rounds(), true);
  leat_batch_ticket *done = submit(queue, 5, 1, 1);
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      leat_batch_queue *fresh = NULL;
      leat_batch_ticket *ticket = NULL;
      leat_batch_stats stats = {.struct_size = sizeof(stats)};
      const int32_t got[] = {put(queue, 1, 1, 1, -1, &ticket, &err),
                             leat_batch_wait(done, -1, &err),
                             leat_batch_cancel(done, &err),
                             leat_batch_outputs(done, 2, &(DLTensor){0}, &err),
                             leat_batch_release(done, &err),
                             leat_batch_queue_stats(queue, &stats, &err),
                             leat_batch_queue_configure(queue, &config, &err),
                             leat_batch_queue_shutdown(queue, LEAT_BATCH_DRAIN, &err),
                             leat_batch_queue_destroy(queue, LEAT_BATCH_DRAIN, &err),
                             leat_batch_queue_create(&config, &fresh, &err)};
      for (size_t k = 0; k < sizeof(got) / sizeof(*got); ++k) {
        if (got[k] != LEAT_ERROR_FORKED || strstr(err.message, "fork()") == NULL) {
          _exit(1 + (int)k);
        }
      }
      _exit(0);
    }
    assert_true(child > 0);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  join_callers(callers, THREADS);
  take(done, 5, 1, 1);
  end(queue, p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(eight_callers_and_one_worker_are_right_ten_times_of_ten),
    cmocka_unit_test(each_caller_gets_its_own_rows_from_four_workers),
    cmocka_unit_test(one_worker_keeps_the_order_of_submission),
    cmocka_unit_test(requests_of_one_shape_are_grouped_across_others),
    cmocka_unit_test(shorter_inputs_are_padded_and_results_cut_back),
    cmocka_unit_test(a_lone_request_runs_after_the_delay),
    cmocka_unit_test(a_batch_runs_when_it_is_full_without_the_delay),
    cmocka_unit_test(a_full_queue_does_not_wait_for_more),
    cmocka_unit_test(one_worker_does_not_wait_for_what_cannot_join),
    cmocka_unit_test(a_batch_that_runs_does_not_keep_the_clock),
    cmocka_unit_test(max_bytes_bounds_a_batch),
    cmocka_unit_test(strides_and_offsets_are_followed),
    cmocka_unit_test(a_full_queue_refuses_or_blocks_in_order),
    cmocka_unit_test(waiting_ends_with_its_time),
    cmocka_unit_test(whoever_is_blocked_gets_room_that_comes_otherwise),
    cmocka_unit_test(a_waiting_request_can_be_cancelled_and_a_running_one_not),
    cmocka_unit_test(a_failing_batch_fails_its_own_requests_and_no_others),
    cmocka_unit_test(outputs_that_do_not_fit_are_an_error_that_says_so),
    cmocka_unit_test(shutdown_drains_or_fails_what_waits),
    cmocka_unit_test(failing_cuts_a_draining_shutdown_short),
    cmocka_unit_test(a_queue_is_reconfigured_while_it_runs),
    cmocka_unit_test(fewer_workers_wait_for_the_batches_of_more),
    cmocka_unit_test(the_last_of_many_workers_wakes_the_one_that_stays),
    cmocka_unit_test(new_rules_hold_for_requests_that_wait),
    cmocka_unit_test(new_rules_wake_workers_that_rest),
    cmocka_unit_test(calls_from_inside_that_would_wait_are_refused),
    cmocka_unit_test(hostile_inputs_are_refused_with_a_reason),
    cmocka_unit_test(inputs_of_a_request_have_the_same_rows),
    cmocka_unit_test(bad_configurations_are_refused_with_a_reason),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    cmocka_unit_test(a_batch_beyond_memory_fails_alone),
#endif
    cmocka_unit_test(a_cancelled_thread_leaves_the_queue_usable),
    cmocka_unit_test(a_child_of_fork_gets_an_error_and_the_parent_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
