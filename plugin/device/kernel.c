/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/kernel.h"

#include <stdbool.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"

/* Numbers of the SPIR-V specification. */
#define HEADER_WORDS 5
#define STORAGE_WORKGROUP 4
#define SPEC_ID 1
enum {
  OP_NAME = 5,
  OP_ENTRY_POINT = 15,
  OP_EXECUTION_MODE = 16,
  OP_CAPABILITY = 17,
  OP_TYPE_INT = 21,
  OP_TYPE_FLOAT = 22,
  OP_TYPE_VECTOR = 23,
  OP_TYPE_ARRAY = 28,
  OP_TYPE_STRUCT = 30,
  OP_TYPE_POINTER = 32,
  OP_CONSTANT = 43,
  OP_FUNCTION = 54,
  OP_FUNCTION_CALL = 57,
  OP_VARIABLE = 59,
  OP_DECORATE = 71,
  OP_LOOP_MERGE = 246,
};
#define MATRIX_CAPABILITY 6022 /* CooperativeMatrixKHR */
#define UNROLL 1
#define DONT_UNROLL 2

/* The instruction behind `at`, or the first one for NULL; NULL where the functions begin, which declare nothing. */
static const uint32_t *next(const leati_kernel_code *code, const uint32_t *at) {
  const uint32_t *const found = at == NULL ? code->words + HEADER_WORDS : at + (at[0] >> 16);
  return found == code->end || (found[0] & 0xffffu) == OP_FUNCTION ? NULL : found;
}

/* The type with this result id. */
static const uint32_t *type_of(const leati_kernel_code *code, uint32_t id) {
  const uint32_t *at = next(code, NULL);
  while (at != NULL && !((at[0] & 0xffffu) >= OP_TYPE_INT && (at[0] & 0xffffu) <= OP_TYPE_POINTER && at[1] == id)) {
    at = next(code, at);
  }
  return at;
}

/* The value of a constant of 32 bits; 0 if a specialisation decides. */
static uint32_t constant_of(const leati_kernel_code *code, uint32_t id) {
  const uint32_t *at = next(code, NULL);
  while (at != NULL && !((at[0] & 0xffffu) == OP_CONSTANT && at[2] == id)) {
    at = next(code, at);
  }
  return at != NULL ? at[3] : 0;
}

/* Bytes of a type without what lies between the members of a struct, which have no places in shared memory. */
static uint32_t size_of(const leati_kernel_code *code, uint32_t id) {
  const uint32_t *const type = type_of(code, id);
  uint32_t size = 0;
  if (type == NULL) {
    return 0;
  }
  switch (type[0] & 0xffffu) {
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT:
      return type[2] / 8;
    case OP_TYPE_VECTOR:
      return size_of(code, type[2]) * type[3];
    case OP_TYPE_ARRAY:
      return size_of(code, type[2]) * constant_of(code, type[3]);
    case OP_TYPE_STRUCT:
      for (uint32_t i = 2; i < type[0] >> 16; ++i) {
        size += size_of(code, type[i]);
      }
      return size;
    default:
      return 0;
  }
}

static uint32_t shared_bytes(const leati_kernel_code *code) {
  uint32_t bytes = 0;
  for (const uint32_t *at = next(code, NULL); at != NULL; at = next(code, at)) {
    if ((at[0] & 0xffffu) == OP_VARIABLE && at[3] == STORAGE_WORKGROUP) {
      bytes += size_of(code, type_of(code, at[1])[3]);
    }
  }
  return bytes;
}

