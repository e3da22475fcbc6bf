// Kernels: how an op is computed on a device. A KernelDef says whether it can serve a query and makes a Kernel for it;
// the Kernel is cached and run many times. Several per op and device are tried in order of priority.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

class Stream;
struct KernelDef;

/// Memory of one operand, in the layout its meta states.
struct Buffer {
  void* data = nullptr;  ///< an address of the kernel's device
  const TensorMeta* meta = nullptr;
  const void* prepared = nullptr;  ///< this operand as Kernel::prepare left it, or null; data may be null then
  template <class T> T* as() const { return static_cast<T*>(data); }
};

/// What a kernel is asked to serve: an op, its attributes, and the metas of its operands and results.
struct KernelQuery {
  const OpDef& op;
  const Attrs& attrs;
  Span<const TensorMeta> in, out;
  const KernelDef* def = nullptr;  ///< the kernel that is asked, while it is
  /// Where the operands are, and the results go.
  Device device() const { return !in.empty() ? in[0].device : !out.empty() ? out[0].device : Device{}; }
};

/// What a kernel may use while it runs, beside its operands.
struct ExecContext {
  void* workspace = nullptr;  ///< Kernel::workspace_bytes() bytes of the device, 64-byte aligned, contents undefined
  /// The queue that a kernel of an asynchronous device puts its work on (a backend's own class, with its library handles); null on the CPU,
  /// whose kernels have done their work when run() returns.
  Stream* stream = nullptr;
};

/// What a run of a kernel costs beside its arithmetic, as far as shapes tell.
struct KernelCost {
  int64_t extra_bytes = 0;  ///< moved in addition to one reading of each operand and one writing of each result
  int launches = 1;  ///< kernels that a device starts
};

/// Made once per query and cached: owns descriptors, plans, packed sizes. run() may be called from several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual int64_t workspace_bytes() const { return 0; }
  virtual KernelCost cost() const { return {}; }
  /// Bytes of operand `in` in a form of the kernel's own (packed weights); 0: it has none. Where an operand keeps its value over
  /// many runs, the caller prepares it once and passes Buffer::prepared.
  virtual int64_t prepared_bytes(size_t in) const {
    (void)in;
    return 0;
  }
  virtual void prepare(ExecContext& ctx, size_t in, const Buffer& from, void* to) const { (void)ctx, (void)in, (void)from, (void)to; }
  virtual void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) = 0;
};

using SimpleKernelFn = void (*)(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out);

/// A kernel as it is registered: what it serves, and how it is made.
struct KernelDef {
  const char* op;
  const char* name;  ///< "onednn", "avx", "reference"
  int priority = 0;  ///< highest first; reference kernels have -100
  /// Empty: it can run; else the reason, shown by SINDRI_LOG=dispatch=debug. Null: it always can.
  std::string (*reject)(const KernelQuery&) = nullptr;
  std::unique_ptr<Kernel> (*make)(const KernelQuery&) = nullptr;
  /// Instead of make, for kernels without a plan.
  SimpleKernelFn simple = nullptr;
  Device::Kind device = Device::kCpu;
  const void* data = nullptr;  ///< the author's own: reject and make find it in KernelQuery::def
};
inline constexpr int kReferencePriority = -100;

/// Adds a kernel at start-up: `const bool kReg = register_kernel({.op = "relu", .name = "reference", …});`.
SINDRI_API bool register_kernel(KernelDef def);
/// The kernels of an op for a kind of device, by priority.
SINDRI_API std::vector<const KernelDef*> kernels_of(const std::string& op, Device::Kind device = Device::kCpu);

/// Picks and makes (or finds in the cache) the kernel for a query. `only` restricts the choice to one kernel name.
/// Throws DeviceError listing every kernel's reason when none can run.
SINDRI_API std::shared_ptr<Kernel> select_kernel(const KernelQuery& q, const char* only = nullptr);
/// As above without the cache, and says which KernelDef it was.
SINDRI_API std::shared_ptr<Kernel> make_kernel(const KernelQuery& q, const KernelDef** chosen, const char* only = nullptr);

/// While it lives, eager ops on this thread use only kernels of this name where the op has one (tests; SINDRI_KERNEL sets it process-wide).
class SINDRI_API ForceKernel {
 public:
  explicit ForceKernel(const char* name);
  ~ForceKernel();
  ForceKernel(const ForceKernel&) = delete;
  ForceKernel& operator=(const ForceKernel&) = delete;

 private:
  const char* previous_;
};
SINDRI_API const char* forced_kernel();

}  // namespace sindri
