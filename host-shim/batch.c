/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and threads are POSIX's, lists are the C library's: a host that loads this library gets no other with it,
 * memory that is out is an error rather than an abort, and sanitizers for threads see everything. */
#include <leat/batch.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "batch_setup.h"
#include "batch_tensor.h"
#include "batch_worker.h"
#include "common/fork.h"
#include "error.h"

#define FOREVER INT64_MAX

/* ---- What there is ----------------------------------------------------------------------------------------------- */

/* Requests that may go together, oldest first. Guarded by the queue's lock. */
typedef struct leati_batch_group {
  TAILQ_ENTRY(leati_batch_group) link;
  leati_batch_list tickets;
  uint32_t count;
  int64_t load; /* sum of load_of() */
} group;

typedef TAILQ_HEAD(group_list, leati_batch_group) group_list;

struct leat_batch_queue {
  pthread_mutex_t admin; /* orders configure() and shutdown() as wholes; taken before `lock`, guards no field alone */
  pthread_mutex_t lock;  /* guards everything below */
  pthread_cond_t work;   /* workers wait here */
  uint32_t references;   /* the handle and each ticket */
  bool closed;
  bool timing; /* some worker watches the clock for all */
  leati_batch_setup *setup;
  uint32_t running;         /* batches */
  uint32_t waiting_count;   /* elements of `waiting` */
  leati_batch_list waiting; /* admitted, oldest first */
  leati_batch_list blocked; /* first come, first */
  /* Requests join a group of their kind or, with one worker, only the last group: then the order of groups is that of
   * requests, and workers take from the first. */
  group_list groups;
  leati_batch_worker *workers[LEAT_BATCH_MAX_WORKERS]; /* changed under `admin`, too */
  leat_batch_stats stats;                              /* what is not counted elsewhere */
};

/* The queue that this thread works for. */
static _Thread_local const leat_batch_queue *serving;

/* First line of every function. */
static int32_t enter(leat_error *err) {
  if (!leati_error_usable(err)) {
    return LEAT_ERROR_INVALID_ARGUMENT;
  }
  leati_error_clear(err);
  if (leati_forked()) {
    return leati_error_set(err, LEAT_ERROR_FORKED, 0,
                           "this process is a child of fork(), which the threads of a batch queue do not follow; start "
                           "workers with posix_spawn() or before the first queue");
  }
  return LEAT_OK;
}

static int32_t null_argument(const char *name, leat_error *err) {
  return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "%s is NULL", name);
}

/* ---- Time and waiting -------------------------------------------------------------------------------------------- */

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t add_time(int64_t from, int64_t duration) {
  int64_t sum = 0;
  return duration < 0 || __builtin_add_overflow(from, duration, &sum) ? FOREVER : sum;
}

static int32_t check_timeout(int64_t timeout_ns, leat_error *err) {
  return timeout_ns >= -1
             ? LEAT_OK
             : leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                               "timeout_ns is %lld; -1 waits as long as it takes, 0 and more are nanoseconds",
                               (long long)timeout_ns);
}

static bool init_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) {
    return false;
  }
  const bool made =
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  return made;
}

/* Waits until somebody signals, or a time of now_ns() comes. A thread that is cancelled meanwhile goes on with the lock
 * held, as no function here is a cancellation point. */
static void wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) {
  int cancel = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (until == FOREVER) {
    pthread_cond_wait(condition, lock);
  } else {
    const struct timespec deadline = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    (void)pthread_cond_timedwait(condition, lock, &deadline);
  }
  pthread_setcancelstate(cancel, NULL);
}

/* ---- Tickets ----------------------------------------------------------------------------------------------------- */

/* What a request counts for against max_rows: its rows; one without any still is something. */
static int64_t load_of(const leat_batch_ticket *ticket) {
  return ticket->rows > 0 ? ticket->rows : 1;
}

static void free_ticket(leat_batch_ticket *ticket) {
  leati_batch_pack_clear(&ticket->in);
  leati_batch_pack_clear(&ticket->out);
  pthread_cond_destroy(&ticket->moved);
  free(ticket->spare);
  free(ticket->message);
  free(ticket);
}

static int32_t report_failure(const leat_batch_ticket *ticket, leat_error *err) {
  return leati_error_set(err, ticket->code, ticket->native_code, "%s", ticket->message ? ticket->message : "");
}

/* Ends a request. Its caller may free it from now on; if he has let go of it already, that is done here. */
static void end_ticket(leat_batch_ticket *ticket) {
  ticket->state = LEATI_TICKET_DONE;
  leati_batch_pack_clear(&ticket->in);
  if (ticket->held) {
    pthread_cond_broadcast(&ticket->moved);
  } else {
    --ticket->queue->references; /* the handle still counts as one, so it does not become 0 */
    free_ticket(ticket);
  }
}

static void free_queue(leat_batch_queue *queue) {
  pthread_cond_destroy(&queue->work);
  pthread_mutex_destroy(&queue->lock);
  pthread_mutex_destroy(&queue->admin);
  free(queue->setup);
  free(queue);
}

