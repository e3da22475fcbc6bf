// See onednn.h.
#include "src/device/cpu/onednn.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/bfloat16_rate.h"

#ifndef SINDRI_PLAIN_THREADS
#include <omp.h>

#include "src/device/cpu/openmp.h"
#endif

namespace sindri::onednn {

namespace {

using dnnl::memory;

// SINDRI_CPU_ISA also limits the code that oneDNN generates. Must run before oneDNN makes its first primitive.
void limit_isa() {
  switch (cpu_isa()) {
    case CpuIsa::kScalar: dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41); return;
    case CpuIsa::kAvx2: dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2); return;
    case CpuIsa::kAvx512: dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_vnni); return;
    case CpuIsa::kAvx512Bf16: dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16); return;
    case CpuIsa::kAvx512Amx: return;
  }
}

}  // namespace

dnnl::engine& engine() {
  static dnnl::engine e = [] {
    limit_isa();
    dnnl::set_primitive_cache_capacity(64);  // plans and graphs hold the primitives in use; the library's default of 1024 would accumulate over changing shapes
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return e;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

std::string unavailable([[maybe_unused]] DType dtype) {
#ifdef SINDRI_PLAIN_THREADS
  return "oneDNN runs on OpenMP, whose barriers the thread sanitizer does not see";
#else
  if (dtype == DType::kFloat32) return "";
  if (dtype != DType::kBFloat16) return fmt::format("oneDNN has no CPU kernels for {}", dtype_name(dtype));
  // On plain AVX-512 oneDNN emulates the instructions: measured 2.6 times as slow as widening to float32 (1 core, 3x3
  // convolution, matmul).
  if (cpu_isa() < CpuIsa::kAvx512Bf16)
    return fmt::format("oneDNN has bfloat16 instructions on avx512_bf16 and above only, instruction set in use: {}", cpu_isa_name(cpu_isa()));
  return bfloat16_slower_than_float32() ? "this processor's bfloat16 instructions are slower than widening to float32" : "";
#endif
}

memory::data_type data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return memory::data_type::f32;
    case DType::kBFloat16: return memory::data_type::bf16;
    default: throw InternalError(fmt::format("oneDNN was asked for {}", dtype_name(dtype)));
  }
}

memory::desc descriptor(const TensorMeta& m) {
  memory::dims strides = contiguous_strides(m.shape).vec();
  if (m.layout == Layout::kChannelsLast) {
    const int64_t c = m.shape[1], h = m.shape[2], w = m.shape[3];
    strides = {h * w * c, 1, w * c, c};
  }
  return {m.shape.vec(), data_type(m.dtype), strides};
}

#ifdef SINDRI_PLAIN_THREADS
ThreadScope::ThreadScope(int) : previous_(0) {}
ThreadScope::~ThreadScope() = default;
#else
ThreadScope::ThreadScope(int threads) : previous_(omp_get_max_threads()) {
  if (threads != previous_) omp_set_num_threads(threads);
}
ThreadScope::~ThreadScope() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}
#endif

void require_code_memory() {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  constexpr size_t kEnough = size_t{32} << 20;  // a primitive's code and tables are a few MB
  void* p = mmap(nullptr, kEnough, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw DeviceError(ErrorCode::kMemory, fmt::format("the limit of address space, {} MB, leaves no room for generated code", space.rlim_cur >> 20),
                      "limit of this process (ulimit -v)", "raise it, or reduce the batch size");
  munmap(p, kEnough);
}

namespace {

void execute_here(const dnnl::primitive& primitive, std::initializer_list<Argument> arguments) {
  try {
    std::unordered_map<int, memory> memories;
    memories.reserve(arguments.size());
    for (const Argument& a : arguments) memories.emplace(a.index, memory(*a.desc, engine(), const_cast<void*>(a.data)));
    primitive.execute(stream(), memories);
    stream().wait();
  } catch (const dnnl::error& e) { throw InternalError(fmt::format("oneDNN failed while running: {} (status {})", e.what(), static_cast<int>(e.status))); }
}

}  // namespace

void execute(const dnnl::primitive& primitive, std::initializer_list<Argument> arguments) {
#ifdef SINDRI_PLAIN_THREADS
  execute_here(primitive, arguments);
#else
  const int threads = omp_get_max_threads();
  if (threads == 1) return execute_here(primitive, arguments);
  openmp::run([&] {
    const ThreadScope same(threads);  // on this thread too
    execute_here(primitive, arguments);
  });
#endif
}

}  // namespace sindri::onednn
