// Attributes of an op: a plain struct whose fields are listed once. The list provides equality and hash (CSE, kernel cache), text
// (printed graphs, errors), parsing (text graphs, Python keywords) and documentation.
//
//   struct Conv2dAttrs {
//     std::vector<int64_t> stride = {1, 1};
//     int64_t groups = 1;
//     SINDRI_ATTRS(Conv2dAttrs, stride, groups)
//   };
//   Attrs a = Attrs::of(Conv2dAttrs{.stride = {2, 2}});     a.as<Conv2dAttrs>().groups
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/core/shape.h"
#include "sindri/export.h"

namespace sindri {

/// Value of one field. Field types: bool, int64_t, double, std::string, DType, Shape, std::vector<int64_t>, std::vector<double>.
using AttrValue = std::variant<bool, int64_t, double, std::string, DType, Shape, std::vector<int64_t>, std::vector<double>>;
/// A field of an op's attributes, with its name.
struct AttrField {
  std::string name;
  AttrValue value;
  bool operator==(const AttrField& o) const;  ///< unlike with numbers, 0 and -0 differ, and NaN equals itself
};
/// The fields of an attribute struct, in the order of its list.
using AttrFields = std::vector<AttrField>;

/// Text of a field's value, as in printed graphs.
SINDRI_API std::string attr_value_text(const AttrValue& v);
/// Hash of names and values.
SINDRI_API size_t hash_fields(const AttrFields& f);
/// Copies the fields of `given` over `into` by name. Throws ValueError for an unknown name and DTypeError for a wrong type.
SINDRI_API void merge_fields(AttrFields* into, const AttrFields& given, const char* type_name);

class Attrs;
/// Everything known about one attribute struct.
struct AttrsType {
  const char* name;  ///< "Conv2dAttrs"
  Attrs (*make)(const AttrFields& given);  ///< returns defaults with the given fields replaced
};

/// A value of any attribute struct, type-erased. Copies share the value, which never changes.
class SINDRI_API Attrs {
 public:
  Attrs();  ///< no attributes
  /// Holds a copy of an attribute struct T.
  template <class T> static Attrs of(T value);
  /// The attribute struct. Throws InternalError if this holds another type.
  template <class T> const T& as() const {
    check(type_tag<T>());
    return *static_cast<const T*>(box_->value.get());
  }
  const AttrFields& fields() const { return box_->fields; }
  size_t hash() const { return box_->hash; }
  bool operator==(const Attrs& o) const { return box_ == o.box_ || (box_->hash == o.box_->hash && box_->tag == o.box_->tag && box_->fields == o.box_->fields); }
  /// "{stride=[2, 2], groups=1}"; an empty string without fields.
  std::string text() const;

 private:
  struct Box {
    std::shared_ptr<const void> value;
    const void* tag = nullptr;
    AttrFields fields;
    size_t hash = 0;
  };
  explicit Attrs(std::shared_ptr<const Box> box) : box_(std::move(box)) {}
  template <class T> static const void* type_tag() {
    static const char tag = 0;
    return &tag;
  }
  void check(const void* tag) const;
  std::shared_ptr<const Box> box_;
};

/// The attributes of ops that have none.
struct NoAttrs {
  AttrFields fields() const { return {}; }
  void set_fields(const AttrFields&) {}
  static const char* attrs_name() { return "NoAttrs"; }
};

template <class T> Attrs Attrs::of(T value) {
  auto box = std::make_shared<Box>();
  box->tag = type_tag<T>();
  box->fields = value.fields();
  box->hash = hash_fields(box->fields);
  box->value = std::make_shared<const T>(std::move(value));
  return Attrs(std::move(box));
}

/// Description of the attribute struct T.
template <class T> AttrsType attrs_type() {
  return {T::attrs_name(), [](const AttrFields& given) {
            T value{};
            AttrFields all = value.fields();
            merge_fields(&all, given, T::attrs_name());
            value.set_fields(all);
            return Attrs::of(std::move(value));
          }};
}

namespace detail {
// Equal fields mean the same computation. Unlike with ==, 0 and -0 differ, and NaN equals itself.
template <class T> bool same_value(const T& a, const T& b) { return a == b; }
inline bool same_value(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
inline bool same_value(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same_value(x, y); });
}
template <class T> void get_field(const AttrFields& f, size_t* i, T* out) { *out = std::get<T>(f[(*i)++].value); }
}  // namespace detail

// clang-format off
#define SINDRI_FE_1(M, x) M(x)
#define SINDRI_FE_2(M, x, ...) M(x) SINDRI_FE_1(M, __VA_ARGS__)
#define SINDRI_FE_3(M, x, ...) M(x) SINDRI_FE_2(M, __VA_ARGS__)
#define SINDRI_FE_4(M, x, ...) M(x) SINDRI_FE_3(M, __VA_ARGS__)
#define SINDRI_FE_5(M, x, ...) M(x) SINDRI_FE_4(M, __VA_ARGS__)
#define SINDRI_FE_6(M, x, ...) M(x) SINDRI_FE_5(M, __VA_ARGS__)
#define SINDRI_FE_7(M, x, ...) M(x) SINDRI_FE_6(M, __VA_ARGS__)
#define SINDRI_FE_8(M, x, ...) M(x) SINDRI_FE_7(M, __VA_ARGS__)
#define SINDRI_FE_9(M, x, ...) M(x) SINDRI_FE_8(M, __VA_ARGS__)
#define SINDRI_FE_10(M, x, ...) M(x) SINDRI_FE_9(M, __VA_ARGS__)
#define SINDRI_FE_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, NAME, ...) NAME
#define SINDRI_FOR_EACH(M, ...) \
  SINDRI_FE_PICK(__VA_ARGS__, SINDRI_FE_10, SINDRI_FE_9, SINDRI_FE_8, SINDRI_FE_7, SINDRI_FE_6, SINDRI_FE_5, SINDRI_FE_4, SINDRI_FE_3, SINDRI_FE_2, SINDRI_FE_1)(M, __VA_ARGS__)
#define SINDRI_ATTR_PUT(x) sindri_f.push_back({#x, ::sindri::AttrValue(x)});
#define SINDRI_ATTR_SAME(x) && ::sindri::detail::same_value(x, sindri_o.x)
#define SINDRI_ATTR_GET(x) ::sindri::detail::get_field(sindri_f, &sindri_i, &x);
/// Lists the fields of an attribute struct (at most 10). The struct stays an aggregate.
#define SINDRI_ATTRS(Type, ...)                                                                                        \
  ::sindri::AttrFields fields() const { ::sindri::AttrFields sindri_f; SINDRI_FOR_EACH(SINDRI_ATTR_PUT, __VA_ARGS__) return sindri_f; } \
  void set_fields(const ::sindri::AttrFields& sindri_f) { size_t sindri_i = 0; SINDRI_FOR_EACH(SINDRI_ATTR_GET, __VA_ARGS__) }          \
  bool operator==(const Type& sindri_o) const { return true SINDRI_FOR_EACH(SINDRI_ATTR_SAME, __VA_ARGS__); }                           \
  static const char* attrs_name() { return #Type; }
// clang-format on

}  // namespace sindri
