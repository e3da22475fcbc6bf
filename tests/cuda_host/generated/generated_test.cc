// Generated clusters (ops/elementwise/generated_cluster_cuda.cc): results bitwise identical to the interpreter's, sources that the real NVRTC compiles, the
// cubins in the cache folder. Run with SINDRI_CUDA_CODEGEN=1; the host run generates nothing otherwise.
#include "src/device/cuda/generated_code.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "cuda_host/runtime.h"
#include "ops/elementwise/cluster_text.h"
#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/tensor_fn.h"
#include "sindri/ops/elementwise.h"
#include "src/device/cuda/backend.h"
#include "src/device/cuda/library_table.h"
#include "src/device/cuda/nvrtc_api.h"

namespace sindri::cuda {
namespace {

namespace fs = std::filesystem;

constexpr Device kDevice{Device::kCuda, 0};
constexpr DType kTypes[] = {DType::kBool, DType::kUInt8, DType::kInt32, DType::kInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

// Programs that have every elementwise op that accepts operands of this type, `most` ops each, and casts to every type; each step is a result.
std::vector<std::string> all_ops_on(DType t, size_t most = elementwise::kMaxClusterSteps) {
  const TensorMeta meta = Tensor::full({1}, 1, t).meta();
  std::vector<std::string> steps;
  for (const OpDef* op : all_ops()) {
    const std::string_view name = op->name;
    if (!op->traits.elementwise || op->expr == nullptr || op->traits.random || op->traits.host_effect || name == "where" || name == "cast") continue;
    for (const size_t operands : {1u, 2u}) {
      try {
        (void)op->infer(op->attrs.make({}), std::vector<TensorMeta>(operands, meta));
      } catch (const Error&) { continue; }
      steps.push_back(fmt::format("{}({})", name, operands == 1 ? "i0" : "i0, i1"));
      break;
    }
  }
  if (is_floating(t)) {
    steps.emplace_back("gelu(i0) {approximate=false}");
    steps.emplace_back("gelu_grad(i0, i1) {approximate=false}");
    steps.emplace_back("clamp(i0) {lo=-0.3, hi=0.7}");
  }
  if (t == DType::kBool) steps.emplace_back("where(i0, i1, i0)");
  for (const DType to : kTypes) steps.push_back(fmt::format("cast(i0) {{dtype={}}}", dtype_short_name(to)));
  std::vector<std::string> programs;
  for (size_t at = 0; at < steps.size(); at += most) {
    std::string text, out;
    size_t count = 0;
    for (size_t k = at; k < std::min(at + most, steps.size()); ++k, ++count) {
      text += steps[k] + "; ";
      out += fmt::format("{}t{}", count == 0 ? "" : ", ", count);
    }
    programs.push_back(text + "out " + out);
  }
  return programs;
}
bool reads(const std::string& program, const char* input) { return program.find(input) != std::string::npos; }

std::vector<std::string> bytes_of(const TensorList& list) {
  std::vector<std::string> all;
  for (const Tensor& t : list) {
    // The host's compiler decides which of two NaNs an operation propagates, so all NaNs compare equal.
    Tensor host = t.to(Device{}), nan = ops::isnan(host);
    host = ops::where(nan, Tensor::full(host.shape(), is_floating(host.dtype()) ? std::nan("") : 0, host.dtype()), host);
    all.emplace_back(static_cast<const char*>(host.raw_data()), static_cast<size_t>(host.nbytes()));
  }
  return all;
}

TensorList run(const std::string& program, const TensorList& in, const char* kernel) {
  const ForceKernel force(kernel);
  const OpDef& op = find_op("elementwise_cluster");
  return sindri::bind(op, op.attrs.make({{"program", program}}), in);
}
// The results that differ, as the positions of their steps.
void expect_same_bits(const std::string& program, const TensorList& in, const std::string& what) {
  const std::vector<std::string> expected = bytes_of(run(program, in, "interpreted")), actual = bytes_of(run(program, in, "generated"));
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_TRUE(expected[k] == actual[k]) << what << ", result " << k << " of " << program;
}

Tensor values(const Shape& shape, DType t, int seed) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> floats = {0, -0.0, 1, -1, 0.5, -0.3, 2.7, -3, 3, 6, 1e-7, -1e-5, 88.5, -104, 300, 7e4, -1e10, 1e20, kInf, -kInf, std::nan("")};
  const std::vector<double> integers = {0, 1, 2, 3, 7, 63, 64, 100, 200, 255, -1, -2, -128, 2147483647, -2147483648.0, 65536};
  std::vector<double> v;
  for (int64_t i = 0; i < shape.numel(); ++i) {
    const auto at = static_cast<size_t>(i * (seed == 0 ? 1 : 5) + seed);
    v.push_back(is_floating(t)           ? floats[at % floats.size()]
                    : t == DType::kBool  ? static_cast<double>(at % 2)
                    : t == DType::kUInt8 ? static_cast<double>(at * 7 % 256)
                                         : integers[at % integers.size()]);
  }
  return Tensor::from_values(shape, v, t).to(kDevice);
}

// The entry point for compilations_of_child: the program computes one cluster instead of the tests.
class Child : public ::testing::Environment {
 public:
  void SetUp() override {
    const char *const out = std::getenv("SINDRI_TEST_CHILD"), *const program = std::getenv("SINDRI_TEST_PROGRAM");
    if (out == nullptr) return;
    cuda_host::use_backend();
    set_code_generation(true);
    expect_same_bits(program, {values({37}, DType::kFloat32, 0)}, "child");
    std::ofstream(out) << generated_compilations();
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  }
};
const auto* const kChild = ::testing::AddGlobalTestEnvironment(new Child);

class Generated : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda_host::use_backend();
    set_code_generation(true);
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::temp_directory_path() / fmt::format("sindri_{}_{}", test->name(), ::getpid());
    setenv("SINDRI_CACHE_DIR", dir_.c_str(), 1);
  }
  void TearDown() override {
    set_code_generation(generated_before_);
    unsetenv("SINDRI_CACHE_DIR");
    fs::remove_all(dir_);
  }
  // Compilations of another process that runs `program` with the same cache folder, or -1.
  int64_t compilations_of_child(const std::string& program, const std::string& environment = "") const {
    const fs::path out = dir_ / fmt::format("child_{}", std::hash<std::thread::id>()(std::this_thread::get_id()));
    fs::create_directories(dir_);
    const std::string command = fmt::format("SINDRI_TEST_CHILD='{}' SINDRI_TEST_PROGRAM='{}' {} '{}' >{}/log 2>&1", out.string(), program, environment,
                                            fs::read_symlink("/proc/self/exe").string(), dir_.string());
    if (std::system(command.c_str()) != 0) return -1;
    int64_t count = -1;
    std::ifstream(out) >> count;
    return count;
  }
  std::vector<fs::path> cubins() const {
    std::vector<fs::path> all;
    for (const auto& e : fs::directory_iterator(dir_ / "generated"))
      if (e.path().extension() == ".cubin") all.push_back(e.path());
    return all;
  }
  fs::path dir_;
  const bool generated_before_ = code_generation();
};

