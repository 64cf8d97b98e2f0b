/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/recorder.h"

#include <string.h>

#include "core/status.h"
#include "memory/memory.h"
#include "policy/submitting.h"
#include "record/compilation.h"
#include "streams/free_streams.h"
#include "streams/recorder_state.h"

/* ---- Operations ---------------------------------------------------------------------------------------------------
 */

/* Takes the stream's lock; on success end_recording() must follow. Not analysed, and nor is that: it is the status that
 * says whether the lock is held. */
LEATI_UNANALYSED static int32_t begin_recording(leati_recorder *recorder, leat_stream *stream, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  const int32_t status = leati_stream_sticky(stream, err);
  if (status != LEAT_OK) {
    leati_mutex_unlock(&stream->lock);
    return status;
  }
  recorder->device = stream->device;
  recorder->stream = stream;
  recorder->lack = LEATI_LACK_NOTHING;
  recorder->command_mark = leati_stream_open_count(stream);
  recorder->work_mark = stream->open != NULL ? stream->open->work_us : 0;
  recorder->plan = NULL;
  recorder->delivery_mark = stream->open != NULL ? stream->open->delivery_count : 0;
  recorder->check_mark = stream->open != NULL ? stream->open->check_count : 0;
  recorder->chunks_mark = stream->open != NULL ? stream->open->chunks : NULL;
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    recorder->chunk_mark[i] = stream->current[i];
    recorder->used_mark[i] = stream->current[i] != NULL ? stream->current[i]->used : 0;
  }
  recorder->temp_count = 0;
  recorder->pieces = recorder->last_piece = NULL;
  return LEAT_OK;
}

/* Whether the open list goes without being asked. `lock` held. */
static bool should_submit(const leat_stream *stream) LEATI_HOLDS(stream->lock) {
  const leati_submission *const open = stream->open;
  if (open == NULL || open->command_count == 0) {
    return false;
  }
  const uint64_t pushed = leati_stream_open_value(stream) - 1;
  if (leati_list_goes_if_alone(open->command_count, open->barrier_count) && leati_placement_alone(stream->device) &&
      (pushed == 0 || leati_timeline_passed(stream->timeline, pushed - 1))) {
    return true;
  }
  return leati_list_goes(open->command_count) ||
         (leati_list_goes_if_done(open->command_count) && leati_timeline_passed(stream->timeline, pushed));
}

/* Gives the pieces the values behind the open list's, and stamps what they read. `lock` held. */
static void number_pieces(const leat_stream *stream, leati_submission *pieces) LEATI_HOLDS(stream->lock) {
  uint64_t value = leati_stream_open_value(stream);
  for (leati_submission *at = pieces; at != NULL; at = at->next) {
    at->value = ++value;
    leati_block_stamp(at->commands[0].copy.stamped, stream->timeline, value);
  }
}

/* Gives back the chunks that were taken since the begin: no command is left that uses them, and who tries again may
 * find no others. `lock` held. */
static void give_chunks_back(leati_recorder *recorder) LEATI_HOLDS(recorder->stream->lock) {
  leat_stream *const stream = recorder->stream;
  while (stream->open->chunks != recorder->chunks_mark) {
    leati_chunk *const chunk = stream->open->chunks;
    stream->open->chunks = chunk->next;
    chunk->next = NULL;
    leati_chunks_give(recorder->device, chunk);
  }
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    stream->current[i] = recorder->chunk_mark[i];
    if (stream->current[i] != NULL) {
      stream->current[i]->used = recorder->used_mark[i];
    }
  }
}

/* Keeps the commands or takes them back, frees the temporaries, releases the lock, returns `status`. */
LEATI_UNANALYSED static int32_t end_recording(leati_recorder *recorder, int32_t status) {
  leat_stream *const stream = recorder->stream;
  if (status == LEAT_OK) {
    number_pieces(stream, recorder->pieces);
  } else {
    leati_recorder_drop_pieces(stream, recorder->pieces);
    recorder->pieces = NULL;
  }
  if (status != LEAT_OK && leati_stream_open_count(stream) != recorder->command_mark) {
    stream->open->command_count = recorder->command_mark;
    stream->open->work_us = recorder->work_mark;
    /* A barrier that was cut off has reset the ranges: the next command gets one in its place. */
    stream->barrier_next = true;
    /* Blocks may be stamped with the value of this list already: it must come, or they are never idle again. */
    stream->waiting = true;
    leati_hazards_take_back(recorder->device, stream->timeline, leati_stream_open_value(stream),
                            recorder->command_mark);
  }
  if (status != LEAT_OK && stream->open != NULL) {
    stream->open->delivery_count = recorder->delivery_mark;
    stream->open->check_count = recorder->check_mark;
    give_chunks_back(recorder);
  }
  for (uint32_t i = 0; i < recorder->temp_count; ++i) {
    leati_memory_give_temporary(recorder->device, stream->timeline, recorder->temps[i]);
  }
  if (recorder->pieces != NULL || should_submit(stream)) {
    /* A failure is sticky: the caller hears of it at the next call. */
    (void)leati_stream_flush_with(stream, recorder->pieces, NULL);
    (void)leati_stream_unlock_and_help(stream, status, NULL);
  } else {
    leati_mutex_unlock(&stream->lock);
  }
  return status;
}

