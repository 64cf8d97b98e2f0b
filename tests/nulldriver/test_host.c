/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/test_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/kernel.h"

/* The beginning of the argument record of plugin/ops/elementwise/kernels/elementwise.comp. */
typedef struct relu_arguments {
  uint64_t operands[3];
  uint64_t result;
  uint32_t count;
} relu_arguments;

/* The argument record of plugin/ops/core/kernels/download.comp. */
typedef struct download_arguments {
  uint64_t from, to;
  uint32_t count;
} download_arguments;

/* Runs a Relu for one argument record. */
static void compute_record(const unsigned char *record) {
  relu_arguments arguments;
  memcpy(&arguments, record, sizeof(arguments));
  const uint64_t size = (uint64_t)arguments.count * sizeof(float);
  const float *const in = nulldriver_at(arguments.operands[0], size);
  float *const out = nulldriver_at(arguments.result, size);
  for (uint32_t i = 0; i < arguments.count && in != NULL && out != NULL; ++i) {
    out[i] = in[i] > 0.0f ? in[i] : 0.0f;
  }
}

/* Runs a download of items of so many bytes for one argument record. */
static void copy_record(const unsigned char *record, uint32_t item) {
  download_arguments arguments;
  memcpy(&arguments, record, sizeof(arguments));
  const uint64_t size = (uint64_t)arguments.count * item;
  const void *const from = size != 0 ? nulldriver_at(arguments.from, size) : NULL;
  void *const to = size != 0 ? nulldriver_at(arguments.to, size) : NULL;
  if (from != NULL && to != NULL) {
    memcpy(to, from, size);
  }
}

void host_compute(const nulldriver_dispatch *dispatch, void *user) {
  (void)user;
  static const struct {
    leati_kernel kernel;
    uint32_t item; /* bytes; 0: it is Relu */
    uint32_t record;
  } known[] = {{LEATI_KERNEL_UNARY_F32, 0, sizeof(relu_arguments)},
               {LEATI_KERNEL_DOWNLOAD_8, 1, sizeof(download_arguments)},
               {LEATI_KERNEL_DOWNLOAD_32, 4, sizeof(download_arguments)},
               {LEATI_KERNEL_DOWNLOAD_128, 16, sizeof(download_arguments)}};
  for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); ++k) {
    const leati_kernel_code *const code = &leati_kernel_codes[known[k].kernel];
    if (dispatch->code != code->words || dispatch->arguments_size < known[k].record) {
      continue;
    }
    if (known[k].item == 0) {
      compute_record(dispatch->arguments);
    } else {
      copy_record(dispatch->arguments, known[k].item);
    }
  }
}

int32_t host_make_relu(const host *h, leat_op **out, leat_error *err) {
  const int64_t unknown[1] = {-1};
  const leat_value_info vector = {
      .struct_size = sizeof(vector), .ndim = 1, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = unknown};
  const leat_value_info *const inputs[1] = {&vector};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 14,
                             .name = "Relu",
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  return h->api->op->create(h->device, &desc, out, err);
}

int32_t host_open(host *h, leat_error *err) {
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  nulldriver_set_kernel(host_compute, NULL);
  h->device = NULL;
  h->relu = NULL;
  int32_t status = leat_backend_query(&info, &h->api, err);
  if (status == LEAT_OK) {
    status = h->api->device->open(0, &h->device, err);
  }
  if (status == LEAT_OK) {
    status = host_make_relu(h, &h->relu, err);
  }
  return status;
}

int32_t host_close(host *h, leat_error *err) {
  int32_t status = h->api->op->destroy(h->relu, err);
  if (status == LEAT_OK) {
    status = h->api->device->close(h->device, err);
  }
  return status == LEAT_OK ? h->api->shutdown(err) : status;
}

void host_need(int32_t status, const leat_error *err, const char *what) {
  if (status != LEAT_OK) {
    (void)fprintf(stderr, "%s: status %d: %s\n", what, (int)status, err->message);
    (void)host_report_violations();
    abort();
  }
}

DLTensor host_tensor(const float *data, int64_t *count) {
  return (DLTensor){.data = (void *)(uintptr_t)data,
                    .device = {.device_type = kDLCPU},
                    .ndim = 1,
                    .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1},
                    .shape = count};
}

DLTensor device_tensor(uint64_t address, int64_t *count) {
  DLTensor tensor = host_tensor(NULL, count);
  tensor.data = (void *)(uintptr_t)address;
  tensor.device.device_type = kDLVulkan;
  return tensor;
}

float host_value(host_content content, int64_t i) {
  /* Whole numbers below 2^24 are exact as floats. */
  const uint32_t mixed = (content.seed + (uint32_t)i) * 2654435761u >> 9;
  const float value = (float)mixed - 4194304.0f;
  return content.rectified && value < 0.0f ? 0.0f : value;
}

void host_fill(float *data, int64_t count, host_content content) {
  for (int64_t i = 0; i < count; ++i) {
    data[i] = host_value(content, i);
  }
}

int64_t host_compare(const float *data, int64_t count, host_content content) {
  for (int64_t i = 0; i < count; ++i) {
    if (data[i] != host_value(content, i)) {
      return i;
    }
  }
  return -1;
}

uint32_t host_report_violations(void) {
  const uint32_t count = nulldriver_violations();
  for (uint32_t i = 0; i < count && nulldriver_violation(i)[0] != '\0'; ++i) {
    (void)fprintf(stderr, "violation: %s\n", nulldriver_violation(i));
  }
  return count;
}

uint32_t host_report_leaks(void) {
  uint32_t all = 0;
  for (int kind = NULLDRIVER_DEVICE; kind < NULLDRIVER_KINDS; ++kind) {
    const uint32_t count = nulldriver_live((nulldriver_kind)kind);
    if (count != 0) {
      (void)fprintf(stderr, "%u objects of kind %d are alive\n", count, kind);
    }
    all += count;
  }
  return all;
}

void host_be_discrete(void) {
  nulldriver_shape shape = nulldriver_get_shape();
  shape.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  nulldriver_set_shape(&shape);
}

int host_before(void **state) {
  (void)state;
  nulldriver_reset();
  return 0;
}

int host_after(void **state) {
  (void)state;
  return host_report_violations() + host_report_leaks() == 0 && nulldriver_memory_used() == 0 ? 0 : -1;
}
