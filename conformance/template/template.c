/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A plugin that keeps the contract and supports nothing: where a backend of your own begins.
 *
 * Copy this file, give the device a way to be found, and fill in slot after slot; `leat-conformance` tells what is
 * still missing. As it stands it finds no device, so that leat-conformance runs the cases that need none, all of which
 * pass, and exits with 77 and the reason. The file depends on <leat/backend.h> and POSIX alone. What every backend has
 * to get right is here already: negotiation of versions, reading of the caller's structs down to what an operator's
 * description points to, filling in of errors, and what shutdown() and a child of fork() are told.
 */
#define _POSIX_C_SOURCE 200809L
#include <leat/backend.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Errors ---- */

/* Fills in the caller's error struct, as far as it states to be long, and returns the code. */
static int32_t fail(leat_error *err, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int32_t fail(leat_error *err, int32_t code, const char *format, ...) {
  leat_error full = {.code = code};
  va_list args;
  if (err == NULL || err->struct_size < LEAT_SIZE_THROUGH(leat_error, message)) {
    return code;
  }
  va_start(args, format);
  vsnprintf(full.message, sizeof(full.message), format, args);
  va_end(args);
  /* struct_size is the caller's, and so is anything behind what this version knows. */
  full.struct_size = err->struct_size;
  memcpy(err, &full, sizeof(full));
  return code;
}

/* ---- Processes ---- */

/* The process that called first, whose children of fork() cannot call; 0: none has. Every slot calls enter(), as its
 * first step and on every thread. */
static atomic_long first_process;

static int32_t enter(leat_error *err) {
  const long self = (long)getpid();
  long first = 0;
  if (atomic_compare_exchange_strong(&first_process, &first, self) || first == self) {
    return LEAT_OK;
  }
  return fail(err, LEAT_ERROR_FORKED, "process %ld called first, and this is a child of fork(), process %ld", first,
              self);
}

/* What slots without anything behind them answer. */
static int32_t no_device(leat_error *err) {
  const int32_t status = enter(err);
  return status != LEAT_OK ? status : fail(err, LEAT_ERROR_UNAVAILABLE, "the template backend has no device");
}

/* ---- Reading the caller's structs ---- */

/* Copies a caller's struct of any version into the one that this backend knows: too short is invalid, longer is fine as
 * long as the part that is not known is zero. */
static int32_t import_struct(void *out, size_t size, const void *in, const char *name, leat_error *err) {
  uint32_t given;
  if (in == NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  }
  memcpy(&given, in, sizeof(given));
  if (given < size) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has struct_size %u, at least %zu is expected", name, given, size);
  }
  for (size_t i = size; i < given; ++i) {
    if (((const unsigned char *)in)[i] != 0) {
      return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: byte %zu, of a later version, is not zero", name, i);
    }
  }
  memcpy(out, in, size);
  return LEAT_OK;
}

/* ---- Devices ---- */

/* Devices that are open now: device_open() raises it where it succeeds, device_close() lowers it, and shutdown() fails
 * while it is not 0. */
static atomic_uint open_devices;

static int32_t device_count(uint32_t *out_count, leat_error *err) {
  const int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (out_count == NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_count is NULL");
  }
  *out_count = 0;
  fail(err, LEAT_OK, "this is the template, it has no device");
  return LEAT_OK;
}

static int32_t device_info(uint32_t index, leat_device_info *out, leat_error *err) {
  const int32_t status = enter(err);
  (void)out;
  return status != LEAT_OK ? status
                           : fail(err, LEAT_ERROR_UNAVAILABLE, "there is no device %u: the template has none", index);
}

/* The one property that the template has to report. */
static int32_t device_report(uint32_t *inout_count, leat_property *out, leat_error *err) {
  leat_property property;
  uint32_t capacity;
  const int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (inout_count == NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "inout_count is NULL");
  }
  capacity = *inout_count;
  *inout_count = 1;
  if (capacity == 0) {
    return LEAT_OK;
  }
  if (import_struct(&property, sizeof(property), out, "out", err) != LEAT_OK) {
    return LEAT_ERROR_INVALID_ARGUMENT;
  }
  property.device = -1;
  snprintf(property.name, sizeof(property.name), "backend.state");
  snprintf(property.value, sizeof(property.value), "template, without a device");
  memcpy(out, &property, sizeof(property));
  return LEAT_OK;
}

