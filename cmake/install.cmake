# SPDX-License-Identifier: BSD-3-Clause
# What is installed beside what each folder builds: how other projects find Leat (CMake's package and pkg-config's
# files), and the licence, which goes with each part because any of them may be installed alone.
include(CMakePackageConfigHelpers)

foreach(part IN LISTS LEAT_PARTS ITEMS development)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ${part})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.md")
install(FILES ${PROJECT_SOURCE_DIR}/examples/add.c ${PROJECT_SOURCE_DIR}/examples/graph.c
  ${PROJECT_SOURCE_DIR}/conformance/template/template.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/consumer DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  COMPONENT development)

# A page of the manual for each program, which has to run for that, and its options for shells, which ask it.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "No manual pages: programs cannot run here; CMAKE_CROSSCOMPILING_EMULATOR names what runs them")
endif()
set(summary_leat-bench "measure a compute backend of Leat")
set(summary_leat-conformance "test a compute backend that speaks Leat's ABI")
set(summary_leat-info "show the devices that Leat can use")
set(summary_leat-run "run ONNX models on Leat from many threads, and check them")
foreach(program leat-bench leat-conformance leat-info leat-run)
  # A sanitizer's report has no place in a page.
  if(NOT TARGET ${program} OR LEAT_SANITIZE)
    continue()
  endif()
  set(component tools)
  if(program STREQUAL leat-conformance)
    set(component conformance)
  endif()
  install(FILES cmake/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ${program} COMPONENT ${component})
  install(FILES cmake/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _${program}
    COMPONENT ${component})
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    continue()
  endif()
  set(page ${CMAKE_CURRENT_BINARY_DIR}/man/${program}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${CMAKE_BINARY_DIR} sh ${PROJECT_SOURCE_DIR}/cmake/man.sh
      $<TARGET_FILE:${program}> ${PROJECT_VERSION} ${summary_${program}} ${page} ${CMAKE_CROSSCOMPILING_EMULATOR}
    DEPENDS ${program} cmake/man.sh COMMENT "Writing the manual page of ${program}" VERBATIM)
  add_custom_target(${program}-page ALL DEPENDS ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
endforeach()

# CMake: find_package(Leat CONFIG). Before 1.0.0 any minor version may differ from the one before.
set(config ${CMAKE_CURRENT_BINARY_DIR}/cmake)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Leat)
configure_package_config_file(cmake/LeatConfig.cmake.in ${config}/LeatConfig.cmake INSTALL_DESTINATION ${config_folder}
  PATH_VARS LEAT_MODULE_DIR)
write_basic_package_version_file(${config}/LeatConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${config}/LeatConfig.cmake ${config}/LeatConfigVersion.cmake DESTINATION ${config_folder}
  COMPONENT development)
install(EXPORT leat NAMESPACE Leat:: FILE LeatTargets.cmake DESTINATION ${config_folder} COMPONENT development)

# pkg-config: a file for the headers and one for each library. A compiler that has DLPack's header by itself is told of
# no folder.
set(dlpack_flags "")
if(NOT DLPACK_INCLUDE_DIR IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
  set(dlpack_flags " -I${DLPACK_INCLUDE_DIR}")
endif()
# In these files paths are relative to their ${prefix} where they can be, so that a person can set that.
cmake_path(APPEND includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
cmake_path(APPEND libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(cmake/leat.pc.in ${config}/leat.pc @ONLY)
install(FILES ${config}/leat.pc DESTINATION ${pkgconfig} COMPONENT development)
if("host" IN_LIST LEAT_PARTS)
  set(description_host "Loader of Leat's compute backends")
  set(description_batch "Queue that makes batches of the single requests of many threads")
  foreach(library host batch)
    set(description ${description_${library}})
    configure_file(cmake/leat-library.pc.in ${config}/leat-${library}.pc @ONLY)
    install(FILES ${config}/leat-${library}.pc DESTINATION ${pkgconfig} COMPONENT development)
  endforeach()
endif()
