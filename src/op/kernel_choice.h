// Choosing among kernels of equal priority; see sindri/op/kernel_choice.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sindri/op/kernel.h"

namespace sindri {

using MakeKernel = std::function<std::shared_ptr<Kernel>(const KernelDef&, const KernelQuery&)>;

/// Why the kernel cannot serve a query; empty: it can. It finds itself in KernelQuery::def.
inline std::string rejection(const KernelDef& k, const KernelQuery& q) { return k.reject != nullptr ? k.reject({q.op, q.attrs, q.in, q.out, &k}) : ""; }

/// One of `alternatives` (at least one; all accept the query). `make` makes a kernel to time, for this query or one of fewer samples.
const KernelDef* choose_kernel(const KernelQuery& q, const std::vector<const KernelDef*>& alternatives, const MakeKernel& make);

}  // namespace sindri
