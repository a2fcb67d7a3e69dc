# SPDX-License-Identifier: MIT
# cmake --install: the library, its headers, `emq`, and both ways to find them (find_package and
# pkg-config). The files hold no absolute path, so that a prefix can be chosen late or moved.
include(CMakePackageConfigHelpers)

install(TARGETS echomq EXPORT echomq-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/echomq ${echomq_public_include}/echomq
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(echomq_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/echomq)
install(EXPORT echomq-targets NAMESPACE echomq:: DESTINATION ${echomq_config_dir})
configure_package_config_file(
  cmake/echomq-config.cmake.in ${PROJECT_BINARY_DIR}/echomq-config.cmake
  INSTALL_DESTINATION ${echomq_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/echomq-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/echomq-config.cmake
              ${PROJECT_BINARY_DIR}/echomq-config-version.cmake DESTINATION ${echomq_config_dir})

# pkg-config tells where the .pc file was found; from there the prefix is so many folders up.
file(RELATIVE_PATH echomq_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" echomq_up "${echomq_up}")
if(ECHOMQ_SHARED)
  set(echomq_pc_private "")
  set(echomq_pc_libs "")
else()
  # A static archive is useless without what it links, so a plain `--libs` has to name it too.
  set(echomq_pc_private "Requires: libssl libcrypto\n")
  set(echomq_pc_libs " -ldate-tz")
endif()
configure_file(cmake/echomq.pc.in ${PROJECT_BINARY_DIR}/echomq.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/echomq.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET emq)
  file(RELATIVE_PATH echomq_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(emq PROPERTIES INSTALL_RPATH "$ORIGIN/${echomq_from_bin}")
  install(TARGETS emq RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
