# SPDX-License-Identifier: MIT
# The programs and the examples. `emq` is the one people run: it stands at <build>/emq, the others in
# <build>/bin.
if(ECHOMQ_BUILD_APPS)
  find_package(CLI11 REQUIRED)
  find_package(fmt REQUIRED)

  echomq_sources(emq_sources app/emq app/bench app/fleet)
  if(emq_sources)
    echomq_program(emq ${emq_sources})
    set_target_properties(emq PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(emq PRIVATE ${PROJECT_SOURCE_DIR}/app)
    target_link_libraries(emq PRIVATE CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json
                                      Threads::Threads)
  endif()

  echomq_sources(demo_sources app/demo)
  if(demo_sources)
    find_package(ZLIB REQUIRED)
    echomq_program(demo ${demo_sources})
    target_include_directories(demo PRIVATE ${PROJECT_SOURCE_DIR}/app ${PROJECT_SOURCE_DIR}/example)
    target_link_libraries(demo PRIVATE CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json
                                       OpenSSL::Crypto ZLIB::ZLIB Threads::Threads)
  endif()
endif()

# Each example is one file and one program, named as the file is.
if(ECHOMQ_BUILD_EXAMPLES)
  find_package(ZLIB REQUIRED)
  file(GLOB example_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/example/*.cc)
  # Qt is large and wanted by one example alone: without it, that one is left out.
  find_package(Qt6 QUIET COMPONENTS Core)
  foreach(file IN LISTS example_files)
    cmake_path(GET file STEM example)
    if(example STREQUAL "qt_loop" AND NOT Qt6_FOUND)
      continue()
    endif()
    echomq_program(${example} ${file})
    list(APPEND example_programs ${example}) # the tests run them
    target_link_libraries(${example} PRIVATE nlohmann_json::nlohmann_json Threads::Threads)
    if(example STREQUAL "digest_worker") # the demo's, and measured there
      target_link_libraries(${example} PRIVATE OpenSSL::Crypto ZLIB::ZLIB)
    else()
      echomq_unoptimised(${example})
    endif()
    if(example STREQUAL "asio_loop")
      target_include_directories(${example} SYSTEM PRIVATE ${ECHOMQ_ASIO_INCLUDE_DIR})
      target_compile_definitions(${example} PRIVATE ASIO_STANDALONE ASIO_NO_DEPRECATED)
    elseif(example STREQUAL "qt_loop")
      target_link_libraries(${example} PRIVATE Qt6::Core)
    endif()
  endforeach()
endif()
