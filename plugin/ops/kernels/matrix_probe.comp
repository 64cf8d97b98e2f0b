#version 460
// SPDX-License-Identifier: BSD-3-Clause
// Compiles where glslc knows matrices: for CMake to find out.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
void main() {}
