# SPDX-License-Identifier: BSD-3-Clause
# Target leat_build_id: a header that says exactly what was built, made anew at every build and changed only when it
# differs.
set(LEAT_BUILD_ID_HEADER ${CMAKE_BINARY_DIR}/generated/leat_build_id.h)
add_custom_target(leat_build_id_header
  COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/build_id.sh ${CMAKE_SOURCE_DIR} ${LEAT_BUILD_ID_HEADER}
  BYPRODUCTS ${LEAT_BUILD_ID_HEADER}
  COMMENT "Reading the tree's build id" VERBATIM)
add_library(leat_build_id INTERFACE)
target_include_directories(leat_build_id INTERFACE ${CMAKE_BINARY_DIR}/generated)
add_dependencies(leat_build_id leat_build_id_header)
