/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/team.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "latency.h"

#define PATIENCE_US ((gint64)120 * G_USEC_PER_SEC)
#define WARM_RUNS 3 /* at least */

typedef enum phase { PHASE_WAIT, PHASE_RUN, PHASE_END } phase;

typedef struct team {
  const leati_task *task;
  gpointer context;
  const leati_team_plan *plan;
  GMutex lock;    /* guards what follows */
  GCond moved;    /* any of it has changed */
  phase now;      /* the threads follow it */
  gint64 start;   /* nanoseconds; set before PHASE_RUN */
  guint ready;    /* threads that are warm, or failed */
  guint finished; /* threads that have done their timed runs, or failed */
  guint gone;     /* threads that have nothing left to do */
  GError *error;  /* the first */
  gint failed;    /* atomic: `error` is set, and the others need not go on; what it says is read under the lock */
} team;

typedef struct member {
  team *team;
  guint thread;
  gint64 runs;
  gint64 end; /* nanoseconds, when its last timed run ended */
  gint64 cpu; /* nanoseconds of its own CPU time in its timed runs */
  leati_latency *times;
} member;

static gint64 clock_ns(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

gint64 leati_team_now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

static gboolean failed(team *t) {
  return g_atomic_int_get(&t->failed) != 0;
}

/* Takes the error over if it is the first. */
static void fail(team *t, GError *error) {
  g_mutex_lock(&t->lock);
  if (t->error == NULL) {
    t->error = error;
    error = NULL;
  }
  g_mutex_unlock(&t->lock);
  g_clear_error(&error);
  g_atomic_int_set(&t->failed, 1);
}

/* Counts the calling thread and waits for the phase. */
static void arrive(team *t, guint *counter, phase next) {
  g_mutex_lock(&t->lock);
  ++*counter;
  g_cond_broadcast(&t->moved);
  while (t->now < next) {
    g_cond_wait(&t->moved, &t->lock);
  }
  g_mutex_unlock(&t->lock);
}

static gboolean warm(member *m, gpointer state, GError **error) {
  const gint64 until = leati_team_now_ns() + (gint64)(m->team->plan->warmup * 1e9);
  for (gint i = 0; i < WARM_RUNS || leati_team_now_ns() < until; ++i) {
    if (failed(m->team) || !m->team->task->run(state, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean run(member *m, gpointer state, GError **error) {
  team *t = m->team;
  const gint64 until = t->start + (gint64)(t->plan->seconds * 1e9);
  const gint64 cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  gint64 before = leati_team_now_ns();
  do {
    if (failed(t) || !t->task->run(state, error)) {
      return FALSE;
    }
    ++m->runs;
    m->end = leati_team_now_ns();
    if (m->times != NULL) {
      leati_latency_add(m->times, m->end - before);
    }
    before = m->end;
  } while (t->plan->runs > 0 ? m->runs < t->plan->runs : m->end < until);
  m->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  return TRUE;
}

static gpointer work(gpointer data) {
  member *m = data;
  team *t = m->team;
  GError *error = NULL;
  gpointer state = t->task->begin(t->context, m->thread, &error);
  gboolean well = state != NULL && (t->plan->runs > 0 || warm(m, state, &error));
  if (error != NULL) {
    fail(t, g_steal_pointer(&error));
  }
  arrive(t, &t->ready, PHASE_RUN);
  well = well && run(m, state, &error);
  if (error != NULL) {
    fail(t, g_steal_pointer(&error));
  }
  arrive(t, &t->finished, PHASE_END);
  if (state != NULL && !t->task->end(state, well && !failed(t), &error)) {
    fail(t, g_steal_pointer(&error));
  }
  arrive(t, &t->gone, PHASE_END);
  return NULL;
}

/* Waits until all threads have arrived. */
static void await(team *t, const guint *counter, guint count, double seconds) {
  const gint64 until = g_get_monotonic_time() + PATIENCE_US + (gint64)(seconds * 1e6);
  g_mutex_lock(&t->lock);
  while (*counter < count) {
    /* Runs that are counted take as long as they take. */
    if (t->plan->runs > 0) {
      g_cond_wait(&t->moved, &t->lock);
    } else if (!g_cond_wait_until(&t->moved, &t->lock, until)) {
      g_printerr("leat-bench: %u of %u threads hang\n", count - *counter, count);
      (void)fflush(NULL);
      _exit(1);
    }
  }
  g_mutex_unlock(&t->lock);
}

static void enter(team *t, phase next) {
  g_mutex_lock(&t->lock);
  t->now = next;
  t->start = leati_team_now_ns();
  g_cond_broadcast(&t->moved);
  g_mutex_unlock(&t->lock);
}

/* Puts together what the members saw. */
static void sum_up(const member *members, guint count, gint64 start, gint64 cpu, leati_sample *out) {
  static const double percents[] = {50, 99};
  double latencies[2] = {0, 0};
  gint64 end = start + 1, own = 0;
  g_autofree leati_latency **times = g_new0(leati_latency *, count);
  for (guint i = 0; i < count; ++i) {
    out->runs += members[i].runs;
    end = MAX(end, members[i].end);
    own += members[i].cpu;
    times[i] = members[i].times;
  }
  if (times[0] != NULL) {
    leati_latency_percentiles(times, count, percents, G_N_ELEMENTS(percents), latencies);
  }
  out->seconds = (double)(end - start) * 1e-9;
  out->rate = (double)out->runs / out->seconds;
  out->p50_us = latencies[0] * 1e6;
  out->p99_us = latencies[1] * 1e6;
  out->cpu_us = (double)cpu * 1e-3 / (double)MAX(out->runs, 1);
  out->thread_cpu_us = (double)own * 1e-3 / (double)MAX(out->runs, 1);
}

gboolean leati_team_run(const leati_task *task, gpointer context, const leati_team_plan *plan, leati_sample *out,
                        GError **error) {
  *out = (leati_sample){0};
  team t = {.task = task, .context = context, .plan = plan};
  g_mutex_init(&t.lock);
  g_cond_init(&t.moved);
  g_autofree member *members = g_new0(member, plan->threads);
  g_autofree GThread **threads = g_new0(GThread *, plan->threads);
  guint made = 0;
  GError *refused = NULL;
  for (; made < plan->threads; ++made) {
    members[made] = (member){.team = &t, .thread = made};
    members[made].times = plan->runs > 0 ? NULL : leati_latency_new(LEATI_LATENCY_KEPT);
    threads[made] = g_thread_try_new("leat-bench", work, &members[made], &refused);
    if (threads[made] == NULL) {
      leati_latency_free(members[made].times);
      g_prefix_error(&refused, "%u threads could not be made: ", plan->threads);
      fail(&t, refused);
      break;
    }
  }
  await(&t, &t.ready, made, plan->warmup);
  const gint64 cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  enter(&t, PHASE_RUN);
  const gint64 start = t.start;
  if (plan->meanwhile != NULL && !failed(&t)) {
    plan->meanwhile(plan->meanwhile_context);
  }
  await(&t, &t.finished, made, plan->seconds);
  const gint64 spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  enter(&t, PHASE_END);
  await(&t, &t.gone, made, 0);
  for (guint i = 0; i < made; ++i) {
    g_thread_join(threads[i]);
  }
  if (made == plan->threads) {
    sum_up(members, made, start, spent, out);
  }
  for (guint i = 0; i < made; ++i) {
    leati_latency_free(members[i].times);
  }
  g_mutex_clear(&t.lock);
  g_cond_clear(&t.moved);
  if (t.error != NULL) {
    g_propagate_error(error, t.error);
    return FALSE;
  }
  return TRUE;
}
