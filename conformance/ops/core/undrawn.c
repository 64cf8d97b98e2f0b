/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/undrawn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ops/core/draw_call.h"

/* What calls of an entry had. */
typedef struct drawn {
  uint64_t types;      /* LEAT_TYPE_* of inputs, and of what attributes ask for */
  uint64_t attributes; /* bit k: the entry's attribute k */
  uint32_t inputs;     /* bit k: input k */
} drawn;

static void note_attribute(const leat_op_info *info, const leat_attribute *attribute, drawn *d) {
  for (uint32_t k = 0; k < info->attribute_count && k < 64; ++k) {
    if (strcmp(info->attributes[k]->name, attribute->name) == 0) {
      d->attributes |= UINT64_C(1) << k;
    }
  }
  leati_ref_type type = LEATI_REF_TYPE_COUNT;
  if (attribute->type == LEAT_ATTRIBUTE_TENSOR) {
    type = leati_ref_type_from_dlpack(attribute->tensor->dtype);
  } else if (attribute->type == LEAT_ATTRIBUTE_INT &&
             (strcmp(attribute->name, "to") == 0 || strcmp(attribute->name, "dtype") == 0 ||
              strcmp(attribute->name, "output_datatype") == 0)) {
    type = leati_ref_type_from_onnx(attribute->i);
  }
  d->types |= type != LEATI_REF_TYPE_COUNT ? leati_ref_type_leat(type) : 0;
}

static drawn draw_calls(const leat_op_info *info, uint32_t calls) {
  drawn d = {0};
  for (uint32_t call = 0; call < calls; ++call) {
    leati_draw draw;
    leati_draw_make(&draw, info, call * 2654435761u ^ g_str_hash(info->name), 15, true, NULL, 0);
    for (uint32_t k = 0; k < draw.attribute_count; ++k) {
      note_attribute(info, &draw.attributes[k], &d);
    }
    for (uint32_t k = 0; k < draw.input_count; ++k) {
      if (draw.inputs[k].present) {
        d.types |= draw.inputs[k].type;
        d.inputs |= 1u << k;
      }
    }
    leati_draw_clear(&draw);
  }
  return d;
}

static void print_undrawn(const leat_op_info *info, uint32_t calls) {
  g_autofree char *entry =
      g_strdup_printf("%s%s%s %" PRIu32 " to %" PRIu32, info->domain, info->domain[0] != '\0' ? "." : "", info->name,
                      info->since_version_min, info->since_version_max);
  if (!leati_draw_knows(info, NULL)) {
    printf("%s\n", entry);
    return;
  }
  const drawn d = draw_calls(info, calls);
  for (uint32_t k = 0; k < info->type_count; ++k) {
    const uint64_t listed = info->types[k]->types;
    for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
      const uint64_t bit = leati_ref_type_leat((leati_ref_type)type);
      if (listed != bit && (listed & bit & ~d.types) != 0) {
        printf("%s %s %s\n", entry, info->types[k]->name, leati_ref_type_name((leati_ref_type)type));
      }
    }
  }
  for (uint32_t k = 0; k < info->attribute_count && k < 64; ++k) {
    if ((d.attributes >> k & 1) == 0) {
      printf("%s attribute %s\n", entry, info->attributes[k]->name);
    }
  }
  for (uint32_t k = 0; k < MIN(info->max_inputs, LEAT_DRAW_INPUTS); ++k) {
    if (info->max_inputs != LEAT_VARIADIC && (d.inputs >> k & 1) == 0) {
      printf("%s input %" PRIu32 "\n", entry, k);
    }
  }
}

bool leati_op_undrawn(const leat_op_api *op, uint32_t calls) {
  uint32_t count = 0;
  if (op->count(&count, NULL) != LEAT_OK) {
    return false;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const leat_op_info *info = NULL;
    if (op->info(k, &info, NULL) != LEAT_OK) {
      return false;
    }
    print_undrawn(info, calls);
  }
  return true;
}
