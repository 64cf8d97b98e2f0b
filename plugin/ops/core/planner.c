/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/planner.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "memory/memory.h"
#include "policy/submitting.h"
#include "record/compilation.h"

/* Bindings lie so far apart that no view of one reaches another. */
#define ORIGIN_SHIFT 48
_Static_assert(LEATI_ARGUMENTS_MAX + LEATI_TEMP_MAX < 1u << (64 - ORIGIN_SHIFT), "each has a number in 16 bits");

static uint64_t origin_of(uint32_t binding, uint64_t address) {
  return ((uint64_t)binding + 1) << ORIGIN_SHIFT | (address & (LEATI_PLAN_ALIGNMENT - 1));
}

void leati_planner_begin(leati_planner *planner, leat_device *device, uint32_t input_count, uint32_t output_count) {
  planner->device = device;
  planner->op = NULL;
  planner->guarded = leati_memory_guarded(device);
  planner->binding_count = input_count + output_count;
  planner->step_count = planner->access_count = planner->args_size = 0;
  planner->answer_count = planner->temporary_count = 0;
  planner->steps = planner->inline_steps;
  planner->step_capacity = LEATI_INLINE_STEPS;
  planner->accesses = planner->inline_accesses;
  planner->access_capacity = LEATI_INLINE_ACCESSES;
  planner->args = planner->inline_args;
  planner->args_capacity = LEATI_INLINE_ARGS;
}

void leati_planner_end(leati_planner *planner) {
  if (planner->steps != planner->inline_steps) {
    leati_free(planner->steps);
  }
  if (planner->accesses != planner->inline_accesses) {
    leati_free(planner->accesses);
  }
  if (planner->args != planner->inline_args) {
    leati_free(planner->args);
  }
}

void leati_planner_place(leati_view *view, uint32_t binding) {
  view->binding = binding;
  if (view->count == 0 || view->host) {
    return;
  }
  const uint64_t address = view->address, origin = origin_of(binding, address);
  view->origin = view->address = origin;
  view->begin = view->begin - address + origin;
  view->end = view->end - address + origin;
}

leati_plan leati_planner_plan(const leati_planner *planner) {
  return (leati_plan){.binding_count = planner->binding_count,
                      .step_count = planner->step_count,
                      .access_count = planner->access_count,
                      .answer_count = planner->answer_count,
                      .temporary_count = planner->temporary_count,
                      .steps = planner->steps,
                      .accesses = planner->accesses,
                      .answers = planner->answers,
                      .temporaries = planner->temporaries,
                      .args = planner->args,
                      .op = planner->op};
}

/* Copies `size` bytes to `*inout_at`, which moves on to the next multiple of 8. */
static const void *put(unsigned char **inout_at, const void *bytes, size_t size) {
  unsigned char *const at = *inout_at;
  if (size != 0) {
    memcpy(at, bytes, size);
  }
  *inout_at += (size + 7) / 8 * 8;
  return at;
}

