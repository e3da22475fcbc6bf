// Sample inputs of ops. The common suite (suite_test.cc) runs every registered op through its samples; an op without any fails.
//
//   static const bool kSamples = add_samples({
//       {"conv2d", "stride2_pad1", {{"stride", std::vector<int64_t>{2, 2}}}, {{{2, 3, 8, 8}}, {{4, 3, 3, 3}}}},
//   });
//
// Values come from a counter-based formula that tests/reference/make_op_expectations.py computes too, so stored PyTorch expectations contain only outputs and
// gradients. A sample must stay away from kinks (use Arg::kind "distinct" or a range).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sindri/core/rng.h"
#include "sindri/core/tensor.h"
#include "sindri/op/attrs.h"

namespace sindri::test {

struct Arg {
  Shape shape;
  double lo = -2, hi = 2;
  /// Unset: the floating type under test (float64 for gradients, float32, bfloat16, float16). Set: always this type.
  std::optional<DType> dtype = std::nullopt;
  /// "uniform" in [lo, hi); "integers": integers in [lo, hi); "distinct": the values lo + k·(hi-lo)/n in scattered order, no two equal; "spd": symmetric
  /// positive definite over the last two dimensions; "away0": uniform with |x| >= 0.1.
  std::string kind = "uniform";
  /// Explicit values instead (row-major).
  std::vector<double> values = {};
};

struct Sample {
  std::string op, name;
  AttrFields attrs = {};
  std::vector<Arg> args = {};
  bool gradient = true;  ///< numeric gradient of every floating input without a fixed dtype
  std::vector<int> no_gradient = {};  ///< inputs excluded from it
  bool half = true;  ///< also compared in bfloat16 and float16 against float32
  bool torch = true;  ///< compared with stored PyTorch expectations if the script knows the op
  double tolerance = 1;  ///< factor on the suite's tolerances
};

bool add_samples(std::vector<Sample> samples);
const std::vector<Sample>& all_samples();

/// The inputs of a sample with floating arguments of type `dtype`.
std::vector<Tensor> make_inputs(const Sample& s, DType dtype);
/// Values of input `arg` of a sample, uniform in [0, 1): the formula shared with the Python scripts. Hashes the names once, as tests draw millions.
class UnitValues {
 public:
  UnitValues(const std::string& sample, int arg);
  /// Element i.
  double operator()(size_t i) const { return u64_to_unit_double(mix64(key_ + i)); }

 private:
  uint64_t key_;
};

}  // namespace sindri::test
