// See contestants.h.
#include "src/measure/contestants.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/device/device.h"
#include "src/core/descriptor.h"

namespace sindri::measure {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr ? v : "";
}

// Returns a framework's Python, and the environment variable that names it.
std::pair<std::string, std::string> python_of(const std::string& framework) {
  const char* own = "SINDRI_PEERS_PYTHON_MINDSPORE";
  if (framework == "mindspore" && !variable(own).empty()) return {variable(own), own};
  return {variable("SINDRI_PEERS_PYTHON"), "SINDRI_PEERS_PYTHON"};
}

// A lower instruction set requested by SINDRI_CPU_ISA also applies to the libraries that the peers use.
void limit_instruction_set(std::map<std::string, std::string>* environment) {
  if (variable("SINDRI_CPU_ISA").empty() || cpu_isa() == CpuIsa::kAvx512Amx) return;
  static constexpr const char* kOneDnn[] = {"SSE41", "AVX2", "AVX512_CORE_VNNI", "AVX512_CORE_BF16"};
  const std::string library = kOneDnn[static_cast<int>(cpu_isa())];
  environment->insert({{"ONEDNN_MAX_CPU_ISA", library}, {"DNNL_MAX_CPU_ISA", library}});
  if (cpu_isa() >= CpuIsa::kAvx512) return;
  const bool avx2 = cpu_isa() == CpuIsa::kAvx2;
  environment->insert({{"ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "default"}, {"MKL_ENABLE_INSTRUCTIONS", avx2 ? "AVX2" : "SSE4_2"}});
}

}  // namespace

std::string ContestantFactory::python(const std::string& framework) { return python_of(framework).first; }

std::string ContestantFactory::fix(const std::string& framework) {
  const std::string name = framework == "mindspore" ? "SINDRI_PEERS_PYTHON_MINDSPORE" : "SINDRI_PEERS_PYTHON";
  return fmt::format("run scripts/peers.sh and the export lines it prints, or set {} to a Python that has {}", name,
                     framework == "mindspore" ? "mindspore" : "torch");
}

ContestantFactory::ContestantFactory(const BenchmarkRequest& request) : request_(request) {
  const Workload& w = request.workload;
  const int threads = w.threads > 0 ? w.threads : num_threads();
  const bool convolutions = std::find(request.compare.begin(), request.compare.end(), "convolutions") != request.compare.end();
  const auto add = [&](const std::string& framework, const std::string& mode, int64_t batch, int t) {
    plan_.push_back({.framework = framework, .version = "", .mode = mode, .batch = batch, .threads = t});
  };
  add("sindri", w.mode, w.batch, threads);
  if (convolutions) add("sindri", "convolutions", w.batch, threads);
  std::set<std::string> seen;
  for (const std::string& c : request.compare) {
    if (!seen.insert(c).second) throw Error(ErrorCode::kUsage, fmt::format("{} is named twice", c), "--compare", "name it once");
    if (c != "convolutions") add_peer(c);
  }
  for (int t : request.threads) {
    add("sindri", w.mode, w.batch, t);
    if (convolutions) add("sindri", "convolutions", w.batch, t);
  }
  for (int64_t b : request.batches) add("sindri", w.mode, b, threads);

  std::string pattern = (fs::temp_directory_path() / "sindri-benchmark-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw IoError(fmt::format("cannot make a temporary folder: {}", std::strerror(errno)), pattern, "set TMPDIR");
  folder_ = pattern;
  for (const auto& [name, text] : {std::pair{"/pytorch_peer.py", kPytorchPeer}, std::pair{"/mindspore_peer.py", kMindsporePeer}}) {
    if (const int error = write_text_file(folder_ + name, text); error != 0)
      throw IoError(fmt::format("cannot write a temporary file: {}", std::strerror(error)), folder_ + name, "set TMPDIR");
  }
}

ContestantFactory::~ContestantFactory() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void ContestantFactory::add_peer(const std::string& framework) {
  const Workload& w = request_.workload;
  if (framework != "pytorch" && framework != "mindspore") {
    const std::vector<std::string> known = {"pytorch", "mindspore", "convolutions"};
    const std::string near = did_you_mean(framework, known);
    throw Error(ErrorCode::kUsage, fmt::format("expected pytorch, mindspore or convolutions, got '{}'", framework), "--compare",
                near.empty() ? "name one or more of the three, with commas between them" : near);
  }
  if (w.net == "seresnet50") throw Error(ErrorCode::kUsage, "the peers' programs do not build seresnet50", "--compare " + framework, "omit --compare");
  if (framework == "mindspore" && !w.device.empty() && !find_device(w.device).is_cpu())
    throw Error(ErrorCode::kUsage, "MindSpore 2.10 has no build for GPUs", "--compare mindspore", "compare with pytorch, or omit --device");
  const auto [python, name] = python_of(framework);
  if (python.empty()) throw Error(ErrorCode::kUsage, fmt::format("--compare {} needs a Python that has it", framework), name + " is not set", fix(framework));
  if (access(python.c_str(), X_OK) != 0)
    throw Error(ErrorCode::kUsage, fmt::format("--compare {}: {} cannot be run: {}", framework, python, std::strerror(errno)), name, fix(framework));
  std::vector<std::string> modes;
  if (framework == "mindspore") {
    if (w.mode == "graph") modes.emplace_back("graph");
    modes.emplace_back("pynative");
  } else {
    const bool layouts = w.net != "mlp", compile = w.mode == "graph" && !request_.quick;
    modes.emplace_back("eager");
    if (layouts) modes.emplace_back("channels_last");
    if (compile) modes.emplace_back("compile");
    if (compile && layouts) modes.emplace_back("compile_channels_last");
    if (compile && layouts && !w.device.empty() && !find_device(w.device).is_cpu()) modes.emplace_back("compile_reduce_overhead_channels_last");
  }
  const BenchmarkRun ours = plan_.front();
  for (const std::string& mode : modes) plan_.push_back({.framework = framework, .version = "", .mode = mode, .batch = ours.batch, .threads = ours.threads});
}

std::unique_ptr<ChildProcess> ContestantFactory::start(const BenchmarkRun& run) {
  ChildOptions o = run.framework == "sindri" ? own(run) : peer(run);
  o.directory = folder_;
  o.error_file = fmt::format("{}/{}-{}-{}-{}.err", folder_, run.framework, run.mode, run.batch, run.threads);
  o.cpus = run.threads;
  return std::make_unique<ChildProcess>(o);
}

ChildOptions ContestantFactory::own(const BenchmarkRun& run) const {
  const Workload& w = request_.workload;
  ChildOptions o{.argv = {fs::absolute(request_.program).string(), "benchmark", w.net, "--batch", std::to_string(run.batch), "--precision", w.precision,
                          "--task", w.task, "--mode", w.mode, "--threads", std::to_string(run.threads), "--worker",
                          run.mode == "convolutions" ? "convolutions" : "step"}};
  if (!w.device.empty()) o.argv.insert(o.argv.end(), {"--device", w.device});
  return o;
}

ChildOptions ContestantFactory::peer(const BenchmarkRun& run) const {
  const Workload& w = request_.workload;
  const nlohmann::ordered_json task = {
      {"net", w.net},
      {"batch", run.batch},
      {"precision", w.precision},
      {"task", w.task},
      {"mode", run.mode},
      {"threads", run.threads},
      {"device", w.device.empty() || find_device(w.device).is_cpu() ? "cpu" : fmt::format("cuda:{}", find_device(w.device).index)}};
  ChildOptions o{.argv = {python_of(run.framework).first, fmt::format("{}/{}_peer.py", folder_, run.framework), task.dump()}};
  const std::string threads = std::to_string(run.threads);
  o.set_environment = {{"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}, {"PYTHONUNBUFFERED", "1"}};
  o.unset_environment = {"PYTHONPATH"};  // it may contain Sindri's package `mindspore`
  limit_instruction_set(&o.set_environment);
  return o;
}

}  // namespace sindri::measure
