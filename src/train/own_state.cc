// The state in checkpoints that differs between virtual ranks and groups of ranks. Rank 0 saves it for all, one tensor per Parameter, with the virtual ranks or
// groups as the first dimension. A run that resumes in any layout of the same virtual ranks and groups restores all of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "sindri/core/log.h"
#include "src/core/tensor_impl.h"
#include "src/train/data_parallel_state.h"

namespace sindri::train {

namespace {

constexpr const char* kVirtual = "virtual.";
constexpr const char* kGroups = "groups.";

Shape several(int64_t count, const Shape& of) {
  Shape shape = of;
  shape.insert(0, count);
  return shape;
}

// Returns part `at` of the stacked tensor `all`, both on the host.
Tensor part(const Tensor& all, int64_t at, const Shape& shape) {
  const HostTensors host;
  Tensor t = Tensor::empty(shape, all.dtype());
  const auto bytes = static_cast<size_t>(t.nbytes());
  if (bytes > 0) std::memcpy(t.mutable_raw_data(), static_cast<const char*>(all.raw_data()) + static_cast<size_t>(at) * bytes, bytes);
  return t;
}

// Gathers every rank's `parts`, on the host.
Tensor gathered(comm::Communicator& ranks, const TensorList& parts) {
  const HostTensors host;
  const auto bytes = static_cast<size_t>(parts[0].nbytes());
  std::vector<char> mine(bytes * parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    if (bytes > 0) std::memcpy(mine.data() + i * bytes, parts[i].raw_data(), bytes);
  const auto count = static_cast<int64_t>(parts.size());
  Tensor all = Tensor::empty(several(ranks.size() * count, parts[0].shape()), parts[0].dtype());
  if (bytes > 0) ranks.all_gather(mine.data(), all.mutable_raw_data(), count * parts[0].numel(), parts[0].dtype(), {"state of ranks"});
  return all;
}

Tensor on_host(const Parameter& p) { return p.stored().to(Device{}).contiguous(); }

}  // namespace

void DataParallel::keep_of_groups(const std::vector<Parameter*>& state) { state_->of_groups.insert(state_->of_groups.end(), state.begin(), state.end()); }

void DataParallel::restore_of_ranks(NamedTensors saved) { state_->saved = std::move(saved); }

NamedTensors DataParallel::of_ranks() {
  State& s = *state_;
  NamedTensors out;
  if (!active()) return out;
  const bool first = s.comm.rank() == 0;
  for (const State::Local& l : s.locals) {
    if (!l.written) continue;
    TensorList parts = {on_host(*l.own)};
    for (const auto& other : l.others) parts.push_back(on_host(*other));
    Tensor all = gathered(s.comm, parts);
    if (first) out.emplace_back(kVirtual + l.own->name(), std::move(all));
  }
  if (s.groups() == 1) return out;
  const int64_t members = s.within->size();
  for (const Parameter* p : s.of_groups) {
    const Tensor all = gathered(s.comm, {on_host(*p)});
    if (!first) continue;
    const HostTensors host;
    Tensor of_groups = Tensor::empty(several(s.groups(), p->shape()), p->dtype());
    const auto bytes = static_cast<size_t>(p->shape().numel()) * dtype_size(p->dtype());
    for (int64_t g = 0; g < s.groups() && bytes > 0; ++g)
      std::memcpy(static_cast<char*>(of_groups.mutable_raw_data()) + static_cast<size_t>(g) * bytes,
                  static_cast<const char*>(all.raw_data()) + static_cast<size_t>(g * members) * bytes, bytes);
    out.emplace_back(kGroups + p->name(), std::move(of_groups));
  }
  return out;
}

// After loading a checkpoint of another layout, or one without this state, all ranks keep rank 0's values.
void DataParallel::State::take_own(const NamedTensors& entries) {
  std::map<std::string, const Tensor*> by_name;
  for (const auto& [name, tensor] : entries) by_name[name] = &tensor;
  const auto find = [&](const std::string& name, int64_t count, const Parameter& p) -> const Tensor* {
    const auto it = by_name.find(name);
    return it != by_name.end() && it->second->dtype() == p.dtype() && it->second->shape() == several(count, p.shape()) ? it->second : nullptr;
  };
  for (Local& l : locals) {
    const Tensor* const all = find(kVirtual + l.own->name(), total, *l.own);
    if (all == nullptr) continue;
    l.written = true;
    for (int64_t j = 0; j < per_rank(); ++j) {
      const Tensor value = part(*all, first() + j, l.own->shape());
      if (j == 0) {
        l.own->store(value);
      } else if (static_cast<int64_t>(l.others.size()) < j) {
        l.others.push_back(std::make_unique<Parameter>(value.to(l.own->stored().device()), fmt::format("{}#{}", l.own->name(), j + 1), false));
      } else {
        l.others[static_cast<size_t>(j - 1)]->store(value);
      }
    }
  }
  if (groups() == 1 || of_groups.empty()) return;
  bool whole = true;
  for (Parameter* p : of_groups) whole = whole && find(kGroups + p->name(), groups(), *p) != nullptr;
  for (Parameter* p : of_groups)
    if (whole) p->store(part(*by_name.at(kGroups + p->name()), comm.rank() / within->size(), p->shape()));
  if (!whole && comm.rank() == 0)
    log::warn("train",
              fmt::format("the checkpoint does not hold the optimizer states of {} groups of ranks: all start with those of the first, so the "
                          "result will not be that of an uninterrupted run",
                          groups()));
}

}  // namespace sindri::train