/* Gives up a reference and the lock. */
static void unlock_and_drop(leat_batch_queue *queue) {
  const bool last = --queue->references == 0;
  pthread_mutex_unlock(&queue->lock);
  if (last) {
    free_queue(queue);
  }
}

static void drop_setup(leati_batch_setup *setup) {
  if (--setup->references == 0) {
    free(setup);
  }
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static bool is_strict(const leat_batch_queue *queue) {
  return queue->setup->config.workers == 1;
}

static group *find_group(leat_batch_queue *queue, const leat_batch_ticket *ticket) {
  group *found;
  TAILQ_FOREACH_REVERSE(found, &queue->groups, group_list, link) {
    const bool alike =
        leati_batch_setup_alike(queue->setup, TAILQ_FIRST(&found->tickets)->in.tensors, ticket->in.tensors);
    if (alike || is_strict(queue)) {
      return alike ? found : NULL;
    }
  }
  return NULL;
}

/* Puts an admitted request into a group. TRUE if that founded one. */
static bool join_group(leat_batch_queue *queue, leat_batch_ticket *ticket) {
  group *mine = find_group(queue, ticket);
  const bool founds = mine == NULL;
  if (founds) {
    mine = ticket->spare;
    ticket->spare = NULL;
    *mine = (group){0};
    TAILQ_INIT(&mine->tickets);
    TAILQ_INSERT_TAIL(&queue->groups, mine, link);
  }
  TAILQ_INSERT_TAIL(&mine->tickets, ticket, mate);
  ++mine->count;
  mine->load += load_of(ticket);
  ticket->group = mine;
  return founds;
}

/* Takes a request that waits out of its group and the queue. The group goes with its last one. */
static void leave_queue(leat_batch_queue *queue, leat_batch_ticket *ticket) {
  group *mine = ticket->group;
  TAILQ_REMOVE(&mine->tickets, ticket, mate);
  --mine->count;
  mine->load -= load_of(ticket);
  ticket->group = NULL;
  if (mine->count == 0) {
    TAILQ_REMOVE(&queue->groups, mine, link);
    free(mine);
  }
  TAILQ_REMOVE(&queue->waiting, ticket, link);
  --queue->waiting_count;
}

/* Forms the groups anew, by the rules in force. A request that lacks a spare group founded one, and as it still waits,
 * that one still is: so there are enough. */
static void regroup(leat_batch_queue *queue) {
  group_list old;
  TAILQ_INIT(&old);
  TAILQ_CONCAT(&old, &queue->groups, link);
  leat_batch_ticket *ticket;
  TAILQ_FOREACH(ticket, &queue->waiting, link) {
    if (!ticket->spare) {
      ticket->spare = TAILQ_FIRST(&old);
      TAILQ_REMOVE(&old, ticket->spare, link);
    }
    (void)join_group(queue, ticket);
  }
  while (!TAILQ_EMPTY(&old)) {
    group *unused = TAILQ_FIRST(&old);
    TAILQ_REMOVE(&old, unused, link);
    free(unused);
  }
}

/* ---- Admission --------------------------------------------------------------------------------------------------- */

static bool has_room(const leat_batch_queue *queue) {
  return queue->waiting_count < queue->setup->config.capacity;
}

/* Admits a request, and wakes a worker if there may now be something to do: a clock to be watched, or a batch to be
 * run. Workers that stay asleep have looked at everything older. */
static void admit(leat_batch_queue *queue, leat_batch_ticket *ticket) {
  const leat_batch_config *config = &queue->setup->config;
  ticket->state = LEATI_TICKET_WAITING;
  ticket->admitted = now_ns();
  TAILQ_INSERT_TAIL(&queue->waiting, ticket, link);
  ++queue->waiting_count;
  const bool founds = join_group(queue, ticket);
  if (queue->waiting_count == 1 || !has_room(queue) || ticket->group->load >= config->max_rows ||
      config->max_bytes > 0 || (founds && is_strict(queue))) {
    pthread_cond_signal(&queue->work);
  }
}

/* Admits those who were first to be blocked, as far as there is room. */
static void admit_blocked(leat_batch_queue *queue) {
  while (has_room(queue) && !TAILQ_EMPTY(&queue->blocked)) {
    leat_batch_ticket *ticket = TAILQ_FIRST(&queue->blocked);
    TAILQ_REMOVE(&queue->blocked, ticket, link);
    --queue->stats.blocked;
    admit(queue, ticket);
    pthread_cond_signal(&ticket->moved);
  }
}

static void withdraw(leat_batch_queue *queue, leat_batch_ticket *ticket, const char *why) {
  leave_queue(queue, ticket);
  leati_batch_fail(ticket, LEAT_ERROR_UNAVAILABLE, 0, why);
  end_ticket(ticket);
}

/* ---- Choosing a batch -------------------------------------------------------------------------------------------- */

/* The bytes of an input of the batch in `worker`'s hand if one more request came in; FALSE if they are too many. */
static bool fits(const leat_batch_queue *queue, const leati_batch_worker *self, uint32_t input, const DLTensor *tensor,
                 int64_t rows) {
  int64_t shape[LEAT_MAX_RANK];
  size_t bytes = 0;
  shape[0] = rows;
  for (int32_t axis = 1; axis < tensor->ndim; ++axis) {
    const int64_t mine = leati_batch_setup_padded(queue->setup, input, axis, tensor->shape[axis]);
    const int64_t others = self->batch_count > 0 ? self->inputs[input].shape[axis] : 0;
    shape[axis] = mine > others ? mine : others;
  }
  return leati_batch_tensor_bytes(tensor->dtype, tensor->ndim, shape, queue->setup->max_bytes, &bytes);
}

/* Plans the batch that a group gives now: sets `batch_count`, `batch_rows` and the shapes in `self`, and moves nothing.
 * The first request is in it in any case. */
static void plan(const leat_batch_queue *queue, leati_batch_worker *self, const group *from) {
  const leati_batch_setup *setup = queue->setup;
  int64_t load = 0;
  self->batch_count = 0;
  self->batch_rows = 0;
  const leat_batch_ticket *ticket;
  TAILQ_FOREACH(ticket, &from->tickets, mate) {
    const int64_t rows = leati_batch_setup_rows(setup, self->batch_rows + ticket->rows);
    bool joins = self->batch_count == 0 || load_of(ticket) <= setup->config.max_rows - load;
    for (uint32_t i = 0; joins && self->batch_count > 0 && i < setup->config.input_count; ++i) {
      joins = fits(queue, self, i, &ticket->in.tensors[i], rows);
    }
    if (!joins) {
      return;
    }
    for (uint32_t i = 0; i < setup->config.input_count; ++i) {
      const DLTensor *tensor = &ticket->in.tensors[i];
      DLTensor *whole = &self->inputs[i];
      for (int32_t axis = 1; axis < tensor->ndim; ++axis) {
        const int64_t mine = leati_batch_setup_padded(setup, i, axis, tensor->shape[axis]);
        if (self->batch_count == 0 || mine > whole->shape[axis]) {
          whole->shape[axis] = mine;
        }
      }
      whole->ndim = tensor->ndim;
      whole->dtype = tensor->dtype;
      whole->shape[0] = rows;
    }
    load += load_of(ticket);
    self->batch_rows += ticket->rows;
    ++self->batch_count;
  }
}

/* Whether a group gives a batch that cannot grow. */
static bool is_full(const leat_batch_queue *queue, leati_batch_worker *self, const group *candidate) {
  const leat_batch_config *config = &queue->setup->config;
  if (candidate->load >= config->max_rows) {
    return true;
  }
  if (is_strict(queue) && TAILQ_NEXT(candidate, link)) {
    return true;
  }
  if (config->max_bytes == 0) {
    return false;
  }
  plan(queue, self, candidate);
  return self->batch_count < candidate->count;
}

/* The group that a free worker takes from now; NULL if none is ready before `*out_until`. */
static group *find_ready(const leat_batch_queue *queue, leati_batch_worker *self, int64_t *out_until) {
  const leat_batch_ticket *oldest = TAILQ_FIRST(&queue->waiting);
  *out_until = FOREVER;
  if (!oldest || queue->running >= queue->setup->config.workers) {
    return NULL;
  }
  *out_until = add_time(oldest->admitted, queue->setup->config.max_delay_ns);
  if (queue->closed || !has_room(queue) || (*out_until != FOREVER && *out_until <= now_ns())) {
    return oldest->group;
  }
  group *candidate;
  TAILQ_FOREACH(candidate, &queue->groups, link) {
    if (is_full(queue, self, candidate)) {
      return candidate;
    }
    if (is_strict(queue)) {
      break;
    }
  }
  return NULL;
}

/* Takes a batch from a group; the worker runs it next. */
static void take(leat_batch_queue *queue, leati_batch_worker *self, group *from) {
  plan(queue, self, from);
  TAILQ_INIT(&self->batch);
  leat_batch_ticket *ticket = TAILQ_FIRST(&from->tickets);
  for (uint32_t i = 0; i < self->batch_count; ++i) {
    /* The group goes with its last request, so what comes next is asked first. */
    leat_batch_ticket *next = TAILQ_NEXT(ticket, mate);
    leave_queue(queue, ticket);
    ticket->state = LEATI_TICKET_RUNNING;
    TAILQ_INSERT_TAIL(&self->batch, ticket, mate);
    ticket = next;
  }
  self->setup = queue->setup;
  ++self->setup->references;
  ++queue->running;
  leat_batch_stats *stats = &queue->stats;
  const uint32_t size_class = 31u - (uint32_t)__builtin_clz(self->batch_count);
  stats->running += self->batch_count;
  ++stats->batches;
  stats->batch_rows += (uint64_t)self->batch_rows;
  stats->largest_batch = stats->largest_batch > self->batch_count ? stats->largest_batch : self->batch_count;
  ++stats->sizes[size_class < LEAT_BATCH_SIZE_CLASSES ? size_class : LEAT_BATCH_SIZE_CLASSES - 1];
  admit_blocked(queue);
  /* What is left needs another worker, to run it or to watch the clock. */
  if (queue->waiting_count > 0) {
    pthread_cond_signal(&queue->work);
  }
}

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static void finish_batch(leat_batch_queue *queue, leati_batch_worker *self) {
  --queue->running;
  queue->stats.running -= self->batch_count;
  while (!TAILQ_EMPTY(&self->batch)) {
    leat_batch_ticket *ticket = TAILQ_FIRST(&self->batch);
    TAILQ_REMOVE(&self->batch, ticket, mate);
    ++*(ticket->code == LEAT_OK ? &queue->stats.done : &queue->stats.failed);
    end_ticket(ticket);
  }
  drop_setup(self->setup);
}

/* Sleeps until there may be something to do. One worker watches the clock, the others need not. */
static void rest(leat_batch_queue *queue, int64_t until) {
  if (until == FOREVER || queue->timing) {
    wait_on(&queue->work, &queue->lock, FOREVER);
    return;
  }
  queue->timing = true;
  wait_on(&queue->work, &queue->lock, until);
  queue->timing = false;
}

static void *work(void *argument) {
  leati_batch_worker *self = argument;
  leat_batch_queue *queue = self->queue;
  serving = queue;
  pthread_mutex_lock(&queue->lock);
  while (self->index < queue->setup->config.workers && !(queue->closed && queue->waiting_count == 0)) {
    int64_t until = FOREVER;
    group *ready = find_ready(queue, self, &until);
    if (!ready) {
      rest(queue, until);
      continue;
    }
    take(queue, self, ready);
    pthread_mutex_unlock(&queue->lock);
    leati_batch_worker_run(self);
    pthread_mutex_lock(&queue->lock);
    finish_batch(queue, self);
  }
  self->left = true;
  /* What woke this one up, or waited for its batch to end, is for another. */
  pthread_cond_signal(&queue->work);
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

/* Starts worker `index`. It takes no signals, which are the program's, but those that its own faults raise. */
static int32_t start_worker(leat_batch_queue *queue, uint32_t index, const leat_batch_config *config, leat_error *err) {
  leati_batch_worker *self = leati_batch_worker_new(queue, index, config);
  if (!self) {
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for worker %u of a batch queue", index);
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  static const int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  for (size_t i = 0; i < sizeof(kFaults) / sizeof(*kFaults); ++i) {
    sigdelset(&all, kFaults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int result = pthread_create(&self->thread, NULL, work, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (result != 0) {
    leati_batch_worker_free(self, config->input_count);
    return leati_error_set(err, LEAT_ERROR_EXHAUSTED, result, "thread %u of %u of a batch queue could not be made: %s",
                           index + 1, config->workers, strerror(result));
  }
  queue->workers[index] = self;
  return LEAT_OK;
}

/* Waits for the threads of workers, and frees them: of those that have left, or of all. Called with `admin` held, and
 * without `lock`. */
static void join_workers(leat_batch_queue *queue, bool all) {
  int cancel = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  for (uint32_t i = 0; i < LEAT_BATCH_MAX_WORKERS; ++i) {
    leati_batch_worker *self = queue->workers[i];
    pthread_mutex_lock(&queue->lock);
    const bool gone = self && (all || self->left);
    pthread_mutex_unlock(&queue->lock);
    if (gone) {
      pthread_join(self->thread, NULL);
      pthread_mutex_lock(&queue->lock);
      queue->workers[i] = NULL;
      pthread_mutex_unlock(&queue->lock);
      leati_batch_worker_free(self, queue->setup->config.input_count);
    }
  }
  pthread_setcancelstate(cancel, NULL);
}

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

static int32_t busy_inside(const char *what, leat_error *err) {
  return leati_error_set(err, LEAT_ERROR_BUSY, 0,
                         "%s was called from the function that this queue calls, and would wait for it to return",
                         what);
}

static int32_t unavailable(leat_error *err) {
  return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, 0, "the batch queue was shut down");
}

/* Ends all requests that wait or are blocked. */
static void fail_waiting(leat_batch_queue *queue, bool all) {
  static const char why[] = "the batch queue was shut down before the request ran";
  while (!TAILQ_EMPTY(&queue->blocked)) {
    leat_batch_ticket *ticket = TAILQ_FIRST(&queue->blocked);
    TAILQ_REMOVE(&queue->blocked, ticket, link);
    --queue->stats.blocked;
    ++queue->stats.failed;
    leati_batch_fail(ticket, LEAT_ERROR_UNAVAILABLE, 0, why);
    end_ticket(ticket);
  }
  while (all && !TAILQ_EMPTY(&queue->waiting)) {
    ++queue->stats.failed;
    withdraw(queue, TAILQ_FIRST(&queue->waiting), why);
  }
}

static void close_queue(leat_batch_queue *queue, uint32_t how) {
  pthread_mutex_lock(&queue->lock);
  queue->closed = true;
  fail_waiting(queue, how == LEAT_BATCH_FAIL);
  pthread_cond_broadcast(&queue->work);
  pthread_mutex_unlock(&queue->lock);
  pthread_mutex_lock(&queue->admin);
  join_workers(queue, true);
  pthread_mutex_unlock(&queue->admin);
}

int32_t leat_batch_queue_create(const leat_batch_config *config, leat_batch_queue **out, leat_error *err) {
  int32_t status = enter(err);
  if (out) {
    *out = NULL;
  }
  if (status) {
    return status;
  }
  if (!out) {
    return null_argument("out", err);
  }
  const int fork_result = leati_fork_watch();
  leat_batch_queue *queue = calloc(1, sizeof(*queue));
  if (!queue || fork_result != 0) {
    free(queue);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, fork_result, "no memory for a batch queue");
  }
  status = leati_batch_setup_new(config, &queue->setup, err);
  if (status) {
    free(queue);
    return status;
  }
  if (!init_condition(&queue->work)) {
    free(queue->setup);
    free(queue);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for the lock of a batch queue");
  }
  pthread_mutex_init(&queue->admin, NULL);
  pthread_mutex_init(&queue->lock, NULL);
  queue->references = 1;
  queue->stats.struct_size = sizeof(queue->stats);
  TAILQ_INIT(&queue->waiting);
  TAILQ_INIT(&queue->blocked);
  TAILQ_INIT(&queue->groups);
  pthread_mutex_lock(&queue->lock);
  for (uint32_t i = 0; !status && i < queue->setup->config.workers; ++i) {
    status = start_worker(queue, i, &queue->setup->config, err);
  }
  pthread_mutex_unlock(&queue->lock);
  if (status) {
    close_queue(queue, LEAT_BATCH_FAIL);
    free_queue(queue);
    return status;
  }
  *out = queue;
  return LEAT_OK;
}

/* What a running queue cannot change: who calls whom, and what requests look like that it has admitted. */
static int32_t check_fixed(const leat_batch_config *is, const leat_batch_config *wanted, leat_error *err) {
  const char *differs = is->input_count != wanted->input_count     ? "input_count"
                        : is->output_count != wanted->output_count ? "output_count"
                        : is->run != wanted->run                   ? "run"
                        : is->release != wanted->release           ? "release"
                        : is->user != wanted->user                 ? "user"
                                                                   : NULL;
  return !differs ? LEAT_OK
                  : leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                                    "config: %s differs from that at creation, where it is fixed", differs);
}

/* Called with both locks held. */
static int32_t install_setup(leat_batch_queue *queue, leati_batch_setup *setup, leat_error *err) {
  for (uint32_t i = 0; i < setup->config.workers; ++i) {
    const leati_batch_worker *there = queue->workers[i];
    if (!there || there->left) {
      /* One that is made here and then not wanted leaves by itself. */
      int32_t status = there ? LEAT_ERROR_NOT_READY : start_worker(queue, i, &setup->config, err);
      if (status) {
        return status;
      }
    }
  }
  drop_setup(queue->setup);
  queue->setup = setup;
  regroup(queue);
  admit_blocked(queue);
  pthread_cond_broadcast(&queue->work);
  return LEAT_OK;
}

int32_t leat_batch_queue_configure(leat_batch_queue *queue, const leat_batch_config *config, leat_error *err) {
  int32_t status = enter(err);
  leati_batch_setup *setup = NULL;
  if (!status && !queue) {
    status = null_argument("queue", err);
  }
  if (!status && serving == queue) {
    status = busy_inside("leat_batch_queue_configure()", err);
  }
  if (!status) {
    status = leati_batch_setup_new(config, &setup, err);
  }
  if (status) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  const bool closed = queue->closed; /* known without waiting for a shutdown that may take its time */
  pthread_mutex_unlock(&queue->lock);
  if (closed) {
    free(setup);
    return unavailable(err);
  }
  pthread_mutex_lock(&queue->admin);
  do {
    join_workers(queue, false);
    pthread_mutex_lock(&queue->lock);
    status = queue->closed ? unavailable(err) : check_fixed(&queue->setup->config, &setup->config, err);
    if (!status) {
      status = install_setup(queue, setup, err);
    }
    pthread_mutex_unlock(&queue->lock);
    /* A worker too many left since the others were joined: its place is taken in the next round. */
  } while (status == LEAT_ERROR_NOT_READY);
  pthread_mutex_unlock(&queue->admin);
  if (status) {
    free(setup);
  }
  return status;
}

int32_t leat_batch_queue_stats(leat_batch_queue *queue, leat_batch_stats *out, leat_error *err) {
  int32_t status = enter(err);
  if (status) {
    return status;
  }
  if (!queue || !out) {
    return null_argument(queue ? "out" : "queue", err);
  }
  if (out->struct_size < sizeof(*out)) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "out: struct_size is %u; %zu, or more, is right",
                           out->struct_size, sizeof(*out));
  }
  const uint32_t size = out->struct_size;
  pthread_mutex_lock(&queue->lock);
  *out = queue->stats;
  out->workers = queue->setup->config.workers;
  out->waiting = queue->waiting_count;
  pthread_mutex_unlock(&queue->lock);
  out->struct_size = size;
  return LEAT_OK;
}

int32_t leat_batch_queue_shutdown(leat_batch_queue *queue, uint32_t how, leat_error *err) {
  int32_t status = enter(err);
  if (status) {
    return status;
  }
  if (!queue) {
    return null_argument("queue", err);
  }
  if (how != LEAT_BATCH_DRAIN && how != LEAT_BATCH_FAIL) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                           "how is %u; LEAT_BATCH_DRAIN (%u) or LEAT_BATCH_FAIL (%u) is right", how, LEAT_BATCH_DRAIN,
                           LEAT_BATCH_FAIL);
  }
  if (serving == queue) {
    return busy_inside("shutting the queue down", err);
  }
  close_queue(queue, how);
  return LEAT_OK;
}

