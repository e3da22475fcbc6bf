// Tickets, workers and ordered release.
#include "dataset/engine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>

#include "sindri/core/device.h"
#include "sindri/core/log.h"
#include "sindri/core/runtime.h"
#include "src/core/tensor_impl.h"

namespace sindri::dataset {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  std::ifstream f("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (f >> quota >> period && quota != "max" && period > 0) n = std::min(n, static_cast<int>(std::ceil(std::atof(quota.c_str()) / period)));
  return std::max(1, n);
}

int64_t align64(int64_t n) { return (n + 63) / 64 * 64; }

// Half of the memory this process may use.
int64_t default_memory_limit() {
  int64_t total = 0;
  std::ifstream info("/proc/meminfo");
  std::string word;
  while (info >> word) {
    if (word == "MemTotal:") {
      info >> total;
      total *= 1024;
      break;
    }
  }
  std::ifstream group("/sys/fs/cgroup/memory.max");
  int64_t limit = 0;
  if (group >> limit && limit > 0) total = total == 0 ? limit : std::min(total, limit);
  return total / 2;
}

}  // namespace

int worker_count(int asked) {
  const int cores = usable_cores();
  if (asked == 0) return std::min(8, cores);
  if (asked > cores) log::info("data", fmt::format("num_parallel_workers={} is more than the {} usable cores; using {}", asked, cores, cores));
  return std::min(asked, cores);
}

Engine::Engine(std::unique_ptr<Plan> plan, const IteratorOptions& options, int workers) : plan_(std::move(plan)), options_(options), num_workers_(workers) {
  batch_ = plan_->fused_batch();
  rows_ = batch_ != nullptr ? batch_->programs[0].get() : plan_->top.get();
  if (batch_ != nullptr) {
    for (const IndexOp& op : batch_->path)
      passes_per_epoch_ = op.kind != Node::Kind::kRepeat ? passes_per_epoch_ : op.count < 0 || passes_per_epoch_ < 0 ? -1 : passes_per_epoch_ * op.count;
    batch_rows_ = batch_->node->count;
    how_ = Making::kStacked;
    bool known = !rows_->columns.empty();
    for (const auto& c : rows_->columns) known &= c.fully_known();
    if (known) {
      how_ = Making::kSlots;
      int64_t bytes = 0;
      for (const auto& c : rows_->columns) {
        offsets_.push_back(bytes);
        row_bytes_.push_back(c.shape.numel() * static_cast<int64_t>(dtype_size(c.dtype)));
        bytes += align64(row_bytes_.back() * batch_rows_);
      }
      const int64_t blocks = options_.prefetch + 2;
      const int64_t limit = options_.memory_limit > 0 ? options_.memory_limit : default_memory_limit();
      if (bytes > 0 && blocks > limit / bytes) {
        throw DeviceError(ErrorCode::kMemory,
                          fmt::format("the data pipeline needs {} blocks of {} bytes (batch_size={}, prefetch={}), more than its memory limit of {} bytes",
                                      blocks, bytes, batch_rows_, options_.prefetch, limit),
                          "", "use a smaller batch_size or prefetch, or raise IteratorOptions::memory_limit");
      }
      pool_ = std::make_shared<BlockPool>(bytes, blocks);
      // Runs of rows: long enough that locking costs little, short enough that the workers finish a batch together.
      grain_ = std::clamp<int64_t>(batch_rows_ / (4 * num_workers_), 1, 16);
    }
  }
}

Engine::~Engine() { stop(); }

// With fewer threads than requested the engine runs more slowly; without any it would wait forever.
void Engine::start() {
  try {
    const auto on_host = [this] {
      const DeviceScope host(Device{});  // rows are made on the host, whatever device trains with them
      work();
    };
    for (int i = 0; i < num_workers_; ++i) threads_.emplace_back(in_this_runtime(on_host));
  } catch (const std::system_error& e) {
    if (threads_.empty())
      throw DeviceError(ErrorCode::kMemory, fmt::format("the data pipeline cannot start a thread: {}", e.what()), "limits of this process",
                        "raise the limit of processes (ulimit -u) or of address space (ulimit -v)");
    log::warn("data", fmt::format("only {} of {} workers could be started: {}", threads_.size(), num_workers_, e.what()));
  }
  started_ = true;
}

void Engine::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    stopping_ = true;
  }
  work_cv_.notify_all();
  for (auto& t : threads_) t.join();
  threads_.clear();
}

void Engine::seek(const Cursor& c) {
  std::lock_guard lock(mutex_);
  for (auto& item : inflight_) item->dropped = true;
  inflight_.clear();
  ++generation_;
  produced_ = consumed_ = c;
  work_cv_.notify_all();
}

