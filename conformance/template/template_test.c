/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the template does that no case sees while it has no device: it refuses descriptions that are wrong, shutdown()
 * while a device is open, and every call in a child of fork().
 */
#include "template.c"

#include <stdlib.h>
#include <sys/wait.h>

static leat_error err;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "template_test.c:%d: %s is false; %s\n", __LINE__, #condition, err.message); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* The call gives the status, and says it in `err` together with a message. */
#define GIVES(status, call)                                \
  do {                                                     \
    err = (leat_error){.struct_size = sizeof(err)};        \
    CHECK((call) == (status));                             \
    CHECK(err.code == (status) && err.message[0] != '\0'); \
  } while (0)

/* A description and all that it points to, all of it right; each test makes one thing wrong. */
typedef struct {
  float number;
  int64_t sizes[2];
  DLTensor tensor;
  leat_attribute attribute;
  leat_value_info input;
  const leat_attribute *attributes[1];
  const leat_value_info *inputs[1];
  struct {
    leat_op_desc desc;
    uint64_t later; /* what a later version would have there */
  } op;
} scene;

static scene *begin(scene *s) {
  *s = (scene){.sizes = {1, 1}};
  s->tensor = (DLTensor){&s->number, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, s->sizes, NULL, 0};
  s->attribute = (leat_attribute){
      .struct_size = sizeof(s->attribute), .type = LEAT_ATTRIBUTE_TENSOR, .name = "value", .tensor = &s->tensor};
  s->input = (leat_value_info){
      .struct_size = sizeof(s->input), .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = s->sizes, .value = &s->tensor};
  s->attributes[0] = &s->attribute;
  s->inputs[0] = &s->input;
  s->op.desc = (leat_op_desc){.struct_size = sizeof(s->op),
                              .since_version = 1,
                              .name = "Anything",
                              .attribute_count = 1,
                              .input_count = 1,
                              .output_count = 1,
                              .attributes = s->attributes,
                              .inputs = s->inputs};
  return s;
}

static void descriptions(void) {
  scene s;
  leat_op *op = NULL;
  GIVES(LEAT_ERROR_NOT_SUPPORTED, op_api.supports(NULL, &begin(&s)->op.desc, &err));
  GIVES(LEAT_ERROR_NOT_SUPPORTED, op_api.create(NULL, &s.op.desc, &op, &err));
  GIVES(LEAT_ERROR_INVALID_ARGUMENT, op_api.supports(NULL, NULL, &err));
#define REFUSED(status, wrong)                                              \
  do {                                                                      \
    begin(&s);                                                              \
    wrong;                                                                  \
    GIVES(LEAT_ERROR_##status, op_api.supports(NULL, &s.op.desc, &err));    \
    CHECK(strstr(err.message, "no operator") == NULL);                      \
    GIVES(LEAT_ERROR_##status, op_api.create(NULL, &s.op.desc, &op, &err)); \
  } while (0)
  REFUSED(INVALID_ARGUMENT, s.op.desc.struct_size = sizeof(s.op.desc) - 1);
  REFUSED(INVALID_ARGUMENT, s.op.later = 1);
  REFUSED(INVALID_ARGUMENT, s.op.desc.reserved = 1);
  REFUSED(INVALID_ARGUMENT, s.op.desc.name = NULL);
  REFUSED(INVALID_ARGUMENT, s.op.desc.attributes = NULL);
  REFUSED(INVALID_ARGUMENT, s.op.desc.inputs = NULL);
  REFUSED(INVALID_ARGUMENT, s.attributes[0] = NULL);
  REFUSED(INVALID_ARGUMENT, s.attribute.struct_size = 0);
  REFUSED(INVALID_ARGUMENT, s.attribute.name = NULL);
  REFUSED(INVALID_ARGUMENT, s.attribute.reserved = 1);
  REFUSED(INVALID_ARGUMENT, s.attribute.tensor = NULL);
  REFUSED(INVALID_ARGUMENT, (s.attribute.type = LEAT_ATTRIBUTE_INTS, s.attribute.count = 1));
  REFUSED(INVALID_ARGUMENT, (s.attribute.type = LEAT_ATTRIBUTE_FLOATS, s.attribute.count = 1));
  REFUSED(INVALID_ARGUMENT, (s.attribute.type = LEAT_ATTRIBUTE_STRING, s.attribute.count = 1));
  REFUSED(INVALID_ARGUMENT, (s.attribute.type = LEAT_ATTRIBUTE_STRINGS, s.attribute.count = 1));
  REFUSED(NOT_SUPPORTED, s.attribute.type = LEAT_ATTRIBUTE_GRAPH);
  REFUSED(NOT_SUPPORTED, s.attribute.type = 1000);
  REFUSED(INVALID_ARGUMENT, s.tensor.data = NULL);
  REFUSED(INVALID_ARGUMENT, s.tensor.shape = NULL);
  REFUSED(INVALID_ARGUMENT, s.tensor.ndim = -1);
  REFUSED(INVALID_ARGUMENT, s.tensor.ndim = LEAT_MAX_RANK + 1);
  REFUSED(INVALID_ARGUMENT, s.tensor.strides = s.sizes);
  REFUSED(INVALID_ARGUMENT, s.tensor.device.device_type = kDLVulkan);
  REFUSED(INVALID_ARGUMENT, s.tensor.dtype.lanes = 2);
  REFUSED(INVALID_ARGUMENT, s.tensor.dtype.bits = 0);
  REFUSED(INVALID_ARGUMENT, s.sizes[0] = -1);
  REFUSED(INVALID_ARGUMENT, (s.sizes[0] = INT64_C(1) << 32, s.sizes[1] = INT64_C(1) << 32));
  REFUSED(INVALID_ARGUMENT, s.input.struct_size = sizeof(s.input) - 1);
  REFUSED(INVALID_ARGUMENT, s.input.reserved = 1);
  REFUSED(INVALID_ARGUMENT, s.input.ndim = -2);
  REFUSED(INVALID_ARGUMENT, s.input.shape = NULL);
  REFUSED(INVALID_ARGUMENT, s.input.dtype.code = kDLInt); /* not its constant's */
  REFUSED(INVALID_ARGUMENT, s.input.ndim = 1);
  REFUSED(NOT_SUPPORTED, s.input.ndim = LEAT_MAX_RANK + 1);
  REFUSED(NOT_SUPPORTED, s.input.dtype.lanes = 4);
#undef REFUSED
}

static void processes(void) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    uint32_t count = 0;
    GIVES(LEAT_ERROR_FORKED, backend_api.shutdown(&err));
    GIVES(LEAT_ERROR_FORKED, backend_api.configure("LEAT_LANES", "1", &err));
    GIVES(LEAT_ERROR_FORKED, device_api.count(&count, &err));
    GIVES(LEAT_ERROR_FORKED, device_api.close(NULL, &err));
    GIVES(LEAT_ERROR_FORKED, stream_api.synchronize(NULL, &err));
    GIVES(LEAT_ERROR_FORKED, op_api.count(&count, &err));
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(backend_api.shutdown(&err) == LEAT_OK);
}

int main(void) {
  /* A child that was made before the first call is a process like any other. */
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    _exit(backend_api.shutdown(NULL) == LEAT_OK ? 0 : 1);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  descriptions();
  atomic_fetch_add(&open_devices, 1);
  GIVES(LEAT_ERROR_BUSY, backend_api.shutdown(&err));
  atomic_fetch_sub(&open_devices, 1);
  CHECK(backend_api.shutdown(&err) == LEAT_OK);
  processes();
  return 0;
}
