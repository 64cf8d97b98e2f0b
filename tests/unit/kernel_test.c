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

#include "core/sync.h"
#include "device/kernel.h"
#include "device/pipeline.h"

/* Numbers of the SPIR-V specification. */
enum {
  HEADER_WORDS = 5,
  OP_ENTRY_POINT = 15,
  OP_EXECUTION_MODE = 16,
  OP_CAPABILITY = 17,
  OP_TYPE_BOOL = 20,
  OP_TYPE_INT = 21,
  OP_TYPE_FLOAT = 22,
  OP_DECORATE = 71,
  SPEC_ID = 1
};

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
  const uint32_t *const end = code->end;
  for (const uint32_t *at = code->words + HEADER_WORDS; at < end; at += at[0] >> 16) {
    switch (at[0] & 0xffffu) {
      case OP_DECORATE:
        if (at[2] == SPEC_ID && at[3] != LEATI_HALVES_ID) { /* that is of all kernels */
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
    /* Memory holds no booleans, which are bytes there, and no floats of 16 bits, whose bits kernels convert. */
    const bool narrow = code->storage == LEAT_TYPE_FLOAT16 || code->storage == LEAT_TYPE_BFLOAT16;
    const uint64_t stored = code->storage == LEAT_TYPE_BOOL ? LEAT_TYPE_UINT8
                            : narrow                        ? LEAT_TYPE_UINT16
                                                            : code->storage;
    const uint64_t types = read_module(code).types;
    if (((stored | code->accumulator) & ~types) != 0) {
      fail_msg("%s is said to hold 0x%llx and compute in 0x%llx; its module declares 0x%llx", code->name,
               (unsigned long long)stored, (unsigned long long)code->accumulator, (unsigned long long)types);
    }
  }
}

/* Where the last member of a kernel's argument record begins. The record is the only member of its only uniform block.
 */
static uint32_t last_offset(const leati_kernel_code *code) {
  enum { OP_TYPE_STRUCT = 30, OP_TYPE_POINTER = 32, OP_MEMBER_DECORATE = 72, OFFSET = 35, UNIFORM = 2 };
  uint32_t block = 0, record = 0, offset = 0;
  for (const uint32_t *at = code->words + HEADER_WORDS; at < code->end; at += at[0] >> 16) {
    if ((at[0] & 0xffffu) == OP_TYPE_POINTER && at[2] == UNIFORM && block == 0) {
      block = at[3];
    }
  }
  for (const uint32_t *at = code->words + HEADER_WORDS; at < code->end; at += at[0] >> 16) {
    if ((at[0] & 0xffffu) == OP_TYPE_STRUCT && at[1] == block) {
      record = at[2];
    }
  }
  for (const uint32_t *at = code->words + HEADER_WORDS; at < code->end; at += at[0] >> 16) {
    if ((at[0] & 0xffffu) == OP_MEMBER_DECORATE && at[1] == record && at[3] == OFFSET && at[4] > offset) {
      offset = at[4];
    }
  }
  return offset;
}

static void records_fit_what_a_kernel_reads_of_them(void **state) {
  (void)state;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const uint32_t offset = last_offset(&leati_kernel_codes[i]);
    if (offset == 0 || offset >= LEATI_ARGS_MAX) {
      fail_msg("a record of %s has its last member at byte %u", leati_kernel_codes[i].name, offset);
    }
  }
  /* Four addresses, a count, two parameters, eight dimensions of seven numbers, of which the last begins there. */
  assert_true(last_offset(&leati_kernel_codes[LEATI_KERNEL_UNARY_F32]) < 4 * 8 + 4 + 2 * 4 + 8 * 7 * 4);
}

