// The parts of NVRTC that ops/elementwise/generated_cluster.h uses, for the host compiler. Included within its namespace by a source that the stand-in for
// NVRTC (nvrtc.cc) compiles to a library. Such a kernel has no barriers, so its threads run one after the other; sindri_cluster_on_host gives each its
// position.
struct DeviceTag;
#define SINDRI_GENERATED inline
#define SINDRI_UNROLL
#define SINDRI_CLUSTER_KERNEL static void sindri_cluster(const ClusterArgs& args)
using std::abs, std::ceil, std::copysign, std::cos, std::erf, std::exp, std::expm1, std::floor, std::fmod, std::log, std::log1p, std::rint, std::sin, std::sqrt,
    std::tanh;
inline float half_to_float(uint16_t h) {
  float16 f;
  f.bits = h;
  return f;
}
inline uint16_t float_to_half(float f) { return float16(f).bits; }
inline float bf16_to_float(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }
inline uint16_t float_to_bf16(float f) { return bfloat16(f).bits; }
inline double number(uint64_t bits) { return std::bit_cast<double>(bits); }
inline thread_local int64_t t_thread = 0, t_threads = 1;
inline int64_t global_thread() { return t_thread; }
inline int64_t global_threads() { return t_threads; }
static void sindri_cluster(const ClusterArgs& args);
extern "C" __attribute__((visibility("default"))) void sindri_cluster_on_host(int64_t thread, int64_t threads, const void* args) {
  t_thread = thread, t_threads = threads;
  sindri_cluster(*static_cast<const ClusterArgs*>(args));
}
extern "C" __attribute__((visibility("default"))) const size_t sindri_cluster_argument_bytes = sizeof(ClusterArgs);
