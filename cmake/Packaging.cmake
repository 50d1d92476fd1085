# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and what other projects find it by: a CMake package, pkg-config files, a .deb
# (cpack in the build folder). Everything is relative to where it lies, so the tree may be moved.
# The including file has made the libraries, each with its folder of headers (docs/integration.md).
include(CMakePackageConfigHelpers)

set(kernbench_libraries phase2 kernel_api attributes models topology platform c)
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernbench)
set(topologies_dir ${CMAKE_INSTALL_DATADIR}/kernbench/topologies)

set(installed_programs kernbench kernbench-replay)
if(TARGET kernbench-web)
  list(APPEND installed_programs kernbench-web)
endif()
list(TRANSFORM kernbench_libraries PREPEND kernbench_ OUTPUT_VARIABLE installed_targets)
list(APPEND installed_targets ${installed_programs})
add_custom_target(installed DEPENDS ${installed_targets})  # without the tests
# `scripts/run` builds what it runs: what else is installed is built when it is missed.
list(TRANSFORM installed_targets REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE installed_files)
install(CODE "foreach(file IN ITEMS ${installed_files})
  if(NOT EXISTS \"\${file}\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target installed
                    COMMAND_ERROR_IS_FATAL ANY)
    break()
  endif()
endforeach()")
# The library for C is found without the others, which its users do not link with: the package's file says where it is.
foreach(name IN LISTS kernbench_libraries)
  if(name STREQUAL c)
    install(TARGETS kernbench_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  else()
    install(TARGETS kernbench_${name} EXPORT kernbench-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
install(TARGETS ${installed_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Man pages and completions are the program's own words (platform/cli/help.h).
set(said_dir ${CMAKE_BINARY_DIR}/generated/said)
install(CODE "set(program \"$<TARGET_FILE:kernbench>\")
execute_process(COMMAND \"\${program}\" man --into \"${said_dir}/man1\" COMMAND_ERROR_IS_FATAL ANY)
foreach(shell IN ITEMS bash zsh)
  execute_process(COMMAND \"\${program}\" completion \${shell} OUTPUT_FILE \"${said_dir}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
endforeach()")
install(DIRECTORY ${said_dir}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${said_dir}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kernbench)
install(FILES ${said_dir}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _kernbench)
install(EXPORT kernbench-targets NAMESPACE kernbench:: DESTINATION ${cmake_dir})
install(DIRECTORY topologies/ DESTINATION ${topologies_dir} FILES_MATCHING PATTERN "*.yaml" PATTERN "*.schema.json")
install(DIRECTORY platform/c_api/python/kernbench DESTINATION ${CMAKE_INSTALL_DATADIR}/kernbench/python
        FILES_MATCHING PATTERN "*.py")
# The installed README names the project's other pages, which lie in its sources, without links to them.
file(READ README.md readme)
string(REGEX REPLACE "!?\\[([^]\n]*)\\]\\((docs|examples|sc_tests|systemc_models|platform|[A-Z]+\\.md)[^)\n]*\\)" "\\1" readme
       "${readme}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/package/README.md CONTENT "${readme}" @ONLY)
install(FILES LICENSE ${CMAKE_BINARY_DIR}/package/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES platform/study/sweep/LICENSE.sobol DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Headers: the public ones by their names. What they include beside them goes below kernbench/detail.
get_property(public_headers GLOBAL PROPERTY KERNBENCH_PUBLIC_HEADERS)
set(headers_dir ${CMAKE_BINARY_DIR}/package/include)
set(public_headers_file ${CMAKE_BINARY_DIR}/package/public_headers.txt)
file(WRITE ${public_headers_file} "${public_headers}")
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -D \"source=${CMAKE_CURRENT_SOURCE_DIR}\" -D \"into=${headers_dir}\"
                             -D \"list=${public_headers_file}\" -P \"${CMAKE_CURRENT_SOURCE_DIR}/cmake/InstalledHeaders.cmake\"
                     COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${headers_dir}/kernbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(library_dir ${CMAKE_INSTALL_LIBDIR})
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(cmake/kernbench-config.cmake.in ${CMAKE_BINARY_DIR}/package/kernbench-config.cmake.in
                              INSTALL_DESTINATION ${cmake_dir} PATH_VARS topologies_dir library_dir include_dir)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/package/kernbench-config.cmake
     INPUT ${CMAKE_BINARY_DIR}/package/kernbench-config.cmake.in)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/kernbench-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/kernbench-config.cmake
              ${CMAKE_BINARY_DIR}/package/kernbench-config-version.cmake cmake/FindAccelleraSystemC.cmake
        DESTINATION ${cmake_dir})

# pkg-config: one file a library, kernbench-platform.pc and so on.
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(as_systemc " (compile with -std=c++${SystemC_CXX_STANDARD}, as SystemC)")
function(kernbench_pkg_config name description requires)
  set(extra_cflags ${ARGV3})
  set(extra_libs ${ARGV4})
  configure_file(cmake/kernbench.pc.in ${CMAKE_BINARY_DIR}/package/kernbench-${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package/kernbench-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
kernbench_pkg_config(phase2 "op log, replay and arithmetic" "")
kernbench_pkg_config(kernel_api "what a kernel is written with" "kernbench-phase2")
kernbench_pkg_config(attributes "attributes of blocks" "")
kernbench_pkg_config(models "SystemC blocks" "kernbench-kernel_api kernbench-attributes ${SystemC_PC_REQUIRES}"
                     "${SystemC_PC_CFLAGS}" "${SystemC_PC_LIBS}")
kernbench_pkg_config(topology "YAML to a flat graph" "kernbench-attributes kernbench-phase2")
kernbench_pkg_config(platform "a system as a SystemC module" "kernbench-models kernbench-topology")
set(as_systemc "")
kernbench_pkg_config(c "a system for tools in C and other languages" "")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernbench)
set(CPACK_PACKAGE_CONTACT "kernbench maintainers")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libsystemc-dev")  # its headers are in ours
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
