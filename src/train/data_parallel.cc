// The stages of a data-parallel step: virtual ranks in sequence, sums along the tree, buckets.
//
// Per virtual rank v:
//   rows: part j of the batch
//   random numbers: the key's sample offset, which counts positions in the global batch, starts at v·2^28, so v = 0 draws the same numbers as a
//     single-process run
//   state that forward writes: each of this process's virtual ranks has its own value, stored in the network's Parameter while its forward pass runs
#include "sindri/train/data_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "src/train/batch_parts.h"
#include "src/train/data_parallel_state.h"

namespace sindri::train {

namespace {

constexpr int kOffsetBits = 28;  // samples of one virtual rank; 2^15 virtual ranks fit into the counter's 44 bits

// Sums lists along the fixed tree as they arrive: two lists of one level become one list of the next, so at most log2(count) + 1 lists are held.
class TreeSum {
 public:
  void add(TensorList list) {
    stack_.emplace_back(0, std::move(list));
    while (stack_.size() > 1 && stack_[stack_.size() - 2].first == stack_.back().first) join();
  }
  TensorList take() {
    while (stack_.size() > 1) join();  // if the count is not a power of two, lists without a neighbour are left, as in comm::reduce_tree
    return std::move(stack_.back().second);
  }

 private:
  void join() {
    const TensorList right = std::move(stack_.back().second);
    stack_.pop_back();
    auto& [level, left] = stack_.back();
    for (size_t i = 0; i < left.size(); ++i)
      if (left[i].defined()) left[i] = ops::add(left[i], right[i]);
    ++level;
  }
  std::vector<std::pair<int, TensorList>> stack_;
};

}  // namespace

int64_t sample_offset(int64_t virtual_rank) { return virtual_rank << kOffsetBits; }

// Also applied for virtual rank 0, so that all ranks have the same graph except for this constant (check_same_graph).
Tensor key_of_virtual_rank(const Tensor& key, int64_t virtual_rank) {
  return ops::add(key, Tensor::from_vector<int64_t>({3}, {0, 0, sample_offset(virtual_rank)}).to(key.device()));
}

DataParallel::DataParallel() = default;
DataParallel::~DataParallel() = default;
const DataParallelOptions& DataParallel::options() const { return state_->options; }
comm::Communicator& DataParallel::communicator() const { return state_->comm; }
int64_t DataParallel::virtual_ranks() const { return state_->total; }
int64_t DataParallel::virtual_per_rank() const { return state_->per_rank(); }
int64_t DataParallel::first_virtual_rank() const { return state_->first(); }
const std::vector<GradientBucket>& DataParallel::buckets() const { return state_->buckets; }

DataParallel::State::State(const BuildContext& context, const DataParallelOptions& o, comm::Communicator& c)
    : options(o),
      comm(c),
      total(train::virtual_ranks(o, c)),
      parameters(context.parameters),
      network_state(context.network_state),
      averages(context.moving_averages) {
  std::vector<TensorMeta> metas;
  for (const Parameter* p : parameters) metas.push_back(p->meta());
  buckets = gradient_buckets(metas, options, comm);
  for (const auto& [path, p] : network_state)
    if (std::find(parameters.begin(), parameters.end(), p) == parameters.end()) locals.push_back({p});
}

namespace {

// During its lifetime, forward may write to state that is local to virtual ranks. Afterwards the network holds the values of this process's first virtual rank,
// even after an error.
class OwnValues {
 public:
  using Local = std::pair<Parameter*, Tensor>;
  explicit OwnValues(std::vector<Parameter*> parameters) : parameters_(std::move(parameters)) { take(); }
  ~OwnValues() {
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i]->value().id() != values_[i].id()) parameters_[i]->assign(values_[i]);
  }
  OwnValues(const OwnValues&) = delete;
  OwnValues& operator=(const OwnValues&) = delete;
  void take() {
    values_.clear();
    for (const Parameter* p : parameters_) values_.push_back(p->value());
  }
  const Tensor& operator[](size_t i) const { return values_[i]; }

 private:
  std::vector<Parameter*> parameters_;
  TensorList values_;
};

}  // namespace