static int32_t record_or_wait(leat_stream *stream, leati_record_function *record, const void *operation,
                              leat_error *err) {
  uint32_t tries = 0;
  for (;;) {
    leati_recorder recorder;
    LEATI_TRY(begin_recording(&recorder, stream, err));
    const int32_t status = end_recording(&recorder, record(&recorder, operation, err));
    if (status == LEAT_OK || recorder.lack == LEATI_LACK_NOTHING) {
      return status;
    }
    if (recorder.lack == LEATI_LACK_PIPELINE) {
      LEATI_TRY(leati_compile(recorder.device, &recorder.pipeline, err));
    } else if (!leati_streams_await_memory(recorder.device, &tries)) {
      return status;
    }
    leati_forget(err);
  }
}

/* Notes the pieces of downloads, each as a call of its own: it is a list of its own, which has its own times. */
static void note_pieces(leati_recorder *recorder, uint32_t modes) {
  for (leati_submission *at = recorder->pieces; at != NULL; at = at->next) {
    leati_profile_open(at, modes);
    if (at->profile != NULL) {
      const leati_profile_call call = {.stream = recorder->stream, .begun_ns = leati_now_ns()};
      leati_profile_note(recorder->device, at, &call);
    }
  }
}

/* An operation that is noted in the profile of its list. */
typedef struct noted_operation {
  leati_record_function *record;
  const void *operation;
} noted_operation;

static int32_t record_noted(leati_recorder *recorder, const void *what, leat_error *err) {
  const noted_operation *const it = what;
  const uint64_t begun = leati_now_ns();
  LEATI_TRY(it->record(recorder, it->operation, err));
  leati_submission *const open = recorder->stream->open;
  /* A list that was opened before anybody asked has none. */
  if (open != NULL && open->profile != NULL) {
    const leati_profile_call call = {.stream = recorder->stream,
                                     .begun_ns = begun,
                                     .first_command = recorder->command_mark,
                                     .plan = recorder->plan,
                                     .first_of_plan = recorder->plan_mark};
    leati_profile_note(recorder->device, open, &call);
    note_pieces(recorder, open->profile->modes);
  }
  return LEAT_OK;
}

int32_t leati_record(leat_stream *stream, leati_record_function *record, const void *operation, leat_error *err) {
  /* The only look at the profiler of a call that nobody asks about. */
  if (atomic_load_explicit(&stream->device->profiling, memory_order_relaxed) == 0) {
    return record_or_wait(stream, record, operation, err);
  }
  const noted_operation noted = {.record = record, .operation = operation};
  return record_or_wait(stream, record_noted, &noted, err);
}

/* ---- Hazards ------------------------------------------------------------------------------------------------------
 */

int32_t leati_recorder_look_for_hazards(const leat_stream *stream, const leati_touch *reads, uint32_t read_count,
                                        const leati_touch *writes, uint32_t write_count, leat_error *err) {
  const leati_accessor accessor = {.device = stream->device,
                                   .timeline = stream->timeline,
                                   .value = leati_stream_open_value(stream),
                                   .owned_since = stream->owned_since,
                                   .command = leati_stream_open_count(stream),
                                   .stream = stream,
                                   .number = stream->number,
                                   .known = &stream->known};
  for (uint32_t i = 0; i < read_count; ++i) {
    LEATI_TRY(leati_hazards_read(&accessor, &reads[i].range, err));
  }
  for (uint32_t i = 0; i < write_count; ++i) {
    leati_hazards_write(&accessor, &writes[i].range);
  }
  return LEAT_OK;
}

/* One range that holds all of them, which may ask for a barrier that none of them needs. */
static leati_touch hull_of(const leati_touch *touches, uint32_t count) {
  leati_touch hull = touches[0];
  for (uint32_t i = 1; i < count; ++i) {
    const leati_range *const range = &touches[i].range;
    hull.range.begin = range->begin < hull.range.begin ? range->begin : hull.range.begin;
    hull.range.end = range->end > hull.range.end ? range->end : hull.range.end;
  }
  hull.range.runs = (leati_runs){0};
  return hull;
}

