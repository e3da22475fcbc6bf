// Samples of softmax, cross entropy and their gradient ops.
#include "tests/ops/samples.h"

namespace sindri::test::loss_samples {
namespace {

std::vector<Sample> softmax_samples() {
  struct Case {
    std::string name;
    Shape x;
    int64_t axis = -1;
  };
  std::vector<Sample> s;
  for (const Case& c : std::vector<Case>{{"plain", {4, 10}},
                                         {"axis0", {5, 6}, 0},
                                         {"middle", {3, 7, 4}, 1},
                                         {"negative_axis", {3, 7, 4}, -2},
                                         {"rank1", {9}},
                                         {"rank4", {2, 3, 4, 5}, 1},
                                         {"rank4_last", {2, 3, 4, 5}},
                                         {"width1", {5, 1}},
                                         {"width7", {3, 7}},
                                         {"width8", {3, 8}},
                                         {"width9", {3, 9}},
                                         {"width15", {3, 15}},
                                         {"width16", {3, 16}},
                                         {"width17", {3, 17}},
                                         {"width31", {2, 31}},
                                         {"width33", {2, 33}},
                                         {"width100", {2, 100}},
                                         {"inner17", {2, 3, 17}, 1},
                                         {"inner33", {1, 5, 33}, 1},
                                         {"no_rows", {0, 4}},
                                         {"no_inner", {2, 3, 0}, 1},
                                         {"scalar", {}}}) {
    const AttrFields attrs = {{"axis", c.axis}};
    for (const std::string op : {"softmax", "log_softmax"}) {
      s.push_back({op, c.name, attrs, {{c.x, -4, 4}}});
      s.push_back({op + "_grad", c.name, attrs, {{c.x}, op == "softmax" ? Arg{c.x, 0, 1} : Arg{c.x, -3, 0}}});
    }
  }
  return s;
}

struct Case {
  std::string name;
  int64_t rows, classes;
  double smoothing = 0;
  int64_t ignore = -100;
  DType labels = DType::kInt32;
  double lo = -4, hi = 4;
};

std::vector<Sample> sparse_samples() {
  const std::vector<Case> cases = {
      {"plain", 8, 10},
      {"int64", 8, 10, 0, -100, DType::kInt64},
      {"smoothing_0.1", 8, 10, 0.1},
      {"smoothing_0.1_int64", 7, 5, 0.1, -100, DType::kInt64},
      {"smoothing_half", 4, 6, 0.5},
      {"smoothing_1", 4, 6, 1},
      {"ignore", 12, 4, 0, 2},
      {"ignore_smoothing", 12, 4, 0.2, 2},
      {"ignore_0", 9, 3, 0, 0},
      {"ignore_int64", 9, 3, 0.1, 1, DType::kInt64},
      {"one_row", 1, 10},
      {"two_classes", 6, 2},
      {"one_class", 5, 1},
      {"one_class_smoothing", 5, 1, 0.1},
      {"no_rows", 0, 10},
      {"one_by_one", 1, 1},
      {"classes7", 3, 7},
      {"classes8", 3, 8},
      {"classes9", 3, 9},
      {"classes15", 3, 15},
      {"classes16", 3, 16},
      {"classes17", 3, 17},
      {"classes31", 3, 31, 0.1},
      {"classes32", 3, 32, 0.1},
      {"classes33", 3, 33, 0.1},
      {"classes64", 2, 64},
      {"classes65", 2, 65},
      {"classes100", 4, 100, 0.1},
      {"classes257", 2, 257, 0.1},
      {"classes1001", 1, 1001},
      {"rows33", 33, 6},
      {"rows130", 130, 3, 0.1},
      {"wide_logits", 4, 12, 0, -100, DType::kInt32, -40, 40},
      {"wide_logits_smoothing", 4, 12, 0.1, -100, DType::kInt32, -40, 40},
  };
  std::vector<Sample> s;
  for (const Case& c : cases) {
    const AttrFields attrs = {{"label_smoothing", c.smoothing}, {"ignore_index", c.ignore}};
    const Arg logits = {{c.rows, c.classes}, c.lo, c.hi}, labels = {{c.rows}, 0, static_cast<double>(c.classes), c.labels};
    s.push_back({"softmax_cross_entropy_sparse", c.name, attrs, {logits, labels}});
    s.push_back({"softmax_cross_entropy_sparse_grad", c.name, attrs, {{{c.rows}}, logits, labels}});
  }
  return s;
}

std::vector<Sample> dense_samples() {
  std::vector<Sample> s;
  for (const Case& c : std::vector<Case>{{"plain", 6, 10},
                                         {"one_row", 1, 8},
                                         {"one_class", 4, 1},
                                         {"no_rows", 0, 5},
                                         {"classes7", 3, 7},
                                         {"classes9", 3, 9},
                                         {"classes16", 3, 16},
                                         {"classes17", 3, 17},
                                         {"classes33", 3, 33},
                                         {"classes100", 3, 100},
                                         {"rows33", 33, 5},
                                         {"wide_logits", 4, 12, 0, -100, DType::kInt32, -40, 40}}) {
    const Arg logits = {{c.rows, c.classes}, c.lo, c.hi}, labels = {{c.rows, c.classes}, 0, 1};
    s.push_back({.op = "softmax_cross_entropy_dense", .name = c.name, .args = {logits, labels}, .no_gradient = {1}});
    s.push_back({.op = "softmax_cross_entropy_dense_grad", .name = c.name, .args = {{{c.rows}}, logits, labels}, .no_gradient = {2}});
  }
  const Arg logits = {{5, 7}, -4, 4}, labels = {{5, 7}, 0, 1};
  const AttrFields both = {{"labels_grad", true}};
  s.push_back({"softmax_cross_entropy_dense", "labels_grad", both, {logits, labels}});
  s.push_back({"softmax_cross_entropy_dense_grad", "labels_grad", both, {{{5}}, logits, labels}});
  return s;
}

std::vector<Sample> label_samples() {
  std::vector<Sample> s;
  for (const Case& c : std::vector<Case>{{"plain", 6, 10}, {"no_rows", 0, 5}, {"one_class", 4, 1}, {"rows33", 33, 6}})
    for (const DType t : {DType::kInt32, DType::kInt64}) {
      const Arg labels = {.shape = {c.rows}, .lo = 0, .hi = static_cast<double>(c.classes), .dtype = t, .kind = "integers"};
      s.push_back({"check_labels", c.name + std::string("_") + dtype_name(t), {{"classes", c.classes}, {"ignore_index", int64_t{-100}}}, {labels}});
    }
  const Arg images = {.shape = {2, 3, 4, 5}, .lo = -1, .hi = 7, .dtype = DType::kInt32, .kind = "integers"};
  s.push_back({"check_labels", "images_ignored", {{"classes", int64_t{7}}, {"ignore_index", int64_t{-1}}}, {images}});
  return s;
}

std::vector<Sample> probability_samples() {
  std::vector<Sample> s;
  for (const auto& [name, shape] :
       std::vector<std::pair<std::string, Shape>>{{"scalar", {}}, {"no_rows", {0, 5}}, {"matrix", {6, 5}}, {"images", {2, 3, 4, 5}}, {"blocks", {3, 1500}}})
    s.push_back({"check_probabilities", name, {}, {{.shape = shape, .lo = 0.01, .hi = 0.99}}});
  return s;
}

const bool kProbabilities = add_samples(probability_samples());
const bool kSoftmax = add_samples(softmax_samples());
const bool kLabels = add_samples(label_samples());
const bool kSparse = add_samples(sparse_samples());
const bool kDense = add_samples(dense_samples());

}  // namespace
}  // namespace sindri::test::loss_samples
