# SPDX-License-Identifier: Apache-2.0
# Finds Accellera SystemC 2.3.4 or later, in this order:
#   SYSTEMC_HOME (variable or environment): that installation and no other, however it was built;
#   a CMake package (SystemCLanguage: 3.0 and self-built ones; -DCMAKE_PREFIX_PATH or -DSystemCLanguage_DIR);
#   pkg-config (Debian's libsystemc-dev).
# Target: SystemC::systemc. Sets SystemC_CXX_STANDARD to the standard that the library was built with (SystemC refuses
# to link with any other), SystemC_VERSION, and SystemC_PC_REQUIRES or SystemC_PC_CFLAGS and SystemC_PC_LIBS: what a
# pkg-config file must say to use it. What is wrong is told in one sentence: as an error where SystemC is required, else
# in AccelleraSystemC_NOT_FOUND_MESSAGE.

set(AccelleraSystemC_NOT_FOUND_MESSAGE "")
set(SystemC_PC_REQUIRES "")
set(SystemC_PC_CFLAGS "")
set(SystemC_PC_LIBS "")
set(_systemc_home "${SYSTEMC_HOME}")
if(NOT _systemc_home)
  set(_systemc_home "$ENV{SYSTEMC_HOME}")
endif()

function(_systemc_import include_dir library)
  if(NOT TARGET SystemC::systemc)
    find_package(Threads REQUIRED)
    add_library(SystemC::systemc UNKNOWN IMPORTED GLOBAL)
    set_target_properties(SystemC::systemc PROPERTIES IMPORTED_LOCATION "${library}"
                          INTERFACE_INCLUDE_DIRECTORIES "${include_dir}" INTERFACE_LINK_LIBRARIES Threads::Threads)
  endif()
endfunction()

# The library's version symbol names the standard: sc_api_version_2_3_4_cxx201703L.
function(_systemc_standard_of library variable)
  file(STRINGS "${library}" api REGEX "sc_api_version_[0-9_]+_cxx[0-9]+L" LIMIT_COUNT 1)
  foreach(year 2011 2014 2017 2020 2023)
    if(api MATCHES "_cxx${year}")
      string(SUBSTRING ${year} 2 2 standard)
      set(${variable} ${standard} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

set(_systemc_include "")
set(_systemc_library "")
if(_systemc_home)
  find_path(_systemc_include_at_home systemc PATHS "${_systemc_home}" PATH_SUFFIXES include src NO_DEFAULT_PATH NO_CACHE)
  find_library(_systemc_library_at_home systemc PATHS "${_systemc_home}"
               PATH_SUFFIXES lib lib64 lib-linux64 lib-linuxaarch64 lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_DEFAULT_PATH NO_CACHE)
  if(_systemc_include_at_home AND _systemc_library_at_home)
    set(_systemc_include "${_systemc_include_at_home}")
    set(_systemc_library "${_systemc_library_at_home}")
    _systemc_import("${_systemc_include}" "${_systemc_library}")
    get_filename_component(_systemc_libdir "${_systemc_library}" DIRECTORY)
    set(SystemC_PC_CFLAGS "-I${_systemc_include}")
    set(SystemC_PC_LIBS "-L${_systemc_libdir} -lsystemc -pthread")
  else()
    string(CONCAT AccelleraSystemC_NOT_FOUND_MESSAGE
           "SystemC was not found in SYSTEMC_HOME=${_systemc_home} (looked for include/systemc and lib/libsystemc.so "
           "below it): give the folder that SystemC was installed into, or leave SYSTEMC_HOME out to use the system's.")
  endif()
else()
  find_package(SystemCLanguage CONFIG QUIET)
  if(SystemCLanguage_FOUND)
    get_target_property(_systemc_include SystemC::systemc INTERFACE_INCLUDE_DIRECTORIES)
    list(GET _systemc_include 0 _systemc_include)
    foreach(_systemc_build "" _RELEASE _RELWITHDEBINFO _DEBUG _NOCONFIG)
      get_target_property(_systemc_at SystemC::systemc IMPORTED_LOCATION${_systemc_build})
      if(_systemc_at AND NOT _systemc_library)
        set(_systemc_library "${_systemc_at}")
      endif()
    endforeach()
    get_filename_component(_systemc_libdir "${_systemc_library}" DIRECTORY)
    set(SystemC_PC_CFLAGS "-I${_systemc_include}")
    set(SystemC_PC_LIBS "-L${_systemc_libdir} -lsystemc -pthread")
  else()
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET GLOBAL systemc)
    endif()
    if(SYSTEMC_FOUND)
      if(NOT TARGET SystemC::systemc)
        add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
        target_link_libraries(SystemC::systemc INTERFACE PkgConfig::SYSTEMC)
      endif()
      pkg_get_variable(_systemc_include systemc includedir)
      find_library(_systemc_library_of_pc systemc HINTS ${SYSTEMC_LIBRARY_DIRS} NO_CACHE)
      set(_systemc_library "${_systemc_library_of_pc}")
      set(SystemC_PC_REQUIRES systemc)
    else()
      string(CONCAT AccelleraSystemC_NOT_FOUND_MESSAGE
             "SystemC was not found: install it (Debian 12: apt-get install libsystemc-dev) or give the folder that a "
             "build of it was installed into by -DSYSTEMC_HOME=DIR.")
    endif()
  endif()
