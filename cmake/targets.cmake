# SPDX-License-Identifier: MIT
# What each of our own targets has in common. Set on the targets, never globally and never in what is
# exported: a user's own warnings and flags are theirs.
function(echomq_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow)
  endif()
  if(ECHOMQ_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ECHOMQ_SANITIZE)
    target_compile_options(${target} PRIVATE ${echomq_sanitize_flags})
    target_link_options(${target} PRIVATE ${echomq_sanitize_flags})
  endif()
endfunction()

# echomq_unoptimised(TARGET): for code that itself does next to nothing and is compiled often: tests and
# small examples. It takes two thirds of the time.
function(echomq_unoptimised target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# echomq_sources(VARIABLE FOLDER...): every .cc below the folders, noticed when one is added.
function(echomq_sources variable)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE here CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
    list(APPEND found ${here})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# echomq_program(NAME SOURCE...): an executable in <build>/bin that uses the library as a user would,
# by its public headers alone.
function(echomq_program name)
  add_executable(${name} ${ARGN})
  echomq_defaults(${name})
  target_link_libraries(${name} PRIVATE echomq::echomq)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()