std::pair<Tensor, Gradients> DataParallel::State::gradients(const GradientsStage& inner, TrainStep& step, const TrainStep::Batch& batch) {
  others_before.clear();
  std::vector<Parameter*> own;
  for (const Local& l : locals) own.push_back(l.own);
  OwnValues values(own);
  const OwnValues key({&ops::rng_state()});
  const int64_t drawn = ops::rng_instance();
  Gradients all;
  TreeSum sum, losses;
  for (int64_t j = 0; j < per_rank(); ++j) {
    for (Local& l : locals) {
      if (j == 0 || !l.written) continue;
      Parameter& mine = *l.others[static_cast<size_t>(j - 1)];
      if (guarded) others_before.emplace_back(&mine, mine.value());
      l.own->assign(mine.value());
    }
    ops::set_rng_instance(drawn);
    if (const Tensor k = key_of_virtual_rank(key[0], first() + j); k.id() != key[0].id() || j > 0) ops::rng_state().assign(k);
    auto [loss, g] = inner(step, per_rank() == 1 ? batch : part_of(batch, j, per_rank(), "dist.virtual_ranks"));
    if (is_half(loss.dtype())) loss = ops::cast(loss, DType::kFloat32);
    losses.add({loss});
    if (total > 1) all.parts.push_back(j > 0 ? all.uses.size() : 0);
    if (j > 0) {
      for (const Local& l : locals)
        if (l.written) l.others[static_cast<size_t>(j - 1)]->assign(l.own->value());
      all.uses.insert(all.uses.end(), g.uses.begin(), g.uses.end());
      all.samples += g.samples;
      if (g.skip.defined()) all.skip = all.skip.defined() ? ops::logical_or(all.skip, g.skip) : g.skip;
    }
    TensorList of_params = std::move(g.of_params);
    if (j == 0) {
      for (size_t i = 0; i < locals.size(); ++i) {
        Local& l = locals[i];
        l.written = l.written || l.own->value().id() != values[i].id();
        // Created here, when it is known which state forward writes. The initial value is the one before the step; while a graph is traced, the stored one.
        while (l.written && static_cast<int64_t>(l.others.size()) < per_rank() - 1) {
          const Tensor& first_value = values[i].is_symbolic() ? l.own->stored() : values[i];
          l.others.push_back(std::make_unique<Parameter>(first_value.clone(), fmt::format("{}#{}", l.own->name(), l.others.size() + 1), false));
        }
      }
      values.take();
      g.parts = std::move(all.parts);
      all = std::move(g);
      all.of_params.clear();
    }
    if (!collects || per_rank() == 1) sum.add(std::move(of_params));
    else all.of_params.insert(all.of_params.end(), of_params.begin(), of_params.end());
  }
  if (!collects || per_rank() == 1) all.of_params = sum.take();
  if (per_rank() > 1 && !all.uses.empty()) {  // as with micro-batches, output gradients are those of one part's loss
    const Tensor of_parts = ops::mul(all.uses[0].loss_scale, static_cast<double>(per_rank()));
    for (ParamUse& use : all.uses) use.loss_scale = of_parts;
  }
  return {losses.take()[0], std::move(all)};
}

void DataParallel::State::take_back_others(const Tensor& skip) {
  for (const auto& [p, before] : std::exchange(others_before, {})) {
    const Tensor after = p->value();
    if (after.id() != before.id()) p->assign(ops::where(skip, before, after));
  }
}

// True on all ranks if it is true on any.
Tensor DataParallel::State::any_rank(const Tensor& flag) const {
  if (ranks() == 1) return flag;
  const Tensor most = ops::all_reduce({ops::cast(flag, DType::kInt32)}, {.op = "max", .group = comm.name(), .what = "skip flag"})[0];
  return ops::cast(most, DType::kBool);
}

TensorList reduce_in_buckets(TensorList g, const std::vector<GradientBucket>& buckets, const DataParallelOptions& o, int64_t total,
                             const comm::Communicator& c) {
  if (c.size() == 1) {
    for (Tensor& t : g)
      if (o.gradients_mean && total > 1 && t.defined()) t = ops::mul(t, 1.0 / static_cast<double>(total));
    return g;
  }
  const bool even = o.gradients_mean && total == c.size();  // the mean over ranks is then the mean over virtual ranks
  const std::string wire = wire_type(o, c);
  for (size_t b = 0; b < buckets.size(); ++b) {
    const auto first = static_cast<ptrdiff_t>(buckets[b].first), last = static_cast<ptrdiff_t>(buckets[b].last);
    TensorList bucket;
    for (auto it = g.begin() + first; it != g.begin() + last + 1; ++it)
      if (it->defined()) bucket.push_back(*it);
    if (bucket.empty()) continue;
    const DType dtype = bucket[0].dtype();
    const TensorList reduced = ops::all_reduce(bucket,
                                               {.op = even ? "mean" : "sum",
                                                .group = c.name(),
                                                .what = "gradient bucket",
                                                .index = static_cast<int64_t>(b),
                                                .scale = o.gradients_mean && !even ? 1.0 / static_cast<double>(total) : 1.0,
                                                .wire = dtype == DType::kFloat32 ? wire : "",
                                                .watch = true});
    auto next = reduced.begin();
    for (auto it = g.begin() + first; it != g.begin() + last + 1; ++it)
      if (it->defined()) *it = *next++;
  }
  return g;
}

