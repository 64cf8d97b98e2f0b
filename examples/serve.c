/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A server in small: y = max(max(x W, 0) V, 0) as one graph, run for many requests by GLib's thread pool. Checks every
 * answer, and says how many requests it served a second and how long they took. Usage: leat-example-serve [REQUESTS
 * [THREADS]]. Exits with 77 if the backend has no graphs.
 */
#include <glib.h>
#include <leat/host.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  ROWS = 4,
  WIDTH = 32,
  HIDDEN = 64,
  ANSWER = 8,
  MOST_REQUESTS = 10000000,
  MOST_THREADS = 31 /* as many streams as the backend's pool has for them by default */
};

/* What all threads share. None of it changes while requests run, so there is no lock. */
typedef struct server {
  const leat_backend_api *leat;
  leat_device *gpu;
  leat_graph *graph;
  float w[WIDTH][HIDDEN], v[HIDDEN][ANSWER];
} server;

/* A request is written by the one thread that serves it, and read after the pool has ended. */
typedef struct request {
  int64_t begin, end; /* in microseconds: when a thread asked the backend, and when the answer was there */
  unsigned seed;
  gboolean right;
} request;

static const DLDataType f32 = {kDLFloat, 32, 1};
static int64_t x_shape[2] = {ROWS, WIDTH}, w_shape[2] = {WIDTH, HIDDEN}, v_shape[2] = {HIDDEN, ANSWER},
               y_shape[2] = {ROWS, ANSWER};

/* Each thread has its own message. Any failure ends the program, with what the backend says of it. */
static void check(int32_t status, const leat_error *err) {
  if (status != LEAT_OK) {
    fprintf(stderr, "%s: %s\n", leat_host_status_name(status), err->message);
    exit(status == LEAT_ERROR_NOT_SUPPORTED ? 77 : 1);
  }
}

static DLTensor matrix(void *data, int64_t *shape) {
  return (DLTensor){data, {kDLCPU, 0}, 2, f32, shape, NULL, 0};
}

/* Small whole numbers: every sum is exact in a float, in any order, so that answers can be compared for equality. */
static void fill(float *values, size_t count, unsigned seed) {
  GRand *const random = g_rand_new_with_seed(seed);
  for (size_t i = 0; i < count; ++i) {
    values[i] = (float)g_rand_int_range(random, -3, 4);
  }
  g_rand_free(random);
}

static leat_graph *build(server *s) {
  leat_error err = {.struct_size = sizeof(err)};
  const DLTensor w = matrix(s->w, w_shape), v = matrix(s->v, v_shape);
  /* Values by number: 0 is the input, 1 and 2 are the weights, and 3 to 6 what the four nodes make in turn. */
  const leat_value_info x = {.struct_size = sizeof(x), .ndim = 2, .dtype = f32, .shape = x_shape};
  const leat_value_info first = {.struct_size = sizeof(first), .ndim = 2, .dtype = f32, .shape = w_shape, .value = &w};
  const leat_value_info second = {
      .struct_size = sizeof(second), .ndim = 2, .dtype = f32, .shape = v_shape, .value = &v};
  const leat_value_info made = {.struct_size = sizeof(made), .ndim = -1};
  const uint32_t in[4][2] = {{0, 1}, {3}, {4, 2}, {5}}, out[4] = {3, 4, 5, 6};
  leat_graph_node nodes[4];
  for (int i = 0; i < 4; ++i) {
    const gboolean product = i % 2 == 0;
    nodes[i] = (leat_graph_node){.struct_size = sizeof(nodes[i]), .since_version = product ? 13 : 14};
    nodes[i].op = product ? "MatMul" : "Relu";
    nodes[i].input_count = product ? 2 : 1, nodes[i].inputs = in[i];
    nodes[i].output_count = 1, nodes[i].outputs = &out[i];
  }
  leat_graph_desc desc = {
      .struct_size = sizeof(desc), .value_count = 7, .node_count = 4, .input_count = 1, .output_count = 1};
  desc.values = (const leat_value_info *[]){&x, &first, &second, &made, &made, &made, &made};
  desc.nodes = (const leat_graph_node *[]){&nodes[0], &nodes[1], &nodes[2], &nodes[3]};
  desc.inputs = &in[0][0], desc.outputs = &out[3];
  leat_graph *graph;
  check(s->leat->graph->build(s->gpu, &desc, &graph, &err), &err);
  return graph;
}

