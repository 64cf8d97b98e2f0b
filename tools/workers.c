/* SPDX-License-Identifier: BSD-3-Clause */
#include "workers.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

/* A thread whose runs fail this often in a row does not go on: what it waits for is not coming back. */
#define FAILURES_IN_A_ROW 10

/* How often the progress line is drawn anew. */
#define PROGRESS_NS 200000000

/* What the threads share while they run. */
typedef struct shop {
  const leati_ort *ort;
  const leati_options *options;
  leati_workers *workers;
  /* POSIX locks rather than GLib's, which sanitizers for threads cannot look into. */
  pthread_mutex_t lock; /* guards the next four and orders finished threads before their results are read */
  pthread_cond_t moved; /* some of them changed */
  size_t ready;
  size_t finished;
  gboolean open; /* the clock runs */
  gboolean abandoned;
  /* Runs ended and outputs wrong so far. Written by the workers, read by the progress line and the watch alone, which
   * need no order against anything else. */
  gint ended;
  gint wrong;
} shop;

/* What a thread is given; its worker is its own. */
typedef struct post {
  shop *shop;
  leati_worker *worker;
  leati_batcher *batcher; /* what runs its requests, or NULL: it does so itself */
  /* Runs this thread began and ended; they differ while it is inside Run. Written by the thread, read by the watch. */
  gint begun;
  gint ended;
  OrtValue **accepted;     /* outputs found right last, to compare bits with, or all NULL */
  gboolean *within_spread; /* which of them are beyond the tolerance */
  OrtValue **outputs;      /* of the run in hand */
} post;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void keep_failure(leati_worker *worker, const char *what, const char *message) {
  ++worker->failed;
  if (worker->failure == NULL) {
    worker->failure = g_strdup_printf("%s: %s", what, message);
  }
}

/* What an output beyond the tolerance is called in a report. */
static char *describe_output(const leati_worker *worker, const char *run, size_t output, const char *what,
                             const char *why) {
  return g_strdup_printf("%s: output '%s': %s%s%s", run, worker->job->model->outputs[output].name, what,
                         why != NULL ? "; " : "", why != NULL ? why : "");
}

static void keep_mismatch(leati_worker *worker, const char *run, size_t output, const char *what, const char *why) {
  ++worker->wrong;
  if (worker->mismatch == NULL) {
    worker->mismatch = describe_output(worker, run, output, what, why);
  }
}

/* Asks whether an output beyond the tolerance is right all the same; TRUE if it is. */
static gboolean check_spread(post *p, size_t output, const char *run, const leati_ndarray *got,
                             const leati_ndarray *want, const leati_comparison *found) {
  leati_worker *worker = p->worker;
  char *why = NULL;
  const gboolean within_spread =
      worker->job->spread != NULL &&
      leati_cpu_spread_allows(worker->job->spread, worker->index % worker->job->feed->set_count, output, got, want,
                              &why);
  if (!within_spread) {
    keep_mismatch(worker, run, output, found->what, why);
  } else {
    ++worker->within_spread;
    if (worker->spread_note == NULL) {
      worker->spread_note = describe_output(worker, run, output, found->what, why);
    }
  }
  g_free(why);
  return within_spread;
}

