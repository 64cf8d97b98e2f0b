/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/shape_arithmetic.c on graphs that are written down: which nodes stay on the host and why, and
 * which a fused subgraph computes there. The nodes are separated by semicolons: "Operator input... > output...".
 *
 * Names of values say what they are, by their first letter (KINDS). One that ends with '!' is the graph's output, "-"
 * is absent, and an input that begins with '^' is read by a graph inside of the node. The node Outside is of another
 * graph. */
#include "onnxruntime/shape_arithmetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 8
#define VALUES 16
#define ENDS 4

#define INT64 ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT

/* What a value is. */
typedef struct kind {
  char letter;
  bool constant;
  ONNXTensorElementDataType type;
  int rank; /* -1: unknown; -2: it is no tensor */
  int64_t dims[2];
} kind;

static const kind kinds[] = {{'i', false, INT64, -1, {0, 0}},
                             {'j', false, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, -1, {0, 0}},
                             {'s', false, INT64, 1, {4, 0}},
                             {'l', false, INT64, 1, {513, 0}},
                             {'o', false, INT64, 1, {-1, 0}},
                             {'f', false, FLOAT, -1, {0, 0}},
                             {'b', false, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, -1, {0, 0}},
                             {'u', false, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, -1, {0, 0}},
                             {'n', false, INT64, -2, {0, 0}},
                             {'c', true, INT64, 1, {512, 0}},
                             {'C', true, INT64, 1, {513, 0}},
                             {'d', true, INT64, 2, {2, 256}},
                             {'D', true, INT64, 2, {2, 257}},
                             {'z', true, INT64, 1, {0, 0}},
                             {'r', true, FLOAT, 0, {0, 0}}};

/* Operators as the backend describes them. */
static const leat_op_info operators[] = {
    {.name = "Shape", .host_outputs = 1, .flags = LEAT_OP_EVALUATED | LEAT_OP_EVALUATED_FLOAT32},
    {.name = "Size", .host_outputs = 1},
    {.name = "Add", .flags = LEAT_OP_EVALUATED},
    {.name = "Floor", .flags = LEAT_OP_EVALUATED | LEAT_OP_EVALUATED_FLOAT32},
    {.name = "Expand", .flags = LEAT_OP_EVALUATED | LEAT_OP_GROWS, .host_inputs = 1u << 1},
    {.name = "ConstantOfShape", .flags = LEAT_OP_EVALUATED | LEAT_OP_GROWS, .host_inputs = 1},
    {.name = "Reshape", .flags = LEAT_OP_EVALUATED | LEAT_OP_ALIAS, .host_inputs = 1u << 1},
    {.name = "Resize", .host_inputs = 1u << 2},
    {.name = "NonZero", .host_outputs = 1u << 1},
    {.name = "Count", .host_outputs = 1, .host_inputs = 1u << 1},
    {.name = "Relu"}};

typedef struct node node;

typedef struct value {
  char name[16];
  const kind *kind;
  bool given_out;
  const node *producer;
  size_t output; /* of the producer */
  size_t use_count;
  const node *users[ENDS];
  int64_t inputs[ENDS]; /* of the users */
} value;

struct node {
  const leat_op_info *info;
  size_t input_count, output_count;
  const value *inputs[ENDS], *outputs[ENDS];
};

/* The graph. */
static struct {
  node nodes[NODES + 1]; /* the last one is that of another graph */
  size_t node_count;
  value values[VALUES];
  size_t value_count;
} graph;

/* ---- ONNX Runtime -------------------------------------------------------------------------------------------------
 */

static OrtStatus *const failure = (OrtStatus *)0x1;

OrtStatus *leati_status(const leati_runtime *runtime, OrtErrorCode code, const char *format, ...) {
  (void)runtime;
  (void)code;
  (void)format;
  return failure;
}

bool leati_status_drop(const leati_runtime *runtime, OrtStatus *status) {
  (void)runtime;
  return status == NULL;
}

static OrtStatus *ORT_API_CALL count_nodes(const OrtGraph *of, size_t *out) {
  (void)of;
  *out = graph.node_count;
  return NULL;
}

static OrtStatus *ORT_API_CALL list_nodes(const OrtGraph *of, const OrtNode **out, size_t count) {
  (void)of;
  for (size_t i = 0; i < count; ++i) {
    out[i] = (const OrtNode *)&graph.nodes[i];
  }
  return NULL;
}

