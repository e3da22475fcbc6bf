// See machine.h.
#include "src/measure/machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <thread>

#include "sindri/core/tensor.h"
#include "sindri/device/device.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/random.h"
#include "src/core/clock.h"
#include "src/device/device_timer.h"

namespace sindri::measure {

namespace {

// Each thread copies its share repeatedly for some milliseconds; the best of three such runs counts. A thread without a free core would copy alone at the end
// and seem fast, so the slowest thread's time is used.
double copy_bytes_per_second(int64_t bytes, int threads) {
  const auto share = static_cast<size_t>(std::max<int64_t>(64, bytes / 2 / threads));
  // Both start at a page boundary: copies between addresses that differ by a few bytes within their pages are many times slower.
  using Block = std::unique_ptr<char, decltype(&std::free)>;
  const auto block = [&](char fill) {
    const size_t whole = (share + 4095) / 4096 * 4096;
    Block b(static_cast<char*>(std::aligned_alloc(4096, whole)), &std::free);
    if (b == nullptr) throw std::bad_alloc();
    std::memset(b.get(), fill, whole);
    return b;
  };
  std::vector<Block> from, to;
  for (int i = 0; i < threads; ++i) from.emplace_back(nullptr, &std::free), to.emplace_back(nullptr, &std::free);
  double best = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<double> speeds(from.size());
    std::vector<std::thread> workers;
    for (size_t i = 0; i < from.size(); ++i) {
      workers.emplace_back([&, i] {
        if (from[i] == nullptr) {  // by the thread that reads it: memory is placed on the node that touches it first
          from[i] = block(1);
          to[i] = block(0);
        }
        int64_t copies = 0;
        const double start = now_seconds();
        double elapsed = 0;
        for (; elapsed < 0.008 || copies < 2; elapsed = now_seconds() - start) {
          for (size_t k = 0; k < 1 + 65536 / share; ++k, ++copies) {
            std::memcpy(to[i].get(), from[i].get(), share);
            asm volatile("" : : "r"(to[i].get()) : "memory");  // keeps the copy
          }
        }
        speeds[i] = 2 * static_cast<double>(share) * static_cast<double>(copies) / elapsed;
      });
    }
    for (std::thread& t : workers) t.join();
    best = std::max(best, *std::min_element(speeds.begin(), speeds.end()) * threads);
  }
  return best;
}

double matmul_flops_per_second(DType dtype) {
  double best = 0;
  for (int64_t n : {512, 2048}) {
    const Tensor a = Tensor::full({n, n}, 0.5, dtype), b = Tensor::full({n, n}, 0.25, dtype);
    ops::matmul(a, b);
    double elapsed = 0;
    for (int i = 0; i < 3; ++i) {
      const double start = now_seconds();
      ops::matmul(a, b);
      elapsed = now_seconds() - start;
      best = std::max(best, 2.0 * static_cast<double>(n * n * n) / elapsed);
    }
    if (elapsed > 0.05) break;  // a slow machine or type: the larger size would take seconds
  }
  return best;
}

}  // namespace

double MachineLimits::copy_speed(int64_t bytes) const {
  const auto next = std::find_if(copy.begin(), copy.end(), [&](const CopySpeed& c) { return c.bytes >= bytes; });
  return next != copy.end() ? next->bytes_per_second : copy.back().bytes_per_second;
}

MachineLimits measure_limits(int threads, const std::string& precision) {
  MachineLimits m;
  for (int64_t bytes = 16 << 10; bytes <= 256 << 20; bytes *= 4) m.copy.push_back({bytes, copy_bytes_per_second(bytes, threads)});
  m.flops_per_second = matmul_flops_per_second(parse_dtype(precision));
  return m;
}

namespace {

// Returns the best of some runs: what the device can reach.
double best_seconds(Stream& stream, const std::function<void()>& work) {
  double best = seconds_on_device(stream, work);
  for (int i = 0; i < 4; ++i) best = std::min(best, seconds_on_device(stream, work));
  return best;
}

constexpr double kLong = 0.02;  // seconds per run; a larger size would take too long

}  // namespace

MachineLimits measure_device_limits(Device device, const std::string& precision) {
  const DeviceScope scope(device);
  MachineLimits m;
  Stream& stream = current_stream(device);
  int64_t free = 0;
  for (const DeviceListing& d : devices())
    if (d.device == device) free = d.info.free;
  for (int64_t bytes = 1 << 20; bytes <= int64_t{1} << 30; bytes *= 4) {
    if (bytes > free / 4 && !m.copy.empty()) break;
    const Tensor from = ops::random_uniform({bytes / 4});
    const double seconds = best_seconds(stream, [&] { (void)from.clone(); });
    m.copy.push_back({2 * bytes, 2 * static_cast<double>(bytes) / seconds});
    if (seconds > kLong) break;
  }
  const DType dtype = parse_dtype(precision);
  for (int64_t n = 256; n <= 8192; n *= 2) {
    if (3 * n * n * static_cast<int64_t>(dtype_size(dtype)) > free / 4) break;
    const Tensor a = ops::random_normal({n, n}, 0, 1, dtype), b = ops::random_normal({n, n}, 0, 1, dtype);  // zeros would use less power, and clocks would rise
    (void)ops::matmul(a, b);  // chooses a kernel
    const double seconds = best_seconds(stream, [&] { (void)ops::matmul(a, b); });
    m.flops_per_second = std::max(m.flops_per_second, 2.0 * static_cast<double>(n * n * n) / seconds);
    if (seconds > kLong) break;
  }
  release_cached_device_memory(device);
  return m;
}

}  // namespace sindri::measure
