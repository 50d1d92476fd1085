# SPDX-License-Identifier: Apache-2.0
# How the project's libraries are made: one CMakeLists.txt in each folder says with which library its sources go.

# kernbench_add_library(<name> LINK ... PRIVATE_LINK ... [GROUP <size>]): kernbench_<name>, also kernbench::<name>.
# Its sources come from the folders below, by kernbench_folder(). GROUP: sources that are compiled together, 10 by default.
function(kernbench_add_library name)
  cmake_parse_arguments(ARG "" "GROUP" "LINK;PRIVATE_LINK" ${ARGN})
  if(NOT ARG_GROUP)
    set(ARG_GROUP 10)
  endif()
  add_library(kernbench_${name} SHARED)
  add_library(kernbench::${name} ALIAS kernbench_${name})
  set_target_properties(kernbench_${name} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN"
                        KERNBENCH_GROUP ${ARG_GROUP})
  target_include_directories(kernbench_${name} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(kernbench_${name} PUBLIC cxx_std_${SystemC_CXX_STANDARD})
  target_compile_options(kernbench_${name} PRIVATE -fno-semantic-interposition ${relative_lines})
  # A library's own functions, tables of virtual functions and type information are bound when it is linked: less to bind
  # at each start, and no jump in between. rebindable.list has the exceptions. Types are compared by name, and what exists
  # once in a process (static variables of inline functions) GCC marks, so it stays common to all libraries.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT KERNBENCH_SANITIZED)
    set(rebindable ${PROJECT_SOURCE_DIR}/cmake/rebindable.list)
    target_link_options(kernbench_${name} PRIVATE LINKER:--dynamic-list=${rebindable})
    set_property(TARGET kernbench_${name} APPEND PROPERTY LINK_DEPENDS ${rebindable})
  elseif(NOT name STREQUAL "phase2")
    target_link_options(kernbench_${name} PRIVATE LINKER:-Bsymbolic-functions)
  endif()
  target_link_libraries(kernbench_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK} fmt::fmt kernbench_warnings)
endfunction()

# kernbench_public_headers(<header>...): headers of this folder that users include (docs/stability.md).
function(kernbench_public_headers)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(header IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY KERNBENCH_PUBLIC_HEADERS ${folder}/${header})
  endforeach()
endfunction()

# kernbench_folder(<target> [FILES ...] [EXCEPT ...] [ALONE ...] [PUBLIC ...]): the sources of this folder, all unless FILES
# names them, belong to the target and are compiled in groups: what most of them include is read once. ALONE: sources
# compiled by themselves. scripts/check-alone shows that no source leans on what a neighbour includes. PUBLIC: headers as in
# kernbench_public_headers().
function(kernbench_folder target)
  cmake_parse_arguments(ARG "" "" "FILES;EXCEPT;ALONE;PUBLIC" ${ARGN})
  kernbench_public_headers(${ARG_PUBLIC})
  if(NOT ARG_FILES)
    file(GLOB ARG_FILES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
    list(REMOVE_ITEM ARG_FILES ${ARG_EXCEPT} "")
  endif()
  list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${target} PRIVATE ${ARG_FILES})
  foreach(source IN LISTS ARG_ALONE)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  list(REMOVE_ITEM ARG_FILES ${ARG_ALONE} "")
  get_target_property(size ${target} KERNBENCH_GROUP)
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(MAKE_C_IDENTIFIER "${folder}" folder)
  kernbench_group_sources(${target} ${folder} ${size} ${ARG_FILES})
endfunction()

# In as few groups as `size` allows, of nearly the same number.
function(kernbench_group_sources target name size)
  if(NOT KERNBENCH_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  list(LENGTH ARGN count)
  math(EXPR groups "(${count} + ${size} - 1) / ${size}")
  set(index 0)
  foreach(source IN LISTS ARGN)
    math(EXPR group "${index} * ${groups} / ${count}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${name}_${group})
    math(EXPR index "${index} + 1")
  endforeach()
endfunction()

# kernbench_compile_in_groups(<target> <size>): all sources that the target has already, in groups.
function(kernbench_compile_in_groups target size)
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM sources REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  kernbench_group_sources(${target} all ${size} ${sources})
endfunction()

# What most of a target's sources begin with is read once for all of them.
function(kernbench_precompile target)
  if(KERNBENCH_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# For programs with SystemC's threads: AddressSanitizer is told of their stacks.
function(kernbench_tell_stacks program)
  if(KERNBENCH_SANITIZED STREQUAL "address")
    if(NOT TARGET coroutine_stacks)
      add_library(coroutine_stacks OBJECT ${PROJECT_SOURCE_DIR}/sc_tests/sanitizers/coroutine_stacks.cpp)
      target_compile_options(coroutine_stacks PRIVATE -fno-sanitize=all)
    endif()
    target_link_libraries(${program} PRIVATE coroutine_stacks)
  endif()
endfunction()

# oneTBB's malloc in the two programs, and in what measures them: a tenth to a third less time (docs/performance.md).
# Programs of others, which link the libraries, choose for themselves. The sanitizers have a malloc of their own.
function(kernbench_use_tbb_malloc program)
  if(TARGET TBB::tbbmalloc_proxy AND NOT KERNBENCH_SANITIZED)
    target_link_libraries(${program} PRIVATE TBB::tbbmalloc_proxy)
    target_link_options(${program} PRIVATE LINKER:--no-as-needed)  # nothing names it
  endif()
endfunction()