/* Every variant is found by what it is for, and stands nowhere else. */
static void variants_are_found_by_type_and_size(void **state) {
  (void)state;
  uint32_t found[LEATI_KERNEL_COUNT] = {0};
  for (int set = 0; set < LEATI_KERNEL_SET_COUNT; ++set) {
    for (uint64_t type = 1; type <= LEATI_TYPE_LAST; type *= 2) {
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

/* ---- What kernels need ---------------------------------------------------------------------------------------- */

/* A device that has it all. */
static const leati_physical able = {.info = {.name = "made up"},
                                    .kernel_features = UINT32_MAX,
                                    .shared_memory = 32768,
                                    .subgroup_size = 32,
                                    .shuffles = true,
                                    .matrix = {.m = 16, .n = 16, .k = 16},
                                    .matrix_bfloat16 = {.m = 16, .n = 16, .k = 16},
                                    .matrix_int8 = {.m = 16, .n = 16, .k = 32},
                                    .matrix2 = true,
                                    .dots = true};

/* Whether a kernel runs on a device; else the message has the words. */
static bool runs(const leati_physical *physical, const leati_kernel_code *code, const char *words) {
  leat_error err = {.struct_size = sizeof(err)};
  const int32_t status = leati_kernel_check(physical, code, "Frobnicate", &err);
  if (status == LEAT_OK) {
    return true;
  }
  assert_int_equal(status, LEAT_ERROR_NOT_SUPPORTED);
  if (strstr(err.message, "Frobnicate: kernel ") != err.message || strstr(err.message, code->name) == NULL ||
      strstr(err.message, words) == NULL || strstr(err.message, "made up") == NULL) {
    fail_msg("\"%s\" does not tell \"%s\"", err.message, words);
  }
  return false;
}

static bool is_on_matrices(const leati_kernel_code *code) {
  return strstr(code->source, "_matrix.comp") != NULL;
}

/* Whether that multiplies matrices of float16, or of bfloat16, of which float32 has two each. */
static bool is_on_halves(const leati_kernel_code *code) {
  return is_on_matrices(code) && code->storage == LEAT_TYPE_FLOAT16;
}
static bool is_on_bfloat16(const leati_kernel_code *code) {
  return is_on_matrices(code) && !is_on_halves(code) && code->storage != LEAT_TYPE_INT8;
}

static bool is_of_dots(const leati_kernel_code *code) {
  return strstr(code->name, "_dots") != NULL;
}

/* Each kernel needs no more than what devices must have to be used at all, but for those that shuffle or use matrix
 * hardware, or add up products of int8 or uint8 at once, which stand beside others. */
static void every_kernel_runs_on_every_usable_device(void **state) {
  (void)state;
  leati_physical least = able;
  least.kernel_features &= ~(1u << LEATI_FEATURE_NUMBER_shaderFloat16);
  least.shuffles = least.dots = false;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const leati_kernel_code *const code = &leati_kernel_codes[i];
    const char *const words = is_of_dots(code) && !is_on_matrices(code) ? "dot products"
                              : is_on_halves(code)                      ? "shaderFloat16"
                                                                        : "full subgroups";
    assert_int_equal(runs(&least, code, words), code->shuffles == 0 && !is_of_dots(code));
  }
}

/* Where there is a glslc for them, these kernels need the device's matrices; and others its products of int8 or uint8.
 */
static void special_hardware_is_needed_where_it_is_used(void **state) {
  (void)state;
  leati_physical plain = able, first = able, single = able, halves = able;
  single.dots = false;
  halves.matrix_bfloat16 = plain.matrix = plain.matrix_bfloat16 = plain.matrix_int8 = (leati_matrix_shape){0};
  first.matrix2 = false;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const leati_kernel_code *const code = &leati_kernel_codes[i];
    assert_true(runs(&able, code, ""));
    const char *const matrices = is_on_bfloat16(code) ? "VK_KHR_shader_bfloat16" : "VK_KHR_cooperative_matrix";
    assert_int_equal(runs(&plain, code, matrices), !is_on_matrices(code));
    assert_int_equal(runs(&halves, code, "VK_KHR_shader_bfloat16"), !is_on_bfloat16(code));
    assert_int_equal(runs(&first, code, "VK_NV_cooperative_matrix2"), strstr(code->name, "_matrix2_") == NULL);
    assert_int_equal(runs(&single, code, "VK_KHR_shader_integer_dot_product"), !is_of_dots(code));
  }
}

#define HALVES(m, n, k)                                                               \
  {                                                                                   \
    .MSize = (m), .NSize = (n), .KSize = (k), .AType = VK_COMPONENT_TYPE_FLOAT16_KHR, \
    .BType = VK_COMPONENT_TYPE_FLOAT16_KHR, .CType = VK_COMPONENT_TYPE_FLOAT32_KHR,   \
    .ResultType = VK_COMPONENT_TYPE_FLOAT32_KHR, .scope = VK_SCOPE_SUBGROUP_KHR       \
  }

static leati_matrix_shape choose(const leati_physical *device, uint32_t count,
                                 const VkCooperativeMatrixPropertiesKHR *list) {
  return leati_physical_choose_matrix(device, VK_COMPONENT_TYPE_FLOAT16_KHR, count, list);
}

static void matrices_of_a_type_are_chosen(void **state) {
  (void)state;
  VkCooperativeMatrixPropertiesKHR list[] = {HALVES(16, 16, 16), HALVES(8, 16, 16), HALVES(16, 16, 8), HALVES(8, 8, 8)};
  leati_physical device = able;
  device.max_group_invocations = 256;
  /* One of both operands, one of the first alone. */
  list[1].AType = list[1].BType = list[2].AType = VK_COMPONENT_TYPE_BFLOAT16_KHR;
  const leati_matrix_shape chosen = leati_physical_choose_matrix(&device, VK_COMPONENT_TYPE_BFLOAT16_KHR, 4, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 81616);
  assert_int_equal(choose(&device, 3, list + 1).m, 8);
  assert_int_equal(leati_physical_choose_matrix(&device, VK_COMPONENT_TYPE_BFLOAT16_KHR, 1, list).m, 0);
}

#define BYTES(m, n, k)                                                              \
  {                                                                                 \
    .MSize = (m), .NSize = (n), .KSize = (k), .AType = VK_COMPONENT_TYPE_SINT8_KHR, \
    .BType = VK_COMPONENT_TYPE_SINT8_KHR, .CType = VK_COMPONENT_TYPE_SINT32_KHR,    \
    .ResultType = VK_COMPONENT_TYPE_SINT32_KHR, .scope = VK_SCOPE_SUBGROUP_KHR      \
  }

/* Twice as many bytes along k as numbers of 16 bits. Sums that saturate, or of bytes without a sign, would be others.
 */
static void matrices_of_bytes_are_chosen(void **state) {
  (void)state;
  VkCooperativeMatrixPropertiesKHR list[] = {HALVES(16, 16, 16), BYTES(8, 8, 8),   BYTES(16, 8, 32),
                                             BYTES(16, 16, 64),  BYTES(16, 16, 4), BYTES(16, 16, 32),
                                             BYTES(16, 16, 32),  BYTES(16, 16, 32)};
  leati_physical device = able;
  device.max_group_invocations = 256;
  list[5].saturatingAccumulation = VK_TRUE;
  list[6].BType = VK_COMPONENT_TYPE_FLOAT16_KHR;
  leati_matrix_shape chosen = leati_physical_choose_matrix(&device, VK_COMPONENT_TYPE_SINT8_KHR, 8, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 161632);
  chosen = leati_physical_choose_matrix(&device, VK_COMPONENT_TYPE_SINT8_KHR, 7, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 160832);
  chosen = leati_physical_choose_matrix(&device, VK_COMPONENT_TYPE_SINT8_KHR, 2, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 80808);
  assert_int_equal(leati_physical_choose_matrix(&device, VK_COMPONENT_TYPE_SINT8_KHR, 1, list).m, 0);
}

static void matrices_are_the_largest_that_kernels_can_use(void **state) {
  (void)state;
  VkCooperativeMatrixPropertiesKHR list[] = {HALVES(8, 8, 8),    HALVES(16, 8, 16),  HALVES(8, 16, 8),
                                             HALVES(4, 16, 16),  HALVES(16, 16, 32), HALVES(16, 24, 16),
                                             HALVES(16, 16, 16), HALVES(16, 16, 16), HALVES(16, 16, 16)};
  const uint32_t count = sizeof(list) / sizeof(list[0]);
  leati_physical device = able;
  device.max_group_invocations = 256;
  /* The last but one computes in float16, the last but two for a whole workgroup: neither would do if it were small. */
  list[6].scope = 2;
  list[7].ResultType = VK_COMPONENT_TYPE_FLOAT16_KHR;
  leati_matrix_shape chosen = choose(&device, count, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 161616);
  chosen = choose(&device, count - 1, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 160816);
  chosen = choose(&device, 1, list);
  assert_int_equal(chosen.m * 10000 + chosen.n * 100 + chosen.k, 80808);
  assert_int_equal(choose(&device, 0, list).m, 0);
  /* Workgroups have up to eight subgroups, and these four invocations for each row at most. */
  device.subgroup_size = 64;
  device.max_group_invocations = 512;
  assert_int_equal(choose(&device, count, list).m, 16);
  assert_int_equal(choose(&device, 1, list).m, 0);
  device.max_group_invocations = 511;
  assert_int_equal(choose(&device, count, list).m, 0);
  device.max_group_invocations = 1024;
  device.subgroup_size = 128;
  assert_int_equal(choose(&device, count, list).m, 0);
  /* What each of these kernels has of shared memory: special_hardware_is_needed_where_it_is_used() runs them with it.
   */
  device.subgroup_size = 32;
  assert_int_equal(choose(&device, count, list).m, 16);
  device.shared_memory = able.shared_memory - 1;
  assert_int_equal(choose(&device, count, list).m, 0);
}

static void what_a_device_lacks_is_named(void **state) {
  (void)state;
  static const struct {
    uint32_t feature;
    leati_kernel kernel;
    const char *name;
  } needs[] = {
      {LEATI_FEATURE_NUMBER_shaderInt64, LEATI_KERNEL_SOFTMAX_F32, "shaderInt64"},
      {LEATI_FEATURE_NUMBER_storageBuffer16BitAccess, LEATI_KERNEL_UNARY_I16, "storageBuffer16BitAccess"},
      {LEATI_FEATURE_NUMBER_storageBuffer8BitAccess, LEATI_KERNEL_COPY_8, "storageBuffer8BitAccess"},
      {LEATI_FEATURE_NUMBER_bufferDeviceAddress, LEATI_KERNEL_GEMV_F32, "bufferDeviceAddress"},
  };
  for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); ++i) {
    leati_physical poor = able;
    poor.kernel_features &= ~(1u << needs[i].feature);
    assert_false(runs(&poor, &leati_kernel_codes[needs[i].kernel], needs[i].name));
  }
  leati_physical narrow = able;
  narrow.kernel_features &= ~(1u << LEATI_FEATURE_NUMBER_storageBuffer8BitAccess);
  assert_true(runs(&narrow, &leati_kernel_codes[LEATI_KERNEL_COPY_32], ""));
}

