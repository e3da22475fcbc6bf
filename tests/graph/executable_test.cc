// Memory shared between states, inputs, outputs, constants and handles that users keep when a compiled function runs. Each test compares a compiled function
// with the same function run eagerly on separate parameters.
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/shape.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;

Tensor run1(CompiledFn& f, std::initializer_list<Tensor> in) { return f(Span<const Tensor>(in.begin(), in.size()))[0]; }
TensorList run(CompiledFn& f, std::initializer_list<Tensor> in) { return f(Span<const Tensor>(in.begin(), in.size())); }

TEST(Aliasing, StateIsUpdatedInPlaceAndKeepsItsStorage) {
  Parameter p(vec({1, 2, 3}), "p"), v(vec({0, 0, 0}), "v");
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    auto out = call("test_update", {p.value(), v.value(), in[0]});
    p.assign(out[0]);
    v.assign(out[1]);
    return {call1("test_sum", {out[0]})};
  });
  EXPECT_EQ(run1(f, {vec({1, 1, 1})}).item(), 3);  // the first run gives the slots separate memory
  const void *pp = p.stored().raw_data(), *vp = v.stored().raw_data();
  EXPECT_EQ(run1(f, {vec({1, 1, 1})}).item(), -1.5);
  EXPECT_EQ(p.stored().raw_data(), pp);
  EXPECT_EQ(v.stored().raw_data(), vp);
  EXPECT_EQ(values(p.value()), (std::vector<double>{-1.5, -0.5, 0.5}));
  EXPECT_EQ(values(v.value()), (std::vector<double>{1.5, 1.5, 1.5}));
}

TEST(Aliasing, ANewValueHasANewIdentity) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(scale(p.value(), 2));
    return {};
  });
  run(f, {});
  const uint64_t id = p.value().id();  // no handle is kept, so the second run writes in place
  run(f, {});
  EXPECT_NE(p.value().id(), id);
}

TEST(Aliasing, HeldHandleDoesNotSeeLaterValues) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(scale(p.value(), 2));
    return {};
  });
  run(f, {});
  const Tensor held = p.value();
  const uint64_t id = held.id();
  run(f, {});
  EXPECT_EQ(values(held), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(p.value()), (std::vector<double>{4, 8}));
  EXPECT_NE(p.value().id(), id);  // another value, another identity
}

TEST(Aliasing, ViewOfAStateDoesNotSeeLaterValues) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(scale(p.value(), 2));
    return {};
  });
  const Tensor view = p.value().view({2, 1});  // another handle of the same storage
  run(f, {});
  EXPECT_EQ(values(view), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(p.value()), (std::vector<double>{2, 4}));
}

TEST(Aliasing, StatesExchangeValues) {
  Parameter a(vec({1, 2}), "a"), b(vec({3, 4}), "b");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    const Tensor old = a.value();
    a.assign(b.value());
    b.assign(old);
    return {};
  });
  run(f, {});
  EXPECT_EQ(values(a.value()), (std::vector<double>{3, 4}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{1, 2}));
  run(f, {});
  EXPECT_EQ(values(a.value()), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{3, 4}));
}

TEST(Aliasing, StatesExchangeComputedValues) {
  Parameter a(vec({1, 2}), "a"), b(vec({3, 4}), "b");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    const Tensor x = a.value(), y = b.value();
    a.assign(scale(y, 2));  // reads y before b is written, but x is read after a would be
    b.assign(scale(x, 3));
    return {};
  });
  run(f, {});
  EXPECT_EQ(values(a.value()), (std::vector<double>{6, 8}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{3, 6}));
  run(f, {});
  EXPECT_EQ(values(a.value()), (std::vector<double>{6, 12}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{18, 24}));
}

TEST(Aliasing, OneStateTakesTheValueAnotherHad) {
  Parameter now(vec({1, 2}), "now"), before(vec({0, 0}), "before");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    before.assign(now.value());
    now.assign(scale(now.value(), 2));
    return {};
  });
  for (int step = 0; step < 3; ++step) run(f, {});
  EXPECT_EQ(values(now.value()), (std::vector<double>{8, 16}));
  EXPECT_EQ(values(before.value()), (std::vector<double>{4, 8}));
}

