// Kernel observers and the timeline: both interpreters report their kernels, and only while there is an observer.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/op/observer.h"
#include "sindri/op/timeline.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "tests/train/temp_folder.h"

namespace sindri {
namespace {

class Log final : public KernelObserver {
 public:
  struct Line {
    std::string op, kernel, scope;
    int64_t flops;
    size_t in, out;
  };
  void on_kernel(const KernelEvent& e) override {
    EXPECT_LE(e.begin, e.end);
    lines.push_back({e.op.name, e.kernel, e.scope, count_flops(e.op, e.attrs, e.in, e.out), e.in.size(), e.out.size()});
  }
  std::vector<Line> lines;
};

TEST(KernelObserver, SeesEagerOpsWithTheirScope) {
  const Tensor x = Tensor::full({4, 8}, 1.0);
  Log log;
  {
    const ObserveKernels observe(log);
    const NameScope scope("Net/fc");
    ops::relu(x);
  }
  ops::relu(x);  // the observer has been removed
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].op, "relu");
  EXPECT_FALSE(log.lines[0].kernel.empty());
  EXPECT_EQ(log.lines[0].scope, "Net/fc");
  EXPECT_EQ(log.lines[0].in, 1u);
  EXPECT_EQ(log.lines[0].out, 1u);
}

TEST(KernelObserver, SeesEveryInstructionOfACompiledFunction) {
  CompiledFn f = compile([](Span<const Tensor> in) -> TensorList {
    const NameScope scope("Net/head");
    return {ops::matmul(ops::relu(in[0]), in[1])};
  });
  const Tensor in[] = {Tensor::full({4, 8}, 1.0), Tensor::full({8, 2}, 1.0)};
  f(in);
  Log log;
  {
    const ObserveKernels observe(log);
    f(in);
    f(in);
  }
  ASSERT_EQ(static_cast<int64_t>(log.lines.size()), 2 * f.info().nodes);
  EXPECT_EQ(log.lines.back().op, "matmul");
  EXPECT_EQ(log.lines.back().scope, "Net/head");
  EXPECT_EQ(log.lines.back().flops, 2 * 4 * 8 * 2);
}

TEST(KernelObserver, ScopesNest) {
  Log outer, inner;
  const Tensor x = Tensor::full({4}, 1.0);
  const ObserveKernels first(outer);
  {
    const ObserveKernels second(inner);
    ops::neg(x);
  }
  ops::relu(x);
  ASSERT_EQ(inner.lines.size(), 1u);
  ASSERT_EQ(outer.lines.size(), 1u);
  EXPECT_EQ(outer.lines[0].op, "relu");
}

TEST(CountFlops, OfMatricesElementsAndOthers) {
  Log log;
  const ObserveKernels observe(log);
  const Tensor x = Tensor::full({2, 4, 6, 6}, 1.0), w = Tensor::full({8, 2, 3, 3}, 1.0);
  ops::conv2d(x, w, {.stride = {2, 2}, .pad = {1, 1, 1, 1}, .groups = 2});
  EXPECT_EQ(log.lines.back().flops, 2 * (2 * 8 * 3 * 3) * (2 * 3 * 3));
  ops::batch_matmul(Tensor::full({3, 5, 4}, 1.0), Tensor::full({3, 5, 7}, 1.0), true, false);
  EXPECT_EQ(log.lines.back().flops, 3 * 2 * 4 * 7 * 5);
  ops::add(Tensor::full({3, 1}, 1.0), Tensor::full({1, 5}, 1.0));
  EXPECT_EQ(log.lines.back().flops, 15);
  const OpDef& op = find_op("to_layout");
  EXPECT_EQ(count_flops(op, op.attrs.make({}), {}, {}), -1);
}

nlohmann::json parsed(const std::string& path) {
  std::ifstream f(path);
  return nlohmann::json::parse(f, nullptr, false);
}

TEST(Timeline, WritesKernelsOfEveryThreadAsATraceThatParses) {
  TempFolder temp;
  Timeline timeline;
  const Tensor x = Tensor::full({4}, 1.0);
  {
    const ObserveKernels observe(timeline);
    const NameScope scope("Net/\"quoted\"\n\xff");  // names come from users
    ops::relu(x);
    std::thread([&] { ops::neg(x); }).join();
  }
  timeline.write(temp.file("t.json"));
  const nlohmann::json events = parsed(temp.file("t.json")).at("traceEvents");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(timeline.events(), 2);
  EXPECT_EQ(events[0].at("name"), "relu");
  EXPECT_EQ(events[0].at("args").at("in"), "f32[4]");
  EXPECT_NE(events[0].at("args").at("cell").get<std::string>().find("\"quoted\"\n"), std::string::npos);
  EXPECT_NE(events[0].at("tid"), events[1].at("tid"));
  EXPECT_LE(events[0].at("ts").get<double>() + events[0].at("dur").get<double>(), events[1].at("ts").get<double>());
}

TEST(Timeline, StaysWithinItsSize) {
  TempFolder temp;
  Timeline timeline(1000);
  const ObserveKernels observe(timeline);
  for (int i = 0; i < 20; ++i) ops::relu(Tensor::full({4}, 1.0));
  EXPECT_GT(timeline.events(), 0);
  EXPECT_GT(timeline.dropped(), 0);
  timeline.write(temp.file("t.json"));
  EXPECT_LT(std::filesystem::file_size(temp.file("t.json")), 1200u);
  EXPECT_EQ(static_cast<int64_t>(parsed(temp.file("t.json")).at("traceEvents").size()), timeline.events());
}

TEST(Timeline, AFileThatCannotBeWrittenIsAnError) { EXPECT_THROW(Timeline().write("/nowhere/t.json"), IoError); }

}  // namespace
}  // namespace sindri