static void shared_memory_is_counted(void **state) {
  (void)state;
  static const struct {
    leati_kernel kernel;
    uint32_t bytes;
  } uses[] = {
      {LEATI_KERNEL_COPY_32, 0},
      {LEATI_KERNEL_REDUCE_I32, 512 * 4},
      {LEATI_KERNEL_REDUCE_I64, 512 * 8},
      {LEATI_KERNEL_ARG_REDUCE_I64, 512 * (8 + 4)},
      {LEATI_KERNEL_GEMM_128_F32, 16 * (33 + 33) * 16 + 4},
      {LEATI_KERNEL_GEMM_32_F32, 2 * 16 * (9 + 9) * 16 + 4},
  };
  for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); ++i) {
    leati_physical tight = able;
    tight.shared_memory = uses[i].bytes;
    assert_true(runs(&tight, &leati_kernel_codes[uses[i].kernel], ""));
    --tight.shared_memory;
    assert_true(uses[i].bytes == 0 || !runs(&tight, &leati_kernel_codes[uses[i].kernel], "bytes of shared memory"));
  }
}

static void subgroups_are_those_that_it_is_written_for(void **state) {
  (void)state;
  leati_kernel_code code = leati_kernel_codes[LEATI_KERNEL_GEMV_F32];
  code.subgroup_size = 32;
  assert_true(runs(&able, &code, ""));
  code.subgroup_size = 64;
  assert_false(runs(&able, &code, "subgroups of 64 invocations"));
}