int32_t leat_batch_queue_destroy(leat_batch_queue *queue, uint32_t how, leat_error *err) {
  if (!queue) {
    return enter(err);
  }
  int32_t status = leat_batch_queue_shutdown(queue, how, err);
  if (status) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  unlock_and_drop(queue);
  return LEAT_OK;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* Checks what can be checked without the queue. */
static int32_t check_inputs(uint32_t count, const DLTensor *const *inputs, leat_error *err) {
  if (count > 0 && !inputs) {
    return null_argument("inputs", err);
  }
  for (uint32_t i = 0; i < count; ++i) {
    int32_t status = leati_batch_tensor_check(inputs[i], "input", i, LEAT_ERROR_INVALID_ARGUMENT, err);
    if (status) {
      return status;
    }
    if (inputs[i]->shape[0] != inputs[0]->shape[0]) {
      return leati_error_set(
          err, LEAT_ERROR_INVALID_ARGUMENT, 0,
          "input %u has %lld rows and input 0 has %lld; all inputs of a request have the same number", i,
          (long long)inputs[i]->shape[0], (long long)inputs[0]->shape[0]);
    }
  }
  return LEAT_OK;
}

/* Checks a request against the rules in force. Called with the lock held. */
static int32_t check_request(const leat_batch_queue *queue, const DLTensor *const *inputs, leat_error *err) {
  const leati_batch_setup *setup = queue->setup;
  const int64_t rows = inputs[0]->shape[0];
  if (rows > setup->config.max_rows) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                           "the request has %lld rows; a batch, and thus a request, has %lld at most (max_rows)",
                           (long long)rows, (long long)setup->config.max_rows);
  }
  for (uint32_t i = 0; i < setup->config.input_count; ++i) {
    const DLTensor *tensor = inputs[i];
    int64_t shape[LEAT_MAX_RANK];
    size_t bytes = 0;
    shape[0] = leati_batch_setup_rows(setup, rows);
    for (int32_t axis = 1; axis < tensor->ndim; ++axis) {
      shape[axis] = leati_batch_setup_padded(setup, i, axis, tensor->shape[axis]);
    }
    if (!leati_batch_tensor_bytes(tensor->dtype, tensor->ndim, shape, setup->max_bytes, &bytes)) {
      char text[200];
      return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                             "input %u takes shape %s in a batch, which is more than the %zu bytes that are allowed "
                             "(max_bytes)",
                             i, leati_batch_shape_text(text, sizeof(text), tensor->ndim, shape), setup->max_bytes);
    }
  }
  return LEAT_OK;
}

