#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Compiles where glslc knows matrices, with MATRICES2 those of VK_NV_cooperative_matrix2, with BFLOAT16
// those of bfloat16: for CMake to find out.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#ifdef MATRICES2
#extension GL_NV_cooperative_matrix2 : require
#endif
#ifdef BFLOAT16
#extension GL_EXT_bfloat16 : require
#endif
void main() {}
