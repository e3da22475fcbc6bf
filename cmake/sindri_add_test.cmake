# One GoogleTest program per folder of tests/: tests/<name>/*_test.cc and the helpers next to them. sindri_add_test(NAME [SHARDS N])
find_package(GTest REQUIRED)
find_package(benchmark QUIET)
# Tests find their data by the path of the source tree. Only files that need the path include the header that defines it: on the command line it would keep the
# compiler cache from finding objects that another checkout compiled.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/source_dir.h CONTENT "#define SINDRI_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"\n")
# No optimisation: compiling tests takes longer than running them, and the code they exercise is compiled with the library.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(sindri_test_optimisation -O0)
endif()
# One precompiled header for all test programs.
if(SINDRI_PCH)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/tests_pch.cc CONTENT "// Holds nothing: its target makes the precompiled header of the tests.\n")
  add_library(sindri_tests_pch OBJECT ${PROJECT_BINARY_DIR}/generated/tests_pch.cc)
  set_target_properties(sindri_tests_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(sindri_tests_pch PRIVATE -fPIE)  # as the programs that use it are compiled
  sindri_compile_settings(sindri_tests_pch)
  target_link_libraries(sindri_tests_pch PRIVATE GTest::gtest GTest::gmock)
  target_compile_options(sindri_tests_pch PRIVATE ${sindri_test_optimisation})
  sindri_precompile(sindri_tests_pch <gtest/gtest.h> <gmock/gmock.h>)
endif()
function(sindri_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "")
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  sindri_compile_settings(${name}_tests)
  target_link_libraries(${name}_tests PRIVATE sindri_objects sindri_app ${sindri_simd_targets} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_tests PRIVATE ${PROJECT_BINARY_DIR}/generated)
  target_compile_options(${name}_tests PRIVATE ${sindri_test_optimisation})
  if(SINDRI_PCH)
    target_precompile_headers(${name}_tests REUSE_FROM sindri_tests_pch)
    # Half of a test's compile time goes into templates that the next file needs too. A file whose helpers have the same names as another's opens its own
    # namespace.
    set_target_properties(${name}_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
  # Runs in SHARDS parts in parallel.
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    sindri_add_run(${name} ${name}.${shard} "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# sindri_add_run(PROGRAM NAME.PART ENVIRONMENT) runs a test program with an environment, through a script that continues after a case that crashes.
function(sindri_add_run name test environment)
  set(program "SINDRI_PROGRAM=$<IF:$<TARGET_EXISTS:sindri_program>,$<PATH:ABSOLUTE_PATH,NORMALIZE,${CMAKE_BINARY_DIR}/sindri,/>,>")
  add_test(NAME ${test} COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/run_cases.py --results ${test} $<TARGET_FILE:${name}_tests>)
  set_tests_properties(${test} PROPERTIES ENVIRONMENT "${program};${environment}")
endfunction()
