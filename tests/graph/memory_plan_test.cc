// The memory plan: no two live values share bytes, memory is reused, states are donated if that is safe. Random graphs are planned, checked by brute force, and
// run against eager mode with every pass on.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sindri/graph/compile.h"
#include "src/graph/memory_plan.h"
#include "src/graph/trace.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;

MemoryPlan plan_of(const std::string& text) {
  const Graph g = parse_graph(text);
  verify_graph(g, "parsing");
  return plan_memory(g);
}
std::string wrap(const std::string& body) { return "graph \"f\" {\n" + body + "}\n"; }

TEST(MemoryPlan, ElementwiseChainUsesOneSlice) {
  const MemoryPlan p =
      plan_of(wrap("%0 = input : f32[100]\n%1 = test_relu(%0) : f32[100]\n%2 = test_add(%1, %0) : f32[100]\n%3 = test_scale(%2) {factor=2.0} : f32[100]\n"
                   "%4 = test_sum(%3) : f32[]\nreturn %4\n"));
  EXPECT_EQ(p.arena_bytes, 448);  // 400 bytes, aligned to 64
  EXPECT_EQ(p.unplanned_bytes, 3 * 448);
  EXPECT_EQ(p.inplace, 2);
  EXPECT_EQ(p.at[1].place, Place::kArena);
  EXPECT_EQ(p.at[4].place, Place::kFresh);
}

TEST(MemoryPlan, AnInputThatLivesOnIsNotOverwritten) {
  const MemoryPlan p =
      plan_of(wrap("%0 = input : f32[16]\n%1 = test_relu(%0) : f32[16]\n%2 = test_scale(%1) {factor=2.0} : f32[16]\n%3 = test_mul(%1, %2) : f32[16]\n"
                   "%4 = test_sum(%3) : f32[]\nreturn %4\n"));
  EXPECT_NE(p.at[1].offset, p.at[2].offset);
  EXPECT_EQ(p.at[3].offset, p.at[1].offset);  // the operand the op names first
  EXPECT_EQ(p.arena_bytes, 128);
}

TEST(MemoryPlan, OpsThatDoNotAllowItNeverRunInPlace) {
  const MemoryPlan p =
      plan_of(wrap("%0 = input : f32[4]\n%1 = test_relu(%0) : f32[4]\n%2 = test_scale(%0) {factor=2.0} : f32[4]\n%3 = test_outer(%1, %2) : f32[4, 4]\n"
                   "%4 = test_outer(%3, %1) : f32[16, 4]\n%5 = test_sum(%4) : f32[]\nreturn %5\n"));
  EXPECT_EQ(p.inplace, 0);
}

TEST(MemoryPlan, AnOperandReadTwiceIsOverwrittenByElementwiseOpsOnly) {
  const MemoryPlan update =
      plan_of(wrap("%0 = input : f32[4]\n%1 = test_relu(%0) : f32[4]\n%2, %3 = test_update(%1, %0, %1) : f32[4], f32[4]\n%4 = test_add(%2, %3) : f32[4]\n"
                   "%5 = test_sum(%4) : f32[]\nreturn %5\n"));
  EXPECT_NE(update.at[2].offset, update.at[1].offset);
  const MemoryPlan square =
      plan_of(wrap("%0 = input : f32[4]\n%1 = test_relu(%0) : f32[4]\n%2 = test_mul(%1, %1) : f32[4]\n%3 = test_sum(%2) : f32[]\nreturn %3\n"));
  EXPECT_EQ(square.inplace, 1);
}

TEST(MemoryPlan, SmallValuesFillTheHolesLargeOnesLeave) {
  const MemoryPlan p =
      plan_of(wrap("%0 = input : f32[64]\n%1 = test_outer(%0, %0) : f32[64, 64]\n%2 = test_outer(%0, %0) : f32[64, 64]\n%3 = test_sum(%1) : f32[]\n"
                   "%4 = test_sum(%2) : f32[]\n%5 = test_add(%3, %4) : f32[]\n%6 = test_outer(%0, %5) : f32[64, 1]\n%7 = test_sum(%6) : f32[]\nreturn %7\n"));
  EXPECT_EQ(p.arena_bytes, 2 * 64 * 64 * 4 + 64);  // the peak: %1, %2 and %3 live together
  EXPECT_LT(p.at[6].offset, 2 * 64 * 64 * 4);
}

TEST(MemoryPlan, UpdateOutputsAreDonatedPairwise) {
  const MemoryPlan p =
      plan_of(wrap("%0 = input : f32[4]\n%1 = state \"p\" : f32[4]\n%2 = state \"v\" : f32[4]\n%3, %4 = test_update(%1, %2, %0) : f32[4], f32[4]\n"
                   "state %1 <- %3\nstate %2 <- %4\nreturn\n"));
  EXPECT_EQ(p.donated, (std::vector<bool>{true, true}));
  EXPECT_EQ(p.arena_bytes, 0);
}

