// Explaining a memory plan: the values that are alive at the peak, to the byte.
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "src/graph/memory_report.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;

MemoryReport explain(const std::string& body) {
  const Graph g = parse_graph("graph \"f\" {\n" + body + "}\n");
  verify_graph(g, "parsing");
  return explain_memory(g, plan_memory(g));
}

TEST(MemoryReport, PeakNamesTheValuesAliveThere) {
  // %1 and %2 are alive together when %2 is made; %3 reuses the slice of one of them.
  const MemoryReport r = explain(
      "%0 = input : f32[16]\n%1 = test_relu(%0) : f32[16] @ \"Net/a\"\n%2 = test_scale(%1) {factor=2.0} : f32[16] @ \"Net/b\"\n"
      "%3 = test_mul(%1, %2) : f32[16] @ \"Net/c\"\n%4 = test_sum(%3) : f32[]\nreturn %4\n");
  EXPECT_EQ(r.arena_bytes, 128);
  EXPECT_EQ(r.live_bytes, 128);
  EXPECT_EQ(r.gap_bytes, 0);
  EXPECT_EQ(r.instructions, 4);
  EXPECT_EQ(r.peak_instruction, 1);
  EXPECT_EQ(r.peak_op, "test_scale");
  EXPECT_EQ(r.peak_scope, "Net/b");
  EXPECT_EQ(r.input_bytes, 64);
  EXPECT_EQ(r.result_bytes, 4);
  ASSERT_EQ(r.live.size(), 2u);
  EXPECT_EQ(r.live[0].scope, "Net/a");
  EXPECT_EQ(r.live[0].op, "test_relu");
  EXPECT_EQ(r.live[1].scope, "Net/b");
  EXPECT_EQ(r.live[0].bytes + r.live[1].bytes, 128);
}

TEST(MemoryReport, AValueTakenOverInPlaceCountsOnce) {
  const MemoryReport r =
      explain("%0 = input : f32[100]\n%1 = test_relu(%0) : f32[100]\n%2 = test_scale(%1) {factor=2.0} : f32[100]\n%3 = test_sum(%2) : f32[]\nreturn %3\n");
  EXPECT_EQ(r.arena_bytes, 448);
  EXPECT_EQ(r.live_bytes, 448);
  EXPECT_EQ(r.live.size(), 1u);
}

TEST(MemoryReport, AGraphWithoutIntermediateValuesHasAnEmptyArena) {
  const MemoryReport r = explain("%0 = input : f32[8]\n%1 = test_relu(%0) : f32[8]\nreturn %1\n");
  EXPECT_EQ(r.arena_bytes, 0);
  EXPECT_EQ(r.live_bytes, 0);
  EXPECT_TRUE(r.live.empty());
}

TEST(MemoryReport, ComesFromACompiledFunctionOnceItRan) {
  CompiledFn f = compile([](Span<const Tensor> x) -> TensorList { return {x[0]}; });
  EXPECT_THROW(f.memory_report(), ValueError);
  const Tensor x = Tensor::zeros({4});
  f({&x, 1});
  EXPECT_EQ(f.memory_report().input_bytes, 16);
}

}  // namespace
}  // namespace sindri
