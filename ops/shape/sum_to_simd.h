// Vectorised inner loops of sum_to. The order of additions depends on the arguments alone and is the same for every instruction
// set: short stretches are summed in float32 (float64 for doubles), the stretches in float64.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

SINDRI_SIMD_DECLARE(void add_rows_f32(const float* x, int64_t rows, int64_t stride, int64_t columns, double* sums);
                    void add_rows_f64(const double* x, int64_t rows, int64_t stride, int64_t columns, double* sums);
                    void add_rows_bf16(const uint16_t* x, int64_t rows, int64_t stride, int64_t columns, double* sums);
                    void add_rows_f16(const uint16_t* x, int64_t rows, int64_t stride, int64_t columns, double* sums);
                    double sum_run_f32(const float* x, int64_t n); double sum_run_f64(const double* x, int64_t n);
                    double sum_run_bf16(const uint16_t* x, int64_t n); double sum_run_f16(const uint16_t* x, int64_t n);)
