// The information that `sindri doctor` shows about NVIDIA's libraries, as JSON lines. A separate program, since a process opens each library once: the tests
// start it with different environments. Arguments: numbers of Library to report, all if there are none; --threads: sixteen threads ask at the same time.
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/core/error.h"
#include "src/device/cuda/cudnn_graph.h"
#include "src/device/cuda/described_device.h"
#include "src/device/cuda/libraries.h"

namespace {

using namespace sindri::cuda;

void print(const LibraryState& s) {
  const nlohmann::json line{{"name", s.name},     {"file", s.file},   {"path", s.path}, {"version", s.version},
                            {"wanted", s.wanted}, {"error", s.error}, {"lost", s.lost}, {"fix", s.fix}};
  std::puts(line.dump().c_str());
}

// The first engine for a convolution, for a device description. Needs cuDNN's other libraries, which cuDNN opens by their names.
void print_convolution() {
  CudnnGraph g;
  const TensorId x = g.channels_last(CUDNN_DATA_HALF, {16, 64, 56, 56}, Role::kInput), w = g.channels_last(CUDNN_DATA_HALF, {64, 64, 3, 3}, Role::kInput);
  g.conv(x, w, g.channels_last(CUDNN_DATA_HALF, {16, 64, 56, 56}, Role::kOutput), {.pad_before = {1, 1}, .pad_after = {1, 1}});
  const PlanOutcome out = build_plan(g, CudnnDevice::described(device_json(h100_facts())));
  std::puts(nlohmann::json{{"engine", out.supported() ? out.engine->str() : ""}, {"reason", out.why_none}}.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::strcmp(argv[1], "--convolution") == 0) {
      print_convolution();
    } else if (argc > 1 && std::strcmp(argv[1], "--threads") == 0) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 16; ++i) threads.emplace_back([] { (void)library_states(); });
      for (std::thread& t : threads) t.join();
      for (const LibraryState& s : library_states()) print(s);
    } else if (argc > 1) {
      for (int i = 1; i < argc; ++i) {
        const auto library = static_cast<Library>(std::stoi(argv[i]));
        print(library_state(library));
        require(library);
      }
    } else {
      for (const LibraryState& s : library_states()) print(s);
    }
  } catch (const sindri::Error& e) { std::puts(nlohmann::json{{"thrown", e.what()}, {"code", static_cast<int>(e.code())}}.dump().c_str()); }
  return 0;
}