TEST_F(Generated, AllOpsHaveTheInterpretersBits) {
  for (const DType t : kTypes)
    for (const std::string& program : all_ops_on(t)) {
      TensorList in = {values({431}, t, 0)};
      if (reads(program, "i1")) in.push_back(values({431}, t, 3));
      expect_same_bits(program, in, dtype_name(t));
    }
}

TEST_F(Generated, ShapesAndStridesHaveTheInterpretersBits) {
  const std::string program = "mul(i0, i1); sub(t0, i2); relu(t1); out t2, t0";
  const Shape images = {2, 8, 3, 5};
  const std::vector<std::vector<Shape>> cases = {{{0, 3}, {3}, {}},
                                                 {{}, {}, {}},
                                                 {{1}, {1}, {1}},
                                                 {{7}, {7}, {1}},
                                                 {{8, 16}, {16}, {8, 1}},
                                                 {{9, 7}, {7}, {9, 1}},
                                                 {images, {8, 1, 1}, images},
                                                 {{8, 1}, {1, 17}, {8, 17}},
                                                 {{3, 1, 5, 1, 2}, {3, 4, 1, 6, 1}, {4, 5, 6, 2}},
                                                 {{70001}, {1}, {70001}}};
  for (const std::vector<Shape>& shapes : cases)
    for (const DType t : {DType::kFloat16, DType::kFloat32}) {
      TensorList in;
      std::string what = dtype_name(t);
      for (size_t k = 0; k < shapes.size(); ++k) in.push_back(values(shapes[k], t, static_cast<int>(k))), what += " " + shapes[k].str();
      expect_same_bits(program, in, what);
      const auto turned = [](const Tensor& x) {
        return x.shape().rank() == 4 ? sindri::bind(find_op("to_layout"), find_op("to_layout").attrs.make({{"layout", std::string("channels_last")}}), {x})[0]
                                     : x;
      };
      if (shapes[0].rank() != 4 || shapes[0] != images) continue;
      expect_same_bits(program, {turned(in[0]), in[1], turned(in[2])}, what + ", channels last");
      expect_same_bits(program, {turned(in[0]), in[1], in[2]}, what + ", one channels last");
    }
}