/* Makes a ticket with copies of the inputs, which are checked. It is not counted in the queue's references. */
static int32_t new_ticket(leat_batch_queue *queue, uint32_t count, const DLTensor *const *inputs,
                          leat_batch_ticket **out, leat_error *err) {
  leat_batch_ticket *ticket = calloc(1, sizeof(*ticket));
  group *spare = malloc(sizeof(*spare));
  if (!ticket || !spare || !init_condition(&ticket->moved)) {
    free(ticket);
    free(spare);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for a request");
  }
  ticket->queue = queue;
  ticket->held = true;
  ticket->spare = spare;
  ticket->rows = inputs[0]->shape[0];
  if (!leati_batch_pack_init(&ticket->in, count, inputs)) {
    free_ticket(ticket);
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for the inputs of a request");
  }
  for (uint32_t i = 0; i < count; ++i) {
    leati_batch_copy(&ticket->in.tensors[i], 0, inputs[i], 0, ticket->rows);
  }
  *out = ticket;
  return LEAT_OK;
}

/* Waits for room, first come, first served. Called with the lock held; the ticket is admitted, or LEAT_OK is not
 * returned. */
static int32_t wait_for_room(leat_batch_queue *queue, leat_batch_ticket *ticket, int64_t timeout_ns, leat_error *err) {
  if (timeout_ns == 0) {
    ++queue->stats.refused;
    return leati_error_set(err, LEAT_ERROR_EXHAUSTED, 0,
                           "%u requests wait already, which is the queue's capacity; a timeout would wait for room",
                           queue->waiting_count);
  }
  if (serving == queue) {
    ++queue->stats.refused;
    return busy_inside("leat_batch_submit() with a timeout", err);
  }
  const int64_t until = timeout_ns < 0 ? FOREVER : add_time(now_ns(), timeout_ns);
  TAILQ_INSERT_TAIL(&queue->blocked, ticket, link);
  ++queue->stats.blocked;
  while (ticket->state == LEATI_TICKET_BLOCKED) {
    wait_on(&ticket->moved, &queue->lock, until);
    if (ticket->state == LEATI_TICKET_BLOCKED && until != FOREVER && now_ns() >= until) {
      TAILQ_REMOVE(&queue->blocked, ticket, link);
      --queue->stats.blocked;
      ++queue->stats.refused;
      return leati_error_set(err, LEAT_ERROR_TIMEOUT, 0,
                             "the queue stayed full, with %u requests that wait, for all of the %lld ns given",
                             queue->waiting_count, (long long)timeout_ns);
    }
  }
  /* Without admission it was the shutdown of the queue that ended the wait. */
  return ticket->admitted ? LEAT_OK : report_failure(ticket, err);
}

