// Vectorised parts of the random ops: blocks of Philox words and the values computed from them. Integer and IEEE double
// arithmetic in a fixed order without fused operations, so results are bitwise identical on every instruction set.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

SINDRI_SIMD_DECLARE(
    // words[4b + w] = word w of the block with counter {first + b, counter[0], counter[1], counter[2]}.
    void philox_blocks(const uint32_t* key, const uint32_t* counter, uint32_t first, int64_t blocks, uint32_t* words);
    // words[stride·s + w] = word w of the block with counter {block, counter[0] + s, counter[1], counter[2]}; counter[0] must not wrap.
    void philox_samples(const uint32_t* key, const uint32_t* counter, uint32_t block, int64_t samples, int64_t stride, uint32_t* words);
    // y[i] = x[i]·scale if the upper 24 bits of words[i] are below the threshold, else 0.
    void dropout_f32(const float* x, const uint32_t* words, float* y, int64_t n, int32_t threshold, float scale);
    void dropout_bf16(const uint16_t* x, const uint32_t* words, uint16_t* y, int64_t n, int32_t threshold, float scale);
    // n (even) standard normal values: from n words, or in the second function from 2n words with 53 bits each.
    void normal_from_u32(const uint32_t* words, double* z, int64_t n); void normal_from_u64(const uint32_t* words, double* z, int64_t n);)
