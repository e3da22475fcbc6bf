// Chooses among kernels of equal priority; see sindri/op/kernel_choice.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/kernel.h"

namespace sindri {

using MakeKernel = std::function<std::shared_ptr<Kernel>(const KernelDef&, const KernelQuery&)>;

/// Returns why the kernel cannot serve a query; empty: it can. Passes the kernel to its own reject function as KernelQuery::def.
inline std::string rejection(const KernelDef& k, const KernelQuery& q) { return k.reject != nullptr ? k.reject({q.op, q.attrs, q.in, q.out, &k}) : ""; }

/// Choices within a kernel (a cuDNN engine, a cuBLASLt algorithm). They are stored with those among kernels, so
/// repro.json, resumed runs, SINDRI_KERNEL_CHOICES and the ranks of a job treat both alike. Keys and choices are one
/// line each; a key starts with the library's name.
enum class ChoiceOrigin : uint8_t { kMeasured, kCached, kRecorded, kFixed };  ///< named as in kernel_choice_origins(); kFixed: a library's own first choice
/// Returns the choice that was given, was used before in this runtime, or is listed in SINDRI_KERNEL_CHOICES; empty:
/// none. Must not be followed in strict mode.
SINDRI_API std::string recorded_choice(const std::string& key);
/// Records that the choice is used. With kRecorded, a choice that is already known keeps its origin.
SINDRI_API void record_choice(const std::string& key, const std::string& choice, ChoiceOrigin origin);

/// Returns one of `alternatives` (at least one; all accept the query). `make` makes a kernel to time, for this query or
/// for one with fewer samples.
const KernelDef* choose_kernel(const KernelQuery& q, const std::vector<const KernelDef*>& alternatives, const MakeKernel& make);

}  // namespace sindri
