// Collective ops between ranks that are threads: values and gradients, eagerly and compiled.
#include <gtest/gtest.h>

#include <mutex>

#include "sindri/autograd/grad.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

constexpr int kRanks = 3;

Tensor of(std::vector<double> v) { return Tensor::from_values({static_cast<int64_t>(v.size())}, v, DType::kFloat32); }

// f(x), and the gradient of sum(weights · f(x)) over all ranks, compiled and not.
void expect_values(const TensorFn& f, const std::vector<std::vector<double>>& x, const std::vector<std::vector<double>>& weights,
                   const std::vector<std::vector<double>>& y, const std::vector<std::vector<double>>& dx) {
  comm::run_ranks(kRanks, [&](int rank) {
    const auto r = static_cast<size_t>(rank);
    const TensorFn both = [&](Span<const Tensor> in) -> TensorList {
      auto [out, g] = value_and_grad([&](Span<const Tensor> a) { return f(a); }, in, {0}, {}, {of(weights[r])});
      return {out[0], g.of_inputs[0]};
    };
    const TensorList in = {of(x[r])};
    CompiledFn compiled = compile(both);
    for (const TensorList& out : {both(in), compiled(in), compiled(in)}) {
      EXPECT_EQ(out[0].to_vector<double>(), y[r]) << "rank " << rank;
      EXPECT_EQ(out[1].to_vector<double>(), dx[r]) << "rank " << rank;
    }
  });
}

