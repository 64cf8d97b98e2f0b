/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_worker.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"

void leati_batch_worker_free(leati_batch_worker *self, uint32_t input_count) {
  for (uint32_t i = 0; self->buffers != NULL && i < input_count; ++i) {
    free(self->buffers[i]);
  }
  free(self->inputs);
  free(self->input_list);
  free(self->input_shapes);
  free(self->buffers);
  free(self->buffer_sizes);
  free(self->outputs);
  free(self->parts);
  free(self->part_list);
  free(self->part_shapes);
  free(self);
}

leati_batch_worker *leati_batch_worker_new(leat_batch_queue *queue, uint32_t index, const leat_batch_config *config) {
  leati_batch_worker *self = calloc(1, sizeof(*self));
  if (self == NULL) {
    return NULL;
  }
  const uint32_t in = config->input_count;
  const uint32_t out = config->output_count;
  self->queue = queue;
  self->index = index;
  self->inputs = calloc(in, sizeof(*self->inputs));
  self->input_list = calloc(in, sizeof(*self->input_list));
  self->input_shapes = calloc((size_t)in * LEAT_MAX_RANK, sizeof(*self->input_shapes));
  self->buffers = calloc(in, sizeof(*self->buffers));
  self->buffer_sizes = calloc(in, sizeof(*self->buffer_sizes));
  self->outputs = calloc(out, sizeof(*self->outputs));
  self->parts = calloc(out, sizeof(*self->parts));
  self->part_list = calloc(out, sizeof(*self->part_list));
  self->part_shapes = calloc((size_t)out * LEAT_MAX_RANK, sizeof(*self->part_shapes));
  if (self->inputs == NULL || self->input_list == NULL || self->input_shapes == NULL || self->buffers == NULL ||
      self->buffer_sizes == NULL || self->outputs == NULL || self->parts == NULL || self->part_list == NULL ||
      self->part_shapes == NULL) {
    leati_batch_worker_free(self, in);
    return NULL;
  }
  for (uint32_t i = 0; i < in; ++i) {
    self->inputs[i] = (DLTensor){.device = {kDLCPU, 0}, .shape = self->input_shapes + (size_t)i * LEAT_MAX_RANK};
    self->input_list[i] = &self->inputs[i];
  }
  for (uint32_t i = 0; i < out; ++i) {
    self->parts[i].shape = self->part_shapes + (size_t)i * LEAT_MAX_RANK;
    self->part_list[i] = &self->parts[i];
  }
  return self;
}

/* ---- The batch in hand ------------------------------------------------------------------------------------------- */

static int32_t no_batch_memory(leat_error *err, const char *what, uint32_t index) {
  return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for %s %u of a batch", what, index);
}

/* Puts one input of all requests together. A request that fills its batch alone is passed as it is. */
static int32_t gather(leati_batch_worker *self, uint32_t index, leat_error *err) {
  DLTensor *whole = &self->inputs[index];
  const leati_batch_input *rule = &self->setup->inputs[index];
  leat_batch_ticket *first = TAILQ_FIRST(&self->batch);
  const DLTensor *only = &first->in.tensors[index];
  const size_t shape_bytes = (size_t)whole->ndim * sizeof(*whole->shape);
  if (self->batch_count == 1 && memcmp(only->shape, whole->shape, shape_bytes) == 0) {
    whole->data = only->data;
    return LEAT_OK;
  }
  size_t bytes = 0;
  if (!leati_batch_tensor_bytes(whole->dtype, whole->ndim, whole->shape, SIZE_MAX / 4, &bytes)) {
    return no_batch_memory(err, "input", index);
  }
  if (bytes > self->buffer_sizes[index] || self->buffers[index] == NULL) {
    const size_t room = (bytes / LEATI_BATCH_ALIGNMENT + 1) * LEATI_BATCH_ALIGNMENT;
    free(self->buffers[index]);
    self->buffers[index] = aligned_alloc(LEATI_BATCH_ALIGNMENT, room);
    self->buffer_sizes[index] = self->buffers[index] != NULL ? room : 0;
    if (self->buffers[index] == NULL) {
      return no_batch_memory(err, "input", index);
    }
  }
  whole->data = self->buffers[index];
  if (rule->pads) {
    leati_batch_fill(whole, rule->fill);
  }
  int64_t row = 0;
  const leat_batch_ticket *ticket;
  TAILQ_FOREACH(ticket, &self->batch, mate) {
    leati_batch_copy(whole, row, &ticket->in.tensors[index], 0, ticket->rows);
    row += ticket->rows;
  }
  for (; row > 0 && row < whole->shape[0]; ++row) {
    leati_batch_copy(whole, row, whole, 0, 1);
  }
  return LEAT_OK;
}

