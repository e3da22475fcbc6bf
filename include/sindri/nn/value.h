// Value: the inputs and outputs of a Cell: a tensor, or a nested tuple, list or dict of values.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::nn {

/// An input or output of a Cell: a tensor, a tuple, list or dict of values, or nothing.
class SINDRI_API Value {
 public:
  enum class Kind { kNone, kTensor, kTuple, kList, kDict };  ///< kNone: nothing
  /// Nothing.
  Value() = default;
  Value(Tensor t) : kind_(Kind::kTensor), tensor_(std::move(t)) {}  // NOLINT(google-explicit-constructor)
  /// A tuple of these items.
  static Value tuple(std::vector<Value> items);
  /// A list of these items.
  static Value list(std::vector<Value> items);
  /// A dict of these items, in order. Throws ValueError for a repeated key.
  static Value dict(std::vector<std::pair<std::string, Value>> items);

  /// Kind of the value.
  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  /// The tensor. Throws ValueError if the value is not one.
  const Tensor& tensor() const;
  /// Number of items; 0 for a tensor.
  size_t size() const { return items_.size(); }
  /// Item of a tuple or list (or of a dict, by position). Throws ValueError for other kinds and for an index out of
  /// range.
  const Value& operator[](size_t i) const;
  /// Item of a dict. Throws ValueError, listing the keys, for an unknown key.
  const Value& at(const std::string& key) const;
  /// Keys of a dict, in order.
  const std::vector<std::string>& keys() const { return keys_; }

  /// The tensors inside, depth first.
  void flatten(std::vector<Tensor>* out) const;
  std::vector<Tensor> flatten() const;
  /// The same structure with other tensors, in flatten() order. Throws ValueError for another number of tensors.
  Value with_tensors(const std::vector<Tensor>& tensors) const;
  /// Text that is equal for equal structure and metas: "(f32[2, 3], {a: f32[4]})".
  std::string signature() const;

 private:
  Kind kind_ = Kind::kNone;
  Tensor tensor_;
  std::vector<Value> items_;
  std::vector<std::string> keys_;
};

}  // namespace sindri::nn
