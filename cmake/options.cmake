# Build options and the compile settings every Sindri target shares.
option(SINDRI_BUILD_TESTS "Build tests and benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(SINDRI_WERROR "Warnings are errors" OFF)
option(SINDRI_GLOO_PLUGIN "Build libsindri_gloo, which the gloo backend needs (OFF where no Gloo is installed)" ON)
option(SINDRI_MPI_PLUGIN "Build libsindri_mpi, which the mpi backend needs (OFF where no MPI is installed)" ON)
option(SINDRI_PYTHON "Build the Python extension module (needs Python 3.9 and pybind11 3.0; pip install ./python sets it)" OFF)
set(SINDRI_SANITIZE "" CACHE STRING "address: ASan+UBSan; thread: TSan with plain threads in place of OpenMP")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(SINDRI_CCACHE ccache)
if(SINDRI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With these settings the compiler cache reuses objects that another checkout, another preset's folder or pip compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${SINDRI_CCACHE})
endif()

add_library(sindri_settings INTERFACE)
target_compile_options(sindri_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -ffp-contract=off -fvisibility=hidden -fvisibility-inlines-hidden
  -ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=)
# Expressions that serve both scalars and vectors use & and | for logical operators.
target_compile_options(sindri_settings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>)
if(SINDRI_WERROR)
  target_compile_options(sindri_settings INTERFACE -Werror)
endif()
if(NOT SINDRI_SANITIZE STREQUAL "")
  # No optimisation: with it, instrumented code takes twice as long to compile. Line numbers and Sindri's own checks (no NDEBUG) stay.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
endif()
if(SINDRI_SANITIZE STREQUAL "address")
  # ASan already traps null pointers and wrong object sizes.
  target_compile_options(sindri_settings INTERFACE -fsanitize=address,undefined -fno-sanitize=null,object-size,vptr,nonnull-attribute,returns-nonnull-attribute
    -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(sindri_settings INTERFACE -fsanitize=address,undefined)
elseif(SINDRI_SANITIZE STREQUAL "thread")
  target_compile_options(sindri_settings INTERFACE -fsanitize=thread)
  target_compile_definitions(sindri_settings INTERFACE SINDRI_PLAIN_THREADS)
  target_link_options(sindri_settings INTERFACE -fsanitize=thread)
elseif(NOT SINDRI_SANITIZE STREQUAL "")
  message(FATAL_ERROR "SINDRI_SANITIZE=${SINDRI_SANITIZE}: use address or thread")
endif()

# The default linker, not lld: gcc gives some functions an empty .cold part, and lld 14 then indexes that part's unwind entry instead of the next function's. An
# exception thrown through that function would abort.

# Adds settings, include paths and private dependencies to a target of Sindri.
function(sindri_compile_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE sindri_settings)
  if(NOT target STREQUAL "sindri_program")
    target_link_libraries(${target} PUBLIC sindri_private_dependencies)
  endif()
endfunction()
