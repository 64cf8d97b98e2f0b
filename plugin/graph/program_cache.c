/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/program_cache.h"

#include "core/config.h"
#include "core/status.h"

/* The program for such shapes, for a thread that is counted in; NULL: there is none. */
static const leati_program *find(const leati_lru_cache *cache, const leati_inference *inference,
                                 const leati_shape_pattern *pattern) {
  leati_lru_entry *at = leati_lru_first(&cache->table, pattern->hash);
  while (at != NULL && !leati_program_fits((const leati_program *)at, inference, pattern)) {
    at = leati_lru_next(at);
  }
  if (at != NULL) {
    leati_lru_use(&cache->table, at);
  }
  return (const leati_program *)at;
}

/* Says why the program that was used last does not do. For a thread that is counted in. */
static void log_reason(const leati_lru_cache *cache, const leati_inference *inference,
                       const leati_shape_pattern *pattern) {
  char reason[LEAT_ERROR_MESSAGE_SIZE] = "it is the first";
  const leati_lru_entry *latest = NULL;
  for (uint32_t b = 0; b < cache->table.bucket_count; ++b) {
    for (const leati_lru_entry *at = leati_lru_first(&cache->table, b); at != NULL; at = leati_lru_next(at)) {
      const uint64_t used = atomic_load_explicit(&at->used, memory_order_relaxed);
      latest = latest == NULL || used > atomic_load_explicit(&latest->used, memory_order_relaxed) ? at : latest;
    }
  }
  if (latest != NULL) {
    leati_program_difference((const leati_program *)latest, inference, pattern, reason);
  }
  leati_log(LEATI_LOG_DEBUG, "a program of %u nodes is made: %s", inference->graph->node_count, reason);
}

/* Adds a program; false: there is no room now. The thread is not counted in yet, and is then if the program was
 * added. */
static bool add(leati_lru_cache *cache, leati_program *program, leati_lru_counter **out_counter) {
  leati_lru_cache_collect(cache);
  leati_lru_counter *const counter = leati_lru_enter(&cache->readers, 0);
  const bool added = leati_lru_cache_add(cache, &program->entry);
  if (added) {
    *out_counter = counter;
  } else {
    leati_lru_leave(counter);
  }
  return added;
}

/* Makes a program, and leaves it in the cache if there is room; another thread may do the same. */
static int32_t make(leati_lru_cache *cache, leati_inference *inference, const bool *live,
                    const leati_shape_pattern *pattern, leati_program_use *out, leat_error *err) {
  leati_program *program;
  LEATI_TRY(leati_program_make(inference, live, pattern, &program, err));
  leati_inference_fit(inference, program->number);
  *out = (leati_program_use){.program = program};
  if (cache == NULL || !add(cache, program, &out->counter)) {
    out->own = program;
  }
  return LEAT_OK;
}

/* Whether a pattern says all of the inputs that rules may ask of: it says nothing of strides. */
static bool says_all(const leati_inference *inference) {
  const leat_graph *const graph = inference->graph;
  bool compact = true;
  for (uint32_t i = 0; i < graph->input_count && compact; ++i) {
    compact = inference->values[graph->inputs[i]].view.compact;
  }
  return compact;
}

int32_t leati_program_take(leati_inference *inference, const leati_view *outputs, const bool *live,
                           leati_program_use *out, leat_error *err) {
  /* The programs of a graph change while it does not. */
  leati_lru_cache *const cache = (leati_lru_cache *)&inference->graph->programs;
  leati_shape_pattern pattern;
  LEATI_TRY(leati_shape_pattern_make(inference, outputs, &pattern, err));
  if (cache->table.buckets == NULL || !says_all(inference)) {
    return make(NULL, inference, live, &pattern, out, err);
  }
  leati_lru_counter *const counter = leati_lru_enter(&cache->readers, 0);
  const leati_program *const program = find(cache, inference, &pattern);
  if (program != NULL) {
    leati_inference_fit(inference, program->number);
    *out = (leati_program_use){.program = program, .counter = counter};
    leati_free(pattern.marks);
    return LEAT_OK;
  }
  log_reason(cache, inference, &pattern);
  leati_lru_leave(counter);
  return make(cache, inference, live, &pattern, out, err);
}

void leati_program_leave(leati_program_use *use) {
  if (use->counter != NULL) {
    leati_lru_leave(use->counter);
  }
  leati_program_free(use->own);
}
