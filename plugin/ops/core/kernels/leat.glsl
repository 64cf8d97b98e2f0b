// SPDX-License-Identifier: BSD-3-Clause
// What every kernel includes first: extensions, buffer types, its arguments, and the number of a workgroup.
//
// Arguments come as a record `args`: a kernel declares `struct Args { ... };` with buffers as addresses, in the same
// order as the C struct that fills them in (std430: scalars are packed, 8-byte members lie on 8 bytes), and then says
// LEAT_ARGS.
#ifndef LEAT_GLSL_
#define LEAT_GLSL_

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float32 : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 4) buffer F32 { float v[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer F32x4 { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer I32 { int v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer U32 { uint v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer I64 { int64_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer U64 { uint64_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer U8 { uint8_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer I8 { int8_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) buffer U16 { uint16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) buffer I16 { int16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) buffer F16 { float16_t v[]; };

// A specialisation constant. leat_kernel() (plugin/ops/core/leat_kernel.cmake) lists those of a kernel by name, and so
// numbers them: one that is not listed does not compile.
#define LEAT_CONSTANT(type, name, otherwise) layout(constant_id = CONSTANT_##name) const type name = otherwise

#define LEAT_ARGS layout(set = 0, binding = 0, std430) uniform Record { Args args; };

// Number of this workgroup in a dispatch made by leati_groups_linear(). How many there are is not asked: NVIDIA's driver
// keeps that in constants of its own, and the first of a dispatch to be read takes a quarter of a microsecond.
uint leat_linear_group() { return gl_WorkGroupID.y * LEAT_GROUPS_ROW + gl_WorkGroupID.x; }

// Byte number `at` of those at an address, or 0 where that is 0. A driver may read before it looks at a condition that
// all threads share (lavapipe of Mesa 26.1 does), so there has to be something to read: a byte at `instead`.
uint leat_byte_if_any(uint64_t bytes, int at, uint64_t instead) {
  const uint byte = uint(U8(bytes != 0 ? bytes : instead).v[at]);
  return bytes != 0 ? byte : 0;
}

#endif
