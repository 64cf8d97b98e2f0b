/* SPDX-License-Identifier: BSD-3-Clause */
/* The helpers that operator families share (plugin/ops/core/attribute.c, dims.c, window.c), and the operator list
 * itself. */
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "ops/conv/window.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/op.h"
#include "ops/core/op_table.h"
#include "ops/core/registry.h"
#include "unit_fixture.h"

static leat_error fresh_error(void) {
  return (leat_error){.struct_size = sizeof(leat_error)};
}

static leati_view view_of(int32_t ndim, const int64_t *shape) {
  leati_view view = {.present = true, .ndim = ndim, .type = LEAT_TYPE_FLOAT32, .item_size = 4};
  memcpy(view.shape, shape, (size_t)ndim * sizeof(shape[0]));
  leati_view_make_compact(&view);
  return view;
}

static void test_axis(void **state) {
  (void)state;
  leat_error err = fresh_error();
  int32_t axis = 99;
  assert_int_equal(leati_axis(-1, 3, &axis, &err), LEAT_OK);
  assert_int_equal(axis, 2);
  assert_int_equal(leati_axis(-3, 3, &axis, &err), LEAT_OK);
  assert_int_equal(axis, 0);
  assert_int_equal(leati_axis(2, 3, &axis, &err), LEAT_OK);
  assert_int_equal(axis, 2);
  assert_int_equal(leati_axis(3, 3, &axis, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_axis(-4, 3, &axis, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_axis(INT64_MIN, 3, &axis, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "[-3, 3)"));
  assert_int_equal(leati_axis(0, 0, &axis, NULL), LEAT_ERROR_INVALID_ARGUMENT);
}

static void test_broadcast(void **state) {
  (void)state;
  leat_error err = fresh_error();
  int32_t ndim = 2;
  int64_t dims[LEAT_MAX_RANK] = {4, 1};
  const int64_t other[] = {3, 1, 5};
  assert_int_equal(leati_broadcast(&ndim, dims, 3, other, &err), LEAT_OK);
  assert_int_equal(ndim, 3);
  assert_int_equal(dims[0], 3);
  assert_int_equal(dims[1], 4);
  assert_int_equal(dims[2], 5);

  const int64_t empty[] = {0};
  ndim = 1;
  dims[0] = 1;
  assert_int_equal(leati_broadcast(&ndim, dims, 1, empty, &err), LEAT_OK);
  assert_int_equal(dims[0], 0);

  ndim = 0;
  assert_int_equal(leati_broadcast(&ndim, dims, 0, NULL, &err), LEAT_OK);
  assert_int_equal(ndim, 0);

  const int64_t two[] = {2};
  ndim = 1;
  dims[0] = 3;
  assert_int_equal(leati_broadcast(&ndim, dims, 1, two, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "[3]"));
  assert_non_null(strstr(err.message, "[2]"));
  assert_int_equal(dims[0], 3);
  dims[0] = 0;
  assert_int_equal(leati_broadcast(&ndim, dims, 1, two, &err), LEAT_ERROR_INVALID_ARGUMENT);
}

static void test_broadcast_strides(void **state) {
  (void)state;
  const int64_t shape[] = {4, 1};
  const leati_view view = view_of(2, shape);
  const int64_t dims[] = {3, 4, 5};
  int64_t strides[LEAT_MAX_RANK];
  leati_broadcast_strides(&view, 3, dims, strides);
  assert_int_equal(strides[0], 0);
  assert_int_equal(strides[1], 1);
  assert_int_equal(strides[2], 0);
}

static void test_collapse_joins_compact(void **state) {
  (void)state;
  int64_t dims[LEAT_MAX_RANK] = {2, 1, 3, 4};
  int64_t strides[2][LEAT_MAX_RANK] = {{12, 99, 4, 1}, {12, -7, 4, 1}};
  assert_int_equal(leati_collapse(4, dims, 2, strides), 1);
  assert_int_equal(dims[0], 24);
  assert_int_equal(strides[0][0], 1);
  assert_int_equal(strides[1][0], 1);
}

static void test_collapse_keeps_what_differs(void **state) {
  (void)state;
  /* [2, 3, 4] + [4]: the first two dimensions join, the last stays by itself. */
  int64_t dims[LEAT_MAX_RANK] = {2, 3, 4};
  int64_t strides[2][LEAT_MAX_RANK] = {{12, 4, 1}, {0, 0, 1}};
  assert_int_equal(leati_collapse(3, dims, 2, strides), 2);
  assert_int_equal(dims[0], 6);
  assert_int_equal(dims[1], 4);
  assert_int_equal(strides[0][0], 4);
  assert_int_equal(strides[1][0], 0);
  assert_int_equal(strides[1][1], 1);
}

static void test_collapse_scalar_and_reverse(void **state) {
  (void)state;
  int64_t dims[LEAT_MAX_RANK] = {1, 1};
  int64_t strides[1][LEAT_MAX_RANK] = {{5, 7}};
  assert_int_equal(leati_collapse(2, dims, 1, strides), 1);
  assert_int_equal(dims[0], 1);
  assert_int_equal(strides[0][0], 0);
  dims[0] = 99;
  assert_int_equal(leati_collapse(0, dims, 1, strides), 1);
  assert_int_equal(dims[0], 1);

  /* Walked backwards throughout, two dimensions are still one walk. */
  int64_t back[LEAT_MAX_RANK] = {2, 3};
  int64_t back_strides[1][LEAT_MAX_RANK] = {{-3, -1}};
  assert_int_equal(leati_collapse(2, back, 1, back_strides), 1);
  assert_int_equal(back[0], 6);
  assert_int_equal(back_strides[0][0], -1);
}

/* Collapsing never changes which elements are visited, nor their order: compared by walking both. */
static int64_t offset_of(int64_t index, int32_t ndim, const int64_t *dims, const int64_t *strides) {
  int64_t offset = 0;
  for (int32_t d = ndim; d-- > 0;) {
    offset += index % dims[d] * strides[d];
    index /= dims[d];
  }
  return offset;
}

static void test_collapse_visits_the_same(void **state) {
  (void)state;
  uint32_t seed = 12345;
  for (int round = 0; round < 2000; ++round) {
    int64_t dims[LEAT_MAX_RANK] = {0}, joined[LEAT_MAX_RANK];
    int64_t strides[2][LEAT_MAX_RANK] = {{0}}, joined_strides[2][LEAT_MAX_RANK];
    seed = seed * 1664525u + 1013904223u;
    const int32_t ndim = (int32_t)(seed >> 16) % 5;
    int64_t count = 1, step[2] = {1, 1};
    for (int32_t d = ndim; d-- > 0;) {
      seed = seed * 1664525u + 1013904223u;
      dims[d] = 1 + (int64_t)(seed >> 16) % 3;
      for (uint32_t k = 0; k < 2; ++k) {
        /* Mostly compact, so that there is something to join; at times repeated, with a gap or backwards. */
        const uint32_t kind = seed >> (8 + 3 * k) & 7u;
        strides[k][d] = kind == 0 ? 0 : kind == 1 ? step[k] * 2 : kind == 2 ? -step[k] : step[k];
        step[k] = strides[k][d] == 0 ? step[k] : strides[k][d] * dims[d];
      }
      count *= dims[d];
    }
    memcpy(joined, dims, sizeof(dims));
    memcpy(joined_strides, strides, sizeof(strides));
    const int32_t rank = leati_collapse(ndim, joined, 2, joined_strides);
    assert_in_range(rank, 1, ndim == 0 ? 1 : ndim);
    for (int64_t i = 0; i < count; ++i) {
      for (uint32_t k = 0; k < 2; ++k) {
        assert_int_equal(offset_of(i, ndim, dims, strides[k]), offset_of(i, rank, joined, joined_strides[k]));
      }
    }
  }
}

static void test_read_ints(void **state) {
  (void)state;
  leat_error err = fresh_error();
  const int64_t shape[] = {3};
  int64_t wide[] = {1, -2, INT64_MAX};
  int32_t narrow[] = {5, 6, -7, 8, 9};
  int64_t out[3];
  uint32_t count = 99;
  leati_view view = view_of(1, shape);
  view.host = true;
  view.type = LEAT_TYPE_INT64;
  view.item_size = 8;
  view.data = wide;
  assert_int_equal(leati_read_ints(&view, "it", 3, out, &count, &err), LEAT_OK);
  assert_int_equal(count, 3);
  assert_true(out[1] == -2 && out[2] == INT64_MAX);
  assert_int_equal(leati_read_ints(&view, "it", 2, out, &count, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(count, 0);

  view.type = LEAT_TYPE_INT32;
  view.item_size = 4;
  view.data = narrow;
  view.strides[0] = 2;
  assert_int_equal(leati_read_ints(&view, "it", 3, out, &count, &err), LEAT_OK);
  assert_true(out[0] == 5 && out[1] == -7 && out[2] == 9);

  view.type = LEAT_TYPE_FLOAT32;
  assert_int_equal(leati_read_ints(&view, "the axes", 3, out, &count, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "the axes has type float32"));
}

static void test_attributes(void **state) {
  (void)state;
  leat_error err = fresh_error();
  const int64_t ints[] = {1, 2, 3};
  const leat_attribute attributes[] = {
      {.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = "axis", .i = -1},
      {.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = "alpha", .f = 0.25f},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_STRING,
       .name = "mode",
       .string = "edgewise",
       .count = 4},
      {.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INTS, .name = "perm", .ints = ints, .count = 3},
  };
  const leati_op_desc desc = {.attributes = attributes, .attribute_count = 4};
  int64_t out[3];
  uint32_t count;
  assert_int_equal(leati_attr_int(&desc, "axis", 7), -1);
  assert_int_equal(leati_attr_int(&desc, "other", 7), 7);
  assert_true(leati_attr_float(&desc, "alpha", 1.0f) == 0.25f);
  assert_true(leati_attr_is(&desc, "mode", "edge"));
  assert_false(leati_attr_is(&desc, "mode", "edgewise"));
  assert_false(leati_attr_is(&desc, "none", ""));
  assert_int_equal(leati_attr_ints(&desc, "perm", 3, out, &count, &err), LEAT_OK);
  assert_int_equal(count, 3);
  assert_int_equal(out[2], 3);
  assert_int_equal(leati_attr_ints(&desc, "perm", 2, out, &count, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_int_equal(leati_attr_ints(&desc, "none", 2, out, &count, &err), LEAT_OK);
  assert_int_equal(count, 0);
}

/* What every entry of the list must be, and that no two entries claim one version of an operator. */
static void test_list(void **state) {
  (void)state;
  leat_error err = fresh_error();
  uint32_t count = 0;
  assert_int_equal(leati_op_table.count(&count, &err), LEAT_OK);
  assert_true(count > 60);
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    assert_int_equal(leati_op_table.info(i, &info, &err), LEAT_OK);
    assert_int_equal(info->struct_size, sizeof(*info));
    assert_true(info->name != NULL && info->domain != NULL && info->name[0] != '\0');
    assert_true(info->since_version_min >= 1 && info->since_version_min <= info->since_version_max);
    assert_true(info->min_inputs <= info->max_inputs && info->min_outputs <= info->max_outputs);
    assert_true(info->max_outputs >= 1 && info->type_count >= 1 && info->reserved == 0);
    for (uint32_t t = 0; t < info->type_count; ++t) {
      assert_int_equal(info->types[t]->struct_size, sizeof(leat_op_type));
      assert_true(info->types[t]->types != 0 && info->types[t]->name != NULL);
    }
    for (uint32_t a = 0; a < info->attribute_count; ++a) {
      assert_int_equal(info->attributes[a]->struct_size, sizeof(leat_op_attribute));
      assert_in_range(info->attributes[a]->type, LEAT_ATTRIBUTE_INT, LEAT_ATTRIBUTE_STRINGS);
    }
    for (uint32_t j = 0; j < i; ++j) {
      const leat_op_info *other = NULL;
      assert_int_equal(leati_op_table.info(j, &other, &err), LEAT_OK);
      const bool same = strcmp(info->name, other->name) == 0 && strcmp(info->domain, other->domain) == 0;
      assert_false(same && info->since_version_min <= other->since_version_max &&
                   other->since_version_min <= info->since_version_max);
    }
  }
  const leat_op_info *info = NULL;
  assert_int_equal(leati_op_table.info(count, &info, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_null(info);
  assert_int_equal(leati_op_table.info(UINT32_MAX, &info, &err), LEAT_ERROR_INVALID_ARGUMENT);
}

#define BIT(i) (UINT32_C(1) << (i))

/* Inputs behind optional ones without which an operator has no meaning, as its specification says; of QMoE with weights
 * of whole numbers also their scales. */
static uint32_t required_inputs_of(const leat_op_info *info) {
  static const struct {
    const char *name;
    uint32_t inputs;
  } known[] = {
      {"DynamicQuantizeLSTM", BIT(8) | BIT(9) | BIT(10) | BIT(11)},
      {"EmbedLayerNormalization", BIT(2) | BIT(3) | BIT(5) | BIT(6)},
      {"GroupQueryAttention", BIT(5) | BIT(6)},
      {"MoE", BIT(4)},
      {"QEmbedLayerNormalization",
       BIT(2) | BIT(3) | BIT(5) | BIT(6) | BIT(8) | BIT(9) | BIT(11) | BIT(12) | BIT(13) | BIT(14) | BIT(16) | BIT(17)},
      {"QLinearAdd", BIT(3) | BIT(4) | BIT(6)},
      {"QLinearAveragePool", BIT(3)},
      {"QLinearGlobalAveragePool", BIT(3)},
      {"QLinearLeakyRelu", BIT(3)},
      {"QLinearMul", BIT(3) | BIT(4) | BIT(6)},
      {"QLinearSigmoid", BIT(3)},
      {"QLinearSoftmax", BIT(3)},
      {"QLinearWhere", BIT(4) | BIT(5) | BIT(7)},
      {"QMoE", BIT(3) | BIT(5) | BIT(6)},
      {"SparseAttention", BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(8)},
  };
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && strcmp(info->domain, "com.microsoft") == 0; ++i) {
    if (strcmp(info->name, known[i].name) == 0) {
      return known[i].inputs;
    }
  }
  return 0;
}

/* Each input that an operator may lack by the count of them is left out, alone and with all behind it: just those that
 * are required have the operator refused for it, with the number of the first one, though nothing is known of shapes.
 */
static void test_required_inputs(void **state) {
  enum { INPUTS = 32 };
  const fixture *const f = fixture_of(state);
  for (uint32_t e = 0; e < leati_registry_count(); ++e) {
    const leati_op_def *const def = leati_registry_get(e);
    const uint32_t required = required_inputs_of(&def->info), most = def->info.max_inputs;
    leat_value_info infos[INPUTS];
    const leat_value_info *inputs[INPUTS];
    for (uint32_t k = 0; k < INPUTS && k < most; ++k) {
      const uint64_t types = def->info.types[leati_op_input_type(def, k)]->types;
      infos[k] =
          (leat_value_info){.struct_size = sizeof(infos[k]), .ndim = -1, .dtype = leati_dtype_of(types & -types)};
    }
    for (uint32_t k = def->info.min_inputs; k < INPUTS && most <= INPUTS && k < most; ++k) {
      for (uint32_t behind = 0; behind < 2; ++behind) {
        for (uint32_t j = 0; j < most; ++j) {
          inputs[j] = j != k ? &infos[j] : NULL;
        }
        const leat_op_desc desc = {.struct_size = sizeof(desc),
                                   .name = def->info.name,
                                   .domain = def->info.domain,
                                   .since_version = def->info.since_version_min,
                                   .input_count = behind != 0 ? k : most,
                                   .output_count = def->info.min_outputs,
                                   .inputs = inputs};
        const uint32_t absent = required & (behind != 0 ? ~(BIT(k) - 1) : BIT(k));
        uint32_t first = 0;
        while (absent != 0 && (absent >> first & 1u) == 0) {
          ++first;
        }
        char text[128];
        (void)snprintf(text, sizeof(text), "%s: input %u is absent and not optional", def->info.name, first);
        leat_error why = fresh_error();
        const int32_t code = f->api->op->supports(f->device, &desc, &why);
        const bool said = code == LEAT_ERROR_INVALID_ARGUMENT && strcmp(why.message, text) == 0;
        if (said != (absent != 0) || (absent == 0 && strstr(why.message, "absent and not optional") != NULL)) {
          fail_msg("%s without input %u%s: %d, \"%s\"", def->info.name, k, behind != 0 ? " and those behind" : "", code,
                   why.message);
        }
      }
    }
  }
}
#undef BIT

/* Handles that are none are found out before anything is touched. */
static void test_wrong_handles(void **state) {
  (void)state;
  leat_error err = fresh_error();
  /* Not aligned like a device. */
  _Alignas(128) static const uint64_t room[66] = {0, 0x1234};
  const uint64_t *const junk = &room[1];
  leat_op *op = NULL;
  const leat_op_desc desc = {.struct_size = sizeof(desc), .name = "Add", .since_version = 14};
  assert_int_equal(leati_op_table.create(NULL, &desc, &op, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_op_table.supports((leat_device *)(void *)(uintptr_t)junk, &desc, &err),
                   LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_op_table.infer(NULL, 0, NULL, 0, NULL, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_op_table.invoke((const leat_op *)(const void *)junk, NULL, 0, NULL, 0, NULL, &err),
                   LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_op_table.destroy((leat_op *)(void *)(uintptr_t)junk, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(leati_op_table.destroy(NULL, &err), LEAT_OK);
}

/* A descriptor that is refused says what is wrong with it and what would be right. No device is touched for that. */
static void test_words(void **state) {
  (void)state;
  static leat_device device = {.kind = LEATI_KIND_DEVICE};
  static const struct {
    leat_op_desc desc;
    const char *text;
  } cases[] = {
      {{.name = "MatMul", .since_version = 17, .output_count = 1},
       "operator MatMul of version 17 is not supported; its versions here: 1 to 13. "},
      {{.name = "MatMul", .since_version = 17, .output_count = 1},
       "13 in a model of operator set 17, unless 14 to 17 changed it"},
      {{.name = "MatMul", .since_version = 14, .output_count = 1},
       "13 in a model of operator set 14, unless 14 changed it"},
      {{.name = "Gelu", .since_version = 1, .output_count = 1},
       "is the \"since version\" of its definition, not the model's"},
      {{.name = "Gelu", .since_version = 21, .output_count = 1}, "its versions here: 20. "},
      {{.name = "MatMul", .since_version = 13, .input_count = 3, .output_count = 1},
       "leat_op_desc::inputs is NULL and input_count is 3"},
      {{.name = "MatMul", .since_version = 13, .attribute_count = 2},
       "leat_op_desc::attributes is NULL and attribute_count is 2"},
      {{.since_version = 13}, "leat_op_desc::name is NULL"},
      {{.name = "MatMul", .since_version = 13, .output_count = 1}, "MatMul: 0 inputs; it takes 2"},
      {{.name = "Clip", .since_version = 13, .output_count = 1}, "Clip: 0 inputs; it takes 1 to 3"},
      {{.name = "Concat", .since_version = 13, .output_count = 1}, "Concat: 0 inputs; it takes 1 and more"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    leat_error err = fresh_error();
    leat_op_desc desc = cases[i].desc;
    desc.struct_size = sizeof(desc);
    assert_int_not_equal(leati_op_table.supports(&device, &desc, &err), LEAT_OK);
    if (strstr(err.message, cases[i].text) == NULL) {
      fail_msg("\"%s\" is not in \"%s\"", cases[i].text, err.message);
    }
  }
}

/* Lays a window of `kernel` by `stride` over a line of `in` pixels without padding. */
static int32_t lay_line(int64_t in, int64_t kernel, int64_t stride, int64_t *out_size, leat_error *err) {
  const leati_window window = {.stride = {stride, 1, 1}, .dilation = {1, 1, 1}};
  leati_window_fit fit;
  const int32_t status = leati_window_lay(&window, 1, &in, &kernel, &fit, err);
  *out_size = fit.out[LEATI_WINDOW_RANK - 1];
  return status;
}

/* What does not fit is refused, except for the last stride, which ONNX Runtime lets pass; no sum overflows. */
static void test_window_larger_than_image(void **state) {
  (void)state;
  leat_error err = fresh_error();
  int64_t size;
  assert_int_equal(lay_line(4, 4, 1, &size, &err), LEAT_OK);
  assert_int_equal(size, 1);
  assert_int_equal(lay_line(4, 5, 1, &size, &err), LEAT_OK);
  assert_int_equal(size, 0);
  assert_int_equal(lay_line(4, 5, 2, &size, &err), LEAT_OK);
  assert_int_equal(size, 1);
  assert_int_equal(lay_line(4, 6, 1, &size, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "a window over 6 pixels does not fit an image of 4"));
  assert_int_equal(lay_line(0, 6, 1, &size, &err), LEAT_OK);
  assert_int_equal(size, 0);
  assert_int_equal(lay_line(INT64_MAX, 6, 1, &size, &err), LEAT_ERROR_NOT_SUPPORTED);
}

/* That an operator is supported, or with a `text` that it is refused by a message that has it. */
static void assert_supports(const fixture *f, const leat_op_desc *desc, const char *text) {
  leat_error why = fresh_error();
  if (text == NULL) {
    assert_ok(f->api->op->supports(f->device, desc, &err));
    return;
  }
  assert_int_not_equal(f->api->op->supports(f->device, desc, &why), LEAT_OK);
  if (strstr(why.message, text) == NULL) {
    fail_msg("\"%s\" is not in \"%s\"", text, why.message);
  }
}

/* Attention has operands of one type, and perhaps a bool mask: that is told while shapes are not known, and of a call
 * whose operands are not those that were described. */
static void test_types_of_attention(void **state) {
  static const struct {
    const char *name, *text; /* NULL: supported */
    uint64_t values, mask;   /* beside queries and keys of float16 */
  } cases[] = {
      {"Attention", NULL, LEAT_TYPE_FLOAT16, LEAT_TYPE_FLOAT16},
      {"Attention", NULL, LEAT_TYPE_FLOAT16, LEAT_TYPE_BOOL},
      {"Attention", "queries of float16, values of float32 and a mask of float16", LEAT_TYPE_FLOAT32,
       LEAT_TYPE_FLOAT16},
      {"Attention", "queries of float16, values of float16 and a mask of bfloat16", LEAT_TYPE_FLOAT16,
       LEAT_TYPE_BFLOAT16},
      {"FusedAttention", NULL, LEAT_TYPE_FLOAT16, LEAT_TYPE_BOOL},
      {"FusedAttention", "queries of float16, values of float16 and a mask of float32", LEAT_TYPE_FLOAT16,
       LEAT_TYPE_FLOAT32},
  };
  const fixture *const f = fixture_of(state);
  int64_t dims[] = {1, 1, 1, 1};
  leat_op *op = NULL;
  leat_error why = fresh_error();
  leat_shape shape = {.struct_size = sizeof(shape)}, *const shapes[] = {&shape};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const uint64_t types[] = {LEAT_TYPE_FLOAT16, LEAT_TYPE_FLOAT16, cases[i].values, cases[i].mask};
    leat_value_info infos[4];
    const leat_value_info *inputs[4];
    DLTensor tensors[4];
    const DLTensor *given[4];
    for (uint32_t k = 0; k < 4; ++k) {
      infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]), .ndim = -1, .dtype = leati_dtype_of(types[k])};
      tensors[k] = (DLTensor){
          .device = {kDLVulkan, (int)f->device->index}, .ndim = 4, .dtype = leati_dtype_of(types[k]), .shape = dims};
      inputs[k] = &infos[k];
      given[k] = &tensors[k];
    }
    const bool fused = strcmp(cases[i].name, "FusedAttention") == 0;
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .name = cases[i].name,
                               .domain = fused ? "leat" : "",
                               .since_version = fused ? 1 : 23,
                               .input_count = 4,
                               .output_count = 1,
                               .inputs = inputs};
    if (cases[i].text == NULL) {
      assert_ok(f->api->op->destroy(op, &err));
      assert_ok(f->api->op->create(f->device, &desc, &op, &err));
      assert_ok(f->api->op->infer(op, 4, given, 1, shapes, &err));
      continue;
    }
    assert_int_equal(f->api->op->supports(f->device, &desc, &why), LEAT_ERROR_NOT_SUPPORTED);
    assert_non_null(strstr(why.message, cases[i].text));
    assert_int_equal(f->api->op->infer(op, 4, given, 1, shapes, &why), LEAT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(why.message, "the operator was created for"));
  }
  assert_ok(f->api->op->destroy(op, &err));
}

/* A result in another shape than its product's has as many elements, and a residual has that shape; also where
 * operands without elements make a product of more than can be counted. */
static void test_shapes_of_products(void **state) {
  static const struct {
    const char *text; /* NULL: supported */
    int64_t rows, inner, columns, shape[3], residual[3];
  } cases[] = {
      {NULL, 6, 5, 4, {2, 3, 4}, {2, 3, 4}},
      {NULL, 6, 5, 4, {1, 24, 1}, {1, 24, 1}},
      {NULL, 0, 5, 4, {7, 0, 3}, {7, 0, 3}},
      {NULL, 6, 5, 4, {-1, -1, -1}, {2, 3, 4}},
      {NULL, 6, 5, 4, {2, -1, 4}, {2, 3, 4}},
      {"does not have as many elements", 6, 5, 4, {-1, -1, -1}, {2, 3, 5}},
      {"does not have as many elements", 6, 5, 4, {2, 3, 5}, {2, 3, 5}},
      {"does not have as many elements", 6, 5, 4, {-2, -3, 4}, {2, 3, 4}},
      {"does not have as many elements", 274177, 0, INT64_C(67280421310721), {1, 1, 1}, {1, 1, 1}},
      {"does not have as many elements", 1, 1, 1, {274177, INT64_C(67280421310721), 1}, {1, 1, 1}},
      {"the residual must have the shape", 6, 5, 4, {2, 3, 4}, {2, 1, 4}},
  };
  const fixture *const f = fixture_of(state);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const int64_t a[] = {cases[i].rows, cases[i].inner}, b[] = {cases[i].inner, cases[i].columns};
    const int64_t *const shapes[] = {a, b, NULL, cases[i].residual};
    leat_value_info infos[4];
    const leat_value_info *inputs[4] = {NULL};
    for (uint32_t k = 0; k < 4; ++k) {
      infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                   .ndim = k < 2 ? 2 : 3,
                                   .dtype = leati_dtype_of(LEAT_TYPE_FLOAT32),
                                   .shape = shapes[k]};
      inputs[k] = shapes[k] != NULL ? &infos[k] : NULL;
    }
    const leat_attribute shape = {
        .struct_size = sizeof(shape), .type = LEAT_ATTRIBUTE_INTS, .name = "shape", .ints = cases[i].shape, .count = 3};
    const leat_attribute *const attributes[] = {&shape};
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .name = "FusedMatMul",
                               .domain = "leat",
                               .since_version = 1,
                               .attribute_count = 1,
                               .attributes = attributes,
                               .input_count = 4,
                               .output_count = 1,
                               .inputs = inputs};
    assert_supports(f, &desc, cases[i].text);
  }
}

/* Weights of few bits whose attributes and shapes do not go together are refused with what would be right. */
static void test_words_of_nbits(void **state) {
  enum { INPUTS = 6, ATTRIBUTES = 5 };
  static const struct {
    const char *text;
    int64_t attributes[ATTRIBUTES]; /* K, N, block_size, bits, weight_prepacked */
    int64_t shapes[INPUTS][3];      /* with a 0 behind the last dimension; none: absent */
    uint64_t zeros;                 /* type of zero points */
  } cases[] = {
      {NULL, {40, 3, 16, 4, 0}, {{2, 40}, {3, 3, 8}, {3, 3}, {3, 2}, {40}, {3}}, LEAT_TYPE_UINT8},
      {NULL, {40, 3, 16, 8, 0}, {{2, 40}, {3, 3, 16}, {9}, {9}, {48}}, LEAT_TYPE_UINT8},
      {NULL, {40, 3, 16, 8, 0}, {{2, 40}, {3, 3, 16}, {9}, {9}}, LEAT_TYPE_FLOAT16},
      {"attribute K is 0 or missing", {0, 3, 16, 4, 0}, {{2, 40}, {3, 3, 8}, {3, 3}}, 0},
      {"attribute N is -1 or missing", {40, -1, 16, 4, 0}, {{2, 40}, {3, 3, 8}, {3, 3}}, 0},
      {"block_size is 8; it must be a power of two from 16 on", {40, 3, 8, 4, 0}, {{2, 40}, {3, 5, 4}, {3, 5}}, 0},
      {"block_size is 48; it must be a power of two", {40, 3, 48, 4, 0}, {{2, 40}, {3, 1, 24}, {3, 1}}, 0},
      {"weights of 3 bits is not supported; 2, 4 and 8 are", {40, 3, 16, 3, 0}, {{2, 40}, {3, 3, 6}, {3, 3}}, 0},
      {"blocks of 16 weights of 2 bits is not supported; of 32 are",
       {40, 3, 16, 2, 0},
       {{2, 40}, {3, 3, 4}, {3, 3}},
       0},
      {"weight_prepacked 1 is not supported", {40, 3, 16, 4, 1}, {{2, 40}, {3, 3, 8}, {3, 3}}, 0},
      {"g_idx must have shape [40] or [48]", {40, 3, 16, 4, 0}, {{2, 40}, {3, 3, 8}, {3, 3}, {0}, {41}}, 0},
      {"zero points of float32 beside a first input of float16",
       {40, 3, 16, 4, 0},
       {{2, 40}, {3, 3, 8}, {3, 3}, {3, 3}},
       LEAT_TYPE_FLOAT32},
      {"the first input has 41 columns, K is 40", {40, 3, 16, 4, 0}, {{2, 41}, {3, 3, 8}, {3, 3}}, 0},
      {"the weights must have shape [3, 3, 8]", {40, 3, 16, 4, 0}, {{2, 40}, {3, 24}, {3, 3}}, 0},
      {"the weights must have shape [3, 3, 8]", {40, 3, 16, 4, 0}, {{2, 40}, {3, 2, 8}, {3, 3}}, 0},
      {"scales must have shape [3, 3] or [9]", {40, 3, 16, 4, 0}, {{2, 40}, {3, 3, 8}, {3}}, 0},
      {"zero points must have shape [3, 2] or [6]",
       {40, 3, 16, 4, 0},
       {{2, 40}, {3, 3, 8}, {3, 3}, {3, 3}},
       LEAT_TYPE_UINT8},
      {"the bias must have shape [3]", {40, 3, 16, 4, 0}, {{2, 40}, {3, 3, 8}, {3, 3}, {0}, {0}, {4}}, 0},
  };
  static const char *const names[ATTRIBUTES] = {"K", "N", "block_size", "bits", "weight_prepacked"};
  const fixture *const f = fixture_of(state);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const uint64_t half = LEAT_TYPE_FLOAT16;
    const uint64_t types[INPUTS] = {half, LEAT_TYPE_UINT8, half, cases[i].zeros, LEAT_TYPE_INT32, half};
    leat_value_info infos[INPUTS];
    leat_attribute values[ATTRIBUTES];
    const leat_value_info *inputs[INPUTS] = {NULL};
    const leat_attribute *attributes[ATTRIBUTES];
    for (uint32_t k = 0; k < INPUTS; ++k) {
      const int64_t *const shape = cases[i].shapes[k];
      infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                   .ndim = shape[1] == 0   ? 1
                                           : shape[2] == 0 ? 2
                                                           : 3,
                                   .dtype = leati_dtype_of(types[k]),
                                   .shape = shape};
      inputs[k] = shape[0] != 0 ? &infos[k] : NULL;
    }
    for (uint32_t k = 0; k < ATTRIBUTES; ++k) {
      values[k] = (leat_attribute){
          .struct_size = sizeof(values[k]), .type = LEAT_ATTRIBUTE_INT, .name = names[k], .i = cases[i].attributes[k]};
      attributes[k] = &values[k];
    }
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .name = "MatMulNBits",
                               .domain = "com.microsoft",
                               .since_version = 1,
                               .attribute_count = ATTRIBUTES,
                               .attributes = attributes,
                               .input_count = INPUTS,
                               .output_count = 1,
                               .inputs = inputs};
    assert_supports(f, &desc, cases[i].text);
  }
}

