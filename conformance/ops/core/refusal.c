/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/refusal.h"

#include <string.h>

#include "fixture.h"

/* A description, with memory for what it points to. */
typedef struct description {
  leat_op_desc desc;
  int64_t shapes[LEATI_OP_MAX_INPUTS][LEAT_MAX_RANK];
  leat_value_info infos[LEATI_OP_MAX_INPUTS];
  const leat_value_info *inputs[LEATI_OP_MAX_INPUTS];
  const leat_attribute *attributes[LEATI_OP_MAX_ATTRIBUTES + LEATI_REFUSAL_ATTRIBUTES];
  leat_case_tensor views[LEATI_OP_MAX_INPUTS];
  uint8_t *values[LEATI_OP_MAX_INPUTS];
} description;

static bool is_given(const leati_op_input *input) {
  return input->fill == LEATI_FILL_INTS || input->fill == LEATI_FILL_FLOATS;
}

static void add_value(description *d, uint32_t i, const leati_op_input *input) {
  leati_ref_tensor tensor = {0};
  leati_op_input_make(input, NULL, &tensor);
  d->values[i] = g_malloc((gsize)(tensor.count * leati_ref_type_size(tensor.type)));
  leati_ref_tensor_store(&tensor, d->values[i]);
  leati_case_tensor_host(&d->views[i], d->values[i], leati_ref_type_dlpack(tensor.type), tensor.rank, tensor.dims);
  d->infos[i].value = &d->views[i].tensor;
  leati_ref_tensor_clear(&tensor);
}

/* The sound description; describe_end() must follow. */
static void describe(description *d, const leati_op_spec *spec) {
  memset(d, 0, sizeof(*d));
  d->desc = (leat_op_desc){.struct_size = sizeof(d->desc),
                           .since_version = spec->since_version,
                           .name = spec->name,
                           .domain = spec->domain,
                           .input_count = leati_op_spec_inputs(spec),
                           .output_count = spec->outputs > 0 ? spec->outputs : 1,
                           .attributes = d->attributes,
                           .inputs = d->inputs};
  for (uint32_t i = 0; i < d->desc.input_count; ++i) {
    const leati_op_input *const input = &spec->inputs[i];
    if (input->fill != LEATI_FILL_ABSENT) {
      memcpy(d->shapes[i], input->dims, sizeof(input->dims));
      d->infos[i] = (leat_value_info){.struct_size = sizeof(d->infos[i]),
                                      .ndim = input->rank,
                                      .dtype = leati_ref_type_dlpack(input->type),
                                      .shape = d->shapes[i]};
      d->inputs[i] = &d->infos[i];
    }
    if (is_given(input)) {
      add_value(d, i, input);
    }
  }
  while (d->desc.attribute_count < LEATI_OP_MAX_ATTRIBUTES && spec->attributes[d->desc.attribute_count].name != NULL) {
    d->attributes[d->desc.attribute_count] = &spec->attributes[d->desc.attribute_count];
    d->desc.attribute_count++;
  }
}

static void describe_end(description *d) {
  for (uint32_t i = 0; i < LEATI_OP_MAX_INPUTS; ++i) {
    g_free(d->values[i]);
  }
}

static void set_attribute(description *d, const leat_attribute *attribute) {
  uint32_t at = 0;
  while (at < d->desc.attribute_count && strcmp(d->attributes[at]->name, attribute->name) != 0) {
    at++;
  }
  d->attributes[at] = attribute;
  d->desc.attribute_count += at == d->desc.attribute_count;
}

/* Checks that a description is refused; `what` it has and `number` say which it is. */
static void refuse(leat_case_context *ctx, const description *d, const char *what, uint32_t number, int32_t dimension) {
  leat_error err = {.struct_size = sizeof(err)};
  leat_op *op = NULL;
  const int32_t asked = ctx->op->supports(leati_fixture_device(ctx), &d->desc, &err);
  LEAT_CHECK_MESSAGE(ctx, asked == LEAT_ERROR_INVALID_ARGUMENT || asked == LEAT_ERROR_NOT_SUPPORTED,
                     "op.supports() returned %s for %s %u, dimension %d", leati_case_status_name(asked), what, number,
                     dimension);
  LEAT_CHECK_MESSAGE(ctx, err.message[0] != '\0', "no message for %s %u", what, number);
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    ctx->op->create(leati_fixture_device(ctx), &d->desc, &op, LEAT_ERR));
}

void leati_check_refusals(leat_case_context *ctx, const void *data) {
  const leati_refusals *const of = data;
  const leati_op_spec *const spec = of->sound;
  description d;
  describe(&d, spec);
  leati_case_require_op(ctx, &d.desc);
  describe_end(&d);
  for (uint32_t k = 0; k < of->other_count; ++k) {
    describe(&d, &of->others[k]);
    refuse(ctx, &d, "values", k, -1);
    describe_end(&d);
  }
  for (uint32_t k = 0; k < of->wrong_count; ++k) {
    describe(&d, spec);
    for (uint32_t a = 0; a < LEATI_REFUSAL_ATTRIBUTES && of->wrong[k][a].name != NULL; ++a) {
      set_attribute(&d, &of->wrong[k][a]);
    }
    refuse(ctx, &d, "attributes", k, 0);
    describe_end(&d);
  }
  for (uint32_t i = 0; i < leati_op_spec_inputs(spec); ++i) {
    const leati_op_input *const input = &spec->inputs[i];
    for (int32_t k = 0; k <= input->rank && input->fill != LEATI_FILL_ABSENT && !is_given(input); ++k) {
      if ((of->any_size[i] >> k & 1) == 0) {
        describe(&d, spec);
        d.shapes[i][k] += 1;
        d.infos[i].ndim += k == input->rank;
        refuse(ctx, &d, "input", i, k);
        describe_end(&d);
      }
    }
  }
}
