/* SPDX-License-Identifier: BSD-3-Clause */
/* Planning: where a plan's records, tensors and the runs of their elements lie. */
#include "ops/core/planner.c"

#include "outside.h"

bool leati_memory_guarded(const leat_device *device) {
  (void)device;
  return false;
}

/* Records that are put one behind the other begin at multiples of 8, lie apart and within what there is, and keep their
 * bytes where the array moves.
 * UNWIND 4
 * SMALLER plugin/ops/core/planner.h: `LEATI_INLINE_ARGS 2048` becomes `LEATI_INLINE_ARGS 32`
 * MISTAKE plugin/ops/core/planner.c: `if (added <= *inout_capacity - count)` becomes
 * `if (added <= *inout_capacity - count + 8)`
 * MISTAKE plugin/ops/core/planner.c: `planner->args_size += rounded;` becomes `planner->args_size += size;`
 * MISTAKE plugin/ops/core/planner.c: `memcpy(grown, own, count * item);` becomes `` */
void prove_records_lie_apart(void) {
  static leati_planner planner;
  static const unsigned char zeros[24];
  unsigned char bytes[12];
  leati_planner_begin(&planner, NULL, 1, 1);
  /* The first fits into the planner; the second does not or does. */
  const uint32_t second_size = ANY(bool) ? 24 : 3;
  uint32_t first, second;
  if (put_args(&planner, bytes, sizeof(bytes), &first, NULL) == LEAT_OK &&
      put_args(&planner, zeros, second_size, &second, NULL) == LEAT_OK) {
    PROVE(first == 0 && second % 8 == 0 && second >= sizeof(bytes));
    PROVE(second + second_size <= planner.args_size && planner.args_size <= planner.args_capacity);
    PROVE(planner.args[0] == bytes[0] && planner.args[11] == bytes[11]);
    PROVE(planner.args[second] == 0 && planner.args[second + second_size - 1] == 0);
  }
  leati_planner_end(&planner);
}

/* A view that is placed keeps its extent, its distance to it, and its address as far as a plan may know that; those of
 * two bindings lie apart, if none reaches further than a device has addresses.
 * MISTAKE plugin/ops/core/planner.c: `view->end = view->end - address + origin;` becomes
 * `view->end = view->end + origin;`
 * MISTAKE plugin/ops/core/planner.c: `address & (LEATI_PLAN_ALIGNMENT - 1)` becomes `address & LEATI_PLAN_ALIGNMENT`
 * MISTAKE plugin/ops/core/planner.c: `#define ORIGIN_SHIFT 48` becomes `#define ORIGIN_SHIFT 46` */
void prove_bindings_lie_apart(void) {
  leati_view views[2] = {{.count = 1}, {.count = 1}}, old[2];
  const uint32_t first = ANY(uint32_t), second = ANY(uint32_t);
  const uint64_t most = UINT64_C(1) << 47;
  ASSUME(first < second && second < LEATI_ARGUMENTS_MAX + LEATI_TEMP_MAX);
  for (int i = 0; i < 2; ++i) {
    views[i].address = ANY(uint64_t);
    views[i].begin = ANY(uint64_t);
    views[i].end = ANY(uint64_t);
    ASSUME(views[i].begin <= views[i].address && views[i].address < views[i].end && views[i].end < most - 16);
    old[i] = views[i];
    leati_planner_place(&views[i], i == 0 ? first : second);
    PROVE(views[i].address % LEATI_PLAN_ALIGNMENT == old[i].address % LEATI_PLAN_ALIGNMENT);
    PROVE(views[i].address - views[i].begin == old[i].address - old[i].begin);
    PROVE(views[i].end - views[i].begin == old[i].end - old[i].begin);
  }
  PROVE(views[0].begin < views[0].end && views[1].begin < views[1].end && views[0].end <= views[1].begin);
}

/* Each element of a view that is said to lie in runs lies in one of them, whole, and the last of them ends the view.
 * UNWIND 4
 * MISTAKE plugin/ops/core/planner.c: `run += (uint64_t)view->shape[d] - 1;` becomes `run = (uint64_t)view->shape[d];`
 * MISTAKE plugin/ops/core/planner.c: `(uint32_t)(run * view->item_size)` becomes `(uint32_t)run`
 * MISTAKE plugin/ops/core/planner.c: `view->strides[d] == 1 || view->strides[d] % pitch == 0` becomes `true`
 * MISTAKE plugin/ops/core/planner.c: `&& pitch >= (int64_t)run` becomes `` */
void prove_elements_lie_in_their_runs(void) {
  leati_view view;
  view.ndim = 3;
  view.item_size = 4;
  view.begin = view.address = 0;
  int64_t at = 0, last = 0;
  for (int32_t d = 0; d < 3; ++d) {
    view.shape[d] = 1 + (ANY(uint8_t) & 3);
    view.strides[d] = ANY(uint8_t) & 31;
    const int64_t i = ANY(uint8_t) & 3;
    ASSUME(i < view.shape[d]);
    at += i * view.strides[d];
    last += (view.shape[d] - 1) * view.strides[d];
  }
  view.end = (uint64_t)(last + 1) * 4;
  const leati_runs runs = runs_of(&view);
  if (runs.pitch != 0) {
    PROVE((uint32_t)at * 4 % runs.pitch + 4 <= runs.size && runs.size <= runs.pitch);
  }
}

/* The copy of a plan has room for each of its arrays behind its header, one behind the other, at multiples of 8, and
 * their bytes.
 * MISTAKE plugin/ops/core/planner.c: `planner->args_size + 5 * sizeof(uint64_t)` becomes `planner->args_size`
 * MISTAKE plugin/ops/core/planner.c: `*inout_at += (size + 7) / 8 * 8;` becomes `*inout_at += size;`
 * MISTAKE plugin/ops/core/planner.c: `unsigned char *at = memory + header;` becomes `unsigned char *at = memory;` */
void prove_a_copy_of_a_plan_has_room(void) {
  static leati_planner planner;
  leati_planner_begin(&planner, NULL, 1, 1);
  planner.step_count = planner.access_count = planner.answer_count = planner.temporary_count = 1;
  planner.args_size = 8;
  planner.args[7] = ANY(unsigned char);
  planner.answers[0].size = ANY(uint32_t);
  leati_plan plan;
  size_t size;
  unsigned char *const memory = leati_planner_keep(&planner, 12, &plan, &size);
  if (memory != NULL) {
    const unsigned char *const steps = (const unsigned char *)plan.steps;
    const unsigned char *const accesses = (const unsigned char *)plan.accesses;
    const unsigned char *const answers = (const unsigned char *)plan.answers;
    const unsigned char *const temporaries = (const unsigned char *)plan.temporaries;
    PROVE(steps >= memory + 12 && (steps - memory) % 8 == 0 && (accesses - memory) % 8 == 0);
    PROVE((answers - memory) % 8 == 0 && (temporaries - memory) % 8 == 0 && (plan.args - memory) % 8 == 0);
    PROVE(accesses >= (const unsigned char *)(plan.steps + 1) && answers >= (const unsigned char *)(plan.accesses + 1));
    PROVE(temporaries >= (const unsigned char *)(plan.answers + 1));
    PROVE(plan.args >= (const unsigned char *)(plan.temporaries + 1) && plan.args + 8 <= memory + size);
    PROVE(plan.args[7] == planner.args[7] && plan.answers[0].size == planner.answers[0].size);
    leati_free(memory);
  }
}