bool leati_recorder_note_many(leat_stream *stream, const leati_touch *reads, uint32_t read_count,
                              const leati_touch *writes, uint32_t write_count) {
  leati_timeline *const timeline = stream->timeline;
  const uint64_t value = leati_stream_open_value(stream);
  leati_touch read_hull, write_hull;
  for (uint32_t i = 0; i < read_count; ++i) {
    leati_touch_stamp(&reads[i], timeline, value);
  }
  for (uint32_t i = 0; i < write_count; ++i) {
    leati_touch_stamp(&writes[i], timeline, value);
  }
  if (read_count != 0) {
    read_hull = hull_of(reads, read_count);
  }
  if (write_count != 0) {
    write_hull = hull_of(writes, write_count);
  }
  return leati_recorder_note_accesses(stream, &read_hull, read_count != 0, &write_hull, write_count != 0);
}

/* ---- Dispatches ---------------------------------------------------------------------------------------------------
 */

/* Appends a dispatch whose argument record, of `size` bytes with what lies behind it, is to be written to
 * `*out_record`: the caller has until the stream's lock is released. */
static inline int32_t append_dispatch(leati_recorder *recorder, leati_pipeline *pipeline, const uint32_t groups[3],
                                      uint32_t size, leati_command **out, unsigned char **out_record, leat_error *err) {
  leati_recorder_has_lock(recorder->stream);
  LEATI_TRY(leati_stream_append(recorder->stream, out, err));
  leati_chunk *chunk;
  uint64_t offset;
  LEATI_TRY(leati_recorder_stage(recorder, LEATI_CHUNK_ARGUMENTS, size, recorder->device->physical->uniform_alignment,
                                 size > LEATI_ARGS_MAX ? size : LEATI_ARGS_MAX, &chunk, &offset, err));
  *out_record = chunk->draft + offset;
  **out = (leati_command){.kind = LEATI_COMMAND_DISPATCH,
                          .dispatch = {.pipeline = pipeline,
                                       .set = chunk->set,
                                       .offset = (uint32_t)offset,
                                       .groups = {groups[0], groups[1], groups[2]}}};
  return LEAT_OK;
}

/* The spans of views; those without elements are left out, because they name no memory. Returns how many are left. */
static uint32_t spans_of(const leati_view *const *views, uint32_t count, leati_touch *out) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (views[i]->count != 0) {
      out[kept++] = leati_touch_of(views[i]);
    }
  }
  return kept;
}

int32_t leati_record_dispatch(leati_recorder *recorder, const leati_dispatch *dispatch, leat_error *err) {
  leati_pipeline *pipeline;
  if (!leati_pipeline_find(recorder->device, &dispatch->pipeline, &pipeline)) {
    /* Without a message: leati_record() compiles it, and nobody is told. */
    recorder->lack = LEATI_LACK_PIPELINE;
    recorder->pipeline = dispatch->pipeline;
    return LEAT_ERROR_NOT_READY;
  }
  leati_command *command = NULL;
  unsigned char *record;
  LEATI_TRY(append_dispatch(recorder, pipeline, dispatch->groups, dispatch->args_size, &command, &record, err));
  memcpy(record, dispatch->args, dispatch->args_size);
  leati_touch reads[LEATI_ACCESS_MAX], writes[LEATI_ACCESS_MAX];
  const uint32_t read_count = spans_of(dispatch->reads, dispatch->read_count, reads);
  const uint32_t write_count = spans_of(dispatch->writes, dispatch->write_count, writes);
  command->work_us = leati_dispatch_us(&recorder->device->traits, 0, 0); /* of a small download */
  return leati_recorder_put(recorder->stream, command, reads, read_count, writes, write_count, err);
}

/* Gives the address of a record where the next dispatch tells of a fault that it meets. */
static int32_t stage_finding(leati_recorder *recorder, const char *name, leati_fault fault, uint64_t *out_address,
                             leat_error *err) {
  leati_chunk *chunk;
  uint64_t offset;
  LEATI_TRY(leati_recorder_stage(recorder, LEATI_CHUNK_DOWNLOAD, sizeof(leati_finding), LEATI_STAGED_ALIGNMENT,
                                 sizeof(leati_finding), &chunk, &offset, err));
  leati_finding *const finding = (leati_finding *)(void *)(chunk->mapped + offset);
  *finding = (leati_finding){.met = 0};
  const leati_check check = {.at = finding, .name = name, .fault = fault};
  LEATI_TRY(leati_submission_check(recorder->stream->open, &check, err));
  recorder->stream->open->to_host |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  *out_address = chunk->address + offset;
  return LEAT_OK;
}

/* ---- Plans --------------------------------------------------------------------------------------------------------
 */

int32_t leati_record_temporary(leati_recorder *recorder, uint64_t size, leati_binding *out, leat_error *err) {
  leati_timeline *const timeline = recorder->stream->timeline;
  LEATI_TRY(leati_recorder_note_shortage(
      recorder, size, leati_memory_take_temporary(recorder->device, size, timeline, &out->block, err)));
  recorder->temps[recorder->temp_count++] = out->block;
  out->address = leati_block_address(out->block);
  return LEAT_OK;
}

