/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * MatMul and Relu as one graph: y = max(x W, 0). Exits with 77 if the backend has no graphs.
 */
#include <leat/host.h>
#include <stdio.h>
#include <stdlib.h>
static leat_error err = {.struct_size = sizeof(err)};

static void check(int32_t status) {
  if (status != LEAT_OK) {
    fprintf(stderr, "%s: %s\n", leat_host_status_name(status), err.message);
    exit(status == LEAT_ERROR_NOT_SUPPORTED ? 77 : 1);
  }
}

int main(void) {
  float w[2][3] = {{1, -1, 2}, {0, 1, -3}}, x[1][2] = {{4, 5}}, y[1][3];
  int64_t w_shape[2] = {2, 3}, x_shape[2] = {1, 2}, y_shape[2] = {1, 3};
  const DLDataType f32 = {kDLFloat, 32, 1};
  const DLTensor weight = {w, {kDLCPU, 0}, 2, f32, w_shape, NULL, 0},
                 input = {x, {kDLCPU, 0}, 2, f32, x_shape, NULL, 0};
  const DLTensor output = {y, {kDLCPU, 0}, 2, f32, y_shape, NULL, 0};
  const DLTensor *in[] = {&input}, *out[] = {&output};
  const leat_backend_api *leat;
  leat_device *gpu;
  leat_stream *stream;
  leat_graph *graph;
  /* Values by number: 0 is the input, 1 the weight, a constant; 2 is what MatMul makes and 3 what Relu does. */
  const leat_value_info given = {.struct_size = sizeof(given), .ndim = 2, .dtype = f32, .shape = x_shape};
  leat_value_info constant = {.struct_size = sizeof(constant), .ndim = 2, .dtype = f32, .shape = w_shape};
  const leat_value_info made = {.struct_size = sizeof(made), .ndim = -1};
  const uint32_t v[] = {0, 1, 2, 3};
  leat_graph_node product = {.struct_size = sizeof(product), .since_version = 13, .op = "MatMul", .output_count = 1};
  leat_graph_node relu = {.struct_size = sizeof(relu), .since_version = 14, .op = "Relu", .output_count = 1};
  leat_graph_desc desc = {
      .struct_size = sizeof(desc), .value_count = 4, .node_count = 2, .input_count = 1, .output_count = 1};
  constant.value = &weight;
  product.input_count = 2, product.inputs = &v[0], product.outputs = &v[2];
  relu.input_count = 1, relu.inputs = &v[2], relu.outputs = &v[3];
  desc.values = (const leat_value_info *[]){&given, &constant, &made, &made};
  desc.nodes = (const leat_graph_node *[]){&product, &relu};
  desc.inputs = &v[0], desc.outputs = &v[3];
  check(leat_host_load(NULL, &leat, &err));
  check(leat->device->open(0, &gpu, &err));
  check(leat->stream->create(gpu, 0, &stream, &err));
  check(leat->graph->build(gpu, &desc, &graph, &err)); /* the weight is on the device from here on */
  check(leat->graph->launch(graph, stream, 1, in, 1, out, &err));
  check(leat->stream->synchronize(stream, &err)); /* tensors may be on the host, as here: the output arrives now */
  printf("%g %g %g\n", (double)y[0][0], (double)y[0][1], (double)y[0][2]);
  return leat->device->close(gpu, &err); /* frees the stream and the graph too */
}
