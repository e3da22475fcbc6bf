// The running pipeline: batches in flight, the workers that fill them, and the consumer that reads them in order.
//
// Workers take runs of rows ("tickets") from the oldest batch that has rows left. If none has and there is room, one of them opens
// the next batch. A row's slot in the batch block is its position in the order, so nothing is reordered later. A batch is ready when
// its last row is done, and is returned after those before it. If there is no room, workers sleep: that is the only back-pressure.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "dataset/plan.h"
#include "dataset/pool.h"

namespace sindri::dataset {

/// The start of the next batch. `pass`, `row` and `taken` are needed if bad rows are skipped, since batches then have no fixed position.
struct Cursor {
  int64_t epoch = 0, batch = 0;
  int64_t pass = 0;  // pass of the batch's input, within the epoch
  int64_t row = 0;  // next input row of that pass
  int64_t taken = 0;  // good rows used from that pass
};

class Engine {
 public:
  Engine(std::unique_ptr<Plan> plan, const IteratorOptions& options, int workers);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Returns the next batch; false at the end of an epoch, after which the next call starts the next epoch.
  bool next(std::vector<Tensor>* columns);
  /// Waits at most `seconds` for a result of next(). Returns whether there is one.
  bool wait(double seconds);
  /// Drops everything in flight and continues at `c`.
  void seek(const Cursor& c);
  /// The position after the last result of next().
  const Cursor& consumed() const { return consumed_; }
  const Plan& plan() const { return *plan_; }
  Stats stats() const;

 private:
  struct Item {
    Cursor begin, end;
    bool epoch_end = false, ready = false, dropped = false;
    uint64_t pass = 0;  // of the program whose rows are listed
    uint64_t generation = 0;  // number of seeks before it was opened
    std::vector<int64_t> rows;  // their indices in that pass
    int64_t next_row = 0, running = 0;  // first row not taken by a worker; number of workers busy with it
    std::shared_ptr<uint8_t> block;
    std::vector<Tensor> columns;  // columns of the batch leaf, before the operations after batch()
    std::vector<Tensor> outputs;
    std::exception_ptr error;
    int64_t error_row = 0;
  };
  enum class Making { kSlots, kStacked, kSingle };

  void start();
  void stop();
  bool has_next() const { return failure_ || (!inflight_.empty() && inflight_.front()->ready); }  // under mutex_
  void work();
  void run_worker();
  // Rows of a batch for one worker. `turn` is the ticket's number.
  struct Ticket {
    std::shared_ptr<Item> item;
    int64_t begin = 0, end = 0, turn = 0;
  };
  Ticket take_ticket(Worker& w);
  void read_ahead(Worker& w, const Ticket& t);
  bool open_item(Worker& w, Item* item);
  bool open_skipping(Worker& w, Item* item);
  void run_ticket(Worker& w, const Ticket& t);
  void fill_slots(Worker& w, Item& item, int64_t begin, int64_t end);
  void fill_stacked(Worker& w, Item& item);
  void fill_single(Worker& w, Item& item);
  void finish_item(Worker& w, Item& item);
  void finish_ticket(const std::shared_ptr<Item>& item, std::unique_lock<std::mutex>& lock, Worker& w);
  void restart_from(const Item& item);
  void set_error(Item& item, int64_t row, std::exception_ptr error);

  std::unique_ptr<Plan> plan_;
  const IteratorOptions options_;
  const int num_workers_;
  const Leaf* batch_ = nullptr;  // the batch at the end of the chain; null if there is none
  const Program* rows_ = nullptr;  // makes one of its rows (or one item)
  Making how_ = Making::kSingle;
  int64_t passes_per_epoch_ = 1;  // passes of the batch's input; -1: endless
  int64_t batch_rows_ = 1, grain_ = 1;
  std::vector<int64_t> offsets_, row_bytes_;  // of each column in a block
  std::shared_ptr<BlockPool> pool_;

  mutable std::mutex mutex_;
  std::condition_variable work_cv_, ready_cv_;
  std::deque<std::shared_ptr<Item>> inflight_;
  Cursor produced_, consumed_;
  uint64_t generation_ = 0;  // seeks so far
  int64_t tickets_ = 0;
  bool stop_ = false, started_ = false;
  std::atomic<bool> stopping_{false};
  std::exception_ptr failure_;
  std::mutex turn_mutex_;
  std::condition_variable turn_cv_;
  int64_t turn_ = 0;  // the ticket for which sequential sources are read now
  std::vector<std::thread> threads_;
  Stats stats_;
  Counters counters_;
};

/// Returns min(8, usable cores) for 0; otherwise `asked`, limited to the usable cores, with a log line if that is less.
int worker_count(int asked);

}  // namespace sindri::dataset
