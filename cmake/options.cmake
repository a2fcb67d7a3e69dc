# SPDX-License-Identifier: MIT
# What can be chosen when configuring.
option(ECHOMQ_BUILD_TESTS "Build the tests (GoogleTest, rapidcheck)" ${PROJECT_IS_TOP_LEVEL})
option(ECHOMQ_BUILD_APPS "Build the programs emq and demo" ${PROJECT_IS_TOP_LEVEL})
option(ECHOMQ_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(ECHOMQ_BUILD_FUZZERS "Build the fuzzers (clang), and nothing else" OFF)
option(ECHOMQ_INSTALL "Add install rules" ${PROJECT_IS_TOP_LEVEL})
option(ECHOMQ_WERROR "Warnings in our own sources are errors" OFF)
option(ECHOMQ_NO_EXCEPTIONS "Build the library with -fno-exceptions -fno-rtti" OFF)
set(ECHOMQ_SANITIZE "" CACHE STRING "address (with undefined), thread, or nothing")
set_property(CACHE ECHOMQ_SANITIZE PROPERTY STRINGS "" address thread)

# A project that set BUILD_SHARED_LIBS has decided; by itself EchoMQ is a shared library. A variable
# of our own, because a cached BUILD_SHARED_LIBS would change the libraries of the whole super-project.
if(DEFINED BUILD_SHARED_LIBS)
  set(echomq_shared_default ${BUILD_SHARED_LIBS})
else()
  set(echomq_shared_default ON)
endif()
option(ECHOMQ_SHARED "Build libechomq as a shared library" ${echomq_shared_default})

if(ECHOMQ_SANITIZE STREQUAL "address")
  # "undefined" leaves out the cast of a double that does not fit, which text from outside can ask for.
  set(echomq_sanitize_flags -fsanitize=address,undefined,float-cast-overflow
                            -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(ECHOMQ_SANITIZE STREQUAL "thread")
  # -Wno-tsan: Asio's fences are not modelled by TSan; its mutexes are, and they order the same data.
  set(echomq_sanitize_flags -fsanitize=thread -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND echomq_sanitize_flags -Wno-tsan)
  endif()
elseif(ECHOMQ_SANITIZE)
  message(FATAL_ERROR "ECHOMQ_SANITIZE is '${ECHOMQ_SANITIZE}'; it must be address, thread or empty")
endif()
