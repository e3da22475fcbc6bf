// Nested values: construction, checks and the flat view used by gradients and graphs.
#include "sindri/nn/value.h"

#include <fmt/format.h>

#include <set>

#include "sindri/core/error.h"

namespace sindri::nn {

namespace {

const char* kind_name(Value::Kind k) {
  static constexpr const char* kNames[] = {"none", "tensor", "tuple", "list", "dict"};
  return kNames[static_cast<int>(k)];
}

}  // namespace

Value Value::tuple(std::vector<Value> items) {
  Value v;
  v.kind_ = Kind::kTuple;
  v.items_ = std::move(items);
  return v;
}

Value Value::list(std::vector<Value> items) {
  Value v = tuple(std::move(items));
  v.kind_ = Kind::kList;
  return v;
}

Value Value::dict(std::vector<std::pair<std::string, Value>> items) {
  Value v;
  v.kind_ = Kind::kDict;
  std::set<std::string> seen;
  for (auto& [key, item] : items) {
    if (!seen.insert(key).second) throw ValueError(fmt::format("Value::dict: key '{}' is given twice", key));
    v.keys_.push_back(key);
    v.items_.push_back(std::move(item));
  }
  return v;
}

const Tensor& Value::tensor() const {
  if (kind_ != Kind::kTensor) throw ValueError(fmt::format("a tensor is expected, found a {} {}", kind_name(kind_), signature()));
  return tensor_;
}

const Value& Value::operator[](size_t i) const {
  if (kind_ == Kind::kNone || kind_ == Kind::kTensor) throw ValueError(fmt::format("a {} has no items", kind_name(kind_)));
  if (i >= items_.size()) throw ValueError(fmt::format("item {} of a {} of {}", i, kind_name(kind_), items_.size()));
  return items_[i];
}

const Value& Value::at(const std::string& key) const {
  if (kind_ != Kind::kDict) throw ValueError(fmt::format("a {} has no key '{}'", kind_name(kind_), key));
  for (size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key) return items_[i];
  throw ValueError(fmt::format("no key '{}'; there are: {}", key, fmt::join(keys_, ", ")));
}

void Value::flatten(std::vector<Tensor>* out) const {
  if (kind_ == Kind::kTensor) out->push_back(tensor_);
  for (const Value& v : items_) v.flatten(out);
}

std::vector<Tensor> Value::flatten() const {
  std::vector<Tensor> out;
  flatten(&out);
  return out;
}

Value Value::with_tensors(const std::vector<Tensor>& tensors) const {
  size_t next = 0;
  const auto rebuild = [&](const auto& self, const Value& v) -> Value {
    Value r = v;
    if (v.kind_ == Kind::kTensor) {
      if (next >= tensors.size()) throw ValueError(fmt::format("with_tensors: {} tensors are too few for {}", tensors.size(), signature()));
      r.tensor_ = tensors[next++];
    }
    for (Value& item : r.items_) item = self(self, item);
    return r;
  };
  Value r = rebuild(rebuild, *this);
  if (next != tensors.size()) throw ValueError(fmt::format("with_tensors: {} tensors for the {} of {}", tensors.size(), next, signature()));
  return r;
}

std::string Value::signature() const {
  if (kind_ == Kind::kNone) return "none";
  if (kind_ == Kind::kTensor) return tensor_.defined() ? tensor_.meta().str() : "undefined";
  std::string s;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i > 0) s += ", ";
    if (kind_ == Kind::kDict) s += keys_[i] + ": ";
    s += items_[i].signature();
  }
  if (kind_ == Kind::kTuple) return "(" + s + ")";
  return kind_ == Kind::kList ? "[" + s + "]" : "{" + s + "}";
}

}  // namespace sindri::nn