/* A capability that no feature stands for cannot be had. */
static void an_unknown_capability_is_refused(void **state) {
  (void)state;
  static const uint32_t words[] = {0x07230203, 0x00010500, 0, 1, 0, 2u << 16 | 17, 5433};
  const leati_kernel_code code = {.name = "strange", .words = words, .end = words + sizeof(words) / 4};
  assert_false(runs(&able, &code, "5433"));
}

/* The names of the functions that a linking kernel calls, of which those that constants decide are link_<number>. */
static uint32_t read_links(const leati_kernel_code *code, const uint32_t *words, char out[LEATI_CONSTANTS_MAX]) {
  enum { OP_NAME = 5, OP_FUNCTION_CALL = 57, IDS = 4096 };
  static char names[IDS];
  uint32_t count = 0;
  memset(names, 0, sizeof(names));
  for (const uint32_t *at = words + HEADER_WORDS; at < words + (code->end - code->words); at += at[0] >> 16) {
    const char *const name = (const char *)(at + 2);
    if ((at[0] & 0xffffu) == OP_NAME && strncmp(name, "link_", 5) == 0) {
      assert_true(at[1] < IDS);
      names[at[1]] = name[5];
    } else if ((at[0] & 0xffffu) == OP_FUNCTION_CALL && names[at[3]] != '\0') {
      assert_true(count < LEATI_CONSTANTS_MAX);
      out[count++] = names[at[3]];
    }
  }
  return count;
}

