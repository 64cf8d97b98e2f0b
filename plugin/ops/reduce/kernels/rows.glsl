// SPDX-License-Identifier: BSD-3-Clause
// How kernels that reduce rows of elements share them out: PARTS threads to a row, ROWS rows to a workgroup.
// Neighbouring threads lie along the row when its elements are neighbours in memory (ALONG), else across rows.
//
// ROWS_SPEC is PARTS, a power of two up to the size of a workgroup, plus 65536 if ALONG. A workgroup has 256 threads,
// or as many as the specialisation constant GROUP says where a kernel lists it.
#ifndef LEAT_ROWS_GLSL_
#define LEAT_ROWS_GLSL_

#ifdef SHUFFLES
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

#ifdef CONSTANT_GROUP
layout(local_size_x_id = CONSTANT_GROUP) in;
#else
layout(local_size_x = 256) in;
#endif
LEAT_CONSTANT(uint, ROWS_SPEC, 1 + 65536);
const uint PARTS = ROWS_SPEC & 65535;
const bool ALONG = ROWS_SPEC >= 65536;
const uint ROWS = gl_WorkGroupSize.x / PARTS;

// Elements of the shared array of a LEAT_ROW_COMBINE(): two for each thread of the largest workgroup.
#define LEAT_ROW_SPACE 512

// Number of a thread in its workgroup. Vulkan does not say which threads form a subgroup, so those that shuffle are
// numbered by subgroup; all subgroups are full.
#ifdef SHUFFLES
uint row_thread() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint row_thread() { return gl_LocalInvocationIndex; }
#endif

// Which row of its workgroup a thread works on, and which part of it.
uint row_own() { return ALONG ? row_thread() / PARTS : row_thread() % ROWS; }
uint row_part() { return ALONG ? row_thread() % PARTS : row_thread() / ROWS; }

// The thread that works on a part of this thread's row.
uint row_peer(uint part) { return ALONG ? row_own() * PARTS + part : part * ROWS + row_own(); }

// The half of shared arrays that the next round writes to; the other half may still be read by slower threads.
uint row_half = 0;

#ifdef SHUFFLES
#define LEAT_ROW_SHUFFLE(OP)                                        \
  if (ALONG) {                                                       \
    for (; done < min(PARTS, gl_SubgroupSize); done *= 2) {          \
      value = OP(value, subgroupShuffleXor(value, done));            \
    }                                                                \
  }
#else
#define LEAT_ROW_SHUFFLE(OP)
#endif

// Defines NAME(value), which combines the values of all parts of a row by OP(a, b), a commutative operation, and gives
// every thread the result. All threads of the workgroup must call it. Values are combined in the order of a binary tree
// over the parts, whether they travel by shuffles or, eight values a round, through shared memory: the size of
// subgroups changes no bit of a sum.
#define LEAT_ROW_COMBINE(NAME, T, SPACE, OP)                                                       \
  T NAME(T value) {                                                                                 \
    uint done = 1;                                                                                  \
    LEAT_ROW_SHUFFLE(OP)                                                                           \
    for (; done < PARTS; done *= 8) {                                                               \
      const uint half_at = row_half;                                                               \
      const uint first = row_part() & ~(8 * done - 1);                                             \
      SPACE[half_at + row_thread()] = value;                                                       \
      barrier();                                                                                    \
      value = OP(SPACE[half_at + row_peer(first)], SPACE[half_at + row_peer(first + done)]);      \
      if (PARTS / done > 2) {                                                                       \
        value = OP(value, OP(SPACE[half_at + row_peer(first + 2 * done)],                          \
                             SPACE[half_at + row_peer(first + 3 * done)]));                        \
      }                                                                                             \
      if (PARTS / done > 4) {                                                                       \
        value = OP(value, OP(OP(SPACE[half_at + row_peer(first + 4 * done)],                       \
                                SPACE[half_at + row_peer(first + 5 * done)]),                      \
                             OP(SPACE[half_at + row_peer(first + 6 * done)],                       \
                                SPACE[half_at + row_peer(first + 7 * done)])));                    \
      }                                                                                             \
      row_half = LEAT_ROW_SPACE / 2 - half_at;                                                    \
    }                                                                                               \
    return value;                                                                                   \
  }

#endif
