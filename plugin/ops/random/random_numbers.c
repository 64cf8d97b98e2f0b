/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/random/random_numbers.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"

#define PER_THREAD 4u
#define PER_GROUP (256u * PER_THREAD)

LEATI_ATTRIBUTE(leati_attribute_seed_float, "seed", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_seed, "seed", INT);
LEATI_ATTRIBUTE(leati_attribute_offset, "offset", INT);
LEATI_ATTRIBUTE(leati_attribute_dtype, "dtype", INT);

leati_random leati_random_read(const leati_op_desc *desc) {
  const leat_attribute *const seed = leati_attr(desc, "seed");
  leati_random random = {.seeded = seed != NULL, .stream = (uint64_t)leati_attr_int(desc, "offset", 0)};
  if (seed != NULL && seed->type == LEAT_ATTRIBUTE_FLOAT) {
    uint32_t bits;
    memcpy(&bits, &seed->f, sizeof(bits));
    random.key = bits;
  } else if (seed != NULL) {
    random.key = (uint64_t)seed->i;
  }
  return random;
}

leati_random_args leati_random_args_of(const leat_op *op, const leati_random *random) {
  return random->seeded ? (leati_random_args){.key = random->key, .stream = random->stream}
                        : (leati_random_args){.key = leati_op_device(op)->random_key};
}

int32_t leati_random_check_offset(const leat_op *op, const leati_call *call, uint32_t i, leat_error *err) {
  const leati_view *const offset = leati_input(call, i);
  return offset == NULL || offset->count == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the offset has %" PRIu64 " elements; expected one",
                          leati_op_def_of(op)->info.name, offset->count);
}

void leati_random_groups(const leat_op *op, uint64_t count, uint32_t groups[3]) {
  leati_groups_linear(leati_op_device(op), count, PER_GROUP, groups);
}

int32_t leati_random_type(const leati_op_def *def, const leati_op_desc *desc, uint64_t types, uint64_t otherwise,
                          uint64_t *out, leat_error *err) {
  *out = otherwise;
  if (leati_attr(desc, "dtype") != NULL) {
    const int64_t number = leati_attr_int(desc, "dtype", 0);
    *out = leati_type_of_onnx(number);
    if ((*out & types) == 0) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: dtype is ONNX's type %" PRId64 ", which it does not make",
                        def->info.name, number);
    }
  }
  return LEAT_OK;
}