bool Engine::wait(double seconds) {
  std::unique_lock lock(mutex_);
  if (failure_) return true;
  if (!started_) start();
  const auto begin = Clock::now();
  const bool ready = ready_cv_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return has_next(); });
  stats_.consumer_wait_seconds += seconds_since(begin);
  return ready;
}

bool Engine::next(std::vector<Tensor>* columns) {
  std::unique_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  if (!started_) start();
  const auto begin = Clock::now();
  ready_cv_.wait(lock, [&] { return has_next(); });
  stats_.consumer_wait_seconds += seconds_since(begin);
  if (failure_) std::rethrow_exception(failure_);
  std::shared_ptr<Item> item = std::move(inflight_.front());
  inflight_.pop_front();
  work_cv_.notify_all();
  if (item->error) {
    failure_ = item->error;
    std::rethrow_exception(failure_);
  }
  consumed_ = item->end;
  if (item->epoch_end) return false;
  ++stats_.batches;
  *columns = std::move(item->outputs);
  return true;
}

// Called with the lock held. Opens the next batch, or the marker that follows an epoch's last batch. Returns false if no epoch remains.
bool Engine::open_item(Worker& w, Item* item) {
  if (options_.num_epochs >= 0 && produced_.epoch >= options_.start_epoch + options_.num_epochs) return false;
  item->begin = produced_;
  item->generation = generation_;
  if (plan_->on_corrupt == OnCorrupt::kSkip) return open_skipping(w, item);
  if (plan_->items >= 0 && produced_.batch >= plan_->items) {
    item->epoch_end = item->ready = true;
    produced_ = {produced_.epoch + 1, 0, 0, 0, 0};
  } else {
    uint64_t pass = static_cast<uint64_t>(produced_.epoch);
    int64_t index = produced_.batch;
    if (batch_ != nullptr) {
      w.resolve(*batch_, &pass, &index);
      const int64_t first = index * batch_rows_;
      const int64_t n = batch_->rows < 0 ? batch_rows_ : std::min(batch_rows_, batch_->rows - first);
      for (int64_t i = 0; i < n; ++i) item->rows.push_back(first + i);
    } else {
      item->rows.push_back(index);
    }
    item->pass = pass;
    ++produced_.batch;
  }
  item->end = produced_;
  return true;
}

// Like open_item, but omits rows known to be bad: the batch takes the next good rows of the pass. An unsharded pass ends sooner; a
// shard continues from the start of its order until it has as many rows as the others.
bool Engine::open_skipping(Worker& w, Item* item) {
  const int64_t n = batch_ != nullptr ? batch_->rows : plan_->items;
  const int64_t per_epoch = batch_ != nullptr ? passes_per_epoch_ : 1;
  const bool drop = batch_ != nullptr && batch_->node->drop_remainder;
  Cursor& c = produced_;
  while (true) {
    if (per_epoch >= 0 && c.pass >= per_epoch) {
      plan_->check_bad_limit();
      if (c.batch == 0 && n > 0)
        throw DataError(ErrorCode::kDataEmpty, fmt::format("0 batches are left: {} rows, {} of them bad", n, plan_->bad.size()), "", "repair the dataset");
      item->epoch_end = item->ready = true;
      c = {c.epoch + 1, 0, 0, 0, 0};
      item->end = c;
      return true;
    }
    item->pass = per_epoch < 0 ? static_cast<uint64_t>(c.pass) : static_cast<uint64_t>(c.epoch * per_epoch + c.pass);
    const int64_t scan_end = plan_->sharded ? 2 * n : n;  // at most a second round: a bad row is not read twice
    while (static_cast<int64_t>(item->rows.size()) < batch_rows_ && c.taken < n && (n < 0 || c.row < scan_end)) {
      const int64_t row = c.row++ % n;
      if (w.known_bad(*rows_, item->pass, row)) continue;
      item->rows.push_back(row);
      ++c.taken;
    }
    const bool full = static_cast<int64_t>(item->rows.size()) == batch_rows_;
    if (!item->rows.empty() && (full || !drop)) {
      plan_->check_bad_limit();
      ++c.batch;
      item->end = c;
      return true;
    }
    item->rows.clear();
    ++c.pass;
    c.row = c.taken = 0;
  }
}

