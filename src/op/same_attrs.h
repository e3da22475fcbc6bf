// When two calls of an op may share what was made for one of them (a plan, a node of a graph).
#pragma once

#include <algorithm>
#include <bit>

#include "sindri/op/attrs.h"

namespace sindri {

inline bool same_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

/// Whether attributes of one op stand for the same computation. Unlike ==, 0 and -0 are two values here, and NaN is the same as itself.
inline bool same_attrs(const Attrs& a, const Attrs& b) {
  const AttrFields &x = a.fields(), &y = b.fields();
  if (&x == &y) return true;
  return a.hash() == b.hash() && std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const AttrField& f, const AttrField& g) {
           if (f.name != g.name || f.value.index() != g.value.index()) return false;
           if (const auto* d = std::get_if<double>(&f.value)) return same_bits(*d, std::get<double>(g.value));
           if (const auto* v = std::get_if<std::vector<double>>(&f.value)) {
             const auto& w = std::get<std::vector<double>>(g.value);
             return std::equal(v->begin(), v->end(), w.begin(), w.end(), same_bits);
           }
           return f.value == g.value;
         });
}

}  // namespace sindri
