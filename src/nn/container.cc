// SequentialCell, CellList, Flatten.
#include "sindri/nn/container.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

namespace {

CellPtr item(const Cell& c, size_t i) {
  const auto children = c.children();
  if (i >= children.size()) throw ValueError(fmt::format("{}: cell {} of {}", c.class_name(), i, children.size()));
  return children[i].second;
}

}  // namespace

SequentialCell::SequentialCell(std::vector<CellPtr> cells) : Cell("SequentialCell") {
  for (CellPtr& c : cells) append(std::move(c));
}
SequentialCell::SequentialCell(std::vector<std::pair<std::string, CellPtr>> cells) : Cell("SequentialCell") {
  for (auto& [name, c] : cells) add_child(name, std::move(c));
}

Value SequentialCell::construct_values(Span<const Value> in) {
  const auto cells = children();
  if (cells.empty()) return tensor_inputs(in, 1)[0];
  Value v = cells[0].second->call(in);
  for (size_t i = 1; i < cells.size(); ++i) v = cells[i].second->call({v});
  return v;
}

std::string SequentialCell::describe() const { return fmt::format("SequentialCell({} cells)", size()); }
void SequentialCell::append(CellPtr cell) { add_child(std::to_string(size()), std::move(cell)); }
CellPtr SequentialCell::operator[](size_t i) const { return item(*this, i); }

CellList::CellList(std::vector<CellPtr> cells) : Cell("CellList") { extend(cells); }
Value CellList::construct_values(Span<const Value>) { throw ValueError("CellList cannot be called", "", "call its cells, or use SequentialCell"); }
std::string CellList::describe() const { return fmt::format("CellList({} cells)", size()); }
void CellList::append(CellPtr cell) { add_child(std::to_string(size()), std::move(cell)); }
void CellList::extend(const std::vector<CellPtr>& cells) {
  for (const CellPtr& c : cells) append(c);
}
CellPtr CellList::operator[](size_t i) const { return item(*this, i); }

Tensor Flatten::construct(const Tensor& x) { return ops::flatten(x, options_.start_dim, options_.end_dim); }

}  // namespace sindri::nn