/* Of the operators that the next test asks for. */
static const char *domain_of(const char *name) {
  static const char *const microsoft[] = {"MatMulIntegerToFloat",     "QGemm",         "QLinearAdd", "QLinearConcat",
                                          "QLinearGlobalAveragePool", "QLinearSoftmax"};
  for (size_t i = 0; i < sizeof(microsoft) / sizeof(microsoft[0]); ++i) {
    if (strcmp(name, microsoft[i]) == 0) {
      return "com.microsoft";
    }
  }
  return strcmp(name, "QuantizedConv") == 0 ? "leat" : "";
}

/* A quantised operator whose attributes, types and shapes do not go together is refused with what would be right. */
static void test_words_of_quantised(void **state) {
  enum { INPUTS = 9, ATTRIBUTES = 3 };
#define F32 LEAT_TYPE_FLOAT32
#define U8 LEAT_TYPE_UINT8
#define S8 LEAT_TYPE_INT8
#define PRODUCT_TO_FLOAT       \
  "MatMulIntegerToFloat", 1, { \
    0                          \
  }
#define QUANTIZED_CONV  \
  "QuantizedConv", 1, { \
    0                   \
  }
#define QLINEAR_ADD  \
  "QLinearAdd", 1, { \
    0                \
  }
  static const struct {
    const char *text;
    const char *name;
    uint32_t version;
    int64_t attributes[ATTRIBUTES]; /* output_dtype, precision, block_size */
    uint64_t types[INPUTS];         /* none: there are no more inputs */
    int64_t shapes[INPUTS][5];      /* with a 0 behind the last dimension */
  } cases[] = {
      {NULL, "QuantizeLinear", 28, {5, 10, 2}, {F32, F32}, {{3, 5}, {3, 3}}},
      {NULL, "QuantizeLinear", 21, {3, 0, 0}, {F32, F32, S8}, {{3, 5}, {5}, {5}}},
      {NULL, "DequantizeLinear", 28, {10, 0, 0}, {U8, F32, U8}, {{3, 5}, {0}, {1}}},
      {NULL, "MatMulInteger", 10, {0}, {U8, S8, U8, S8}, {{3, 5}, {5, 4}, {3}, {1, 4}}},
      {NULL, "QLinearMatMul", 21, {0}, {U8, F32, U8, S8, F32, S8, F32, U8}, {{3, 5}, {3}, {0}, {5, 4}, {4}, {4}}},
      {"block_size is -1; it must not be negative", "QuantizeLinear", 21, {0, 0, -1}, {F32, F32}, {{3, 5}, {0}}},
      {"output_dtype 21 is not supported: Leat holds no such tensors",
       "QuantizeLinear",
       21,
       {21},
       {F32, F32},
       {{3, 5}}},
      {"output_dtype is float32; it must be an integer of 8 or 16", "QuantizeLinear", 21, {1}, {F32, F32}, {{3, 5}}},
      {"precision int8 is not supported: it must be a float", "QuantizeLinear", 28, {0, 3, 0}, {F32, F32}, {{3, 5}}},
      {"output_dtype is uint8 and the zero point of type int8",
       "QuantizeLinear",
       21,
       {2},
       {F32, F32, S8},
       {{3, 5}, {0}, {0}}},
      {"output_dtype is int8; it must be a float", "DequantizeLinear", 23, {3}, {U8, F32}, {{3, 5}}},
      {"QuantizeLinear: the scale must have one element, or one for each of axis 1",
       "QuantizeLinear",
       13,
       {0},
       {F32, F32},
       {{3, 5}, {3}}},
      {"DequantizeLinear: the scale must have one element",
       "DequantizeLinear",
       21,
       {0, 0, 2},
       {U8, F32},
       {{3, 5}, {3, 2}}},
      {"the zero point must have the scale's shape", "QuantizeLinear", 13, {0}, {F32, F32, U8}, {{3, 5}, {5}, {1, 5}}},
      {"MatMulInteger: the first operand has 5 columns, the second 6 rows",
       "MatMulInteger",
       10,
       {0},
       {U8, S8},
       {{3, 5}, {6, 4}}},
      {"the zero point of the first operand must have one element, or one for each of its rows",
       "MatMulInteger",
       10,
       {0},
       {U8, S8, U8},
       {{3, 5}, {5, 4}, {5}}},
      {"the zero point of the second operand must have one element, or one for each of its columns",
       "MatMulInteger",
       10,
       {0},
       {U8, S8, U8, S8},
       {{3, 5}, {5, 4}, {0}, {5, 1}}},
      {"the scale of the second operand must",
       "QLinearMatMul",
       21,
       {0},
       {U8, F32, U8, S8, F32, S8, F32, U8},
       {{3, 5}, {0}, {0}, {5, 4}, {3}, {0}}},
      {"a zero point must have the shape of its scale",
       "QLinearMatMul",
       21,
       {0},
       {U8, F32, U8, S8, F32, S8, F32, U8},
       {{3, 5}, {0}, {3}, {5, 4}, {0}, {0}}},
      {"several scales or zero points of the result is not supported",
       "QLinearMatMul",
       21,
       {0},
       {U8, F32, U8, S8, F32, S8, F32, U8},
       {{3, 5}, {0}, {0}, {5, 4}, {0}, {0}, {4}, {4}}},
      {NULL, PRODUCT_TO_FLOAT, {U8, S8, F32, F32, U8, S8, F32}, {{3, 5}, {5, 4}, {3}, {4}, {3}, {1}, {4}}},
      {"the scale of the first operand must have one element, or one for each of its rows",
       PRODUCT_TO_FLOAT,
       {U8, S8, F32, F32},
       {{3, 5}, {5, 4}, {5}, {4}}},
      {"the scale of the second operand must have one element, or one for each of its columns",
       PRODUCT_TO_FLOAT,
       {U8, S8, F32, F32},
       {{3, 5}, {5, 4}, {1}, {4, 1}}},
      {"MatMulIntegerToFloat: a zero point must have the shape of its scale",
       PRODUCT_TO_FLOAT,
       {U8, S8, F32, F32, U8, S8},
       {{3, 5}, {5, 4}, {1}, {1}, {1}, {4}}},
      {"MatMulIntegerToFloat: the bias must have one element for each of 4 columns",
       PRODUCT_TO_FLOAT,
       {U8, S8, F32, F32, U8, S8, F32},
       {{3, 5}, {5, 4}, {1}, {1}, {1}, {1}, {1, 4}}},
      {NULL, QLINEAR_ADD, {S8, F32, S8, S8, F32, S8, F32, S8}, {{3, 5}, {1}, {0}, {5}, {0}, {1}, {0}, {1}}},
      {NULL, QLINEAR_ADD, {U8, F32, U8, U8, F32, U8, F32}, {{3, 1}, {0}, {0}, {1, 5}, {0}, {0}, {1}}},
      {"QLinearAdd: input 4 must be a scale of one element, and input 5 a zero point of one, or absent",
       QLINEAR_ADD,
       {U8, F32, U8, U8, F32, U8, F32},
       {{3, 5}, {0}, {0}, {3, 5}, {5}, {0}, {0}}},
      {"QLinearAdd: input 1 must be a scale",
       QLINEAR_ADD,
       {U8, F32, U8, U8, F32, U8, F32},
       {{3, 5}, {1, 1}, {0}, {3, 5}, {0}, {0}, {0}}},
      {"and input 7 a zero point of one",
       QLINEAR_ADD,
       {U8, F32, U8, U8, F32, U8, F32, U8},
       {{3, 5}, {0}, {0}, {3, 5}, {0}, {0}, {0}, {3}}},
      {"QLinearAdd: input 3 has type int8; T is uint8", QLINEAR_ADD, {U8, F32, U8, S8, F32, S8, F32}, {{3, 5}}},
      {NULL,
       "QGemm",
       1,
       {0},
       {U8, F32, U8, S8, F32, S8, LEAT_TYPE_INT32, F32, U8},
       {{3, 5}, {0}, {0}, {5, 4}, {4}, {1}, {4}, {0}, {1}}},
      {"QGemm with a C that is not one number for each column",
       "QGemm",
       1,
       {0},
       {U8, F32, U8, S8, F32, S8, LEAT_TYPE_INT32, F32, U8},
       {{3, 5}, {0}, {0}, {5, 4}, {0}, {0}, {1, 4}}},
      /* The rows of the first operand are not known. */
      {"QGemm with a C that is not one number for each column",
       "QGemm",
       1,
       {0},
       {U8, F32, U8, S8, F32, S8, LEAT_TYPE_INT32, F32, U8},
       {{-1, 5}, {0}, {0}, {5, 4}, {0}, {0}, {3}}},
      {"QGemm to float32 is not supported", "QGemm", 1, {0}, {U8, F32, U8, S8, F32, S8}, {{3, 5}, {0}, {0}, {5, 4}}},
      {"QLinearConcat: attribute 'axis' is missing", "QLinearConcat", 1, {0}, {F32, U8, U8, F32, U8}, {{0}, {0}, {3}}},
      {"QLinearGlobalAveragePool: input 1 must be a scale of one element",
       "QLinearGlobalAveragePool",
       1,
       {0},
       {U8, F32, U8, F32, U8},
       {{1, 3, 4, 5}, {3}}},
      {"QLinearSoftmax with opset 0 is not supported", "QLinearSoftmax", 1, {0}, {U8, F32, U8, F32, U8}, {{3, 5}}},
      {NULL, "ConvInteger", 10, {0}, {U8, S8, U8, S8}, {{1, 2, 5, 5}, {4, 2, 3, 3}, {1}, {4}}},
      {"fit weights for 3 in 1 groups", "ConvInteger", 10, {0}, {U8, S8}, {{1, 2, 5, 5}, {4, 3, 3, 3}}},
      {"ConvInteger: scales and zero points of input and result must have one element",
       "ConvInteger",
       10,
       {0},
       {U8, S8, U8},
       {{1, 2, 5, 5}, {4, 2, 3, 3}, {2}}},
      {"of the weights must have one element, or both one for each of the 4 output channels",
       "QLinearConv",
       10,
       {0},
       {U8, F32, U8, S8, F32, S8, F32, U8},
       {{1, 2, 5, 5}, {0}, {0}, {4, 2, 3, 3}, {0}, {4}, {0}, {0}}},
      {"the bias of a convolution to 4 channels must have that shape",
       "QLinearConv",
       10,
       {0},
       {U8, F32, U8, S8, F32, S8, F32, U8, LEAT_TYPE_INT32},
       {{1, 2, 5, 5}, {0}, {0}, {4, 2, 3, 3}, {0}, {0}, {0}, {0}, {2}}},
      {NULL,
       QUANTIZED_CONV,
       {U8, S8, F32, F32, U8, S8, F32},
       {{1, 2, 5, 5}, {4, 2, 3, 3}, {0}, {4}, {1}, {4}, {1, 4, 1, 1}}},
      {NULL, QUANTIZED_CONV, {U8, S8, F32, F32, U8, S8, F32}, {{1, 2, 5, 5}, {4, 2, 3, 3}, {1}, {4}, {1}, {1}, {4}}},
      {"QuantizedConv: scales and zero points of input and result must have one element",
       QUANTIZED_CONV,
       {U8, S8, F32, F32},
       {{1, 2, 5, 5}, {4, 2, 3, 3}, {2}, {0}}},
      {"of the weights must have one element, or both one for each of the 4 output channels",
       QUANTIZED_CONV,
       {U8, S8, F32, F32},
       {{1, 2, 5, 5}, {4, 2, 3, 3}, {0}, {4, 1}}},
      {"of the weights must have one element, or both one for each of the 4 output channels",
       QUANTIZED_CONV,
       {U8, S8, F32, F32, U8, S8},
       {{1, 2, 5, 5}, {4, 2, 3, 3}, {0}, {0}, {0}, {4}}},
      {"the bias of a convolution to 4 channels must have that shape",
       QUANTIZED_CONV,
       {U8, S8, F32, F32, U8, S8, F32},
       {{1, 2, 5, 5}, {4, 2, 3, 3}, {0}, {0}, {0}, {0}, {1, 4, 1}}},
      {"the bias of a convolution to 4 channels must have that shape",
       "QLinearConv",
       10,
       {0},
       {U8, F32, U8, S8, F32, S8, F32, U8, LEAT_TYPE_INT32},
       {{1, 2, 5, 5}, {0}, {0}, {4, 2, 3, 3}, {0}, {0}, {0}, {0}, {1, 4, 1, 1}}},
      {"what the window sees from all of its places has 2^31 bytes",
       "ConvInteger",
       10,
       {0},
       {U8, S8},
       {{1, 64, 4000, 4000}, {4, 64, 3, 3}}},
  };
#undef F32
#undef U8
#undef S8
#undef PRODUCT_TO_FLOAT
#undef QUANTIZED_CONV
#undef QLINEAR_ADD
  static const char *const names[ATTRIBUTES] = {"output_dtype", "precision", "block_size"};
  const fixture *const f = fixture_of(state);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    leat_value_info infos[INPUTS];
    leat_attribute values[ATTRIBUTES];
    const leat_value_info *inputs[INPUTS];
    const leat_attribute *attributes[ATTRIBUTES];
    leat_op_desc desc = {.struct_size = sizeof(desc),
                         .name = cases[i].name,
                         .domain = domain_of(cases[i].name),
                         .since_version = cases[i].version,
                         .attributes = attributes,
                         .output_count = 1,
                         .inputs = inputs};
    for (; desc.input_count < INPUTS && cases[i].types[desc.input_count] != 0; ++desc.input_count) {
      const uint32_t k = desc.input_count;
      const int64_t *const shape = cases[i].shapes[k];
      infos[k] = (leat_value_info){
          .struct_size = sizeof(infos[k]), .dtype = leati_dtype_of(cases[i].types[k]), .shape = shape};
      while (shape[infos[k].ndim] != 0) {
        ++infos[k].ndim;
      }
      inputs[k] = &infos[k];
    }
    for (uint32_t k = 0; k < ATTRIBUTES; ++k) {
      if (cases[i].attributes[k] != 0) {
        values[k] = (leat_attribute){.struct_size = sizeof(values[k]),
                                     .type = LEAT_ATTRIBUTE_INT,
                                     .name = names[k],
                                     .i = cases[i].attributes[k]};
        attributes[desc.attribute_count++] = &values[k];
      }
    }
    assert_supports(f, &desc, cases[i].text);
  }
}