/* Ids have gaps, where nodes have gone, and in one of them lies that of another graph. */
static OrtStatus *ORT_API_CALL id_of(const OrtNode *of, size_t *out) {
  const size_t index = (size_t)((const node *)of - graph.nodes);
  *out = index == NODES ? 0 : index * 2 + 1;
  return NULL;
}

static OrtStatus *ORT_API_CALL count_inputs(const OrtNode *of, size_t *out) {
  *out = ((const node *)of)->input_count;
  return NULL;
}

static OrtStatus *ORT_API_CALL list_inputs(const OrtNode *of, const OrtValueInfo **out, size_t count) {
  memcpy(out, ((const node *)of)->inputs, count * sizeof(*out));
  return NULL;
}

static OrtStatus *ORT_API_CALL count_outputs(const OrtNode *of, size_t *out) {
  *out = ((const node *)of)->output_count;
  return NULL;
}

static OrtStatus *ORT_API_CALL list_outputs(const OrtNode *of, const OrtValueInfo **out, size_t count) {
  memcpy(out, ((const node *)of)->outputs, count * sizeof(*out));
  return NULL;
}

static OrtStatus *ORT_API_CALL name_of(const OrtValueInfo *of, const char **out) {
  *out = ((const value *)of)->name;
  return NULL;
}

static OrtStatus *ORT_API_CALL is_constant(const OrtValueInfo *of, bool *out) {
  *out = ((const value *)of)->kind->constant;
  return NULL;
}

static OrtStatus *ORT_API_CALL is_output(const OrtValueInfo *of, bool *out) {
  *out = ((const value *)of)->given_out;
  return NULL;
}

static OrtStatus *ORT_API_CALL producer_of(const OrtValueInfo *of, const OrtNode **out, size_t *output) {
  *out = (const OrtNode *)((const value *)of)->producer;
  *output = ((const value *)of)->output;
  return NULL;
}

static OrtStatus *ORT_API_CALL count_uses(const OrtValueInfo *of, size_t *out) {
  *out = ((const value *)of)->use_count;
  return NULL;
}

static OrtStatus *ORT_API_CALL list_uses(const OrtValueInfo *of, const OrtNode **users, int64_t *inputs, size_t count) {
  memcpy(users, ((const value *)of)->users, count * sizeof(*users));
  memcpy(inputs, ((const value *)of)->inputs, count * sizeof(*inputs));
  return NULL;
}

static OrtStatus *ORT_API_CALL type_of(const OrtValueInfo *of, const OrtTypeInfo **out) {
  *out = (const OrtTypeInfo *)of;
  return NULL;
}

static OrtStatus *ORT_API_CALL tensor_of(const OrtTypeInfo *of, const OrtTensorTypeAndShapeInfo **out) {
  *out = ((const value *)of)->kind->rank == -2 ? NULL : (const OrtTensorTypeAndShapeInfo *)of;
  return NULL;
}

static OrtStatus *ORT_API_CALL element_of(const OrtTensorTypeAndShapeInfo *of, ONNXTensorElementDataType *out) {
  *out = ((const value *)of)->kind->type;
  return NULL;
}

static bool ORT_API_CALL has_shape(const OrtTensorTypeAndShapeInfo *of) {
  return ((const value *)of)->kind->rank >= 0;
}

static OrtStatus *ORT_API_CALL rank_of(const OrtTensorTypeAndShapeInfo *of, size_t *out) {
  *out = (size_t)((const value *)of)->kind->rank;
  return NULL;
}

static OrtStatus *ORT_API_CALL dims_of(const OrtTensorTypeAndShapeInfo *of, int64_t *out, size_t count) {
  memcpy(out, ((const value *)of)->kind->dims, count * sizeof(*out));
  return NULL;
}

static const OrtApi ort = {.Graph_GetNumNodes = count_nodes,
                           .Graph_GetNodes = list_nodes,
                           .Node_GetId = id_of,
                           .Node_GetNumInputs = count_inputs,
                           .Node_GetInputs = list_inputs,
                           .Node_GetNumOutputs = count_outputs,
                           .Node_GetOutputs = list_outputs,
                           .GetValueInfoName = name_of,
                           .ValueInfo_IsConstantInitializer = is_constant,
                           .ValueInfo_IsGraphOutput = is_output,
                           .ValueInfo_GetValueProducer = producer_of,
                           .ValueInfo_GetValueNumConsumers = count_uses,
                           .ValueInfo_GetValueConsumers = list_uses,
                           .GetValueInfoTypeInfo = type_of,
                           .CastTypeInfoToTensorInfo = tensor_of,
                           .GetTensorElementType = element_of,
                           .TensorTypeAndShape_HasShape = has_shape,
                           .GetDimensionsCount = rank_of,
                           .GetDimensions = dims_of};