TEST(Aliasing, OldValueIsReadAfterTheNewOneIsMade) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    const Tensor old = p.value();
    p.assign(scale(old, 10));
    return {add(p.value(), old)};
  });
  EXPECT_EQ(values(run1(f, {})), (std::vector<double>{11, 22}));
  EXPECT_EQ(values(run1(f, {})), (std::vector<double>{110, 220}));
}

TEST(Aliasing, SameValueForTwoStates) {
  Parameter a(vec({1, 2}), "a"), b(vec({0, 0}), "b");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    const Tensor x = scale(a.value(), 2);
    a.assign(x);
    b.assign(x);
    return {};
  });
  run(f, {});
  run(f, {});
  EXPECT_EQ(values(a.value()), (std::vector<double>{4, 8}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{4, 8}));
  a.assign(vec({7, 7}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{4, 8}));
}

TEST(Aliasing, ParametersThatShareStorageBeforeTheRun) {
  const Tensor init = vec({1, 2});
  Parameter a(init, "a"), b(init, "b");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    a.assign(scale(a.value(), 2));
    b.assign(scale(b.value(), 3));
    return {};
  });
  run(f, {});
  EXPECT_EQ(values(a.value()), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(b.value()), (std::vector<double>{3, 6}));
  EXPECT_EQ(values(init), (std::vector<double>{1, 2}));
}

TEST(Aliasing, OutputIsAState) {
  Parameter p(vec({1, 2}), "p"), q(vec({5, 6}), "q");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    const Tensor old = p.value();
    p.assign(scale(old, 2));
    return {old, p.value(), q.value()};
  });
  const TensorList first = run(f, {}), second = run(f, {});
  EXPECT_EQ(values(first[0]), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(first[1]), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(first[2]), (std::vector<double>{5, 6}));
  EXPECT_EQ(values(second[0]), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(second[1]), (std::vector<double>{4, 8}));
}

TEST(Aliasing, NewValueOfAStateIsReturnedAndKept) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(scale(p.value(), 2));  // donated: the old value has no other reader
    return {p.value()};
  });
  std::vector<Tensor> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(run1(f, {}));
  EXPECT_EQ(values(kept[0]), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(kept[1]), (std::vector<double>{4, 8}));
  EXPECT_EQ(values(kept[2]), (std::vector<double>{8, 16}));
}

TEST(Aliasing, InputIsTheStateItself) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    p.assign(scale(p.value(), 10));
    return {add(p.value(), in[0])};  // the input is read after the state is written
  });
  EXPECT_EQ(values(run1(f, {p.value()})), (std::vector<double>{11, 22}));
  EXPECT_EQ(values(run1(f, {p.value()})), (std::vector<double>{110, 220}));
}

TEST(Aliasing, InputBecomesAStateAndAnOutput) {
  Parameter p(vec({0, 0}), "p");
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    p.assign(in[0]);
    return {in[0]};
  });
  Tensor x = vec({1, 2});
  const Tensor y = run1(f, {x});
  x.mutable_data<float>()[0] = 99;  // a caller that refills its batch buffer
  EXPECT_EQ(values(p.value()), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(y), (std::vector<double>{1, 2}));
}