static int32_t device_open(uint32_t index, leat_device **out, leat_error *err) {
  (void)index;
  (void)out;
  return no_device(err);
}

/* No device can be open, so that whatever is given here, but for NULL, is none of ours. */
static int32_t device_close(leat_device *device, leat_error *err) {
  const int32_t status = enter(err);
  if (status != LEAT_OK || device == NULL) {
    return status;
  }
  return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "device is not an open device");
}

static int32_t device_synchronize(leat_device *device, leat_error *err) {
  const int32_t status = enter(err);
  (void)device;
  return status != LEAT_OK ? status : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "device is not an open device");
}

static const leat_device_api device_api = {.struct_size = sizeof(leat_device_api),
                                           .count = device_count,
                                           .info = device_info,
                                           .report = device_report,
                                           .open = device_open,
                                           .close = device_close,
                                           .synchronize = device_synchronize};

/* ---- Memory ---- */

static int32_t memory_alloc(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address,
                            leat_error *err) {
  (void)device;
  (void)size;
  (void)stream;
  (void)out_address;
  return no_device(err);
}

static int32_t memory_free(leat_device *device, uint64_t address, leat_error *err) {
  (void)device;
  (void)address;
  return no_device(err);
}

static int32_t memory_record_stream(leat_device *device, uint64_t address, leat_stream *stream, leat_error *err) {
  (void)device;
  (void)address;
  (void)stream;
  return no_device(err);
}

static int32_t memory_copy(leat_stream *stream, const DLTensor *src, const DLTensor *dst, leat_error *err) {
  (void)stream;
  (void)src;
  (void)dst;
  return no_device(err);
}

static int32_t memory_find(leat_device *device, uint64_t address, uint64_t *out_base, uint64_t *out_size,
                           leat_error *err) {
  (void)device;
  (void)address;
  (void)out_base;
  (void)out_size;
  return no_device(err);
}

static int32_t memory_stats(leat_device *device, leat_memory_stats *out, leat_error *err) {
  (void)device;
  (void)out;
  return no_device(err);
}

static int32_t memory_classes(leat_device *device, uint32_t *inout_count, leat_memory_class *out, leat_error *err) {
  (void)device;
  (void)inout_count;
  (void)out;
  return no_device(err);
}

static int32_t memory_reset_peaks(leat_device *device, leat_error *err) {
  (void)device;
  return no_device(err);
}

static int32_t memory_trim(leat_device *device, uint64_t *out_released, leat_error *err) {
  (void)device;
  (void)out_released;
  return no_device(err);
}

static int32_t memory_export(leat_stream *stream, const DLTensor *view, leat_event *ready,
                             DLManagedTensorVersioned **out, leat_error *err) {
  (void)stream;
  (void)view;
  (void)ready;
  (void)out;
  return no_device(err);
}

static int32_t memory_import(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready, leat_view *out,
                             leat_error *err) {
  (void)stream;
  (void)managed;
  (void)ready;
  (void)out;
  return no_device(err);
}

static int32_t memory_export_unversioned(leat_stream *stream, const DLTensor *view, leat_event *ready,
                                         DLManagedTensor **out, leat_error *err) {
  (void)stream;
  (void)view;
  (void)ready;
  (void)out;
  return no_device(err);
}

static int32_t memory_import_unversioned(leat_stream *stream, DLManagedTensor *managed, leat_event *ready,
                                         leat_view *out, leat_error *err) {
  (void)stream;
  (void)managed;
  (void)ready;
  (void)out;
  return no_device(err);
}

/* alloc_host() and free_host() are optional: they come with LEAT_CAPABILITY_HOST_MEMORY. */
static const leat_memory_api memory_api = {.struct_size = sizeof(leat_memory_api),
                                           .alloc = memory_alloc,
                                           .free = memory_free,
                                           .record_stream = memory_record_stream,
                                           .copy = memory_copy,
                                           .find = memory_find,
                                           .stats = memory_stats,
                                           .classes = memory_classes,
                                           .reset_peaks = memory_reset_peaks,
                                           .trim = memory_trim,
                                           .export_dlpack = memory_export,
                                           .import_dlpack = memory_import,
                                           .export_dlpack_unversioned = memory_export_unversioned,
                                           .import_dlpack_unversioned = memory_import_unversioned};