int32_t leat_batch_submit(leat_batch_queue *queue, uint32_t input_count, const DLTensor *const *inputs,
                          int64_t timeout_ns, leat_batch_ticket **out, leat_error *err) {
  int32_t status = enter(err);
  if (out) {
    *out = NULL;
  }
  if (status) {
    return status;
  }
  if (!queue || !out) {
    return null_argument(queue ? "out" : "queue", err);
  }
  status = check_timeout(timeout_ns, err);
  if (status) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  const uint32_t wanted = queue->setup->config.input_count; /* fixed at creation */
  pthread_mutex_unlock(&queue->lock);
  if (input_count != wanted) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "input_count is %u; the queue was made for %u",
                           input_count, wanted);
  }
  leat_batch_ticket *ticket = NULL;
  status = check_inputs(input_count, inputs, err);
  if (!status) {
    /* What is refused is not copied first: it may be more than there is memory for. */
    pthread_mutex_lock(&queue->lock);
    status = queue->closed ? unavailable(err) : check_request(queue, inputs, err);
    pthread_mutex_unlock(&queue->lock);
  }
  if (!status) {
    status = new_ticket(queue, input_count, inputs, &ticket, err);
  }
  if (status) {
    return status;
  }
  pthread_mutex_lock(&queue->lock);
  ++queue->references;
  /* The rules may have changed since. */
  status = queue->closed ? unavailable(err) : check_request(queue, inputs, err);
  /* Nobody is blocked while there is room, so nobody is overtaken. */
  if (!status && has_room(queue)) {
    admit(queue, ticket);
  } else if (!status) {
    status = wait_for_room(queue, ticket, timeout_ns, err);
  }
  if (status) {
    free_ticket(ticket);
    unlock_and_drop(queue);
    return status;
  }
  pthread_mutex_unlock(&queue->lock);
  *out = ticket;
  return LEAT_OK;
}

