// The public iterator: epochs, state and seed around an engine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "dataset/engine.h"
#include "sindri/core/log.h"
#include "sindri/core/rng.h"

namespace sindri::dataset {

namespace {

constexpr int kStateFormat = 1;

int64_t choose_seed(Node& root, const IteratorOptions& options) {
  if (options.seed) {
    if (*options.seed < 0 || *options.seed > 0xffffffffLL) throw ValueError(fmt::format("the data seed must be from 0 to 2^32 - 1, got {}", *options.seed));
    return *options.seed;
  }
  if (seed_is_set()) return get_seed();
  if (is_sharded(root)) return 0;  // ranks must agree without communication
  const int64_t seed = static_cast<int64_t>(std::random_device{}());
  log::info("data", fmt::format("no seed is set; this pipeline uses {}", seed));
  return seed;
}

void check_options(const IteratorOptions& o) {
  if (o.num_epochs == 0 || o.num_epochs < -1)
    throw ValueError(fmt::format("create_iterator: num_epochs must be at least 1, or -1 for no end, got {}", o.num_epochs));
  if (o.start_epoch < 0 || o.start_batch < 0)
    throw ValueError(fmt::format("create_iterator: start_epoch and start_batch must not be negative, got {} and {}", o.start_epoch, o.start_batch));
  if (o.prefetch < 1 || o.prefetch > 1024) throw ValueError(fmt::format("create_iterator: prefetch must be from 1 to 1024, got {}", o.prefetch));
  if (o.num_workers < 0 || o.num_workers > 1024)
    throw ValueError(fmt::format("create_iterator: num_workers must be from 1 to 1024, or 0 for the default, got {}", o.num_workers));
  if (o.memory_limit < 0) throw ValueError(fmt::format("create_iterator: memory_limit must not be negative, got {}", o.memory_limit));
}

bool has_batch(const Node& node) {
  if (node.kind == Node::Kind::kBatch) return true;
  for (const auto& in : node.inputs) {
    if (has_batch(*in)) return true;
  }
  return false;
}

// Replacing and skipping need single rows: a batch that is formed within one row's program cannot be repaired.
void check_corrupt_policy(const Node& root, OnCorrupt policy) {
  if (policy == OnCorrupt::kFail) return;
  const Node* n = &root;
  while (n->kind != Node::Kind::kBatch && n->inputs.size() == 1) {
    const bool passes = n->kind == Node::Kind::kMap || n->kind == Node::Kind::kRename || n->kind == Node::Kind::kProject || n->kind == Node::Kind::kRepeat;
    if (policy == OnCorrupt::kSkip && !passes && has_batch(*n)) {
      throw ValueError(fmt::format("on_corrupt = skip: {} follows batch(), where the number of batches is unknown", node_str(*n)), "",
                       "put it before batch(), or use on_corrupt = replace");
    }
    n = n->inputs[0].get();
  }
  for (const auto& in : n->inputs) {
    if (has_batch(*in))
      throw ValueError(fmt::format("on_corrupt = replace or skip needs one batch() at the end of the pipeline; {} has another below", node_str(*n)), "",
                       "batch after zip or concat");
  }
  if (policy == OnCorrupt::kSkip && node_rows(n->kind == Node::Kind::kBatch ? *n->inputs[0] : const_cast<Node&>(root)) < 0)
    throw ValueError("on_corrupt = skip: an endless repeat() stands before batch()", "", "put repeat() after batch(), or use on_corrupt = replace");
}

class IteratorImpl : public Iterator {
 public:
  IteratorImpl(std::shared_ptr<const Dataset> dataset, IteratorOptions options) : dataset_(std::move(dataset)), options_(options) {
    check_options(options_);
    dataset_->get_dataset_size();  // throws for an empty dataset, with the reason
    check_corrupt_policy(*dataset_->node(), options_.on_corrupt);
    seed_chosen_ = options_.seed.has_value() || seed_is_set() || is_sharded(*dataset_->node());
    build(choose_seed(*dataset_->node(), options_));
    Cursor start;
    start.epoch = options_.start_epoch;
    start.batch = options_.start_batch;
    if (start.batch > 0 && options_.on_corrupt == OnCorrupt::kSkip)
      throw ValueError("start_batch cannot be used with on_corrupt = skip: where a batch begins depends on the bad rows before it", "", "use load_state");
    const int64_t items = engine_->plan().items;
    if (items >= 0 && start.batch > items) throw ValueError(fmt::format("start_batch={} is beyond the {} batches of an epoch", start.batch, items));
    engine_->seek(start);
    epoch_ = start.epoch;
    batch_ = start.batch;
  }

  ~IteratorImpl() override {
    if (elsewhere()) static_cast<void>(engine_.release());  // after a fork its threads do not exist here, and its locks are in the state of that moment
  }