endif()

if(NOT AccelleraSystemC_NOT_FOUND_MESSAGE)
  _systemc_standard_of("${_systemc_library}" SystemC_CXX_STANDARD)
  if(NOT SystemC_CXX_STANDARD)
    set(SystemC_CXX_STANDARD 17)
  endif()
  set(SystemC_VERSION "")
  if(EXISTS "${_systemc_include}/sysc/kernel/sc_ver.h")
    file(STRINGS "${_systemc_include}/sysc/kernel/sc_ver.h" _systemc_numbers
         REGEX "#define SC_VERSION_(MAJOR|MINOR|PATCH)[ ]+[0-9]+")
    string(REGEX REPLACE "[^0-9;]" "" SystemC_VERSION "${_systemc_numbers}")
    string(REPLACE ";" "." SystemC_VERSION "${SystemC_VERSION}")
  endif()
  if(SystemC_CXX_STANDARD LESS 17)
    string(CONCAT AccelleraSystemC_NOT_FOUND_MESSAGE
           "kernbench needs C++17, but the SystemC found was built with C++${SystemC_CXX_STANDARD}: "
           "use one built with C++17 or later (Debian 12: apt-get install libsystemc-dev).")
  elseif(CMAKE_CXX_STANDARD AND NOT CMAKE_CXX_STANDARD EQUAL SystemC_CXX_STANDARD)
    string(CONCAT AccelleraSystemC_NOT_FOUND_MESSAGE
           "CMAKE_CXX_STANDARD is ${CMAKE_CXX_STANDARD}, but the SystemC found was built with "
           "C++${SystemC_CXX_STANDARD} and links with no other: configure with "
           "-DCMAKE_CXX_STANDARD=${SystemC_CXX_STANDARD} or leave it out.")
  elseif(NOT CMAKE_CXX_STANDARD AND CMAKE_CXX_STANDARD_COMPUTED_DEFAULT GREATER SystemC_CXX_STANDARD)
    string(CONCAT AccelleraSystemC_NOT_FOUND_MESSAGE
           "the compiler's own standard is C++${CMAKE_CXX_STANDARD_COMPUTED_DEFAULT}, but the SystemC found was built "
           "with C++${SystemC_CXX_STANDARD} and links with no other: configure with "
           "-DCMAKE_CXX_STANDARD=${SystemC_CXX_STANDARD}.")
  endif()
endif()

if(AccelleraSystemC_NOT_FOUND_MESSAGE)
  set(AccelleraSystemC_FOUND FALSE)
  if(AccelleraSystemC_FIND_REQUIRED)
    message(FATAL_ERROR "${AccelleraSystemC_NOT_FOUND_MESSAGE}")
  endif()
else()
  set(AccelleraSystemC_FOUND TRUE)
  if(NOT AccelleraSystemC_FIND_QUIETLY)
    message(STATUS "Found SystemC ${SystemC_VERSION}: ${_systemc_library} (C++${SystemC_CXX_STANDARD})")
  endif()
endif()
