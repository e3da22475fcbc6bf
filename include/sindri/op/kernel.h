// Kernels: implementations of an op for a device. A KernelDef accepts or rejects a query and makes a Kernel for it; the Kernel is
// cached and run many times. Several kernels per op and device are tried in order of priority.
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

/// Memory of one operand, in its meta's layout.
struct Buffer {
  void* data = nullptr;  ///< an address on the kernel's device
  const TensorMeta* meta = nullptr;  ///< shape, type, layout and device
  const void* prepared = nullptr;  ///< this operand as Kernel::prepare wrote it, or null; data may be null then
  template <class T> T* as() const { return static_cast<T*>(data); }
};

/// A request for a kernel: an op, its attributes, and the metas of its operands and results.
struct KernelQuery {
  const OpDef& op;
  const Attrs& attrs;
  Span<const TensorMeta> in, out;
  const KernelDef* def = nullptr;  ///< the KernelDef whose reject or make is being called
  /// The device of the operands and results.
  Device device() const { return !in.empty() ? in[0].device : !out.empty() ? out[0].device : Device{}; }
};

/// Resources of a kernel run besides its operands.
struct ExecContext {
  void* workspace = nullptr;  ///< Kernel::workspace_bytes() bytes on the device, 64-byte aligned, contents undefined
  /// The queue for the kernel's work on an asynchronous device (a class of the backend, with its library handles). Null on the
  /// CPU, whose kernels have finished when run() returns.
  Stream* stream = nullptr;
};

/// Cost of a kernel run besides its arithmetic, as far as it follows from shapes.
struct KernelCost {
  int64_t extra_bytes = 0;  ///< bytes moved in addition to reading each operand and writing each result once
  int launches = 1;  ///< kernels started on a device
};

/// An implementation bound to a query. Made once per query and cached; owns descriptors, plans and packed sizes. run() may be
/// called from several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Bytes of ExecContext::workspace that run() needs.
  virtual int64_t workspace_bytes() const { return 0; }
  /// Cost of a run besides its arithmetic.
  virtual KernelCost cost() const { return {}; }
  /// Bytes of operand `in` in the kernel's private form (packed weights); 0: none. If an operand keeps its value over many runs,
  /// the caller prepares it once and passes Buffer::prepared.
  virtual int64_t prepared_bytes(size_t in) const {
    (void)in;
    return 0;
  }
  /// Writes operand `in` to `to` in the private form, prepared_bytes(in) bytes.
  virtual void prepare(ExecContext& ctx, size_t in, const Buffer& from, void* to) const { (void)ctx, (void)in, (void)from, (void)to; }
  /// Computes the outputs, or puts that work on ctx.stream.
  virtual void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) = 0;
};

/// A kernel that keeps nothing per query, as one function.
using SimpleKernelFn = void (*)(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out);

/// A registered kernel: what it accepts and how it is made.
struct KernelDef {
  const char* op;  ///< name of the op
  const char* name;  ///< "onednn", "avx", "reference"
  int priority = 0;  ///< highest first; reference kernels have -100
  /// Returns an empty string if the kernel can run, else the reason, which SINDRI_LOG=dispatch=debug shows. Null: it always can.
  std::string (*reject)(const KernelQuery&) = nullptr;
  /// Makes the kernel for an accepted query.
  std::unique_ptr<Kernel> (*make)(const KernelQuery&) = nullptr;
  /// Used instead of `make` by kernels that keep nothing per query.
  SimpleKernelFn simple = nullptr;
  Device::Kind device = Device::kCpu;  ///< kind of device it runs on
  const void* data = nullptr;  ///< for the author's use; reject and make read it through KernelQuery::def
};
/// Priority of reference kernels.
inline constexpr int kReferencePriority = -100;

/// Registers a kernel at start-up: `const bool kReg = register_kernel({.op = "relu", .name = "reference", …});`.
SINDRI_API bool register_kernel(KernelDef def);
/// The kernels of an op for a kind of device, in order of priority.
SINDRI_API std::vector<const KernelDef*> kernels_of(const std::string& op, Device::Kind device = Device::kCpu);

/// Selects the kernel for a query and makes it or finds it in the cache. `only` restricts the choice to one kernel name. Throws
/// DeviceError with every kernel's reason if none can run.
SINDRI_API std::shared_ptr<Kernel> select_kernel(const KernelQuery& q, const char* only = nullptr);
/// As select_kernel, without the cache. Sets `chosen` to the selected KernelDef.
SINDRI_API std::shared_ptr<Kernel> make_kernel(const KernelQuery& q, const KernelDef** chosen, const char* only = nullptr);

/// Restricts eager ops on this thread to kernels of this name for the life of the object, for ops that have one (tests).
/// SINDRI_KERNEL does so for the process.
class SINDRI_API ForceKernel {
 public:
  explicit ForceKernel(const char* name);
  ~ForceKernel();
  ForceKernel(const ForceKernel&) = delete;
  ForceKernel& operator=(const ForceKernel&) = delete;

 private:
  const char* previous_;
};
/// The forced kernel's name; null: none.
SINDRI_API const char* forced_kernel();

}  // namespace sindri
