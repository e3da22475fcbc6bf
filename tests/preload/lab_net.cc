// A network for the lab's faults (tests/lab): SINDRI_LIBRARIES names this library, and model.name=lab_digits is the network "digits" whose backward pass first
// reads the file $LAB_FAULT. While the file exists and contains one of these words, the backward pass
//   nan         turns the gradient into NaN, once (and removes the file)
//   hang        blocks until the file is gone: alive, but stuck
//   sleep N     takes N milliseconds longer
// Each rank gets its own file, so that a single rank can be made to misbehave at any moment.
#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "sindri/models/models.h"
#include "sindri/models/registry.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::lab {
namespace {

std::vector<TensorMeta> same(const Attrs&, Span<const TensorMeta> in) { return {in[0]}; }

// The file's content; empty if the file does not exist.
std::string fault() {
  const char* const path = std::getenv("LAB_FAULT");
  if (path == nullptr || access(path, R_OK) != 0) return "";
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line;
}

void copy(const KernelQuery&, Span<const Buffer> in, Span<const Buffer> out) {
  if (in[0].data != out[0].data) std::memcpy(out[0].data, in[0].data, static_cast<size_t>(in[0].meta->nbytes()));
}

void misbehave(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  copy(q, in, out);
  const std::string what = fault();
  if (what == "nan") {
    *out[0].as<float>() = std::numeric_limits<float>::quiet_NaN();
    unlink(std::getenv("LAB_FAULT"));
  }
  while (fault() == "hang") std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (what.starts_with("sleep ")) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(what.c_str() + 6)));
}

const OpDef& kBack =
    register_op({.name = "lab_fault_grad", .doc = "dy -> dy, unless $LAB_FAULT says otherwise", .traits = {.host_effect = true}, .infer = same});
const OpDef& kHere = register_op({.name = "lab_fault", .doc = "x -> x", .infer = same, .vjp = [](const VjpContext& c) {
                                    return sindri::bind(kBack, Attrs(), std::vector<Tensor>{c.dout[0]});
                                  }});
const bool kKernels = [] {
  register_kernel({.op = "lab_fault", .name = "copy", .simple = copy});
  return register_kernel({.op = "lab_fault_grad", .name = "misbehave", .simple = misbehave});
}();

class Net final : public nn::Cell {
 public:
  explicit Net(int64_t classes) : Cell("LabDigits"), net_(child("net", models::create("digits", {.num_classes = classes}))) {}
  Tensor construct(const Tensor& x) override { return sindri::bind(kHere, Attrs(), std::vector<Tensor>{(*net_)(x)})[0]; }

 private:
  nn::CellPtr net_;
};

const auto& kNet = models::networks().add({
    .name = "lab_digits",
    .doc = "the net digits, with faults on demand",
    .facts = {.input = {1, 8, 8}, .num_classes = 10},
    .make = [](const models::NetworkSize& size, const SettingValues&) -> nn::CellPtr { return std::make_shared<Net>(size.num_classes); },
});

}  // namespace
}  // namespace sindri::lab