/* TRUE if both have one type, one shape and the same bits. */
static gboolean same_bits(const leati_ndarray *a, const leati_ndarray *b) {
  return a->element == b->element && a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) == 0 &&
         (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

/* Compares one output; TRUE if it is right. */
static gboolean check_output(post *p, size_t output, const char *run) {
  const leati_ort *ort = p->shop->ort;
  leati_worker *worker = p->worker;
  const leati_feed *feed = worker->job->feed;
  leati_ndarray got;
  leati_ndarray want;
  GError *error = NULL;
  ++worker->outputs;
  if (!leati_value_view(ort, p->outputs[output], &got, &error)) {
    keep_mismatch(worker, run, output, error->message, NULL);
    g_error_free(error);
    return FALSE;
  }
  /* Bits that were found right before need no second look: the inputs of a thread never change. */
  if (p->accepted[output] != NULL && leati_value_view(ort, p->accepted[output], &want, NULL) &&
      same_bits(&got, &want)) {
    worker->within_spread += p->within_spread[output];
    return TRUE;
  }
  if (!leati_value_view(ort, feed->sets[worker->index % feed->set_count].outputs[output], &want, &error)) {
    keep_mismatch(worker, run, output, error->message, NULL);
    g_error_free(error);
    return FALSE;
  }
  if (p->batcher != NULL) {
    leati_batcher_crop(p->batcher, &want);
  }
  leati_comparison found;
  leati_compare(&got, &want, worker->job->tolerance.value, &found);
  worker->worst = fmax(worker->worst, found.error);
  const gboolean within_spread = !found.same && check_spread(p, output, run, &got, &want, &found);
  if (found.same || within_spread) {
    p->within_spread[output] = within_spread;
  }
  return found.same || within_spread;
}

static void check(post *p, const char *run) {
  leati_worker *worker = p->worker;
  const int64_t wrong = worker->wrong;
  for (size_t i = 0; i < worker->job->model->output_count; ++i) {
    if (check_output(p, i, run)) {
      OrtValue *older = p->accepted[i];
      p->accepted[i] = p->outputs[i];
      p->outputs[i] = older;
    }
  }
  if (worker->wrong != wrong) {
    ++worker->wrong_runs;
    g_atomic_int_add(&p->shop->wrong, (gint)(worker->wrong - wrong));
  }
}

/* Copies the outputs aside; the values themselves go on to be checked and freed. */
static void keep_first(post *p) {
  const leati_ort *ort = p->shop->ort;
  const size_t count = p->worker->job->model->output_count;
  p->worker->first = g_new0(OrtValue *, count + 1);
  for (size_t i = 0; i < count; ++i) {
    leati_ndarray view;
    p->worker->first[i] = leati_value_view(ort, p->outputs[i], &view, NULL) ? leati_value_copy(ort, &view, NULL) : NULL;
  }
}

/* One run and its check. @p number counts from 1; 0 or less is a warm-up. TRUE unless Run failed. */
static gboolean run_once(post *p, int64_t number) {
  const leati_ort *ort = p->shop->ort;
  leati_worker *worker = p->worker;
  leati_model *model = worker->job->model;
  const leati_feed *feed = worker->job->feed;
  char run[48];
  if (number > 0) {
    g_snprintf(run, sizeof(run), "run %" G_GINT64_FORMAT, number);
  } else {
    g_strlcpy(run, "warm-up", sizeof(run));
  }
  g_atomic_int_inc(&p->begun);
  const int64_t begin = now_ns();
  OrtValue **const inputs = feed->sets[worker->index % feed->set_count].inputs;
  GError *error = NULL;
  const gboolean right =
      p->batcher != NULL
          ? leati_batcher_run(p->batcher, inputs, p->outputs, &error)
          : leati_ort_ok(
                ort,
                leati_model_run(ort, model, model->sessions[worker->index % model->session_count], inputs, p->outputs),
                &error);
  const int64_t end = now_ns();
  g_atomic_int_inc(&p->ended);
  worker->end = end;
  if (!right) {
    keep_failure(worker, run, error->message);
    g_error_free(error);
  } else {
    if (number > 0) {
      leati_latency_add(worker->times, end - begin);
    }
    if (p->shop->options->save_outputs != NULL && worker->index == 0 && worker->first == NULL) {
      keep_first(p);
    }
    if (p->shop->options->compare) {
      check(p, run);
    }
  }
  leati_values_free(ort, p->outputs, model->output_count);
  g_atomic_int_inc(&p->shop->ended);
  return right;
}

/* Waits until all threads are warm and the clock runs; FALSE if the work is off. */
static gboolean wait_for_start(shop *s) {
  pthread_mutex_lock(&s->lock);
  ++s->ready;
  pthread_cond_broadcast(&s->moved);
  while (!s->open && !s->abandoned) {
    pthread_cond_wait(&s->moved, &s->lock);
  }
  const gboolean go = !s->abandoned;
  pthread_mutex_unlock(&s->lock);
  return go;
}

static gpointer work(gpointer data) {
  post *p = data;
  shop *s = p->shop;
  leati_worker *worker = p->worker;
  const size_t count = worker->job->model->output_count;
  p->accepted = g_new0(OrtValue *, count + 1);
  p->outputs = g_new0(OrtValue *, count + 1);
  p->within_spread = g_new0(gboolean, count + 1);
  int in_a_row = 0;
  for (; worker->warmups < s->options->warmup && in_a_row < FAILURES_IN_A_ROW; ++worker->warmups) {
    in_a_row = run_once(p, 0) ? 0 : in_a_row + 1;
  }
  if (wait_for_start(s)) {
    while (worker->runs < s->options->runs && in_a_row < FAILURES_IN_A_ROW) {
      in_a_row = run_once(p, worker->runs + 1) ? 0 : in_a_row + 1;
      ++worker->runs;
    }
    worker->skipped = s->options->runs - worker->runs;
  }
  leati_values_free(s->ort, p->accepted, count);
  g_free(p->accepted);
  g_free(p->within_spread);
  g_free(p->outputs);
  pthread_mutex_lock(&s->lock);
  ++s->finished;
  pthread_cond_broadcast(&s->moved);
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

/* Says which threads are inside a run, and ends the process: a thread that hangs cannot be ended in any other way. */
static void give_up(const shop *s, const post *posts) {
  g_printerr("leat-run: no run ended for %" G_GINT64_FORMAT " seconds (--timeout). Inside a run:\n",
             s->options->timeout);
  for (size_t i = 0; i < s->workers->count; ++i) {
    const gint begun = g_atomic_int_get(&posts[i].begun);
    if (begun != g_atomic_int_get(&posts[i].ended)) {
      const leati_worker *worker = posts[i].worker;
      g_printerr("  %s thread %" G_GSIZE_FORMAT ", its run number %d (warm-ups counted)\n", worker->job->model->label,
                 worker->index, begun);
    }
  }
  fflush(NULL);
  _exit(1);
}

/* Looks after the threads until @p *reached equals their number: draws the progress line and watches for a standstill.
 */
static void watch(shop *s, const post *posts, const size_t *reached) {
  const gboolean show = isatty(STDERR_FILENO) == 1;
  const int64_t each = s->options->runs + s->options->warmup;
  const double total = (double)each * (double)s->workers->count;
  gint last = g_atomic_int_get(&s->ended);
  int64_t moved = g_get_monotonic_time();
  pthread_mutex_lock(&s->lock);
  while (*reached < s->workers->count) {
    const int64_t until = now_ns() + PROGRESS_NS;
    const struct timespec deadline = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    (void)pthread_cond_timedwait(&s->moved, &s->lock, &deadline);
    const gint ended = g_atomic_int_get(&s->ended);
    if (ended != last) {
      last = ended;
      moved = g_get_monotonic_time();
    }
    if (show) {
      g_printerr("\r%d of %.0f runs (%.0f %%), %d wrong outputs   ", ended, total, 100.0 * ended / total,
                 g_atomic_int_get(&s->wrong));
    }
    if (s->options->timeout > 0 && g_get_monotonic_time() - moved > s->options->timeout * 1000000) {
      give_up(s, posts);
    }
  }
  pthread_mutex_unlock(&s->lock);
  if (show) {
    g_printerr("\r\033[K");
  }
}

/* The condition's deadlines are on the monotonic clock. */
static void init_locks(shop *s) {
  pthread_condattr_t attributes;
  pthread_mutex_init(&s->lock, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&s->moved, &attributes);
  pthread_condattr_destroy(&attributes);
}

gboolean leati_workers_run(const leati_ort *ort, const leati_options *options, const leati_job *jobs, size_t job_count,
                           leati_batcher *const *batchers, leati_workers *out, GError **error) {
  const size_t threads = (size_t)options->threads;
  *out = (leati_workers){.count = threads * job_count, .list = g_new0(leati_worker, threads * job_count)};
  shop s = {.ort = ort, .options = options, .workers = out};
  post *posts = g_new0(post, out->count);
  GThread **handles = g_new0(GThread *, out->count);
  size_t made = 0;
  init_locks(&s);
  for (size_t i = 0; i < out->count; ++i) {
    out->list[i] =
        (leati_worker){.job = &jobs[i / threads], .index = i % threads, .times = leati_latency_new(options->runs)};
    posts[i] = (post){.shop = &s, .worker = &out->list[i], .batcher = batchers != NULL ? batchers[i / threads] : NULL};
  }
  while (made < out->count && (handles[made] = g_thread_try_new("leat-run", work, &posts[made], error)) != NULL) {
    ++made;
  }
  const gboolean all = made == out->count;
  if (all) {
    watch(&s, posts, &s.ready);
  }
  pthread_mutex_lock(&s.lock);
  s.open = all;
  s.abandoned = !all;
  out->start = now_ns();
  pthread_cond_broadcast(&s.moved);
  pthread_mutex_unlock(&s.lock);
  if (all) {
    watch(&s, posts, &s.finished);
  }
  for (size_t i = 0; i < made; ++i) {
    g_thread_join(handles[i]);
  }
  pthread_mutex_destroy(&s.lock);
  pthread_cond_destroy(&s.moved);
  g_free(handles);
  g_free(posts);
  if (!all) {
    g_prefix_error(error, "%" G_GSIZE_FORMAT " threads could not be made: ", out->count);
  }
  return all;
}

void leati_workers_clear(const leati_ort *ort, leati_workers *workers) {
  for (size_t i = 0; i < workers->count; ++i) {
    leati_worker *worker = &workers->list[i];
    if (worker->first != NULL) {
      leati_values_free(ort, worker->first, worker->job->model->output_count);
    }
    g_free(worker->first);
    g_free(worker->failure);
    g_free(worker->mismatch);
    g_free(worker->spread_note);
    leati_latency_free(worker->times);
  }
  g_free(workers->list);
  *workers = (leati_workers){0};
}
