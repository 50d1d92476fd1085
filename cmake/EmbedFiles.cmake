# SPDX-License-Identifier: Apache-2.0
# kernbench_embed_files(<output.cpp> <namespace> NAME=FILE ...): texts as constants in C++, made anew when a file changes.
set(embed_files_script ${CMAKE_CURRENT_LIST_FILE})

function(kernbench_embed_files output namespace)
  set(files)
  foreach(item IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]+=" "" file ${item})
    list(APPEND files ${file})
  endforeach()
  list(JOIN ARGN "|" items)
  add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DITEMS=${items} -P ${embed_files_script}
      DEPENDS ${files} ${embed_files_script} VERBATIM)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(text "#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
  string(REPLACE "|" ";" items "${ITEMS}")
  foreach(item IN LISTS items)
    string(REGEX MATCH "^([^=]+)=(.*)$" matched "${item}")
    set(name ${CMAKE_MATCH_1})
    file(READ "${CMAKE_MATCH_2}" content)
    string(FIND "${content}" ")embedded\"" clash)
    if(NOT clash EQUAL -1)
      message(FATAL_ERROR "${CMAKE_MATCH_2}: holds the end of a raw string")
    endif()
    string(APPEND text "extern const std::string_view ${name};\n"
                       "const std::string_view ${name} = R\"embedded(${content})embedded\";\n")
  endforeach()
  file(WRITE "${OUTPUT}" "${text}}  // namespace ${NAMESPACE}\n")
endif()
