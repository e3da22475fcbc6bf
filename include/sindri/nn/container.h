// Cells made of cells, and Flatten.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/nn/cell.h"

namespace sindri::nn {

/// Calls its cells one after the other. Children are named "0", "1", … or as given.
class SINDRI_API SequentialCell final : public Cell {
 public:
  explicit SequentialCell(std::vector<CellPtr> cells = {});
  explicit SequentialCell(std::vector<std::pair<std::string, CellPtr>> cells);
  static std::shared_ptr<SequentialCell> make(std::vector<CellPtr> cells) { return std::make_shared<SequentialCell>(std::move(cells)); }
  /// A list of differently typed cells: SequentialCell::make(nn::Flatten::make(), nn::Dense::make({…})).
  template <class... C> static std::shared_ptr<SequentialCell> make(std::shared_ptr<C>... cells) {
    return std::make_shared<SequentialCell>(std::vector<CellPtr>{CellPtr(std::move(cells))...});
  }
  Value construct_values(Span<const Value> in) override;
  std::string describe() const override;
  void append(CellPtr cell);
  size_t size() const { return children().size(); }
  /// Throws ValueError when out of range.
  CellPtr operator[](size_t i) const;
};

/// A list of cells, children "0", "1", …; not callable.
class SINDRI_API CellList final : public Cell {
 public:
  explicit CellList(std::vector<CellPtr> cells = {});
  static std::shared_ptr<CellList> make(std::vector<CellPtr> cells = {}) { return std::make_shared<CellList>(std::move(cells)); }
  Value construct_values(Span<const Value> in) override;
  std::string describe() const override;
  void append(CellPtr cell);
  void extend(const std::vector<CellPtr>& cells);
  size_t size() const { return children().size(); }
  /// Throws ValueError when out of range.
  CellPtr operator[](size_t i) const;
};

/// Of Flatten: the dimensions that become one.
struct FlattenOptions {
  int64_t start_dim = 1, end_dim = -1;
};

/// Joins dimensions start_dim to end_dim; by default all but the first.
class SINDRI_API Flatten final : public Cell {
 public:
  using Options = FlattenOptions;
  explicit Flatten(Options o = {}) : Cell("Flatten"), options_(o) {}
  static std::shared_ptr<Flatten> make(Options o = {}) { return std::make_shared<Flatten>(o); }
  Tensor construct(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace sindri::nn
