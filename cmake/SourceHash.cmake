# SPDX-License-Identifier: Apache-2.0
# kernbench_hash_sources(<output.cpp> FILE ...): kernbench's version with a hash of the sources as its build metadata, for
# phase2/log/version.h. Of any tree with the same sources it is the same; a change of a byte makes it anew.
set(source_hash_script ${CMAKE_CURRENT_LIST_FILE})

function(kernbench_hash_sources output)
  set(names)
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${file})
    string(APPEND names "${name}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output}.list CONTENT "${names}" @ONLY)
  add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DVERSION=${PROJECT_VERSION} -P ${source_hash_script}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      DEPENDS ${ARGN} ${output}.list ${source_hash_script} VERBATIM)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(STRINGS ${OUTPUT}.list names)
  list(SORT names)
  set(hashes)
  foreach(name IN LISTS names)
    file(SHA256 ${name} hash)
    string(APPEND hashes "${hash} ${name}\n")
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 12 hash)
  file(WRITE ${OUTPUT} "#include \"kernbench/phase2/log/version.h\"\n\n"
                       "const char* kernbench::version() { return \"${VERSION}+${hash}\"; }\n")
endif()
