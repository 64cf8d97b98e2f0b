# SPDX-License-Identifier: BSD-3-Clause
# Functions of single elements, and chains of them.
leat_room(FAMILIES unary binary ternary cast pointwise composite
  SOURCES elementwise function host_function scaled walk)

# One kernel per combination of types; the operation is a specialisation constant. See elementwise.comp for the
# definitions.
set(constants CONSTANTS operation access type_in type_out rank)
set(reals F32 F16 BF16)
set(integers I8 I16 I32 I64 U8 U16 U32 U64)
leat_kernel(unary elementwise.comp TYPES ${reals} ${integers} ${constants}
  DEFINES ARITHMETIC ARITY=1 A=TYPE R=TYPE)
leat_kernel(exponential elementwise.comp TYPES ${reals} ${constants}
  DEFINES ARITHMETIC EXPONENTIAL ARITY=1 A=TYPE R=TYPE)
leat_kernel(trigonometric elementwise.comp TYPES ${reals} ${constants}
  DEFINES ARITHMETIC TRIGONOMETRIC ARITY=1 A=TYPE R=TYPE)
leat_kernel(binary elementwise.comp TYPES ${reals} ${integers} ${constants}
  DEFINES ARITHMETIC ARITY=2 A=TYPE B=TYPE R=TYPE)
leat_kernel(compare elementwise.comp TYPES ${reals} ${integers} BOOL ${constants}
  DEFINES COMPARE ARITY=2 A=TYPE B=TYPE R=BOOL)
leat_kernel(clip elementwise.comp TYPES ${reals} ${integers} ${constants}
  DEFINES CLIP ARITY=3 A=TYPE B=TYPE C=TYPE R=TYPE)
leat_kernel(pow elementwise.comp TYPES ${reals} I32 I64 ${constants}
  DEFINES POWER ARITY=2 A=TYPE B=ANY R=TYPE)
leat_kernel(classify elementwise.comp TYPES ${reals} ${constants}
  DEFINES CLASSIFY ARITY=1 A=TYPE R=BOOL)
leat_kernel(logic_not elementwise.comp TYPES BOOL ${constants}
  DEFINES LOGIC ARITY=1 A=TYPE R=TYPE)
leat_kernel(logic elementwise.comp TYPES BOOL ${constants}
  DEFINES LOGIC ARITY=2 A=TYPE B=TYPE R=TYPE)
leat_kernel(where elementwise.comp ITEMS 8 16 32 64 ${constants}
  DEFINES SELECT ARITY=3 A=BOOL B=ITEM C=ITEM R=ITEM)
leat_kernel(cast elementwise.comp ${constants}
  DEFINES CAST ARITY=1 A=ANY R=ANY)

# A chain of operations in one dispatch. See pointwise.comp for the definitions.
set(constants CONSTANTS access rank inputs steps)
foreach(step RANGE 15)
  list(APPEND constants step_${step})
endforeach()
leat_kernel(pointwise pointwise.comp TYPES F32 F16 BF16 ${constants} LINKS)
leat_kernel(quantized_pointwise pointwise.comp TYPES F32 ${constants} DEFINES QUANTIZED LINKS)
leat_kernel(scaled_pointwise pointwise.comp TYPES F32 ${constants} DEFINES QUANTIZED SCALES_IN_MEMORY LINKS)
