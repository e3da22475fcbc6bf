// The speed of this processor's bfloat16 instructions.
#pragma once

namespace sindri {

/// Returns whether a vector's bfloat16 dot products take longer than the float32 multiply-adds that do the same work,
/// measured once: some processors execute the former in one unit of two, or at half the rate. False if the processor
/// has no such instructions, or if it has tiles.
bool bfloat16_slower_than_float32();

}  // namespace sindri