// Called with the lock held. Returns rows to make, or an empty ticket if there is nothing to do now.
Engine::Ticket Engine::take_ticket(Worker& w) {
  for (auto& item : inflight_) {
    const int64_t n = static_cast<int64_t>(item->rows.size());
    if (item->ready || item->next_row >= n) continue;
    const Ticket t{item, item->next_row, how_ == Making::kSlots ? std::min(n, item->next_row + grain_) : n, tickets_++};
    item->next_row = t.end;
    ++item->running;
    return t;
  }
  if (static_cast<int64_t>(inflight_.size()) >= options_.prefetch + 1) return {};
  auto item = std::make_shared<Item>();
  try {
    if (!open_item(w, item.get())) return {};
    if (!item->epoch_end && how_ == Making::kSlots) item->block = pool_->take();
  } catch (...) {
    item->error = std::current_exception();
    item->ready = true;
  }
  inflight_.push_back(item);
  if (item->ready) {
    ready_cv_.notify_all();
    work_cv_.notify_one();
    return item->error ? Ticket{} : take_ticket(w);
  }
  work_cv_.notify_all();
  return take_ticket(w);
}

// Sequential sources are read in the order of the tickets, one ticket at a time.
void Engine::read_ahead(Worker& w, const Ticket& t) {
  if (!plan_->has_sequential) return;
  {
    std::unique_lock lock(turn_mutex_);
    turn_cv_.wait(lock, [&] { return turn_ == t.turn; });
  }
  w.generation = t.item->generation;
  std::exception_ptr error;
  try {
    for (int64_t i = t.begin; i < t.end && !stopping_.load(std::memory_order_relaxed); ++i)
      w.read_ahead(*rows_, t.item->pass, t.item->rows[static_cast<size_t>(i)]);
  } catch (...) { error = std::current_exception(); }
  {
    const std::lock_guard lock(turn_mutex_);
    ++turn_;
  }
  turn_cv_.notify_all();
  if (error) std::rethrow_exception(error);
}

void Engine::set_error(Item& item, int64_t row, std::exception_ptr error) {
  std::lock_guard lock(mutex_);
  // The error of the first bad row wins, whichever worker was faster.
  if (!item.error || row < item.error_row) {
    item.error = std::move(error);
    item.error_row = row;
  }
  item.next_row = static_cast<int64_t>(item.rows.size());
}

void Engine::fill_slots(Worker& w, Item& item, int64_t begin, int64_t end) {
  const size_t columns = rows_->columns.size();
  std::array<Slot, 16> few;
  std::vector<Slot> many(columns > few.size() ? columns : 0);
  const std::span<Slot> slots = many.empty() ? std::span<Slot>(few).first(columns) : std::span<Slot>(many);
  for (size_t c = 0; c < columns; ++c) slots[c] = {nullptr, rows_->columns[c].dtype, rows_->columns[c].shape};
  for (int64_t i = begin; i < end && !stopping_.load(std::memory_order_relaxed); ++i) {
    for (size_t c = 0; c < columns; ++c) slots[c].data = item.block.get() + offsets_[c] + i * row_bytes_[c];
    try {
      w.row(*rows_, item.pass, item.rows[static_cast<size_t>(i)], slots);
    } catch (const SkippedRow&) { throw; } catch (...) {
      set_error(item, i, std::current_exception());
      return;
    }
  }
}

void Engine::fill_stacked(Worker& w, Item& item) {
  const int64_t n = static_cast<int64_t>(item.rows.size());
  for (int64_t i = 0; i < n && !stopping_.load(std::memory_order_relaxed); ++i) {
    const std::span<const Value> regs = w.row(*rows_, item.pass, item.rows[static_cast<size_t>(i)], {});
    for (size_t c = 0; c < rows_->outputs.size(); ++c) {
      const Value& v = regs[static_cast<size_t>(rows_->outputs[c])];
      Shape shape = v.shape;
      shape.insert(0, n);
      if (i == 0) item.columns.push_back(Tensor::empty(shape, v.dtype));
      Tensor& t = item.columns[c];
      if (t.dtype() != v.dtype || !(t.shape() == shape)) {
        shape.erase(0);
        Shape first = t.shape();
        first.erase(0);
        throw DataError(fmt::format("batch: column '{}' of row {} is {}{}, the rows before it are {}{}", rows_->columns[c].name,
                                    item.rows[static_cast<size_t>(i)], dtype_name(v.dtype), shape.str(), dtype_name(t.dtype()), first.str()),
                        "", "rows of one batch need equal shapes: add a Resize or a crop before batch()");
      }
      if (v.nbytes() > 0) std::memcpy(static_cast<uint8_t*>(t.mutable_raw_data()) + i * v.nbytes(), v.data, static_cast<size_t>(v.nbytes()));
    }
  }
}

void Engine::fill_single(Worker& w, Item& item) {
  const std::span<const Value> regs = w.row(*rows_, item.pass, item.rows[0], {});
  for (int r : rows_->outputs) {
    const Value& v = regs[static_cast<size_t>(r)];
    item.outputs.push_back(Tensor::from_data(v.shape, v.dtype, v.data));
  }
}