/* ---- Streams ---- */

static int32_t stream_create(leat_device *device, uint64_t flags, leat_stream **out, leat_error *err) {
  (void)device;
  (void)flags;
  (void)out;
  return no_device(err);
}

/* destroy() and the calls that take a stream alone. */
static int32_t stream_call(leat_stream *stream, leat_error *err) {
  (void)stream;
  return no_device(err);
}

static int32_t stream_wait_event(leat_stream *stream, leat_event *event, leat_error *err) {
  (void)stream;
  (void)event;
  return no_device(err);
}

static int32_t stream_info(leat_stream *stream, leat_stream_info *out, leat_error *err) {
  (void)stream;
  (void)out;
  return no_device(err);
}

static const leat_stream_api stream_api = {.struct_size = sizeof(leat_stream_api),
                                           .create = stream_create,
                                           .destroy = stream_call,
                                           .flush = stream_call,
                                           .synchronize = stream_call,
                                           .query = stream_call,
                                           .wait_event = stream_wait_event,
                                           .error = stream_call,
                                           .clear_error = stream_call,
                                           .info = stream_info};

/* ---- Events ---- */

static int32_t event_create(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  (void)device;
  (void)flags;
  (void)out;
  return no_device(err);
}

static int32_t event_call(leat_event *event, leat_error *err) {
  (void)event;
  return no_device(err);
}

static int32_t event_record(leat_event *event, leat_stream *stream, leat_error *err) {
  (void)event;
  (void)stream;
  return no_device(err);
}

static int32_t event_wait(leat_event *event, int64_t timeout_ns, leat_error *err) {
  (void)event;
  (void)timeout_ns;
  return no_device(err);
}

/* elapsed() is optional: it comes with LEAT_CAPABILITY_EVENT_TIMING. */
static const leat_event_api event_api = {.struct_size = sizeof(leat_event_api),
                                         .create = event_create,
                                         .destroy = event_call,
                                         .record = event_record,
                                         .query = event_call,
                                         .wait = event_wait};

/* ---- Operators ---- */

/* A tensor on the host that a description points to, compact. Its sizes are multiplied here, so that no later step has
 * to ask whether they overflow. */
static int32_t check_host_tensor(const DLTensor *tensor, const char *what, leat_error *err) {
  uint64_t bytes = tensor->dtype.bits / 8u;
  if (tensor->device.device_type != kDLCPU || tensor->dtype.lanes != 1 || bytes == 0) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is not on the host, or its elements are no whole bytes", what);
  }
  if (tensor->ndim < 0 || tensor->ndim > LEAT_MAX_RANK || (tensor->ndim > 0 && tensor->shape == NULL)) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has %d dimensions, or no shape", what, (int)tensor->ndim);
  }
  if (tensor->strides != NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has strides; it must be compact", what);
  }
  for (int32_t d = 0; d < tensor->ndim; ++d) {
    if (tensor->shape[d] < 0) {
      return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has a negative size in dimension %d", what, (int)d);
    }
    if (tensor->shape[d] != 0 && bytes > (uint64_t)PTRDIFF_MAX / (uint64_t)tensor->shape[d]) {
      return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has more bytes than memory can hold", what);
    }
    bytes *= (uint64_t)tensor->shape[d];
  }
  return tensor->data != NULL || bytes == 0 ? LEAT_OK : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has no data", what);
}