static const leati_runtime runtime = {.ort = &ort};

/* ---- Graphs -------------------------------------------------------------------------------------------------------
 */

/* The value of a name, which is made if it is new. */
static value *value_named(const char *name) {
  const size_t length = strcspn(name, "!");
  for (size_t i = 0; i < graph.value_count; ++i) {
    if (strlen(graph.values[i].name) == length && strncmp(graph.values[i].name, name, length) == 0) {
      return &graph.values[i];
    }
  }
  assert_true(graph.value_count < VALUES);
  value *const made = &graph.values[graph.value_count++];
  (void)snprintf(made->name, sizeof(made->name), "%.*s", strcmp(name, "-") == 0 ? 0 : (int)length, name);
  made->given_out = name[length] == '!';
  /* What is absent has no kind that anybody may ask for. */
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    made->kind = kinds[i].letter == name[0] ? &kinds[i] : made->kind;
  }
  return made;
}

static void read_input(node *of, const char *word) {
  const bool inside = word[0] == '^';
  value *const input = value_named(word + inside);
  if (input->kind != NULL) {
    assert_true(input->use_count < ENDS);
    input->users[input->use_count] = of;
    input->inputs[input->use_count++] = inside ? -1 : (int64_t)of->input_count;
  }
  if (!inside) {
    assert_true(of->input_count < ENDS);
    of->inputs[of->input_count++] = input;
  }
}

static void read_output(node *of, const char *word) {
  value *const output = value_named(word);
  assert_true(of->output_count < ENDS);
  output->producer = of;
  output->output = of->output_count;
  of->outputs[of->output_count++] = output;
}

static void read_node(char *text) {
  char *rest = NULL;
  const char *word = strtok_r(text, " ", &rest);
  const bool outside = strcmp(word, "Outside") == 0;
  assert_true(graph.node_count < NODES);
  node *const made = &graph.nodes[outside ? NODES : graph.node_count++];
  for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); ++i) {
    made->info = strcmp(operators[i].name, word) == 0 ? &operators[i] : made->info;
  }
  assert_true(made->info != NULL || outside || strcmp(word, "Foreign") == 0);
  bool outputs = false;
  while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
    if (strcmp(word, ">") == 0) {
      outputs = true;
    } else {
      (outputs ? read_output : read_input)(made, word);
    }
  }
}

/* Checks what is found of each node: 'H' on the host, 'S' for it computes shapes, 'E' evaluated in a fused subgraph;
 * "-" nothing. `condition` is the output that the runtime reads on the host, or NULL. */
static void expect_found(const char *text, const char *condition, const char *found) {
  memset(&graph, 0, sizeof(graph));
  char copy[256];
  assert_true(snprintf(copy, sizeof(copy), "%s", text) < (int)sizeof(copy));
  char *rest = NULL;
  for (char *piece = strtok_r(copy, ";", &rest); piece != NULL; piece = strtok_r(NULL, ";", &rest)) {
    read_node(piece);
  }
  leati_node_list list;
  assert_null(leati_node_list_read(&list, &runtime, NULL));
  list.condition = condition;
  for (size_t i = 0; i < list.count; ++i) {
    list.nodes[i].info = graph.nodes[i].info;
  }
  assert_null(leati_shape_arithmetic_find(&list));
  char got[64] = "";
  for (size_t i = 0; i < list.count; ++i) {
    const leati_listed_node *const at = &list.nodes[i];
    const size_t used = strlen(got);
    (void)snprintf(got + used, sizeof(got) - used, "%s%s%s%s%s", i != 0 ? " " : "", at->on_host ? "H" : "",
                   at->of_shapes ? "S" : "", at->evaluated ? "E" : "",
                   at->on_host || at->of_shapes || at->evaluated ? "" : "-");
  }
  leati_node_list_clear(&list);
  if (strcmp(got, found) != 0) {
    fail_msg("%s: '%s' is found, not '%s'", text, got, found);
  }
}

static void expect(const char *text, const char *found) {
  expect_found(text, NULL, found);
}

/* ---- Tests --------------------------------------------------------------------------------------------------------
 */

