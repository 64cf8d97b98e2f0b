# SPDX-License-Identifier: BSD-3-Clause
# A library that programs are linked with. The number in its SONAME counts the changes of its header that break programs
# which are linked with an older one, and not the releases: it may rise from 0.1.0 to 0.2.0, and need not with 1.0.0.
function(leat_linked_library name header soversion)
  add_library(leat_${name} SHARED ${ARGN})
  target_include_directories(leat_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>)
  target_link_libraries(leat_${name} PUBLIC leat_abi PRIVATE leat_options)
  target_link_options(leat_${name} PRIVATE -Wl,-z,nodelete -Wl,-z,now
    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/leat_${name}.map)
  # A sanitizer's functions come with the program, so they are undefined here.
  if(NOT LEAT_SANITIZE)
    target_link_options(leat_${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(leat_${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion} EXPORT_NAME ${name}
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/leat_${name}.map)
  install(TARGETS leat_${name} EXPORT leat LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT host
    NAMELINK_COMPONENT development)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/leat COMPONENT development)
endfunction()
