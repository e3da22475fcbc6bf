# Files named *_simd.cc contain vectorised loops. Each is compiled once per instruction set into a separate namespace (sindri::simd_scalar, simd_avx2,
# simd_avx512); src/device/cpu/simd.h picks one at run time. Never -march=native.
set(sindri_simd_flags_scalar "")
set(sindri_simd_flags_avx2 -mavx2 -mfma -mf16c -mprefer-vector-width=256)
set(sindri_simd_flags_avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx2 -mfma -mf16c -mprefer-vector-width=512)

function(sindri_add_simd main)
  if(NOT ARGN)
    return()
  endif()
  set(targets "")
  foreach(isa scalar avx2 avx512)
    set(target sindri_simd_${isa})
    add_library(${target} OBJECT ${ARGN})
    sindri_compile_settings(${target})
    target_compile_definitions(${target} PRIVATE SINDRI_SIMD_NS=simd_${isa})
    # Processors without AVX2 date from before 2013: the scalar version has to run, but is not worth minutes of unrolling. Unrolled loops take minutes more to
    # compile when they are instrumented.
    set(level -O3)
    if(NOT SINDRI_SANITIZE STREQUAL "")
      set(level -O1)
    elseif(isa STREQUAL "scalar")
      set(level -O2)
    endif()
    target_compile_options(${target} PRIVATE ${level} -fno-math-errno -fno-trapping-math ${sindri_simd_flags_${isa}})
    list(APPEND targets ${target})
  endforeach()
  set(sindri_simd_targets ${targets} PARENT_SCOPE)
endfunction()