TensorList reduce_gradients(const TensorList& gradients, const DataParallelOptions& options, comm::Communicator& communicator) {
  check_data_parallel(options);
  std::vector<TensorMeta> metas;
  for (const Tensor& t : gradients) metas.push_back(t.meta());
  return reduce_in_buckets(gradients, gradient_buckets(metas, options, communicator), options, virtual_ranks(options, communicator), communicator);
}

// If this runtime makes a second training step, it finds the groups of the first by name.
void DataParallel::State::reduce_within(int64_t ranks_per_group) {
  if (ranks_per_group == 0 || ranks_per_group == comm.size()) return;
  if (comm.size() % ranks_per_group != 0)
    throw CommError(ErrorCode::kLayout, fmt::format("{} ranks cannot be divided into groups of {}", comm.size(), ranks_per_group), "data parallel",
                    "give a number that divides the number of ranks");
  const std::string name = fmt::format("gradients of {}", ranks_per_group);
  try {
    within = &comm::find_group(name);
  } catch (const ValueError&) {
    std::vector<int> members;
    const int64_t first = comm.rank() / ranks_per_group * ranks_per_group;
    for (int64_t i = 0; i < ranks_per_group; ++i) members.push_back(comm.members()[static_cast<size_t>(first + i)]);
    within = &comm::create_group(name, members);
  }
}

// Records which parameters of a bucket are in its reduction, since a step may omit some. The sets that variants omit are nested, so the number of gradients
// identifies the set.
void DataParallel::State::note_sent(const TensorList& gradients) {
  for (size_t b = 0; b < buckets.size(); ++b) {
    std::vector<int64_t> has;
    for (int64_t i = buckets[b].first; i <= buckets[b].last; ++i)
      if (gradients[static_cast<size_t>(i)].defined()) has.push_back(i);
    const auto count = has.size();
    sent[{b, count}] = std::move(has);
  }
}

Gradients DataParallel::State::reduce(Gradients g) {
  if (g.of_params.size() > parameters.size()) {  // collected gradients: one list per virtual rank
    TreeSum sum;
    const auto count = static_cast<ptrdiff_t>(parameters.size());
    for (auto at = g.of_params.begin(); at != g.of_params.end(); at += count) sum.add(TensorList(at, at + count));
    g.of_params = sum.take();
  }
  const comm::Communicator& among = within == nullptr ? comm : *within;
  const int64_t count = per_rank() * among.size();
  DataParallelOptions o = options;
  if (within != nullptr) o.gradients_mean = true;  // a group's gradient is the mean over its ranks
  note_sent(g.of_params);
  g.of_params = reduce_in_buckets(std::move(g.of_params), buckets, o, count, among);
  if (g.skip.defined()) g.skip = any_rank(g.skip);
  g.group = among.name(), g.rank = among.rank(), g.ranks = among.size();
  if (count > 1) {
    g.mean_over_parts = [group = among.name(), several = among.size() > 1, share = 1.0 / static_cast<double>(count)](const std::vector<TensorList>& parts) {
      TreeSum sum;
      for (const TensorList& part : parts) sum.add(part);
      TensorList all = sum.take();
      if (several && !all.empty()) return ops::all_reduce(all, {.group = group, .what = "mean over parts", .scale = share});
      for (Tensor& t : all) t = ops::mul(t, share);
      return all;
    };
  }
  return g;
}

