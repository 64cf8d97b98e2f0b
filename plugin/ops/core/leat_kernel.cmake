# SPDX-License-Identifier: BSD-3-Clause
# What the rooms of operators list, each in its room.cmake: C files by leat_room(), kernels by leat_kernel(), which
# compiles one for each element type that it is listed with. Collects what leat_families.c says of the families, and
# leat_kernels.h and leat_kernels.c of the kernels.

# What a kernel is told of an element type beside its name, by which types.glsl knows it: the LEAT_TYPE_... of the ABI,
# the type in which kernels compute with it, and defines that say what kind of number it is. One more type of a kernel
# is one more word in its list; a type that no kernel has had is one more line here and a few in types.glsl.
set(LEAT_TYPE_F32 FLOAT32 F32 REAL)
set(LEAT_TYPE_F16 FLOAT16 F32 REAL)
set(LEAT_TYPE_BF16 BFLOAT16 F32 REAL)
set(LEAT_TYPE_F64 FLOAT64 F64 DOUBLE)
set(LEAT_TYPE_I8 INT8 I32 INTEGER SIGNED)
set(LEAT_TYPE_I16 INT16 I32 INTEGER SIGNED)
set(LEAT_TYPE_I32 INT32 I32 INTEGER SIGNED)
set(LEAT_TYPE_I64 INT64 I64 INTEGER SIGNED)
set(LEAT_TYPE_U8 UINT8 U32 INTEGER)
set(LEAT_TYPE_U16 UINT16 U32 INTEGER)
set(LEAT_TYPE_U32 UINT32 U32 INTEGER)
set(LEAT_TYPE_U64 UINT64 U64 INTEGER)
set(LEAT_TYPE_BOOL BOOL BOOL BOOLEAN)

# Specialisation constants of a kernel at most; the one behind them is every kernel's, LEAT_HALVES of types.glsl.
set(LEAT_CONSTANTS_MAX 20)
set(LEAT_HALVES_ID 20)
# Workgroups of a row of a dispatch that has more of them than the device's limit of x. 65535 rows, which any device
# allows, make 2^31 workgroups less one row.
set(LEAT_GROUPS_ROW 32768)

# Collected from all calls.
set(LEAT_OPS_SOURCES "")
set(family_declarations "")
set(family_entries "")
set(LEAT_KERNEL_WORDS "") # compiled files
set(enumerators "")
set(arrays "")
set(entries "")
set(set_enumerators "")
set(set_types "")
set(rows "")
set(constant_structs "")
set(constant_members "")

