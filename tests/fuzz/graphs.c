/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks, drawn as unit.drawn draws them, each choice by a byte. As they are, graphs give the bits that the nodes
 * give one by one; on the null driver (NULLDRIVER_MODE) the shapes. The first byte may ask for a description that was
 * changed in one place and more: it is refused with a message, or built and launched; and for kernels that are compiled
 * before a launch. */
#include <string.h>

#include "drawn_network.h"
#include "fuzz/input.h"

static void *state;
static drawing d;
static results expected, found;

/* Whether a constant has as many elements in its memory as its shape says. A host that lies about that has its own
 * memory read behind the end, which nobody can see. */
static bool is_whole(const network *n, uint32_t v) {
  uint64_t bytes = n->tensors[v].dtype.code == kDLInt ? sizeof(int64_t) : sizeof(float);
  const uint64_t room = n->tensors[v].dtype.code == kDLInt ? sizeof(n->ints[v]) : sizeof(n->floats[v]);
  bool whole = true;
  for (int32_t i = 0; i < n->tensors[v].ndim; ++i) {
    /* Of a negative size it is refused before it is read. */
    const uint64_t size = n->shapes[v][i] < 0 ? 0 : (uint64_t)n->shapes[v][i];
    whole = whole && (size == 0 || bytes <= room / size);
    bytes *= whole ? size : 0;
  }
  return whole;
}

/* Changes one thing of a description to what a careless host may give. */
static void spoil(input *in, network *n) {
  leat_graph_desc *const desc = &n->desc;
  leat_graph_node *const node = &n->nodes[input_byte(in) % (desc->node_count != 0 ? desc->node_count : 1)];
  leat_value_info *const value = &n->infos[input_byte(in) % desc->value_count];
  /* A number of a value: one that there is, or nearly, or none. */
  const uint8_t number = input_byte(in);
  const uint32_t v = number < 248   ? number % (desc->value_count + 1)
                     : number < 252 ? LEAT_GRAPH_NO_VALUE
                                    : (uint32_t)input_number(in);
  const uint8_t at = input_byte(in);
  switch (input_below(in, 16)) {
    case 0:
      n->arguments[node - n->nodes][0][at % ARGUMENTS] = v;
      break;
    case 1:
      n->arguments[node - n->nodes][1][at % ARGUMENTS] = v;
      break;
    case 2:
      desc->node_count -= desc->node_count != 0 ? 1 : 0;
      break;
    case 3: {
      const leat_graph_node *const other = n->node_list[at % NODES];
      if (other != NULL && at % NODES < desc->node_count) {
        n->node_list[at % NODES] = node;
        n->node_list[node - n->nodes] = other;
      }
      break;
    }
    case 4:
      node->op = at < 128 ? "Add" : at < 192 ? "" : NULL;
      break;
    case 5:
      node->since_version = (uint32_t)input_number(in);
      break;
    case 6:
      /* The lists have room for no more. */
      node->input_count = at % (ARGUMENTS + 1);
      break;
    case 7:
      node->output_count = at % (ARGUMENTS + 1);
      break;
    case 8:
      value->ndim = (int32_t)input_number(in);
      /* The shapes that there are have room for so many, and of a rank that no tensor has nobody reads one. */
      value->ndim = value->ndim > RANK && value->ndim <= LEAT_MAX_RANK ? RANK : value->ndim;
      break;
    case 9: {
      int64_t *const size = &n->shapes[value - n->infos][at % RANK];
      const int64_t before = *size;
      *size = input_number(in);
      *size = value->value == NULL || is_whole(n, (uint32_t)(value - n->infos)) ? *size : before;
      break;
    }
    case 10:
      value->dtype.bits = input_byte(in);
      value->dtype.code = at % 16;
      break;
    case 11:
      n->outputs[at % (desc->output_count != 0 ? desc->output_count : 1)] = v;
      break;
    case 12:
      n->inputs[at % (desc->input_count != 0 ? desc->input_count : 1)] = v;
      break;
    case 13:
      desc->output_count -= desc->output_count != 0 ? 1 : 0;
      break;
    case 14:
      node->struct_size = (uint32_t)(sizeof(*node) - at % 16);
      break;
    default:
      node->attribute_count -= node->attribute_count != 0 ? 1 : 0;
  }
}

/* Tensors of the graph's inputs as they were drawn, with a shape changed now and then; the outputs as infer() has
 * them. What is refused is refused with a message. */