TEST(CommOps, AllReduceSum) {
  const auto f = [](Span<const Tensor> in) { return ops::all_reduce({in[0]}); };
  expect_values(f, {{1, 2}, {10, 20}, {100, 200}}, {{1, 2}, {3, 4}, {5, 6}}, {{111, 222}, {111, 222}, {111, 222}}, {{9, 12}, {9, 12}, {9, 12}});
}
TEST(CommOps, AllReduceMeanOfTheScaled) {
  const auto f = [](Span<const Tensor> in) { return ops::all_reduce({in[0]}, {.scale = 2}); };
  expect_values(f, {{1, 2}, {10, 20}, {100, 200}}, {{1, 2}, {3, 4}, {5, 6}}, {{222, 444}, {222, 444}, {222, 444}}, {{18, 24}, {18, 24}, {18, 24}});
}
TEST(CommOps, AllReduceMax) {
  const auto f = [](Span<const Tensor> in) { return ops::all_reduce({in[0]}, {.op = "max"}); };
  expect_values(f, {{1, 9}, {5, 2}, {3, 4}}, {{1, 2}, {3, 4}, {5, 6}}, {{5, 9}, {5, 9}, {5, 9}}, {{0, 12}, {9, 0}, {0, 0}});
}
TEST(CommOps, AllGatherAndReduceScatter) {
  const auto gather = [](Span<const Tensor> in) -> TensorList { return {ops::all_gather(in[0])}; };
  const std::vector<double> ones(3, 1);
  expect_values(gather, {{1}, {2}, {3}}, {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {{111}, {222}, {333}});
  const auto scatter = [](Span<const Tensor> in) -> TensorList { return {ops::reduce_scatter(in[0])}; };
  expect_values(scatter, {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}, {{1}, {2}, {3}}, {{111}, {222}, {333}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
}
TEST(CommOps, Broadcast) {
  const auto f = [](Span<const Tensor> in) { return ops::broadcast({in[0]}, 1); };
  expect_values(f, {{1}, {2}, {3}}, {{1}, {2}, {3}}, {{2}, {2}, {2}}, {{0}, {6}, {0}});
}
TEST(CommOps, AllToAll) {
  const auto f = [](Span<const Tensor> in) -> TensorList { return {ops::all_to_all(in[0])}; };
  expect_values(f, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, {{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}, {{1, 4, 7}, {2, 5, 8}, {3, 6, 9}});
}

// Around the ring: the value comes from the previous rank, the gradient from the next.
TEST(CommOps, NeighborExchangeAroundARing) {
  const auto f = [](Span<const Tensor> in) -> TensorList {
    const int me = comm::world().rank();
    return {ops::send_recv(in[0], (me + 1) % kRanks, (me + kRanks - 1) % kRanks)};
  };
  expect_values(f, {{1, 2}, {10, 20}, {100, 200}}, {{1, 2}, {3, 4}, {5, 6}}, {{100, 200}, {1, 2}, {10, 20}}, {{3, 4}, {5, 6}, {1, 2}});
}

// Every pair in both directions at once, and a part that stays local, with lists in different orders.
TEST(CommOps, NeighborExchangeOfAll) {
  const auto f = [](Span<const Tensor> in) -> TensorList {
    const int me = comm::world().rank();
    std::vector<int64_t> to = {0, 1, 2}, from = {2, 0, 1};
    if (me == 1) std::swap(to[0], to[2]);
    TensorList xs;
    for (const int64_t t : to) xs.push_back(ops::mul(in[0], static_cast<double>(t + 1)));
    const TensorList ys = ops::neighbor_exchange(xs, to, from, std::vector<Shape>(3, in[0].shape()), DType::kFloat32);
    return {ops::concat(ys, 0)};
  };
  const std::vector<double> ones(3, 1);
  expect_values(f, {{1}, {10}, {100}}, {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}, {{100, 1, 10}, {200, 2, 20}, {300, 3, 30}},
                {{2 + 2 * 20 + 3 * 200}, {3 + 2 * 30 + 3 * 300}, {1 + 2 * 10 + 3 * 100}});
}

// A chain of three stages: rank 0 sends to 1, 1 to 2, which has the loss. Each rank differentiates its own output. The backward pass exchanges its messages
// automatically, also from ranks whose received tensor does not contribute to any requested gradient.
TEST(CommOps, SendAndRecvCarryGradientsThroughStages) {
  comm::run_ranks(kRanks, [](int rank) {
    const TensorFn stage = [rank](Span<const Tensor> in) -> TensorList {
      Tensor x = in[0];
      if (rank > 0) x = ops::mul(x, ops::recv({2}, DType::kFloat32, rank - 1, 7));
      if (rank == kRanks - 1) return {ops::sum(x)};
      return {ops::mul(ops::sum(ops::send(x, rank + 1, 7)), 0.0)};  // the loss is another rank's
    };
    const TensorFn both = [&](Span<const Tensor> in) -> TensorList {
      auto [out, g] = value_and_grad(stage, in, {0}, {});
      return {out[0], g.of_inputs[0]};
    };
    const std::vector<std::vector<double>> x = {{1, 2}, {3, 4}, {5, 6}}, dx = {{3 * 5, 4 * 6}, {1 * 5, 2 * 6}, {1 * 3, 2 * 4}};
    const auto r = static_cast<size_t>(rank);
    const TensorList in = {of(x[r])};
    CompiledFn compiled = compile(both);
    for (const TensorList& out : {both(in), compiled(in), compiled(in)}) {
      EXPECT_EQ(out[0].item(), rank == 2 ? 1 * 3 * 5 + 2 * 4 * 6 : 0);
      EXPECT_EQ(out[1].to_vector<double>(), dx[r]) << "rank " << rank;
    }
  });
}

TEST(CommOps, MessagesThatDoNotMatch) {
  for (const bool tag : {true, false}) {
    std::mutex mutex;
    std::vector<std::string> errors;
    const auto job = [&](int rank) {
      try {
        if (rank == 0) (void)ops::send(of({1, 2}), 1, 3);
        else (void)ops::recv({tag ? 2 : 5}, DType::kFloat32, 0, tag ? 4 : 3);
        comm::world().barrier();
      } catch (const CommError& e) {
        const std::lock_guard lock(mutex);
        errors.emplace_back(e.what());
        EXPECT_EQ(e.code(), ErrorCode::kCommMismatch);
        throw;
      }
    };
    EXPECT_THROW(comm::run_ranks(2, job), CommError);
    ASSERT_EQ(errors.size(), 2u);
    for (const std::string& e : errors)
      EXPECT_NE(e.find(tag ? "rank 0 of 'world' sent 8 bytes with tag 3, rank 1 waits for 8 bytes with tag 4" : "rank 1 waits for 20 bytes with tag 3"),
                std::string::npos)
          << e;
  }
}

TEST(CommOps, AWireOfSixteenBits) {
  comm::run_ranks(4, [](int rank) {
    const Tensor x = of({1.0 + rank, 1e-3, 65504.0});
    const auto bf = ops::all_reduce({x}, {.scale = 0.25, .wire = "bfloat16"})[0].to_vector<double>();
    EXPECT_EQ(bf[0], 2.5);
    EXPECT_NEAR(bf[1], 1e-3, 1e-5);
    const auto half = ops::all_reduce({x}, {.op = "mean", .wire = "float16"})[0].to_vector<double>();
    EXPECT_EQ(half[2], 65504);  // the sum would overflow the type
  });
}

// Collectives overlap with computation, and their operands and results are not reused meanwhile: many in flight, in program order.
TEST(CommOps, ManyOnTheLane) {
  comm::run_ranks(2, [](int rank) {
    const TensorFn f = [](Span<const Tensor> in) -> TensorList {
      Tensor x = in[0], total = ops::mul(in[0], 0.0);
      for (int i = 0; i < 20; ++i) {
        x = ops::tanh(ops::mul(ops::sum(ops::mul(x, x)), x));
        total = ops::add(total, ops::all_reduce({x}, {.index = i})[0]);
      }
      return {total};
    };
    const Tensor x = Tensor::full({1000}, 0.25 + rank, DType::kFloat32);
    const TensorList in = {x};
    const std::vector<double> eager = f(in)[0].to_vector<double>();
    CompiledFn compiled = compile(f), later = compile(f, {.disable_passes = {"hoist_comm"}});
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(compiled(in)[0].to_vector<double>(), eager);
      EXPECT_EQ(later(in)[0].to_vector<double>(), eager);
    }
  });
}

TEST(CommOps, AnErrorOnTheLaneReachesTheCaller) {
  std::mutex mutex;
  std::vector<std::string> errors;
  try {
    comm::run_ranks(2, [&](int rank) {
      const TensorFn f = [](Span<const Tensor> in) -> TensorList { return {ops::tanh(ops::all_reduce({in[0]}, {.what = "odd one"})[0])}; };
      try {
        const Tensor x = Tensor::full({rank == 0 ? 3 : 5}, 1, DType::kFloat32);
        (void)compile(f, {.name = "odd"})(std::vector<Tensor>{x});
        FAIL() << "sizes differ between ranks";
      } catch (const CommError& e) {
        const std::lock_guard lock(mutex);
        errors.emplace_back(e.what());
        throw;
      }
    });
    FAIL() << "the error was lost";
  } catch (const CommError& e) { EXPECT_EQ(e.code(), ErrorCode::kCommMismatch); }
  ASSERT_EQ(errors.size(), 2u);
  for (const std::string& e : errors) EXPECT_NE(e.find("all_reduce in compiled function 'odd'"), std::string::npos) << e;
}

TEST(CommOps, Refused) {
  const Tensor x = of({1, 2, 3});
  EXPECT_THROW(ops::all_reduce({x}, {.op = "median"}), ValueError);
  EXPECT_THROW(ops::all_reduce({x}, {.group = "nobody"}), ValueError);
  EXPECT_THROW(ops::all_reduce({}), ValueError);
  EXPECT_THROW(ops::all_reduce({x, Tensor::zeros({2}, DType::kInt32)}), DTypeError);
  EXPECT_THROW(ops::all_reduce({Tensor::zeros({2}, DType::kInt32)}, {.op = "mean"}), DTypeError);
  EXPECT_THROW(ops::all_reduce({x}, {.wire = "int32"}), ValueError);
  EXPECT_THROW(ops::all_gather(Tensor::scalar(1)), ShapeError);
  EXPECT_THROW(ops::broadcast({x}, 1), ValueError);
  comm::run_ranks(2, [&](int) { EXPECT_THROW(ops::reduce_scatter(of({1, 2, 3})), ShapeError); });
  EXPECT_THROW(ops::send(x, 0), ValueError) << "no rank receives it";
  EXPECT_THROW(ops::recv({3}, DType::kFloat32, 1), ValueError);
  EXPECT_THROW(ops::neighbor_exchange({}, {}, {}, {}, DType::kFloat32), ValueError);
  EXPECT_THROW(ops::neighbor_exchange({x, x}, {0, 0}, {0}, std::vector<Shape>{Shape{3}}, DType::kFloat32), ValueError);
  EXPECT_THROW(ops::neighbor_exchange({x}, {0}, {0}, std::vector<Shape>{Shape{3}}, DType::kInt32), DTypeError);
  EXPECT_THROW(ops::neighbor_exchange({x}, {0}, {0}, {}, DType::kFloat32), ValueError);
}

}  // namespace
}  // namespace sindri