// `sum`: over this process's virtual ranks. The stop flag is sent with it.
Tensor DataParallel::State::reduce_loss(const Tensor& sum) {
  if (options.local_loss) local_loss.assign(ops::cast(ops::mul(sum, 1.0 / static_cast<double>(per_rank())), DType::kFloat32));
  TensorList scalars = {sum, ops::cast(stop_request.value(), sum.dtype())};
  if (ranks() > 1) scalars = ops::all_reduce(scalars, {.group = comm.name(), .what = "step scalars"});
  stop_agreed.assign(ops::cast(scalars[1], DType::kFloat32));
  return ops::mul(scalars[0], 1.0 / static_cast<double>(total));
}

namespace {

void sync_batch_norm(const BuildContext& context, const DataParallel& d) {
  const comm::Communicator& c = d.communicator();
  if (d.virtual_per_rank() != 1)
    throw CommError(ErrorCode::kLayout, fmt::format("bn_sync=train needs one virtual rank per rank, there are {} on {} ranks", d.virtual_ranks(), c.size()),
                    "dist.bn_sync", "set dist.virtual_ranks to the number of ranks, or bn_sync to off");
  if (context.network == nullptr) throw ValueError("bn_sync=train needs a C++ network", "dist.bn_sync", "use SyncBatchNorm layers");
  for (const auto& [path, cell] : context.network->cells_and_names())
    if (auto* norm = dynamic_cast<nn::BatchNorm*>(cell)) norm->set_sync_group(c.name());
}

}  // namespace

std::shared_ptr<DataParallel> apply_data_parallel(TrainStep& step, const BuildContext& context, const DataParallelOptions& options,
                                                  comm::Communicator& communicator) {
  check_data_parallel(options);
  std::shared_ptr<DataParallel> d(new DataParallel);
  d->state_ = std::make_shared<DataParallel::State>(context, options, communicator);
  if (!d->active()) return d;
  if (options.bn_sync == "train") sync_batch_norm(context, *d);
  const std::shared_ptr<DataParallel::State> s = d->state_;
  s->guarded = static_cast<bool>(step.guard);
  s->collects = static_cast<bool>(step.collect);
  s->reduce_within(step.ranks_per_group);
  if (s->collects && context.gradient_lists != s->per_rank())
    throw InternalError(fmt::format("gradients were to be collected for {} virtual ranks, there are {}", context.gradient_lists, s->per_rank()),
                        "apply_data_parallel");
  s->collected = step.collected;
  if (s->collects && (s->collected.empty() || static_cast<int64_t>(s->collected.size()) % s->per_rank() != 0))
    throw ValueError(
        fmt::format("expected a positive multiple of {} (the virtual ranks of this process), got {} Parameters: a checkpoint could not store what is collected",
                    s->per_rank(), s->collected.size()),
        "TrainStep::collected", "name the lists of `collect`, in sequence");
  step.gradients = [s, inner = step.gradients](TrainStep& self, const TrainStep::Batch& batch) { return s->gradients(inner, self, batch); };
  step.reduce_gradients = [s, inner = step.reduce_gradients](Gradients g) { return s->reduce(inner(std::move(g))); };
  step.reduce_loss = [s](const Tensor& sum) { return s->reduce_loss(sum); };
  if (!s->guarded) return d;
  step.guard = [s, inner = step.guard](const Gradients& g, const Tensor& loss, bool decides) {
    Verdict v = inner(g, loss, decides);
    if (decides && s->within == nullptr) return v;  // the decision used values that are equal on all ranks; with groups of ranks, gradients differ
    const Tensor skip = s->any_rank(v.skip);
    return Verdict{skip, ops::logical_not(skip)};
  };
  step.snapshot = [s, inner = step.snapshot] {
    const TrainStep::Restore own = inner ? inner() : nullptr;
    return [s, own](const Tensor& skip) {
      if (own) own(skip);
      s->take_back_others(skip);
    };
  };
  return d;
}

void DataParallel::request_stop() { state_->stop_request.store(Tensor::scalar(1)); }

double DataParallel::local_loss() const { return state_->local_loss.stored().item(); }

bool DataParallel::stop_agreed() {
  State& s = *state_;
  if (!active()) return false;
  const Tensor& now = s.stop_agreed.stored();
  if (now.device().is_cpu()) return now.item() != 0;
  // Returns the flag of the previous step, on all ranks alike, so that the host does not wait for the device.
  const PendingValues before = std::exchange(s.last_stop, PendingValues({&now, 1}));
  const std::vector<double> values = before.get("stop flag");
  return !values.empty() && values[0] != 0;
}

}  // namespace sindri::train
