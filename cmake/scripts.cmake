# SPDX-License-Identifier: MIT
# The Lua scripts become C++: `contract` checks each against its header and against lua/manifest.txt
# and writes <build>/generated/echomq_scripts.{h,cc}. A script that breaks a rule breaks the build.
find_package(OpenSSL REQUIRED)

echomq_sources(contract_sources tool/contract)
list(FILTER contract_sources EXCLUDE REGEX "/main\\.cc$")
if(NOT contract_sources)
  message(WARNING "tool/contract is empty: the library is built without its scripts")
  return()
endif()
add_library(echomq_contract STATIC ${contract_sources})
echomq_defaults(echomq_contract)
target_include_directories(echomq_contract PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tool)
target_link_libraries(echomq_contract PRIVATE OpenSSL::Crypto)

add_executable(contract ${PROJECT_SOURCE_DIR}/tool/contract/main.cc)
echomq_defaults(contract)
target_link_libraries(contract PRIVATE echomq_contract)
set_target_properties(contract PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

set(echomq_generated ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${echomq_generated})
file(GLOB_RECURSE echomq_lua CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lua/*.lua)
# The stamp is the output and the sources are by-products: `contract` leaves unchanged files alone, so
# that a comment edited in a script recompiles nothing.
add_custom_command(
  OUTPUT ${echomq_generated}/scripts.stamp
  BYPRODUCTS ${echomq_generated}/echomq_scripts.h ${echomq_generated}/echomq_scripts.cc
  COMMAND contract generate ${PROJECT_SOURCE_DIR}/lua ${echomq_generated}/echomq_scripts.h
          ${echomq_generated}/echomq_scripts.cc
  COMMAND ${CMAKE_COMMAND} -E touch ${echomq_generated}/scripts.stamp
  DEPENDS contract ${echomq_lua} ${PROJECT_SOURCE_DIR}/lua/manifest.txt
  COMMENT "Checking lua/ and generating the script table"
  VERBATIM)
add_custom_target(echomq_scripts DEPENDS ${echomq_generated}/scripts.stamp)
