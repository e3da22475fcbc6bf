// Shared by kernels that call oneDNN: engine, stream, descriptors of our tensors, thread count, errors. Include from kernel files only.
#pragma once

#include <dnnl.hpp>

#include <initializer_list>
#include <string>
#include <utility>

#include "sindri/core/tensor.h"

namespace sindri::onednn {

dnnl::engine& engine();
/// One per thread: oneDNN does not promise that streams can be shared.
dnnl::stream& stream();

/// Returns an empty string if oneDNN can compute in `dtype` on this CPU, else the reason. oneDNN has no CPU kernels for
/// float16 and float64.
std::string unavailable(DType dtype);
dnnl::memory::data_type data_type(DType dtype);
/// Describes a rank-4 tensor in its layout, or any row-major tensor.
dnnl::memory::desc descriptor(const TensorMeta& m);

/// Sets the number of threads that oneDNN uses on this thread during the scope's life, both when primitives are made
/// (they plan for a number of threads) and when they run.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  [[maybe_unused]] int previous_;
};

struct Argument {
  int index;  ///< DNNL_ARG_*
  const dnnl::memory::desc* desc;
  const void* data;
};
/// Runs the primitive on this thread's stream and waits.
void execute(const dnnl::primitive& primitive, std::initializer_list<Argument> arguments);

/// Throws DeviceError(kMemory) if a limit of address space leaves too little for the code that oneDNN generates. oneDNN
/// does not check that allocation and would crash.
void require_code_memory();

/// Makes a primitive descriptor; returns false with the reason if oneDNN has no optimised implementation (its plain
/// loops do not count).
template <class PrimitiveDesc, class Make> bool try_make(Make&& make, PrimitiveDesc* pd, std::string* why) {
  require_code_memory();
  try {
    *pd = make();
  } catch (const dnnl::error& e) {
    *why = std::string("oneDNN: ") + e.what();
    return false;
  }
  const std::string impl = pd->impl_info_str();
  if (impl.find("ref") == std::string::npos) return true;
  *why = "oneDNN has only its reference loops (" + impl + ")";
  return false;
}

/// A matrix product made from its descriptor; runs on as many threads as it was made for.
class Product {
 public:
  /// Call under a ThreadScope of `threads`.
  Product(const dnnl::matmul::primitive_desc& pd, int threads)
      : threads_(threads), primitive_(pd), a_(pd.src_desc()), b_(pd.weights_desc()), c_(pd.dst_desc()), scratchpad_(pd.scratchpad_desc()) {}
  int64_t workspace_bytes() const { return static_cast<int64_t>(scratchpad_.get_size()); }
  void run(const void* a, const void* b, void* c, void* workspace) const {
    const ThreadScope threads(threads_);
    execute(primitive_, {{DNNL_ARG_SRC, &a_, a}, {DNNL_ARG_WEIGHTS, &b_, b}, {DNNL_ARG_DST, &c_, c}, {DNNL_ARG_SCRATCHPAD, &scratchpad_, workspace}});
  }

 private:
  int threads_;
  dnnl::matmul primitive_;
  dnnl::memory::desc a_, b_, c_, scratchpad_;
};

}  // namespace sindri::onednn