void *leati_planner_keep(const leati_planner *planner, size_t header, leati_plan *out, size_t *out_size) {
  const size_t steps = planner->step_count * sizeof(*planner->steps);
  const size_t accesses = planner->access_count * sizeof(*planner->accesses);
  const size_t answers = planner->answer_count * sizeof(*planner->answers);
  const size_t temporaries = planner->temporary_count * sizeof(*planner->temporaries);
  header = (header + 7) / 8 * 8;
  *out_size = header + steps + accesses + answers + temporaries + planner->args_size + 5 * sizeof(uint64_t);
  unsigned char *const memory = leati_calloc(1, *out_size);
  if (memory == NULL) {
    return NULL;
  }
  unsigned char *at = memory + header;
  *out = leati_planner_plan(planner);
  out->steps = put(&at, planner->steps, steps);
  out->accesses = put(&at, planner->accesses, accesses);
  out->answers = put(&at, planner->answers, answers);
  out->temporaries = put(&at, planner->temporaries, temporaries);
  out->args = put(&at, planner->args, planner->args_size);
  return memory;
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

/* Makes room for `added` items behind `count` in an array that lies in the planner (`own`) until it grows. */
static int32_t reserve(void **inout_array, const void *own, uint32_t *inout_capacity, uint32_t count, uint32_t added,
                       size_t item, leat_error *err) {
  if (added <= *inout_capacity - count) {
    return LEAT_OK;
  }
  const uint32_t capacity = 2 * (count + added);
  void *const grown = leati_realloc(*inout_array == own ? NULL : *inout_array, capacity * item);
  if (grown == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the plan of an operator");
  }
  if (*inout_array == own) {
    memcpy(grown, own, count * item);
  }
  *inout_array = grown;
  *inout_capacity = capacity;
  return LEAT_OK;
}

/* Appends `size` bytes to the argument records; `*out` says where. */
static int32_t put_args(leati_planner *planner, const void *bytes, uint32_t size, uint32_t *out, leat_error *err) {
  void *args = planner->args;
  const uint32_t rounded = (size + 7) / 8 * 8;
  LEATI_TRY(reserve(&args, planner->inline_args, &planner->args_capacity, planner->args_size, rounded, 1, err));
  planner->args = args;
  *out = planner->args_size;
  memcpy(planner->args + *out, bytes, size);
  planner->args_size += rounded;
  return LEAT_OK;
}

/* Notes that the step to come uses a binding, for the life of temporaries. */
static void note_use(leati_planner *planner, uint32_t binding) {
  const uint32_t first = planner->binding_count - planner->temporary_count;
  if (binding >= first) {
    leati_temporary *const temporary = &planner->temporaries[binding - first];
    temporary->first_step = temporary->first_step < planner->step_count ? temporary->first_step : planner->step_count;
    temporary->last_step = planner->step_count;
  }
}

/* The runs in which the elements of a view lie: as long as they are neighbours, at distances that are all multiples of
 * the shortest. None of a view that is a part by its address alone, and may be moved. */
static leati_runs runs_of(const leati_view *view) {
  uint64_t run = 1, last = 0;
  int64_t pitch = 0;
  if (view->compact || view->begin != view->address) {
    return (leati_runs){0};
  }
  for (int32_t d = view->ndim - 1; d >= 0; --d) {
    const int64_t stride = view->shape[d] > 1 ? view->strides[d] : 0;
    last += (uint64_t)(stride * (view->shape[d] - 1));
    if (stride == 1) {
      run += (uint64_t)view->shape[d] - 1; /* dimensions of such a step overlap */
    } else if (stride != 0) {
      pitch = pitch == 0 || stride < pitch ? stride : pitch;
    }
  }
  bool even = view->end == view->begin + (last + 1) * view->item_size && pitch >= (int64_t)run;
  for (int32_t d = 0; d < view->ndim && even; ++d) {
    even = view->shape[d] == 1 || view->strides[d] == 1 || view->strides[d] % pitch == 0;
  }
  return even && (uint64_t)pitch * view->item_size <= UINT32_MAX
             ? (leati_runs){.pitch = (uint32_t)((uint64_t)pitch * view->item_size),
                            .size = (uint32_t)(run * view->item_size)}
             : (leati_runs){0};
}

/* Where in the record of a dispatch something of it lies: its argument record, or the rows, which begin at `rows`. */
static uint32_t place_in_record(const leati_dispatch_desc *dispatch, uint32_t rows, const uint64_t *field) {
  const uintptr_t at = (uintptr_t)field, first = (uintptr_t)dispatch->rows;
  return dispatch->rows != NULL && at >= first && at < first + dispatch->rows_size
             ? rows + (uint32_t)(at - first)
             : (uint32_t)(at - (uintptr_t)dispatch->args);
}

/* Appends accesses, for which there is room, and counts them in `*out_count`. Addresses in the record become 0. Of a
 * copy, which has no record, `dispatch` is NULL. */
static void put_accesses(leati_planner *planner, const leati_access *accesses, uint32_t count,
                         const leati_dispatch_desc *dispatch, uint32_t rows, unsigned char *record,
                         uint32_t *out_count) {
  *out_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const leati_access *const access = &accesses[i];
    uint32_t field = LEATI_FIELD_NONE;
    if (access->field != NULL) {
      field = place_in_record(dispatch, rows, access->field);
      memset(record + field, 0, sizeof(uint64_t));
    }
    const leati_view *const view = access->view;
    if (view == NULL || view->count == 0) {
      continue;
    }
    note_use(planner, view->binding);
    planner->accesses[planner->access_count++] = (leati_plan_access){.binding = view->binding,
                                                                     .field = field,
                                                                     .offset = (int64_t)(view->address - view->origin),
                                                                     .begin = (int64_t)(view->begin - view->origin),
                                                                     .end = (int64_t)(view->end - view->origin),
                                                                     .runs = runs_of(view)};
    ++*out_count;
  }
}