static void use(input *in, const place *p, const leat_graph *graph, const network *n) {
  const leat_graph_api *const api = p->f->api->graph;
  const DLTensor *given[VALUES];
  DLTensor inputs[VALUES], outputs[VALUES];
  const DLTensor *wanted[VALUES];
  leat_shape shapes[VALUES], *list[VALUES];
  leat_error why = {.struct_size = sizeof(why)};
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    inputs[i] = on_device(p, &n->tensors[n->inputs[i]]);
    inputs[i].byte_offset = input_below(in, 16) == 0 ? (uint64_t)input_number(in) : 0;
    given[i] = input_below(in, 64) == 1 ? NULL : &inputs[i];
  }
  for (uint32_t o = 0; o < n->desc.output_count; ++o) {
    shapes[o].struct_size = sizeof(shapes[o]);
    list[o] = &shapes[o];
  }
  int32_t status = api->infer(graph, n->desc.input_count, given, n->desc.output_count, list, &why);
  FUZZ_CHECK(status == LEAT_OK || why.message[0] != '\0', "infer() gives %d without a message", (int)status);
  uint32_t made = 0, compiled = input_below(in, 4);
  if (compiled != 0) {
    leat_error unready = {.struct_size = sizeof(unready)};
    const int32_t prepared = api->prepare(graph, n->desc.input_count, given, &compiled, &unready);
    FUZZ_CHECK(prepared == LEAT_OK || unready.message[0] != '\0', "prepare() gives %d without a message",
               (int)prepared);
  }
  for (; status == LEAT_OK && made < n->desc.output_count; ++made) {
    /* Each has room for ELEMENTS numbers, whatever its shape says. */
    outputs[made] = (DLTensor){.ndim = shapes[made].ndim, .dtype = shapes[made].dtype, .shape = shapes[made].dims};
    outputs[made] = on_device(p, &outputs[made]);
    outputs[made].shape = shapes[made].dims;
    wanted[made] = &outputs[made];
  }
  if (status == LEAT_OK) {
    status = api->launch(graph, p->stream, n->desc.input_count, given, n->desc.output_count, wanted, &why);
    FUZZ_CHECK(status == LEAT_OK || why.message[0] != '\0', "launch() gives %d without a message", (int)status);
    assert_ok(p->f->api->stream->synchronize(p->stream, &err));
  }
  for (uint32_t o = 0; o < made; ++o) {
    release(p, &outputs[o]);
  }
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    release(p, &inputs[i]);
  }
}

static void try_spoilt(input *in, const place *p, network *n) {
  leat_error why = {.struct_size = sizeof(why)};
  leat_graph *graph = NULL;
  const uint32_t changes = 1 + input_below(in, 3);
  for (uint32_t i = 0; i < changes; ++i) {
    spoil(in, n);
  }
  const int32_t status = p->f->api->graph->build(p->f->device, &n->desc, &graph, &why);
  FUZZ_CHECK((status == LEAT_OK) == (graph != NULL), "build() gives %d and the graph %p", (int)status, (void *)graph);
  if (status != LEAT_OK) {
    FUZZ_CHECK(why.code == status && why.message[0] != '\0', "build() gives %d without a message", (int)status);
    return;
  }
  use(in, p, graph, n);
  assert_ok(p->f->api->graph->destroy(graph, &err));
}

/* Compiles no more than that many programs that launches want. */
static void prepare(const place *p, const leat_graph *graph, const network *n, uint32_t most) {
  const DLTensor *inputs[VALUES];
  uint32_t compiled = most;
  for (uint32_t i = 0; i < n->desc.input_count; ++i) {
    inputs[i] = &n->tensors[n->inputs[i]];
  }
  assert_ok(p->f->api->graph->prepare(graph, n->desc.input_count, inputs, &compiled, &err));
  FUZZ_CHECK(compiled <= most, "prepare() has compiled %u programs of %u", compiled, most);
}

static void compare_ways(const place *p, const network *n, uint32_t prepared) {
  run_nodes(p, n, &expected);
  leat_graph *const graph = build(p, n);
  if (prepared != 0) {
    prepare(p, graph, n, prepared);
  }
  for (uint32_t host = 0; host < 2; ++host) {
    run_graph(p, graph, n, host == 0 ? 0 : UINT32_MAX, &found);
    compare(n, &expected, &found);
  }
  assert_ok(p->f->api->graph->destroy(graph, &err));
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  FUZZ_CHECK(fixture_open(&state) == 0, "no device");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  const uint8_t kind = input_byte(&in), seed = input_byte(&in);
  /* What spoils it stands in front, so that it stays what it is while the network behind it changes. */
  input spoiling = in;
  const size_t front = (kind & 2) == 0 ? 0 : in.left < 24 ? in.left : 24;
  spoiling.left = front;
  draw_network(&d, seed, (kind & 1) != 0, in.bytes + front, in.left - front);
  const place p = open_place(&state);
  if ((kind & 2) != 0) {
    try_spoilt(&spoiling, &p, d.network);
  } else {
    compare_ways(&p, d.network, kind >> 2);
  }
  close_place(&p);
  free(d.network);
  return 0;
}