static void what_comes_from_shapes_stays(void **state) {
  (void)state;
  expect("Shape f0 > i1;Add i1 c0 > i2!", "E HSE");
  expect("Shape f0 > i1;Add i1 c0 > i2;Add i2 c0 > i3!", "E HSE HSE");
  expect("Shape f0 > i1;Add i1 - c0 > i2!", "E HSE");
  expect("Shape f0 > i1;Add c0 i1 > i2!", "E HSE");
  expect("Size f0 > i1;Add i1 c0 > i2!", "- HSE");
  /* The second output alone is on the host. */
  expect("NonZero f0 > i1 s2;Add s2 c0 > i3!;Add i1 c0 > i4!", "- HSE E");
  /* They are no arithmetic, or take what is on the device. */
  expect("Shape f0 > i1;Relu i1 > f1!", "E -");
  expect("Shape f0 > i1;Add i1 i0 > i2!", "E E");
  expect("Add i0 c0 > i1;Add i1 c0 > i2!", "E E");
}

static void what_is_used_as_a_shape_stays_if_its_inputs_are_there(void **state) {
  (void)state;
  expect("Add i0 c0 > i1;Reshape f0 i1 > f1!", "HSE -");
  expect("Add i0 c0 > i1;ConstantOfShape i1 > f1!", "HSE -");
  expect("Add i0 c0 > i1;Resize f0 f1 i1 > f2!", "HSE -");
  expect("Add i0 c0 > i1;Add i1 c0 > i2;Reshape f0 i2 > f1!", "HSE HSE -");
  expect("Add i0 c0 > i1;Add i1 c0 > i2;Foreign i2 > f1!", "HE HE -");
  expect("Relu f0 > i1;Add i1 c0 > i2;Reshape f1 i2 > f2!", "- E -");
  expect("Relu f0 > i1;Reshape f1 i1 > f2!", "- -");
  /* Something else is used on the device, or by nobody. */
  expect("Add i0 c0 > i1;Reshape i1 c1 > i2!", "E E");
  expect("Add i0 c0 > i1 i2!;Reshape f0 i1 > f1!", "E -");
  expect("Add i0 c0 > i1;Reshape f0 i1 > f1!;Relu i1 > f2!", "E - -");
  expect("Add i0 c0 > i1;Reshape f0 i1 > f1!;Outside i1", "E -");
  expect("Add i0 c0 > i1", "E");
}

static void a_graph_inside_is_where_its_node_is(void **state) {
  (void)state;
  expect("Add i0 c0 > i1;Foreign ^i1 > f1!", "HE -");
  expect("Add i0 c0 > i1;Resize ^i1 > f1!", "E -");
}

/* What no more than the shape of is asked for is taken along: the input that it takes is wanted there. */
static void a_shape_does_not_keep_what_it_is_of(void **state) {
  (void)state;
  expect("Shape i0 > i1;Reshape f0 i1 > f1!", "E -");
  expect("Add i0 c0 > i1;Shape i1 > i2;Reshape f0 i2 > f1!", "E E -");
  expect("Add i0 c0 > i1;Add i1 c0 > i2;Size i2 > i3;Reshape f0 i3 > f1!", "E E - -");
  expect("Add i0 c0 > i1;Shape i1 > i2;Reshape f0 i1 > f1;Reshape f1 i2 > f2!", "HSE HSE - -");
  expect("Add i0 c0 > i1 i3;Shape i1 > i2;Reshape f0 i3 > f1;Reshape f1 i2 > f2!", "HSE HSE - -");
}

/* It is read on the host, but what a body takes is on the device. */
static void a_condition_stays_if_its_inputs_are_there(void **state) {
  (void)state;
  expect_found("Add i0 c0 > b1!", "b1", "E");
  expect_found("Shape f0 > i1;Add i1 C0 > b1!", "b1", "E HSE");
  expect_found("Shape f0 > i1;Add i1 C0 > b1!", "b2", "E E");
  expect_found("Foreign f0 > i1;Add i1 c0 > b1!", "b1", "- HE");
  expect_found("Foreign f0 > i1;Add i1 c0 > b1!", "b2", "- E");
  expect_found("Foreign f0 > i1;Add i1 c0 > b1!;Relu b1 > b2!", "b1", "- E -");
}