  bool next(std::vector<Tensor>* columns) override {
    begin();
    if (at_end_) return false;
    if (options_.num_epochs >= 0 && epoch_ >= options_.start_epoch + options_.num_epochs) return false;
    if (engine_->next(columns)) {
      ++batch_;
      return true;
    }
    at_end_ = true;
    return false;
  }

  bool wait(double seconds) override {
    begin();
    if (at_end_ || (options_.num_epochs >= 0 && epoch_ >= options_.start_epoch + options_.num_epochs)) return true;
    return engine_->wait(seconds);
  }

  bool next_epoch() override {
    begin();
    if (options_.num_epochs >= 0 && epoch_ + 1 >= options_.start_epoch + options_.num_epochs) {
      at_end_ = true;
      return false;
    }
    // After an epoch's last batch only its end marker remains. Taking it keeps the batches of the next epoch that are in progress.
    if (!at_end_ && options_.on_corrupt != OnCorrupt::kSkip && batch_ == engine_->plan().items) {
      std::vector<Tensor> none;
      at_end_ = !engine_->next(&none);
    }
    ++epoch_;
    batch_ = 0;
    if (!at_end_) {
      Cursor c;
      c.epoch = epoch_;
      engine_->seek(c);
    }
    at_end_ = false;
    return true;
  }

  int64_t epoch() const override { return epoch_; }
  int64_t batch() const override { return batch_; }
  int64_t seed() const override { return engine_->plan().seed; }
  Stats stats() const override {
    refuse_elsewhere();
    return engine_->stats();
  }

  std::string state_dict() const override {
    refuse_elsewhere();
    nlohmann::json j = fingerprint();
    // The end of an epoch is stored explicitly, because the engine is already at the next one.
    const Cursor& c = engine_->consumed();
    j["epoch"] = epoch_;
    j["batch"] = batch_;
    j["at_end"] = at_end_;
    j["pass"] = at_end_ ? 0 : c.pass;
    j["row"] = at_end_ ? 0 : c.row;
    j["taken"] = at_end_ ? 0 : c.taken;
    return j.dump();
  }

  void load_state(const std::string& text) override {
    if (begun()) throw ValueError("load_state: the iterator has been read already", "", "make a new iterator and load the state first");
    nlohmann::json j;
    if (text.size() > (1u << 24)) throw DataError(fmt::format("the data state has {} bytes, more than any state can have", text.size()));
    try {
      j = nlohmann::json::parse(text, limit_depth);
    } catch (const nlohmann::json::exception& e) {
      throw DataError(fmt::format("the data state is not valid JSON: {}", e.what()), "", "pass what state_dict() returned");
    }
    if (!j.is_object()) throw DataError("the data state is not a JSON object", "", "pass what state_dict() returned");
    if (!seed_chosen_) build(read_int(j, "seed", 0, 0xffffffffLL));
    check_fingerprint(j);
    const int64_t items = engine_->plan().items;
    Cursor c;
    c.epoch = read_int(j, "epoch", 0, INT64_MAX / 2);
    c.batch = read_int(j, "batch", 0, items >= 0 ? items : INT64_MAX / 2);
    c.pass = read_int(j, "pass", 0, INT64_MAX / 2);
    c.row = read_int(j, "row", 0, INT64_MAX / 2);
    c.taken = read_int(j, "taken", 0, c.row);
    const bool at_end = j.contains("at_end") && j["at_end"].is_boolean() && j["at_end"].get<bool>();
    epoch_ = c.epoch;
    batch_ = c.batch;
    at_end_ = at_end;
    if (at_end) {
      c = {};
      c.epoch = epoch_ + 1;
    }
    engine_->seek(c);
  }

 private:
  void begin() {
    refuse_elsewhere();
    reader_ = ::getpid();
  }
  bool begun() const { return reader_ != 0; }
  bool elsewhere() const { return begun() && reader_ != ::getpid(); }
  void refuse_elsewhere() const {
    if (elsewhere()) throw_read_elsewhere(reader_);
  }

  static bool limit_depth(int depth, nlohmann::json::parse_event_t event, nlohmann::json&) {
    if (depth > 8 && event != nlohmann::json::parse_event_t::value)
      throw DataError("the data state is nested too deeply", "", "pass what state_dict() returned");
    return true;
  }

  static int64_t read_int(const nlohmann::json& j, const char* name, int64_t least, int64_t most) {
    if (!j.contains(name) || !j[name].is_number_integer())
      throw DataError(fmt::format("the data state lacks the number '{}'", name), "", "pass what state_dict() returned");
    const int64_t v = j[name].get<int64_t>();
    if (v < least || v > most) throw DataError(fmt::format("the data state's '{}' is {}, expected {} to {}", name, v, least, most));
    return v;
  }

