// In place equals the plain form. If an op's traits let an output use the memory of an operand (as the memory plan of compiled functions does), every kernel is
// bitwise identical on shared memory, for one pair at a time and for all at once.
#include <gtest/gtest.h>

#include <cstring>

#include "sindri/core/error.h"
#include "sindri/op/kernel.h"
#include "src/core/tensor_impl.h"
#include "src/graph/memory_plan.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

struct Pair {
  size_t out, in;
};

struct Call {
  const OpDef* op;
  Attrs attrs;
  std::vector<TensorMeta> in_metas, out_metas;
  std::vector<Tensor> in;  // in the layouts the kernel accepts

  Call(const Sample& s, DType t) : op(&find_op(s.op)), attrs(op->attrs.make(s.attrs)), in(make_inputs(s, t)) {
    std::vector<TensorMeta> given;
    for (const Tensor& x : in) given.push_back(x.meta());
    infer_with_layout(*op, attrs, given, &in_metas, &out_metas, current_device());
    for (size_t i = 0; i < in.size(); ++i) in[i] = convert_layout(in[i], in_metas[i].layout);
  }

  std::vector<Pair> pairs() const {
    std::vector<Pair> p;
    for (size_t k = 0; k < out_metas.size(); ++k)
      for (size_t i = 0; i < in.size(); ++i)
        if (output_may_overwrite(*op, attrs, in_metas.size(), out_metas.size(), k, out_metas[k], i, in_metas[i])) p.push_back({k, i});
    return p;
  }

  // Runs on copies of the inputs; the outputs in `shared` use the memory of their operands' copies.
  std::vector<Tensor> run(Kernel& kernel, const std::vector<Pair>& shared) const {
    std::vector<Tensor> x, y;
    for (const Tensor& t : in) x.push_back(t.clone());
    for (size_t k = 0; k < out_metas.size(); ++k) {
      Tensor out = Tensor::empty(out_metas[k]);
      for (const Pair& p : shared)
        if (p.out == k) out = make_tensor(out_metas[k], x[p.in].impl()->storage);
      y.push_back(out);
    }
    std::vector<Buffer> ins, outs;
    for (size_t i = 0; i < x.size(); ++i) ins.push_back({x[i].impl()->storage->data(), &in_metas[i]});
    for (size_t k = 0; k < y.size(); ++k) outs.push_back({y[k].impl()->storage->data(), &out_metas[k]});
    const Device device = current_device();
    const Storage workspace(kernel.workspace_bytes(), device);
    ExecContext context{workspace.data(), device.is_cpu() ? nullptr : &current_stream(device)};
    kernel.run(context, ins, outs);
    return y;
  }
};

class InPlace : public ::testing::TestWithParam<size_t> {};

TEST_P(InPlace, EqualsThePlainForm) {
  const Sample& s = all_samples()[GetParam()];
  for (DType t : {DType::kFloat32, DType::kBFloat16, DType::kFloat64}) {
    if (t == DType::kBFloat16 && !s.half) continue;
    const Call call(s, t);
    const std::vector<Pair> pairs = call.pairs();
    std::vector<std::vector<Pair>> ways;
    for (const Pair& p : pairs) ways.push_back({p});
    if (call.out_metas.size() > 1 && pairs.size() > 1) ways.push_back(pairs);
    for (const KernelDef* k : kernels_of(s.op)) {
      std::shared_ptr<Kernel> kernel;
      try {
        kernel = make_kernel({*call.op, call.attrs, call.in_metas, call.out_metas}, nullptr, k->name);
      } catch (const DeviceError&) {
        continue;  // it was rejected
      }
      const std::vector<Tensor> plain = call.run(*kernel, {});
      for (const std::vector<Pair>& shared : ways) {
        const std::vector<Tensor> in_place = call.run(*kernel, shared);
        for (size_t i = 0; i < plain.size(); ++i)
          EXPECT_TRUE(same_bits(in_place[i], plain[i])) << "kernel " << k->name << ", " << dtype_name(t) << ": output " << i << " differs with output "
                                                        << shared[0].out << " on operand " << shared[0].in << (shared.size() > 1 ? " and others" : "");
      }
    }
  }
}

std::vector<size_t> samples_with_promises() {
  std::vector<size_t> out;
  for (size_t i = 0; i < all_samples().size(); ++i) {
    const OpTraits& t = find_op(all_samples()[i].op).traits;
    if (t.elementwise || t.inplace_input >= 0 || t.inplace_pairs != 0 || t.may_overwrite != nullptr) out.push_back(i);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Ops, InPlace, ::testing::ValuesIn(samples_with_promises()), [](const auto& test_case) {
  const Sample& s = all_samples()[test_case.param];
  std::string name = s.op + "_" + s.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace sindri::test
