// A kernel for half types built from the float32 kernel of the same op: operands are widened into the workspace, and
// the result is rounded from there. For processors, or library versions, without instructions for the type.
#pragma once

#include <memory>
#include <string>

#include "sindri/op/kernel.h"

namespace sindri {

/// Returns an empty string if the first input has a half type and a kernel of more than default priority computes the
/// op in float32; else the reason.
std::string reject_via_float32(const KernelQuery& q);
std::unique_ptr<Kernel> make_via_float32(const KernelQuery& q);

/// Adds the kernel "onednn_via_f32" to an op, with a priority below oneDNN's own half kernels and above our general ones.
bool register_via_float32(const char* op);

}  // namespace sindri
