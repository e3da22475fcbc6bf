// Makes one row: resolves its index, reads it, runs the steps, and handles bad rows.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataset/plan.h"
#include "sindri/core/log.h"

namespace sindri::dataset {

namespace {
/// Thrown instead of reading a row again that is known to be bad.
struct KnownBad {};

// Whether an error concerns the row, not the machine or the program.
bool about_the_row(const Error& e) { return e.code() != ErrorCode::kMemory && e.code() != ErrorCode::kInternal; }
}  // namespace

bool BadRows::contains(int source, int64_t row_id) const {
  if (!any()) return false;
  std::lock_guard lock(mutex_);
  return known_.count({source, row_id}) > 0;
}

bool BadRows::add(int source, BadRow row) {
  std::lock_guard lock(mutex_);
  if (!known_.insert({source, row.row_id}).second) return false;
  rows_.push_back(std::move(row));
  count_.store(static_cast<int64_t>(rows_.size()));
  return true;
}

std::vector<BadRow> BadRows::list() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

void Plan::check_bad_limit() const {
  if (on_corrupt == OnCorrupt::kFail || bad.size() <= max_corrupt) return;
  const BadRow last = bad.list().back();
  throw DataError(ErrorCode::kDataCorrupt, fmt::format("{} bad samples, more than max_corrupt={}; the last one: {}", bad.size(), max_corrupt, last.reason),
                  fmt::format("{}, row {}", last.name, last.row_id), "repair the files, or raise data.max_corrupt");
}

// Earlier passes are kept only for rows already requested: no later batch requests others. If passes are mixed, the last two are kept.
void SequentialReader::open(uint64_t pass) {
  if (order_ == Order::kAnyOfSeveral) {
    while (passes_.size() > 2 && passes_.begin()->first + 1 < pass && passes_.begin()->second.asked.empty()) passes_.erase(passes_.begin());
    passes_[pass].next = source_.open_pass(pass);
    return;
  }
  for (auto it = passes_.begin(); it != passes_.end();) {
    Pass& p = it->second;
    p.next = nullptr;
    std::erase_if(p.kept, [&](const auto& row) { return !p.asked.contains(row.first); });
    it = p.asked.empty() ? passes_.erase(it) : std::next(it);
  }
  passes_[pass].next = source_.open_pass(pass);
}

void SequentialReader::read_one(Pass& p, int64_t index) {
  std::vector<Tensor> row;
  if (!p.next(&row)) {
    throw DataError(ErrorCode::kData, fmt::format("{}: the pass ended after {} rows, expected {}", source_.str(), p.read, source_.rows()), "",
                    "every pass must give the same number of rows; give the right size");
  }
  if (order_ != Order::kRising || p.read == index) p.kept.emplace(p.read, std::move(row));
  ++p.read;
}

void SequentialReader::read_to(uint64_t generation, uint64_t pass, int64_t index) {
  std::lock_guard lock(mutex_);
  if (generation < generation_) return;
  if (generation > generation_) passes_.clear();
  generation_ = generation;
  if (order_ != Order::kAnyOfSeveral && !passes_.empty() && pass < passes_.rbegin()->first)
    throw InternalError(fmt::format("pass {} of a sequential source was asked for too late", pass));
  Pass* p = nullptr;
  try {
    if (!passes_.contains(pass)) open(pass);
    p = &passes_[pass];
    p->asked.insert(index);
    while (p->read <= index && !p->error) read_one(*p, index);
  } catch (...) {
    p = &passes_[pass];
    p->asked.insert(index);
    p->error = std::current_exception();
    p->error_row = index;
  }
}

std::vector<Tensor> SequentialReader::take(uint64_t generation, uint64_t pass, int64_t index) {
  std::lock_guard lock(mutex_);
  const auto at = passes_.find(pass);
  if (generation != generation_ || at == passes_.end()) throw DataError("the batch of this row was dropped");
  Pass& p = at->second;
  const auto it = p.kept.find(index);
  if (it == p.kept.end()) {
    if (!p.error) throw InternalError(fmt::format("row {} of a sequential source was asked for twice", index));
    // Only one thread may use an exception object, because context is added to it while it propagates. Errors of later rows are not reported; this one is
    // returned first.
    if (index == p.error_row) std::rethrow_exception(std::exchange(p.error, std::make_exception_ptr(DataError("an earlier row could not be read"))));
    std::rethrow_exception(std::make_exception_ptr(DataError("an earlier row could not be read")));
  }
  std::vector<Tensor> row = std::move(it->second);
  p.kept.erase(it);
  p.asked.erase(index);
  if (order_ != Order::kAnyOfSeveral && p.asked.empty() && at != std::prev(passes_.end())) passes_.erase(at);
  return row;
}

void Worker::resolve(const Leaf& leaf, uint64_t* pass, int64_t* index) {
  for (const IndexOp& op : leaf.path) {
    switch (op.kind) {
      case Node::Kind::kSkip: *index += op.count; break;
      case Node::Kind::kShard: *index = shard_row(op.shard, op.rows, *index); break;
      case Node::Kind::kRepeat:
        // An endless repeat has a single pass; each of its rows belongs to a later pass of its input.
        *pass = (op.count < 0 ? 0 : *pass * static_cast<uint64_t>(op.count)) + static_cast<uint64_t>(*index / op.rows);
        *index %= op.rows;
        break;
      case Node::Kind::kShuffle: {
        auto& last = shuffles[static_cast<size_t>(op.cache)];
        if (last.value == nullptr || last.pass != *pass) {
          const uint64_t p = *pass;
          last.value = plan.shuffles[static_cast<size_t>(op.cache)]->get(
              p, [&](uint64_t q) { return std::make_shared<const std::vector<int64_t>>(reservoir_order(op.rows, op.count, plan.seed, q, op.number)); });
          last.pass = p;
        }
        *index = (*last.value)[static_cast<size_t>(*index)];
        break;
      }
      default: break;
    }
  }
}

const PassOrder& Worker::order(const Leaf& leaf, uint64_t pass) {
  auto& last = orders[static_cast<size_t>(leaf.cache)];
  if (last.value == nullptr || last.pass != pass) {
    last.value = plan.orders[static_cast<size_t>(leaf.cache)]->get(
        pass, [&](uint64_t p) { return std::make_shared<const PassOrder>(leaf.node->order, leaf.node->source->rows(), plan.seed, p); });
    last.pass = pass;
  }
  return *last.value;
}

RowKey Worker::read_source(const Leaf& leaf, uint64_t pass, int64_t index, int64_t shift, std::span<Value> out) {
  const Source& source = *leaf.node->source;
  if (leaf.reader) {
    origin_ = {&leaf, {pass, index, index}};
    const std::vector<Tensor> row = leaf.reader->take(generation, pass, index);
    for (size_t c = 0; c < out.size(); ++c) {
      scratch.tensors.push_back(row[c]);
      out[c] = {static_cast<const uint8_t*>(row[c].raw_data()), row[c].dtype(), row[c].shape()};
    }
    return origin_.key;
  }
  const PassOrder& o = order(leaf, pass);
  RowKey key{pass, o.position((index + shift) % leaf.rows), 0};
  key.row_id = o.row_id(key.position);
  origin_ = {&leaf, key};
  if (plan.bad.contains(leaf.id, key.row_id)) throw KnownBad{};
  source.read(pass, key.row_id, scratch, out);
  return key;
}

void Worker::read_batch(const Leaf& leaf, uint64_t pass, int64_t index, std::span<Value> out) {
  const Program& inner = *leaf.programs[0];
  const int64_t begin = index * leaf.node->count;
  const int64_t n = leaf.rows < 0 ? leaf.node->count : std::min(leaf.node->count, leaf.rows - begin);
  std::vector<Value> r(static_cast<size_t>(inner.num_regs));
  std::vector<RowKey> k(inner.leaves.size());
  for (int64_t i = 0; i < n; ++i) {
    run(inner, pass, begin + i, 0, r, k, {});
    for (size_t c = 0; c < out.size(); ++c) {
      const Value& v = r[static_cast<size_t>(inner.outputs[c])];
      if (i == 0) {
        Shape shape = v.shape;
        shape.insert(0, n);
        out[c] = {nullptr, v.dtype, shape};
        out[c].data = scratch.arena.allocate(out[c].nbytes());
      }
      Shape row = out[c].shape;
      row.erase(0);
      if (v.dtype != out[c].dtype || !(v.shape == row)) {
        throw BadSample(fmt::format("batch: column '{}' of row {} is {}, the rows before it are {}{}", inner.columns[c].name, begin + i, value_str(v),
                                    dtype_name(out[c].dtype), row.str()),
                        "", "rows of one batch need equal shapes: add a Resize or a crop before batch()");
      }
      if (v.nbytes() > 0) std::memcpy(const_cast<uint8_t*>(out[c].data) + i * v.nbytes(), v.data, static_cast<size_t>(v.nbytes()));
    }
  }
}

RowKey Worker::read_leaf(const Leaf& leaf, uint64_t pass, int64_t index, int64_t shift, std::span<Value> r, std::span<Value> out) {
  resolve(leaf, &pass, &index);
  if (leaf.kind == Node::Kind::kSource) {
    const RowKey key = read_source(leaf, pass, index, shift, out);
    for (size_t c = 0; c < out.size(); ++c) r[static_cast<size_t>(leaf.regs[c])] = out[c];
    return key;
  }
  RowKey key{pass, index, index};
  if (leaf.kind == Node::Kind::kBatch) {
    read_batch(leaf, pass, index, out);
  } else {
    const size_t part = index < leaf.sizes[0] ? 0 : 1;
    const Program& inner = *leaf.programs[part];
    std::vector<Value> inner_regs(static_cast<size_t>(inner.num_regs));
    std::vector<RowKey> inner_keys(inner.leaves.size());
    run(inner, pass, part == 0 ? index : index - leaf.sizes[0], shift, inner_regs, inner_keys, {});
    for (size_t c = 0; c < out.size(); ++c) out[c] = inner_regs[static_cast<size_t>(inner.outputs[c])];
    key = inner_keys[0];
    if (part == 1) key.position += leaf.sizes[0];  // keeps the draws of the two parts separate
  }
  for (size_t c = 0; c < out.size(); ++c) r[static_cast<size_t>(leaf.regs[c])] = out[c];
  return key;
}

void Worker::run_step(const Step& step, RowKey key, std::span<Value> r, std::span<const Slot> slots) {
  step_ = &step;
  const DrawKey draws{plan.draw_key, step.number, key.pass, key.position};
  if (step.in.size() == 1 && step.out.size() == 1) {
    const std::span<const Slot> slot = slots.empty() || step.dest[0] < 0 ? std::span<const Slot>() : slots.subspan(static_cast<size_t>(step.dest[0]), 1);
    RowCall call(scratch, draws, std::span<const Value>(&r[static_cast<size_t>(step.in[0])], 1), std::span<Value>(&r[static_cast<size_t>(step.out[0])], 1),
                 slot);
    step.op->run(call);
    return;
  }
  call_in.clear();
  for (int i : step.in) call_in.push_back(r[static_cast<size_t>(i)]);
  call_out.assign(step.out.size(), {});
  call_slots.assign(step.out.size(), {});
  for (size_t k = 0; k < step.out.size() && !slots.empty(); ++k) {
    if (step.dest[k] >= 0) call_slots[k] = slots[static_cast<size_t>(step.dest[k])];
  }
  RowCall call(scratch, draws, call_in, call_out, call_slots);
  step.op->run(call);
  for (size_t k = 0; k < step.out.size(); ++k) r[static_cast<size_t>(step.out[k])] = call_out[k];
}

void Worker::run(const Program& program, uint64_t pass, int64_t index, int64_t shift, std::span<Value> r, std::span<RowKey> k, std::span<const Slot> slots) {
  std::array<Value, 16> few;
  for (size_t i = 0; i < program.leaves.size(); ++i) {
    const Leaf& leaf = *program.leaves[i];
    step_ = nullptr;
    if (leaf.regs.size() <= few.size()) {
      k[i] = read_leaf(leaf, pass, index, shift, r, std::span<Value>(few).first(leaf.regs.size()));
    } else {
      std::vector<Value> many(leaf.regs.size());
      k[i] = read_leaf(leaf, pass, index, shift, r, many);
    }
    if (program.leaves.size() > 1) {
      leaf_origin_.resize(std::max(leaf_origin_.size(), i + 1));
      leaf_origin_[i] = origin_;
    }
  }
  for (const Step& step : program.steps) {
    if (program.leaves.size() > 1) origin_ = leaf_origin_[step.leaf];
    run_step(step, k[step.leaf], r, slots);
  }
  step_ = nullptr;
  if (slots.empty()) return;
  for (int c : program.direct) {
    const Value& v = r[static_cast<size_t>(program.outputs[static_cast<size_t>(c)])];
    Value copy;
    RowCall call(scratch, {}, {}, std::span<Value>(&copy, 1), slots.subspan(static_cast<size_t>(c), 1));
    call.forward(0, v);
  }
}

int64_t Worker::source_rows(const Program& program) const {
  int64_t n = 0;
  for (const auto& leaf : program.leaves) {
    n = std::max(n, leaf->kind == Node::Kind::kSource ? leaf->rows : 0);
    for (const auto& inner : leaf->programs) n = std::max(n, source_rows(*inner));
  }
  return n;
}

// Adds file, row and operation to an error. Returns the file's name.
std::string Worker::add_place(Error& e) const {
  const std::string name = origin_.source->node->source->row_name(origin_.key.row_id);
  e.add_where(fmt::format("{}, row {}{}", name, origin_.key.row_id, step_ != nullptr ? ", " + step_->where : ""));
  return name;
}

// Adds the place to an error and throws it, or records the row as bad and returns so that another can be tried.
void Worker::note_bad(Error& e) {
  if (origin_.source == nullptr) throw;
  const std::string name = add_place(e);
  if (plan.on_corrupt == OnCorrupt::kFail) throw;
  if (plan.bad.add(origin_.source->id, {origin_.key.row_id, name, e.message()})) log::warn("data", fmt::format("bad sample {}: {}", plan.bad.size(), e.what()));
  plan.check_bad_limit();
}

std::span<const Value> Worker::row(const Program& program, uint64_t pass, int64_t index, std::span<const Slot> slots) {
  regs.resize(std::max(regs.size(), static_cast<size_t>(program.num_regs)));
  keys.resize(std::max(keys.size(), program.leaves.size()));
  for (int64_t shift = 0;; ++shift) {
    scratch.arena.reset();
    scratch.tensors.clear();
    origin_ = {};
    step_ = nullptr;
    try {
      run(program, pass, index, shift, regs, keys, slots);
      ++scratch.counters.rows;
      if (shift > 0) ++replaced;
      return regs;
    } catch (const KnownBad&) { plan.check_bad_limit(); } catch (BadSample& e) {
      note_bad(e);
    } catch (Error& e) {
      const bool native = step_ != nullptr ? step_->op->native() : origin_.source == nullptr || origin_.source->node->source->native();
      if (!native || !about_the_row(e)) {
        if (origin_.source != nullptr) add_place(e);
        throw;
      }
      note_bad(e);
    }
    if (plan.on_corrupt == OnCorrupt::kSkip) throw SkippedRow{};
    if (shift + 1 >= source_rows(program)) {
      throw DataError(ErrorCode::kDataCorrupt,
                      fmt::format("no good row is left to replace row {}: all {} rows of this shard are bad", index, source_rows(program)), "",
                      "repair the dataset");
    }
  }
}

void Worker::run_steps(const Program& program, RowKey key, std::span<Value> r) {
  scratch.arena.reset();
  scratch.tensors.clear();
  origin_ = {};
  for (const Step& step : program.steps) {
    try {
      run_step(step, key, r, {});
    } catch (Error& e) {
      e.add_where(fmt::format("{}, batch {}", step.where, key.position));
      throw;
    }
  }
}

void Worker::read_ahead(const Program& program, uint64_t pass, int64_t index) {
  for (const auto& leaf : program.leaves) {
    uint64_t p = pass;
    int64_t i = index;
    resolve(*leaf, &p, &i);
    if (leaf->reader) {
      leaf->reader->read_to(generation, p, i);
    } else if (leaf->kind == Node::Kind::kBatch) {
      const int64_t begin = i * leaf->node->count, end = begin + leaf->node->count;
      for (int64_t row = begin; row < (leaf->rows < 0 ? end : std::min(end, leaf->rows)); ++row) read_ahead(*leaf->programs[0], p, row);
    } else if (leaf->kind == Node::Kind::kConcat) {
      const size_t part = i < leaf->sizes[0] ? 0 : 1;
      read_ahead(*leaf->programs[part], p, part == 0 ? i : i - leaf->sizes[0]);
    }
  }
}

bool Worker::known_bad(const Program& program, uint64_t pass, int64_t index) {
  if (!plan.bad.any()) return false;
  for (const auto& leaf : program.leaves) {
    uint64_t p = pass;
    int64_t i = index;
    resolve(*leaf, &p, &i);
    if (leaf->kind == Node::Kind::kSource && !leaf->reader) {
      const PassOrder& o = order(*leaf, p);
      if (plan.bad.contains(leaf->id, o.row_id(o.position(i)))) return true;
    } else if (leaf->kind == Node::Kind::kConcat) {
      const size_t part = i < leaf->sizes[0] ? 0 : 1;
      if (known_bad(*leaf->programs[part], p, part == 0 ? i : i - leaf->sizes[0])) return true;
    }
  }
  return false;
}

}  // namespace sindri::dataset