static void constants_are_there_if_they_are_small(void **state) {
  (void)state;
  expect("Shape f0 > i1;Add i1 d0 > i2!", "E HSE");
  expect("Shape f0 > i1;Add i1 z0 > i2!", "E HSE");
  expect("Shape f0 > i1;Add i1 r0 > i2!", "E HS");
  expect("Shape f0 > i1;Add i1 C0 > i2!", "E E");
  expect("Shape f0 > i1;Add i1 D0 > i2!", "E E");
  /* Large ones too where all is used on the host. */
  expect("Shape f0 > i1;Add i1 C0 > i2;Reshape f1 i2 > f2!", "E HSE -");
  /* Of constants alone the device makes a constant, unless all of it is used on the host. */
  expect("Add c0 c1 > i1!", "E");
  expect("Add c0 c1 > i1;Reshape f0 i1 > f1!", "HSE -");
}

static void what_may_grow_stays_if_it_is_small(void **state) {
  (void)state;
  expect("Shape f0 > i1;Expand c0 i1 > s2!", "E HSE");
  expect("Shape f0 > i1;Expand c0 i1 > l2!", "E E");
  expect("Shape f0 > i1;Expand c0 i1 > o2!", "E E");
  expect("Shape f0 > i1;Expand c0 i1 > i2!", "E E");
  expect("Shape f0 > i1;Expand c0 i1 > i2;Reshape f1 i2 > f2!", "E HSE -");
}

static void elements_are_of_types_that_the_host_has(void **state) {
  (void)state;
  expect("Shape f0 > i1;Add i1 c0 > j2!", "E HSE");
  expect("Shape f0 > i1;Add i1 c0 > b2!", "E HSE");
  expect("Shape f0 > i1;Add i1 c0 > u2!", "E -");
  expect("Shape f0 > i1;Add i1 c0 > i2! u3!", "E -");
  expect("Add i0 u0 > i1!", "-");
  expect("Shape u0 > i1;Add i1 c0 > i2!", "- HSE");
  expect("Shape n0 > i1;Add i1 c0 > i2!", "- HSE");
  expect("Add u0 c0 > i1;Reshape f0 i1 > f1!", "- -");
}

static void only_some_compute_with_floats_there(void **state) {
  (void)state;
  expect("Floor f0 > f1!", "E");
  expect("Add f0 c0 > i1!", "-");
  expect("Add i0 c0 > f1!", "-");
  expect("Relu i0 > i1!", "-");
  expect("Shape f0 > i1;Floor i1 > f2;Floor f2 > i3;Reshape f0 i3 > f4!", "E HSE HSE -");
}

static void between_nodes_of_the_host_a_node_stays(void **state) {
  (void)state;
  expect("Foreign f0 > i1;Add i1 c0 > i2;Foreign i2 > f3!", "- HE -");
  expect("Foreign f0 > i1;Add i1 c0 > i2;Reshape f0 i2 > f1!", "- HSE -");
  expect("Foreign f0 > i1;Add i1 c0 > i2;Foreign i2 > f2!;Reshape f0 i2 > f1!", "- HSE - -");
  expect("Foreign f0 > i1;Add i1 c0 > i2 i3;Foreign i2 > f2!;Reshape f0 i3 > f1!", "- HSE - -");
  expect("Foreign f0 > i1;Add i1 c0 > i2!", "- E");
  expect("Foreign f0 > i1;Relu i1 > i2;Foreign i2 > f3!", "- - -");
  expect("Foreign f0 > i1;Size i1 > i2;Foreign i2 > f3!", "- H -");
  expect("Foreign f0 > i1;Count i1 c0 > i2;Foreign i2 > f3!", "- - -");
  expect("Foreign f0 > i1;NonZero i1 > i2 s3;Foreign i2 s3 > f3!", "- - -");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_comes_from_shapes_stays),
      cmocka_unit_test(what_is_used_as_a_shape_stays_if_its_inputs_are_there),
      cmocka_unit_test(a_graph_inside_is_where_its_node_is),
      cmocka_unit_test(a_shape_does_not_keep_what_it_is_of),
      cmocka_unit_test(a_condition_stays_if_its_inputs_are_there),
      cmocka_unit_test(constants_are_there_if_they_are_small),
      cmocka_unit_test(what_may_grow_stays_if_it_is_small),
      cmocka_unit_test(elements_are_of_types_that_the_host_has),
      cmocka_unit_test(only_some_compute_with_floats_there),
      cmocka_unit_test(between_nodes_of_the_host_a_node_stays),
  };
  return cmocka_run_group_tests_name("shape_arithmetic", tests, NULL, NULL);
}