  void build(int64_t seed) {
    PlanOptions p;
    p.seed = seed;
    p.on_corrupt = options_.on_corrupt;
    p.max_corrupt = options_.max_corrupt;
    auto plan = make_plan(*dataset_->node(), p);
    const int workers = options_.num_workers > 0 ? options_.num_workers : worker_count(plan->workers);
    // Skipped rows move a shard's later rows up, so with several shards the rows of each would depend on how they are distributed.
    if (plan->several_shards && options_.on_corrupt == OnCorrupt::kSkip)
      throw ValueError("on_corrupt = skip: this pipeline reads several shards at once", "", "use on_corrupt = replace, or one shard per rank");
    engine_ = std::make_unique<Engine>(std::move(plan), options_, workers);
  }

  nlohmann::json fingerprint() const {
    const Plan& p = engine_->plan();
    static constexpr const char* kPolicies[] = {"fail", "replace", "skip"};
    nlohmann::json j = {{"format", kStateFormat}, {"seed", p.seed},
                        {"tree", p.tree},         {"listing", fmt::format("{:016x}", p.listing)},
                        {"size", p.items},        {"on_corrupt", kPolicies[static_cast<int>(p.on_corrupt)]}};
    if (p.in_shards) j["in_shards"] = true;
    return j;
  }

  static std::string of_any_shard(const std::string& tree) {
    static const std::regex shard("shard_id=\\d+");
    return std::regex_replace(tree, shard, "shard_id");
  }

  void check_fingerprint(const nlohmann::json& j) const {
    const nlohmann::json mine = fingerprint();
    const bool shards = mine.contains("in_shards") || j.contains("in_shards");
    if (shards && engine_->plan().on_corrupt == OnCorrupt::kSkip)
      log::warn("data", "on_corrupt = skip: only the first shard knows the position after the rows it skipped; the others may repeat some rows");
    for (const auto& [name, value] : mine.items()) {
      // Shards may have one batch more than an unsharded pipeline, so `size` is not compared; nor is the number of shards.
      if (name == "in_shards" || (name == "size" && shards)) continue;
      if (j.contains(name) && j[name] == value) continue;
      // Shards of one pipeline are at the same position unless each has skipped bad rows.
      const bool same_rows = engine_->plan().on_corrupt != OnCorrupt::kSkip && name == "tree" && j.contains(name);
      if (same_rows && of_any_shard(j[name].dump()) == of_any_shard(value.dump())) continue;
      const std::string theirs = j.contains(name) ? j[name].dump() : "nothing";
      throw DataError(fmt::format("the data state belongs to another pipeline: '{}' was {} when it was saved and is {} now", name, theirs, value.dump()),
                      "the data state",
                      name == "seed"          ? "use the same seed as the saved run"
                          : name == "listing" ? "the files of the dataset have changed: restore them, or start a new run from the saved "
                                                "weights (sindri train --checkpoint FILE, without --resume)"
                                              : "build the pipeline as it was when the state was saved (settings: data.*, train.batch_size)");
    }
  }

  std::shared_ptr<const Dataset> dataset_;
  IteratorOptions options_;
  std::unique_ptr<Engine> engine_;
  int64_t epoch_ = 0, batch_ = 0;
  bool at_end_ = false, seed_chosen_ = false;
  pid_t reader_ = 0;  // the process that started to read
};

}  // namespace

void throw_read_elsewhere(int64_t process) {
  throw DataError(fmt::format("process {} reads this iterator; in the one forked from it, its worker threads do not exist", process), "",
                  "make a new iterator in this process");
}

std::unique_ptr<Iterator> Dataset::create_iterator(IteratorOptions options) const { return std::make_unique<IteratorImpl>(shared_from_this(), options); }

std::string Stats::str() const {
  std::string s =
      fmt::format("rows {}, batches {}, workers {}, busy {:.1f} s, waited {:.1f} s, decoded {} + {} windows, read {:.1f} MB, blocks {} x {:.1f} MB, bad {}",
                  rows, batches, workers, busy_seconds, consumer_wait_seconds, decoded_full, decoded_window, static_cast<double>(bytes_read) * 1e-6, blocks,
                  static_cast<double>(block_bytes) * 1e-6, bad_samples.size());
  if (replaced > 0) s += fmt::format(", replaced {}", replaced);
  if (rows_padded > 0) s += fmt::format(", repeated for equal shards {}", rows_padded);
  if (decode_warnings > 0) s += fmt::format(", decode warnings {}", decode_warnings);
  if (pool_overflow > 0) s += fmt::format(", pool overflow {}", pool_overflow);
  return s;
}

}  // namespace sindri::dataset