/* While a dimension of any input is not known nothing is inferred. What contradicts itself whatever that is, is refused
 * all the same, and what may fit is not. */
static void test_contradictions_beside_unknown(void **state) {
  enum { INPUTS = 3 };
  static const struct {
    const char *text;
    const char *name;
    uint32_t version;
    int64_t axis;              /* -1: the operator has none */
    uint64_t types[INPUTS];    /* 0: float32 */
    int64_t shapes[INPUTS][5]; /* with a 0 behind the last dimension; without any: there are no more inputs */
  } cases[] = {
      {"MatMul: the first operand has 2 columns, the second 3 rows", "MatMul", 13, -1, {0}, {{-1, 2}, {3, 2}}},
      {"MatMul: the first operand has 2 columns, the second 3 rows", "MatMul", 13, -1, {0}, {{-1, 5, 2}, {3}}},
      {"MatMul: the first operand has 4 columns, the second 3 rows", "MatMul", 13, -1, {0}, {{4}, {-1, 3, 2}}},
      {NULL, "MatMul", 13, -1, {0}, {{-1, 3}, {3, 2}}},
      {NULL, "MatMul", 13, -1, {0}, {{4, -1}, {3, 2}}},
      {NULL, "MatMul", 13, -1, {0}, {{3}, {-1, 3, 2}}},
      {"Gemm: the first operand has 2 columns, the second 3 rows", "Gemm", 13, -1, {0}, {{-1, 2}, {3, 2}}},
      {"the first operand has 2 columns, the second 3 rows",
       "MatMulInteger",
       10,
       -1,
       {LEAT_TYPE_UINT8, LEAT_TYPE_INT8},
       {{-1, 2}, {3, 2}}},
      {"dimension 1 from the end is 3 and 2", "Add", 14, -1, {0}, {{-1, 3}, {4, 2}}},
      {"dimension 2 from the end is 3 and 2", "Sub", 14, -1, {0}, {{3, 1}, {5, -1, 2, 1}}},
      {"dimension 1 from the end is 3 and 2", "Less", 13, -1, {0}, {{3}, {-1, 2}}},
      {"dimension 1 from the end is 3 and 2", "Pow", 15, -1, {0}, {{-1, 3}, {2}}},
      {"dimension 1 from the end is 3 and 2", "And", 7, -1, {LEAT_TYPE_BOOL, LEAT_TYPE_BOOL}, {{-1, 3}, {2}}},
      {"dimension 1 from the end is 3 and 2", "Max", 13, -1, {0}, {{-1, 3}, {1}, {2}}},
      {"dimension 1 from the end is 3 and 2", "Where", 16, -1, {LEAT_TYPE_BOOL}, {{-1, 3}, {-1}, {2}}},
      {"Mod: floating-point operands need 'fmod' = 1", "Mod", 13, -1, {0}, {{-1, 3}, {3}}},
      {"dimension 1 from the end is 3 and 2", "Mod", 13, -1, {LEAT_TYPE_INT32, LEAT_TYPE_INT32}, {{-1, 3}, {2}}},
      {NULL, "Add", 14, -1, {0}, {{-1, 3}, {4, 1}}},
      {NULL, "Add", 14, -1, {0}, {{-1, -1}, {4, 2}}},
      {NULL, "Where", 16, -1, {LEAT_TYPE_BOOL}, {{-1, 3}, {5, 4, 1}, {3}}},
      {NULL, "PRelu", 16, -1, {0}, {{5}, {-1, 5}}},
      {"an input of 4 channels does not fit weights for 3", "Conv", 22, -1, {0}, {{-1, 4, -1, -1}, {8, 3, 3, 3}}},
      {"an input of 4 channels does not fit weights for 3", "ConvTranspose", 22, -1, {0}, {{-1, 4, 9}, {3, 8, 2}}},
      {NULL, "Conv", 22, -1, {0}, {{-1, 3, -1, -1}, {8, 3, 3, 3}}},
      {NULL, "Conv", 22, -1, {0}, {{1, -1, 9, 9}, {8, 3, 3, 3}}},
      {"Concat: tensor 1 has size 3 in dimension 1, the first has 2", "Concat", 13, 0, {0}, {{-1, 2}, {4, 3}}},
      {"Concat: tensor 1 has 3 dimensions, the first has 2", "Concat", 13, 0, {0}, {{-1, 2}, {4, 2, 1}}},
      {NULL, "Concat", 13, 1, {0}, {{-1, 2}, {4, 3}}},
      {NULL, "Concat", 13, 0, {0}, {{-1, 2}, {4, -1}}},
  };
  const fixture *const f = fixture_of(state);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    leat_value_info infos[INPUTS];
    const leat_value_info *inputs[INPUTS];
    const leat_attribute axis = {
        .struct_size = sizeof(axis), .type = LEAT_ATTRIBUTE_INT, .name = "axis", .i = cases[i].axis};
    const leat_attribute *const attributes[] = {&axis};
    leat_op_desc desc = {.struct_size = sizeof(desc),
                         .name = cases[i].name,
                         .since_version = cases[i].version,
                         .attributes = attributes,
                         .attribute_count = cases[i].axis >= 0,
                         .output_count = 1,
                         .inputs = inputs};
    for (; desc.input_count < INPUTS && cases[i].shapes[desc.input_count][0] != 0; ++desc.input_count) {
      const uint32_t k = desc.input_count;
      const uint64_t type = cases[i].types[k];
      infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                   .dtype = leati_dtype_of(type != 0 ? type : LEAT_TYPE_FLOAT32),
                                   .shape = cases[i].shapes[k]};
      while (infos[k].shape[infos[k].ndim] != 0) {
        ++infos[k].ndim;
      }
      inputs[k] = &infos[k];
    }
    assert_supports(f, &desc, cases[i].text);
  }
}

