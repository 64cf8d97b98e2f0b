/* SPDX-License-Identifier: BSD-3-Clause */
/* What entries of the operator list say of themselves, where that can be seen. */
#include <string.h>

#include "cases/graph_net.h"
#include "cases/sources.h"

/* Whether an entry says that graphs compute it on the host with elements of these types. */
static bool is_told(const leat_op_info *info, const DLDataType *types) {
  const bool real = types[0].code == kDLFloat || types[1].code == kDLFloat;
  return (info->flags & LEAT_OP_EVALUATED) != 0 && (!real || (info->flags & LEAT_OP_EVALUATED_FLOAT32) != 0);
}

/* Gives the last node those attributes that some operators cannot do without, or that say which type they give. */
static void add_attributes(leati_builder *m, const leat_op_info *info) {
  static int64_t zero = 0, one = 1;
  static const DLTensor number = {
      .data = &zero, .device = {.device_type = kDLCPU}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = &one};
  static const leat_attribute known[] = {
      {.struct_size = sizeof(known[0]), .type = LEAT_ATTRIBUTE_INT, .name = "axis"},
      {.struct_size = sizeof(known[0]), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 7}, /* int64 */
      {.struct_size = sizeof(known[0]), .type = LEAT_ATTRIBUTE_TENSOR, .name = "value", .tensor = &number},
  };
  for (uint32_t a = 0; a < info->attribute_count; ++a) {
    for (size_t i = 0; i < G_N_ELEMENTS(known); ++i) {
      if (info->attributes[a]->type == known[i].type && strcmp(info->attributes[a]->name, known[i].name) == 0) {
        leati_builder_attribute(m, &known[i]);
      }
    }
  }
}

/* Describes a node of an entry whose inputs are the graph's, the first of one type and all others of another one. */
static uint32_t describe(leati_builder *m, const leat_op_info *info, const DLDataType *types) {
  const uint32_t version = info->since_version_min;
  uint32_t inputs[LEATI_BUILDER_INPUTS];
  for (uint32_t i = 0; i < info->min_inputs; ++i) {
    inputs[i] = leati_builder_input(m, types[i != 0], -1, NULL);
  }
  const uint32_t made = leati_builder_node(m, info->name, version, info->min_inputs, inputs);
  m->nodes[m->desc.node_count - 1].domain = info->domain;
  add_attributes(m, info);
  return made;
}

static int32_t build(leat_case_context *ctx, const leati_builder *m, leat_error *err) {
  leat_graph *graph = NULL;
  const int32_t status = ctx->api->graph->build(leati_fixture_device(ctx), &m->desc, &graph, err);
  if (status == LEAT_OK) {
    leati_graph_destroy(ctx, graph);
  }
  return status;
}

/* Whether the backend takes such a node, and if so that shapes may follow from what it gives: from that, as int64,
 * comes the shape that ConstantOfShape gives. */
static bool check_entry(leat_case_context *ctx, const leat_op_info *info, const DLDataType *types) {
  static const leat_attribute to = {.struct_size = sizeof(to), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 7};
  leat_error err = {.struct_size = sizeof(err)};
  leati_builder *m = leati_builder_new();
  leati_builder_output(m, describe(m, info, types));
  const bool taken = build(ctx, m, &err) == LEAT_OK;
  g_free(m);
  if (!taken) {
    return false;
  }
  m = leati_builder_new();
  const uint32_t made = describe(m, info, types);
  const uint32_t whole = leati_builder_node(m, "Cast", 13, 1, &made);
  leati_builder_attribute(m, &to);
  leati_builder_output(m, leati_builder_node(m, "ConstantOfShape", 9, 1, &whole));
  const int32_t status = build(ctx, m, &err);
  g_free(m);
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK, "%s says that graphs compute it on the host, and one does not: %s",
                     info->name, err.message);
  return true;
}

/* The entry of an operator of ONNX's; NULL: there is none. */
static const leat_op_info *entry_of(leat_case_context *ctx, const char *name) {
  const leat_op_info *info = NULL;
  const leat_op_info *found = NULL;
  uint32_t count = 0;
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count && found == NULL; ++i) {
    LEAT_CHECK_OK(ctx, ctx->op->info(i, &info, LEAT_ERR));
    found = strcmp(info->name, name) == 0 && info->domain[0] == '\0' ? info : NULL;
  }
  return found;
}

static void evaluated(leat_case_context *ctx, const void *data) {
  const DLDataType all[] = {LEAT_I64, LEAT_I32, LEAT_BOOL, LEAT_F32};
  const leat_op_info *const cast = entry_of(ctx, "Cast");
  uint32_t count = 0;
  uint32_t checked = 0;
  (void)data;
  leati_graph_require(ctx);
  if (cast == NULL || (cast->flags & LEAT_OP_EVALUATED) == 0 || entry_of(ctx, "ConstantOfShape") == NULL) {
    leati_case_skip(ctx, "graphs do not compute Cast on the host, or there is no ConstantOfShape");
  }
  LEAT_CHECK_OK(ctx, ctx->op->count(&count, LEAT_ERR));
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    LEAT_CHECK_OK(ctx, ctx->op->info(i, &info, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, (info->flags & LEAT_OP_EVALUATED_FLOAT32) == 0 || (info->flags & LEAT_OP_EVALUATED) != 0,
                       "%s has LEAT_OP_EVALUATED_FLOAT32 without LEAT_OP_EVALUATED", info->name);
    for (size_t t = 0; t < G_N_ELEMENTS(all) * G_N_ELEMENTS(all); ++t) {
      const DLDataType types[2] = {all[t / G_N_ELEMENTS(all)], all[t % G_N_ELEMENTS(all)]};
      if (info->min_inputs <= LEATI_BUILDER_INPUTS && is_told(info, types)) {
        checked += check_entry(ctx, info, types);
      }
    }
  }
  LEAT_CHECK(ctx, checked != 0);
}

static const leat_case flags_cases[] = {
    {.name = "flags.evaluated.graphs_compute_it_on_the_host",
     .summary = "Shapes may follow from what operators with LEAT_OP_EVALUATED give.",
     .run = evaluated},
};

void leati_cases_flags(leat_case_list *list) {
  leati_case_list_add(list, flags_cases, G_N_ELEMENTS(flags_cases));
}