static int32_t check_attribute(const leat_attribute *given, leat_error *err) {
  leat_attribute attribute;
  char what[96];
  const int32_t status = import_struct(&attribute, sizeof(attribute), given, "leat_attribute", err);
  if (status != LEAT_OK) {
    return status;
  }
  if (attribute.name == NULL || attribute.reserved != 0) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "an attribute has no name, or a reserved field that is not zero");
  }
  snprintf(what, sizeof(what), "attribute %.64s", attribute.name);
  switch (attribute.type) {
    case LEAT_ATTRIBUTE_INT:
    case LEAT_ATTRIBUTE_FLOAT:
      return LEAT_OK;
    case LEAT_ATTRIBUTE_INTS:
      return attribute.ints != NULL || attribute.count == 0
                 ? LEAT_OK
                 : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has no values", what);
    case LEAT_ATTRIBUTE_FLOATS:
      return attribute.floats != NULL || attribute.count == 0
                 ? LEAT_OK
                 : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has no values", what);
    case LEAT_ATTRIBUTE_STRING:
      return attribute.string != NULL || attribute.count == 0
                 ? LEAT_OK
                 : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has no text", what);
    case LEAT_ATTRIBUTE_STRINGS:
      return (attribute.strings != NULL && attribute.lengths != NULL) || attribute.count == 0
                 ? LEAT_OK
                 : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has no texts, or no lengths", what);
    case LEAT_ATTRIBUTE_TENSOR:
      return attribute.tensor != NULL ? check_host_tensor(attribute.tensor, what, err)
                                      : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has no tensor", what);
    default: /* a graph, or a type of a later version */
      return fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s has type %u, which this backend does not read", what,
                  attribute.type);
  }
}

/* What is known of input i; NULL: an optional one is absent. */
static int32_t check_input(const leat_value_info *given, uint32_t i, leat_error *err) {
  leat_value_info value;
  char what[32];
  int32_t status = given == NULL ? LEAT_OK : import_struct(&value, sizeof(value), given, "leat_value_info", err);
  if (status != LEAT_OK || given == NULL) {
    return status;
  }
  snprintf(what, sizeof(what), "input %u", i);
  if (value.reserved != 0 || value.ndim < -1 || (value.ndim > 0 && value.shape == NULL)) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                "%s has %d dimensions, no shape, or a reserved field that is not zero", what, (int)value.ndim);
  }
  if (value.ndim > LEAT_MAX_RANK || value.dtype.lanes != 1) {
    return fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s has %d dimensions and %u lanes; up to %d and 1 are right", what,
                (int)value.ndim, value.dtype.lanes, LEAT_MAX_RANK);
  }
  for (int32_t d = 0; d < value.ndim; ++d) {
    if (value.shape[d] < -1) {
      return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has a negative size in dimension %d", what, (int)d);
    }
  }
  if (value.value == NULL) {
    return LEAT_OK;
  }
  status = check_host_tensor(value.value, what, err);
  if (status != LEAT_OK) {
    return status;
  }
  int same = value.value->dtype.code == value.dtype.code && value.value->dtype.bits == value.dtype.bits &&
             (value.ndim == -1 || value.ndim == value.value->ndim);
  for (int32_t d = 0; same && d < value.ndim; ++d) {
    same = value.shape[d] == -1 || value.shape[d] == value.value->shape[d];
  }
  return same ? LEAT_OK : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is a constant of another type or shape", what);
}

/* Whether an operator is described as the contract asks. What its own form allows comes after this: counts, types and
 * attributes of its entry in the list, whose place is where the template says that it has none. */
static int32_t check_description(const leat_op_desc *given, leat_op_desc *out, leat_error *err) {
  int32_t status = import_struct(out, sizeof(*out), given, "leat_op_desc", err);
  if (status != LEAT_OK) {
    return status;
  }
  if (out->name == NULL || out->reserved != 0) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_op_desc has no name, or a reserved field that is not zero");
  }
  if ((out->attribute_count != 0 && out->attributes == NULL) || (out->input_count != 0 && out->inputs == NULL)) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: leat_op_desc counts %u attributes and %u inputs, and has none",
                out->name, out->attribute_count, out->input_count);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < out->attribute_count; ++i) {
    status = check_attribute(out->attributes[i], err);
  }
  for (uint32_t i = 0; status == LEAT_OK && i < out->input_count; ++i) {
    status = check_input(out->inputs[i], i, err);
  }
  return status;
}

static int32_t op_count(uint32_t *out_count, leat_error *err) {
  const int32_t status = enter(err);
  if (status != LEAT_OK) {
    return status;
  }
  if (out_count == NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_count is NULL");
  }
  *out_count = 0;
  return LEAT_OK;
}