/* Checks an output that the user's function gave. */
static int32_t check_output(const leati_batch_worker *self, uint32_t index, leat_error *err) {
  const DLTensor *output = &self->outputs[index];
  const leati_batch_output *rule = &self->setup->outputs[index];
  int32_t status = leati_batch_tensor_check(output, "the batch function's output", index, LEAT_ERROR_INTERNAL, err);
  if (status != LEAT_OK) {
    return status;
  }
  const int64_t rows = self->inputs[0].shape[0];
  if (output->shape[0] != rows) {
    char text[200];
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "the batch function's output %u has shape %s; a batch of %lld rows has outputs of %lld rows",
                           index, leati_batch_shape_text(text, sizeof(text), output->ndim, output->shape),
                           (long long)rows, (long long)rows);
  }
  for (int32_t axis = 1; axis < LEAT_MAX_RANK; ++axis) {
    if (rule->axis[axis] == 0) {
      continue;
    }
    const DLTensor *input = &self->inputs[rule->input[axis]];
    if (axis >= output->ndim || (int32_t)rule->axis[axis] >= input->ndim) {
      return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                             "axis %d of output %u follows axis %u of input %u, and their ranks are %d and %d",
                             (int)axis, index, rule->axis[axis], rule->input[axis], (int)output->ndim,
                             (int)input->ndim);
    }
    if (output->shape[axis] != input->shape[rule->axis[axis]]) {
      return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                             "axis %d of output %u follows axis %u of input %u, and their sizes are %lld and %lld",
                             (int)axis, index, rule->axis[axis], rule->input[axis], (long long)output->shape[axis],
                             (long long)input->shape[rule->axis[axis]]);
    }
  }
  return LEAT_OK;
}

/* Gives a request its share of all outputs, which begins at `row`. */
static void scatter(leati_batch_worker *self, leat_batch_ticket *ticket, int64_t row) {
  const uint32_t count = self->setup->config.output_count;
  for (uint32_t i = 0; i < count; ++i) {
    const leati_batch_output *rule = &self->setup->outputs[i];
    DLTensor *part = &self->parts[i];
    part->ndim = self->outputs[i].ndim;
    part->dtype = self->outputs[i].dtype;
    memcpy(part->shape, self->outputs[i].shape, (size_t)part->ndim * sizeof(*part->shape));
    part->shape[0] = ticket->rows;
    for (int32_t axis = 1; axis < part->ndim; ++axis) {
      if (rule->axis[axis] != 0) {
        part->shape[axis] = ticket->in.tensors[rule->input[axis]].shape[rule->axis[axis]];
      }
    }
  }
  if (!leati_batch_pack_init(&ticket->out, count, self->part_list)) {
    leati_batch_ticket_fail(ticket, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for the results of a request");
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    leati_batch_copy(&ticket->out.tensors[i], 0, &self->outputs[i], row, ticket->rows);
  }
}

void leati_batch_worker_run(leati_batch_worker *self) {
  const leat_batch_config *config = &self->setup->config;
  leat_error err = {.struct_size = sizeof(err)};
  leat_batch_call call = {.struct_size = sizeof(call),
                          .worker = self->index,
                          .input_count = config->input_count,
                          .output_count = config->output_count,
                          .request_count = self->batch_count,
                          .rows = self->batch_rows,
                          .inputs = self->input_list,
                          .outputs = self->outputs};
  int32_t status = LEAT_OK;
  for (uint32_t i = 0; status == LEAT_OK && i < config->input_count; ++i) {
    status = gather(self, i, &err);
  }
  bool ran = false;
  if (status == LEAT_OK) {
    memset(self->outputs, 0, config->output_count * sizeof(*self->outputs));
    status = config->run(config->user, &call, &err);
    ran = status == LEAT_OK;
    err.struct_size = sizeof(err);
    err.message[sizeof(err.message) - 1] = '\0';
    if (status != LEAT_OK && err.message[0] == '\0') {
      leati_error_set(&err, status, 0, "the batch function failed with status %d (%s) and gave no message", (int)status,
                      leati_error_name(status));
    }
  }
  for (uint32_t i = 0; status == LEAT_OK && i < config->output_count; ++i) {
    status = check_output(self, i, &err);
  }
  int64_t row = 0;
  leat_batch_ticket *ticket;
  TAILQ_FOREACH(ticket, &self->batch, mate) {
    if (status != LEAT_OK) {
      leati_batch_ticket_fail(ticket, status, err.native_code, err.message);
    } else {
      scatter(self, ticket, row);
    }
    row += ticket->rows;
  }
  if (ran && config->release != NULL) {
    config->release(config->user, call.owner);
  }
}