TEST_F(Generated, TextsDifferByTypesAndPatternsAlone) {
  const std::string program = "add(i0, i1); out t0";
  const int64_t before = generated_compilations();
  for (const int64_t n : {100, 200, 3001}) expect_same_bits(program, {values({n}, DType::kInt32, 0), values({n}, DType::kInt32, 1)}, "");
  EXPECT_EQ(generated_compilations() - before, 1);
}

TEST_F(Generated, SecondProcessReadsWhatTheFirstHasCompiled) {
  const std::string program = "square(i0); neg(t0); out t1";
  EXPECT_EQ(compilations_of_child(program), 1);
  EXPECT_EQ(compilations_of_child(program), 0);
  ASSERT_EQ(cubins().size(), 1u);
  const fs::path file = cubins()[0];
  const auto size = fs::file_size(file);
  for (const char* how : {"cut", "changed", "empty"}) {
    if (std::string_view(how) == "changed") {
      std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
      f.seekp(static_cast<std::streamoff>(size / 2));
      f.write("damaged!", 8);
    } else {
      fs::resize_file(file, how[0] == 'c' ? size / 2 : 0);
    }
    EXPECT_EQ(compilations_of_child(program), 1) << how;
    EXPECT_EQ(fs::file_size(file), size) << how;
    EXPECT_EQ(compilations_of_child(program), 0) << how;
  }
}

TEST_F(Generated, TwoProcessesAtOnce) {
  const std::string program = "square(i0); abs(t0); out t1";
  int64_t a = -1, b = -1;
  std::thread other([&] { a = compilations_of_child(program); });
  b = compilations_of_child(program);
  other.join();
  EXPECT_TRUE(a == 0 || a == 1) << a;
  EXPECT_TRUE(b == 0 || b == 1) << b;
  ASSERT_EQ(cubins().size(), 1u);
  EXPECT_EQ(compilations_of_child(program), 0);
}

TEST_F(Generated, WithoutACompilerClustersAreInterpreted) {
  setenv("SINDRI_CUDA_HOST_COMPILER", "false", 1);
  const Tensor x = values({37}, DType::kFloat32, 0);
  const OpDef& op = find_op("elementwise_cluster");
  const Attrs attrs = op.attrs.make({{"program", "square(i0); neg(t0); abs(t1); out t2"}});
  ::testing::internal::CaptureStderr();
  const TensorList y = sindri::bind(op, attrs, {x});
  const std::string said = ::testing::internal::GetCapturedStderr();
  unsetenv("SINDRI_CUDA_HOST_COMPILER");
  EXPECT_NE(said.find("the cluster is interpreted: NVRTC for sm_"), std::string::npos) << said;
  EXPECT_EQ(bytes_of(y), bytes_of(run("square(i0); neg(t0); abs(t1); out t2", {x}, "interpreted")));
  EXPECT_THROW(run("square(i0); neg(t0); abs(t1); out t2", {x}, "generated"), DeviceError);
}

// NVIDIA's NVRTC, in addition to the stand-in in the table.
const NvrtcApi* real_nvrtc() {
  for (const char* file : {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"})
    if (void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      static NvrtcApi api;
#define X(name) *reinterpret_cast<void**>(&api.name) = dlsym(handle, SINDRI_SYMBOL_TEXT(nvrtc##name));
      SINDRI_NVRTC_FUNCTIONS(X)
#undef X
      return &api;
    }
  return nullptr;
}

TEST(GeneratedText, NvrtcCompilesAllOps) {
  const NvrtcApi* const api = real_nvrtc();
  if (api == nullptr) GTEST_SKIP() << "NVRTC is not installed";
  for (const int capability : {80, 90})
    for (const DType t : kTypes)
      for (const std::string& program : all_ops_on(t)) {
        if (capability == 80 && !is_half(t)) continue;  // only their conversions differ
        std::vector<TensorMeta> in = {Tensor::full({16, 33}, 1, t).meta()};
        if (reads(program, "i1")) in.push_back(Tensor::full({16, 1}, 1, t).meta());
        const elementwise::OperandWalk walk = elementwise::walk_operands(
            in.size(), [&](size_t k) -> const TensorMeta& { return in[k]; }, in[0]);
        std::string why;
        const std::string cubin = compile_generated(*api, elementwise::cluster_text(elementwise::parse_cluster(program), in, walk).text, capability, &why);
        EXPECT_GT(cubin.size(), 1000u) << dtype_name(t) << "\n" << program << "\n" << why;
      }
}

}  // namespace
}  // namespace sindri::cuda
