// Errors that kernels find in their operands: a label outside the classes, an index outside a dimension. A kernel
// cannot throw, so it writes the first such error into a record in pinned memory. The host checks the record whenever
// it has waited for work of the device, and throws what the CPU's kernel would have thrown. Of several errors in flight
// one is kept, not necessarily that of the lowest row.
//
//    [[noreturn]] void throw_bad_label(const ErrorFound& e) { throw DataError(…, e.op, e.found[0], …); }
//    launch(call, grid, kernel, …, error_site(call, throw_bad_label, {classes}));
//    in the kernel:  if (label >= classes) report(site, label, row);
//
// The kernel continues: it must not use the invalid value, and writes NaN or 0 instead of a result.
#pragma once

#include <array>
#include <cstdint>

#include "src/device/cuda/language.h"
#include "src/device/cuda/launch.h"
#include "src/device/cuda/stream.h"

namespace sindri::cuda {

/// An argument of kernels that may report an error: the record, and values known to the host at the launch.
struct ErrorSite {
  ErrorRecord* record;
  uint64_t op, thrower;
  int64_t known[ErrorFound::kKnown];
};

/// `thrower` must throw; `known` are numbers that its message needs.
inline ErrorSite error_site(const Call& call, ErrorThrower thrower, const std::array<int64_t, ErrorFound::kKnown>& known) {
  ErrorSite s{error_record(call.stream.device()), reinterpret_cast<uint64_t>(call.query.op.name), reinterpret_cast<uint64_t>(thrower), {}};
  for (int i = 0; i < ErrorFound::kKnown; ++i) s.known[i] = known[static_cast<size_t>(i)];
  return s;
}

/// Reports that the calling thread found `a` at `b`. Does nothing while another error is pending.
SINDRI_DEVICE void report(const ErrorSite& site, int64_t a, int64_t b) {
  ErrorRecord* const r = site.record;
  if (atomicCAS(&r->state, ErrorRecord::kFree, ErrorRecord::kTaken) != ErrorRecord::kFree) return;
  r->op = site.op;
  r->thrower = site.thrower;
  for (int i = 0; i < ErrorFound::kKnown; ++i) r->known[i] = site.known[i];
  r->found[0] = a;
  r->found[1] = b;
  __threadfence_system();  // the host must see the rest before the state
  (void)atomicExch(&r->state, ErrorRecord::kWritten);
}

}  // namespace sindri::cuda
