// Threads of kernels: the processor time they use while they wait.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "src/device/cpu/parallel.h"

namespace sindri::test {
namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// With a plain program's environment, the runtime's threads spin for milliseconds at a barrier by default.
TEST(OpenMp, IdleThreadsRest) {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    if (std::getenv(name) != nullptr) GTEST_SKIP() << name << " is set by the user";
  }
  if (num_threads() < 2) GTEST_SKIP() << "one thread";
  std::atomic<int> sum{0};
  const auto region = [&] { parallel_tasks(num_threads(), [&](int64_t) { sum += 1; }); };
  for (int i = 0; i < 3; ++i) region();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = processor_seconds();
  for (int i = 0; i < 40; ++i) {
    region();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  EXPECT_LT(processor_seconds() - before, 0.02);  // with spinning threads 0.05 to 0.12
}

}  // namespace
}  // namespace sindri::test
