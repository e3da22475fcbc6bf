// Loops over the bytes of images, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "src/device/cpu/simd.h"

// pixels_invert: 255 - x. pixels_mask: x & mask. pixels_solarize: 255 - x from low to high.
// pixels_blur_row: (the 3 x 3 neighbours + 4 x) / 13 rounded to nearest, for bytes [channels, n - channels) of a row between two others; exact, because no
// sum is half way.
// pixels_add_to_first: adds modulo 256 to the first of every 3 bytes. pixels_reverse: reverses the order of pixels of `size` bytes each.
// pixels_grey: n pixels of 3 bytes -> n levels.
// Weights have 22 fractional bits and sum to 1; sums are rounded and clamped to bytes. pixels_weighted_rows: `count` rows of n bytes -> one.
// pixels_weighted_pixels: pixels of 3 bytes along a row; output i uses count[i] pixels from first[i] on with the weights from i * size on. Reads one byte
// past the last pixel.
SINDRI_SIMD_DECLARE(void pixels_invert(const uint8_t* x, int64_t n, uint8_t* y); void pixels_mask(const uint8_t* x, int64_t n, uint8_t mask, uint8_t* y);
                    void pixels_solarize(const uint8_t* x, int64_t n, uint8_t low, uint8_t high, uint8_t* y);
                    void pixels_blur_row(const uint8_t* above, const uint8_t* x, const uint8_t* below, int64_t n, int64_t channels, uint8_t* y);
                    void pixels_add_to_first(uint8_t* x, int64_t n, uint8_t shift);
                    void pixels_reverse(const uint8_t* x, int64_t pixels, int64_t bytes, uint8_t* y); void pixels_grey(const uint8_t* x, int64_t n, uint8_t* y);
                    void pixels_weighted_rows(const uint8_t* const* rows, const int* weights, int count, int64_t n, uint8_t* y);
                    void pixels_weighted_pixels(const uint8_t* x, const int* first, const int* count, const int* weights, int size, int width, uint8_t* y);)