/* Name of the feature that gives a capability, and whether the device has it; "" for what every device has. */
static const char *feature_of(const leati_physical *physical, uint32_t capability, bool *out_has) {
  *out_has = true;
  switch (capability) {
#define FEATURE(number, group, name)                                                 \
  case number:                                                                       \
    *out_has = (physical->kernel_features >> LEATI_FEATURE_NUMBER_##name & 1u) != 0; \
    return #name;
    LEATI_KERNEL_FEATURES(FEATURE)
#undef FEATURE
    case 1: /* Shader */
      return "";
    case 61: /* GroupNonUniform */
    case 65: /* GroupNonUniformShuffle */
      *out_has = physical->shuffles;
      return "full subgroups that exchange values";
    case 6018: /* DotProductInput4x8BitPacked */
    case 6019: /* DotProduct */
      *out_has = physical->dots;
      return "accelerated dot products of int8 and uint8 (VK_KHR_shader_integer_dot_product)";
    case 5345: /* VulkanMemoryModel */
    case MATRIX_CAPABILITY:
      *out_has = physical->matrix.m != 0 || physical->matrix_bfloat16.m != 0 || physical->matrix_int8.m != 0;
      return "matrices (VK_KHR_cooperative_matrix)";
    case 5116: /* BFloat16TypeKHR */
    case 5118: /* BFloat16CooperativeMatrixKHR */
      *out_has = physical->matrix_bfloat16.m != 0;
      return "matrices of bfloat16 (VK_KHR_shader_bfloat16)";
    case 5430: /* CooperativeMatrixReductionsNV */
    case 5431: /* CooperativeMatrixConversionsNV */
    case 5432: /* CooperativeMatrixPerElementOperationsNV */
      *out_has = physical->matrix2;
      return "more of matrices (VK_NV_cooperative_matrix2)";
    default:
      *out_has = false;
      return "a capability that Leat enables on no device";
  }
}

int32_t leati_kernel_check(const leati_physical *physical, const leati_kernel_code *code, const char *operator_name,
                           leat_error *err) {
  const char *const device = physical->info.name;
  for (const uint32_t *at = next(code, NULL); at != NULL && (at[0] & 0xffffu) == OP_CAPABILITY; at = next(code, at)) {
    bool has;
    const char *const feature = feature_of(physical, at[1], &has);
    if (!has) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: kernel %s needs %s (SPIR-V capability %u), which %s lacks",
                        operator_name, code->name, feature, at[1], device);
    }
  }
  const uint32_t shared = shared_bytes(code);
  if (shared > physical->shared_memory) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: kernel %s needs %u bytes of shared memory; %s gives a workgroup %u", operator_name,
                      code->name, shared, device, physical->shared_memory);
  }
  return code->subgroup_size == 0 || code->subgroup_size == physical->subgroup_size
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: kernel %s is for subgroups of %u invocations; %s has them of %u", operator_name,
                          code->name, code->subgroup_size, device, physical->subgroup_size);
}

int32_t leati_kernel_check_once(leati_kernel_verdicts *verdicts, const leati_physical *physical, leati_kernel kernel,
                                const leati_kernel_code *code, const char *operator_name, leat_error *err) {
  _Atomic uint64_t *const runs = &verdicts->runs[kernel / 64];
  const uint64_t bit = UINT64_C(1) << kernel % 64;
  if ((atomic_load_explicit(runs, memory_order_relaxed) & bit) == 0) {
    LEATI_TRY(leati_kernel_check(physical, code, operator_name, err));
    (void)atomic_fetch_or_explicit(runs, bit, memory_order_relaxed);
  }
  return LEAT_OK;
}

#define LINKS 4

/* The ids of the functions link_<number>, by number. */
static void find_links(const leati_kernel_code *code, uint32_t ids[LINKS]) {
  for (const uint32_t *at = next(code, NULL); at != NULL; at = next(code, at)) {
    const char *const name = (const char *)(at + 2);
    if ((at[0] & 0xffffu) == OP_NAME && strncmp(name, "link_", 5) == 0 && name[5] >= '0' && name[5] < '0' + LINKS) {
      ids[name[5] - '0'] = at[1];
    }
  }
}

/* Whether one of them is `id`. */
static bool is_link(const uint32_t ids[LINKS], uint32_t id) {
  return id == ids[0] || id == ids[1] || id == ids[2] || id == ids[3];
}

/* The first constant step_<number> from `constant` on. */
static uint32_t find_step(const leati_kernel_code *code, uint32_t constant) {
  while (strncmp(code->constants[constant], "step_", 5) != 0) {
    ++constant;
  }
  return constant;
}

/* Makes the calls of a copy of the kernel what the constants say. */
static void link_calls(const leati_kernel_code *code, const leati_constants *constants, uint32_t *words) {
  uint32_t ids[LINKS] = {0};
  uint32_t constant = 0;
  find_links(code, ids);
  for (uint32_t *at = words + HEADER_WORDS; at < words + (code->end - code->words); at += at[0] >> 16) {
    if ((at[0] & 0xffffu) == OP_FUNCTION_CALL && is_link(ids, at[3])) {
      constant = find_step(code, constant);
      at[3] = ids[constants->by_id[constant++] % LINKS];
    }
  }
}

