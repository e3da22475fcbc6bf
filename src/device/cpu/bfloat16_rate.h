// How fast this processor's bfloat16 instructions are.
#pragma once

namespace sindri {

/// Whether a vector's bfloat16 dot products take more time than the float32 multiply-adds that do the same work, measured once: there are processors
/// that have the former in one unit of two, or at half the rate. False where the processor has no such instructions, and where it has tiles.
bool bfloat16_slower_than_float32();

}  // namespace sindri