/* Each call of a linking kernel goes where its constant says, and nothing else is changed. */
static void calls_are_linked_by_constants(void **state) {
  (void)state;
  const leati_kernel_code *const code = &leati_kernel_codes[LEATI_KERNEL_POINTWISE_F32];
  const uint32_t first = offsetof(leati_pointwise_constants, step_0) / sizeof(uint32_t);
  leati_constants constants = {{0}};
  char found[LEATI_CONSTANTS_MAX];
  for (uint32_t i = first; i < LEATI_CONSTANTS_MAX; ++i) {
    constants.by_id[i] = (i * 7 >> 1) % 4 | 0xfffcu;
  }
  uint32_t *words;
  size_t size;
  assert_true(leati_kernel_module(&able, code, &constants, &words, &size));
  assert_non_null(words);
  assert_int_equal(size, leati_kernel_code_size(code));
  assert_int_equal(read_links(code, words, found), LEATI_CONSTANTS_MAX - first);
  for (uint32_t i = first; i < LEATI_CONSTANTS_MAX; ++i) {
    assert_int_equal(found[i - first], '0' + (i * 7 >> 1) % 4);
  }
  uint32_t changed = 0;
  for (size_t i = 0; i < leati_kernel_code_size(code) / 4; ++i) {
    changed += words[i] != code->words[i];
  }
  assert_true(changed > 0 && changed <= LEATI_CONSTANTS_MAX - first);
  leati_free(words);
}

/* Whether an instruction is one of those that conversions of float16 need. */
static bool is_of_halves(const uint32_t *at) {
  static const uint32_t capabilities[] = {4464, 4467}, modes[] = {4459, 4462}; /* DenormPreserve, RoundingModeRTE */
  const uint32_t op = at[0] & 0xffffu;
  return (op == OP_CAPABILITY && (at[1] == capabilities[0] || at[1] == capabilities[1])) ||
         (op == OP_EXECUTION_MODE && at[0] >> 16 == 4 && (at[2] == modes[0] || at[2] == modes[1]) && at[3] == 16);
}

/* Where the device can be asked for exact conversions of float16, kernels that convert ask: each of two capabilities
 * and modes stands once, in its place, and nothing else is changed. Other kernels ask for nothing. */
static void exact_conversions_are_asked_for(void **state) {
  (void)state;
  uint32_t asking = 0;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const leati_kernel_code *const code = &leati_kernel_codes[i];
    const leati_constants constants = {{0}};
    leati_physical exact = able;
    exact.converts_halves = true;
    uint32_t *plain_copy, *copy;
    size_t plain_size, size;
    assert_true(leati_kernel_module(&able, code, &constants, &plain_copy, &plain_size));
    assert_true(leati_kernel_module(&exact, code, &constants, &copy, &size));
    const uint32_t *const plain = plain_copy != NULL ? plain_copy : code->words;
    const uint32_t *const words = copy != NULL ? copy : code->words;
    uint32_t found = 0, entry = 0;
    const uint32_t *other = plain + HEADER_WORDS;
    for (const uint32_t *at = words + HEADER_WORDS; at < words + size / 4; at += at[0] >> 16) {
      const uint32_t op = at[0] & 0xffffu;
      entry = op == OP_ENTRY_POINT ? at[2] : entry;
      if (is_of_halves(at)) {
        assert_true(op == OP_CAPABILITY ? found < 2 : entry != 0 && at[1] == entry);
        ++found;
      } else {
        assert_memory_equal(at, other, (at[0] >> 16) * sizeof(uint32_t));
        other += other[0] >> 16;
      }
    }
    assert_ptr_equal(other, plain + plain_size / 4);
    assert_int_equal(found, size == plain_size ? 0 : 4);
    assert_true(code->storage != LEAT_TYPE_FLOAT16 || code->accumulator != LEAT_TYPE_FLOAT32 || found == 4);
    asking += found == 4;
    leati_free(plain_copy);
    leati_free(copy);
  }
  assert_true(asking > 0 && asking < LEATI_KERNEL_COUNT - 1);
}

