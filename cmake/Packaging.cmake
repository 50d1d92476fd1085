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
foreach(name IN LISTS kernbench_libraries)
  install(TARGETS kernbench_${name} EXPORT kernbench-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES platform/study/sweep/LICENSE.sobol DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES platform/observe/page/uplot/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.uPlot)

# Headers: those of the libraries' folders but for what is only between a library's own files.
file(GLOB public_headers RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS
     phase2/*/*.h kernel_api/*.h kernel_api/collectives/*.h systemc_models/*/*.h platform/*.h platform/elaborate/*.h
     platform/launch/*.h platform/host/*.h platform/c_api/*.h platform/entry/run.h platform/run/*.h platform/run/*/*.h
     platform/work/*.h platform/study/what_if/*.h platform/study/diff/*.h platform/observe/*.h platform/insight/*.h platform/energy/*.h platform/topology/*/*.h)
list(FILTER public_headers EXCLUDE REGEX "^phase2/tool/")
set(private_headers
    platform/c_api/host_side.h
    kernel_api/collectives/flows.h kernel_api/collectives/lane.h
    phase2/eval/arithmetic.h phase2/eval/axis.h phase2/eval/elementwise.h phase2/eval/eval.h phase2/eval/eval_atomic.h phase2/eval/eval_math.h
    phase2/eval/minifloat.h
    phase2/graph/replay_graph.h phase2/graph/replay_operands.h phase2/graph/threads.h phase2/graph/value_pool.h
    phase2/io/input_file.h phase2/log/checksum.h phase2/log/oplog_sqlite.h phase2/log/sqlite_database.h
    phase2/op/address_text.h phase2/op/json_values.h phase2/op/op_forms.h phase2/op/runs.h phase2/text/json_reader.h
    phase2/text/json_writer.h phase2/text/print.h phase2/text/table.h phase2/text/text.h
    platform/elaborate/fabric_watch.h platform/observe/counter_window.h platform/observe/json_trace_writer.h
    platform/observe/memory_bandwidth.h
    platform/observe/perfetto_trace_writer.h platform/observe/protobuf.h
    platform/observe/trace_file_signals.h platform/observe/trace_writer.h
    platform/insight/timeline.h platform/observe/html_report.h
    platform/run/child/child_pool.h platform/run/child/child_process.h platform/run/host_phases.h platform/work/json_fields.h platform/run/run_parts.h
    platform/run/spec/sha256.h platform/run/spec/shell_words.h platform/run/child/stop_signals.h
    platform/topology/build/builders.h platform/topology/build/flat_loader.h platform/topology/build/graph_builder.h
    platform/topology/build/mesh_cache.h platform/topology/build/mesh_planner.h platform/topology/build/network_builder.h
    platform/topology/build/settings.h
    platform/topology/build/validate.h platform/topology/graph/block.h platform/topology/graph/edge_kinds.h
    platform/topology/graph/mesh_plan.h platform/topology/read/block_reader.h platform/topology/read/spec.h
    platform/topology/read/yaml_file.h
    platform/topology/read/yaml_reader.h platform/topology/read/yaml_tree.h platform/topology/view/diagram.h
    platform/topology/view/floorplan.h systemc_models/fabric/flit_links.h
    systemc_models/fabric/wormhole_links.h)
list(REMOVE_ITEM public_headers ${private_headers})
install(FILES phase2/op/elementwise_ops.inc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernbench/phase2/op)  # of fn.h
# Of use with a library that kernbench does not need; no other header includes it.
install(FILES platform/cci/cci_parameters.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernbench/platform/cci)
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernbench/${folder})
endforeach()

configure_package_config_file(cmake/kernbench-config.cmake.in ${CMAKE_BINARY_DIR}/package/kernbench-config.cmake
                              INSTALL_DESTINATION ${cmake_dir} PATH_VARS topologies_dir)
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