void Engine::run_ticket(Worker& w, const Ticket& t) {
  Item& item = *t.item;
  read_ahead(w, t);
  if (how_ == Making::kSlots) return fill_slots(w, item, t.begin, t.end);
  try {
    how_ == Making::kStacked ? fill_stacked(w, item) : fill_single(w, item);
  } catch (const SkippedRow&) { throw; } catch (...) {
    set_error(item, 0, std::current_exception());
  }
}

// Builds the tensors of a batch whose rows are complete, and runs the operations after batch().
void Engine::finish_item(Worker& w, Item& item) {
  if (how_ == Making::kSingle) return;
  const int64_t n = static_cast<int64_t>(item.rows.size());
  if (how_ == Making::kSlots) {
    for (size_t c = 0; c < rows_->columns.size(); ++c) {
      TensorMeta meta{rows_->columns[c].shape, rows_->columns[c].dtype, Layout::kContiguous, {}};
      meta.shape.insert(0, n);
      item.columns.push_back(make_tensor(meta, std::make_shared<Storage>(item.block.get() + offsets_[c], n * row_bytes_[c], item.block)));
    }
    item.block.reset();
  }
  const Program& top = *plan_->top;
  std::vector<Value> regs(static_cast<size_t>(top.num_regs));
  for (size_t c = 0; c < batch_->regs.size(); ++c) {
    const Tensor& t = item.columns[c];
    regs[static_cast<size_t>(batch_->regs[c])] = {static_cast<const uint8_t*>(t.raw_data()), t.dtype(), t.shape()};
  }
  w.run_steps(top, {static_cast<uint64_t>(item.begin.epoch), item.begin.batch, item.begin.batch}, regs);
  for (int r : top.outputs) {
    const auto leaf = std::find(batch_->regs.begin(), batch_->regs.end(), r);
    if (leaf != batch_->regs.end()) {
      item.outputs.push_back(item.columns[static_cast<size_t>(leaf - batch_->regs.begin())]);
    } else {
      const Value& v = regs[static_cast<size_t>(r)];
      item.outputs.push_back(Tensor::from_data(v.shape, v.dtype, v.data));
    }
  }
  item.columns.clear();
}

// Called with the lock held. Drops this batch and later ones, so that they are formed again without the row now known to be bad.
void Engine::restart_from(const Item& item) {
  if (item.dropped) return;
  while (true) {
    const std::shared_ptr<Item> last = inflight_.back();
    inflight_.pop_back();
    last->dropped = true;
    if (last.get() == &item) break;
  }
  produced_ = item.begin;
}

void Engine::finish_ticket(const std::shared_ptr<Item>& item, std::unique_lock<std::mutex>& lock, Worker& w) {
  --item->running;
  counters_.add(w.scratch.counters);
  w.scratch.counters = {};
  stats_.replaced += w.replaced;
  w.replaced = 0;
  if (item->dropped || item->running > 0 || item->next_row < static_cast<int64_t>(item->rows.size()) || stop_) return;
  if (!item->error) {
    lock.unlock();
    std::exception_ptr error;
    try {
      finish_item(w, *item);
    } catch (...) { error = std::current_exception(); }
    lock.lock();
    if (error) item->error = error;
  }
  item->ready = true;
  ready_cv_.notify_all();
}

// Exceptions of rows are stored with their batch. Any other (no memory for a ticket) ends the pipeline, not the process.
void Engine::work() {
  try {
    run_worker();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    ready_cv_.notify_all();
  }
}

void Engine::run_worker() {
  Worker w(*plan_);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const Ticket ticket = take_ticket(w);
    if (ticket.item == nullptr) {
      if (stop_) break;
      work_cv_.wait(lock);
      continue;
    }
    lock.unlock();
    bool skipped = false;
    const auto t = Clock::now();
    try {
      run_ticket(w, ticket);
    } catch (const SkippedRow&) { skipped = true; }
    const double busy = seconds_since(t);
    lock.lock();
    stats_.busy_seconds += busy;
    if (skipped) {
      restart_from(*ticket.item);
      work_cv_.notify_all();
    }
    finish_ticket(ticket.item, lock, w);
  }
}

Stats Engine::stats() const {
  std::lock_guard lock(mutex_);
  Stats s = stats_;
  s.rows = counters_.rows;
  s.decoded_full = counters_.decoded_full;
  s.decoded_window = counters_.decoded_window;
  s.decode_warnings = counters_.decode_warnings;
  s.bytes_read = counters_.bytes_read;
  s.rows_padded = plan_->rows_padded;
  s.workers = num_workers_;
  if (pool_) {
    s.blocks = pool_->blocks();
    s.block_bytes = pool_->block_bytes();
    s.pool_overflow = pool_->overflow();
  }
  s.bad_samples = plan_->bad.list();
  return s;
}

}  // namespace sindri::dataset