/* Makes room for a step with so many accesses. */
static int32_t reserve_step(leati_planner *planner, uint32_t accesses, leat_error *err) {
  void *steps = planner->steps, *all = planner->accesses;
  LEATI_TRY(reserve(&steps, planner->inline_steps, &planner->step_capacity, planner->step_count, 1,
                    sizeof(*planner->steps), err));
  planner->steps = steps;
  LEATI_TRY(reserve(&all, planner->inline_accesses, &planner->access_capacity, planner->access_count, accesses,
                    sizeof(*planner->accesses), err));
  planner->accesses = all;
  return LEAT_OK;
}

/* The pipeline of a key, compiled if nobody has yet. */
static int32_t need_pipeline(leat_device *device, const leati_pipeline_key *key, leati_pipeline **out,
                             leat_error *err) {
  while (!leati_pipeline_find(device, key, out)) {
    LEATI_TRY(leati_compile(device, key, err));
  }
  return LEAT_OK;
}

/* Bytes that a step may touch. */
static uint64_t bytes_of(const leati_planner *planner, const leati_plan_step *step) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < step->read_count + step->write_count; ++i) {
    const leati_plan_access *const access = &planner->accesses[step->first_access + i];
    const uint64_t extent = (uint64_t)(access->end - access->begin);
    bytes += access->runs.pitch == 0 ? extent : (extent / access->runs.pitch + 1) * access->runs.size;
  }
  return bytes;
}

int32_t leati_plan_dispatch(leati_planner *planner, const leati_dispatch_desc *dispatch, leat_error *err) {
  if (dispatch->groups[0] == 0 || dispatch->groups[1] == 0 || dispatch->groups[2] == 0) {
    return LEAT_OK;
  }
  if (dispatch->pipeline.kernel == LEATI_KERNEL_NONE) {
    return leati_fail(err, LEAT_ERROR_INTERNAL, "%s has no kernel for these types",
                      planner->op != NULL ? planner->op : "an operator of a graph");
  }
  const leati_physical *const physical = planner->device->physical;
  for (uint32_t d = 0; d < 3; ++d) {
    if (dispatch->groups[d] > physical->max_groups[d]) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "kernel %s needs %u x %u x %u workgroups for tensors of this size; %s allows %u x %u x %u",
                        leati_kernel_codes[dispatch->pipeline.kernel].name, dispatch->groups[0], dispatch->groups[1],
                        dispatch->groups[2], physical->info.name, physical->max_groups[0], physical->max_groups[1],
                        physical->max_groups[2]);
    }
  }
  const uint32_t counters_size = dispatch->counter_count * (uint32_t)sizeof(uint32_t);
  if (dispatch->args_size > LEATI_ARGS_MAX || dispatch->counter_count > LEATI_COUNTERS_MAX ||
      dispatch->rows_size > LEATI_ROWS_MAX ||
      (dispatch->rows != NULL ? dispatch->read_count + dispatch->write_count > LEATI_ROW_ACCESSES_MAX
                              : dispatch->read_count > LEATI_ACCESS_MAX || dispatch->write_count > LEATI_ACCESS_MAX)) {
    return leati_fail(err, LEAT_ERROR_INTERNAL, "kernel %s has too many arguments",
                      leati_kernel_codes[dispatch->pipeline.kernel].name);
  }
  leati_plan_step step = {.first_access = planner->access_count,
                          .groups = {dispatch->groups[0], dispatch->groups[1], dispatch->groups[2]},
                          .args_size = dispatch->args_size,
                          .fault = dispatch->fault,
                          .name = dispatch->name};
  LEATI_TRY(need_pipeline(planner->device, &dispatch->pipeline, &step.pipeline, err));
  LEATI_TRY(reserve_step(planner, dispatch->read_count + dispatch->write_count, err));
  LEATI_TRY(put_args(planner, dispatch->args, dispatch->args_size, &step.args, err));
  if (dispatch->rows != NULL) {
    uint32_t rows;
    LEATI_TRY(put_args(planner, dispatch->rows, dispatch->rows_size, &rows, err));
    step.rows = rows - step.args;
    step.rows_field = place_in_record(dispatch, step.rows, dispatch->rows_at);
    step.args_size = step.rows + dispatch->rows_size;
  }
  if (dispatch->counter_count != 0) {
    static const uint32_t zeros[LEATI_COUNTERS_MAX];
    uint32_t counters;
    LEATI_TRY(put_args(planner, zeros, counters_size, &counters, err));
    step.counters = counters - step.args;
    step.counters_field = place_in_record(dispatch, step.rows, dispatch->counters);
    step.args_size = step.counters + counters_size;
  }
  unsigned char *const record = planner->args + step.args;
  put_accesses(planner, dispatch->reads, dispatch->read_count, dispatch, step.rows, record, &step.read_count);
  put_accesses(planner, dispatch->writes, dispatch->write_count, dispatch, step.rows, record, &step.write_count);
  step.work_us = leati_dispatch_us(&planner->device->traits, bytes_of(planner, &step), dispatch->multiplications);
  if (dispatch->draws != NULL) {
    step.draws = true;
    step.draws_field = place_in_record(dispatch, step.rows, dispatch->draws);
  }
  if (dispatch->finding != NULL) {
    step.finding_field = place_in_record(dispatch, step.rows, dispatch->finding);
    step.tells = planner->guarded;
    memset(record + step.finding_field, 0, sizeof(uint64_t));
  }
  planner->steps[planner->step_count++] = step;
  return LEAT_OK;
}

