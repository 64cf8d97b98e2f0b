/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_setup.h"

#include <stdlib.h>
#include <string.h>

#include "batch_tensor.h"
#include "common/error.h"

int32_t leati_batch_import(const void *from, size_t known, const char *what, void *out, leat_error *err) {
  uint32_t size = 0;
  if (from == NULL) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "%s is NULL", what);
  }
  memcpy(&size, from, sizeof(size));
  if (size < known) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "%s: struct_size is %u; %zu, or more, is right", what,
                           size, known);
  }
  const unsigned char *bytes = from;
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) {
      return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                             "%s: struct_size is %u, and beyond the %zu bytes that this version knows something is set",
                             what, size, known);
    }
  }
  memcpy(out, from, known);
  return LEAT_OK;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static int32_t check_range(const char *name, int64_t value, int64_t low, int64_t high, leat_error *err) {
  if (value >= low && value <= high) {
    return LEAT_OK;
  }
  return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "config: %s is %lld; %lld to %lld is right", name,
                         (long long)value, (long long)low, (long long)high);
}

static int32_t check_numbers(const leat_batch_config *config, leat_error *err) {
  const struct {
    const char *name;
    int64_t value, low, high;
  } numbers[] = {
      {"workers", config->workers, 1, LEAT_BATCH_MAX_WORKERS},
      {"input_count", config->input_count, 1, LEAT_BATCH_MAX_TENSORS},
      {"output_count", config->output_count, 1, LEAT_BATCH_MAX_TENSORS},
      {"capacity", config->capacity, 1, LEAT_BATCH_MAX_CAPACITY},
      {"pad_count", config->pad_count, 0, (int64_t)LEAT_BATCH_MAX_TENSORS * LEAT_MAX_RANK},
      {"follow_count", config->follow_count, 0, (int64_t)LEAT_BATCH_MAX_TENSORS * LEAT_MAX_RANK},
      {"reserved", config->reserved, 0, 0},
      {"row_multiple", config->row_multiple, 1, LEAT_BATCH_MAX_ROWS},
      {"max_rows", config->max_rows, config->row_multiple, LEAT_BATCH_MAX_ROWS},
      {"max_delay_ns", config->max_delay_ns, -1, INT64_MAX},
      {"max_bytes", config->max_bytes, 0, INT64_MAX},
  };
  for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); ++i) {
    int32_t status = check_range(numbers[i].name, numbers[i].value, numbers[i].low, numbers[i].high, err);
    if (status != LEAT_OK) {
      return status;
    }
  }
  if (config->max_rows % config->row_multiple != 0) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                           "config: max_rows is %lld, which is no multiple of row_multiple, %lld",
                           (long long)config->max_rows, (long long)config->row_multiple);
  }
  if (config->run == NULL) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0,
                           "config: run is NULL; the function that runs a batch "
                           "belongs there");
  }
  if ((config->pad_count > 0 && config->pads == NULL) || (config->follow_count > 0 && config->follows == NULL)) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "config: %s is NULL, and %u are counted",
                           config->pads != NULL || config->pad_count == 0 ? "follows" : "pads",
                           config->pads != NULL || config->pad_count == 0 ? config->follow_count : config->pad_count);
  }
  return LEAT_OK;
}

/* Whether `number` names one of `count` tensors, and `axis` one of its axes but for the rows. */
static int32_t check_axis(const char *what, uint32_t index, const char *kind, uint32_t number, uint32_t count,
                          uint32_t axis, leat_error *err) {
  if (number >= count) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "%s %u: there is no %s %u; there are %u, from 0", what,
                           index, kind, number, count);
  }
  if (axis == 0 || axis >= LEAT_MAX_RANK) {
    return leati_error_set(
        err, LEAT_ERROR_INVALID_ARGUMENT, 0,
        "%s %u: axis %u of %s %u; 1 to %d is right (the rows, axis 0, are filled up by row_multiple)", what, index,
        axis, kind, number, LEAT_MAX_RANK - 1);
  }
  return LEAT_OK;
}

static int32_t add_pad(leati_batch_setup *setup, uint32_t index, const leat_batch_pad *given, leat_error *err) {
  leat_batch_pad pad;
  int32_t status = leati_batch_import(given, sizeof(pad), "config: an element of pads", &pad, err);
  if (status == LEAT_OK) {
    status = check_axis("config: pad", index, "input", pad.input, setup->config.input_count, pad.axis, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  leati_batch_input *input = &setup->inputs[pad.input];
  if (pad.multiple == 0) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "config: pad %u: multiple is 0; 1 or more is right",
                           index);
  }
  if (input->multiple[pad.axis] != 0) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "config: pad %u: axis %u of input %u is given twice",
                           index, pad.axis, pad.input);
  }
  if (input->pads && memcmp(input->fill, pad.fill, sizeof(pad.fill)) != 0) {
    return leati_error_set(
        err, LEAT_ERROR_INVALID_ARGUMENT, 0,
        "config: pad %u: another fill than an earlier one of input %u; all axes of an input share one", index,
        pad.input);
  }
  input->multiple[pad.axis] = pad.multiple;
  input->pads = true;
  memcpy(input->fill, pad.fill, sizeof(pad.fill));
  return LEAT_OK;
}