int32_t leat_batch_wait(leat_batch_ticket *ticket, int64_t timeout_ns, leat_error *err) {
  int32_t status = enter(err);
  if (!status && !ticket) {
    status = null_argument("ticket", err);
  }
  if (!status) {
    status = check_timeout(timeout_ns, err);
  }
  if (status) {
    return status;
  }
  leat_batch_queue *queue = ticket->queue;
  const int64_t until = timeout_ns < 0 ? FOREVER : timeout_ns == 0 ? 0 : add_time(now_ns(), timeout_ns);
  pthread_mutex_lock(&queue->lock);
  while (!status && ticket->state != LEATI_TICKET_DONE) {
    if (until != FOREVER && now_ns() >= until) {
      status = leati_error_set(err, LEAT_ERROR_TIMEOUT, 0, "the request has not ended; its batch %s",
                               ticket->state == LEATI_TICKET_RUNNING ? "runs" : "has not begun");
    } else if (serving == queue) {
      status = busy_inside("leat_batch_wait()", err);
    } else {
      wait_on(&ticket->moved, &queue->lock, until);
    }
  }
  if (!status && ticket->code) {
    status = report_failure(ticket, err);
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

int32_t leat_batch_cancel(leat_batch_ticket *ticket, leat_error *err) {
  int32_t status = enter(err);
  if (!status && !ticket) {
    status = null_argument("ticket", err);
  }
  if (status) {
    return status;
  }
  leat_batch_queue *queue = ticket->queue;
  pthread_mutex_lock(&queue->lock);
  if (ticket->state == LEATI_TICKET_WAITING) {
    ++queue->stats.cancelled;
    withdraw(queue, ticket, "the request was cancelled");
    admit_blocked(queue);
  } else {
    status = leati_error_set(err, LEAT_ERROR_BUSY, 0, "too late to cancel the request: it %s",
                             ticket->state == LEATI_TICKET_RUNNING ? "runs" : "has ended");
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

int32_t leat_batch_outputs(leat_batch_ticket *ticket, uint32_t output_count, DLTensor *out, leat_error *err) {
  int32_t status = enter(err);
  if (status) {
    return status;
  }
  if (!ticket || !out) {
    return null_argument(ticket ? "out" : "ticket", err);
  }
  leat_batch_queue *queue = ticket->queue;
  pthread_mutex_lock(&queue->lock);
  const uint32_t wanted = queue->setup->config.output_count;
  if (output_count != wanted) {
    status = leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "output_count is %u; the queue was made for %u",
                             output_count, wanted);
  } else if (ticket->state != LEATI_TICKET_DONE) {
    status = leati_error_set(err, LEAT_ERROR_NOT_READY, 0, "the request has not ended; leat_batch_wait() waits for it");
  } else if (ticket->code) {
    status = report_failure(ticket, err);
  } else {
    memcpy(out, ticket->out.tensors, output_count * sizeof(*out));
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

int32_t leat_batch_release(leat_batch_ticket *ticket, leat_error *err) {
  int32_t status = enter(err);
  if (status || !ticket) {
    return status;
  }
  leat_batch_queue *queue = ticket->queue;
  pthread_mutex_lock(&queue->lock);
  if (ticket->state == LEATI_TICKET_WAITING) {
    ++queue->stats.cancelled;
    withdraw(queue, ticket, "the request was cancelled");
    admit_blocked(queue);
  }
  if (ticket->state == LEATI_TICKET_RUNNING) {
    ticket->held = false; /* its worker frees it, and takes its reference off */
    pthread_mutex_unlock(&queue->lock);
    return LEAT_OK;
  }
  free_ticket(ticket);
  unlock_and_drop(queue);
  return LEAT_OK;
}

/* Checks whether tensors of the caller take the results just as they are. */
static int32_t check_targets(const leati_batch_pack *results, const DLTensor *const *outputs, leat_error *err) {
  for (uint32_t i = 0; i < results->count; ++i) {
    const DLTensor *is = &results->tensors[i];
    const DLTensor *to = outputs[i];
    const size_t shape_bytes = (size_t)is->ndim * sizeof(*is->shape);
    if (is->dtype.code != to->dtype.code || is->dtype.bits != to->dtype.bits || is->dtype.lanes != to->dtype.lanes ||
        is->ndim != to->ndim || memcmp(is->shape, to->shape, shape_bytes) != 0) {
      char result[200];
      char target[200];
      return leati_error_set(
          err, LEAT_ERROR_INVALID_ARGUMENT, 0,
          "output %u takes shape %s, type code %u of %u bits; the result has shape %s, type code %u of %u bits", i,
          leati_batch_shape_text(target, sizeof(target), to->ndim, to->shape), to->dtype.code, to->dtype.bits,
          leati_batch_shape_text(result, sizeof(result), is->ndim, is->shape), is->dtype.code, is->dtype.bits);
    }
  }
  return LEAT_OK;
}

int32_t leat_batch_run(leat_batch_queue *queue, uint32_t input_count, const DLTensor *const *inputs,
                       uint32_t output_count, const DLTensor *const *outputs, int64_t timeout_ns, leat_error *err) {
  int32_t status = enter(err);
  if (status) {
    return status;
  }
  if (!queue || !outputs) {
    return null_argument(queue ? "outputs" : "queue", err);
  }
  if (serving == queue) {
    return busy_inside("leat_batch_run()", err);
  }
  pthread_mutex_lock(&queue->lock);
  const uint32_t wanted = queue->setup->config.output_count; /* fixed at creation */
  pthread_mutex_unlock(&queue->lock);
  if (output_count != wanted) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "output_count is %u; the queue was made for %u",
                           output_count, wanted);
  }
  for (uint32_t i = 0; !status && i < output_count; ++i) {
    status = leati_batch_tensor_check(outputs[i], "output", i, LEAT_ERROR_INVALID_ARGUMENT, err);
  }
  leat_batch_ticket *ticket = NULL;
  const int64_t until = timeout_ns > 0 ? add_time(now_ns(), timeout_ns) : FOREVER;
  if (!status) {
    status = leat_batch_submit(queue, input_count, inputs, timeout_ns, &ticket, err);
  }
  if (status) {
    return status;
  }
  const int64_t left = until - now_ns();
  status = leat_batch_wait(ticket, until == FOREVER ? -1 : left > 0 ? left : 0, err);
  if (!status) {
    status = check_targets(&ticket->out, outputs, err);
  }
  for (uint32_t i = 0; !status && i < output_count; ++i) {
    leati_batch_copy(outputs[i], 0, &ticket->out.tensors[i], 0, ticket->rows);
  }
  (void)leat_batch_release(ticket, NULL);
  return status;
}