# leat_room([FAMILIES NAME...] [SOURCES NAME...])
#
# The C files beside the room.cmake that calls it, without ".c": those that have a family of operators, NAME.c with
# leati_NAME_family, and the others.
function(leat_room)
  cmake_parse_arguments(PARSE_ARGV 0 room "" "" "FAMILIES;SOURCES")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "leat_room(): what is ${room_UNPARSED_ARGUMENTS}?")
  endif()
  foreach(name IN LISTS room_FAMILIES room_SOURCES)
    list(APPEND LEAT_OPS_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  endforeach()
  foreach(name IN LISTS room_FAMILIES)
    string(APPEND family_declarations "extern const leati_op_family leati_${name}_family;\n")
    string(APPEND family_entries "  &leati_${name}_family,\n")
  endforeach()
  return(PROPAGATE LEAT_OPS_SOURCES family_declarations family_entries)
endfunction()

# Compiles one variant into `kernels`, the folder of compiled files, or takes it from there if LEAT_KERNELS_DIR is set;
# `storage` and `accumulator` are types from above, or empty. Reads `source`, `constant_names`, `kernel_SUBGROUP`,
# `kernel_SHUFFLES`, `kernel_MATRICES`, `kernel_MATRICES2` and `kernel_LINKS` of leat_kernel().
function(leat_kernel_variant name storage accumulator)
  set(words ${kernels}/${name}.spv)
  if(NOT LEAT_KERNELS_DIR)
    set(optimise -O)
    if(kernel_LINKS)
      set(optimise -O0)
    endif()
    set(defines ${ARGN} LEAT_HALVES_ID=${LEAT_HALVES_ID} LEAT_GROUPS_ROW=${LEAT_GROUPS_ROW})
    list(TRANSFORM defines PREPEND -D)
    set(glslc ${Vulkan_GLSLC_EXECUTABLE})
    if(kernel_MATRICES OR kernel_MATRICES2)
      set(glslc ${LEAT_MATRIX_GLSLC})
    endif()
    set(target vulkan1.2)
    if(kernel_MATRICES2)
      set(target vulkan1.3)
    endif()
    # What the source includes is told by glslc, so that a change there compiles its users alone.
    add_custom_command(OUTPUT ${words}
      COMMAND ${glslc} -fshader-stage=compute --target-env=${target} ${optimise} -Werror
        -I${CMAKE_CURRENT_SOURCE_DIR} ${defines} -MD -MF ${words}.d -o ${words}
        ${CMAKE_CURRENT_LIST_DIR}/kernels/${source}
      DEPENDS ${CMAKE_CURRENT_LIST_DIR}/kernels/${source}
      DEPFILE ${words}.d
      COMMENT "Compiling kernel ${name}" VERBATIM)
  endif()
  list(APPEND LEAT_KERNEL_WORDS ${words})
  string(TOUPPER ${name} upper)
  string(APPEND enumerators "  LEATI_KERNEL_${upper},\n")
  string(APPEND arrays "WORDS(leati_words_${name}, \"${words}\")\n")
  string(APPEND entries "  [LEATI_KERNEL_${upper}] = {.name = \"${name}\", .source = \"${source}\","
    " .words = leati_words_${name}, .end = leati_words_${name}_end")
  if(constant_names)
    string(APPEND entries ",\n    .constants = {${constant_names}}")
  endif()
  foreach(role IN ITEMS storage accumulator)
    if(${role})
      list(GET LEAT_TYPE_${${role}} 0 type)
      string(APPEND entries ", .${role} = LEAT_TYPE_${type}")
    endif()
  endforeach()
  if(kernel_SUBGROUP)
    string(APPEND entries ", .subgroup_size = ${kernel_SUBGROUP}")
  endif()
  if(kernel_SHUFFLES OR kernel_MATRICES OR kernel_MATRICES2)
    string(APPEND entries ", .shuffles = 1")
  endif()
  if(kernel_LINKS)
    string(APPEND entries ", .links = 1")
  endif()
  string(APPEND entries "},\n")
  return(PROPAGATE LEAT_KERNEL_WORDS enumerators arrays entries)
endfunction()

# leat_kernel(NAME SOURCE [TYPES TYPE...] [ITEMS BITS...] [ACCUMULATOR TYPE] [CONSTANTS CONSTANT...] [DEFINES DEFINE...]
#   [SUBGROUP INVOCATIONS] [SHUFFLES] [MATRICES] [MATRICES2] [LINKS])
#
# Compiles kernels/SOURCE of the room, with the preprocessor definitions DEFINES (A=1 or A):
# - for each element type of TYPES, as NAME_<type>, with TYPE defined as its name, ACCUMULATOR as that of the type to
#   compute in (the one given, or the type's own), and what kind of number it is;
# - for each size of ITEMS, as NAME_<bits>, with BITS defined: a kernel that moves items without looking at them;
# - with neither, once as NAME.
#
# C code finds a variant by leati_kernel_find(LEATI_KERNELS_<NAME>, type) or leati_kernel_find_item(), both of
# leat_kernels.h, where LEATI_TYPES_OF_<NAME> are the LEAT_TYPE_... of TYPES. The name of one is LEATI_KERNEL_<VARIANT>.
#
# CONSTANTS are the source's specialisation constants, which it declares by LEAT_CONSTANT(). C code sets them by name: a
# leati_pipeline_key has a member for the source, with a field for each constant, both in lower case. All kernels of one
# source list the same ones.
#
# SUBGROUP: the kernel is written for subgroups of so many invocations; else it works with any.
# LINKS: the nth call of a function named link_<number> is made one of link_<m>, when a pipeline is made, where m is in
# the two lowest bits of the nth constant named step_<number>. So a driver reads no more functions than are needed.
# MATRICES: the kernel uses VK_KHR_cooperative_matrix, and its subgroups are full. Where no glslc compiles that
# (LEAT_MATRIX_GLSLC) the set is there, but has no kernels. For BF16 and F32 BFLOAT16 is defined, for F32 PARTS=2 too;
# where glslc does not know GL_EXT_bfloat16 (LEAT_BFLOAT16) the set lacks these two.
# MATRICES2: the same for VK_NV_cooperative_matrix2, with MATRICES2 defined; leati_physical::matrix2 says which devices
# run it. Where glslc does not know that (LEAT_MATRICES2) the set has no kernels.
# SHUFFLES: SHUFFLES is defined, and the kernel's subgroups are full; leati_physical::shuffles says which devices run
# it.
function(leat_kernel name source)
  cmake_parse_arguments(PARSE_ARGV 2 kernel "SHUFFLES;MATRICES;MATRICES2;LINKS" "ACCUMULATOR;SUBGROUP"
    "TYPES;ITEMS;CONSTANTS;DEFINES")
  if(kernel_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "leat_kernel(${name}): what is ${kernel_UNPARSED_ARGUMENTS}?")
  endif()
  get_filename_component(stem ${source} NAME_WE)
  set(defines ${kernel_DEFINES})
  if(kernel_SHUFFLES)
    list(APPEND defines SHUFFLES)
  endif()
  if(kernel_MATRICES2)
    list(APPEND defines MATRICES2)
  endif()
  set(fields "")
  set(constant_names "")
  set(number 0)
  foreach(constant IN LISTS kernel_CONSTANTS)
    string(TOLOWER ${constant} field)
    list(APPEND defines CONSTANT_${constant}=${number})
    list(APPEND fields ${field})
    list(APPEND constant_names "\"${field}\"")
    math(EXPR number "${number} + 1")
  endforeach()
  if(NOT DEFINED constants_of_${stem})
    set(constants_of_${stem} "${fields}" PARENT_SCOPE)
    if(fields)
      # Every struct has all words of the key, so that none is left undefined when one of them is set.
      foreach(rest RANGE ${number} ${LEAT_CONSTANTS_MAX})
        if(rest LESS LEAT_CONSTANTS_MAX)
          list(APPEND fields unused_${rest})
        endif()
      endforeach()
      list(JOIN fields ", " fields)
      string(APPEND constant_structs "typedef struct leati_${stem}_constants {\n  uint32_t ${fields};\n}"
        " leati_${stem}_constants;\n")
      string(APPEND constant_members "  leati_${stem}_constants ${stem};\n")
    endif()
  elseif(NOT "${constants_of_${stem}}" STREQUAL "${fields}")
    message(FATAL_ERROR "leat_kernel(${name}): its constants are not those of the other kernels of ${source}, "
      "\"${constants_of_${stem}}\"")
  endif()
  list(JOIN constant_names ", " constant_names)
  string(TOUPPER ${name} upper)
  set(columns "")
  set(types "")
  set(made_types ${kernel_TYPES})
  if((kernel_MATRICES AND NOT LEAT_MATRIX_GLSLC) OR (kernel_MATRICES2 AND NOT LEAT_MATRICES2))
    set(made_types "")
  endif()
  if((kernel_MATRICES OR kernel_MATRICES2) AND NOT LEAT_BFLOAT16)
    list(REMOVE_ITEM made_types BF16 F32)
  endif()
  foreach(type IN LISTS made_types)
    if(NOT DEFINED LEAT_TYPE_${type})
      message(FATAL_ERROR "leat_kernel(${name}): there is no type ${type}")
    endif()
    list(GET LEAT_TYPE_${type} 1 accumulator)
    if(kernel_ACCUMULATOR)
      set(accumulator ${kernel_ACCUMULATOR})
    endif()
    list(SUBLIST LEAT_TYPE_${type} 2 -1 kind)
    if((kernel_MATRICES OR kernel_MATRICES2) AND type STREQUAL BF16)
      list(APPEND kind BFLOAT16)
    elseif(kernel_MATRICES AND type STREQUAL F32)
      list(APPEND kind BFLOAT16 PARTS=2)
    endif()
    string(TOLOWER ${name}_${type} variant)
    list(GET LEAT_TYPE_${type} 0 public)
    list(APPEND types LEAT_TYPE_${public})
    string(APPEND columns "    [LEATI_COLUMN_OF_TYPE(LEAT_TYPE_${public})] = LEATI_KERNEL_${upper}_${type},\n")
    leat_kernel_variant(${variant} ${type} ${accumulator} TYPE=${type} ACCUMULATOR=${accumulator} ${kind} ${defines})
  endforeach()
  foreach(bits IN LISTS kernel_ITEMS)
    # The widest items are moved as four words.
    if(bits GREATER 64)
      set(type U32)
    else()
      set(type U${bits})
    endif()
    math(EXPR bytes "${bits} / 8")
    string(APPEND columns "    [LEATI_COLUMN_OF_ITEM(${bytes})] = LEATI_KERNEL_${upper}_${bits},\n")
    leat_kernel_variant(${name}_${bits} ${type} ${type} BITS=${bits} ${defines})
  endforeach()
  if(NOT kernel_TYPES AND NOT kernel_ITEMS)
    leat_kernel_variant(${name} "" "" ${defines})
  else()
    string(APPEND set_enumerators "  LEATI_KERNELS_${upper},\n")
    if(columns)
      string(APPEND rows "  [LEATI_KERNELS_${upper}] = {\n${columns}  },\n")
    endif()
  endif()
  if(types)
    list(JOIN types " | " types)
    string(APPEND set_types "#define LEATI_TYPES_OF_${upper} (${types})\n")
  endif()
  return(PROPAGATE LEAT_KERNEL_WORDS enumerators arrays entries set_enumerators set_types rows constant_structs
    constant_members)
endfunction()
