# SPDX-License-Identifier: MIT
# libechomq. It links OpenSSL, date-tz and pthread and nothing else; Asio and nlohmann/json are header-only
# and stay inside: Asio under a namespace of its own (so that no weak symbol can merge with a user's
# Asio), everything hidden but what carries ECHOMQ_API.
find_package(OpenSSL REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(date REQUIRED)
find_path(ECHOMQ_ASIO_INCLUDE_DIR asio.hpp DOC "Folder that holds asio.hpp" REQUIRED)
mark_as_advanced(ECHOMQ_ASIO_INCLUDE_DIR)

set(echomq_public_include ${PROJECT_BINARY_DIR}/include)
configure_file(cmake/version.h.in ${echomq_public_include}/echomq/version.h @ONLY)

echomq_sources(echomq_source_files src)
add_library(echomq_objects OBJECT ${echomq_source_files})
echomq_defaults(echomq_objects)
set_target_properties(echomq_objects PROPERTIES POSITION_INDEPENDENT_CODE ON
                      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
# PUBLIC for the tests, which see the internal headers; the objects never reach an exported target.
target_include_directories(
  echomq_objects
  PUBLIC ${PROJECT_SOURCE_DIR}/include ${echomq_public_include} ${PROJECT_SOURCE_DIR}/src
         ${PROJECT_BINARY_DIR}/generated)
target_include_directories(echomq_objects SYSTEM PUBLIC ${ECHOMQ_ASIO_INCLUDE_DIR})
target_compile_definitions(echomq_objects PUBLIC ASIO_STANDALONE ASIO_NO_DEPRECATED
                                                 asio=echomq_asio)
target_link_libraries(echomq_objects PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads
                                            nlohmann_json::nlohmann_json date::date-tz)
if(TARGET echomq_scripts)
  add_dependencies(echomq_objects echomq_scripts)
  target_sources(echomq_objects PRIVATE ${echomq_generated}/echomq_scripts.cc)
endif()
if(ECHOMQ_NO_EXCEPTIONS)
  target_compile_options(echomq_objects PRIVATE -fno-exceptions -fno-rtti)
  target_compile_definitions(echomq_objects PRIVATE ASIO_NO_EXCEPTIONS ASIO_NO_TYPEID)
  # What date-tz throws is caught in the one file that calls it.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/schedule/zone.cc PROPERTIES
                              COMPILE_OPTIONS "-fexceptions;-frtti" SKIP_UNITY_BUILD_INCLUSION ON)
endif()

if(ECHOMQ_SHARED)
  add_library(echomq SHARED $<TARGET_OBJECTS:echomq_objects>)
else()
  add_library(echomq STATIC $<TARGET_OBJECTS:echomq_objects>)
endif()
add_library(echomq::echomq ALIAS echomq)
echomq_defaults(echomq)
set_target_properties(echomq PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                        SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(
  echomq PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                $<BUILD_INTERFACE:${echomq_public_include}>
                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(echomq PRIVATE OpenSSL::SSL OpenSSL::Crypto date::date-tz Threads::Threads)
if(ECHOMQ_SHARED)
  set(echomq_symbols ${PROJECT_SOURCE_DIR}/cmake/echomq.symbols)
  target_link_options(echomq PRIVATE LINKER:--version-script=${echomq_symbols} LINKER:--as-needed
                      LINKER:--no-undefined)
  if(ECHOMQ_SANITIZE)
    # clang leaves the sanitizer's symbols to the program.
    target_link_options(echomq PRIVATE LINKER:-z,undefs)
  endif()
  set_property(TARGET echomq APPEND PROPERTY LINK_DEPENDS ${echomq_symbols})
endif()
