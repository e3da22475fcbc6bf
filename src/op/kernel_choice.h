// Choosing among kernels of equal priority; see sindri/op/kernel_choice.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/kernel.h"

namespace sindri {

using MakeKernel = std::function<std::shared_ptr<Kernel>(const KernelDef&, const KernelQuery&)>;

/// Why the kernel cannot serve a query; empty: it can. It finds itself in KernelQuery::def.
inline std::string rejection(const KernelDef& k, const KernelQuery& q) { return k.reject != nullptr ? k.reject({q.op, q.attrs, q.in, q.out, &k}) : ""; }

/// Choices within a kernel (a cuDNN engine, a cuBLASLt algorithm). They are kept with those among kernels, so repro.json, resumed runs, SINDRI_KERNEL_CHOICES
/// and the ranks of a job treat both alike. Keys and choices are one line each; keys begin with the library's name.
enum class ChoiceOrigin : uint8_t { kMeasured, kCached, kRecorded, kFixed };  ///< as kernel_choice_origins() words them; kFixed: a library's own first choice
/// The choice that was given, was used before in this runtime, or stands in SINDRI_KERNEL_CHOICES; empty: none. Not to be followed in strict mode.
SINDRI_API std::string recorded_choice(const std::string& key);
/// Notes that the choice is used. With kRecorded a choice that is known already keeps its origin.
SINDRI_API void record_choice(const std::string& key, const std::string& choice, ChoiceOrigin origin);

/// One of `alternatives` (at least one; all accept the query). `make` makes a kernel to time, for this query or one of fewer samples.
const KernelDef* choose_kernel(const KernelQuery& q, const std::vector<const KernelDef*>& alternatives, const MakeKernel& make);

}  // namespace sindri