/* What tells that a module is not read again is a device that it would be refused on. A refusal is told each time. */
static void a_kernel_that_runs_is_checked_once(void **state) {
  (void)state;
  leati_physical lacking = able;
  lacking.kernel_features = 0;
  leati_kernel_verdicts verdicts = {{0}};
  leat_error err = {.struct_size = sizeof(err)};
  for (leati_kernel kernel = LEATI_KERNEL_NONE + 1; kernel < LEATI_KERNEL_COUNT; ++kernel) {
    const leati_kernel_code *const code = &leati_kernel_codes[kernel];
    for (int again = 0; again < 2; ++again) {
      err.message[0] = '\0';
      assert_int_equal(leati_kernel_check_once(&verdicts, &lacking, kernel, code, "Frobnicate", &err),
                       LEAT_ERROR_NOT_SUPPORTED);
      assert_non_null(strstr(err.message, code->name));
    }
    assert_int_equal(leati_kernel_check_once(&verdicts, &able, kernel, code, "Frobnicate", &err), LEAT_OK);
    assert_int_equal(leati_kernel_check_once(&verdicts, &lacking, kernel, code, "Frobnicate", &err), LEAT_OK);
  }
}

/* On a software device, kernels for matrix hardware keep their loops, and nothing else of them is changed. */
static void loops_are_kept_where_processors_multiply(void **state) {
  (void)state;
  enum { OP_LOOP_MERGE = 246, UNROLL = 1, DONT_UNROLL = 2 };
  leati_physical software = able;
  software.info.flags = LEAT_DEVICE_SOFTWARE;
  uint32_t kept = 0, alone = 0, of_matrices = 0;
  for (int i = 1; i < LEATI_KERNEL_COUNT; ++i) {
    const leati_kernel_code *const code = &leati_kernel_codes[i];
    const leati_constants constants = {{0}};
    bool matrices = false;
    uint32_t *plain_copy, *copy;
    size_t size;
    assert_true(leati_kernel_module(&able, code, &constants, &plain_copy, &size));
    assert_true(leati_kernel_module(&software, code, &constants, &copy, &size));
    const uint32_t *const plain = plain_copy != NULL ? plain_copy : code->words;
    const uint32_t *const words = copy != NULL ? copy : code->words;
    for (size_t at = HEADER_WORDS; at < size / sizeof(uint32_t); at += plain[at] >> 16) {
      const uint32_t op = plain[at] & 0xffffu;
      const bool written_out = op == OP_LOOP_MERGE && plain[at + 3] == UNROLL;
      matrices = matrices || (op == OP_CAPABILITY && plain[at + 1] == 6022); /* CooperativeMatrixKHR */
      for (size_t w = at; w < at + (plain[at] >> 16); ++w) {
        assert_int_equal(words[w], written_out && matrices && w == at + 3 ? DONT_UNROLL : plain[w]);
      }
      kept += written_out && matrices;
      alone += written_out && !matrices;
    }
    of_matrices += matrices;
    leati_free(plain_copy);
    leati_free(copy);
  }
  assert_true(alone > 0);
  assert_true(kept >= of_matrices);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_are_those_of_the_module),
      cmocka_unit_test(types_are_in_the_module),
      cmocka_unit_test(records_fit_what_a_kernel_reads_of_them),
      cmocka_unit_test(variants_are_found_by_type_and_size),
      cmocka_unit_test(every_kernel_runs_on_every_usable_device),
      cmocka_unit_test(special_hardware_is_needed_where_it_is_used),
      cmocka_unit_test(matrices_of_a_type_are_chosen),
      cmocka_unit_test(matrices_of_bytes_are_chosen),
      cmocka_unit_test(matrices_are_the_largest_that_kernels_can_use),
      cmocka_unit_test(what_a_device_lacks_is_named),
      cmocka_unit_test(shared_memory_is_counted),
      cmocka_unit_test(subgroups_are_those_that_it_is_written_for),
      cmocka_unit_test(an_unknown_capability_is_refused),
      cmocka_unit_test(exact_conversions_are_asked_for),
      cmocka_unit_test(a_kernel_that_runs_is_checked_once),
      cmocka_unit_test(loops_are_kept_where_processors_multiply),
      cmocka_unit_test(calls_are_linked_by_constants),
  };
  return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
