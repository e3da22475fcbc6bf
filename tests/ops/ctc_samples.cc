// Samples of the ops of connectionist temporal classification.
#include "tests/ops/samples.h"

namespace sindri::test::ctc_samples {
namespace {

struct Case {
  std::string name;
  int64_t steps, classes;
  std::vector<std::vector<double>> targets;  ///< of each sample; rows are padded with label 1
  std::vector<double> input_lengths = {};  ///< empty: all steps
  int64_t blank = 0;
  bool zero_infinity = false, infinite = false;
  bool joined = false;  ///< targets concatenated
  DType integers = DType::kInt32;
};

const std::vector<Case> kCases = {
    {"plain", 6, 4, {{1, 2}, {3, 1}}},
    {"int64", 6, 4, {{1, 2}, {3, 1}}, {}, 0, false, false, false, DType::kInt64},
    {"repeated_labels", 7, 3, {{1, 1, 2}, {2, 2, 2}}},
    {"target_lengths", 6, 5, {{1, 2, 3}, {4}, {}}},
    {"input_lengths", 8, 4, {{1, 2}, {3}, {2, 2}}, {8, 5, 3}},
    {"blank_last", 5, 4, {{0, 1}, {2}}, {}, 3},
    {"blank_middle", 5, 4, {{0, 3}, {3, 1}}, {}, 2},
    {"joined", 6, 5, {{1, 2, 3}, {4}, {}, {2, 2}}, {}, 0, false, false, true},
    {"joined_int64", 6, 5, {{1, 2, 3}, {4}}, {6, 4}, 0, false, false, true, DType::kInt64},
    {"just_enough_steps", 5, 3, {{1, 1, 2}, {1, 2, 1}}, {4, 3}},
    {"one_step", 1, 3, {{1}, {}}},
    {"one_sample", 4, 3, {{1, 2}}},
    {"only_blanks", 4, 3, {{}, {}}},
    {"one_class", 3, 1, {{}}},
    {"blank_as_label", 6, 4, {{1, 0, 2}, {0, 0}}},
    {"long", 40, 7, {{1, 2, 3, 4, 5, 6, 1, 2, 3, 4}, {6, 6, 5, 5, 1}, {3}}, {40, 33, 17}},
    {"wide", 12, 37, {{36, 17, 17, 2}, {5, 9, 11, 30}, {1, 35}}},
    {"too_few_steps", 4, 3, {{1, 1, 2}, {1, 2}}, {3, 4}, 0, false, true},
    {"too_few_steps_zero", 4, 3, {{1, 1, 2}, {1, 2}}, {3, 4}, 0, true},
    {"no_steps", 3, 3, {{}, {1}}, {0, 3}},
    {"no_samples", 3, 4, {}},
};

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Case& c : kCases) {
    const auto N = static_cast<int64_t>(c.targets.size());
    size_t most = 0;
    for (const std::vector<double>& t : c.targets) most = std::max(most, t.size());
    std::vector<double> labels, lengths;
    for (const std::vector<double>& t : c.targets) {
      labels.insert(labels.end(), t.begin(), t.end());
      if (!c.joined) labels.insert(labels.end(), most - t.size(), 1);
      lengths.push_back(static_cast<double>(t.size()));
    }
    const Shape shape = c.joined ? Shape{static_cast<int64_t>(labels.size())} : Shape{N, static_cast<int64_t>(most)};
    const auto steps = c.input_lengths.empty() ? std::vector<double>(c.targets.size(), static_cast<double>(c.steps)) : c.input_lengths;
    const std::vector<Arg> args = {{{c.steps, N, c.classes}, -4, -0.1},
                                   {.shape = shape, .dtype = c.integers, .values = labels},
                                   {.shape = {N}, .dtype = c.integers, .values = steps},
                                   {.shape = {N}, .dtype = c.integers, .values = lengths}};
    const AttrFields attrs = {{"blank", c.blank}, {"zero_infinity", c.zero_infinity}};
    out.push_back({.op = "ctc_loss", .name = c.name, .attrs = attrs, .args = args, .gradient = !c.infinite});
    if (!c.joined) out.push_back({.op = "ctc_log_alpha", .name = c.name, .attrs = {{"blank", c.blank}}, .args = args, .gradient = false});
    std::vector<Arg> with_dloss = {{{N}}};
    with_dloss.insert(with_dloss.end(), args.begin(), args.end());
    out.push_back({.op = "ctc_loss_grad", .name = c.name, .attrs = attrs, .args = with_dloss, .gradient = false});
  }
  return out;
}

const bool kSamples = add_samples(samples());

}  // namespace
}  // namespace sindri::test::ctc_samples