static int32_t add_follow(leati_batch_setup *setup, uint32_t index, const leat_batch_follow *given, leat_error *err) {
  leat_batch_follow follow;
  int32_t status = leati_batch_import(given, sizeof(follow), "config: an element of follows", &follow, err);
  if (status == LEAT_OK) {
    status = check_axis("config: follow", index, "output", follow.output, setup->config.output_count,
                        follow.output_axis, err);
  }
  if (status == LEAT_OK) {
    status =
        check_axis("config: follow", index, "input", follow.input, setup->config.input_count, follow.input_axis, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  leati_batch_output *output = &setup->outputs[follow.output];
  if (follow.reserved != 0 || output->axis[follow.output_axis] != 0) {
    return leati_error_set(err, LEAT_ERROR_INVALID_ARGUMENT, 0, "config: follow %u: axis %u of output %u %s", index,
                           follow.output_axis, follow.output,
                           follow.reserved != 0 ? "has a reserved field that is not 0" : "is given twice");
  }
  output->input[follow.output_axis] = follow.input;
  output->axis[follow.output_axis] = follow.input_axis;
  return LEAT_OK;
}

int32_t leati_batch_setup_new(const leat_batch_config *given, leati_batch_setup **out, leat_error *err) {
  leat_batch_config config;
  int32_t status = leati_batch_import(given, sizeof(config), "config", &config, err);
  if (status == LEAT_OK) {
    status = check_numbers(&config, err);
  }
  if (status != LEAT_OK) {
    return status;
  }
  leati_batch_setup *setup = calloc(1, sizeof(*setup) + config.input_count * sizeof(leati_batch_input) +
                                           config.output_count * sizeof(leati_batch_output));
  if (setup == NULL) {
    return leati_error_set(err, LEAT_ERROR_OUT_OF_MEMORY, 0, "no memory for the configuration of a batch queue");
  }
  const leat_batch_pad *const *pads = config.pads;
  const leat_batch_follow *const *follows = config.follows;
  config.pads = NULL;
  config.follows = NULL;
  setup->references = 1;
  setup->config = config;
  setup->max_bytes = SIZE_MAX / 4;
  if (config.max_bytes > 0 && (uint64_t)config.max_bytes < setup->max_bytes) {
    setup->max_bytes = (size_t)config.max_bytes;
  }
  setup->inputs = (leati_batch_input *)(setup + 1);
  setup->outputs = (leati_batch_output *)(setup->inputs + config.input_count);
  for (uint32_t i = 0; status == LEAT_OK && i < config.pad_count; ++i) {
    status = add_pad(setup, i, pads[i], err);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < config.follow_count; ++i) {
    status = add_follow(setup, i, follows[i], err);
  }
  if (status != LEAT_OK) {
    free(setup);
    return status;
  }
  *out = setup;
  return LEAT_OK;
}

void leati_batch_setup_drop(leati_batch_setup *setup) {
  if (--setup->references == 0) {
    free(setup);
  }
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

/* Beside a size of 0 another may be anything, so the largest number stands for all that is too large. */
static int64_t round_up(int64_t size, int64_t multiple) {
  const int64_t over = size % multiple;
  return over == 0 ? size : size > INT64_MAX - multiple ? INT64_MAX : size - over + multiple;
}

int64_t leati_batch_setup_padded(const leati_batch_setup *setup, uint32_t input, int32_t axis, int64_t size) {
  const int64_t multiple = setup->inputs[input].multiple[axis];
  return multiple == 0 ? size : round_up(size, multiple);
}

int64_t leati_batch_setup_rows(const leati_batch_setup *setup, int64_t rows) {
  return round_up(rows, setup->config.row_multiple);
}

static bool same_type(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool leati_batch_setup_alike(const leati_batch_setup *setup, const DLTensor *a, const DLTensor *b) {
  for (uint32_t i = 0; i < setup->config.input_count; ++i) {
    if (!same_type(a[i].dtype, b[i].dtype) || a[i].ndim != b[i].ndim) {
      return false;
    }
    for (int32_t axis = 1; axis < a[i].ndim; ++axis) {
      if (a[i].shape[axis] != b[i].shape[axis] && setup->inputs[i].multiple[axis] == 0) {
        return false;
      }
    }
  }
  return true;
}
