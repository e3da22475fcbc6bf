// Value: what goes into and comes out of a Cell: a tensor, or a nested tuple, list or dict of values.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::nn {

/// What Cells take and give: a tensor, a tuple, list or dict of values, or nothing.
class SINDRI_API Value {
 public:
  enum class Kind { kNone, kTensor, kTuple, kList, kDict };
  Value() = default;
  Value(Tensor t) : kind_(Kind::kTensor), tensor_(std::move(t)) {}  // NOLINT(google-explicit-constructor)
  static Value tuple(std::vector<Value> items);
  static Value list(std::vector<Value> items);
  static Value dict(std::vector<std::pair<std::string, Value>> items);

  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  /// Throws ValueError when it is not a tensor.
  const Tensor& tensor() const;
  size_t size() const { return items_.size(); }
  /// Item of a tuple or list (or dict, by position).
  const Value& operator[](size_t i) const;
  /// Item of a dict. Throws ValueError naming the keys there are.
  const Value& at(const std::string& key) const;
  const std::vector<std::string>& keys() const { return keys_; }

  /// The tensors in it, depth first.
  void flatten(std::vector<Tensor>* out) const;
  std::vector<Tensor> flatten() const;
  /// The same structure around other tensors, taken in flatten() order.
  Value with_tensors(const std::vector<Tensor>& tensors) const;
  /// "(f32[2, 3], {a: f32[4]})": equal text, equal structure and metas.
  std::string signature() const;

 private:
  Kind kind_ = Kind::kNone;
  Tensor tensor_;
  std::vector<Value> items_;
  std::vector<std::string> keys_;
};

}  // namespace sindri::nn