/* Caches whose inputs do not go together are refused as soon as shapes are known, with what is wrong. */
static void test_refused_caches(void **state) {
  enum { INPUTS = 13 };
#define Q4       \
  {              \
    4, {         \
      2, 4, 3, 8 \
    }            \
  }
#define KV4      \
  {              \
    4, {         \
      2, 2, 3, 8 \
    }            \
  }
#define PAST4(positions) \
  {                      \
    4, {                 \
      2, 2, positions, 8 \
    }                    \
  }
#define Q3     \
  {            \
    3, {       \
      2, 3, 32 \
    }          \
  }
#define KV3    \
  {            \
    3, {       \
      2, 3, 16 \
    }          \
  }
#define ONE(size) \
  {               \
    1, {          \
      size        \
    }             \
  }
#define ANGLES(positions, pairs) \
  {                              \
    2, {                         \
      positions, pairs           \
    }                            \
  }
#define NONE \
  { 0 }
#define ATTENTION(text, ...) \
  { text, {__VA_ARGS__}, 0, 0 }
#define GROUP(text, ...) \
  { text, {__VA_ARGS__}, 9, -1 }
  static const struct {
    const char *text; /* NULL: supported */
    struct {
      int32_t ndim; /* 0: absent */
      int64_t dims[4];
    } inputs[INPUTS];
    int32_t total;  /* of GroupQueryAttention, else 0 */
    int64_t window; /* likewise */
  } cases[] = {
      ATTENTION("past keys without past values", Q4, KV4, KV4, NONE, PAST4(5)),
      ATTENTION("past keys of 2 batches, 4 heads and 8 elements of a head do not go with new ones of 2, 2 and 8", Q4,
                KV4, KV4, NONE, {4, {2, 4, 5, 8}}, {4, {2, 4, 5, 8}}),
      ATTENTION("past keys have 5 positions and past values 6", Q4, KV4, KV4, NONE, PAST4(5), PAST4(6)),
      ATTENTION("past values have 3 dimensions", Q4, KV4, KV4, NONE, PAST4(5), {3, {2, 2, 40}}),
      ATTENTION("the mask does not broadcast to 2 batches, 4 heads, 3 queries and 8 keys", Q4, KV4, KV4, {2, {3, 9}},
                PAST4(5), PAST4(5)),
      ATTENTION("nonpad_kv_seqlen goes with a whole cache", Q4, KV4, KV4, NONE, PAST4(5), PAST4(5), ONE(2)),
      ATTENTION("nonpad_kv_seqlen has 3 elements in 1 dimensions", Q4, KV4, KV4, NONE, NONE, NONE, ONE(3)),
      GROUP(NULL, Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1)),
      GROUP("both given, or both packed", Q3, KV3, NONE, PAST4(9), PAST4(9), ONE(2), ONE(1)),
      GROUP("33 elements of a packed query cannot be shared out to 8 heads", {3, {2, 3, 33}}, NONE, NONE, PAST4(9),
            PAST4(9), ONE(2), ONE(1)),
      GROUP("positions 3, 3, 4", Q3, KV3, {3, {2, 4, 16}}, PAST4(9), PAST4(9), ONE(2), ONE(1)),
      GROUP("past values without past keys", Q3, KV3, KV3, NONE, PAST4(9), ONE(2), ONE(1)),
      GROUP("numbers of keys: 3 elements in 1 dimensions", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(3), ONE(1)),
      {"total_sequence_length is 2, less than the 3 new positions",
       {Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1)},
       2,
       -1},
      GROUP("angles for 8 positions and 4 pairs", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), ANGLES(8, 4),
            ANGLES(8, 4)),
      GROUP("angles for 9 positions and 5 pairs", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), ANGLES(9, 5),
            ANGLES(9, 5)),
      GROUP("do_rotary without cos_cache and sin_cache", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1),
            ANGLES(9, 4)),
      GROUP(NULL, Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), NONE, NONE, {2, {2, 3}}, {4, {1, 4, 3, 9}}, ONE(4)),
      GROUP("position_ids must have shape [2, 3]", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), NONE, NONE,
            {2, {3, 2}}),
      GROUP("attention_bias must have shape [2 or 1, 4 or 1, 3, 9]", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1),
            NONE, NONE, NONE, {4, {1, 4, 3, 8}}),
      GROUP("attention_bias must have shape", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), NONE, NONE, NONE,
            {4, {2, 4, 1, 9}}),
      GROUP("head_sink must have shape [4]", Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), NONE, NONE, NONE, NONE,
            ONE(2)),
      /* A scale of codes that there are not asks for nothing. */
      GROUP(NULL, Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1), NONE, NONE, NONE, NONE, NONE, ONE(1)),
      {"local_window_size is 0", {Q3, KV3, KV3, PAST4(9), PAST4(9), ONE(2), ONE(1)}, 9, 0},
  };
  const fixture *const f = fixture_of(state);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    const bool group = cases[i].total != 0;
    int64_t one = 1;
    int32_t total = cases[i].total;
    const DLTensor value = {
        .data = &total, .device = {kDLCPU, 0}, .ndim = 1, .dtype = leati_dtype_of(LEAT_TYPE_INT32), .shape = &one};
    leat_value_info infos[INPUTS];
    const leat_value_info *inputs[INPUTS] = {NULL};
    uint32_t count = 0;
    for (uint32_t k = 0; k < INPUTS; ++k) {
      const bool lengths = group && (k == 5 || k == 6);
      const uint64_t type = lengths ? LEAT_TYPE_INT32 : k == (group ? 9 : 6) ? LEAT_TYPE_INT64 : LEAT_TYPE_FLOAT32;
      infos[k] = (leat_value_info){.struct_size = sizeof(infos[k]),
                                   .ndim = cases[i].inputs[k].ndim,
                                   .dtype = leati_dtype_of(type),
                                   .shape = cases[i].inputs[k].dims,
                                   .value = group && k == 6 ? &value : NULL};
      if (infos[k].ndim != 0) {
        inputs[k] = &infos[k];
        count = k + 1;
      }
    }
    const char *const names[] = {"num_heads", "kv_num_heads", "do_rotary", "local_window_size"};
    const int64_t numbers[] = {4, 2, inputs[7] != NULL, cases[i].window};
    leat_attribute ints[4];
    const leat_attribute *attributes[4];
    for (uint32_t k = 0; k < 4; ++k) {
      ints[k] = (leat_attribute){
          .struct_size = sizeof(ints[k]), .type = LEAT_ATTRIBUTE_INT, .name = names[k], .i = numbers[k]};
      attributes[k] = &ints[k];
    }
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .name = group ? "GroupQueryAttention" : "Attention",
                               .domain = group ? "com.microsoft" : "",
                               .since_version = group ? 1 : 24,
                               .attribute_count = group ? 4 : 0,
                               .attributes = attributes,
                               .input_count = count,
                               .inputs = inputs,
                               .output_count = 3};
    leat_error why = fresh_error();
    const int32_t code = f->api->op->supports(f->device, &desc, &why);
    if ((code == LEAT_OK) != (cases[i].text == NULL) ||
        (code != LEAT_OK && strstr(why.message, cases[i].text) == NULL)) {
      fail_msg("case %zu: %d, \"%s\"", i, code, why.message);
    }
  }
#undef Q4
#undef KV4
#undef PAST4
#undef Q3
#undef KV3
#undef ONE
#undef ANGLES
#undef NONE
#undef ATTENTION
#undef GROUP
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_axis),
      cmocka_unit_test(test_broadcast),
      cmocka_unit_test(test_broadcast_strides),
      cmocka_unit_test(test_collapse_joins_compact),
      cmocka_unit_test(test_collapse_keeps_what_differs),
      cmocka_unit_test(test_collapse_scalar_and_reverse),
      cmocka_unit_test(test_collapse_visits_the_same),
      cmocka_unit_test(test_read_ints),
      cmocka_unit_test(test_attributes),
      cmocka_unit_test(test_list),
      cmocka_unit_test_setup_teardown(test_required_inputs, fixture_open, fixture_close),
      cmocka_unit_test(test_wrong_handles),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_window_larger_than_image),
      cmocka_unit_test_setup_teardown(test_types_of_attention, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(test_shapes_of_products, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(test_words_of_nbits, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(test_words_of_quantised, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(test_contradictions_beside_unknown, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(test_refused_caches, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
