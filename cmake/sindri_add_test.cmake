# One GoogleTest program per folder of tests/: tests/<name>/*_test.cc and helpers beside them.
find_package(GTest REQUIRED)
find_package(benchmark QUIET)
# Tests find their data by the path of the source tree. It stands in a header that only those that need it include: on the command
# line it would keep the compiler cache from finding what another checkout compiled.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/source_dir.h CONTENT "#define SINDRI_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"\n")
# Tests wait for the compiler more than for themselves.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(sindri_test_optimisation -O1)
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
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_tests ${sources})
  sindri_compile_settings(${name}_tests)
  target_link_libraries(${name}_tests PRIVATE sindri_objects ${sindri_simd_targets} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_tests PRIVATE ${PROJECT_BINARY_DIR}/generated)
  target_compile_options(${name}_tests PRIVATE ${sindri_test_optimisation})
  if(SINDRI_PCH)
    target_precompile_headers(${name}_tests REUSE_FROM sindri_tests_pch)
  endif()
  # Through a script that goes on behind a case that crashes.
  add_test(NAME ${name} COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/run_cases.py $<TARGET_FILE:${name}_tests>)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "SINDRI_PROGRAM=$<IF:$<TARGET_EXISTS:sindri_program>,$<PATH:ABSOLUTE_PATH,NORMALIZE,${CMAKE_BINARY_DIR}/sindri,/>,>")
endfunction()