struct DonationCase {
  const char* name;
  const char* body;
  bool donated;
};
const DonationCase kDonation[] = {
    {"crossed_pair", "%0 = state \"p\" : f32[4]\n%1 = state \"v\" : f32[4]\n%2, %3 = test_update(%1, %0, %1) : f32[4], f32[4]\nstate %0 <- %2\nreturn\n",
     false},
    {"operand_twice", "%0 = state \"p\" : f32[4]\n%1 = input : f32[4]\n%2, %3 = test_update(%0, %1, %0) : f32[4], f32[4]\nstate %0 <- %2\nreturn\n", false},
    {"elementwise_twice", "%0 = state \"p\" : f32[4]\n%1 = test_mul(%0, %0) : f32[4]\nstate %0 <- %1\nreturn\n", true},
    {"second_operand", "%0 = state \"p\" : f32[4]\n%1 = input : f32[4]\n%2 = test_add(%1, %0) : f32[4]\nstate %0 <- %2\nreturn\n", true},
    {"read_later", "%0 = state \"p\" : f32[4]\n%1 = test_relu(%0) : f32[4]\n%2 = test_sum(%0) : f32[]\nstate %0 <- %1\nreturn %2\n", false},
    {"read_before", "%0 = state \"p\" : f32[4]\n%1 = test_sum(%0) : f32[]\n%2 = test_full() {shape=[4], value=1.0} : f32[4]\nstate %0 <- %2\nreturn %1\n",
     true},
    {"not_in_place",
     "%0 = state \"p\" : f32[2, 2]\n%1 = test_outer(%0, %0) : f32[4, 4]\n%2 = test_sum(%1) : f32[]\n%3 = test_nchw(%0) : f32[2, 2]\nstate %0 <- %3\nreturn "
     "%2\n",
     false},
    {"old_value_returned", "%0 = state \"p\" : f32[4]\n%1 = test_relu(%0) : f32[4]\nstate %0 <- %1\nreturn %0\n", false},
    {"old_value_given_on", "%0 = state \"p\" : f32[4]\n%1 = state \"q\" : f32[4]\n%2 = test_relu(%0) : f32[4]\nstate %0 <- %2\nstate %1 <- %0\nreturn\n",
     false},
    {"other_layout",
     "%0 = state \"p\" : f32[1, 2, 2, 2]\n%1 = to_layout(%0) {layout=\"channels_last\"} : f32[1, 2, 2, 2]:channels_last\nstate %0 <- %1\nreturn\n", false},
};
class Donation : public ::testing::TestWithParam<DonationCase> {};
TEST_P(Donation, OnlyWhereNothingReadsTheOldValueAfterwards) { EXPECT_EQ(plan_of(wrap(GetParam().body)).donated[0], GetParam().donated); }
INSTANTIATE_TEST_SUITE_P(All, Donation, ::testing::ValuesIn(kDonation), [](const auto& test_case) { return std::string(test_case.param.name); });

// Runs the program order on symbolic memory: every arena byte records which value wrote it, and every read must find its value.
void check_by_brute_force(const Graph& g) {
  const MemoryPlan p = plan_memory(g);
  std::vector<ValueId> owner(static_cast<size_t>(p.arena_bytes / kArenaAlign), kNoId);
  std::vector<ValueId> state_owner;
  for (const StateBinding& s : g.states()) state_owner.push_back(s.read);
  const auto slots = [&](ValueId v) {
    const auto first = static_cast<size_t>(p.at[static_cast<size_t>(v)].offset / kArenaAlign);
    return std::pair{first, first + static_cast<size_t>((g.value(v).meta.nbytes() + kArenaAlign - 1) / kArenaAlign)};
  };
  const auto readable = [&](ValueId v) {
    const Location& at = p.at[static_cast<size_t>(v)];
    if (at.place == Place::kState) return state_owner[static_cast<size_t>(at.index)] == v;
    if (at.place != Place::kArena) return at.place != Place::kNone;
    const auto [b, e] = slots(v);
    return std::all_of(owner.begin() + static_cast<ptrdiff_t>(b), owner.begin() + static_cast<ptrdiff_t>(e), [v](ValueId o) { return o == v; });
  };
  for (NodeId n : g.order()) {
    for (ValueId v : g.node(n).in) ASSERT_TRUE(readable(v)) << "value " << v << " of\n" << g.text();
    for (ValueId v : g.node(n).out) {
      const Location& at = p.at[static_cast<size_t>(v)];
      if (at.place == Place::kState) state_owner[static_cast<size_t>(at.index)] = v;
      if (at.place != Place::kArena) continue;
      ASSERT_EQ(at.offset % kArenaAlign, 0);
      const auto [b, e] = slots(v);
      ASSERT_LE(e, owner.size());
      std::fill(owner.begin() + static_cast<ptrdiff_t>(b), owner.begin() + static_cast<ptrdiff_t>(e), v);
    }
    for (ValueId v : g.node(n).out) ASSERT_TRUE(readable(v)) << "outputs of one node overlap";
  }
  for (ValueId v : g.outputs()) ASSERT_TRUE(readable(v));
  for (const StateBinding& s : g.states()) ASSERT_TRUE(s.written == kNoId || readable(s.written));
}