/* What makes a module's conversions of float16 keep subnormal numbers and round to nearest even. */
#define WIDTH 16
#define DENORM_PRESERVE_CAPABILITY 4464
#define DENORM_PRESERVE 4459
#define ROUNDING_MODE_RTE_CAPABILITY 4467
#define ROUNDING_MODE_RTE 4462
#define CAPABILITIES_WORDS 4
#define MODES_WORDS 8

static bool asks_for_halves(const leati_kernel_code *code) {
  const uint32_t *at = next(code, NULL);
  while (at != NULL && !((at[0] & 0xffffu) == OP_DECORATE && at[2] == SPEC_ID && at[3] == LEATI_HALVES_ID)) {
    at = next(code, at);
  }
  return at != NULL;
}

/* Inserts that into a module of so many words, behind which there is room. Capabilities stand first, execution modes
 * behind the entry point. */
static void insert_halves(uint32_t *words, size_t count) {
  static const uint32_t capabilities[CAPABILITIES_WORDS] = {2u << 16 | OP_CAPABILITY, DENORM_PRESERVE_CAPABILITY,
                                                            2u << 16 | OP_CAPABILITY, ROUNDING_MODE_RTE_CAPABILITY};
  uint32_t *at = words + HEADER_WORDS;
  while ((at[0] & 0xffffu) != OP_ENTRY_POINT) {
    at += at[0] >> 16;
  }
  const uint32_t entry = at[2];
  at += at[0] >> 16;
  const uint32_t modes[MODES_WORDS] = {4u << 16 | OP_EXECUTION_MODE, entry, DENORM_PRESERVE,   WIDTH,
                                       4u << 16 | OP_EXECUTION_MODE, entry, ROUNDING_MODE_RTE, WIDTH};
  memmove(at + CAPABILITIES_WORDS + MODES_WORDS, at, (size_t)(words + count - at) * sizeof(uint32_t));
  memcpy(at + CAPABILITIES_WORDS, modes, sizeof(modes));
  memmove(words + HEADER_WORDS + CAPABILITIES_WORDS, words + HEADER_WORDS,
          (size_t)(at - words - HEADER_WORDS) * sizeof(uint32_t));
  memcpy(words + HEADER_WORDS, capabilities, sizeof(capabilities));
}

static bool multiplies_matrices(const leati_kernel_code *code) {
  const uint32_t *at = next(code, NULL);
  while (at != NULL && (at[0] & 0xffffu) == OP_CAPABILITY && at[1] != MATRIX_CAPABILITY) {
    at = next(code, at);
  }
  return at != NULL && (at[0] & 0xffffu) == OP_CAPABILITY;
}

/* Lets loops that are to be written out stay loops. */
static void keep_loops(const leati_kernel_code *code, uint32_t *words) {
  for (uint32_t *at = words + HEADER_WORDS; at < words + (code->end - code->words); at += at[0] >> 16) {
    if ((at[0] & 0xffffu) == OP_LOOP_MERGE && at[3] == UNROLL) {
      at[3] = DONT_UNROLL;
    }
  }
}

bool leati_kernel_module(const leati_physical *physical, const leati_kernel_code *code,
                         const leati_constants *constants, uint32_t **out_words, size_t *out_size) {
  const bool keeps_loops = (physical->info.flags & LEAT_DEVICE_SOFTWARE) != 0 && multiplies_matrices(code);
  const size_t added =
      physical->converts_halves && asks_for_halves(code) ? (CAPABILITIES_WORDS + MODES_WORDS) * sizeof(uint32_t) : 0;
  *out_words = NULL;
  *out_size = leati_kernel_code_size(code) + added;
  if (code->links == 0 && !keeps_loops && added == 0) {
    return true;
  }
  uint32_t *const words = leati_calloc(1, *out_size);
  if (words == NULL) {
    return false;
  }
  memcpy(words, code->words, leati_kernel_code_size(code));
  if (code->links != 0) {
    link_calls(code, constants, words);
  }
  if (keeps_loops) {
    keep_loops(code, words);
  }
  if (added != 0) {
    insert_halves(words, leati_kernel_code_size(code) / sizeof(uint32_t));
  }
  *out_words = words;
  return true;
}