/* The same on the CPU. */
static gboolean is_right(const server *s, float x[ROWS][WIDTH], float y[ROWS][ANSWER]) {
  for (int row = 0; row < ROWS; ++row) {
    float expected[ANSWER] = {0};
    for (int h = 0; h < HIDDEN; ++h) {
      float sum = 0;
      for (int i = 0; i < WIDTH; ++i) {
        sum += x[row][i] * s->w[i][h];
      }
      for (int a = 0; a < ANSWER; ++a) {
        expected[a] += fmaxf(sum, 0) * s->v[h][a];
      }
    }
    for (int a = 0; a < ANSWER; ++a) {
      if (fabsf(y[row][a] - fmaxf(expected[a], 0)) > 0 || isnan(y[row][a])) {
        return FALSE;
      }
    }
  }
  return TRUE;
}

/* Runs on a thread of the pool. Each thread has a stream of its own, which the backend gives it on first use and takes
 * back when the thread ends; the graph is shared. Tensors may be on the host: the backend moves them. */
static void serve(gpointer data, gpointer user_data) {
  request *const r = data;
  const server *const s = user_data;
  leat_error err = {.struct_size = sizeof(err)};
  float x[ROWS][WIDTH], y[ROWS][ANSWER];
  const DLTensor input = matrix(x, x_shape), output = matrix(y, y_shape);
  const DLTensor *const in[] = {&input}, *const out[] = {&output};
  leat_stream *stream;
  fill(&x[0][0], ROWS * WIDTH, r->seed);
  r->begin = g_get_monotonic_time();
  check(s->leat->pool->current(s->gpu, &stream, &err), &err);
  check(s->leat->graph->launch(s->graph, stream, 1, in, 1, out, &err), &err);
  check(s->leat->stream->synchronize(stream, &err), &err);
  r->end = g_get_monotonic_time();
  r->right = is_right(s, x, y);
}

static int by_time(const void *a, const void *b) {
  const request *const r = a, *const q = b;
  const int64_t mine = r->end - r->begin, other = q->end - q->begin;
  return (mine > other) - (mine < other);
}

static int number(const char *text, int most) {
  guint64 value;
  if (!g_ascii_string_to_unsigned(text, 10, 1, (guint64)most, &value, NULL)) {
    fprintf(stderr, "%s is not a number from 1 to %d\n", text, most);
    exit(2);
  }
  return (int)value;
}

int main(int argc, char **argv) {
  const int count = argc > 1 ? number(argv[1], MOST_REQUESTS) : 1000;
  const int threads = argc > 2 ? number(argv[2], MOST_THREADS) : 8;
  leat_error err = {.struct_size = sizeof(err)};
  server s;
  fill(&s.w[0][0], WIDTH * HIDDEN, 1);
  fill(&s.v[0][0], HIDDEN * ANSWER, 2);
  check(leat_host_load(NULL, &s.leat, &err), &err);
  check(s.leat->device->open(0, &s.gpu, &err), &err); /* the best device comes first */
  s.graph = build(&s);

  /* Exclusive: the threads are the pool's own, and end with it. */
  request *const requests = g_new0(request, (gsize)count);
  GThreadPool *const pool = g_thread_pool_new(serve, &s, threads, TRUE, NULL);
  const int64_t begin = g_get_monotonic_time();
  for (int i = 0; i < count; ++i) {
    requests[i].seed = (unsigned)i;
    g_thread_pool_push(pool, &requests[i], NULL);
  }
  g_thread_pool_free(pool, FALSE, TRUE); /* waits until the queue is empty */
  const double seconds = (double)(g_get_monotonic_time() - begin) / 1e6;

  int right = 0;
  for (int i = 0; i < count; ++i) {
    right += requests[i].right;
  }
  qsort(requests, (size_t)count, sizeof(requests[0]), by_time);
  const request *const p50 = &requests[count / 2], *const p99 = &requests[(int)(count * 0.99)];
  fprintf(stderr,
          "%.0f requests a second on %d threads; from asking the backend to the answer p50 %.2f ms, p99 %.2f ms\n",
          count / seconds, threads, (double)(p50->end - p50->begin) / 1e3, (double)(p99->end - p99->begin) / 1e3);
  printf("%d of %d answers right\n", right, count);
  g_free(requests);
  check(s.leat->device->close(s.gpu, &err), &err); /* frees the graph and the streams too */
  return right == count ? 0 : 1;
}