// A random program over vectors of one size, three parameters and one input; the same function for every execution mode.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) {
    std::mt19937 rng(seed);
    for (int i = 0; i < 24; ++i) steps_.push_back({static_cast<int>(rng() % 9), rng() % 97, rng() % 89, rng() % 83});
    for (int i = 0; i < 3; ++i) returned_.push_back(rng() % 71);
  }

  TensorList operator()(Span<const Tensor> in, std::vector<std::unique_ptr<Parameter>>& params) const {
    TensorList pool = {in[0], params[0]->value(), vec({0.5, -1, 2})};
    const auto pick = [&](size_t i) { return pool[i % pool.size()]; };
    for (const Step& s : steps_) {
      Parameter& p = *params[s.c % params.size()];
      switch (s.kind) {
        case 0: pool.push_back(scale(add(pick(s.a), pick(s.b)), 0.5)); break;
        case 1: pool.push_back(relu(pick(s.a))); break;
        case 2: pool.push_back(scale(pick(s.a), s.b % 2 == 0 ? 0.75 : -0.5)); break;
        case 3: pool.push_back(p.value()); break;
        case 4:
        case 5: p.assign(pick(s.a)); break;
        case 6: p.assign(scale(add(p.value(), pick(s.a)), 0.5)); break;
        case 7: {
          Parameter& q = *params[(s.c + 1) % params.size()];
          const auto out = call("test_update", {p.value(), q.value(), pick(s.b)});
          p.assign(scale(out[0], 0.5));
          q.assign(out[1]);
          break;
        }
        default:
          pool.push_back(call1("test_outer", {call1("test_sum", {pick(s.a)}), pick(s.b)}));
          flatten(&pool.back());
          break;
      }
    }
    TensorList out;
    for (size_t i : returned_) out.push_back(pick(i));
    return out;
  }

 private:
  struct Step {
    int kind;
    size_t a, b, c;
  };
  // [1, 3] back to [3] by an op that accepts any meta: reshape of the library.
  static void flatten(Tensor* t) {
    *t = call1("test_sum", {*t}), *t = call1("test_outer", {*t, vec({1, 0.25, -1})}), *t = call1("reshape", {*t}, {{"shape", Shape{3}}});
  }
  std::vector<Step> steps_;
  std::vector<size_t> returned_;
};

std::vector<std::unique_ptr<Parameter>> make_params() {
  std::vector<std::unique_ptr<Parameter>> p;
  p.push_back(std::make_unique<Parameter>(vec({1, -2, 0.5}), "a"));
  p.push_back(std::make_unique<Parameter>(vec({0.25, 3, -1}), "b"));
  p.push_back(std::make_unique<Parameter>(p[0]->value(), "c"));  // shares the storage of a
  return p;
}

class RandomGraphs : public ::testing::TestWithParam<int> {};

TEST_P(RandomGraphs, PlanIsSoundAndEveryRunEqualsEager) {
  for (unsigned seed = static_cast<unsigned>(GetParam()) * 100; seed < static_cast<unsigned>(GetParam()) * 100 + 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const RandomProgram program(seed);
    auto eager = make_params(), compiled = make_params(), plain = make_params();
    const TensorMeta meta[] = {eager[0]->meta()};
    check_by_brute_force(trace_function(
        "f", [&](Span<const Tensor> in) { return program(in, plain); }, meta));
    CompiledFn f = compile([&](Span<const Tensor> in) { return program(in, compiled); });
    CompiledFn g = compile([&](Span<const Tensor> in) { return program(in, plain); }, {.disable_passes = {"all"}});
    std::vector<std::pair<Tensor, Tensor>> held;  // handles that users keep must not change
    for (int step = 0; step < 4; ++step) {
      const Tensor x[] = {vec({0.5 + step, -1, 1})};
      const TensorList want = program(x, eager), got = f(x), bare = g(x);
      ASSERT_EQ(want.size(), got.size());
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_TRUE(same_bits(want[i], got[i])) << "output " << i << " of step " << step << "\n" << f.graph_text();
        ASSERT_TRUE(same_bits(want[i], bare[i])) << "output " << i << " of step " << step << " without passes";
      }
      for (size_t i = 0; i < eager.size(); ++i) {
        ASSERT_TRUE(same_bits(eager[i]->value(), compiled[i]->value())) << "state " << i << " after step " << step << "\n" << f.graph_text();
        ASSERT_TRUE(same_bits(eager[i]->value(), plain[i]->value())) << "state " << i << " after step " << step << " without passes";
        if (step % 2 == 0) held.emplace_back(compiled[i]->value(), compiled[i]->value().clone());
      }
      for (size_t i = 0; i < got.size(); ++i)
        if (step != 1) held.emplace_back(got[i], got[i].clone());
      for (const auto& [handle, then] : held) ASSERT_TRUE(same_bits(handle, then)) << "a held handle changed in step " << step;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, ::testing::Range(0, 4));

}  // namespace
}  // namespace sindri
