// ops_tests: runs the tests; --op-table prints every op with its number of samples and kernels; --dump-samples prints the samples as JSON for
// tests/reference/make_op_expectations.py. With SINDRI_TEST_DEVICE=sim, tensors without an explicit device are on the simulated accelerator (tests/device),
// whose work pauses at random from SINDRI_TEST_SEED; with SINDRI_TEST_DEVICE=cuda, on the CUDA backend's host run (tests/cuda_host).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "sindri/op/kernel.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/op/op_def.h"
#include "tests/device/simulator.h"
#include "tests/ops/samples.h"

/// Defined by tests/cuda_host/use.cc, or by tests/gpu/use.cc for real GPUs; null in a build without CUDA's headers.
extern "C" __attribute__((weak)) void sindri_use_cuda(uint64_t seed);

namespace {

using sindri::test::all_samples;

void print_op_table() {
  std::map<std::string, int> samples;
  for (const auto& s : all_samples()) ++samples[s.op];
  fmt::print("{:<32} {:>7}  {:<12} {}\n", "op", "samples", "gradient", "kernels");
  size_t total = 0;
  for (const sindri::OpDef* op : sindri::all_ops()) {
    std::string kernels;
    for (const sindri::KernelDef* k : sindri::kernels_of(op->name)) kernels += (kernels.empty() ? "" : ", ") + std::string(k->name);
    fmt::print("{:<32} {:>7}  {:<12} {}\n", op->name, samples[op->name], op->vjp != nullptr ? "yes" : "none", kernels);
    total += static_cast<size_t>(samples[op->name]);
  }
  fmt::print("{} ops, {} samples\n", sindri::all_ops().size(), total);
}

struct ToJson {
  nlohmann::json operator()(sindri::DType t) const { return sindri::dtype_name(t); }
  nlohmann::json operator()(const sindri::Shape& s) const { return s.vec(); }
  template <class T> nlohmann::json operator()(const T& v) const { return v; }
};

void dump_samples() {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& s : all_samples()) {
    if (!s.torch) continue;
    nlohmann::json attrs = nlohmann::json::object(), args = nlohmann::json::array();
    const sindri::AttrFields fields = sindri::find_op(s.op).attrs.make(s.attrs).fields();
    for (const auto& f : fields) attrs[f.name] = std::visit(ToJson{}, f.value);
    for (const auto& a : s.args) {
      args.push_back({{"shape", a.shape.vec()},
                      {"lo", a.lo},
                      {"hi", a.hi},
                      {"dtype", a.dtype ? sindri::dtype_name(*a.dtype) : ""},
                      {"kind", a.kind},
                      {"values", a.values}});
    }
    list.push_back({{"op", s.op}, {"name", s.name}, {"attrs", attrs}, {"args", args}, {"gradient", s.gradient}, {"no_gradient", s.no_gradient}});
  }
  fmt::print("{}\n", list.dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--op-table") == 0) {
    print_op_table();
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--dump-samples") == 0) {
    dump_samples();
    return 0;
  }
  if (const char* device = std::getenv("SINDRI_TEST_DEVICE"); device != nullptr && std::strcmp(device, "sim") == 0) {
    const char* seed = std::getenv("SINDRI_TEST_SEED");
    sindri::sim::Simulator::get().set_delays(seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1, 100, 0.1);
    sindri::set_kernel_tuning(false);
    sindri::set_current_device(sindri::sim::kDevice);
  } else if (device != nullptr && std::strcmp(device, "cuda") == 0) {
    if (sindri_use_cuda == nullptr) {
      fmt::print("SINDRI_TEST_DEVICE=cuda: skipped, as this program was built without CUDA's headers\n");
      return 0;
    }
    const char* seed = std::getenv("SINDRI_TEST_SEED");
    sindri_use_cuda(seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1);
    sindri::set_kernel_tuning(false);
    sindri::set_current_device({sindri::Device::kCuda, 0});
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