/* The bytes that an access touches in this call. */
static inline leati_touch bind(const leati_plan_access *access, const leati_binding *binding) {
  return (leati_touch){.range = {.begin = binding->address + (uint64_t)access->begin,
                                 .end = binding->address + (uint64_t)access->end,
                                 .runs = access->runs},
                       .block = binding->block};
}

/* Records a step. `spans` has room for what it touches: an array of its own would keep compilers from making this part
 * of its only caller. */
static inline int32_t record_step(leati_recorder *recorder, const leati_plan *plan, const leati_plan_step *step,
                                  const leati_binding *bindings, leati_touch *spans, leat_error *err) {
  const leati_plan_access *const accesses = &plan->accesses[step->first_access];
  if (step->copies) {
    const leati_touch from = bind(&accesses[0], &bindings[accesses[0].binding]);
    const leati_touch to = bind(&accesses[1], &bindings[accesses[1].binding]);
    return leati_recorder_append_device_copy(recorder->stream, LEATI_TRANSFER_COPY, &from, &to, err);
  }
  uint64_t finding = 0;
  if (step->tells) {
    LEATI_TRY(stage_finding(recorder, step->name, step->fault, &finding, err));
  }
  leati_command *command = NULL;
  unsigned char *record;
  LEATI_TRY(append_dispatch(recorder, step->pipeline, step->groups, step->args_size, &command, &record, err));
  command->work_us = step->work_us;
  memcpy(record, plan->args + step->args, step->args_size);
  const uint32_t count = step->read_count + step->write_count;
  for (uint32_t i = 0; i < count; ++i) {
    const leati_binding *const binding = &bindings[accesses[i].binding];
    spans[i] = bind(&accesses[i], binding);
    if (accesses[i].field != LEATI_FIELD_NONE) {
      const uint64_t address = binding->address + (uint64_t)accesses[i].offset;
      memcpy(record + accesses[i].field, &address, sizeof(address));
    }
  }
  if (step->rows != 0) {
    const uint64_t address =
        recorder->stream->current[LEATI_CHUNK_ARGUMENTS]->address + command->dispatch.offset + step->rows;
    memcpy(record + step->rows_field, &address, sizeof(address));
  }
  if (step->counters != 0) {
    const leati_chunk *const chunk = recorder->stream->current[LEATI_CHUNK_ARGUMENTS];
    const uint64_t address = chunk->address + command->dispatch.offset + step->counters;
    memcpy(record + step->counters_field, &address, sizeof(address));
    /* The host writes the next record over counters that the device has written. */
    recorder->stream->open->to_host |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  }
  if (step->draws) {
    /* Plans are recorded again, so the number that keeps their random numbers apart is not theirs. */
    const uint64_t number = atomic_fetch_add_explicit(&recorder->device->draws, 1, memory_order_relaxed);
    memcpy(record + step->draws_field, &number, sizeof(number));
  }
  if (step->tells) {
    memcpy(record + step->finding_field, &finding, sizeof(finding));
  }
  return leati_recorder_put(recorder->stream, command, spans, step->read_count, spans + step->read_count,
                            step->write_count, err);
}

int32_t leati_record_plan(leati_recorder *recorder, const leati_plan *plan, leati_binding *bindings, leat_error *err) {
  leati_binding *const temporaries = bindings + (plan->binding_count - plan->temporary_count);
  for (uint32_t i = 0; i < plan->temporary_count; ++i) {
    LEATI_TRY(leati_record_temporary(recorder, plan->temporaries[i].size, &temporaries[i], err));
  }
  recorder->plan = plan;
  leati_recorder_has_lock(recorder->stream);
  recorder->plan_mark = leati_stream_open_count(recorder->stream);
  leati_touch few[2 * LEATI_ACCESS_MAX], *many = NULL;
  int32_t status = LEAT_OK;
  for (uint32_t i = 0; i < plan->step_count && status == LEAT_OK; ++i) {
    leati_touch *spans = few;
    if (plan->steps[i].rows != 0) {
      many = many == NULL ? leati_calloc(LEATI_ROW_ACCESSES_MAX, sizeof(*many)) : many;
      spans = many;
    }
    status = spans != NULL ? record_step(recorder, plan, &plan->steps[i], bindings, spans, err)
                           : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for what a kernel touches");
  }
  leati_free(many);
  LEATI_TRY(status);
  for (uint32_t i = 0; i < plan->answer_count; ++i) {
    const leati_plan_answer *const answer = &plan->answers[i];
    memcpy(bindings[answer->binding].data, plan->args + answer->data, answer->size);
  }
  return LEAT_OK;
}