int32_t leati_plan_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err) {
  leati_view source = *src, target = *dst;
  const leati_access from = {.view = &source}, to = {.view = &target};
  leati_plan_step step = {.copies = true, .first_access = planner->access_count};
  if (dst->count == 0) {
    return LEAT_OK;
  }
  /* A part of a tensor has the extent of the whole, and a copy moves all of an extent. */
  const uint64_t bytes = dst->count * dst->item_size;
  source.begin = src->address;
  source.end = src->address + bytes;
  target.begin = dst->address;
  target.end = dst->address + bytes;
  LEATI_TRY(reserve_step(planner, 2, err));
  put_accesses(planner, &from, 1, NULL, 0, NULL, &step.read_count);
  put_accesses(planner, &to, 1, NULL, 0, NULL, &step.write_count);
  planner->steps[planner->step_count++] = step;
  return LEAT_OK;
}

int32_t leati_plan_temporary(leati_planner *planner, leati_view *out, leat_error *err) {
  if (planner->temporary_count == LEATI_TEMP_MAX) {
    return leati_fail(err, LEAT_ERROR_INTERNAL, "an operator needs too many temporary tensors");
  }
  out->present = true;
  out->host = false;
  out->item_size = leati_type_size(out->type);
  out->dtype = leati_dtype_of(out->type);
  leati_view_make_compact(out);
  const uint64_t size = out->count * out->item_size;
  out->address = out->begin = 0;
  out->end = size;
  leati_planner_place(out, planner->binding_count++);
  planner->temporaries[planner->temporary_count++] =
      (leati_temporary){.size = size, .first_step = UINT32_MAX, .last_step = 0};
  return LEAT_OK;
}

int32_t leati_plan_answer_host(leati_planner *planner, const leati_view *output, const void *bytes, uint32_t size,
                               leat_error *err) {
  if (planner->answer_count == LEATI_ANSWER_MAX) {
    return leati_fail(err, LEAT_ERROR_INTERNAL, "an operator has too many outputs on the host");
  }
  leati_plan_answer answer = {.binding = output->binding, .size = size};
  LEATI_TRY(put_args(planner, bytes, size, &answer.data, err));
  planner->answers[planner->answer_count++] = answer;
  return LEAT_OK;
}

int32_t leati_check_rounds(const leat_device *device, uint64_t rounds, const char *what, leat_error *err) {
  return rounds <= LEATI_ROUNDS_MAX || (device->physical->info.flags & LEAT_DEVICE_SOFTWARE) == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: %" PRIu64 " rounds of a loop are needed; a software device ends loops after %u", what,
                          rounds, LEATI_ROUNDS_MAX);
}