static int32_t op_info(uint32_t index, const leat_op_info **out, leat_error *err) {
  const int32_t status = enter(err);
  (void)out;
  return status != LEAT_OK
             ? status
             : fail(err, LEAT_ERROR_INVALID_ARGUMENT, "there is no entry %u: the list of operators is empty", index);
}

static int32_t op_supports(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  leat_op_desc known;
  int32_t status = enter(err);
  (void)device;
  if (status == LEAT_OK) {
    status = check_description(desc, &known, err);
  }
  return status != LEAT_OK ? status
                           : fail(err, LEAT_ERROR_NOT_SUPPORTED, "the template has no operator %s", known.name);
}

static int32_t op_create(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  (void)out;
  return op_supports(device, desc, err);
}

static int32_t op_destroy(leat_op *op, leat_error *err) {
  (void)op;
  return no_device(err);
}

static int32_t op_infer(const leat_op *op, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                        leat_shape *const *out, leat_error *err) {
  (void)op;
  (void)input_count;
  (void)inputs;
  (void)output_count;
  (void)out;
  return no_device(err);
}

static int32_t op_invoke(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                         uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  (void)op;
  (void)stream;
  (void)input_count;
  (void)inputs;
  (void)output_count;
  (void)outputs;
  return no_device(err);
}

static const leat_op_api op_api = {.struct_size = sizeof(leat_op_api),
                                   .count = op_count,
                                   .info = op_info,
                                   .supports = op_supports,
                                   .create = op_create,
                                   .destroy = op_destroy,
                                   .infer = op_infer,
                                   .invoke = op_invoke};

/* ---- The table, and the one function that is exported ---- */

static int32_t backend_shutdown(leat_error *err) {
  const int32_t status = enter(err);
  const unsigned open = atomic_load(&open_devices);
  if (status != LEAT_OK || open == 0) {
    return status; /* with nothing open, what was made for devices goes here */
  }
  return fail(err, LEAT_ERROR_BUSY, "%u device%s still open; close() comes before shutdown()", open,
              open == 1 ? " is" : "s are");
}

static int32_t backend_configure(const char *name, const char *value, leat_error *err) {
  const int32_t status = enter(err);
  (void)value;
  if (status != LEAT_OK) {
    return status;
  }
  if (name == NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "name is NULL");
  }
  return fail(err, LEAT_ERROR_NOT_SUPPORTED, "there is no setting \"%s\": the template has none", name);
}

/* `pool`, `graph`, `profiler` and `external` are left out: they are optional. */
static const leat_backend_api backend_api = {.struct_size = sizeof(leat_backend_api),
                                             .abi_version = LEAT_ABI_1_0,
                                             .header_version = LEAT_ABI_CURRENT,
                                             .name = "template",
                                             .version = "0.1.0",
                                             .build_id = "template",
                                             .device = &device_api,
                                             .memory = &memory_api,
                                             .stream = &stream_api,
                                             .event = &event_api,
                                             .op = &op_api,
                                             .shutdown = backend_shutdown,
                                             .configure = backend_configure};

int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  leat_host_info known;
  if (out == NULL) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  *out = NULL;
  if (import_struct(&known, sizeof(known), host, "host", err) != LEAT_OK) {
    return LEAT_ERROR_INVALID_ARGUMENT;
  }
  for (size_t i = 0; i < sizeof(known.reserved) / sizeof(known.reserved[0]); ++i) {
    if (known.reserved[i] != 0) {
      return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "host: reserved[%zu] is not zero", i);
    }
  }
  if (known.abi_min > known.abi_max) {
    return fail(err, LEAT_ERROR_INVALID_ARGUMENT, "host: abi_min is above abi_max");
  }
  /* A backend that knows several versions picks the highest in common here. */
  if (known.abi_min > LEAT_ABI_1_0 || known.abi_max < LEAT_ABI_1_0) {
    return fail(err, LEAT_ERROR_VERSION, "the host speaks ABI %u.%u to %u.%u, this backend 1.0 to 1.0",
                LEAT_ABI_MAJOR(known.abi_min), LEAT_ABI_MINOR(known.abi_min), LEAT_ABI_MAJOR(known.abi_max),
                LEAT_ABI_MINOR(known.abi_max));
  }
  *out = &backend_api;
  return LEAT_OK;
}
