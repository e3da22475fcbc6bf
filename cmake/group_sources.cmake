# Most of a small file's compile time goes into headers: five to eight of them compiled together take little more than half the time. Files of a folder
# therefore use distinct names in their anonymous namespaces. To compile a file alone while working on it, set SINDRI_GROUP_SOURCES=OFF.
option(SINDRI_GROUP_SOURCES "Compile small files of a folder together" ON)

# sindri_group_sources(TARGET FOLDER EXCLUDED SOURCE...): compiles those of SOURCEs that lie directly in FOLDER in groups of at most eight. Skips names that
# match the regular expression EXCLUDED, and files that already have compile options or a group.
function(sindri_group_sources target folder excluded)
  if(NOT SINDRI_GROUP_SOURCES)
    return()
  endif()
  set(files "")
  foreach(source ${ARGN})
    get_source_file_property(alone ${source} SKIP_PRECOMPILE_HEADERS)
    get_filename_component(in ${source} DIRECTORY)
    get_filename_component(name ${source} NAME)
    if(in STREQUAL "${PROJECT_SOURCE_DIR}/${folder}" AND NOT name MATCHES "${excluded}" AND NOT alone)
      list(APPEND files ${source})
    endif()
  endforeach()
  list(LENGTH files count)
  math(EXPR groups "(${count} + 7) / 8")
  string(REPLACE "/" "_" prefix ${folder})
  set(at 0)
  foreach(source ${files})
    math(EXPR group "${at} * ${groups} / ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${prefix}_${group})
    math(EXPR at "${at} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A class's hidden state may use types of its file's anonymous namespace. gcc treats the files of a group as headers and warns about that.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
