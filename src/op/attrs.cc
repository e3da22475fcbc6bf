// Text, hash and merging of attribute fields.
#include "sindri/op/attrs.h"

#include <fmt/format.h>

#include <functional>

#include "sindri/core/error.h"
#include "sindri/core/rng.h"

namespace sindri {

namespace {

struct Text {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  // Always writes a point or an exponent, so that the parser can tell a double from an integer.
  std::string operator()(double v) const {
    std::string s = fmt::format("{}", v);
    return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
  }
  std::string operator()(const std::string& v) const {
    std::string s = "\"";
    for (char c : v) {
      if (c == '"' || c == '\\') s += '\\';
      s += c;
    }
    return s + "\"";
  }
  std::string operator()(DType v) const { return dtype_short_name(v); }
  std::string operator()(const Shape& v) const { return v.str(); }
  std::string operator()(const std::vector<int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
  std::string operator()(const std::vector<double>& v) const {
    std::string s;
    for (double d : v) s += (s.empty() ? "" : ", ") + (*this)(d);
    return "[" + s + "]";
  }
};

struct Hash {
  template <class T> uint64_t operator()(const T& v) const {
    if constexpr (std::is_same_v<T, DType>) return static_cast<uint64_t>(v) + 17;
    else return std::hash<T>{}(v);
  }
  uint64_t operator()(const Shape& v) const { return range(v.begin(), v.end()); }
  uint64_t operator()(const std::vector<int64_t>& v) const { return range(v.begin(), v.end()); }
  uint64_t operator()(const std::vector<double>& v) const {
    uint64_t h = v.size();
    for (double d : v) h = hash_combine(h, std::hash<double>{}(d));
    return h;
  }
  template <class It> static uint64_t range(It b, It e) {
    uint64_t h = static_cast<uint64_t>(e - b);
    for (; b != e; ++b) h = hash_combine(h, static_cast<uint64_t>(*b));
    return h;
  }
};

// A parsed value may have a similar type: 2 for 2.0, [2, 3] for a shape or a list of doubles, [] for any list.
bool coerce(const AttrValue& given, AttrValue* slot) {
  if (given.index() == slot->index()) {
    *slot = given;
    return true;
  }
  if (const auto* i = std::get_if<int64_t>(&given); i && std::holds_alternative<double>(*slot)) {
    *slot = static_cast<double>(*i);
    return true;
  }
  if (const auto* v = std::get_if<std::vector<int64_t>>(&given)) {
    if (std::holds_alternative<Shape>(*slot)) {
      *slot = Shape(*v);
      return true;
    }
    if (std::holds_alternative<std::vector<double>>(*slot)) {
      *slot = std::vector<double>(v->begin(), v->end());
      return true;
    }
  }
  if (const auto* s = std::get_if<Shape>(&given); s && std::holds_alternative<std::vector<int64_t>>(*slot)) {
    *slot = s->vec();
    return true;
  }
  return false;
}

}  // namespace

std::string attr_value_text(const AttrValue& v) { return std::visit(Text{}, v); }

bool AttrField::operator==(const AttrField& o) const {
  if (name != o.name || value.index() != o.value.index()) return false;
  return std::visit([&]<class T>(const T& v) { return detail::same_value(v, std::get<T>(o.value)); }, value);
}

size_t hash_fields(const AttrFields& f) {
  uint64_t h = f.size();
  for (const AttrField& x : f) h = hash_combine(h, std::visit(Hash{}, x.value));
  return h;
}

void merge_fields(AttrFields* into, const AttrFields& given, const char* type_name) {
  for (const AttrField& g : given) {
    bool found = false;
    for (AttrField& f : *into) {
      if (f.name != g.name) continue;
      found = true;
      if (!coerce(g.value, &f.value))
        throw DTypeError(fmt::format("{}: attribute '{}' cannot be {}", type_name, g.name, attr_value_text(g.value)), "",
                         fmt::format("its default is {}", attr_value_text(f.value)));
    }
    if (found) continue;
    std::string known;
    for (const AttrField& f : *into) known += (known.empty() ? "" : ", ") + f.name;
    throw ValueError(fmt::format("{}: no attribute '{}'", type_name, g.name), "", known.empty() ? "it has none" : "it has: " + known);
  }
}

Attrs::Attrs() {
  static const Attrs none = Attrs::of(NoAttrs{});
  box_ = none.box_;
}

void Attrs::check(const void* tag) const {
  if (box_->tag != tag) throw InternalError("attributes read as another type than they hold");
}

std::string Attrs::text() const {
  std::string s;
  for (const AttrField& f : box_->fields) s += (s.empty() ? "{" : ", ") + f.name + "=" + attr_value_text(f.value);
  return s.empty() ? s : s + "}";
}

}  // namespace sindri