// An eager reshape shares the storage of its input, here the slot of a state that a compiled function updates in place.
TEST(Aliasing, AReshapedHandleKeepsItsValueWhenTheStateIsUpdated) {
  Parameter p(vec({1, 2, 3, 4}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(scale(p.value(), 2));
    return {};
  });
  run(f, {});  // now the slot has separate memory
  const Tensor view = ops::reshape(p.value(), {2, 2});
  EXPECT_EQ(view.raw_data(), p.stored().raw_data());
  run(f, {});
  EXPECT_EQ(values(view), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(values(p.value()), (std::vector<double>{4, 8, 12, 16}));
}

TEST(Aliasing, OutputsReturnedTwiceConstantAndFromTheSameInput) {
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    const Tensor y = relu(in[0]);
    return {y, y, Tensor::full({2}, 7), in[0], in[0]};
  });
  const TensorList a = run(f, {vec({-1, 1})});
  const TensorList b = run(f, {vec({2, 3})});
  ASSERT_EQ(a.size(), 5u);
  EXPECT_EQ(values(a[0]), (std::vector<double>{0, 1}));
  EXPECT_EQ(values(a[1]), (std::vector<double>{0, 1}));
  EXPECT_EQ(values(a[2]), (std::vector<double>{7, 7}));
  EXPECT_EQ(values(a[3]), (std::vector<double>{-1, 1}));
  EXPECT_EQ(values(b[1]), (std::vector<double>{2, 3}));
  EXPECT_NE(a[2].raw_data(), b[2].raw_data());  // separate memory
}

TEST(Aliasing, ConstantHoldsTheValueAStateHadWhileTracing) {
  Parameter p(vec({1, 2}), "p");
  const Tensor captured = p.stored();
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(add(p.value(), captured));
    return {};
  });
  for (int i = 0; i < 3; ++i) run(f, {});
  EXPECT_EQ(values(p.value()), (std::vector<double>{4, 8}));
}

TEST(Aliasing, StateAssignedAConstant) {
  Parameter p(vec({1, 2}), "p"), q(vec({1, 1}), "q");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(Tensor::full({2}, 5));
    q.assign(add(q.value(), p.value()));
    return {};
  });
  run(f, {});
  run(f, {});
  EXPECT_EQ(values(p.value()), (std::vector<double>{5, 5}));
  EXPECT_EQ(values(q.value()), (std::vector<double>{11, 11}));
}

TEST(Aliasing, StateWrittenWithoutBeingRead) {
  Parameter p(vec({1, 2}), "p");
  const Tensor held = p.value();
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList {
    p.assign(relu(in[0]));
    return {};
  });
  run(f, {vec({3, -4})});
  EXPECT_EQ(values(p.value()), (std::vector<double>{3, 0}));
  EXPECT_EQ(values(held), (std::vector<double>{1, 2}));
}

TEST(Aliasing, AssignedTwiceTheLastValueStays) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile([&](Span<const Tensor>) -> TensorList {
    p.assign(scale(p.value(), 2));
    const Tensor middle = p.value();
    p.assign(add(middle, p.value()));
    return {middle};
  });
  EXPECT_EQ(values(run1(f, {})), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(p.value()), (std::vector<double>{4, 8}));
}

TEST(Aliasing, NextRunDoesNotOverwriteOutputs) {
  CompiledFn f = compile([&](Span<const Tensor> in) -> TensorList { return {relu(scale(in[0], 2))}; });
  const Tensor a = run1(f, {vec({1, 2})});
  run1(f, {vec({3, 4})});
  EXPECT_EQ(values(a), (std::vector<double>{2, 4}));
}

TEST(Executable, ErrorOfAKernelNamesOpFunctionAndCell) {
  Parameter p(vec({1, 2}), "p");
  CompiledFn f = compile(
      [&](Span<const Tensor> in) -> TensorList {
        const NameScope net("Net"), layer("check");
        p.assign(scale(p.value(), 2));
        return {call1("test_positive", {in[0]})};
      },
      {.name = "checked"});
  EXPECT_EQ(values(run1(f, {vec({1})})), (std::vector<double>{1}));
  try {
    run1(f, {vec({-1})});
    FAIL() << "no error";
  } catch (const ValueError& e) {
    EXPECT_EQ(std::string(e.what()), "test_positive: found a negative value | test_positive in compiled function 'checked' | in Net/check");
  }
  EXPECT_EQ(values(run1(f, {vec({3})})), (std::vector<double>{3}));  // usable after an error
  EXPECT_EQ(values(p.value()), (std::vector<double>{8, 16}));  // the failing run had already written its state, as eager mode does
}

}  // namespace
}  // namespace sindri
