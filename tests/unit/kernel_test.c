/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin says of its kernels, held against their SPIR-V. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <leat/backend.h>
#include <string.h>

#include "leat_kernels.h"

/* Numbers of the SPIR-V specification. */
enum { HEADER_WORDS = 5, OP_TYPE_BOOL = 20, OP_TYPE_INT = 21, OP_TYPE_FLOAT = 22, OP_DECORATE = 71, SPEC_ID = 1 };

/* What a module declares. */
typedef struct declared {
  uint32_t constants; /* bit i: a specialisation constant with id i */
  uint64_t types;     /* LEAT_TYPE_* of the scalars */
} declared;

static uint64_t integer_type(uint32_t bits, bool is_signed) {
  switch (bits) {
    case 8:
      return is_signed ? LEAT_TYPE_INT8 : LEAT_TYPE_UINT8;
    case 16:
      return is_signed ? LEAT_TYPE_INT16 : LEAT_TYPE_UINT16;
    case 32:
      return is_signed ? LEAT_TYPE_INT32 : LEAT_TYPE_UINT32;
    default:
      return is_signed ? LEAT_TYPE_INT64 : LEAT_TYPE_UINT64;
  }
}

static declared read_module(const leati_kernel_code *code) {
  declared found = {0};
  const uint32_t *const end = code->words + code->size / 4;
  for (const uint32_t *at = code->words + HEADER_WORDS; at < end; at += at[0] >> 16) {
    switch (at[0] & 0xffffu) {
      case OP_DECORATE:
        if (at[2] == SPEC_ID) {
          assert_true(at[3] < LEATI_CONSTANTS_MAX);
          found.constants |= 1u << at[3];
        }
        break;
      case OP_TYPE_BOOL:
        found.types |= LEAT_TYPE_BOOL;
        break;
      case OP_TYPE_INT:
        found.types |= integer_type(at[2], at[3] != 0);
        break;
      case OP_TYPE_FLOAT:
        found.types |= at[2] == 32 ? LEAT_TYPE_FLOAT32 : at[2] == 16 ? LEAT_TYPE_FLOAT16 : LEAT_TYPE_FLOAT64;
        break;
      default:
        break;
    }
  }
  return found;
}

/* A constant that no operation of a variant looks at is not in its module, but each is in that of another variant. */
static void constants_are_those_of_the_module(void **state) {
  (void)state;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const leati_kernel_code *const code = &leati_kernel_codes[i];
    uint32_t named = 0, found = 0;
    while (named < LEATI_CONSTANTS_MAX && code->constants[named] != NULL) {
      ++named;
    }
    for (int j = 1; j < LEATI_KERNEL_COUNT; ++j) {
      const leati_kernel_code *const other = &leati_kernel_codes[j];
      if (strcmp(other->source, code->source) == 0) {
        found |= read_module(other).constants;
      }
    }
    if (found != (1u << named) - 1) {
      fail_msg("%s has %u constants; its source uses those of the bits 0x%x", code->name, named, found);
    }
  }
}

static void types_are_in_the_module(void **state) {
  (void)state;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const leati_kernel_code *const code = &leati_kernel_codes[i];
    /* Memory holds no booleans; they are bytes there. */
    const uint64_t stored = code->storage == LEAT_TYPE_BOOL ? LEAT_TYPE_UINT8 : code->storage;
    const uint64_t types = read_module(code).types;
    if (((stored | code->accumulator) & ~types) != 0) {
      fail_msg("%s is said to hold 0x%llx and compute in 0x%llx; its module declares 0x%llx", code->name,
               (unsigned long long)stored, (unsigned long long)code->accumulator, (unsigned long long)types);
    }
  }
}

/* Every variant is found by what it is for, and stands nowhere else. */
static void variants_are_found_by_type_and_size(void **state) {
  (void)state;
  uint32_t found[LEATI_KERNEL_COUNT] = {0};
  for (int set = 0; set < LEATI_KERNEL_SET_COUNT; ++set) {
    for (uint64_t type = 1; type <= LEAT_TYPE_BOOL; type *= 2) {
      const leati_kernel kernel = leati_kernel_find((leati_kernel_set)set, type);
      assert_true(kernel == LEATI_KERNEL_NONE || leati_kernel_codes[kernel].storage == type);
      ++found[kernel];
    }
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2) {
      static const uint64_t types[] = {LEAT_TYPE_UINT8, LEAT_TYPE_UINT16, LEAT_TYPE_UINT32, LEAT_TYPE_UINT64};
      const leati_kernel kernel = leati_kernel_find_item((leati_kernel_set)set, bytes);
      assert_true(kernel == LEATI_KERNEL_NONE ||
                  leati_kernel_codes[kernel].storage == types[bytes == 16 ? 2 : __builtin_ctz(bytes)]);
      ++found[kernel];
    }
  }
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    assert_int_equal(found[i], leati_kernel_codes[i].storage == 0 ? 0 : 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_are_those_of_the_module),
      cmocka_unit_test(types_are_in_the_module),
      cmocka_unit_test(variants_are_found_by_type_and_size),
  };
  return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
