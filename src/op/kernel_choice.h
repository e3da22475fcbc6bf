// Choosing among kernels of equal priority; see sindri/op/kernel_choice.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sindri/op/kernel.h"

namespace sindri {

/// One of `alternatives` (at least one; all accept the query). `make` makes a kernel to time.
const KernelDef* choose_kernel(const KernelQuery& q, const std::vector<const KernelDef*>& alternatives,
                               const std::function<std::shared_ptr<Kernel>(const KernelDef&)>& make);

}  // namespace sindri
